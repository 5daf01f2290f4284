/* test_density.c - densities of scores against mpmath, bins against quadrature.
 *
 * The tables are printed by tests/reference/density_reference.py. */
#include "attnviz/density.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

static const struct {
    size_t d;
    double x, f;
} points[] = {
    { 1, 1e-12, 8.8321293341074765 },        { 1, 1e-3, 2.2357095826973768 },
    { 1, 0.5, 0.2942517293486038 },          { 1, 3, 0.011057927687277844 },
    { 1, 60, 4.5005766070387702e-28 },       { 2, 1e-12, 0.4999999999995 },
    { 2, 1e-3, 0.4995002499166875 },         { 2, 0.5, 0.30326532985631671 },
    { 2, 3, 0.024893534183931971 },          { 2, 60, 4.3782553813482602e-27 },
    { 3, 1e-12, 0.31830988618379067 },       { 3, 1e-3, 0.31830868875168243 },
    { 3, 0.5, 0.26363079218920073 },         { 3, 3, 0.038346567065888159 },
    { 3, 60, 2.7227566086037579e-26 },       { 4, 1e-12, 0.25 },
    { 4, 1e-3, 0.24999987508330209 },        { 4, 0.5, 0.22744899739223753 },
    { 4, 3, 0.049787068367863943 },          { 4, 60, 1.3353678913112194e-25 },
    { 7, 1e-12, 0.16976527263135502 },       { 7, 1e-3, 0.1697652514106986 },
    { 7, 0.5, 0.16461371766063399 },         { 7, 3, 0.069998469124140073 },
    { 7, 60, 6.981192583503961e-24 },        { 7, 700, 3.4208889402118056e-299 },
    { 64, 1e-12, 0.050461843173570487 },     { 64, 1e-3, 0.050461842759948824 },
    { 64, 0.5, 0.050358547216839797 },       { 64, 3, 0.046877550812339543 },
    { 64, 60, 1.0110521509145669e-11 },      { 64, 700, 8.940828891010311e-260 },
    { 1000, 1e-12, 0.012625134223403805 },   { 1000, 1e-3, 0.012625134217072243 },
    { 1000, 0.5, 0.012623551432378152 },     { 1000, 3, 0.01256827883121904 },
    { 1000, 60, 0.0020824258538261997 },     { 1000, 700, 1.8875406683814784e-92 },
    { 4096, 1e-12, 0.0062346148046351677 },  { 4096, 1e-3, 0.0062346148038735485 },
    { 4096, 0.5, 0.0062344244027430145 },    { 4096, 3, 0.0062277640003471188 },
    { 4096, 60, 0.004016411463534105 },      { 4096, 700, 1.4620671419177193e-28 },
    { 4096, 2000, 1.7559174636160717e-195 }, { 2, 0, 0.5 },
    { 3, 0, 0.31830988618379067 },           { 4, 0, 0.25 },
    { 64, 0, 0.050461843173570487 },         { 4096, 0, 0.0062346148046351677 },
};

static void density_of_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        assert_close(av_density_score(points[i].d, points[i].x), points[i].f, 1e-10);
        assert_close(av_density_score(points[i].d, -points[i].x), points[i].f, 1e-10);
    }
}

