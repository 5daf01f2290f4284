/* test_attend_rows.c - rows in portions, rows that are invalid or see nothing, narrower arithmetic, glides. */
#include "attend_driver.h"
#include "sanitized.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Variants of every kind of work. */
static const char *const KINDS[] = { "softmax",
                                     "entmax15+window",
                                     "qk_rms+sink+alibi",
                                     "score_layernorm+sigmoid",
                                     "differential",
                                     "qk_layernorm+differential",
                                     "lsh",
                                     "linformer",
                                     "ssmax+score_batchnorm" };
enum { COUNT = sizeof KINDS / sizeof KINDS[0] };

static void same(const struct head *a, const struct head *b)
{
    assert_memory_equal(a->logits, b->logits, sizeof a->logits);
    assert_memory_equal(a->weights, b->weights, sizeof a->weights);
    assert_memory_equal(a->rows, b->rows, sizeof a->rows);
    assert_memory_equal(a->multiplier, b->multiplier, sizeof a->multiplier);
    assert_memory_equal(a->nonzero, b->nonzero, sizeof a->nonzero);
    assert_memory_equal(a->d_scores, b->d_scores, sizeof a->d_scores);
    assert_memory_equal(a->dq, b->dq, sizeof a->dq);
}

/* ---- Portions ------------------------------------------------------------------ */

static void any_portions_give_the_same_bits(void **state)
{
    (void)state;
    const char *const dtypes[] = { "dtype=f64", "dtype=bf16" };
    for (size_t t = 0; t < COUNT * 2; t++) {
        struct head *whole = new_head(60, 60, 16, 5), *apart = new_head(60, 60, 16, 5);
        struct av_params p = params_of(whole, KINDS[t / 2], dtypes[t % 2]);
        p.mask = AV_MASK_CAUSAL;
        run_params(whole, &p);
        struct av_attend *a = new_attend();
        struct av_moments m;
        begin(a, apart, &p, &m, (double)NAN);
        run_some(a, apart, 59, 60);
        run_some(a, apart, 0, 7);
        run_some(a, apart, 30, 59);
        for (size_t i = 7; i < 30; i++) {
            run_some(a, apart, i, i + 1);
        }
        same(whole, apart);
        av_attend_free(a);
        free(whole);
        free(apart);
    }
}

/* One attention for one head and variant after another, larger and smaller. */
static void nothing_is_left_of_the_one_before(void **state)
{
    (void)state;
    struct av_attend *a = new_attend();
    for (size_t round = 0; round < 3; round++) {
        for (size_t v = 0; v < COUNT; v++) {
            const size_t n = 10 + 17 * ((v + round) % 3), d = 4 + 12 * (v % 2);
            struct head *h = new_head(n, n, d, (uint32_t)v), *alone = new_head(n, n, d, (uint32_t)v);
            struct av_params p = params_of(h, KINDS[v], "");
            struct av_moments m;
            begin(a, h, &p, &m, (double)NAN);
            run_some(a, h, 0, n);
            run_params(alone, &p);
            same(h, alone);
            free(h);
            free(alone);
        }
    }
    av_attend_free(a);
}

/* ---- Rows without weights ---------------------------------------------------------- */

/* Key BAD, which rows from BAD on see, or with a window the four from there. */
static void rows_that_see_a_nan_are_invalid(void **state)
{
    (void)state;
    enum { N = 30, D = 8, BAD = 11 };
    for (size_t v = 0; v < COUNT; v++) {
        struct head *h = new_head(N, N, D, 9);
        const bool window = strstr(KINDS[v], "window") != NULL;
        (strcmp(KINDS[v], "lsh") == 0 ? h->q : h->k)[BAD * D + 3] = nanf("");
        struct av_params p = params_of(h, KINDS[v], "mask=causal window.size=4 linformer.k=30 lsh.buckets=1");
        struct av_moments all = AV_MOMENTS_INIT, valid = AV_MOMENTS_INIT;
        make_scores(h, &all, AV_MASK_CAUSAL);
        for (size_t i = 0; i < BAD; i++) {
            av_moments_add(&valid, h->scores + i * N, i + 1);
        }
        const struct av_entries q = { .f32 = h->q, .pitch = D }, k = { .f32 = h->k, .pitch = D };
        const struct av_attend_head head = { q, k, N, N, D, h->scores, &valid, false, 0 };
        struct av_attend *a = new_attend();
        assert_int_equal(av_attend_begin(a, &p, &head, (double)NAN, NULL), AV_OK);
        run_some(a, h, 0, N);
        for (size_t i = 0; i < N; i++) {
            const bool sees = i >= BAD && (!window || i < BAD + 4);
            assert_int_equal(h->invalid[i], sees);
            assert_int_equal(h->rows[i].keys, window && i > 3 ? 4 : i + 1);
            for (size_t j = 0; j < N; j++) {
                const bool seen = j <= i && (!window || j + 4 > i);
                const double w = h->weights[i * N + j];
                assert_true(seen ? isnan(w) == sees : w == 0);
            }
            assert_true(sees ? h->dq[i] == 0 && h->d_scores[i] == 0 : isfinite(h->dq[i]));
        }
        av_attend_free(a);
        free(h);
    }
}

