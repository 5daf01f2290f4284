/* test_study_precision.c - the study `precision`: what it counts, where f16
 * overflows, what becomes of numbers in the place of masks. */
#include "attnviz/imitate.h"
#include "attnviz/precision_study.h"
#include "attnviz/study.h"
#include "pair_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- asking it -------------------------------------------------------------------- */

static struct av_params with(const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    assert_int_equal(av_params_check(&p, false, NULL), AV_OK);
    return p;
}

#define WITH(...) with((const char *const[]){ __VA_ARGS__, NULL })

static const struct av_study *study(void)
{
    return av_study_find("precision");
}

static void *opened(void)
{
    void *state = NULL;
    assert_int_equal(study()->open(&state, av_kernels_best(), NULL), AV_OK);
    return state;
}

static const struct av_precision *finished(void *state, struct av_params p)
{
    assert_int_equal(study()->begin(state, &p, NULL), AV_OK);
    while (study()->step(state)) {
    }
    assert_true(study()->progress(state) == 1);
    return study()->result(state);
}

/* One head of rows given here. */
static struct matrix matrix(float *rows, size_t n, size_t d)
{
    return (struct matrix){ .name = "x", .heads = 1, .n = n, .d = d, .f32 = rows };
}

static struct av_precision of_rows(float *q, size_t n_q, float *k, size_t n_k, size_t d, struct av_params p)
{
    struct matrix queries = matrix(q, n_q, d), keys = matrix(k, n_k, d);
    struct pair_source pair;
    void *state = opened();
    study()->use_source(state, pair_source(&pair, &queries, &keys));
    struct av_precision r = *finished(state, p);
    study()->close(state);
    return r;
}

/* ---- against f64 -------------------------------------------------------------------- */

/* Scores 65536 overflow f16 alone; -65536 leave a key out, which is no harm. */
static void test_nan_rows(void **state)
{
    (void)state;
    float q[3 * 2] = { 256, 0, -256, 0, 0, 1 };
    float k[2 * 2] = { 256, 0, 0, 1 };
    struct av_precision r = of_rows(q, 3, k, 2, 2, WITH("scale=off"));
    assert_int_equal(r.rows, 3);
    assert_true(r.score_max == 65536);
    for (int t = 0; t < AV_DTYPES; t++) {
        const struct av_precision_cell *cell = &r.at[0][t];
        assert_true(cell->whole);
        assert_int_equal(cell->rows, 3);
        assert_int_equal(cell->nan_rows, t == AV_DTYPE_F16);
        assert_true(t == AV_DTYPE_F16 ? isinf(cell->logit_error_max) : cell->logit_error_max < 1e-6);
        assert_int_equal(cell->argmax_lost, 0);
        assert_true(cell->weight_error_max < 1e-3);
    }
    assert_int_equal(r.overflow.first[AV_SCALE_PRODUCT], 1);
    assert_int_equal(r.overflow.first[AV_SCALE_QUERY], 1);
    assert_int_equal(r.overflow.columns, 2);
}

/* Two keys that f16 and bf16 cannot tell apart, f32 can. */
static void test_argmax(void **state)
{
    (void)state;
    float q[2 * 1] = { 1, -1 };
    float k[2 * 1] = { 1, 1.0001F };
    struct av_precision r = of_rows(q, 2, k, 2, 1, WITH("scale=on"));
    assert_int_equal(r.at[1][AV_DTYPE_F64].argmax_lost, 0);
    assert_int_equal(r.at[1][AV_DTYPE_F32].argmax_lost, 0);
    assert_int_equal(r.at[1][AV_DTYPE_BF16].argmax_lost, 2);
    assert_int_equal(r.at[1][AV_DTYPE_F16].argmax_lost, 2);
    float same[2] = { 1, 1 }; /* level in f64 too: nothing is lost */
    r = of_rows(q, 2, same, 2, 1, WITH("scale=on"));
    assert_int_equal(r.at[1][AV_DTYPE_F16].argmax_lost, 0);
}

