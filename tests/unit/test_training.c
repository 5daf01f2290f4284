/* test_training.c - what the study "training" records of the twin runs. */
#include "../../src/model/train_tasks.h"
#include "training_driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Four steps an epoch. */
#define SMALL "d_model=16 d_k=8 seq_len=5 batch=4 sequences=13 lr=0.01 task=average "

static const struct av_train_record *epoch(const struct av_training *t, enum av_twin twin, size_t number)
{
    return av_training_record(t, AV_TRAINING_EPOCHS, twin, number);
}

/* ---- The same bits as without a study ---------------------------------------------- */

static const char *const kinds[] = {
    SMALL "epochs=40",
    SMALL "epochs=40 task=reconstruct learn_scale=on",
    SMALL "epochs=40 task=recall optimizer=sgd clip=0.1 fresh=off",
    SMALL "epochs=40 task=copy_previous layer_norm=on runs=off",
};

static void assert_is_of(const struct av_training *t, const struct av_train *alone)
{
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_train_run *run = av_train_run(alone, twin);
        const struct av_training_run *r = &t->runs[twin];
        assert_int_equal(r->state, run->state);
        assert_int_equal(r->steps, run->steps);
        assert_int_equal(r->ended[AV_TRAINING_EPOCHS], run->epoch_count);
        assert_int_equal(r->curves[AV_TRAINING_EPOCHS].count, run->epoch_count);
        assert_int_equal(r->curves[AV_TRAINING_STEPS].count, run->first_count);
        if (run->first_count > 0) {
            assert_memory_equal(r->curves[AV_TRAINING_EPOCHS].at, run->epochs, run->epoch_count * sizeof *run->epochs);
            assert_memory_equal(r->curves[AV_TRAINING_STEPS].at, run->first, run->first_count * sizeof *run->first);
        }
    }
}

static void assert_weights_are_of(const struct av_training *t, struct av_train *alone)
{
    float weights[5 * 5];
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        if (t->runs[twin].asked) {
            size_t of = 0;
            const float *shown = av_training_weights(t, AV_TRAINING_EPOCHS, twin, 0, &of);
            av_train_weights(alone, twin, weights);
            assert_non_null(shown);
            assert_int_equal(of, t->steps);
            assert_memory_equal(shown, weights, sizeof weights);
        }
    }
}

static void records_are_those_of_training_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct av_train *alone = trained(kinds[i], NULL);
        void *study = opened();
        const struct av_training *t = finished(study, kinds[i]);
        assert_is_of(t, alone);
        assert_weights_are_of(t, alone);
        assert_int_equal(t->steps, 160);
        assert_true(t->over);
        training()->close(study);
        av_train_free(alone);
    }
}

/* Several studies in turn, a unit of each at a time. */
static void slices_do_not_matter(void **state)
{
    (void)state;
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    void *studies[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        studies[i] = opened();
        assert_int_equal(begin(studies[i], kinds[i]), AV_OK);
    }
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < KINDS; i++) {
            more = training()->step(studies[i]) || more;
        }
    }
    for (size_t i = 0; i < KINDS; i++) {
        struct av_train *alone = trained(kinds[i], NULL);
        assert_is_of(result_of(studies[i]), alone);
        assert_weights_are_of(result_of(studies[i]), alone);
        training()->close(studies[i]);
        av_train_free(alone);
    }
}

static void a_step_is_one_of_each_run(void **state)
{
    (void)state;
    void *study = opened();
    const struct av_training *t = result_of(study);
    assert_int_equal(begin(study, SMALL "epochs=2"), AV_OK);
    assert_true(training()->progress(study) == 0);
    for (size_t i = 1; i <= 8; i++) {
        steps(study, 1);
        assert_int_equal(t->runs[AV_TWIN_SCALED].steps, i);
        assert_int_equal(t->runs[AV_TWIN_UNSCALED].steps, i);
        assert_true(training()->progress(study) == (double)i / 8);
    }
    assert_false(training()->step(study));
    training()->close(study);
}

/* ---- Weights over time ---------------------------------------------------------------- */

