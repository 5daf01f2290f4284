/* test_random_rows.c - how saturated rows of random queries and keys are: tables
 * measured by another program on other samples. */
#include "attnviz/kernels.h"
#include "attnviz/mem.h"
#include "attnviz/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 10000, KEYS_MAX = 512, DIM_MAX = 1024 };

#define OTHER_ROWS 2000.0 /* of the other program, about: its noise is a few percent */

/* What is kept of every row, by row. */
struct sample {
    double max[ROWS], one_minus_max[ROWS], norm[ROWS], fro[ROWS];
    double above_9[ROWS], above_999[ROWS]; /* 1 where the largest weight exceeds 0.9, 0.999 */
};

/* n independent normal logits of this standard deviation. Given the query, the
 * scores of independent normal keys are such, with k_std |q|: so every row has
 * keys of its own at the cost of n numbers. */
static struct av_rowstats draw_row(size_t n, double std, uint32_t row)
{
    float x[KEYS_MAX];
    double z[KEYS_MAX];
    struct av_rowstats stats;
    av_kernels_best()->draw(x, 0, n, AV_DIST_NORMAL, (struct av_stream){ 7, 1, row });
    for (size_t j = 0; j < n; j++) {
        z[j] = (double)x[j];
    }
    av_kernels_best()->softmax(NULL, z, std, n, &stats);
    return stats;
}

static double length_of_query(size_t d, uint32_t row)
{
    float q[DIM_MAX];
    double squares = 0;
    av_kernels_best()->draw(q, 0, d, AV_DIST_NORMAL, (struct av_stream){ 7, 0, row });
    for (size_t c = 0; c < d; c++) {
        squares += (double)q[c] * (double)q[c];
    }
    return sqrt(squares);
}

/* d = 0: std in every row; else std |q|. */
static void draw_rows(struct sample *s, size_t n, size_t d, double std)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        struct av_rowstats row = draw_row(n, d == 0 ? std : std * length_of_query(d, i), i);
        s->max[i] = row.max;
        s->one_minus_max[i] = row.one_minus_max;
        s->norm[i] = row.entropy / log((double)n);
        s->fro[i] = row.jacobian_fro;
        s->above_9[i] = row.max > 0.9;
        s->above_999[i] = row.max > 0.999;
    }
}

static void wrong(size_t line, const char *what, double lo, double hi, double want)
{
    fail_msg("line %zu: %s of another sample is %g to %g, not %g", line, what, lo, hi, want);
}

/* Is `want`, given to this unit, the mean of a sample of the other size, within
 * 4 standard errors? The table says NaN for what was not measured. */
static void assert_mean(size_t line, const char *what, const double *x, double want, double unit)
{
    struct av_moments m = AV_MOMENTS_INIT;
    av_moments_add(&m, x, ROWS);
    double reach = 4 * av_moments_std(&m) / sqrt(OTHER_ROWS) + unit / 2;
    if (fabs(want - m.mean) > reach) {
        wrong(line, what, m.mean - reach, m.mean + reach, want);
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same for its median: 4 standard errors of the share of rows below it,
 * which is 1/2. Sorts x. */
static void assert_median(size_t line, const char *what, double *x, double want, double unit)
{
    double reach = 4 * 0.5 / sqrt(OTHER_ROWS);
    qsort(x, ROWS, sizeof *x, compare);
    double lo = x[(size_t)((0.5 - reach) * ROWS)] - unit / 2;
    double hi = x[(size_t)((0.5 + reach) * ROWS)] + unit / 2;
    if (want < lo || want > hi) {
        wrong(line, what, lo, hi, want);
    }
}

static void saturation_with_and_without_the_scale(void **state)
{
    (void)state;
    static const struct {
        size_t n, d;
        double one_minus_max, share_9, share_999, norm; /* unscaled */
        double scaled_max, scaled_norm;
    } table[] = {
        { 8, 64, 0.0374, 0.63, 0.21, 0.151, 0.337, 0.823 },
        { 8, 512, 4.0e-5, 0.86, 0.62, 0.052, 0.341, 0.821 },
        { 32, 64, 0.104, 0.49, 0.10, (double)NAN, (double)NAN, (double)NAN },
        { 32, 512, 9.9e-4, 0.81, 0.50, (double)NAN, (double)NAN, (double)NAN },
        { 64, 64, 0.132, 0.45, 0.08, 0.136, 0.097, 0.885 },
        { 128, 512, 5.2e-3, 0.73, 0.42, 0.045, 0.061, 0.900 },
        { 512, 1024, 8.0e-4, 0.82, 0.51, 0.024, 0.024, 0.920 },
    };
    struct sample *s = av_alloc(1, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        draw_rows(s, table[i].n, table[i].d, 1);
        assert_median(i, "median 1 - max", s->one_minus_max, table[i].one_minus_max, 0);
        assert_mean(i, "share > 0.9", s->above_9, table[i].share_9, 0.01);
        assert_mean(i, "share > 0.999", s->above_999, table[i].share_999, 0.01);
        assert_mean(i, "entropy / ln n", s->norm, table[i].norm, 0.001);
        draw_rows(s, table[i].n, table[i].d, 1 / sqrt((double)table[i].d));
        assert_median(i, "scaled median max", s->max, table[i].scaled_max, 0.001);
        assert_mean(i, "scaled entropy / ln n", s->norm, table[i].scaled_norm, 0.001);
    }
    av_free(s);
}

/* Gaussian logits over 128 keys: the median of jacobian_fro falls once they are
 * spread, and the mean hides it. */
static void a_mean_hides_what_a_median_shows(void **state)
{
    (void)state;
    static const struct {
        double std, mean, median, unit; /* that the median is given to */
    } table[] = {
        { 1, .136, .13, .01 },    { 4, .294, .32, .01 },      { 8, .221, .23, .01 },
        { 16, .130, .034, .001 }, { 32, .072, .0004, .0001 },
    };
    struct sample *s = av_alloc(1, sizeof *s);
    assert_non_null(s);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        draw_rows(s, 128, 0, table[i].std);
        assert_mean(i, "mean jacobian_fro", s->fro, table[i].mean, 0.001);
        assert_median(i, "median jacobian_fro", s->fro, table[i].median, table[i].unit);
    }
    av_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saturation_with_and_without_the_scale),
        cmocka_unit_test(a_mean_hides_what_a_median_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