/* A gap of 20 leaves a weight of 2e-9: below what f16 holds beside 1. A gap of
 * 200 leaves 1e-87, which f32 rounds to 0; 800 leaves f64 nothing either. A key
 * alone, or keys that are equal, have no gradient to lose and one to keep. */
static void test_lost_gradient(void **state)
{
    (void)state;
    float q[4] = { 20, 200, 800, 0 };
    float k[2] = { 1, 0 };
    struct av_precision r = of_rows(q, 4, k, 2, 1, WITH("scale=on"));
    static const size_t lost[AV_DTYPES] = { 1, 2, 2, 3, 2 };
    for (int t = 0; t < AV_DTYPES; t++) {
        assert_int_equal(r.at[1][t].dead_rows, lost[t]);
        assert_int_equal(r.at[1][t].rows, 4);
    }
    r = of_rows(q, 4, k, 1, 1, WITH("scale=on"));
    assert_int_equal(r.at[1][AV_DTYPE_F16].rows, 0);
    assert_true(isnan(r.at[1][AV_DTYPE_F16].weight_error_mean));
}

/* The errors are those of weights that imitate.h and a plain softmax give. */
static void test_errors(void **state)
{
    (void)state;
    enum { N = 5, D = 3 };
    float q[N * D], k[N * D];
    for (size_t i = 0; i < (size_t)N * D; i++) {
        q[i] = (float)sin((double)i + 1);
        k[i] = (float)cos(3 * (double)i);
    }
    struct av_precision r = of_rows(q, N, k, N, D, WITH("scale=off", "mask=causal", "offset=7", "temperature=0.5"));
    struct av_entries queries = { .f32 = q, .pitch = D }, keys = { .f32 = k, .pitch = D };
    double most = 0, sum = 0, count = 0;
    const double add[N] = { 7, 7, 7, 7, 7 };
    struct av_imitation *m;
    assert_int_equal(av_imitation_new(&m, NULL), AV_OK);
    for (size_t i = 1; i < N; i++) {
        double z[2][N], w[2][N];
        static const enum av_dtype dtypes[2] = { AV_DTYPE_F64, AV_DTYPE_BF16 };
        for (int t = 0; t < 2; t++) {
            struct av_params p = WITH("scale=off");
            p.dtype = dtypes[t];
            assert_int_equal(av_imitation_begin(m, &p, &keys, N, D, NULL), AV_OK);
            av_imitation_logits(m, z[t], &queries, i, i + 1, 1, 0.5, add);
            av_imitation_softmax(m, w[t], z[t], i + 1);
        }
        for (size_t j = 0; j <= i; j++) {
            most = fmax(most, fabs(w[0][j] - w[1][j]));
            sum += fabs(w[0][j] - w[1][j]);
            count++;
        }
    }
    av_imitation_free(m);
    const struct av_precision_cell *cell = &r.at[0][AV_DTYPE_BF16];
    assert_true(most > 1e-3 && fabs(cell->weight_error_max - most) < 1e-14);
    assert_true(fabs(cell->weight_error_mean - sum / count) < 1e-14);
    assert_int_equal(cell->rows, N - 1);
}

/* ---- the first d_k that overflows ------------------------------------------------------ */

enum { KEYS = 19, COLUMNS = 150 };

/* By imitating every d_k up to there; 0: none. */
static size_t brute_force(float *q, size_t n_q, float *k, struct av_params p, enum av_scale_order order)
{
    struct av_entries queries = { .f32 = q, .pitch = COLUMNS }, keys = { .f32 = k, .pitch = COLUMNS };
    struct av_imitation *m;
    assert_int_equal(av_imitation_new(&m, NULL), AV_OK);
    p.dtype = AV_DTYPE_F16;
    p.scale_order = order;
    size_t first = 0;
    for (size_t d = 1; d <= COLUMNS && first == 0; d++) {
        p.d_k = (int64_t)d;
        assert_int_equal(av_imitation_begin(m, &p, &keys, KEYS, d, NULL), AV_OK);
        for (size_t i = 0; i < n_q; i++) {
            double z[KEYS];
            size_t len = av_row_length((enum av_mask)p.mask, i, n_q, KEYS);
            av_imitation_logits(m, z, &queries, i, len, av_params_multiplier(&p, true), 1, NULL);
            for (size_t j = 0; j < len; j++) {
                first = isinf(z[j]) && first == 0 ? d : first;
            }
        }
    }
    av_imitation_free(m);
    return first;
}

