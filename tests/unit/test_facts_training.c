/* test_facts_training.c - claims that are measured by training and by stacks of layers. */
#include "../../src/model/facts_measures.h"
#include "../../src/model/trial.h"
#include "attnviz/study.h"
#include "attnviz/train.h"
#include "sanitized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct av_claim *claim(const char *name)
{
    size_t count;
    const struct av_claim *claims = av_claims(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(claims[i].name, name) == 0) {
            return &claims[i];
        }
    }
    fail_msg("no claim %s", name);
    return NULL;
}

/* A measurement in all its parts; their number goes to *calls. */
static double measured(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, size_t *calls)
{
    double last = 0;
    double value;
    *calls = 0;
    do {
        t->part = 0;
        value = at->measure(t, at, seed);
        ++*calls;
        assert_true(t->part <= 0 || (t->part > last && t->part < 1));
        last = t->part;
    } while (last > 0);
    return value;
}

static struct av_trial *trial(void)
{
    struct av_trial *t = NULL;
    assert_int_equal(av_trial_new(&t, av_kernels_best(), NULL), AV_OK);
    return t;
}

/* ---- What is true ---------------------------------------------------------------- */

/* The verdict, and for every setting the mean over 20 other seeds with four
 * standard deviations of one seed. */
static const struct {
    const char *claim;
    enum av_fact_verdict verdict;
    double value[AV_FACT_SETTINGS], tolerance[AV_FACT_SETTINGS];
} truths[] = {
    { "stall", AV_FACT_WHEN, { 0.00397, 1.379, 4.14, 0.7825 }, { 0.00108, 0.367, 0.245, 0.243 } },
    { "vanish", AV_FACT_WHEN, { 0.9064, 1.248, 0.8453, -1.824 }, { 0.28, 0.417, 0.486, 2.32 } },
    { "same-d_k", AV_FACT_FALSE, { 0.4925, 0.6325, 0.5186 }, { 0.117, 0.474, 0.153 } },
    { "above-64", AV_FACT_FALSE, { 0.02278, 0.01559, -0.00228 }, { 0.00894, 0.0722, 0.0374 } },
    { "deep-scale", AV_FACT_WHEN, { 0.625, 0.7391, 0.2938, 0 }, { 0, 0.0975, 0.0942, 0 } },
    { "clipping", AV_FACT_FALSE, { 0.625, 0.7391, 0.2938 }, { 0, 0.0975, 0.0942 } },
    { "pre-norm", AV_FACT_WHEN, { 0.6291, 2.619, 0.1708, 5.24 }, { 0.429, 0.595, 0.102, 1.35 } },
};

/* With one seed: the verdicts of five follow from what they all are near. */
static void claims_are_judged_rightly(void **state)
{
    (void)state;
    struct av_trial *t = trial();
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof truths / sizeof *truths); i++) {
        struct av_fact f = { .claim = claim(truths[i].claim) };
        for (size_t k = 0; k < av_claim_settings(f.claim); k++) {
            size_t calls;
            const double value = measured(t, &f.claim->settings[k], 42, &calls);
            if (!(fabs(value - truths[i].value[k]) <= truths[i].tolerance[k])) {
                fail_msg("%s, setting %zu: %g", truths[i].claim, k, value);
            }
            f.at[k].done = AV_FACT_SEEDS;
            for (size_t s = 0; s < AV_FACT_SEEDS; s++) {
                f.at[k].values[s] = value;
            }
        }
        av_fact_judge(&f);
        assert_string_equal(av_fact_verdict_name(f.verdict), av_fact_verdict_name(truths[i].verdict));
    }
    av_trial_free(t);
}

/* What the text says to type is what was measured. */
static void the_experiment_is_the_command(void **state)
{
    (void)state;
    struct av_params p;
    char text[AV_FACT_LINE];
    struct av_train_config c;
    struct av_train *train = NULL;
    struct av_trial *t = trial();
    double part = 0;
    av_params_default(&p);
    for (const char *at = claim("above-64")->experiment; (at = strstr(at, "-s ")) != NULL; at += 3) {
        const int length = (int)strcspn(at + 3, " ");
        snprintf(text, sizeof text, "%.*s", length, at + 3);
        const char *set = strcmp(text, "task=TASK") == 0 ? "task=average"
                          : strcmp(text, "d_k=N") == 0   ? "d_k=64"
                                                         : text;
        assert_int_equal(av_params_set_text(&p, set, NULL), AV_OK);
    }
    assert_int_equal(av_train_configure(&c, &p, NULL), AV_OK);
    assert_int_equal(av_train_new(&train, &c, av_kernels_best(), NULL), AV_OK);
    while (av_train_step(train)) {
    }
    const struct av_lesson_outcome *o = NULL;
    while ((o = av_lesson_learn(t->lessons, AV_LESSON_AVERAGE_64, (uint64_t)p.seed, &part)) == NULL) {
    }
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        const struct av_train_run *run = av_train_run(train, i);
        assert_memory_equal(&run->epochs[run->epoch_count - 1].at[AV_TRAIN_LOSS], &o->loss[i], sizeof o->loss[i]);
    }
    av_train_free(train);
    av_trial_free(t);
}

/* ---- Parts ------------------------------------------------------------------------- */

static void what_was_learned_is_remembered(void **state)
{
    (void)state;
    struct av_trial *t = trial();
    const struct av_fact_setting *at = &claim("vanish")->settings[0];
    size_t calls;
    const double first = measured(t, at, 5, &calls);
    assert_true(calls > 10);
    const double again = measured(t, at, 5, &calls);
    assert_int_equal(calls, 1);
    assert_memory_equal(&first, &again, sizeof first);
    const double other = measured(t, at, 6, &calls);
    assert_true(calls > 10);
    assert_memory_not_equal(&first, &other, sizeof first);
    av_trial_free(t);
}

/* A stop in the middle, and another measurement, change nothing. */
static void a_measurement_can_be_dropped(void **state)
{
    (void)state;
    static const char *const names[] = { "vanish", "deep-scale" };
    struct av_trial *whole = trial();
    struct av_trial *broken = trial();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct av_fact_setting *at = &claim(names[i])->settings[0];
        size_t calls;
        const double expected = measured(whole, at, 9, &calls);
        for (int k = 0; k < 2; k++) {
            at->measure(broken, at, 9);
            assert_true(broken->part > 0);
        }
        av_trial_stop(broken);
        assert_true(broken->part <= 0);
        at->measure(broken, at, 10);
        av_trial_stop(broken);
        const double value = measured(broken, at, 9, &calls);
        assert_memory_equal(&value, &expected, sizeof value);
    }
    av_trial_free(whole);
    av_trial_free(broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_judged_rightly),
        cmocka_unit_test(the_experiment_is_the_command),
        cmocka_unit_test(what_was_learned_is_remembered),
        cmocka_unit_test(a_measurement_can_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
