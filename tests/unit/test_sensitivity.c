/* test_sensitivity.c - the curve of one key's weight, against values of
 * tests/reference/jacobian_reference.py and properties. */
#include "attnviz/kernels.h"
#include "attnviz/sensitivity.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_close(double got, double expected, double tolerance)
{
    if (fabs(got - expected) > tolerance * fabs(expected)) {
        fail_msg("%.17g is not %.17g", got, expected);
    }
}

/* One key at x, n - 1 at 0: p, 1 - p, slope, and their log10. */
/* clang-format off */
static const struct {
    size_t n;
    double x;
    double values[6];
} spikes[] = {
{ 100, 0, { 0.01, 0.98999999999999999, 0.0099000000000000008, -2, -0.0043648054024500848, -2.0043648054024499 } },
{ 100, 4, { 0.35546098713664687, 0.64453901286335313, 0.22910847376048743, -0.44920805738433822, -0.19075079039979562, -0.63995884778413381 } },
{ 100, 10, { 0.9955255179295146, 0.0044744820704853703, 0.0044544610806862752, -0.0019476033875084266, -2.3492572278224766, -2.3512048312099854 } },
{ 100, -30, { 9.4521444129698635e-16, 0.999999999999999, 9.4521444129698556e-16, -15.024469651695105, -4.1050141607054657e-16, -15.024469651695105 } },
{ 2, 0, { 0.5, 0.5, 0.25, -0.3010299956639812, -0.3010299956639812, -0.6020599913279624 } },
{ 2048, 8, { 0.59287647087035789, 0.40712352912964217, 0.24137396115866758, -0.22703578489526904, -0.39027379745877799, -0.61730958235404698 } },
{ 3, 900, { 1, 0, 0, -0, -390.56400371726266, -390.56400371726266 } },
{ 3, -900, { 0, 1, 0, -391.16606370859063, -0, -391.16606370859063 } },
{ 7, 40, { 1, 2.5490125531749533e-17, 2.5490125531749533e-17, -1.1070220861460016e-17, -16.59362802574643, -16.59362802574643 } },
};
/* clang-format on */

static void spikes_are_exact(void **state)
{
    (void)state;
    static const double zeros[2048] = { 0 };
    for (size_t k = 0; k < sizeof spikes / sizeof *spikes; k++) {
        struct av_sensitivity s = av_sensitivity_make(zeros, spikes[k].n, spikes[k].n / 2);
        struct av_sensitivity_point at = av_sensitivity_at(&s, spikes[k].x);
        const double *v = spikes[k].values;
        assert_int_equal(s.others, spikes[k].n - 1);
        assert_true(s.equal);
        /* A unit of t's rounding at |x|, 2^-52 |x|, is that much of exp(t). */
        double tolerance = 4e-16 * (1 + fabs(spikes[k].x));
        assert_close(at.p, v[0], tolerance);
        assert_close(at.one_minus_p, v[1], tolerance);
        assert_close(at.slope, v[2], 2 * tolerance);
        assert_close(at.log10_p, v[3], 3e-15);
        assert_close(at.log10_one_minus_p, v[4], 3e-15);
        assert_close(at.log10_slope, v[5], 3e-15);
    }
}

static void the_peak_is_a_quarter_at_ln_of_the_others(void **state)
{
    (void)state;
    static const double zeros[2048] = { 0 };
    for (size_t n = 2; n <= 2048; n = n * 3 / 2) {
        struct av_sensitivity s = av_sensitivity_make(zeros, n, 0);
        double peak = av_sensitivity_peak(&s);
        assert_close(peak, log((double)(n - 1)), DBL_EPSILON);
        assert_true(av_sensitivity_at(&s, peak).slope == 0.25);
        assert_true(av_sensitivity_at(&s, peak).p == 0.5);
        assert_true(av_sensitivity_at(&s, peak - 1e-3).slope < 0.25);
        assert_true(av_sensitivity_at(&s, peak + 1e-3).slope < 0.25);
    }
    struct av_sensitivity s = av_sensitivity_make(zeros, 100, 0);
    assert_true(fabs(av_sensitivity_peak(&s) - 4.59512) < 5e-6);
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 33) / 2147483648.0;
}