static void check_overflow(double size, double mean, struct av_params p)
{
    enum { ROWS = 7 };
    static float q[ROWS * COLUMNS], k[KEYS * COLUMNS];
    uint64_t random = 3;
    for (size_t i = 0; i < (size_t)KEYS * COLUMNS; i++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        k[i] = (float)(mean + size * ((double)(random >> 40) * 0x1p-23 - 1));
        q[i % (ROWS * COLUMNS)] = (float)(mean + size * ((double)(random >> 20 & 0xffffff) * 0x1p-23 - 1));
    }
    struct av_precision r = of_rows(q, ROWS, k, KEYS, COLUMNS, p);
    assert_true(r.overflow.whole);
    for (int order = 0; order < AV_SCALE_ORDERS; order++) {
        size_t want = brute_force(q, ROWS, k, p, (enum av_scale_order)order);
        if (r.overflow.first[order] != want) {
            fail_msg("size %g, mean %g, order %d: d_k %zu, not %zu", size, mean, order, r.overflow.first[order], want);
        }
    }
}

static void test_first_overflow(void **state)
{
    (void)state;
    check_overflow(1, 0, WITH("scale=on"));
    check_overflow(200, 0, WITH("scale=on")); /* late */
    check_overflow(300, 10, WITH("scale=on"));
    check_overflow(10, 83, WITH("scale=on")); /* the scaled ones by their mean, far on */
    check_overflow(10, 83, WITH("exponent=0.4"));
    check_overflow(10, 83, WITH("exponent=1"));
    check_overflow(450, 0, WITH("mask=causal"));
    check_overflow(40, 100, WITH("smooth_k=on"));
    check_overflow(500, 500, WITH("smooth_k=on", "exponent=0.3"));
    check_overflow(70000, 0, WITH("scale=on")); /* entries that f16 does not hold */
}

/* ---- masks ----------------------------------------------------------------------------- */

static const struct av_mask_trial *trial(const struct av_precision *r, enum av_dtype dtype, enum av_mask_value value)
{
    assert_true(r->masks_whole[dtype]);
    return &r->masks[dtype][value];
}

static void assert_words(const struct av_mask_trial *t, const char *causal, enum av_severity causal_how,
                         const char *full, enum av_severity full_how)
{
    char out[AV_MASK_WORDS_MAX];
    enum av_severity how;
    assert_string_equal(av_mask_words_causal(out, t, &how), causal);
    assert_int_equal(how, causal_how);
    assert_string_equal(av_mask_words_full(out, t, &how), full);
    assert_int_equal(how, full_how);
}

