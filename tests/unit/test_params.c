/* test_params.c - the parameter table, its text forms, ranges and steps. */
#include "attnviz/params.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct av_params with(const char *assignment)
{
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    assert_int_equal(av_params_set_text(&p, assignment, &e), AV_OK);
    return p;
}

/* Expects a usage error whose message holds each of three pieces. */
static void refused(const char *assignment, const char *a, const char *b, const char *c)
{
    struct av_params p;
    struct av_params before;
    struct av_error e = { "" };
    av_params_default(&p);
    before = p;
    enum av_status s = av_params_set_text(&p, assignment, &e);
    if (s == AV_OK) {
        s = av_params_check(&p, false, &e);
    } else {
        assert_memory_equal(&p, &before, sizeof p); /* nothing half-set */
    }
    assert_int_equal(s, AV_USAGE);
    const char *pieces[] = { a, b, c };
    for (int i = 0; i < 3; i++) {
        if (strstr(e.text, pieces[i]) == NULL) {
            fail_msg("%s: message '%s' lacks '%s'", assignment, e.text, pieces[i]);
        }
    }
}

static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value;
    } want[] = {
        { "d_k", "64" },       { "n_q", "32" },          { "n_k", "32" },        { "scale", "on" },
        { "exponent", "0.5" }, { "offset", "0" },        { "temperature", "1" }, { "key", "0" },
        { "query", "0" },      { "key_offset", "0" },    { "q_std", "1" },       { "k_std", "1" },
        { "q_mean", "0" },     { "k_mean", "0" },        { "corr", "0" },        { "dist", "normal" },
        { "mask", "none" },    { "variant", "softmax" }, { "dtype", "f64" },     { "samples", "10000" },
        { "bins", "50" },      { "seed", "42" },         { "head", "0" },        { "layer", "0" },
    };
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    assert_int_equal(av_params_check(&p, false, &e), AV_OK);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const struct av_param *row = av_param_find(want[i].name);
        assert_non_null(row);
        struct av_str text = AV_STR_INIT;
        av_param_format(row, &p, &text);
        assert_string_equal(av_str_text(&text), want[i].value);
        av_str_free(&text);
    }
}

static void text_round_trips_to_the_bit(void **state)
{
    (void)state;
    static const char *const assignments[] = {
        "d_k=4096",
        "temperature=0.1",
        "temperature=33.333333333333336",
        "offset=-123456.789",
        "exponent=0.3",
        "scale=off",
        "dist=laplace",
        "mask=causal",
        "seed=18446744073709551615",
        "corr=-0.7071067811865476",
        "logits=1,0.5,-0.5",
        "logits=1e30,-1e-300,0.1",
    };
    for (size_t i = 0; i < sizeof assignments / sizeof assignments[0]; i++) {
        struct av_params p = with(assignments[i]);
        char name[32];
        size_t len = strcspn(assignments[i], "=");
        memcpy(name, assignments[i], len);
        name[len] = '\0';
        struct av_str text = AV_STR_INIT;
        av_str_addf(&text, "%s=", name);
        av_param_format(av_param_find(name), &p, &text);
        struct av_params back = with(text.text);
        assert_memory_equal(&p, &back, sizeof p);
        av_str_free(&text);
    }
}

static void bad_values_are_named_with_their_range(void **state)
{
    (void)state;
    refused("d_k=0", "d_k", "0", "1 .. 4096");
    refused("d_k=4097", "d_k", "4097", "1 .. 4096");
    refused("d_k=64.0", "d_k", "64.0", "whole");
    refused("d_k=6e1", "d_k", "6e1", "whole");
    refused("d_k=", "d_k", "=", "whole");
    refused("d_k= 64", "d_k", " 64", "whole");
    refused("d_k=99999999999999999999", "d_k", "out of range", "4096");
    refused("temperature=0", "temperature", "0", "0.01 .. 100");
    refused("temperature=nan", "temperature", "nan", "0.01");
    refused("temperature=inf", "temperature", "inf", "0.01 .. 100");
    refused("temperature=1x", "temperature", "1x", "number");
    refused("offset=1000001", "offset", "1000001", "-1000000 .. 1000000");
    refused("scale=maybe", "scale", "maybe", "off on");
    refused("dist=cauchy", "dist", "cauchy", "normal uniform rademacher laplace");
    refused("seed=-1", "seed", "-1", "18446744073709551615");
    refused("seed=18446744073709551616", "seed", "18446744073709551616", "range");
    refused("key=32", "key", "32", "0 .. 31");
    refused("query=32", "query", "32", "0 .. 31");
    refused("wrong=1", "wrong", "unknown", "list params");
    refused("d_k", "d_k", "NAME=VALUE", "");
    refused("logits=", "logits", "empty", "");
    refused("logits=1,two,3", "logits", "number 2", "two");
    refused("logits=1,,3", "logits", "number 2", "''");
    refused("logits=1,2,", "logits", "number 3", "''");
    refused("logits=1,inf", "logits", "number 2", "inf");
    refused("logits=nan", "logits", "number 1", "nan");
}

