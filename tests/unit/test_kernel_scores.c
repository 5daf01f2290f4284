/* test_kernel_scores.c - scores against their definition, bit for bit.
 *
 * For 4-byte entries the definition is exact up to the order of the sum, so
 * every set, tile and cut of the work must equal a plain loop. */
#include "attnviz/kernels.h"
#include "attnviz/mem.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_N = 300, MAX_D = 700, PITCH = MAX_N + 3 };

static const double untouched = 12345.0;

/* Entries of both kinds, the doubles with bits that no float holds. */
static struct data {
    float q4[MAX_N * MAX_D], k4[MAX_N * MAX_D];
    double q8[MAX_N * MAX_D], k8[MAX_N * MAX_D];
    double got[MAX_N * PITCH], want[MAX_N * PITCH];
    void *scratch;
} * data;

static double random_entry(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(int32_t)*state * 0x1p-30;
}

static int set_up(void **state)
{
    (void)state;
    uint32_t seed = 1;
    data = malloc(sizeof *data);
    if (data == NULL || (data->scratch = av_alloc(AV_SCORES_SCRATCH, 1)) == NULL) {
        return -1;
    }
    for (size_t i = 0; i < MAX_N * MAX_D; i++) {
        data->q8[i] = random_entry(&seed) + 0x1p-24 * random_entry(&seed);
        data->k8[i] = random_entry(&seed) + 0x1p-24 * random_entry(&seed);
        data->q4[i] = (float)data->q8[i];
        data->k4[i] = (float)data->k8[i];
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    av_free(data->scratch);
    free(data);
    return 0;
}

static double entry(const struct av_entries *m, size_t row, size_t column)
{
    const size_t at = row * m->pitch + column;
    return m->f32 != NULL ? (double)m->f32[at] : m->f64[at];
}

static struct av_entries q4(void)
{
    return (struct av_entries){ .f32 = data->q4, .pitch = MAX_D };
}

static struct av_entries k4(void)
{
    return (struct av_entries){ .f32 = data->k4, .pitch = MAX_D };
}

/* The definition. */
static void plain(double *s, const struct av_entries *q, const struct av_entries *k, const struct av_block *b)
{
    for (size_t i = b->i0; i < b->i1; i++) {
        for (size_t j = b->j0; j < b->j1; j++) {
            double sum = b->c0 > 0 ? s[i * PITCH + j] : 0.0;
            for (size_t c = b->c0; c < b->c1; c++) {
                sum += entry(q, i, c) * entry(k, j, c);
            }
            s[i * PITCH + j] = sum;
        }
    }
}

static void clear(void)
{
    for (size_t i = 0; i < MAX_N * PITCH; i++) {
        data->got[i] = data->want[i] = untouched;
    }
}

static void assert_same(void)
{
    for (size_t i = 0; i < MAX_N * PITCH; i++) {
        if (memcmp(&data->got[i], &data->want[i], sizeof(double)) != 0) {
            fail_msg("query %zu, key %zu: %.17g is not %.17g", i / PITCH, i % PITCH, data->got[i], data->want[i]);
        }
    }
}

/* Calls f once for every set that runs here. */
static void for_every_set(void (*f)(const struct av_kernels *k))
{
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *k = av_kernels_named(*name);
        if (k == NULL) {
            print_message("%s cannot run here\n", *name);
        } else {
            f(k);
        }
    }
}

/* ---- equal to the definition ---- */

static void check_sizes(const struct av_kernels *kernels)
{
    static const size_t queries[] = { 0, 1, 3, 4, 5, 6, 7, 11, 12, 13, 25 };
    static const size_t keys[] = { 0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 127, 128, 129, 300 };
    static const size_t columns[] = { 0, 1, 2, 64, 255, 256, 257, 700 };
    const struct av_entries q = q4(), k = k4();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
            const struct av_block b = { 0, queries[i], 0, keys[j], 0, columns[(i + j) % 8] };
            clear();
            plain(data->want, &q, &k, &b);
            kernels->scores(data->got, PITCH, &q, &k, &b, data->scratch);
            assert_same();
        }
    }
}

static void every_size_is_exact(void **state)
{
    (void)state;
    for_every_set(check_sizes);
}

static void check_all_of_it(const struct av_kernels *kernels)
{
    const struct av_entries q = q4(), k = k4();
    const struct av_block all = { 0, MAX_N, 0, MAX_N, 0, MAX_D };
    clear();
    plain(data->want, &q, &k, &all);
    kernels->scores(data->got, PITCH, &q, &k, &all, data->scratch);
    assert_same();
}

static void a_large_block_is_exact(void **state)
{
    (void)state;
    for_every_set(check_all_of_it);
}

/* ---- cut anywhere ---- */

static size_t random_cut(uint32_t *state, size_t from, size_t to)
{
    return from + (size_t)((random_entry(state) + 2.0) / 4.0 * (double)(to - from + 1)) % (to - from + 1);
}

/* The same scores in eight pieces: each range cut in two, at random. */
static void check_cuts(const struct av_kernels *kernels)
{
    const struct av_entries q = q4(), k = k4();
    uint32_t random = 3;
    const struct av_block all = { 5, 41, 3, 200, 0, 611 };
    for (int round = 0; round < 40; round++) {
        clear();
        plain(data->want, &q, &k, &all);
        const size_t i[] = { all.i0, random_cut(&random, all.i0, all.i1), all.i1 };
        const size_t j[] = { all.j0, random_cut(&random, all.j0, all.j1), all.j1 };
        const size_t c[] = { all.c0, random_cut(&random, 1, all.c1), all.c1 };
        for (int piece = 0; piece < 8; piece++) {
            const int x = piece & 1, y = piece >> 1 & 1, z = piece >> 2;
            const struct av_block b = { i[x], i[x + 1], j[y], j[y + 1], c[z], c[z + 1] };
            kernels->scores(data->got, PITCH, &q, &k, &b, data->scratch);
        }
        assert_same();
    }
}

