/* test_stats.c - moments, medians and histograms. */
#include "attnviz/stats.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 5000 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) * 0x1p-24;
}

static void close_to(const char *what, double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound))
        fail_msg("%s is %.17g, not %.17g", what, got, want);
}

/* ---- moments ---------------------------------------------------------- */

/* The same from the definitions, in long double. The third moment may be any
 * small difference of its terms: its error is held against their size. */
static void check_moments(const struct av_moments *m, const double *x, size_t n)
{
    long double mean = 0, m2 = 0, m3 = 0, m4 = 0, m3_size = 0;
    double low = x[0], high = x[0];
    for (size_t i = 0; i < n; i++) {
        mean += (long double)x[i] - (long double)x[0]; /* small, so that its rounding is */
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    mean /= (long double)n;
    for (size_t i = 0; i < n; i++) {
        const long double d = ((long double)x[i] - (long double)x[0]) - mean;
        m2 += d * d;
        m3 += d * d * d;
        m3_size += fabsl(d * d * d);
        m4 += d * d * d * d;
    }
    const double size = fmax(fabs(low), fabs(high));
    assert_int_equal(m->count, n);
    close_to("mean", m->mean, (double)((long double)x[0] + mean), 4e-16 * size);
    close_to("m2", m->m2, (double)m2, 1e-14 * (double)m2);
    close_to("m3", m->m3, (double)m3, 1e-14 * (double)m3_size);
    close_to("m4", m->m4, (double)m4, 1e-14 * (double)m4);
    assert_true(m->min == low && m->max == high);
    if (n > 1 && low < high) {
        const double var = (double)(m2 / (long double)(n - 1));
        const double kurtosis = (double)((long double)n * m4 / (m2 * m2) - 3);
        close_to("variance", av_moments_var(m), var, 1e-14 * var);
        close_to("std", av_moments_std(m), sqrt(var), 1e-14 * sqrt(var));
        close_to("kurtosis", av_moments_excess_kurtosis(m), kurtosis, 1e-14 * (kurtosis + 3));
    }
}

/* Skewed numbers of several scales, with a mean far above their spread. */
static void fill(double *x, size_t n, double mean, double scale)
{
    uint64_t seed = n;
    for (size_t i = 0; i < n; i++) {
        const double u = uniform(&seed);
        x[i] = mean + scale * (u * u * u - 0.25);
    }
}

static void moments_match_definitions(void **state)
{
    (void)state;
    static double x[N];
    /* The rounding of means that are merged counts where they are far above
     * the spread, so 1e14 is for what is centred at once. */
    const double scales[] = { 1, 1e-30, 1e30 };
    const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 16, 1000, 1023, 1024, 1025, 2049, N };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t t = 0; t < 9; t++) {
            const double means[] = { 0, 3, sizes[s] <= 1024 ? -1e14 : -10 };
            struct av_moments m = AV_MOMENTS_INIT;
            fill(x, sizes[s], means[t % 3] * scales[t / 3], scales[t / 3]);
            av_moments_add(&m, x, sizes[s]);
            check_moments(&m, x, sizes[s]);
        }
    }
}

/* In pieces of any size, added one after the other or merged: the same. */
static void pieces_make_the_whole(void **state)
{
    (void)state;
    static double x[N];
    for (size_t i = 0; i < N; i += N / 5)
        fill(x + i, N / 5, (double)i, 1 + (double)i); /* unlike pieces */
    for (size_t piece = 1; piece <= N; piece = piece * 3 + 1) {
        struct av_moments added = AV_MOMENTS_INIT, merged = AV_MOMENTS_INIT, back = AV_MOMENTS_INIT;
        for (size_t i = 0; i < N; i += piece) {
            struct av_moments m = AV_MOMENTS_INIT;
            const size_t n = N - i < piece ? N - i : piece;
            av_moments_add(&added, x + i, n);
            av_moments_add(&m, x + i, n);
            av_moments_merge(&merged, &m);
            av_moments_merge(&m, &back);
            back = m;
        }
        check_moments(&added, x, N);
        check_moments(&merged, x, N);
        check_moments(&back, x, N);
    }
}

