/* test_kernel_draw.c - the sampler: its bits, its mapping, its distributions.
 *
 * The known answers of Philox4x32-10 are those published with it. All seeds
 * are fixed: the bounds on statistics are 4.5 standard errors, met or not
 * met for ever. */
#include "../../src/math/philox.h"
#include "attnviz/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COLUMNS = 1024, ROWS = 1024, N = ROWS * COLUMNS };

static const double pi = 3.14159265358979323846;
static const double errors = 4.5;

/* ---- the generator ---- */

static const struct {
    uint32_t counter[4], key[2], answer[4];
} known[] = {
    { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

/* One counter at a time, straight from the paper. */
static void plain_philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
        const uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

static void philox_known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t plain[4];
        memcpy(plain, known[i].counter, sizeof plain);
        plain_philox(plain, known[i].key[0], known[i].key[1]);
        assert_memory_equal(plain, known[i].answer, sizeof plain);

        const uint64_t seed = (uint64_t)known[i].key[1] << 32 | known[i].key[0];
        const struct philox_key key = philox_schedule(seed);
        vu64 c[1][4];
        for (int w = 0; w < 4; w++) {
            c[0][w] = (vu64){ 0 } + known[i].counter[w];
        }
        philox(c, 1, &key);
        for (int w = 0; w < 4; w++) {
            for (int lane = 0; lane < AV_LANES_D; lane++) {
                assert_int_equal((uint32_t)c[0][w][lane], known[i].answer[w]);
            }
        }
    }
}

/* ---- which word makes which entry ---- */

static uint32_t word_of(struct av_stream at, uint32_t column)
{
    uint32_t c[4] = { column / 64 * 16 + column % 16, at.row, at.tensor, 0 };
    plain_philox(c, (uint32_t)at.seed, (uint32_t)(at.seed >> 32));
    return c[column / 16 % 4];
}

/* u is a float: near 1 it is coarser than the word that makes it. */
static double minus_ln(uint32_t w31)
{
    const float u = (float)(int32_t)w31 * 0x1p-31f + 0x1p-32f;
    return -log((double)u);
}

static double exact_normal(struct av_stream at, uint32_t column)
{
    const uint32_t first = column - column % 32 + column % 16;
    const double r = sqrt(2.0 * minus_ln(word_of(at, first) >> 1));
    const uint32_t w = word_of(at, first + 16);
    const double angle = (int32_t)(w << 2) * 0x1p-32 * (pi / 2.0);
    const double x = (w >> 31 ? -r : r) * cos(angle);
    const double y = r * sin(angle);
    return ((w >> 30 & 1) != 0) == (column % 32 < 16) ? y : x;
}

static double exact_uniform(struct av_stream at, uint32_t column)
{
    return (int32_t)(word_of(at, column) | 1) * 0x1p-31 * sqrt(3.0);
}

static double exact_rademacher(struct av_stream at, uint32_t column)
{
    return word_of(at, column) >> 31 ? -1.0 : 1.0;
}

static double exact_laplace(struct av_stream at, uint32_t column)
{
    const uint32_t w = word_of(at, column);
    return (w >> 31 ? -1.0 : 1.0) * minus_ln(w & 0x7fffffff) * sqrt(0.5);
}

static double (*const exact[AV_DIST_COUNT])(struct av_stream, uint32_t) = {
    [AV_DIST_NORMAL] = exact_normal,
    [AV_DIST_UNIFORM] = exact_uniform,
    [AV_DIST_RADEMACHER] = exact_rademacher,
    [AV_DIST_LAPLACE] = exact_laplace,
};

static const struct av_stream streams[] = {
    { 0, 0, 0 },
    { 42, 1, 7 },
    { UINT64_C(0xfedcba9876543210), 0xffffffff, 0xffffffff },
};

