/* test_bend.c - every bend's weights, statistics and Jacobian against values of
 * tests/reference/bend_reference.py, which knows no formula of a derivative. */
#include "bend_rows.h"

/* keys, argmax, largest logit and weight, sum of w^2 and of w; 1 - max,
 * entropy, trace, jacobian_fro; their base-10 logarithms. */
enum { STATS = 14, FIRST_SMALL = 6, FIRST_LOG = 10 };

static const struct {
    const char *name;
    av_bend *bend;
    size_t n;
    struct av_bend_params p;
    double z[5], w[5], stats[STATS], jacobian[25], rest[5];
} table[] = {
#include "bend_reference.h"
};

enum { ROWS = sizeof table / sizeof *table };

/* Relative to the wanted value, with a few units of the smallest denormal and
 * `floor` to spare. */
static void assert_close(double got, double want, double tolerance, double floor, const char *row, const char *what,
                         size_t at)
{
    if (isinf(want) ? got == want : fabs(got - want) <= tolerance * fabs(want) + floor + 0x1p-1070) {
        return;
    }
    fail_msg("%s: %s %zu: %.17g is not %.17g", row, what, at, got, want);
}

/* A capped logit of 700 is rounded by up to 6e-14, all others keep their gaps. */
static double tolerance_of(size_t k)
{
    return table[k].bend == av_bend_softcap ? 1e-13 : 2e-14;
}

static void stats_of(double all[STATS], const struct av_rowstats *s)
{
    const double values[STATS] = { (double)s->keys,
                                   (double)s->argmax,
                                   s->max_logit,
                                   s->max,
                                   s->sum_p2,
                                   s->row_sum,
                                   s->one_minus_max,
                                   s->entropy,
                                   s->trace,
                                   s->jacobian_fro,
                                   av_rowstats_log10_one_minus_max(s),
                                   av_rowstats_log10_entropy(s),
                                   av_rowstats_log10_trace(s),
                                   av_rowstats_log10_jacobian_fro(s) };
    memcpy(all, values, sizeof values);
}

/* Logarithms of what underflows are promised where the bend is a softmax
 * inside, and not stretched beyond 1. */
static bool has_far_logarithms(size_t k)
{
    return table[k].bend != av_bend_sigmoid && table[k].bend != av_bend_softpick &&
           !(table[k].bend == av_bend_clipped && table[k].p.eta > 1);
}

static void rows_are_those_of_the_definitions(void **state)
{
    (void)state;
    for (size_t k = 0; k < ROWS; k++) {
        const char *name = table[k].name;
        const size_t n = table[k].n;
        const double tolerance = tolerance_of(k);
        struct bent_row b;
        double stats[STATS];
        bend_row(&b, table[k].bend, table[k].z, n, &table[k].p);
        stats_of(stats, &b.stats);
        for (size_t i = 0; i < STATS; i++) {
            const double want = table[k].stats[i];
            if (i >= FIRST_LOG && want < -307 && !has_far_logarithms(k)) {
                assert_close(stats[i], log10(stats[i - FIRST_LOG + FIRST_SMALL]), tolerance, 0, name, "logarithm", i);
            } else {
                assert_close(stats[i], want, tolerance, i >= FIRST_LOG ? 1e-15 : 0, name, "statistic", i);
            }
        }
        for (size_t j = 0; j < n; j++) {
            /* The capped row's sums are differences of slopes near 1. */
            const double floor = table[k].bend == av_bend_softcap ? 1e-16 * b.w[j] : 0;
            assert_close(b.w[j], table[k].w[j], tolerance, 0, name, "weight", j);
            assert_close(b.row.form.rest[j], table[k].rest[j], tolerance, floor, name, "rest", j);
            for (size_t l = 0; l < n; l++) {
                assert_close(bent_entry(&b, j, l), table[k].jacobian[j * n + l], 2 * tolerance, 0, name, "entry",
                             j * n + l);
            }
        }
    }
}

/* The statistics that av_form_stats finds in weights and form alone. */
static void statistics_follow_from_weights_and_form(void **state)
{
    (void)state;
    for (size_t k = 0; k < ROWS; k++) {
        struct bent_row b;
        struct av_rowstats s;
        double stats[STATS];
        bend_row(&b, table[k].bend, table[k].z, table[k].n, &table[k].p);
        av_form_stats(&s, &b.row);
        stats_of(stats, &s);
        for (size_t i = 0; i < FIRST_LOG; i++) {
            assert_close(stats[i], table[k].stats[i], tolerance_of(k), i == FIRST_SMALL ? 1e-15 : 0, table[k].name,
                         "statistic", i);
        }
        assert_true(fabs(stats[FIRST_LOG + 3] - log10(stats[FIRST_SMALL + 3])) < 1e-15 || s.jacobian_fro <= 0);
    }
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        if (kernels == NULL) {
            print_message("%s: not on this processor\n", *name);
            continue;
        }
        for (size_t k = 0; k < ROWS; k++) {
            struct bent_row best, other;
            bend_row(&best, table[k].bend, table[k].z, table[k].n, &table[k].p);
            bend_row(&other, table[k].bend, table[k].z, table[k].n, &table[k].p);
            memset(&other.stats, 0xff, sizeof other.stats);
            table[k].bend(&other.row, &table[k].p, kernels, &other.stats);
            assert_memory_equal(best.w, other.w, sizeof best.w);
            assert_memory_equal(best.form, other.form, sizeof best.form);
            assert_memory_equal(&best.stats, &other.stats, sizeof best.stats);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_definitions),
        cmocka_unit_test(statistics_follow_from_weights_and_form),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
