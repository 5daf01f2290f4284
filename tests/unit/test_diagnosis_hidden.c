/* test_diagnosis_hidden.c - weights under another mask than the parameters': found, and named where it is simple. */
#include "diagnosis_driver.h"

#include <limits.h>

/* A softmax over keys first <= j < end and lowest <= j - i <= highest; of `sequences` packed ones. A row
 * without a key gives all the same. */
struct band {
    size_t first, end;
    int lowest, highest;
    size_t sequences;
};

static bool sees(const struct band *b, size_t n, size_t i, size_t j)
{
    int offset = (int)j - (int)i;
    return j >= b->first && j < b->end && offset >= b->lowest && offset <= b->highest &&
           i * b->sequences / n == j * b->sequences / n;
}

static void banded(struct made *m, const struct band *b)
{
    for (size_t i = 0; i < m->n_q; i++) {
        double *w = &m->part[AV_PART_WEIGHTS][i * m->n_k], sum = 0;
        for (size_t j = 0; j < m->n_k; j++) {
            sum += w[j] = sees(b, m->n_k, i, j) ? exp(m->logits[i * m->n_k + j]) : 0;
        }
        for (size_t j = 0; j < m->n_k; j++) {
            w[j] = sum > 0 ? w[j] / sum : 1 / (double)m->n_k;
        }
    }
    give_weights(m);
}

enum { N = 32, ANY = INT_MAX / 2 };

static struct av_diagnosis diagnose_band(struct made *m, const struct band *b, double multiplier)
{
    make_logits(m, multiplier);
    banded(m, b);
    return diagnose(m);
}

/* Mean number of keys that rows see by the parameters and not by the band. */
static double hidden_keys(const struct made *m, const struct band *b)
{
    size_t keys = 0, rows = 0;
    for (size_t i = 0; i < N; i++) {
        rows += m->causal ? i > 0 : 1;
        for (size_t j = 0; j < N; j++) {
            keys += !masked(m, i, j) && !(m->causal && i == 0) && !sees(b, N, i, j);
        }
    }
    return (double)keys / (double)rows;
}

static void shapes_are_named(void **state)
{
    (void)state;
    static const struct {
        struct band band;
        bool causal;
        const char *text;
    } cases[] = {
        { { 0, 24, -ANY, ANY, 1 }, false, "than none (padding, keys 24 and on);" },
        { { 5, N, -ANY, ANY, 1 }, false, "than none (padding, keys before 5);" },
        { { 3, 30, -ANY, ANY, 1 }, false, "than none (padding, keys before 3 and from 30 on);" },
        { { 0, 20, -ANY, 0, 1 }, true, "than causal (padding, keys 20 and on);" },
        { { 0, N, -3, 0, 1 }, true, "than causal (a window of 4 keys up to the query);" },
        { { 0, N, -3, 0, 1 }, false, "than causal (a window of 4 keys up to the query);" },
        { { 0, N, -4, 4, 1 }, false, "than none (a window, i-4 <= j <= i+4);" },
        { { 0, N, -ANY, 1, 1 }, false, "than none (causal, off by one, j <= i+1);" },
        { { 0, N, 0, ANY, 1 }, false, "than none (upside-down, j >= i);" },
        { { 0, N, -ANY, ANY, 2 }, false, "than none (padding, a window, keys of other sequences);" },
    };
    for (size_t c = 0; c < LENGTH(cases); c++) {
        for (enum av_dtype dtype = AV_DTYPE_F64; dtype <= AV_DTYPE_F16; dtype++) {
            struct made m;
            made_new(&m, N, 16, cases[c].causal, 10 * c + dtype);
            m.dtype = dtype;
            struct av_diagnosis r = diagnose_band(&m, &cases[c].band, 0.25);
            assert_only(&m, &r, "mask_other");
            if (strstr(find(&r, "mask_other")->text, cases[c].text) == NULL) {
                tell(&m, &r);
                fail_msg("case %zu: not %s", c, cases[c].text);
            }
            m.causal = r.causal || m.causal;
            assert_float_equal(r.evidence.hidden_keys, hidden_keys(&m, &cases[c].band), 1e-9);
            assert_true(r.evidence.hidden_share > 0.01 && r.evidence.hidden_share < 0.9);
            made_free(&m);
        }
    }
}

/* Its first row sees none, and may hold what it likes. */
static void strictly_causal(void **state)
{
    (void)state;
    const struct band strict = { 0, N, -ANY, -1, 1 };
    struct made m;
    made_new(&m, N, 16, false, 3);
    struct av_diagnosis r = diagnose_band(&m, &strict, 0.25);
    assert_non_null(find(&r, "mask_other"));
    assert_non_null(strstr(find(&r, "mask_other")->text, "than causal (strictly causal, j < i);"));
    made_free(&m);
}

/* With a mask that hides more: weight behind it, and by which mask. */
static void masked_weight_names_it(void **state)
{
    (void)state;
    const struct band off = { 0, N, -ANY, 1, 1 }, none = { 0, N, -ANY, ANY, 1 };
    struct made m;
    made_new(&m, N, 16, true, 4);
    struct av_diagnosis r = diagnose_band(&m, &off, 0.25);
    assert_only(&m, &r, "masked_weight");
    assert_non_null(strstr(find(&r, "masked_weight")->text, "the mask is another one: causal, off by one, j <= i+1"));
    r = diagnose_band(&m, &none, 0.25);
    assert_only(&m, &r, "masked_weight");
    assert_null(strstr(find(&r, "masked_weight")->text, "another one"));
    made_free(&m);
}

/* Zeros of the lowest logits: underflow, few digits, or the largest keys kept. */
enum zeros { UNDERFLOW, DIGITS, LARGEST };

static void check_silent(enum zeros how, enum av_dtype dtype, bool causal, double multiplier, uint64_t seed)
{
    struct made m;
    made_new(&m, 128, 64, causal, seed);
    m.dtype = dtype;
    make_logits(&m, multiplier);
    double *w = plain_weights(&m);
    for (size_t i = 0; i < m.n_q; i++) {
        double *row = &w[i * m.n_k], sum = 0;
        for (size_t j = 0; j < m.n_k; j++) {
            row[j] = how == DIGITS ? rint(row[j] * 1e4) / 1e4 : how == LARGEST && row[j] < 0.004 ? 0 : row[j];
            sum += row[j];
        }
        for (size_t j = 0; how == LARGEST && j < m.n_k; j++) {
            row[j] /= sum;
        }
    }
    give_weights(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_true(r.evidence.zero_share > 0);
    if (find(&r, "mask_other") != NULL) {
        tell(&m, &r);
        fail_msg("zeros %d, seed %d", (int)how, (int)seed);
    }
    made_free(&m);
}

static void the_lowest_are_not_masked(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (int causal = 0; causal < 2; causal++) {
            check_silent(UNDERFLOW, AV_DTYPE_F16, causal, 1, seed);
            check_silent(UNDERFLOW, AV_DTYPE_F32, causal, 6, seed);
            check_silent(UNDERFLOW, AV_DTYPE_BF16, causal, 6, seed);
            check_silent(DIGITS, AV_DTYPE_F32, causal, 0.25, seed);
            check_silent(LARGEST, AV_DTYPE_F32, causal, 0.125, seed);
            check_silent(LARGEST, AV_DTYPE_F16, causal, 0.125, seed);
            check_silent(LARGEST, AV_DTYPE_BF16, causal, 0.125, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_named),
        cmocka_unit_test(strictly_causal),
        cmocka_unit_test(masked_weight_names_it),
        cmocka_unit_test(the_lowest_are_not_masked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