/* After every epoch, and as every step found them. */
static void every_moment_has_its_weights(void **state)
{
    (void)state;
    static const char settings[] = SMALL "epochs=6";
    void *study = opened();
    const struct av_training *t = finished(study, settings);
    struct av_train *alone = train_of(settings, NULL);
    float weights[5 * 5];
    size_t of = 0;
    for (size_t done = 0; done < 24; done++) {
        av_train_weights(alone, AV_TWIN_UNSCALED, weights);
        const float *found = av_training_weights(t, AV_TRAINING_STEPS, AV_TWIN_UNSCALED, done + 1, &of);
        assert_memory_equal(found, weights, sizeof weights);
        assert_int_equal(of, done + 1);
        if (done > 0 && done % 4 == 0) {
            const float *after = av_training_weights(t, AV_TRAINING_EPOCHS, AV_TWIN_UNSCALED, done / 4, &of);
            assert_memory_equal(after, weights, sizeof weights);
            assert_int_equal(of, done / 4);
        }
        assert_true(av_train_step(alone));
    }
    training()->close(study);
    av_train_free(alone);
}

static void a_long_history_is_thinned(void **state)
{
    (void)state;
    static const char settings[] = "d_model=2 d_k=1 seq_len=2 batch=1 sequences=1 epochs=2500 task=average";
    void *study = opened();
    const struct av_training *t = finished(study, settings);
    struct av_train *alone = trained(settings, NULL);
    const struct av_training_curve *curve = &t->runs[0].curves[AV_TRAINING_EPOCHS];
    size_t of = 0;
    assert_int_equal(curve->stride, 4);
    assert_int_equal(curve->count, 2500 / 4);
    for (size_t number = 4; number <= 2500; number += 4) {
        assert_memory_equal(epoch(t, 0, number), &av_train_run(alone, 0)->epochs[number - 1], sizeof *curve->at);
    }
    assert_null(epoch(t, 0, 2498));
    assert_memory_equal(epoch(t, 0, 0), &av_train_run(alone, 0)->epochs[2499], sizeof *curve->at);
    assert_int_equal(t->moments[AV_TRAINING_EPOCHS].stride, 8);
    assert_int_equal(t->moments[AV_TRAINING_EPOCHS].count, 2500 / 8);
    assert_non_null(av_training_weights(t, AV_TRAINING_EPOCHS, 0, 1999, &of));
    assert_int_equal(of, 1992);
    assert_null(av_training_weights(t, AV_TRAINING_EPOCHS, 0, 7, &of));
    training()->close(study);
    av_train_free(alone);
}

/* Of two matrices of 1024 x 1024 the limit holds four pairs: one is the look
 * at the present, one moment remains for each series. */
static void large_weights_keep_to_the_limit(void **state)
{
    (void)state;
    void *study = opened();
    assert_int_equal(begin(study, "d_model=1 d_k=1 seq_len=1024 batch=1 sequences=1 task=average"), AV_OK);
    const struct av_training *t = result_of(study);
    size_t moments = 1 + t->moments[0].capacity + t->moments[1].capacity;
    assert_int_equal(t->moments[0].capacity, 1);
    assert_true(moments * AV_TWINS * 1024 * 1024 * sizeof(float) <= AV_TRAINING_BYTES_MAX);
    steps(study, 3);
    size_t of = 0;
    assert_non_null(av_training_weights(t, AV_TRAINING_EPOCHS, 0, 3, &of));
    assert_int_equal(of, 2);
    assert_non_null(av_training_weights(t, AV_TRAINING_EPOCHS, 0, 0, &of));
    assert_int_equal(of, 3);
    training()->close(study);
}

/* ---- Alarms ------------------------------------------------------------------------------ */