static void rows_without_keys(void **state)
{
    (void)state;
    for (size_t v = 0; v < COUNT; v++) {
        if (strcmp(KINDS[v], "lsh") == 0) {
            continue; /* as many queries as keys */
        }
        struct head *h = new_head(9, 4, 6, 2);
        run_variant(h, KINDS[v], "mask=causal linformer.k=4");
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(h->rows[i].keys, 0);
            assert_false(h->invalid[i]);
            assert_true(h->nonzero[i] == 0 && h->dq[i] == 0 && h->d_scores[i] == 0);
            for (size_t j = 0; j < 4; j++) {
                assert_true(h->weights[i * 4 + j] == 0 && h->logits[i * 4 + j] == -HUGE_VAL);
            }
        }
        assert_int_equal(h->rows[5].keys, 1);
        free(h);
    }
}

/* Six queries, the last of them at the last of three keys: at positions -3 .. 2. */
static void positions_of_llama4_begin_at_its_start(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double floors[6];
    } cases[] = {
        { "llama4.floor=1 llama4.scale=1 scale=off", { 1, 1, 1, 1, 2, 3 } },
        { "llama4.floor=1 llama4.scale=1 llama4.start=2 scale=off", { 1, 1, 2, 3, 4, 5 } },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct head *h = new_head(6, 3, 4, 5);
        run_variant(h, "llama4", cases[c].settings);
        for (size_t i = 0; i < 6; i++) {
            assert_true(fabs(h->multiplier[i] - (1 + log1p(cases[c].floors[i]))) < 1e-15);
        }
        free(h);
    }
}

static void share_of_weights_that_are_not_zero(void **state)
{
    (void)state;
    struct head *h = new_head(20, 20, 16, 4);
    run_variant(h, "sparsemax", "mask=causal");
    for (size_t i = 0; i < 20; i++) {
        double count = 0;
        for (size_t j = 0; j <= i; j++) {
            count += h->weights[i * 20 + j] > 0;
        }
        assert_true(h->nonzero[i] == count / (double)(i + 1));
    }
    assert_true(h->nonzero[19] < 1);
    free(h);
}

/* ---- Narrower arithmetic ------------------------------------------------------------ */

static void weights_are_numbers_of_the_dtype(void **state)
{
    (void)state;
    for (size_t v = 0; v < COUNT; v++) {
        struct head *exact = new_head(12, 12, 8, 6);
        run_variant(exact, KINDS[v], "lsh.buckets=1");
        const struct {
            const char *assignment;
            enum av_dtype dtype, held;
            double off;
        } cases[] = { { "dtype=f32 lsh.buckets=1", AV_DTYPE_F32, AV_DTYPE_F32, 3e-6 },
                      { "dtype=f16 lsh.buckets=1", AV_DTYPE_F16, AV_DTYPE_F16, 0.02 },
                      { "dtype=bf16 lsh.buckets=1", AV_DTYPE_BF16, AV_DTYPE_BF16, 0.2 },
                      { "dtype=int8 lsh.buckets=1", AV_DTYPE_INT8, AV_DTYPE_F32, 0.2 } };
        for (size_t c = 0; c < 4; c++) {
            struct head *h = new_head(12, 12, 8, 6);
            run_variant(h, KINDS[v], cases[c].assignment);
            const double off = largest_difference(h->weights, exact->weights, 144);
            if (!(off > 0 && off < cases[c].off)) {
                fail_msg("%s %s: off by %g", KINDS[v], cases[c].assignment, off);
            }
            for (size_t i = 0; i < 144; i++) {
                assert_true(h->weights[i] == av_dtype_round(cases[c].held, h->weights[i]));
                assert_true(h->logits[i] == av_dtype_round(cases[c].held, h->logits[i]));
            }
            free(h);
        }
        free(exact);
    }
}