static void moments_of_too_few_numbers(void **state)
{
    (void)state;
    struct av_moments m = AV_MOMENTS_INIT;
    const struct av_moments empty = AV_MOMENTS_INIT;
    av_moments_add(&m, NULL, 0);
    av_moments_merge(&m, &empty);
    assert_true(m.count == 0 && m.min == HUGE_VAL && m.max == -HUGE_VAL);
    assert_true(isnan(av_moments_var(&m)) && isnan(av_moments_std(&m)) && isnan(av_moments_excess_kurtosis(&m)));
    const double x = 0.1;
    av_moments_add(&m, &x, 1);
    av_moments_merge(&m, &empty);
    assert_true(m.count == 1 && m.mean == x && m.min == x && m.max == x);
    assert_true(isnan(av_moments_var(&m)) && isnan(av_moments_excess_kurtosis(&m)));
    for (size_t i = 0; i < 30; i++)
        av_moments_add(&m, &x, 1);
    assert_true(m.mean == x && av_moments_var(&m) == 0 && isnan(av_moments_excess_kurtosis(&m))); /* no spread */
}

static void kurtosis_of_known_distributions(void **state)
{
    (void)state;
    const double coin[] = { -1, 1, 1, -1, -1, 1 };
    struct av_moments m = AV_MOMENTS_INIT;
    av_moments_add(&m, coin, 6);
    close_to("coin", av_moments_excess_kurtosis(&m), -2, 1e-15);
    static double steps[1001];
    for (size_t i = 0; i < 1001; i++)
        steps[i] = (double)i;
    m = (struct av_moments)AV_MOMENTS_INIT;
    av_moments_add(&m, steps, 1001);
    const double n = 1001; /* discrete uniform: -6/5 (n^2 + 1) / (n^2 - 1) */
    close_to("steps", av_moments_excess_kurtosis(&m), -1.2 * (n * n + 1) / (n * n - 1), 1e-14);
    close_to("steps", av_moments_var(&m), n * (n + 1) / 12, 1e-10);
}

/* ---- median ----------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void check_median(const double *x, size_t n)
{
    double *sorted = malloc(n * sizeof *x), *mine = malloc(n * sizeof *x);
    assert_true(sorted != NULL && mine != NULL);
    memcpy(sorted, x, n * sizeof *x);
    memcpy(mine, x, n * sizeof *x);
    qsort(sorted, n, sizeof *x, ascending);
    const double a = sorted[(n - 1) / 2], b = sorted[n / 2];
    assert_true(av_median(mine, n) == (a == b ? a : a / 2 + b / 2));
    qsort(mine, n, sizeof *x, ascending);
    assert_memory_equal(mine, sorted, n * sizeof *x); /* reordered, none lost */
    free(sorted);
    free(mine);
}

static void median_matches_sorting(void **state)
{
    (void)state;
    static double x[N];
    for (size_t n = 1; n <= N; n += n < 40 ? 1 : 991) {
        uint64_t seed = n;
        for (size_t i = 0; i < n; i++)
            x[i] = uniform(&seed) - 0.5;
        check_median(x, n);
        for (size_t i = 0; i < n; i++)
            x[i] = floor(5 * uniform(&seed)); /* many equals */
        check_median(x, n);
        for (size_t i = 0; i < n; i++)
            x[i] = (double)(i % 2 == 0 ? i : n - i);
        check_median(x, n);
    }
}

/* Orders that make a careless selection quadratic: half a million numbers
 * would then take minutes. */
static void median_of_every_order_is_quick(void **state)
{
    (void)state;
    const size_t n = 500000;
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (int order = 0; order < 5; order++) {
        for (size_t i = 0; i < n; i++) {
            const size_t places[] = { i, n - i, 7, i < n / 2 ? i : n - i, i % 1000 };
            x[i] = (double)places[order];
        }
        check_median(x, n);
    }
    free(x);
}

static void median_of_extremes(void **state)
{
    (void)state;
    assert_true(isnan(av_median(NULL, 0)));
    double huge[] = { DBL_MAX, 0.75 * DBL_MAX }, opposite[] = { -DBL_MAX, DBL_MAX };
    assert_true(av_median(huge, 2) == 0.875 * DBL_MAX);
    assert_true(av_median(opposite, 2) == 0);
    double tiny[] = { 0x1p-1074, 0x1p-1073, 0, 3 };
    assert_true(av_median(tiny, 4) == 0x1p-1073); /* 1.5 units, rounded to even */
    double unit[] = { 0x1p-1074, 0x1p-1074 };
    assert_true(av_median(unit, 2) == 0x1p-1074);
    double logs[] = { -HUGE_VAL, -3, -HUGE_VAL };
    assert_true(av_median(logs, 3) == -HUGE_VAL);
    double half_of_them[] = { -HUGE_VAL, -HUGE_VAL, -2, -1 };
    assert_true(av_median(half_of_them, 4) == -HUGE_VAL);
    double all[] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    assert_true(av_median(all, 4) == -HUGE_VAL);
}

