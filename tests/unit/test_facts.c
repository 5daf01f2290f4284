/* test_facts.c - the table of claims, and the rule that makes verdicts. */
#include "attnviz/facts.h"

#include "../../src/model/trial.h"

#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- The table ------------------------------------------------------------------ */

static void assert_printable(const char *text, size_t most)
{
    assert_true(text[0] != '\0' && strlen(text) <= most);
    for (; *text != '\0'; text++) {
        assert_true(*text >= ' ' && *text < 0x7F);
    }
}

static void the_table_is_whole(void **state)
{
    (void)state;
    size_t count;
    const struct av_claim *claims = av_claims(&count);
    assert_true(count >= 20);
    for (size_t i = 0; i < count; i++) {
        const struct av_claim *c = &claims[i];
        char rule[AV_FACT_LINE];
        assert_printable(c->name, 16);
        assert_printable(c->text, AV_CLAIM_MOST);
        assert_printable(c->experiment, 180);
        assert_printable(c->truth, 100);
        assert_printable(av_claim_rule(c, rule), 100);
        assert_true(c->lo <= c->hi);
        size_t settings = av_claim_settings(c);
        assert_true(settings >= 2); /* one where it holds, one where it may not */
        for (const char *at = strchr(c->truth, '{'); at != NULL; at = strchr(at + 1, '{')) {
            assert_true(at[1] >= '1' && (size_t)(at[1] - '1') < settings && at[2] == '}');
        }
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(claims[k].name, c->name);
            assert_string_not_equal(claims[k].text, c->text);
        }
    }
}

static void settings_fit_into_a_trial(void **state)
{
    (void)state;
    size_t count;
    const struct av_claim *claims = av_claims(&count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < av_claim_settings(&claims[i]); k++) {
            const struct av_fact_setting *at = &claims[i].settings[k];
            size_t d_k = at->d_k > 1024 ? at->d_k : 1024; /* some measures take others up to this */
            assert_printable(at->label, 26);
            assert_non_null(at->measure);
            assert_in_range(at->n_q, 1, AV_TRIAL_ROWS);
            assert_in_range(at->n_k, 2, AV_TRIAL_KEYS);
            assert_in_range(at->d_k, 1, AV_DIM_MAX);
            assert_in_range(at->n_q * at->n_k, 1, AV_TRIAL_SCORES);
            assert_in_range(at->n_q * d_k, 1, AV_TRIAL_ENTRIES);
            assert_in_range(at->n_k * d_k, 1, AV_TRIAL_ENTRIES);
        }
    }
}

/* ---- The rule ---------------------------------------------------------------------- */

static const struct av_claim made_up = {
    .name = "made-up",
    .text = "x is 2 to 3",
    .quantity = "x",
    .unit = "apples",
    .lo = 2,
    .hi = 3,
    .truth = "{2} and {1}",
    .settings = { { .label = "a" }, { .label = "b" }, { .label = "c" } },
};

static void set_all(struct av_fact *f, size_t setting, double value)
{
    f->at[setting].done = AV_FACT_SEEDS;
    for (size_t i = 0; i < AV_FACT_SEEDS; i++) {
        f->at[setting].values[i] = value;
    }
}

