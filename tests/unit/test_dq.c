/* test_dq.c - |J K|_F against its definition in long double, on every
 * instruction set. */
#include "attnviz/kernels.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 40;
}

static double uniform(uint64_t *state)
{
    return (double)next_random(state) * 0x1p-24;
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    assert_non_null(memory);
    return memory;
}

/* n keys of d entries in rows of exactly `pitch`, the last cut off after d. */
struct keys {
    size_t n, d, pitch;
    float *f32;
    double *f64;
};

static struct keys random_keys(size_t n, size_t d, size_t pitch, double mean, double spread, uint64_t *seed)
{
    const size_t size = (n - 1) * pitch + d;
    struct keys k = { n, d, pitch, allocate(size * sizeof(float)), allocate(size * sizeof(double)) };
    for (size_t i = 0; i < size; i++) {
        k.f32[i] = (float)(mean + spread * (2 * uniform(seed) - 1));
        k.f64[i] = (double)k.f32[i];
    }
    return k;
}

static void free_keys(struct keys *k)
{
    free(k->f32);
    free(k->f64);
}

/* Weights of the given logits, from largest to whatever underflows; returns
 * the index of the largest. */
static size_t weights_of(double *p, const double *z, size_t n)
{
    struct av_rowstats s;
    av_kernels_best()->softmax(p, z, 1, n, &s);
    return s.argmax;
}

/* The Frobenius norm of J K with J = diag(p) - p p^T written out. The p given
 * are normalised first, in long double: 1 - p_m as the sum of the others. */
static double by_definition(const double *p, const struct keys *k, size_t m)
{
    long double others = 0, sum = 0;
    for (size_t j = 0; j < k->n; j++)
        others += j == m ? 0 : (long double)p[j];
    for (size_t i = 0; i < k->n; i++) {
        for (size_t c = 0; c < k->d; c++) {
            const long double pi = (long double)p[i];
            /* sum_j J_ij k_jc = p_i (k_ic - kbar_c); differences to key i and
             * to key m, so that nothing is lost when p_i or p_m is nearly 1. */
            long double from_mean = 0;
            for (size_t j = 0; j < k->n; j++) {
                const long double pj = j == m ? 1 - others : (long double)p[j];
                if (p[j] > 0)
                    from_mean += pj * ((long double)k->f64[i * k->pitch + c] - (long double)k->f64[j * k->pitch + c]);
            }
            if (p[i] > 0)
                sum += pi * pi * from_mean * from_mean;
        }
    }
    return (double)sqrtl(sum);
}

static double dq(const struct av_kernels *set, const double *p, const struct av_entries *e, const struct keys *k,
                 size_t m, void *scratch)
{
    struct av_dq_row row = { p, k->n, m, -1 };
    set->dq(&row, 1, e, k->d, scratch);
    return row.dq;
}

/* The best set's result for 4-byte entries; every other set and 8-byte entries
 * must give the same bits. Scratch is no longer than promised. */
static double run(const double *p, const struct keys *k, size_t m)
{
    const size_t scratch_size = AV_DQ_SCRATCH(k->n) * sizeof(double);
    double *scratch = aligned_alloc(64, (scratch_size + 63) / 64 * 64);
    assert_non_null(scratch);
    memset(scratch, 0xff, scratch_size);
    const struct av_entries f32 = { .f32 = k->f32, .pitch = k->pitch };
    const struct av_entries f64 = { .f64 = k->f64, .pitch = k->pitch };
    const double best = dq(av_kernels_best(), p, &f32, k, m, scratch);
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *set = av_kernels_named(*name);
        if (set == NULL)
            continue;
        const double narrow = dq(set, p, &f32, k, m, scratch);
        const double wide = dq(set, p, &f64, k, m, scratch);
        assert_memory_equal(&narrow, &best, sizeof best);
        assert_memory_equal(&wide, &best, sizeof best);
    }
    free(scratch);
    return best;
}

static void close_to(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g, not %.17g (off by %.3g)", got, want, fabs(got / want - 1));
}

/* ----------------------------------------------------------------------- */