/* ---- histogram -------------------------------------------------------- */

static void histogram_bins_and_edges(void **state)
{
    (void)state;
    uint32_t counts[4] = { 0, 0, 0, 10 };
    const double x[] = { -1, -1.0000001, -0.5, -0.50001, 0, 0.25, 0.5, 0.999, 1, 1.0000001, HUGE_VAL, -HUGE_VAL };
    av_histogram_add(counts, 4, -1, 1, x, sizeof x / sizeof *x, 1);
    const uint32_t want[] = { 2, 1, 2, 10 + 3 };
    assert_memory_equal(counts, want, sizeof want);

    uint32_t scaled[4] = { 0 };
    const double y[] = { 8, -8, 2, 3.9, 4, -8.1, 9 };
    av_histogram_add(scaled, 4, -1, 1, y, sizeof y / sizeof *y, 0.125);
    const uint32_t want_scaled[] = { 1, 0, 2, 2 };
    assert_memory_equal(scaled, want_scaled, sizeof want_scaled);

    uint32_t rounded[3] = { 0 }; /* below hi, but as far from lo as hi is after rounding */
    const double just_below = 0x1p-61;
    av_histogram_add(rounded, 2, -1, 0x1p-60, &just_below, 1, 1);
    assert_true(rounded[0] == 0 && rounded[1] == 1 && rounded[2] == 0);
}

static void histogram_counts_every_number_once(void **state)
{
    (void)state;
    static double x[N];
    uint32_t counts[400];
    uint64_t seed = 4;
    for (size_t i = 0; i < N; i++)
        x[i] = i % 10 == 0 ? nextafter(0.7, 0) : -0.3 + uniform(&seed);
    for (size_t bins = 1; bins <= 400; bins += 57) {
        memset(counts, 0, sizeof counts);
        av_histogram_add(counts, bins, -0.3, 0.7, x, N, 1);
        uint64_t sum = 0;
        for (size_t b = 0; b < bins; b++)
            sum += counts[b];
        assert_int_equal(sum, N);
        for (size_t b = 0; b < bins; b++) { /* against the definition, a bin's edges apart */
            const double width = 1.0 / (double)bins, low = -0.3 + (double)b * width;
            uint32_t surely = 0, perhaps = 0;
            for (size_t i = 0; i < N; i++) {
                surely += x[i] >= low + 1e-15 && x[i] < low + width - 1e-15;
                perhaps += x[i] >= low - 1e-15 && x[i] < low + width + 1e-15;
            }
            assert_true(counts[b] >= surely && counts[b] <= perhaps);
        }
    }
}

static void histogram_without_width(void **state)
{
    (void)state;
    uint32_t counts[3] = { 0 };
    const double x[] = { 2, 2, 1, 3 };
    av_histogram_add(counts, 3, 2, 2, x, 4, 1);
    const uint32_t only_hi[] = { 0, 0, 2 };
    assert_memory_equal(counts, only_hi, sizeof only_hi);
    const double y[] = { 0, 0x1p-1074 };
    av_histogram_add(counts, 3, 0, 0x1p-1074, y, 2, 1);
    const uint32_t want[] = { 1, 0, 3 };
    assert_memory_equal(counts, want, sizeof want);
    av_histogram_add(counts, 0, 0, 4, x, 4, 1);
    assert_memory_equal(counts, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_match_definitions),
        cmocka_unit_test(pieces_make_the_whole),
        cmocka_unit_test(moments_of_too_few_numbers),
        cmocka_unit_test(kurtosis_of_known_distributions),
        cmocka_unit_test(median_matches_sorting),
        cmocka_unit_test(median_of_every_order_is_quick),
        cmocka_unit_test(median_of_extremes),
        cmocka_unit_test(histogram_bins_and_edges),
        cmocka_unit_test(histogram_counts_every_number_once),
        cmocka_unit_test(histogram_without_width),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