/* Within a few roundings of a float of the transform in double. */
static void entries_are_the_words_transformed(void **state)
{
    (void)state;
    const struct av_kernels *k = av_kernels_named("base");
    for (int dist = 0; dist < AV_DIST_COUNT; dist++) {
        for (size_t s = 0; s < sizeof streams / sizeof *streams; s++) {
            float x[4000];
            k->draw(x, 0, 4000, (enum av_dist)dist, streams[s]);
            for (uint32_t c = 0; c < 4000; c++) {
                const double want = exact[dist](streams[s], c);
                if (!(fabs((double)x[c] - want) <= 3e-7 * (1.0 + fabs(want)))) {
                    fail_msg("distribution %d, column %u: %.9g is not %.9g", dist, c, (double)x[c], want);
                }
            }
        }
    }
}

static void far_columns_are_other_counters(void **state)
{
    (void)state;
    const uint32_t first = 3000000000u;
    float x[100];
    av_kernels_best()->draw(x, first, 100, AV_DIST_UNIFORM, streams[1]);
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(fabs((double)x[i] - exact_uniform(streams[1], first + i)) < 3e-7);
    }
}

/* ---- the same bits on every set, in every window ---- */

static void every_set_and_window_gives_the_same_bits(void **state)
{
    (void)state;
    static const size_t firsts[] = { 0, 1, 15, 16, 31, 63, 64, 65, 128, 1000, 1023 };
    static const size_t counts[] = { 0, 1, 2, 16, 17, 63, 64, 65, 127, 200, 999 };
    static float whole[2100];
    for (int dist = 0; dist < AV_DIST_COUNT; dist++) {
        av_kernels_named("base")->draw(whole, 0, 2100, (enum av_dist)dist, streams[2]);
        for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
            const struct av_kernels *k = av_kernels_named(*name);
            for (size_t i = 0; k != NULL && i < 11 * 11; i++) {
                const size_t first = firsts[i / 11], count = counts[i % 11];
                float part[1002];
                part[0] = part[count + 1] = 77.0f;
                k->draw(part + 1, first, count, (enum av_dist)dist, streams[2]);
                assert_memory_equal(part + 1, whole + first, count * sizeof *part);
                assert_true(part[0] == 77.0f && part[count + 1] == 77.0f);
            }
        }
    }
}

/* A million entries: the accuracy of single lanes cannot differ either. */
static void every_set_gives_the_same_million(void **state)
{
    (void)state;
    static float a[COLUMNS], b[COLUMNS];
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *k = av_kernels_named(*name);
        for (uint32_t row = 0; k != NULL && row < ROWS; row++) {
            for (int dist = 0; dist < AV_DIST_COUNT; dist++) {
                const struct av_stream at = { 5, 1, row };
                av_kernels_named("base")->draw(a, 0, COLUMNS, (enum av_dist)dist, at);
                k->draw(b, 0, COLUMNS, (enum av_dist)dist, at);
                assert_memory_equal(a, b, sizeof a);
            }
        }
    }
}

/* ---- distributions ---- */

static float *sample(enum av_dist dist, uint64_t seed, uint32_t tensor, uint32_t first_row)
{
    float *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (uint32_t row = 0; row < ROWS; row++) {
        const struct av_stream at = { seed, tensor, first_row + row };
        av_kernels_best()->draw(x + (size_t)row * COLUMNS, 0, COLUMNS, dist, at);
    }
    return x;
}

/* The mean of x^power over N draws is m, of x^(2 power) m2. */
static void assert_moment(const float *x, int power, double m, double m2)
{
    double sum = 0.0;
    for (size_t i = 0; i < N; i++) {
        sum += pow((double)x[i], power);
    }
    const double error = sqrt((m2 - m * m) / N);
    if (!(fabs(sum / N - m) <= errors * error + 1e-15)) {
        fail_msg("mean of x^%d is %.9g, not %g within %g", power, sum / N, m, errors * error);
    }
}

static void moments(void **state)
{
    (void)state;
    /* E x^2 is 1 for all. Laplace: E x^2k = (2k)! / 2^k; uniform: 3^k / (2k + 1). */
    static const struct {
        double x4, x6, x8;
    } of[AV_DIST_COUNT] = {
        [AV_DIST_NORMAL] = { 3, 15, 105 },
        [AV_DIST_UNIFORM] = { 9.0 / 5, 27.0 / 7, 9 },
        [AV_DIST_RADEMACHER] = { 1, 1, 1 },
        [AV_DIST_LAPLACE] = { 6, 90, 2520 },
    };
    for (int dist = 0; dist < AV_DIST_COUNT; dist++) {
        float *x = sample((enum av_dist)dist, 42, 0, 0);
        assert_moment(x, 1, 0, 1);
        assert_moment(x, 2, 1, of[dist].x4);
        assert_moment(x, 3, 0, of[dist].x6);
        assert_moment(x, 4, of[dist].x4, of[dist].x8);
        free(x);
    }
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x * sqrt(0.5));
}