static void verdicts_follow_the_measurements(void **state)
{
    (void)state;
    static const struct {
        double values[3];
        enum av_fact_verdict verdict;
        size_t decisive;
        const char *condition;
    } table[] = {
        { { 2, 2.5, 3 }, AV_FACT_HOLDS, 0, "" },
        { { 1.9, 3.1, -2.5 }, AV_FACT_FALSE, 0, "" },
        { { 2, 4, 3 }, AV_FACT_WHEN, 1, "a or c; not when b" },
        { { 1, 4, 3 }, AV_FACT_WHEN, 0, "c; not when a or b" },
        { { (double)NAN, 2, 2 }, AV_FACT_WHEN, 0, "b or c; not when a" },
        { { (double)INFINITY, (double)NAN, -(double)INFINITY }, AV_FACT_FALSE, 0, "" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct av_fact f = { .claim = &made_up };
        for (size_t k = 0; k < 3; k++) {
            av_fact_judge(&f);
            assert_int_equal(f.verdict, AV_FACT_OPEN);
            assert_string_equal(f.truth, "");
            set_all(&f, k, table[i].values[k]);
        }
        av_fact_judge(&f);
        assert_int_equal(f.verdict, table[i].verdict);
        assert_int_equal(av_fact_decisive(&f), table[i].decisive);
        assert_string_equal(f.condition, table[i].condition);
    }
}

/* A value inside a claim's range, and one outside. */
static double inside(const struct av_claim *c)
{
    return isinf(c->lo) ? c->hi - 1 : c->lo;
}

static double outside(const struct av_claim *c)
{
    return isinf(c->hi) ? c->lo - 1 : c->hi + 1;
}

static void every_verdict_flips(void **state)
{
    (void)state;
    size_t count;
    const struct av_claim *claims = av_claims(&count);
    for (size_t i = 0; i < count; i++) {
        struct av_fact f = { .claim = &claims[i] };
        size_t settings = av_claim_settings(f.claim);
        for (size_t agreeing = 0; agreeing <= settings; agreeing++) {
            for (size_t k = 0; k < settings; k++) {
                set_all(&f, k, k < agreeing ? inside(f.claim) : outside(f.claim));
            }
            av_fact_judge(&f);
            assert_int_equal(f.verdict, agreeing == settings ? AV_FACT_HOLDS
                                        : agreeing > 0       ? AV_FACT_WHEN
                                                             : AV_FACT_FALSE);
            assert_int_equal(f.condition[0] != '\0', f.verdict == AV_FACT_WHEN);
        }
    }
}

static void seeds_are_summed_up(void **state)
{
    (void)state;
    struct av_fact f = { .claim = &made_up };
    char text[AV_FACT_LINE];
    static const double values[AV_FACT_SEEDS] = { 1, 2, 3, 4, 2.5 };
    assert_string_equal(av_fact_value(text, &f.at[0]), "not measured");
    memcpy(f.at[0].values, values, sizeof values);
    f.at[0].done = 1;
    av_fact_judge(&f);
    assert_string_equal(av_fact_value(text, &f.at[0]), "1");
    f.at[0].done = AV_FACT_SEEDS;
    set_all(&f, 1, 1.23456e-9);
    set_all(&f, 2, 0);
    av_fact_judge(&f);
    assert_true(fabs(f.at[0].mean - 2.5) < 1e-15);
    assert_true(fabs(f.at[0].sd - sqrt(5.0 / 4)) < 1e-15);
    assert_true(f.at[0].min <= 1 && f.at[0].min >= 1 && f.at[0].max >= 4 && f.at[0].max <= 4);
    assert_string_equal(av_fact_value(text, &f.at[0]), "2.5 +- 1.1");
    assert_string_equal(f.truth, "1.235e-9 and 2.5"); /* four digits of what has no spread */
    f.at[0].values[3] = (double)NAN;
    av_fact_judge(&f);
    assert_true(isnan(f.at[0].mean) && isnan(f.at[0].sd) && isnan(f.at[0].min) && isnan(f.at[0].max));
    assert_false(f.at[0].agrees);
    assert_string_equal(av_fact_value(text, &f.at[0]), "NaN");
}

static void rules_are_said_in_words(void **state)
{
    (void)state;
    static const struct {
        double lo, hi;
        const char *text;
    } table[] = {
        { 2, 3, "x: 2 to 3 apples" },
        { 0, 0, "x: exactly 0 apples" },
        { -(double)INFINITY, 1e-9, "x: at most 1e-9 apples" },
        { -1.5, (double)INFINITY, "x: at least -1.5 apples" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct av_claim c = made_up;
        char rule[AV_FACT_LINE];
        c.lo = table[i].lo;
        c.hi = table[i].hi;
        assert_string_equal(av_claim_rule(&c, rule), table[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(settings_fit_into_a_trial),
        cmocka_unit_test(verdicts_follow_the_measurements),
        cmocka_unit_test(every_verdict_flips),
        cmocka_unit_test(seeds_are_summed_up),
        cmocka_unit_test(rules_are_said_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
