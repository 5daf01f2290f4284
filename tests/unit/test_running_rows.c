/* test_running_rows.c - rows whose keys come part by part, against rows that come whole. */
#include "attnviz/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS_MAX = 3000 };

/* How the scores of a row go. */
enum shape { NORMAL, RISING, FALLING, TIED, STEPS, HUGE_GAPS, SHAPES };

static double uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

static void make_row(double *s, size_t n, enum shape shape, double spread, unsigned *seed)
{
    for (size_t j = 0; j < n; j++) {
        double u = uniform(seed) + uniform(seed) + uniform(seed) - 1.5;
        double at = (double)j / (double)n;
        const double shapes[SHAPES] = {
            spread * u,   spread * (at + 0.01 * u), spread * (0.01 * u - at),
            floor(4 * u), spread * floor(8 * at),   u > 1 ? 700 * spread * u : u,
        };
        s[j] = shapes[shape];
    }
}

/* Cuts a row at random places and sums it up. */
static struct av_rowstats in_parts(const struct av_kernels *kernels, const double *s, double multiplier, size_t n,
                                   size_t part_max, unsigned seed)
{
    struct av_running_row row = { 0 };
    for (size_t j = 0; j < n;) {
        size_t part = 1 + (size_t)(uniform(&seed) * (double)part_max);
        part = part < n - j ? part : n - j;
        kernels->running_add(&row, s + j, multiplier, part);
        j += part;
    }
    struct av_rowstats out;
    kernels->running_stats(&out, &row, multiplier);
    return out;
}

static void assert_close(const char *what, double a, double b)
{
    double reach = 1e-13 * fmax(fabs(a), fabs(b)) + 1e-320; /* denormals have fewer digits */
    if (!(fabs(a - b) <= reach)) {
        fail_msg("%s: %.17g in parts, %.17g whole", what, a, b);
    }
}

static void assert_same_row(const struct av_rowstats *a, const struct av_rowstats *b)
{
    assert_int_equal(a->keys, b->keys);
    assert_int_equal(a->argmax, b->argmax);
    assert_memory_equal(&a->max_logit, &b->max_logit, sizeof a->max_logit);
    assert_close("max", a->max, b->max);
    assert_close("one_minus_max", a->one_minus_max, b->one_minus_max);
    assert_close("entropy", a->entropy, b->entropy);
    assert_close("sum_p2", a->sum_p2, b->sum_p2);
    assert_close("trace", a->trace, b->trace);
    assert_close("jacobian_fro", a->jacobian_fro, b->jacobian_fro);
    assert_close("row_sum", a->row_sum, b->row_sum);
    assert_close("half_gap", a->scaled.half_gap, b->scaled.half_gap);
    assert_close("scaled one_minus_max", a->scaled.one_minus_max, b->scaled.one_minus_max);
    assert_close("half_surprise", a->scaled.half_surprise, b->scaled.half_surprise);
    assert_close("scaled trace", a->scaled.trace, b->scaled.trace);
    assert_close("scaled jacobian_fro", a->scaled.jacobian_fro, b->scaled.jacobian_fro);
}

static void parts_are_the_whole(void **state)
{
    (void)state;
    static double s[KEYS_MAX];
    static const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 64, 500, KEYS_MAX };
    static const double spreads[] = { 0.1, 1, 30, 700, 1e6 };
    static const size_t parts[] = { 1, 5, 128, 2000 };
    const struct av_kernels *kernels = av_kernels_best();
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] * SHAPES * 5 * 4; i++) {
        size_t n = sizes[i / 20 / SHAPES];
        make_row(s, n, (enum shape)(i / 20 % SHAPES), spreads[i / 4 % 5], &seed);
        struct av_rowstats whole, cut = in_parts(kernels, s, 0.7, n, parts[i % 4], seed);
        kernels->softmax(NULL, s, 0.7, n, &whole);
        assert_same_row(&cut, &whole);
    }
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    static double s[KEYS_MAX];
    unsigned seed = 2;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_row(s, KEYS_MAX, (enum shape)shape, 40, &seed);
        struct av_rowstats first = in_parts(av_kernels_named("base"), s, 0.3, KEYS_MAX, 300, 5);
        for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
            const struct av_kernels *kernels = av_kernels_named(*name);
            if (kernels != NULL) {
                struct av_rowstats row = in_parts(kernels, s, 0.3, KEYS_MAX, 300, 5);
                assert_memory_equal(&row, &first, sizeof row);
            }
        }
    }
}

/* Numbers that can be written down: two keys D apart, in either order. */
static void two_keys_far_apart(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        double s[2] = { order ? 0 : 700, order ? 700 : 0 };
        struct av_rowstats row = in_parts(av_kernels_best(), s, 1, 2, 1, 1);
        double p = exp(-700);
        assert_int_equal(row.argmax, order);
        assert_close("one_minus_max", row.one_minus_max, p);
        assert_close("entropy", row.entropy, 701 * p);
        assert_close("trace", row.trace, 2 * p);
        assert_close("jacobian_fro", row.jacobian_fro, 2 * p);
    }
}

static void a_tie_between_parts_goes_to_the_first(void **state)
{
    (void)state;
    const double s[] = { 1, 3, 2, 3, 3 };
    for (size_t part = 1; part <= 5; part++) {
        struct av_running_row row = { 0 };
        for (size_t j = 0; j < 5; j += part) {
            av_kernels_best()->running_add(&row, s + j, 1, part < 5 - j ? part : 5 - j);
        }
        struct av_rowstats out;
        av_kernels_best()->running_stats(&out, &row, 1);
        assert_int_equal(out.argmax, 1);
        assert_close("max", out.max, 1 / (3 + exp(-1) + exp(-2)));
        assert_true(row.second >= 3);
    }
}

/* Differences beyond the largest double, and no key at all. */
static void the_ends_of_the_range(void **state)
{
    (void)state;
    const double s[] = { -1.5e308, 1.5e308, 0, 1.5e308 };
    struct av_rowstats whole, cut = in_parts(av_kernels_best(), s, 8, 4, 1, 1);
    av_kernels_best()->softmax(NULL, s, 8, 4, &whole);
    assert_int_equal(cut.argmax, whole.argmax);
    assert_close("max", cut.max, 0.5);
    assert_close("entropy", cut.entropy, log(2));
    assert_close("jacobian_fro", cut.jacobian_fro, whole.jacobian_fro);
    struct av_running_row none = { 0 };
    struct av_rowstats out;
    av_kernels_best()->running_stats(&out, &none, 1);
    assert_int_equal(out.keys, 0);
    assert_true(out.max == 0 && out.row_sum == 0 && out.max_logit == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole),   cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(two_keys_far_apart),    cmocka_unit_test(a_tie_between_parts_goes_to_the_first),
        cmocka_unit_test(the_ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
