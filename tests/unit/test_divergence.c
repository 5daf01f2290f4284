/* test_divergence.c - the Jensen-Shannon divergence: values, symmetry, limits. */
#include "attnviz/divergence.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double ln2 = 0.69314718055994530942;

/* From tests/reference/divergence_reference.py. */
/* clang-format off */
static const struct {
    const char *name;
    size_t n;
    double p[4], q[4], divergence;
} references[] = {
    { "two", 2, { 0.25, 0.75 }, { 0.5, 0.5 }, 0.03382207556860523 },
    { "three", 3, { 0.1, 0.2, 0.7 }, { 0.6, 0.3, 0.1 }, 0.2306454879041133 },
    { "no key shared", 3, { 1.0, 0.0, 0.0 }, { 0.0, 0.5, 0.5 }, 0.69314718055994531 },
    { "one shared", 3, { 0.5, 0.5, 0.0 }, { 0.0, 0.5, 0.5 }, 0.34657359027997265 },
    { "nearly uniform", 4, { 0.2500000009313226, 0.24999999906867743, 0.25, 0.25 }, { 0.25, 0.25, 0.25, 0.25 }, 8.6736173798840355e-19 },
    { "closer still", 2, { 0.5000000000000009, 0.4999999999999991 }, { 0.5, 0.5 }, 3.944304526105059e-31 },
    { "the same key", 3, { 0.9999999999990905, 9.094947017729282e-13, 0.0 }, { 0.9999999999990905, 0.0, 9.094947017729282e-13 }, 6.304136882681135e-13 },
    { "tiny weights", 3, { 1.0, 1e-300, 3e-300 }, { 1.0, 3e-300, 1e-300 }, 5.2324814376454792e-301 },
    { "at the seam", 2, { 0.5, 0.5 }, { 0.3, 0.7 }, 0.021005925701837048 },
    { "close to apart", 2, { 0.9999999999999998, 2.220446049250313e-16 }, { 2.220446049250313e-16, 0.9999999999999998 }, 0.69314718055993708 },
};
/* clang-format on */

enum { REFERENCES = sizeof references / sizeof references[0] };

static void assert_close(double got, double want, const char *what)
{
    if (!(fabs(got - want) <= 4e-15 * want)) {
        fail_msg("%s: %.17g instead of %.17g", what, got, want);
    }
}

/* Differences of entropies would leave nothing of those nearly equal. */
static void values_have_full_precision(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < REFERENCES; i++) {
        assert_close(av_js_divergence(references[i].p, references[i].q, references[i].n), references[i].divergence,
                     references[i].name);
    }
}

static void it_is_symmetric(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < REFERENCES; i++) {
        const double *p = references[i].p, *q = references[i].q;
        assert_true(av_js_divergence(p, q, references[i].n) == av_js_divergence(q, p, references[i].n));
        assert_true(av_js_divergence(p, p, references[i].n) == 0);
    }
}

/* Of keys whose weights differ by a factor e^x, two by two. */
static void it_stays_within_its_bounds(void **unused)
{
    (void)unused;
    double before = 0;
    for (double x = 1e-6; x < 40; x *= 1.01) {
        const double large = 1 / (1 + exp(-x)), small = exp(-x) / (1 + exp(-x));
        const double p[] = { large, small }, q[] = { small, large };
        const double d = av_js_divergence(p, q, 2);
        assert_true(d >= before && d <= ln2 * (1 + 1e-15)); /* grows, and knows no seam */
        before = d;
    }
    assert_close(before, ln2, "apart");
}

/* Near x = 1/4 the series meets the logarithms: both are of the same function. */
static void the_seam_is_smooth(void **unused)
{
    (void)unused;
    const double below[] = { 0.62499999, 0.37500001 }, above[] = { 0.62500001, 0.37499999 };
    const double middle[] = { 0.375, 0.625 };
    const double slope = av_js_divergence(above, middle, 2) - av_js_divergence(below, middle, 2);
    assert_true(fabs(slope - 2e-8 * 0.5 * log(0.625 / 0.5 * 0.5 / 0.375)) < 1e-15);
}

static void what_is_unknown_stays_unknown(void **unused)
{
    (void)unused;
    const double p[] = { 0.5, (double)NAN, 0 }, q[] = { 0.5, 0.5, 0 };
    assert_true(isnan(av_js_divergence(p, q, 3)));
    assert_true(isnan(av_js_divergence(q, p, 3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_full_precision),    cmocka_unit_test(it_is_symmetric),
        cmocka_unit_test(it_stays_within_its_bounds),    cmocka_unit_test(the_seam_is_smooth),
        cmocka_unit_test(what_is_unknown_stays_unknown),
    };
    return cmocka_run_group_tests_name("divergence", tests, NULL, NULL);
}