static void alarms_fire_where_their_limits_are_passed(void **state)
{
    (void)state;
    void *study = opened();
    const struct av_training *t = finished(study, "d_model=32 d_k=256 init=unit epochs=30 batch=8 sequences=16 seed=3");
    bool seen[AV_TRAINING_ALARMS] = { false };
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        for (int series = 0; series < AV_TRAINING_SERIES; series++) {
            const struct av_training_curve *c = &t->runs[twin].curves[series];
            size_t count[AV_TRAINING_ALARMS] = { 0 }, first[AV_TRAINING_ALARMS] = { 0 },
                   last[AV_TRAINING_ALARMS] = { 0 };
            for (size_t i = 0; i < c->count; i++) {
                const double grad = c->at[i].at[AV_TRAIN_GRAD_QK_NORM];
                const bool fires[] = { c->at[i].at[AV_TRAIN_MAX_WEIGHT] > 0.9, grad<0.001, grad> 0.1 };
                for (int k = 0; k < AV_TRAINING_ALARMS; k++) {
                    count[k] += fires[k];
                    first[k] = fires[k] && first[k] == 0 ? i + 1 : first[k];
                    last[k] = fires[k] ? i + 1 : last[k];
                    seen[k] = seen[k] || fires[k];
                }
            }
            for (int k = 0; k < AV_TRAINING_ALARMS; k++) {
                assert_int_equal(t->runs[twin].fired[series][k].count, count[k]);
                assert_int_equal(t->runs[twin].fired[series][k].first, first[k]);
                assert_int_equal(t->runs[twin].fired[series][k].last, last[k]);
            }
        }
    }
    assert_true(seen[AV_TRAINING_LARGEST] && seen[AV_TRAINING_HIGH]);
    training()->close(study);
}

/* ---- Ghosts --------------------------------------------------------------------------------- */

static void the_experiment_before_is_kept(void **state)
{
    (void)state;
    static const char first[] = SMALL "epochs=10", second[] = SMALL "epochs=10 lr=0.02";
    void *study = opened();
    const struct av_training *t = finished(study, first);
    assert_false(t->ghost.on);
    assert_int_equal(begin(study, second), AV_OK);
    struct av_train *alone = trained(first, NULL);
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_training_curve *c = t->ghost.curves[twin];
        assert_int_equal(c[AV_TRAINING_EPOCHS].count, 10);
        assert_int_equal(c[AV_TRAINING_STEPS].count, 40);
        assert_memory_equal(c[AV_TRAINING_EPOCHS].at, av_train_run(alone, twin)->epochs, 10 * sizeof *c->at);
        assert_memory_equal(c[AV_TRAINING_STEPS].at, av_train_run(alone, twin)->first, 40 * sizeof *c->at);
    }
    assert_true(t->ghost.on && t->ghost.params.lr == 0.01);
    av_train_free(alone);

    steps(study, 3); /* of 40: given up too early */
    assert_int_equal(begin(study, SMALL "epochs=10 lr=0.03"), AV_OK);
    assert_true(t->ghost.params.lr == 0.01);
    steps(study, 4);
    assert_int_equal(begin(study, first), AV_OK);
    assert_true(t->ghost.params.lr == 0.03);
    assert_int_equal(t->ghost.curves[0][AV_TRAINING_EPOCHS].count, 1);
    training()->close(study);
}

static void what_is_refused_leaves_the_ghost(void **state)
{
    (void)state;
    void *study = opened();
    const struct av_training *t = finished(study, SMALL "epochs=3");
    assert_int_equal(begin(study, SMALL "task=recall seq_len=1"), AV_USAGE);
    assert_int_equal(begin(study, "d_k=4096 d_model=4096"), AV_USAGE);
    assert_int_equal(begin(study, SMALL "epochs=3"), AV_OK);
    assert_true(t->ghost.on);
    assert_int_equal(t->ghost.curves[0][AV_TRAINING_EPOCHS].count, 3);
    assert_int_equal(t->steps, 0);
    finish(study);
    /* The same parameters, the same curve. */
    assert_memory_equal(t->ghost.curves[1][0].at, t->runs[1].curves[0].at, 3 * sizeof *t->runs[1].curves[0].at);
    training()->close(study);
}

/* ---- Divergence ------------------------------------------------------------------------------- */

static void what_diverges_names_the_step(void **state)
{
    (void)state;
    static const char settings[] = SMALL "epochs=20 lr=1e6 optimizer=sgd";
    void *study = opened();
    const struct av_training *t = finished(study, settings);
    struct av_train *alone = trained(settings, NULL);
    struct av_training_finding lines[AV_TRAINING_FINDINGS];
    assert_is_of(t, alone);
    assert_true(t->runs[0].state == AV_TRAIN_DIVERGED && t->runs[1].state == AV_TRAIN_DIVERGED);
    assert_true(t->runs[0].steps > 0);
    assert_true(training()->progress(study) == 1);
    assert_true(av_training_findings(t, lines) >= 2);
    char step[64];
    snprintf(step, sizeof step, "scaled diverged at step %d", (int)t->runs[0].steps + 1);
    assert_non_null(strstr(lines[0].text, step));
    assert_true(lines[0].alarm);
    training()->close(study);
    av_train_free(alone);
}