/* Scores beyond 65504 have no number in f16. One of +infinity leaves a row no
 * weights; those of -infinity leave their keys none, as long as there is a
 * number. */
static void overflow_makes_rows_invalid(void **state)
{
    (void)state;
    struct head *h = new_head(8, 8, 16, 6);
    for (size_t i = 0; i < 8 * 16; i++) {
        h->q[i] *= i < 16 ? 1 : 500;
        h->k[i] *= i < 16 ? 1 : 100; /* key 0 never overflows */
    }
    run_variant(h, "none", "dtype=f16");
    size_t invalid = 0, infinite = 0;
    for (size_t i = 0; i < 8; i++) {
        bool beyond = false;
        for (size_t j = 0; j < 8; j++) {
            double score = 0;
            for (size_t c = 0; c < 16; c++) {
                score += (double)h->q[i * 16 + c] * (double)h->k[j * 16 + c];
            }
            assert_true(fabs(fabs(score) - 65520) > 100); /* or rounded entries decide */
            beyond = beyond || score > 65520;
            infinite += score < -65520;
            assert_true(score > -65520 || isnan(h->weights[i * 8 + j]) || h->weights[i * 8 + j] == 0);
        }
        assert_int_equal(h->invalid[i], beyond);
        assert_int_equal(isnan(h->weights[i * 8]), beyond);
        invalid += h->invalid[i];
    }
    assert_in_range(invalid, 1, 6);
    assert_true(infinite > 0 && !h->invalid[0]);
    run_variant(h, "none", "dtype=bf16");
    assert_false(h->invalid[7]);
    free(h);
}

/* ---- Glides, and failing ---------------------------------------------------------------- */

static void a_glide_stands_in_for_what_the_scale_switches(void **state)
{
    (void)state;
    struct head *h = new_head(4, 4, 16, 6);
    struct av_attend *a = new_attend();
    struct av_moments m;
    struct av_params p = params_of(h, "cosine", "temperature=2");
    assert_true(av_attend_alpha(&p, 16, 4) == 10);
    begin(a, h, &p, &m, 3.0);
    assert_true(av_attend_multiplier(a) == 1.5);
    p = params_of(h, "yarn", "yarn.S=1000");
    assert_true(av_attend_alpha(&p, 16, 4) == 0.25);
    begin(a, h, &p, &m, 0.5);
    const double yarn = pow(0.1 * log(1000) + 1, 2);
    assert_true(fabs(av_attend_multiplier(a) - 0.5 * yarn) < 1e-14);
    p = params_of(h, "ssmax", "");
    begin(a, h, &p, &m, (double)NAN);
    assert_true(fabs(av_attend_multiplier(a) - 0.25 * 0.43 * log(4)) < 1e-15);
    p = params_of(h, "ssmax", "mask=causal");
    begin(a, h, &p, &m, (double)NAN);
    assert_true(av_attend_multiplier(a) == 0.25); /* what differs between rows is not in it */
    run_some(a, h, 0, 4);
    assert_true(fabs(h->multiplier[3] - 0.25 * 0.43 * log(4)) < 1e-15);
    p.scale = 0;
    assert_true(av_attend_alpha(&p, 16, 4) == 1);
    av_attend_free(a);
    free(h);
}

/* The factor is all rows' when it is the same for every row's keys and position. */
static void a_factor_is_common_or_of_the_rows(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *settings;
        bool common;
        double factor;
    } cases[] = {
        { "softmax", "mask=causal", true, 1 },
        { "yarn", "mask=causal yarn.S=1", true, 1 },
        { "ssmax", "ssmax.sigma=1", true, 2.772588722239781 }, /* ln 16 */
        { "ssmax", "ssmax.sigma=1 mask=causal", false, 1 },
        { "ssmax+alibi", "ssmax.sigma=1", true, 2.772588722239781 },
        { "ssmax+window", "ssmax.sigma=1", false, 1 },
        { "ssmax+linformer", "ssmax.sigma=1 linformer.k=8", true, 2.0794415416798357 },
        { "ssmax+linformer", "ssmax.sigma=1 linformer.k=8 mask=causal", false, 1 },
        { "logn", "logn.L=4", true, 2 },
        { "logn", "logn.L=4 mask=causal", false, 1 },
        { "logn", "logn.L=64 mask=causal", true, 1 }, /* no row sees 64 keys */
        { "llama4", "llama4.floor=4", false, 1 },
        { "llama4", "", true, 1 },
    };
    struct head *h = new_head(16, 16, 16, 6);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_params p = params_of(h, cases[i].variant, cases[i].settings);
        double factor = 0;
        bool common = av_attend_factor(&factor, &p, 16, 16);
        if (common != cases[i].common || fabs(factor - cases[i].factor) > 1e-15) {
            fail_msg("%s %s: %d, %.17g", cases[i].variant, cases[i].settings, common, factor);
        }
    }
    free(h);
}