static void long_lists_of_logits_are_refused(void **state)
{
    (void)state;
    struct av_str text = AV_STR_INIT;
    av_str_add(&text, "logits=0");
    for (int i = 1; i < AV_LOGITS_MAX; i++) {
        av_str_add(&text, ",0");
    }
    struct av_params p = with(text.text);
    assert_int_equal(p.logits.n, AV_LOGITS_MAX);
    av_str_add(&text, ",0");
    refused(text.text, "logits", "2049", "2048");
    av_str_free(&text);
}

static void ranges_hold_after_all_is_set(void **state)
{
    (void)state;
    struct av_params p = with("query=99");
    struct av_error e;
    assert_int_equal(av_params_check(&p, false, &e), AV_USAGE);
    assert_int_equal(av_params_set_text(&p, "n_q=100", &e), AV_OK);
    assert_int_equal(av_params_check(&p, false, &e), AV_OK);
    p.n_q = 100000; /* as a file may have */
    assert_int_equal(av_params_check(&p, false, &e), AV_USAGE);
    assert_int_equal(av_params_check(&p, true, &e), AV_OK);
    p.n_q = 10;
    av_params_clamp(&p);
    assert_int_equal(p.query, 9);
}

static void steps_stay_in_range_and_come_back(void **state)
{
    (void)state;
    size_t count;
    const struct av_param *table = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_param *row = &table[i];
        for (enum av_grain grain = 0; grain < AV_GRAIN_COUNT; grain++) {
            struct av_params p;
            struct av_error e;
            av_params_default(&p);
            double start = av_param_get(row, &p);
            av_param_step(row, &p, 1, grain);
            bool ended = av_param_get(row, &p) >= row->max && row->kind != AV_PARAM_CHOICE;
            av_param_step(row, &p, -1, grain);
            if (!ended && row->kind != AV_PARAM_SEED && fabs(av_param_get(row, &p) - start) > 1e-12 &&
                start > row->min) {
                fail_msg("%s: %g becomes %g", row->name, start, av_param_get(row, &p));
            }
            for (int n = 0; n < 3000; n++) {
                av_param_step(row, &p, n % 7 == 0 ? -1 : 1, grain);
                assert_int_equal(av_params_check(&p, false, &e), AV_OK);
            }
            for (int n = 0; n < 3000; n++) {
                av_param_step(row, &p, -1, grain);
                assert_int_equal(av_params_check(&p, false, &e), AV_OK);
            }
        }
    }
}