/* sqrt(d) f(u sqrt(d)) at u = 0.5, 1, 2, 4, which tends to the normal density. */
static void standardised_density(void **state)
{
    (void)state;
    static const struct {
        size_t d;
        double f[4];
    } rows[] = {
        { 1, { 0.294251729349, 0.134016241017, 0.0362535456719, 0.00355223522474 } },
        { 2, { 0.348652215276, 0.171909491538, 0.0417940742011, 0.00247026995752 } },
        { 3, { 0.363795711533, 0.191309109666, 0.0442927995465, 0.00187453337998 } },
        { 16, { 0.359946288517, 0.233200680996, 0.0507563848023, 0.000498978804083 } },
        { 64, { 0.354178568838, 0.239996080533, 0.0530105300758, 0.000221657042461 } },
        { 1024, { 0.352199500101, 0.241852238628, 0.0539253647998, 0.000139168270124 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double root = sqrt((double)rows[i].d);
        for (int k = 0; k < 4; k++) {
            assert_close(root * av_density_score(rows[i].d, ldexp(root, k - 1)), rows[i].f[k], 5e-12 /* its digits */);
        }
    }
}

static void density_at_the_ends(void **state)
{
    (void)state;
    assert_true(isinf(av_density_score(1, 0.0)));
    assert_true(isinf(av_density_score(1, -0.0)));
    /* K_0(x) = -ln(x / 2) - gamma for small x, f = K_0 / pi */
    assert_close(av_density_score(1, 1e-300), (log(2.0) - 0.57721566490153286 + 300.0 * log(10.0)) / acos(-1.0), 1e-12);
    assert_true(isfinite(av_density_score(1, 5e-324)));
    for (size_t d = 1; d <= 4096; d *= 4) {
        assert_true(av_density_score(d, 1e4) == 0.0);
        assert_true(av_density_score(d, 1e300) == 0.0);
        assert_true(av_density_score(d, DBL_MAX) == 0.0);
    }
}

static void density_falls_from_the_centre(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 4096; d = 2 * d + 1) {
        double last = HUGE_VAL;
        for (double x = 1e-3; x < 700.0; x *= 1.5) {
            const double f = av_density_score(d, x);
            assert_true(f < last);
            last = f;
        }
    }
}

static const struct {
    size_t d;
    double factor, lo, hi, mean;
} bin_table[] = {
    { 1, 1, -0.08, 0.08, 1.1598514238121757 },
    { 1, 1, 0, 0.25, 0.8011966649539657 },
    { 1, 1, 0.25, 0.5, 0.37922692671923218 },
    { 1, 2, -3, 1, 0.18475382080574306 },
    { 1, 1, 1e-9, 2e-9, 6.5103612233476808 },
    { 1, 1, 1e-9, 1.0000001e-9, 6.6333225215536995 },
    { 1, 1, -40, -30, 6.6805568294874014e-16 },
    { 2, 1, -0.1, 0.3, 0.4429304516029032 },
    { 3, 0.5, -0.1, 0.3, 0.59043959408492955 },
    { 3, 1, -100, 100, 0.005 },
    { 64, 0.125, 1, 1.1, 0.22766921313208916 },
    { 64, 0.125, -8, -7, 1.8559958106082798e-10 },
    { 64, 1, 1, 1.000001, 0.050049968619220422 },
    { 64, 1, -1e-7, 1e-7, 0.050461843173570486 },
    { 64, 1, 40, 50, 1.3605011820927238e-7 },
    { 4096, 0.015625, 0, 10.24, 0.048828125 },
    { 4096, 0.015625, 10.24, 20.48, 1.2114980986987004e-25 },
    { 4096, 0.015625, -256, 256, 0.001953125 },
    { 4096, 1, 32, 32.5, 0.0054907509651102603 },
    { 4096, 1, 33, 33.0001, 0.0054580343420120037 },
};

static void bins_of_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bin_table / sizeof *bin_table; i++) {
        double mean;
        av_density_bins(bin_table[i].d, bin_table[i].factor, bin_table[i].lo, bin_table[i].hi, 1, &mean);
        assert_close(mean, bin_table[i].mean, 1e-10);
    }
}

enum { BINS = 400 };

static double sum(const double *bins, size_t count)
{
    double s = 0.0;
    for (size_t i = 0; i < count; i++) {
        s += bins[i];
    }
    return s;
}