/* The curve at the key's own logit is what the softmax gives. */
static void the_curve_is_the_softmax(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int k = 0; k < 300; k++) {
        static const double spreads[] = { 0.3, 3, 30, 1e30 };
        double z[40];
        double p[40];
        size_t n = 2 + (size_t)(uniform(&random) * 38);
        for (size_t i = 0; i < n; i++) {
            z[i] = i % 6 == 5 ? -(double)INFINITY : spreads[k % 4] * (2 * uniform(&random) - 1);
        }
        size_t key = (size_t)(uniform(&random) * (double)n);
        z[key] = isinf(z[key]) ? 0 : z[key];
        struct av_rowstats stats;
        av_kernels_best()->softmax(p, z, 1, n, &stats);
        struct av_sensitivity s = av_sensitivity_make(z, n, key);
        struct av_sensitivity_point at = av_sensitivity_at(&s, z[key]);
        assert_int_equal(s.others + 1, stats.keys);
        assert_close(at.p, p[key], 2e-14);
        assert_close(at.one_minus_p, key == stats.argmax ? stats.one_minus_max : 1 - p[key], 2e-14);
        assert_close(at.slope, at.p * at.one_minus_p, 1e-15);
    }
}

static void the_slope_is_the_derivative_of_p(void **state)
{
    (void)state;
    static const double z[] = { 0.3, -2, 1.5, 0, 7 };
    struct av_sensitivity s = av_sensitivity_make(z, 5, 4);
    const double h = 1e-3;
    for (double x = -12; x <= 12; x += 0.37) {
        double near = av_sensitivity_at(&s, x + h).p - av_sensitivity_at(&s, x - h).p;
        double far = av_sensitivity_at(&s, x + 2 * h).p - av_sensitivity_at(&s, x - 2 * h).p;
        struct av_sensitivity_point at = av_sensitivity_at(&s, x);
        assert_true(fabs(at.slope - (8 * near - far) / (12 * h)) < 5e-13);
        double logs = log(av_sensitivity_at(&s, x + h).p / av_sensitivity_at(&s, x - h).p);
        assert_true(fabs(at.one_minus_p - logs / (2 * h)) < 1e-7);
    }
}

/* What a column of a plot shows is not less than any slope within it. */
static void a_stretch_holds_its_steepest_slope(void **state)
{
    (void)state;
    static const double z[] = { 1, 2, -1, 0.5 };
    struct av_sensitivity s = av_sensitivity_make(z, 4, 0);
    double peak = av_sensitivity_peak(&s);
    for (double from = -30; from < 30; from += 1.7) {
        for (double width = 0.01; width < 100; width *= 3) {
            double steepest = av_sensitivity_steepest(&s, from, from + width);
            double most = 0;
            for (int i = 0; i <= 50; i++) {
                most = fmax(most, av_sensitivity_at(&s, from + width * i / 50).slope);
            }
            bool holds = peak >= from && peak <= from + width;
            assert_true(steepest >= most * (1 - 1e-14));
            assert_true(holds ? steepest == 0.25 : steepest <= most * (1 + 1e-14));
        }
    }
}

static void a_shift_moves_the_curve_and_a_lone_key_has_none(void **state)
{
    (void)state;
    static const double z[] = { 3, 0x1p100, 0x1p100, -(double)INFINITY };
    struct av_sensitivity s = av_sensitivity_make(z, 4, 0);
    assert_int_equal(s.others, 2);
    assert_true(s.equal && s.top == 0x1p100);
    assert_close(s.log_sum, log(2), 2e-16);
    assert_true(av_sensitivity_at(&s, 0x1p101).p == 1);
    struct av_sensitivity alone = av_sensitivity_make(z, 1, 0);
    assert_int_equal(alone.others, 0);
    assert_true(av_sensitivity_at(&alone, -50).p == 1);
    assert_true(av_sensitivity_at(&alone, -50).slope == 0);
    assert_true(av_sensitivity_steepest(&alone, -1, 1) == 0);
    struct av_sensitivity unequal = av_sensitivity_make((const double[]){ 0, 1, 2 }, 3, 0);
    assert_false(unequal.equal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spikes_are_exact),
        cmocka_unit_test(the_peak_is_a_quarter_at_ln_of_the_others),
        cmocka_unit_test(the_curve_is_the_softmax),
        cmocka_unit_test(the_slope_is_the_derivative_of_p),
        cmocka_unit_test(a_stretch_holds_its_steepest_slope),
        cmocka_unit_test(a_shift_moves_the_curve_and_a_lone_key_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