static void steps_have_the_size_that_is_sensible(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double from;
        int count;
        enum av_grain grain;
        double to;
    } cases[] = {
        { "d_k", 64, 1, AV_GRAIN_STEP, 128 },
        { "d_k", 128, -9, AV_GRAIN_STEP, 1 },
        { "d_k", 64, 1, AV_GRAIN_FINE, 65 },
        { "d_k", 64, 1, AV_GRAIN_COARSE, 512 },
        { "temperature", 1, 1, AV_GRAIN_STEP, 1.05 },
        { "temperature", 1.05, -1, AV_GRAIN_STEP, 1 },
        { "temperature", 1, 1, AV_GRAIN_FINE, 1.01 },
        { "temperature", 1, 1, AV_GRAIN_COARSE, 1.629 },
        { "offset", 0, 12, AV_GRAIN_STEP, 12 },
        { "offset", 100, 1, AV_GRAIN_STEP, 110 },
        { "offset", 0, 3, AV_GRAIN_FINE, 0.3 },
        { "offset", -1, -1, AV_GRAIN_COARSE, -11 },
        { "exponent", 0.1, 1, AV_GRAIN_STEP, 0.15 },
        { "exponent", 0.5, 1, AV_GRAIN_FINE, 0.51 },
        { "key", 3, 1, AV_GRAIN_FINE, 4 },
        { "key", 3, 1, AV_GRAIN_COARSE, 13 },
        { "bins", 50, 1, AV_GRAIN_STEP, 55 },
        { "bins", 50, 1, AV_GRAIN_FINE, 51 },
        { "q_std", 0.2, 1, AV_GRAIN_STEP, 0.3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_params p;
        const struct av_param *row = av_param_find(cases[i].name);
        av_params_default(&p);
        av_param_set(row, &p, cases[i].from);
        av_param_step(row, &p, cases[i].count, cases[i].grain);
        double got = av_param_get(row, &p);
        if (memcmp(&got, &cases[i].to, sizeof got) != 0) {
            fail_msg("%s from %g: %.17g, not %.17g", cases[i].name, cases[i].from, got, cases[i].to);
        }
    }
}

static void staleness_starts_at_the_first_stage_concerned(void **state)
{
    (void)state;
    static const struct {
        const char *assignment;
        enum av_stage stale;
    } cases[] = {
        { "seed=43", AV_STAGE_SAMPLE },       { "d_k=65", AV_STAGE_SAMPLE },   { "corr=0.5", AV_STAGE_SAMPLE },
        { "mask=causal", AV_STAGE_MOMENTS },  { "bins=60", AV_STAGE_COUNT },   { "scale=off", AV_STAGE_LOGITS },
        { "temperature=2", AV_STAGE_LOGITS }, { "offset=9", AV_STAGE_LOGITS }, { "key_offset=1", AV_STAGE_LOGITS },
        { "key=3", AV_STAGE_COUNT },          { "query=3", AV_STAGE_COUNT },   { "samples=200", AV_STAGE_COUNT },
    };
    struct av_params base;
    av_params_default(&base);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_params p = with(cases[i].assignment);
        assert_int_equal(av_params_stale(&base, &p), cases[i].stale);
        assert_int_equal(av_params_stale(&p, &p), AV_STAGE_COUNT);
    }
    struct av_params a = with("key_offset=1");
    struct av_params b = a;
    b.key = 3; /* now it matters which key is probed */
    assert_int_equal(av_params_stale(&a, &b), AV_STAGE_LOGITS);
}

static void alpha_is_a_power_of_d_k(void **state)
{
    (void)state;
    struct av_params p;
    av_params_default(&p);
    assert_float_equal(av_params_alpha(&p), 0.125, 1e-16);
    p.exponent = 1;
    assert_float_equal(av_params_alpha(&p), 1.0 / 64, 1e-16);
    p.scale = 0;
    assert_true(av_params_alpha(&p) == 1.0);
}

static void short_text_is_for_the_eye(void **state)
{
    (void)state;
    static const char *const expected[][3] = {
        { "temperature", "1.23456789", "1.23457" },
        { "offset", "-1e6", "-1e+06" },
        { "d_k", "4096", "4096" },
        { "dist", "rademacher", "rademacher" },
        { "seed", "18446744073709551615", "18446744073709551615" },
        { "logits", "1,-2.5,3", "3 given" },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct av_params p;
        struct av_error e;
        char text[AV_PARAM_SHORT_MAX];
        av_params_default(&p);
        const struct av_param *row = av_param_find(expected[i][0]);
        assert_int_equal(av_param_parse(row, &p, expected[i][1], &e), AV_OK);
        assert_string_equal(av_param_format_short(row, &p, text), expected[i][2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_text_is_for_the_eye),
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(text_round_trips_to_the_bit),
        cmocka_unit_test(bad_values_are_named_with_their_range),
        cmocka_unit_test(long_lists_of_logits_are_refused),
        cmocka_unit_test(ranges_hold_after_all_is_set),
        cmocka_unit_test(steps_stay_in_range_and_come_back),
        cmocka_unit_test(steps_have_the_size_that_is_sensible),
        cmocka_unit_test(staleness_starts_at_the_first_stage_concerned),
        cmocka_unit_test(alpha_is_a_power_of_d_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
