/* test_properties.c - what holds for every row, of whatever size: a common
 * shift changes nothing, nor does the order of keys or queries. */
#include "attnviz/model.h"
#include "pair_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 40, TRIALS = 20000 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33; /* 31 bits */
}

static double uniform(uint64_t *state)
{
    return (double)next_random(state) * 0x1p-31;
}

/* A row of 1 .. KEYS logits; the kinds of them take turns: ties, masked
 * entries, one key left, one far above the others. */
static size_t random_row(double *z, uint64_t *seed, double (*logit)(uint64_t *seed, double size), double size)
{
    size_t n = 1 + next_random(seed) % KEYS;
    double tied = logit(seed, size);
    int kind = (int)(next_random(seed) % 5);
    for (size_t j = 0; j < n; j++) {
        z[j] = logit(seed, size);
        if (kind == 1 && next_random(seed) % 2 == 0) {
            z[j] = tied;
        } else if (kind == 2 && j > 0 && next_random(seed) % 3 == 0) {
            z[j] = -HUGE_VAL;
        } else if (kind == 3 && j > 0) {
            z[j] = -HUGE_VAL;
        } else if (kind == 4 && j == n / 2) {
            z[j] = size * 0x1p26;
        }
    }
    return n;
}

/* Whole multiples of `size` of 24 bits: sums with other such are exact. */
static double whole_multiple(uint64_t *seed, double size)
{
    return size * ((double)(next_random(seed) >> 7) - 0x1p23);
}

/* Of any size from 1e-30 to 1e30 within the same row; half of them near 1. */
static double any_size(uint64_t *seed, double size)
{
    double exponent = next_random(seed) % 2 == 0 ? 60 * uniform(seed) - 30 : 2 * uniform(seed) - 1;
    return size * (next_random(seed) % 2 == 0 ? -1 : 1) * pow(10, exponent);
}

static void a_common_shift_changes_no_bit(void **state)
{
    (void)state;
    const struct av_kernels *kernels = av_kernels_best();
    uint64_t seed = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        double z[KEYS], p[KEYS], shifted_p[KEYS];
        struct av_rowstats row, shifted;
        memset(&row, 0, sizeof row);
        memset(&shifted, 0, sizeof shifted);
        double size = ldexp(1, (int)(next_random(&seed) % 200) - 123); /* values of 1e-30 to 1e30 */
        double shift = size * 0x1p24 * (double)next_random(&seed) * 0x1p-8;
        size_t n = random_row(z, &seed, whole_multiple, size);
        kernels->softmax(p, z, 1, n, &row);
        shift = size * floor(shift / size);
        for (size_t j = 0; j < n; j++) {
            assert_true(!isfinite(z[j]) || (z[j] + shift) - shift == z[j]);
            z[j] += shift;
        }
        kernels->softmax(shifted_p, z, 1, n, &shifted);
        assert_true(shifted.max_logit == row.max_logit + shift);
        shifted.max_logit = row.max_logit;
        assert_memory_equal(&shifted, &row, sizeof row);
        assert_memory_equal(shifted_p, p, n * sizeof *p);
    }
}

static void close_to(const char *what, double got, double want)
{
    if (!(got == want || fabs(got - want) <= 1e-14 * fabs(want) + 0x1p-1074)) {
        fail_msg("%s: %.17g is not %.17g", what, got, want);
    }
}

/* order becomes a random permutation of 0 .. n - 1. */
static void shuffle(size_t *order, size_t n, uint64_t *seed)
{
    for (size_t j = 0; j < n; j++) {
        size_t other = next_random(seed) % (j + 1);
        order[j] = order[other];
        order[other] = j;
    }
}

/* In saturation the logarithms are large: a relative error of the value is an
 * absolute one of its logarithm. */
static void close_log10(const char *what, double got, double want)
{
    if (!(got == want || fabs(got - want) <= 1e-14 * (1 + fabs(want)))) {
        fail_msg("log10 of %s: %.17g is not %.17g", what, got, want);
    }
}