/* Logits 0, 3, 6 (times 1, 2 for the queries): what each dtype makes of masks. */
static void test_masks(void **state)
{
    (void)state;
    float q[3] = { 1, 2, 2 };
    float k[3] = { 0, 3, 6 };
    struct av_precision r = of_rows(q, 3, k, 3, 1, WITH("query=1"));
    const struct av_mask_trial *t = trial(&r, AV_DTYPE_F16, AV_MASK_1E4);
    assert_true(t->held == -10000);
    assert_int_equal(t->rows, 2);
    assert_int_equal(t->full_logits, 3); /* 0, 6, 12 become -10000, -9992, -9984: multiples of 8 */
    assert_words(t, "0", AV_INFO, "as is ±0.0029", AV_WARN);
    t = trial(&r, AV_DTYPE_BF16, AV_MASK_1E4);
    assert_true(t->held == -9984);
    assert_words(t, "0", AV_INFO, "uniform", AV_WARN); /* multiples of 64 */
    t = trial(&r, AV_DTYPE_F32, AV_MASK_1E4);
    assert_words(t, "0", AV_INFO, "as is", AV_WARN);
    t = trial(&r, AV_DTYPE_F16, AV_MASK_1E8);
    assert_true(isinf(t->held));
    assert_words(t, "0", AV_INFO, "NaN", AV_BAD);
    t = trial(&r, AV_DTYPE_F32, AV_MASK_1E9);
    assert_words(t, "0", AV_INFO, "uniform", AV_WARN);
    t = trial(&r, AV_DTYPE_F64, AV_MASK_1E9);
    assert_words(t, "0", AV_INFO, "as is", AV_WARN);
    t = trial(&r, AV_DTYPE_F64, AV_MASK_MIN);
    assert_words(t, "0", AV_INFO, "uniform", AV_WARN);
    for (int dtype = 0; dtype < AV_MASK_DTYPES; dtype++) {
        t = trial(&r, (enum av_dtype)dtype, AV_MASK_TWICE_MIN);
        assert_true(isinf(t->held));
        assert_words(t, "0", AV_INFO, "NaN", AV_BAD);
    }
}

/* Logits of 20000 win against -1e4, those of 10000 - 7 nearly: e^-7 of a row. */
static void test_masks_that_lose(void **state)
{
    (void)state;
    float q[2] = { 1, 1 };
    float large[2] = { 0, 20000 };
    struct av_precision r = of_rows(q, 2, large, 2, 1, WITH("query=0"));
    assert_words(trial(&r, AV_DTYPE_F16, AV_MASK_1E4), "1", AV_BAD, "as is", AV_WARN);
    assert_words(trial(&r, AV_DTYPE_F64, AV_MASK_1E9), "0", AV_INFO, "as is", AV_WARN);
    float near[2] = { 0, 9992 };
    r = of_rows(q, 2, near, 2, 1, WITH("query=0"));
    assert_words(trial(&r, AV_DTYPE_F64, AV_MASK_1E4), "3e-4", AV_WARN, "as is", AV_WARN);
    assert_true(fabs(r.masks[AV_DTYPE_F64][AV_MASK_1E4].leak - 1 / (1 + exp(8))) < 1e-15);
    float beyond[2] = { 0,
                        70000 }; /* infinite in f16: added to, it stays so; a mask that leaves it out does not see it */
    r = of_rows(q, 2, beyond, 2, 1, WITH("query=0"));
    assert_words(trial(&r, AV_DTYPE_F16, AV_MASK_1E4), "NaN: 1/1", AV_BAD, "NaN", AV_BAD);
    float first[2] = { 70000, 0 };
    r = of_rows(q, 2, first, 2, 1, WITH("query=0"));
    assert_words(trial(&r, AV_DTYPE_F16, AV_MASK_1E4), "overflow", AV_BAD, "NaN", AV_BAD);
    float many[4] = { 1, 1, 1, 1 };
    r = of_rows(many, 4, large, 1, 1, WITH("query=0"));
    assert_words(trial(&r, AV_DTYPE_F16, AV_MASK_1E4), "no such row", AV_INFO, "uniform", AV_WARN);
}

/* ---- slices, changes, variants ----------------------------------------------------------- */

/* In any portions, on a state that has answered other questions, by any kernels
 * (sampled entries have exact products): the same to the last bit. */