static void any_cut_gives_the_same_bits(void **state)
{
    (void)state;
    for_every_set(check_cuts);
}

/* d_k grows by doubling, as it does on the screen, and n with it. */
static void check_growth(const struct av_kernels *kernels)
{
    const struct av_entries q = q4(), k = k4();
    const struct av_block all = { 0, 100, 0, 130, 0, 512 };
    clear();
    plain(data->want, &q, &k, &all);
    for (size_t d = 0; d < 512; d = d == 0 ? 1 : 2 * d) {
        const struct av_block wider = { 0, 50, 0, 64, d, d == 0 ? 1 : 2 * d };
        kernels->scores(data->got, PITCH, &q, &k, &wider, data->scratch);
    }
    const struct av_block right = { 0, 50, 64, 130, 0, 512 };
    const struct av_block below = { 50, 100, 0, 130, 0, 512 };
    kernels->scores(data->got, PITCH, &q, &k, &right, data->scratch);
    kernels->scores(data->got, PITCH, &q, &k, &below, data->scratch);
    assert_same();
}

static void growth_equals_rebuild(void **state)
{
    (void)state;
    for_every_set(check_growth);
}

/* ---- 8-byte entries, and mixed ---- */

/* 1e-13 of the sum of the sizes, against sums in long double. */
static void assert_near(const struct av_entries *q, const struct av_entries *k, const struct av_block *b)
{
    for (size_t i = b->i0; i < b->i1; i++) {
        for (size_t j = b->j0; j < b->j1; j++) {
            long double sum = 0.0L, size = 0.0L;
            for (size_t c = 0; c < b->c1; c++) {
                const long double x = (long double)entry(q, i, c) * (long double)entry(k, j, c);
                sum += x;
                size += fabsl(x);
            }
            assert_true(fabsl((long double)data->got[i * PITCH + j] - sum) <= 1e-13L * size);
        }
    }
}

static void check_kinds(const struct av_kernels *kernels)
{
    const struct av_entries q[] = { q4(), { .f64 = data->q8, .pitch = MAX_D } };
    const struct av_entries k[] = { k4(), { .f64 = data->k8, .pitch = MAX_D } };
    for (int kind = 0; kind < 4; kind++) {
        const struct av_block b = { 2, 31, 1, 77, 0, 601 };
        clear();
        kernels->scores(data->got, PITCH, &q[kind & 1], &k[kind >> 1], &b, data->scratch);
        assert_near(&q[kind & 1], &k[kind >> 1], &b);
    }
}

static void every_kind_of_entry_is_near_the_true_sum(void **state)
{
    (void)state;
    for_every_set(check_kinds);
}

/* ---- the ends of the range ---- */

/* Every fourth entry is huge, tiny, zero or minus zero. */
static void check_extremes(const struct av_kernels *kernels)
{
    static const float odd[] = { FLT_MAX, -FLT_MAX, 1e30f, -1e30f, FLT_MIN, 1e-45f, 0.0f, -0.0f };
    float q[20 * 30], k[20 * 30];
    for (size_t i = 0; i < 20 * 30; i++) {
        q[i] = i % 4 == 0 ? odd[i / 4 % 8] : data->q4[i];
        k[i] = i % 3 == 0 ? odd[i / 3 % 8] : data->k4[i];
    }
    const struct av_entries qe = { .f32 = q, .pitch = 30 }, ke = { .f32 = k, .pitch = 30 };
    const struct av_block b = { 0, 20, 0, 20, 0, 30 };
    clear();
    plain(data->want, &qe, &ke, &b);
    kernels->scores(data->got, PITCH, &qe, &ke, &b, data->scratch);
    assert_same();
    for (size_t i = 0; i < 20; i++) {
        for (size_t j = 0; j < 20; j++) {
            assert_true(isfinite(data->got[i * PITCH + j]));
        }
    }
}

static void extreme_entries_are_exact(void **state)
{
    (void)state;
    for_every_set(check_extremes);
}

/* NaN and infinity reach the scores of their own row or key and no others;
 * what stands in s before a first sum does not matter, be it NaN. */
static void check_invalid(const struct av_kernels *kernels)
{
    float q[7 * 5], k[19 * 5];
    memcpy(q, data->q4, sizeof q);
    memcpy(k, data->k4, sizeof k);
    q[3 * 5 + 2] = NAN;
    k[17 * 5 + 4] = INFINITY;
    const struct av_entries qe = { .f32 = q, .pitch = 5 }, ke = { .f32 = k, .pitch = 5 };
    const struct av_block b = { 0, 7, 0, 19, 0, 5 };
    double s[7 * 19];
    for (size_t i = 0; i < 7 * 19; i++) {
        s[i] = (double)NAN;
    }
    kernels->scores(s, 19, &qe, &ke, &b, data->scratch);
    for (size_t i = 0; i < 7 * 19; i++) {
        assert_int_equal(isfinite(s[i]) != 0, i / 19 != 3 && i % 19 != 17);
    }
}

static void invalid_entries_stay_in_their_row_and_key(void **state)
{
    (void)state;
    for_every_set(check_invalid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_exact),
        cmocka_unit_test(a_large_block_is_exact),
        cmocka_unit_test(any_cut_gives_the_same_bits),
        cmocka_unit_test(growth_equals_rebuild),
        cmocka_unit_test(every_kind_of_entry_is_near_the_true_sum),
        cmocka_unit_test(extreme_entries_are_exact),
        cmocka_unit_test(invalid_entries_stay_in_their_row_and_key),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
