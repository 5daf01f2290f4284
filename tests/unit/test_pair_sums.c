/* test_pair_sums.c - moments, slope and jackknife errors against mpmath.
 *
 * The table is printed by tests/reference/pair_sums_reference.py. */
#include "../../src/model/pair_sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 3, COLUMNS = 5, VALUES = 3 * POINTS + 1 };

static const size_t d_k[POINTS] = { 1, 2, COLUMNS };

/* Means, variances, kurtoses of three points, slope: value and error. */
static const struct {
    size_t pairs;
    double offset;
    double want[VALUES][2];
} table[] = {
    { 1003,
      0,
      { { -0.0055753220275044852, 0.04472444734178113 },
        { 0.03890535740099998, 0.072999054656811427 },
        { 0.0052399074863490296, 0.096237553830210909 },
        { 1.6678338491597791, 0.077746614491703725 },
        { 3.6476520600713741, 0.16452167020586707 },
        { 8.7940901894826934, 0.33483214926709332 },
        { 0.22416891976771053, 0.090628880585457444 },
        { -0.020492179147069574, 0.10917186401888734 },
        { -0.09442750973938152, 0.10703020141183344 },
        { 1.0292062092101202, 0.03201215251127682 } } },
    { 1003,
      1e6,
      { { 999999.99442467797, 0.044724447341653587 },
        { 1000000.0389053574, 0.072999054656646697 },
        { 1000000.0052399075, 0.09623755383052798 },
        { 1.6678338491589285, 0.077746614492037429 },
        { 3.6476520600791783, 0.16452167020596093 },
        { 8.794090189477037, 0.33483214926487277 },
        { 0.22416891977155142, 0.09062888058589683 },
        { -0.020492179163171855, 0.10917186401963069 },
        { -0.094427509743279361, 0.10703020141448358 },
        { 1.029206209209883, 0.032012152511381637 } } },
    { 100,
      0,
      { { 0.073624169998401328, 0.14916280866285517 },
        { 0.079260471999368506, 0.20730821916150569 },
        { -0.018867190155434757, 0.3403734982002948 },
        { 1.9465978553206679, 0.25186414643592982 },
        { 3.825928150236599, 0.42206078793500658 },
        { 11.271339096470598, 1.4690214968877662 },
        { -0.22050042625506775, 0.26935674843310538 },
        { -0.45239795885209719, 0.21513035916231591 },
        { -0.2676455109585131, 0.24378235083593898 },
        { 1.0957769980115206, 0.11532862834990662 } } },
};

static double entry(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(int32_t)*state * 0x1p-30;
}

static void add_pairs(struct av_pair_sums *s, size_t pairs, double offset)
{
    uint32_t state = 1;
    av_pair_sums_clear(s, POINTS);
    for (size_t r = 0; r < pairs; r++) {
        double scores[POINTS];
        double sum = offset;
        for (size_t c = 0, i = 0; c < COLUMNS; c++) {
            double q = entry(&state);
            sum += q * entry(&state);
            if (c + 1 == d_k[i]) {
                scores[i++] = sum;
            }
        }
        av_pair_sums_add(s, scores);
    }
}

static void estimate(const struct av_pair_sums *s, struct av_pair_estimates *found)
{
    double x[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = log((double)d_k[i]);
    }
    av_pair_sums_estimate(s, x, found);
}

static void assert_close(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

static void estimates_of_table(void **state)
{
    (void)state;
    static struct av_pair_sums sums;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        struct av_pair_estimates found;
        add_pairs(&sums, table[k].pairs, table[k].offset);
        estimate(&sums, &found);
        const struct av_estimate *kinds[] = { found.mean, found.variance, found.kurtosis };
        for (size_t i = 0; i < VALUES; i++) {
            const struct av_estimate *e = i < 3 * POINTS ? &kinds[i / POINTS][i % POINTS] : &found.slope;
            assert_close(e->measured, table[k].want[i][0], 1e-12 * fmax(1, fabs(table[k].want[i][0])));
            assert_close(e->error, table[k].want[i][1], 1e-12);
        }
    }
}

/* The same scores again and again: no variance, not even a rounding error. */
static void no_spread_is_none(void **state)
{
    (void)state;
    static struct av_pair_sums sums;
    const double scores[POINTS] = { 0.1, 1e9 / 3, -7e-300 };
    av_pair_sums_clear(&sums, POINTS);
    for (size_t r = 0; r < 777; r++) {
        av_pair_sums_add(&sums, scores);
    }
    struct av_pair_estimates found;
    estimate(&sums, &found);
    for (size_t i = 0; i < POINTS; i++) {
        assert_true(found.mean[i].measured == scores[i]);
        assert_true(found.mean[i].error == 0);
        assert_true(found.variance[i].measured == 0);
        assert_true(isnan(found.kurtosis[i].measured));
    }
    assert_true(isnan(found.slope.measured));
}

/* Fewer than two pairs a group have no error; one pair has no variance. */
static void few_pairs_have_no_error(void **state)
{
    (void)state;
    static struct av_pair_sums sums;
    struct av_pair_estimates found;
    add_pairs(&sums, 2 * AV_PAIR_GROUPS - 1, 0);
    estimate(&sums, &found);
    assert_true(isfinite(found.variance[0].measured));
    assert_true(isnan(found.variance[0].error));
    add_pairs(&sums, 1, 0);
    estimate(&sums, &found);
    assert_true(isfinite(found.mean[0].measured));
    assert_true(isnan(found.variance[0].measured));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_of_table),
        cmocka_unit_test(no_spread_is_none),
        cmocka_unit_test(few_pairs_have_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