static double uniform_below(double x)
{
    return 0.5 + x / sqrt(12.0);
}

static double laplace_below(double x)
{
    return x < 0.0 ? 0.5 * exp(sqrt(2.0) * x) : 1.0 - 0.5 * exp(-sqrt(2.0) * x);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov: D sqrt N exceeds 1.95 once in a thousand times. */
static void distribution_functions(void **state)
{
    (void)state;
    static const struct {
        enum av_dist dist;
        double (*below)(double);
    } cases[] = {
        { AV_DIST_NORMAL, normal_below },
        { AV_DIST_UNIFORM, uniform_below },
        { AV_DIST_LAPLACE, laplace_below },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        float *x = sample(cases[k].dist, 7, 1, 0);
        qsort(x, N, sizeof *x, by_size);
        double distance = 0.0;
        for (size_t i = 0; i < N; i++) {
            const double f = cases[k].below((double)x[i]);
            distance = fmax(distance, fmax(f - (double)i / N, (double)(i + 1) / N - f));
        }
        assert_true(distance * sqrt(N) < 1.95);
        free(x);
    }
}

/* Beyond 4: 2 normal_below(-4) = 6.334e-5 of all. None beyond sqrt(64 ln 2),
 * which is what the smallest u gives. */
static void tail_of_the_normal(void **state)
{
    (void)state;
    double far = 0.0;
    for (uint32_t tensor = 0; tensor < 4; tensor++) {
        float *x = sample(AV_DIST_NORMAL, 11, tensor, 0);
        for (size_t i = 0; i < N; i++) {
            far += fabsf(x[i]) > 4.0f;
            assert_true(fabsf(x[i]) < 6.67f);
        }
        free(x);
    }
    const double expected = 4.0 * N * 2.0 * normal_below(-4.0);
    assert_true(fabs(far - expected) < errors * sqrt(expected));
}

/* ---- independence ---- */

/* No correlation between x and y, nor between their squares. */
static void assert_uncorrelated(const float *x, const float *y, size_t n)
{
    double first = 0.0, second = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double a = (double)x[i], b = (double)y[i];
        first += a * b;
        second += (a * a - 1.0) * (b * b - 1.0);
    }
    assert_true(fabs(first) < errors * sqrt((double)n));
    assert_true(fabs(second) < errors * 2.0 * sqrt((double)n));
}

static void entries_are_independent(void **state)
{
    (void)state;
    float *x = sample(AV_DIST_NORMAL, 42, 0, 0);
    static const size_t lags[] = { 1, 2, 15, 16, 17, 32, 48, 64, COLUMNS, 2 * COLUMNS };
    for (size_t i = 0; i < sizeof lags / sizeof *lags; i++) {
        assert_uncorrelated(x, x + lags[i], N - lags[i]);
    }
    float *others[] = {
        sample(AV_DIST_NORMAL, 42, 1, 0),
        sample(AV_DIST_NORMAL, 43, 0, 0),
        sample(AV_DIST_NORMAL, 42 + (UINT64_C(1) << 32), 0, 0),
        sample(AV_DIST_NORMAL, 42, 0, ROWS),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_uncorrelated(x, others[i], N);
        free(others[i]);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(entries_are_the_words_transformed),
        cmocka_unit_test(far_columns_are_other_counters),
        cmocka_unit_test(every_set_and_window_gives_the_same_bits),
        cmocka_unit_test(every_set_gives_the_same_million),
        cmocka_unit_test(moments),
        cmocka_unit_test(distribution_functions),
        cmocka_unit_test(tail_of_the_normal),
        cmocka_unit_test(entries_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