/* ---- What is said ------------------------------------------------------------------------------- */

static void assert_says(const struct av_training *t, const char *text, bool expected)
{
    struct av_training_finding lines[AV_TRAINING_FINDINGS];
    size_t n = av_training_findings(t, lines);
    bool said = false;
    for (size_t i = 0; i < n; i++) {
        said = said || strstr(lines[i].text, text) != NULL;
    }
    if (said != expected) {
        fail_msg("%s: \"%s\" (first: %s)", expected ? "not said" : "said", text, n > 0 ? lines[0].text : "-");
    }
}

static void before_the_first_epoch_nothing_is_said(void **state)
{
    (void)state;
    struct av_training_finding lines[AV_TRAINING_FINDINGS];
    void *study = opened();
    assert_int_equal(begin(study, SMALL), AV_OK);
    steps(study, 3);
    assert_int_equal(av_training_findings(result_of(study), lines), 0);
    training()->close(study);
}

/* Records made by hand: rules alone. */
static void losses_are_compared_by_rule(void **state)
{
    (void)state;
    static const struct {
        double scaled, unscaled;
        const char *text;
    } cases[] = {
        { 0.4259, 0.4260, "at the end: the same loss within 1%, scaled 0.4259, unscaled 0.426" },
        { 0.10, 0.15, "loss scaled 0.1, unscaled 0.15: unscaled is 50% higher" },
        { 0.03, 0.01, "loss scaled 0.03, unscaled 0.01: scaled is 3.0 times as high" },
        { 1.234e-6, 0.3, "unscaled 0.3: unscaled is 240000 times as high" },
        { 0, 0.5, "at the end: loss scaled 0, unscaled 0.5" },
    };
    struct av_training *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->config.epochs = 1;
    t->zero_loss = 0.5;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            t->runs[twin].asked = true;
            t->runs[twin].ended[AV_TRAINING_EPOCHS] = 1;
            t->runs[twin].latest[AV_TRAINING_EPOCHS].at[AV_TRAIN_LOSS] =
                twin == AV_TWIN_SCALED ? cases[i].scaled : cases[i].unscaled;
        }
        assert_says(t, cases[i].text, true);
        assert_says(t, "unscaled ends within 10% of what an output of 0 costs: loss 0.5, 0 has 0.5", i == 4);
        assert_says(t, "largest weight above 0.9: scaled in 0 of 1, unscaled in 0 of 1 epochs", true);
    }
    free(t);
}

/* An epoch of each run, made by hand. */
static struct av_training *made(struct av_train_record records[AV_TWINS])
{
    struct av_training *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->config = (struct av_train_config){ .epochs = 1, .learn_scale = true, .alpha = { 0.5, 1 } };
    t->zero_loss = 1;
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        records[twin].at[AV_TRAIN_ALPHA] = 0.5;
        records[twin].at[AV_TRAIN_LOSS] = 0.6;
        t->runs[twin].asked = true;
        t->runs[twin].ended[AV_TRAINING_EPOCHS] = 1;
        t->runs[twin].curves[AV_TRAINING_EPOCHS] = (struct av_training_curve){ 1, 1, &records[twin] };
        t->runs[twin].latest[AV_TRAINING_EPOCHS] = records[twin];
    }
    return t;
}

static void a_crossing_of_alpha_is_told(void **state)
{
    (void)state;
    struct av_train_record records[AV_TWINS];
    struct av_training *t = made(records);
    assert_says(t, "alpha crosses", false);
    records[AV_TWIN_UNSCALED].at[AV_TRAIN_ALPHA] = -0.1;
    assert_says(t, "alpha crosses 0: unscaled in epoch 1", true);
    records[AV_TWIN_SCALED].at[AV_TRAIN_ALPHA] = 0;
    assert_says(t, "alpha crosses 0: scaled in epoch 1, unscaled in epoch 1", true);
    t->config.learn_scale = false;
    assert_says(t, "alpha crosses", false);
    free(t);
}