static void rows_cost_what_they_take(void **state)
{
    (void)state;
    struct head *h = new_head(32, 32, 64, 6);
    struct av_attend *a = new_attend();
    struct av_moments m;
    struct av_params p = params_of(h, "softmax", "");
    begin(a, h, &p, &m, (double)NAN);
    const double plain = av_attend_row_cost(a, false), with_dq = av_attend_row_cost(a, true);
    assert_true(plain >= 32 && with_dq >= plain + 32 * 64);
    p = params_of(h, "qk_rms", "");
    begin(a, h, &p, &m, (double)NAN);
    assert_true(av_attend_row_cost(a, false) >= plain + 32 * 64);
    av_attend_free(a);
    free(h);
}

/* Normalised keys of 64 MB do not fit; 0 is success. */
static int fail_to_begin(void)
{
    enum { N = 2048, D = 4096, SMALL = 8 };
    float *entries = calloc((size_t)N * D, sizeof *entries);
    struct head *h = calloc(1, sizeof *h), *again = calloc(1, sizeof *h);
    struct av_attend *a;
    struct av_error e = { "" };
    struct av_params p;
    av_params_default(&p);
    av_variant_parse(&p.variant, "qk_l2", NULL);
    if (entries == NULL || h == NULL || again == NULL || av_attend_new(&a, NULL, &e) != AV_OK) {
        return 1;
    }
    h->n_q = h->n_k = h->d = SMALL;
    fill_entries(h->q, SMALL * SMALL, 1);
    fill_entries(h->k, SMALL * SMALL, 2);
    *again = *h;
    const struct av_entries q = { .f32 = h->q, .pitch = SMALL }, k = { .f32 = h->k, .pitch = SMALL };
    const struct av_attend_head small = { q, k, SMALL, SMALL, SMALL, h->scores, NULL, false, 0 };
    const struct av_entries wide = { .f32 = entries, .pitch = D };
    const struct av_attend_head large = { wide, wide, N, N, D, NULL, NULL, false, 0 };
    if (av_attend_begin(a, &p, &small, (double)NAN, &e) != AV_OK) {
        return 2;
    }
    run_some(a, h, 0, SMALL);
    struct rlimit limit = { 1 << 26, 1 << 26 };
    setrlimit(RLIMIT_AS, &limit);
    if (av_attend_begin(a, &p, &large, (double)NAN, &e) != AV_NOMEM || strstr(e.text, "memory") == NULL) {
        return 3;
    }
    run_some(a, again, 0, SMALL);
    return memcmp(h, again, sizeof *h) == 0 && h->weights[0] > 0 ? 0 : 4;
}

static void without_memory_the_old_state_stands(void **state)
{
    (void)state;
    if (SANITIZED) {
        skip(); /* its own memory breaks the limit */
    }
    int status;
    const pid_t child = fork();
    if (child == 0) {
        _exit(fail_to_begin());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_portions_give_the_same_bits),
        cmocka_unit_test(nothing_is_left_of_the_one_before),
        cmocka_unit_test(rows_that_see_a_nan_are_invalid),
        cmocka_unit_test(rows_without_keys),
        cmocka_unit_test(positions_of_llama4_begin_at_its_start),
        cmocka_unit_test(share_of_weights_that_are_not_zero),
        cmocka_unit_test(weights_are_numbers_of_the_dtype),
        cmocka_unit_test(overflow_makes_rows_invalid),
        cmocka_unit_test(a_glide_stands_in_for_what_the_scale_switches),
        cmocka_unit_test(a_factor_is_common_or_of_the_rows),
        cmocka_unit_test(rows_cost_what_they_take),
        cmocka_unit_test(without_memory_the_old_state_stands),
    };
    return cmocka_run_group_tests_name("attend_rows", tests, NULL, NULL);
}