static void test_same_result(void **state)
{
    (void)state;
    struct av_params p = WITH("n_q=9", "n_k=33", "d_k=24", "q_std=3", "mask=causal");
    struct av_params other = WITH("n_q=30", "n_k=20", "d_k=100", "variant=qk_rms+sigmoid");
    void *a = opened();
    struct av_precision want = *finished(a, p);
    finished(a, other);
    assert_int_equal(study()->begin(a, &p, NULL), AV_OK);
    assert_true(study()->step(a));
    assert_memory_equal(finished(a, p), &want, sizeof want);
    study()->close(a);
    void *b = NULL;
    assert_int_equal(study()->open(&b, av_kernels_named("base"), NULL), AV_OK);
    double last = -1;
    assert_int_equal(study()->begin(b, &p, NULL), AV_OK);
    do {
        assert_true(study()->progress(b) >= last);
        last = study()->progress(b);
    } while (study()->step(b));
    assert_memory_equal(study()->result(b), &want, sizeof want);
    study()->close(b);
}

/* Every variant and bend goes through; f64 against itself has no error. */
static void test_variants(void **state)
{
    (void)state;
    static const char *const names[] = { "variant=mup+softcap", "variant=qk_l2",       "variant=score_layernorm",
                                         "variant=sparsemax",   "variant=sigmoid",     "variant=differential",
                                         "variant=alibi",       "variant=lsh",         "variant=linformer",
                                         "variant=sink",        "variant=qk_rms+logn", "variant=score_batchnorm" };
    void *s = opened();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct av_precision *r = finished(s, WITH("n_q=16", "n_k=16", "d_k=16", names[i]));
        for (int scale = 0; scale < 2; scale++) {
            const struct av_precision_cell *cells = r->at[scale];
            assert_true(cells[AV_DTYPE_F64].rows > 0 && cells[AV_DTYPE_F64].weight_error_max == 0);
            for (int t = AV_DTYPE_F32; t < AV_DTYPES; t++) {
                assert_int_equal(cells[t].nan_rows, 0);
                assert_true(cells[t].weight_error_max > 0);
                assert_true(cells[AV_DTYPE_F32].weight_error_mean < 1e-3);
            }
        }
    }
    study()->close(s);
}

static const char *finding(const struct av_precision *r, const char *start)
{
    static struct av_precision_finding all[AV_PRECISION_FINDINGS];
    size_t n = av_precision_findings(all, r);
    assert_true(n <= AV_PRECISION_FINDINGS);
    for (size_t i = 0; i < n; i++) {
        if (strncmp(all[i].text, start, strlen(start)) == 0) {
            return all[i].text;
        }
    }
    return "";
}

static void test_findings(void **state)
{
    (void)state;
    void *s = opened();
    const struct av_precision *r = finished(s, WITH("n_q=8"));
    assert_string_not_equal(finding(r, "every dtype keeps"), "");
    assert_string_not_equal(finding(r, "bf16 logits"), "");
    assert_string_equal(finding(r, "unscaled: small weight errors"), "");
    r = finished(s, WITH("q_std=100", "k_std=100", "d_k=256", "n_q=8"));
    assert_string_not_equal(finding(r, "f16: 8 of 8 rows are NaN"), "");
    assert_string_not_equal(finding(r, "f16 scores overflow before they are scaled"), "");
    assert_string_equal(finding(r, "every dtype"), "");
    assert_true(r->overflow.first[AV_SCALE_QUERY] == 0 && r->overflow.first[AV_SCALE_PRODUCT] <= 256);
    r = finished(s, WITH("q_std=20", "k_std=20", "d_k=1024", "n_q=8"));
    assert_string_not_equal(finding(r, "unscaled: small weight errors are no merit"), "");
    r = finished(s, WITH("q_std=100", "k_std=100", "d_k=256", "n_q=8", "scale_order=query"));
    assert_int_equal(r->at[1][AV_DTYPE_F16].nan_rows, 0);
    assert_string_equal(finding(r, "f16 scores"), "");
    study()->close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nan_rows),        cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_lost_gradient),   cmocka_unit_test(test_errors),
        cmocka_unit_test(test_first_overflow),  cmocka_unit_test(test_masks),
        cmocka_unit_test(test_masks_that_lose), cmocka_unit_test(test_same_result),
        cmocka_unit_test(test_variants),        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