static void shapes_and_saturation(void **state)
{
    (void)state;
    const size_t shapes[][3] = { { 2, 1, 1 },     { 2, 3, 5 },       { 3, 7, 7 },     { 9, 16, 16 },
                                 { 17, 33, 40 },  { 40, 5, 5 },      { 6, 511, 511 }, { 5, 512, 512 },
                                 { 4, 513, 520 }, { 3, 1100, 1100 }, { 150, 20, 21 } };
    const double spreads[] = { 0.1, 1, 10, 60, 300, 900 };
    uint64_t seed = 5;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct keys k = random_keys(shapes[s][0], shapes[s][1], shapes[s][2], 0, 1, &seed);
        for (size_t t = 0; t < sizeof spreads / sizeof *spreads; t++) {
            double z[150], p[150];
            for (size_t j = 0; j < k.n; j++)
                z[j] = spreads[t] * (uniform(&seed) - 0.5);
            const size_t m = weights_of(p, z, k.n);
            close_to(run(p, &k, m), by_definition(p, &k, m), 1e-14);
        }
        free_keys(&k);
    }
}

/* Two keys: J K = +- p (1 - p) (k_0 - k_1) in each row. */
static void runner_up_of_any_size(void **state)
{
    (void)state;
    uint64_t seed = 6;
    struct keys k = random_keys(2, 48, 48, 0, 1, &seed);
    double distance2 = 0;
    for (size_t c = 0; c < k.d; c++)
        distance2 += (k.f64[c] - k.f64[k.pitch + c]) * (k.f64[c] - k.f64[k.pitch + c]);
    for (double small = 0.5; small > 1e-307; small *= 1e-3) {
        const double p[2] = { small, 1 - small };
        close_to(run(p, &k, 1), small * (1 - small) * sqrt(2 * distance2), 1e-14);
    }
    const double denormal[2] = { 1, 0x1p-1060 };
    close_to(run(denormal, &k, 0), 0x1p-1060 * sqrt(2 * distance2), 1e-4); /* 15 bits are left */
    const double alone[2] = { 1, 0 };
    assert_true(run(alone, &k, 0) == 0);
    free_keys(&k);
}

/* A common offset of all keys changes nothing, however large. */
static void keys_far_from_zero(void **state)
{
    (void)state;
    uint64_t seed = 8;
    struct keys k = random_keys(12, 10, 12, 1000, 0.01, &seed);
    double z[12], p[12];
    for (size_t j = 0; j < k.n; j++)
        z[j] = 30 * uniform(&seed);
    const size_t m = weights_of(p, z, k.n);
    const double want = by_definition(p, &k, m);
    close_to(run(p, &k, m), want, 1e-14);
    for (size_t i = 0; i < (k.n - 1) * k.pitch + k.d; i++)
        k.f64[i] = (double)(k.f32[i] -= 1000); /* exact */
    close_to(run(p, &k, m), want, 1e-14);
    free_keys(&k);
}

/* Keys that are the same vector as the winner's: the gradient comes from the
 * others, even when they weigh 1e-200 of the runner-up. */
static void duplicates_of_the_winner(void **state)
{
    (void)state;
    uint64_t seed = 9;
    struct keys k = random_keys(6, 24, 24, 0, 1, &seed);
    for (size_t c = 0; c < k.d; c++)
        for (size_t j = 1; j < 3; j++) {
            k.f32[j * k.pitch + c] = k.f32[c];
            k.f64[j * k.pitch + c] = k.f64[c];
        }
    for (double gap = 0; gap <= 600; gap += 60) {
        const double z[] = { 2, 1.5, -40, -gap, -gap - 1, -gap - 700 };
        double p[6];
        const size_t m = weights_of(p, z, k.n);
        close_to(run(p, &k, m), by_definition(p, &k, m), 1e-14);
    }
    const double only_duplicates[6] = { 0.5, 0.3, 0.2, 0, 0, 0 };
    assert_true(run(only_duplicates, &k, 0) == 0);
    free_keys(&k);
}

/* A runner-up that is almost the winner's vector does not hide smaller keys
 * that are not. */
static void near_duplicate_of_the_winner(void **state)
{
    (void)state;
    uint64_t seed = 14;
    struct keys k = random_keys(4, 8, 8, 0, 1, &seed);
    memset(k.f32, 0, 2 * k.pitch * sizeof *k.f32);
    memset(k.f64, 0, 2 * k.pitch * sizeof *k.f64);
    k.f32[k.pitch] = 0x1p-120F;
    k.f64[k.pitch] = 0x1p-120;
    for (double gap = 0; gap <= 300; gap += 50) {
        const double z[] = { 3, 0, -gap, -gap - 1 };
        double p[4];
        const size_t m = weights_of(p, z, k.n);
        close_to(run(p, &k, m), by_definition(p, &k, m), 1e-14);
    }
    free_keys(&k);
}