static void a_gradient_alarm_is_weighed(void **state)
{
    (void)state;
    struct av_train_record records[AV_TWINS];
    struct av_training *t = made(records);
    struct av_training_run *scaled = &t->runs[AV_TWIN_SCALED], *unscaled = &t->runs[AV_TWIN_UNSCALED];
    assert_says(t, "gradient alarm", false);
    scaled->fired[AV_TRAINING_EPOCHS][AV_TRAINING_LOW].count = 1;
    assert_says(t, "gradient alarm: scaled in 1 of 1, unscaled in 0 of 1 epochs", true);
    assert_says(t, "yet", false); /* a loss of 0.6 where 0 has 1 */
    scaled->latest[AV_TRAINING_EPOCHS].at[AV_TRAIN_LOSS] = 0.4;
    unscaled->latest[AV_TRAINING_EPOCHS].at[AV_TRAIN_LOSS] = 0.4;
    assert_says(t, "epochs; yet scaled learns", true);
    unscaled->fired[AV_TRAINING_EPOCHS][AV_TRAINING_HIGH].count = 1;
    assert_says(t, "unscaled in 1 of 1 epochs; yet both learn", true);
    t->config.epochs = 2; /* not yet at the end */
    assert_says(t, "yet", false);
    free(t);
}

/* The mean square of the entries that count in the loss, over many sequences. */
static double measured_square(const char *settings)
{
    enum { SEQUENCES = 2000 };
    struct av_train_config c;
    struct av_task_source source;
    assert_int_equal(configure(&c, settings, NULL), AV_OK);
    assert_int_equal(av_task_source_new(&source, &c, av_kernels_best(), NULL), AV_OK);
    const size_t size = c.seq_len * c.d_model, first = av_task_first(&c) * c.d_model;
    float *x = calloc(size, sizeof *x), *target = calloc(size, sizeof *target);
    assert_true(x != NULL && target != NULL);
    double sum = 0;
    for (size_t i = 0; i < SEQUENCES; i++) {
        av_task_draw(&source, 0, i, x, target, c.d_model);
        const float *entries = av_task_is_identity(&c) ? x : target;
        for (size_t k = first; k < size; k++) {
            sum += (double)entries[k] * (double)entries[k];
        }
    }
    free(x);
    free(target);
    av_task_source_free(&source);
    return sum / (double)(SEQUENCES * (size - first));
}

/* At least 10^4 independent entries each: four standard errors are 6%. */
static void the_loss_of_zero_is_that_of_the_target(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double expected; /* by hand */
    } cases[] = {
        { "task=average d_model=16 seq_len=16", 1.0 / 16 },
        { "task=average d_model=16 seq_len=4 input_mean=2 input_std=3", 4 + 9.0 / 4 },
        { "task=reconstruct d_model=16 layer_norm=on input_std=2", 4 },
        { "task=recall d_model=5", 3.0 / 5 },
        { "task=copy_previous d_model=16 input_std=2", 4 },
    };
    void *study = opened();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(begin(study, cases[i].settings), AV_OK);
        assert_true(fabs(result_of(study)->zero_loss - cases[i].expected) < 1e-12);
        assert_true(fabs(measured_square(cases[i].settings) / cases[i].expected - 1) < 0.06);
    }
    training()->close(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_training_alone),
        cmocka_unit_test(slices_do_not_matter),
        cmocka_unit_test(a_step_is_one_of_each_run),
        cmocka_unit_test(every_moment_has_its_weights),
        cmocka_unit_test(a_long_history_is_thinned),
        cmocka_unit_test(large_weights_keep_to_the_limit),
        cmocka_unit_test(alarms_fire_where_their_limits_are_passed),
        cmocka_unit_test(the_experiment_before_is_kept),
        cmocka_unit_test(what_is_refused_leaves_the_ghost),
        cmocka_unit_test(what_diverges_names_the_step),
        cmocka_unit_test(before_the_first_epoch_nothing_is_said),
        cmocka_unit_test(losses_are_compared_by_rule),
        cmocka_unit_test(a_crossing_of_alpha_is_told),
        cmocka_unit_test(a_gradient_alarm_is_weighed),
        cmocka_unit_test(the_loss_of_zero_is_that_of_the_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