static void assert_same_row(const struct av_rowstats *a, const struct av_rowstats *b)
{
    assert_int_equal(a->keys, b->keys);
    assert_true(a->max_logit == b->max_logit);
    close_to("max", a->max, b->max);
    close_to("1 - max", a->one_minus_max, b->one_minus_max);
    close_to("entropy", a->entropy, b->entropy);
    close_to("sum_p2", a->sum_p2, b->sum_p2);
    close_to("trace", a->trace, b->trace);
    close_to("jacobian_fro", a->jacobian_fro, b->jacobian_fro);
    close_log10("1 - max", av_rowstats_log10_one_minus_max(a), av_rowstats_log10_one_minus_max(b));
    close_log10("entropy", av_rowstats_log10_entropy(a), av_rowstats_log10_entropy(b));
    close_log10("trace", av_rowstats_log10_trace(a), av_rowstats_log10_trace(b));
    close_log10("jacobian_fro", av_rowstats_log10_jacobian_fro(a), av_rowstats_log10_jacobian_fro(b));
}

static void the_order_of_keys_does_not_matter(void **state)
{
    (void)state;
    const struct av_kernels *kernels = av_kernels_best();
    uint64_t seed = 2;
    for (int trial = 0; trial < TRIALS; trial++) {
        double z[KEYS], p[KEYS], moved_z[KEYS], moved_p[KEYS];
        size_t order[KEYS];
        struct av_rowstats row, moved;
        size_t n = random_row(z, &seed, any_size, 1);
        shuffle(order, n, &seed);
        for (size_t j = 0; j < n; j++) {
            moved_z[j] = z[order[j]];
        }
        kernels->softmax(p, z, 1, n, &row);
        kernels->softmax(moved_p, moved_z, 1, n, &moved);
        for (size_t j = 0; j < n; j++) {
            close_to("weight", moved_p[j], p[order[j]]);
        }
        assert_true(moved_z[moved.argmax] == z[row.argmax]);
        assert_same_row(&moved, &row);
    }
}

/* The whole way from entries to dq_rms: keys in another order move the columns
 * of the weights, queries in another order move the rows, bit for bit. */
static void permuted_tensors_permute_what_comes_of_them(void **state)
{
    (void)state;
    enum { N = 24, D = 10 };
    static float entries[4][N * D]; /* q, k, and both in another order */
    uint64_t seed = 3;
    size_t q_order[N], k_order[N];
    for (size_t i = 0; i < N * D; i++) {
        entries[0][i] = (float)(4 * uniform(&seed) - 2);
        entries[1][i] = (float)(4 * uniform(&seed) - 2);
    }
    shuffle(q_order, N, &seed);
    shuffle(k_order, N, &seed);
    for (size_t i = 0; i < N; i++) {
        memcpy(entries[2] + i * D, entries[0] + q_order[i] * D, D * sizeof(float));
        memcpy(entries[3] + i * D, entries[1] + k_order[i] * D, D * sizeof(float));
    }
    struct av_model *models[2];
    const struct av_snapshot *s[2];
    struct matrix t[4];
    struct pair_source pairs[2];
    for (size_t i = 0; i < 4; i++) {
        t[i] = (struct matrix){ .name = "x", .heads = 1, .n = N, .d = D, .f32 = entries[i] };
    }
    for (size_t i = 0; i < 2; i++) {
        struct av_params p;
        av_params_default(&p);
        p.scale = 0;
        assert_int_equal(av_model_new(&models[i], NULL, NULL), AV_OK);
        av_model_use_source(models[i], pair_source(&pairs[i], &t[2 * i], &t[2 * i + 1]));
        av_params_from_source(&p, &pairs[i].source);
        assert_int_equal(av_model_update(models[i], &p, AV_NEED_DQ, NULL), AV_OK);
        s[i] = av_model_snapshot(models[i]);
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            size_t from = q_order[i] * N + k_order[j];
            assert_memory_equal(&s[1]->scores[i * N + j], &s[0]->scores[from], sizeof(double));
            close_to("weight", s[1]->weights[i * N + j], s[0]->weights[from]);
        }
        assert_same_row(&s[1]->rows[i], &s[0]->rows[q_order[i]]);
        close_to("dq_rms", s[1]->dq_rms[i], s[0]->dq_rms[q_order[i]]);
    }
    close_to("median", s[1]->now.jacobian_fro_median, s[0]->now.jacobian_fro_median);
    close_to("mean", s[1]->now.entropy_norm_mean, s[0]->now.entropy_norm_mean);
    close_to("variance", av_moments_var(&s[1]->score_moments), av_moments_var(&s[0]->score_moments));
    av_model_free(models[0]);
    av_model_free(models[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_shift_changes_no_bit),
        cmocka_unit_test(the_order_of_keys_does_not_matter),
        cmocka_unit_test(permuted_tensors_permute_what_comes_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