static void ties_of_the_winner(void **state)
{
    (void)state;
    uint64_t seed = 10;
    struct keys k = random_keys(5, 9, 9, 0, 1, &seed);
    const double z[] = { -300, 4, 4, 4, -1 };
    double p[5];
    const size_t m = weights_of(p, z, k.n);
    assert_int_equal(m, 1);
    close_to(run(p, &k, m), by_definition(p, &k, m), 1e-14);
    close_to(run(p, &k, 3), by_definition(p, &k, 3), 1e-14); /* any of the equals may be called the largest */
    free_keys(&k);
}

/* What a masked key holds does not matter. */
static void masked_keys_are_not_read(void **state)
{
    (void)state;
    uint64_t seed = 12;
    struct keys k = random_keys(8, 30, 30, 0, 1, &seed);
    double z[8], p[8];
    for (size_t j = 0; j < k.n; j++)
        z[j] = j % 3 == 2 ? -HUGE_VAL : 3 * uniform(&seed);
    const size_t m = weights_of(p, z, k.n);
    const double want = run(p, &k, m);
    close_to(want, by_definition(p, &k, m), 1e-14);
    for (size_t c = 0; c < k.d; c++) {
        k.f32[2 * k.pitch + c] = nanf("");
        k.f64[2 * k.pitch + c] = nan("");
    }
    assert_true(run(p, &k, m) == want);
    free_keys(&k);
}

/* Entries of 8 bytes keep their precision: keys that differ in the 40th bit. */
static void wide_entries_keep_their_bits(void **state)
{
    (void)state;
    uint64_t seed = 13;
    struct keys k = random_keys(10, 21, 21, 1, 0, &seed);
    for (size_t i = 0; i < k.n * k.d; i++)
        k.f64[i] += 0x1p-40 * uniform(&seed);
    double z[10], p[10], *scratch = allocate(AV_DQ_SCRATCH(10) * sizeof *scratch);
    for (size_t j = 0; j < k.n; j++)
        z[j] = 5 * uniform(&seed);
    const size_t m = weights_of(p, z, k.n);
    const struct av_entries f64 = { .f64 = k.f64, .pitch = k.pitch };
    close_to(dq(av_kernels_best(), p, &f64, &k, m, scratch), by_definition(p, &k, m), 1e-14);
    free(scratch);
    free_keys(&k);
}

/* As many rows as go, each over more keys than the one before and with its
 * own winner: the same bits as one by one. */
static void rows_do_not_mix(void **state)
{
    (void)state;
    uint64_t seed = 15;
    struct keys k = random_keys(AV_DQ_ROWS + 1, 19, 23, 0, 1, &seed);
    const struct av_entries f32 = { .f32 = k.f32, .pitch = k.pitch };
    double *p = allocate(AV_DQ_ROWS * k.n * sizeof *p), *scratch = allocate(AV_DQ_SCRATCH(k.n) * sizeof *scratch);
    struct av_dq_row rows[AV_DQ_ROWS];
    for (size_t i = 0; i < AV_DQ_ROWS; i++) {
        double z[AV_DQ_ROWS + 1];
        for (size_t j = 0; j < k.n; j++)
            z[j] = (double)i * uniform(&seed);
        const size_t m = weights_of(p + i * k.n, z, i + 2);
        rows[i] = (struct av_dq_row){ p + i * k.n, i + 2, m, -1 };
    }
    av_kernels_best()->dq(rows, AV_DQ_ROWS, &f32, k.d, scratch);
    for (size_t i = 0; i < AV_DQ_ROWS; i++) {
        struct keys some = k;
        some.n = i + 2;
        assert_true(rows[i].dq == run(rows[i].p, &some, rows[i].m));
        close_to(rows[i].dq, by_definition(rows[i].p, &some, rows[i].m), 1e-14);
    }
    free(scratch);
    free(p);
    free_keys(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_saturation),
        cmocka_unit_test(runner_up_of_any_size),
        cmocka_unit_test(keys_far_from_zero),
        cmocka_unit_test(duplicates_of_the_winner),
        cmocka_unit_test(near_duplicate_of_the_winner),
        cmocka_unit_test(ties_of_the_winner),
        cmocka_unit_test(masked_keys_are_not_read),
        cmocka_unit_test(wide_entries_keep_their_bits),
        cmocka_unit_test(rows_do_not_mix),
    };
    return cmocka_run_group_tests_name("dq", tests, NULL, NULL);
}
