/* test_over.c - the values of a sweep, and how they are asked for. */
#include "attnviz/over.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct av_over over(const char *text)
{
    struct av_params p;
    struct av_error e = { "" };
    struct av_over o;
    av_params_default(&p);
    if (av_over_parse(&o, text, &p, &e) != AV_OK) {
        fail_msg("%s: %s", text, e.text);
    }
    return o;
}

/* The values, repeats left out, are these to the bit. */
static void runs_over(const char *text, const double *want, size_t count)
{
    struct av_over o = over(text);
    size_t at = 0;
    for (size_t i = 0; i < o.steps; i++) {
        if (av_over_repeats(&o, i)) {
            continue;
        }
        if (at >= count || av_over_value(&o, i) != want[at]) {
            fail_msg("%s: value %zu is %.17g", text, at, av_over_value(&o, i));
        }
        at++;
    }
    assert_int_equal(at, count);
    assert_int_equal(av_over_count(&o), count);
}

#define RUNS_OVER(text, ...)                                                                                           \
    runs_over(text, (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

/* ---- values ---------------------------------------------------------------- */

static void equal_steps_are_the_nearest_doubles(void **state)
{
    (void)state;
    RUNS_OVER("temperature=0.1:1:10", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1);
    RUNS_OVER("temperature=1:0.1:10", 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1);
    RUNS_OVER("exponent=0:1:11", 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1);
    RUNS_OVER("corr=-1:1:5", -1, -0.5, 0, 0.5, 1);
    RUNS_OVER("exponent=0:1:4", 0, 1.0 / 3, 2.0 / 3, 1);
    RUNS_OVER("offset=-1e6:1e6:3", -1e6, 0, 1e6);
    RUNS_OVER("offset=1e-12:3e-12:3", 1e-12, 2e-12, 3e-12);
    RUNS_OVER("temperature=2:2:1", 2);
    RUNS_OVER("temperature=2:2:7", 2);
}

/* Every step of 0.01 .. 100 in 10,000 values, against the text of its decimal. */
static void many_steps_are_exact(void **state)
{
    (void)state;
    struct av_over o = over("temperature=0.01:100:10000");
    for (size_t i = 0; i < o.steps; i++) {
        char text[32];
        snprintf(text, sizeof text, "%zu.%02zu", (i + 1) / 100, (i + 1) % 100);
        assert_true(av_over_value(&o, i) == strtod(text, NULL));
    }
}

static void equal_ratios_give_round_values(void **state)
{
    (void)state;
    RUNS_OVER("d_k=1:4096:13:log", 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096);
    RUNS_OVER("d_k=4096:1:7:log", 4096, 1024, 256, 64, 16, 4, 1);
    RUNS_OVER("temperature=0.01:100:5:log", 0.01, 0.1, 1, 10, 100);
    RUNS_OVER("temperature=0.1:0.9:3:log", 0.1, 0.3, 0.9);
    RUNS_OVER("k_std=1e-300:1e3:4:log", 1e-300, 1e-199, 1e-98, 1e3);
    RUNS_OVER("d_k=7:7:1:log", 7);
}

/* What is not round is the true value to 14 digits. */
static void equal_ratios_are_equal(void **state)
{
    (void)state;
    struct av_over o = over("temperature=0.3:77:101:log");
    for (size_t i = 0; i < o.steps; i++) {
        long double want = expl(logl(0.3L) + (long double)i / 100 * logl(77 / 0.3L));
        assert_true(fabsl((long double)av_over_value(&o, i) / want - 1) < 6e-14L);
    }
}

static void integers_are_rounded_and_not_repeated(void **state)
{
    (void)state;
    RUNS_OVER("d_k=1:4:3", 1, 3, 4);
    RUNS_OVER("d_k=4:1:3", 4, 3, 1);
    RUNS_OVER("d_k=1:3:9", 1, 2, 3);
    RUNS_OVER("d_k=1:10:8:log", 1, 2, 3, 4, 5, 7, 10);
    RUNS_OVER("query=0:31:2", 0, 31);
    RUNS_OVER("seed=0:9007199254740992:3", 0, 4503599627370496, 9007199254740992);
    RUNS_OVER("seed=9007199254740992:9007199254740989:4", 9007199254740992, 9007199254740991, 9007199254740990,
              9007199254740989);
}

/* Any ends and any number of steps: in order, within the ends, evenly spaced. */
static void values_are_in_order(void **state)
{
    (void)state;
    static const char *const ends[] = {
        "temperature=0.012345678901234567:99.87654321098765",
        "temperature=1:1.0000000000000002",
        "offset=-999999.99999:0.3333333333333333",
        "offset=-1e-300:1e6",
        "seed=1:9007199254740992",
        "d_k=3:4096",
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (size_t steps = 2; steps <= AV_OVER_STEPS_MAX; steps = steps * 3 + 1) {
            char text[96];
            snprintf(text, sizeof text, "%s:%zu", ends[i], steps);
            struct av_over o = over(text);
            double gap = (o.to - o.from) / (double)(steps - 1);
            assert_true(av_over_value(&o, 0) == o.from && av_over_value(&o, steps - 1) == o.to);
            for (size_t k = 1; k < steps; k++) {
                double off = av_over_value(&o, k) - (o.from + gap * (double)k);
                double rounding = 4e-16 * fmax(fabs(o.from), fabs(o.to)) + (o.row->kind == AV_PARAM_REAL ? 0 : 0.5);
                assert_true(av_over_value(&o, k) >= av_over_value(&o, k - 1) && fabs(off) <= rounding);
            }
        }
    }
}

/* ---- text ------------------------------------------------------------------ */

/* Expects a usage error for these parameters whose message holds each of the
 * pieces, and nothing read. */
static void refused(const struct av_params *p, const char *text, const char *a, const char *b)
{
    struct av_over o, before;
    struct av_error e = { "" };
    memset(&o, 0x55, sizeof o);
    before = o;
    assert_int_equal(av_over_parse(&o, text, p, &e), AV_USAGE);
    assert_memory_equal(&o, &before, sizeof o);
    if (strstr(e.text, a) == NULL || strstr(e.text, b) == NULL) {
        fail_msg("%s: message '%s' lacks '%s' or '%s'", text, e.text, a, b);
    }
}

static void bad_text_is_refused_with_its_position(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        { "", "--over :", AV_OVER_FORM },
        { "d_k", "--over d_k:", AV_OVER_FORM },
        { "d_k=1", "d_k=1:", AV_OVER_FORM },
        { "d_k=1:2", "d_k=1:2:", AV_OVER_FORM },
        { "=1:2:3", "unknown parameter", "--list params" },
        { "d-k=1:2:3", "--over d-k", "unknown parameter" },
        { "d_k=:2:3", "FROM", "d_k=: not a whole number from 1 to 4096" },
        { "d_k=1::3", "TO", "d_k=: not a whole number" },
        { "d_k=1:2:", "STEPS", "'': not a whole number from 1 to 10000" },
        { "d_k=1:2:0", "STEPS", "'0'" },
        { "d_k=1:2:1", "STEPS", "FROM = TO" },
        { "d_k=1:2:-3", "STEPS", "'-3'" },
        { "d_k=1:2:2.5", "STEPS", "'2.5'" },
        { "d_k=1:2: 3", "STEPS", "' 3'" },
        { "d_k=1:2:10001", "STEPS", "'10001'" },
        { "d_k=1:2:99999999999999999999999", "STEPS", "from 1 to 10000" },
        { "d_k=1:2:3:", "''", "log" },
        { "d_k=1:2:3:lin", "'lin'", "log" },
        { "d_k=1:2:3:log:4", "'log:4'", "log" },
        { "d_k=1.5:2:3", "FROM", "d_k=1.5: not a whole number" },
        { "d_k=0:2:3", "FROM", "d_k=0: out of range 1 .. 4096" },
        { "d_k=1:99999999999999999999:3", "TO", "out of range 1 .. 4096" },
        { "temperature=nan:1:2", "FROM", "temperature=nan: not a number" },
        { "temperature=1:inf:2", "TO", "temperature=inf: out of range 0.01 .. 100" },
        { "temperature=1:1e400:2", "TO", "temperature=1e400: out of range" },
        { "temperature=1:two:2", "TO", "temperature=two: not a number" },
        { "offset=0:9:3:log", "offset=0:9", "above 0" },
        { "offset=9:-1:3:log", "offset=9:-1", "above 0" },
        { "key=0:32:2", "TO", "key=32: out of range 0 .. 31" },
        { "seed=-1:2:2", "FROM", "seed=-1" },
        { "seed=1:9007199254740993:2", "TO", "out of range 0 .. 9007199254740992" },
        { "seed=1:18446744073709551615:2", "TO", "out of range 0 .. 9007199254740992" },
        { "scale=0:1:2", "--over scale: not a number", "d_k n_q n_k exponent temperature" },
        { "dist=0:1:2", "--over dist: not a number", "d_k n_q" },
        { "logits=1:2:2", "--over logits: not a number", "d_k n_q" },
        { "layer=0:0:1", "--over layer: has a meaning only with files", "d_k n_q" },
        { "softcap.c=1:2:2", "--over softcap.c: has a meaning only with the variant softcap",
          "variant is mup+sigmoid" },
        { "sigmoid.b=auto:1:2", "FROM", "sigmoid.b=auto: not a number" },
        { "sigmoid.b=0:auto:2", "TO", "sigmoid.b=auto: not a number" },
    };
    struct av_params p;
    av_params_default(&p);
    assert_int_equal(av_params_set_text(&p, "variant=mup+sigmoid", NULL), AV_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refused(&p, rows[i][0], rows[i][1], rows[i][2]);
    }
}

/* The ranges of other parameters move with a value of the sweep. */
static void dependent_ranges_hold_at_every_value(void **state)
{
    (void)state;
    struct av_params p;
    struct av_error e;
    struct av_over o;
    av_params_default(&p);
    p.n_k = p.n_q = 100;
    assert_int_equal(av_over_parse(&o, "key=0:99:4", &p, &e), AV_OK);
    p.key = 20;
    p.query = 30;
    assert_int_equal(av_over_parse(&o, "n_k=21:64:4", &p, &e), AV_OK);
    refused(&p, "n_k=64:8:8", "n_k=16", "key=20: out of range 0 .. 15");
    refused(&p, "n_q=8:64:8", "n_q=8", "query=30: out of range 0 .. 7");
    p.key = 0;
    p.query = 0;
    p.logits.n = 5; /* given by hand: their number counts */
    assert_int_equal(av_over_parse(&o, "key=0:4:5", &p, &e), AV_OK);
    refused(&p, "key=0:5:6", "TO", "key=5: out of range 0 .. 4");
}

/* Numbers of hundreds of digits are numbers. */
static void long_numbers_are_read(void **state)
{
    (void)state;
    char text[400];
    snprintf(text, sizeof text, "temperature=0.1%0300d:1:10", 0);
    assert_true(over(text).from == 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_steps_are_the_nearest_doubles),
        cmocka_unit_test(many_steps_are_exact),
        cmocka_unit_test(equal_ratios_give_round_values),
        cmocka_unit_test(equal_ratios_are_equal),
        cmocka_unit_test(integers_are_rounded_and_not_repeated),
        cmocka_unit_test(values_are_in_order),
        cmocka_unit_test(bad_text_is_refused_with_its_position),
        cmocka_unit_test(dependent_ranges_hold_at_every_value),
        cmocka_unit_test(long_numbers_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