/* Whatever the bins, they hold all mass, and the second moment is d. */
static void bins_hold_all_mass(void **state)
{
    (void)state;
    static const size_t dims[] = { 1, 2, 3, 5, 64, 1000, 4096 };
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        const double root = sqrt((double)dims[i]), wide = 40.0 * root;
        double bins[BINS];
        for (size_t count = 1; count <= BINS; count = 3 * count + 1) {
            const double width = 2.0 * wide / (double)count;
            av_density_bins(dims[i], 1.0, -wide, wide, count, bins);
            assert_close(width * sum(bins, count), 1.0, 1e-12);
            for (size_t k = 0; k < count; k++) {
                assert_close(bins[k], bins[count - 1 - k], 1e-9);
            }
            /* scaled, on the unscaled scores' axis */
            av_density_bins(dims[i], 1.0 / root, -wide, 0.7 * wide, count, bins);
            assert_close(1.7 * wide / (double)count * sum(bins, count), 1.0, 1e-12);
        }
        av_density_bins(dims[i], 1.0, -wide, wide, BINS, bins);
        const double width = 2.0 * wide / BINS;
        double second = 0.0;
        for (size_t k = 0; k < BINS; k++) {
            const double mid = -wide + ((double)k + 0.5) * width;
            second += bins[k] * width * mid * mid;
        }
        /* Sheppard: midpoints of a smooth density add width^2 / 12 */
        const double off = fabs(second - (double)dims[i] - width * width / 12.0);
        assert_true(off < (dims[i] < 64 ? width * width / 12.0 : 1e-10 * (double)dims[i]));
    }
}

/* One bin's mean is the mean of its parts', through every way of computing it. */
static void bins_add_up(void **state)
{
    (void)state;
    static const double from[] = { -1.0, 0.0, 1e-6, 0.3, 4.0, 30.0 };
    for (size_t d = 1; d <= 4096; d *= 8) {
        for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
            for (double width = 1e-5; width < 100.0; width *= 10.0) {
                double whole, parts[BINS];
                av_density_bins(d, 1.0, from[i], from[i] + width, 1, &whole);
                av_density_bins(d, 1.0, from[i], from[i] + width, BINS, parts);
                assert_close(sum(parts, BINS) / BINS, whole, 1e-9);
            }
        }
    }
}

static void narrow_bins_show_the_density(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 4096; d *= 2) {
        for (double x = 0.1; x < 300.0; x *= 3.0) {
            double mean;
            av_density_bins(d, 2.0, 2.0 * x, 2.0 * (x + 1e-6), 1, &mean);
            assert_close(mean, 0.5 * av_density_score(d, x + 0.5e-6), 1e-9);
        }
    }
}

static void normal_bins(void **state)
{
    (void)state;
    double bins[BINS];
    av_density_normal_bins(1.0, 2.0, -100.0, 101.0, BINS, bins);
    assert_close(201.0 / BINS * sum(bins, BINS), 1.0, 1e-13);
    /* tails, by mpmath: (erfc(30 / sqrt 2) - erfc(31 / sqrt 2)) / 2 */
    double tail;
    av_density_normal_bins(0.0, 1.0, 30.0, 31.0, 1, &tail);
    assert_close(tail, 4.9067139271476755e-198, 1e-12);
    av_density_normal_bins(5.0, 1.0, -26.0, -25.0, 1, &tail);
    assert_close(tail, 4.9067139271476755e-198, 1e-12);
    av_density_normal_bins(0.0, 1.0, 3.0, 3.0 + 1e-8, 1, &tail);
    assert_close(tail, exp(-4.5) / sqrt(2.0 * acos(-1.0)) * (1.0 - 1.5e-8), 1e-12);
}

/* Entries of standard deviation 0: every score is the mean. */
static void normal_without_spread(void **state)
{
    (void)state;
    double bins[4];
    static const struct {
        double mean;
        int bin; /* 4: none */
    } cases[] = { { 0.0, 2 }, { -2.0, 0 }, { -1.5, 0 }, { 2.0, 3 }, { 2.5, 4 }, { -3.0, 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        av_density_normal_bins(cases[i].mean, 0.0, -2.0, 2.0, 4, bins);
        for (int k = 0; k < 4; k++) {
            assert_true(bins[k] == (k == cases[i].bin ? 1.0 : 0.0));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_of_table),    cmocka_unit_test(standardised_density),
        cmocka_unit_test(density_at_the_ends), cmocka_unit_test(density_falls_from_the_centre),
        cmocka_unit_test(bins_of_table),       cmocka_unit_test(bins_hold_all_mass),
        cmocka_unit_test(bins_add_up),         cmocka_unit_test(narrow_bins_show_the_density),
        cmocka_unit_test(normal_bins),         cmocka_unit_test(normal_without_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
