/* test_train.c - the training experiment: twins, slices, edges, and how it ends. */
#include "sanitized.h"
#include "train_driver.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL "d_model=16 d_k=8 seq_len=5 batch=4 sequences=10 epochs=6 lr=0.01 "

static void assert_same_curves(const struct av_train_run *a, const struct av_train_run *b)
{
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->epoch_count, b->epoch_count);
    assert_int_equal(a->first_count, b->first_count);
    assert_memory_equal(a->epochs, b->epochs, a->epoch_count * sizeof *a->epochs);
    assert_memory_equal(a->first, b->first, a->first_count * sizeof *a->first);
}

/* ---- A seed gives one curve --------------------------------------------------- */

static const char *const kinds[] = {
    SMALL "task=reconstruct",
    SMALL "task=average learn_scale=on",
    SMALL "task=recall optimizer=sgd clip=0.1 fresh=off",
    SMALL "task=copy_previous layer_norm=on init=unit",
    SMALL "task=average variant=ssmax+sink+sigma_reparam learn_scale=on init=unit",
    SMALL "task=recall variant=qk_clip qk_clip.tau=0.5 init=unit",
    SMALL "variant=qk_layernorm+differential+window window.size=3",
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Steps of several experiments taken in turn, with looks at weights and
 * matrices between them. */
static void slices_do_not_matter(void **state)
{
    (void)state;
    struct av_train *whole[KINDS], *sliced[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        whole[i] = trained(kinds[i], NULL);
        sliced[i] = train_of(kinds[i], NULL);
    }
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < KINDS; i++) {
            float weights[5 * 5], matrix[16 * 8];
            av_train_weights(sliced[i], AV_TWIN_SCALED, weights);
            more = av_train_step(sliced[i]) || more;
            av_train_weights(sliced[i], AV_TWIN_UNSCALED, weights);
            av_train_matrix(sliced[i], AV_TWIN_SCALED, 3, matrix);
        }
    }
    for (size_t i = 0; i < KINDS; i++) {
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            assert_same_curves(av_train_run(sliced[i], twin), av_train_run(whole[i], twin));
        }
        av_train_free(whole[i]);
        av_train_free(sliced[i]);
    }
}

/* Whatever was trained in that memory before, and however far. */
static void a_restart_is_a_new_experiment(void **state)
{
    (void)state;
    static const char *const tasks[] = { "reconstruct", "copy_previous fresh=off", "recall learn_scale=on",
                                         "average variant=sink+sigma_reparam learn_scale=on",
                                         "recall variant=alibi+qk_clip qk_clip.tau=0.01" };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "d_model=16 d_k=8 sequences=20 epochs=4 batch=8 seed=1 task=%s", tasks[i]);
        struct av_train *again = train_of(settings, NULL);
        for (int k = 0; k < 7; k++) {
            assert_true(av_train_advance(again));
        }
        av_train_restart(again, 2);
        while (av_train_step(again)) {
        }
        *(strstr(settings, "seed=1") + strlen("seed=")) = '2';
        struct av_train *fresh = trained(settings, NULL);
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            assert_same_curves(av_train_run(again, twin), av_train_run(fresh, twin));
        }
        av_train_free(again);
        av_train_free(fresh);
    }
}

static void a_run_alone_is_the_run_of_the_twins(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct av_train *both = trained(kinds[i], NULL);
        char settings[256];
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            strcpy(settings, kinds[i]);
            strcat(settings, twin == AV_TWIN_SCALED ? " runs=on" : " runs=off");
            struct av_train *alone = trained(settings, NULL);
            assert_same_curves(av_train_run(alone, twin), av_train_run(both, twin));
            assert_int_equal(av_train_run(alone, !twin)->epoch_count, 0);
            assert_int_equal(av_train_run(alone, !twin)->state, AV_TRAIN_DONE);
            av_train_free(alone);
        }
        av_train_free(both);
    }
}

static void sets_with_fused_multiply_add_agree(void **state)
{
    (void)state;
    const struct av_kernels *a = av_kernels_named("avx2"), *b = av_kernels_named("avx512");
    if (a == NULL || b == NULL) {
        print_message("this processor has no two sets of kernels with fused multiply-add\n");
        skip();
    }
    for (size_t i = 0; i < KINDS; i++) {
        struct av_train *x = trained(kinds[i], a), *y = trained(kinds[i], b);
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            assert_same_curves(av_train_run(x, twin), av_train_run(y, twin));
        }
        av_train_free(x);
        av_train_free(y);
    }
}

/* ---- Twins -------------------------------------------------------------------- */

/* A single token attends to itself, whatever its score: the scale cannot
 * matter, and the twins see the same matrices and batches. */
static void twins_of_single_tokens_are_the_same(void **state)
{
    (void)state;
    struct av_train *t = trained(SMALL "seq_len=1 task=reconstruct", NULL);
    const struct av_train_run *on = av_train_run(t, AV_TWIN_SCALED), *off = av_train_run(t, AV_TWIN_UNSCALED);
    assert_int_equal(on->epoch_count, 6);
    for (size_t i = 0; i < on->epoch_count; i++) {
        assert_memory_equal(&on->epochs[i].at[AV_TRAIN_LOSS], &off->epochs[i].at[AV_TRAIN_LOSS], sizeof(double));
        assert_true(isnan(on->epochs[i].at[AV_TRAIN_ENTROPY_NORM]));
        assert_true(isnan(on->epochs[i].at[AV_TRAIN_MAX_WEIGHT]));
        assert_true(isnan(on->epochs[i].at[AV_TRAIN_LOGIT_STD]));
        assert_true(on->epochs[i].at[AV_TRAIN_GRAD_QK_NORM] == 0);
    }
    av_train_free(t);
}

static void alpha_moves_only_when_learned(void **state)
{
    (void)state;
    struct av_train *fixed = trained(SMALL "task=average", NULL);
    struct av_train *learned = trained(SMALL "task=average learn_scale=on", NULL);
    const double at_start[AV_TWINS] = { 1 / sqrt(8), 1 };
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        assert_float_equal(av_train_run(fixed, twin)->last.at[AV_TRAIN_ALPHA], at_start[twin], 1e-15);
        assert_float_equal(av_train_run(learned, twin)->first[0].at[AV_TRAIN_ALPHA], at_start[twin], 1e-15);
        assert_true(fabs(av_train_run(learned, twin)->last.at[AV_TRAIN_ALPHA] - at_start[twin]) > 1e-3);
    }
    av_train_free(fixed);
    av_train_free(learned);
}

static void weights_are_those_of_the_matrices(void **state)
{
    (void)state;
    struct av_train *t = trained(SMALL "task=recall", NULL);
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        float weights[5 * 5];
        av_train_weights(t, twin, weights);
        for (size_t i = 0; i < 5; i++) {
            double sum = 0;
            for (size_t j = 0; j < 5; j++) {
                assert_true(weights[5 * i + j] > 0);
                sum += (double)weights[5 * i + j];
            }
            assert_float_equal(sum, 1, 1e-6);
        }
    }
    av_train_free(t);
}

/* ---- Data --------------------------------------------------------------------- */

/* Without learning, an epoch over the same data in any order has the same mean
 * loss, and one over new data another. */
static void an_epoch_is_all_sequences_once(void **state)
{
    (void)state;
    static const char still[] = "d_model=16 d_k=8 batch=5 sequences=20 epochs=3 lr=0 ";
    for (int fresh = 0; fresh < 2; fresh++) {
        char settings[256];
        strcpy(settings, still);
        strcat(settings, fresh ? "fresh=on" : "fresh=off");
        struct av_train *t = trained(settings, NULL);
        const struct av_train_run *run = av_train_run(t, AV_TWIN_SCALED);
        assert_int_equal(run->steps, 12);
        for (size_t i = 1; i < 3; i++) {
            double off = fabs(run->epochs[i].at[AV_TRAIN_LOSS] - run->epochs[0].at[AV_TRAIN_LOSS]);
            assert_true(fresh ? off > 1e-4 : off < 1e-6);
        }
        /* Shuffled: the batches are not the same ones. */
        assert_true(fabs(run->first[0].at[AV_TRAIN_LOSS] - run->first[4].at[AV_TRAIN_LOSS]) > 1e-4);
        av_train_free(t);
    }
}

static void fresh_is_as_the_task_has_it(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        bool fresh;
    } cases[] = {
        { "task=reconstruct", false },
        { "task=average", true },
        { "task=recall", true },
        { "task=copy_previous", true },
        { "task=reconstruct fresh=on", true },
        { "task=recall fresh=off", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_train_config c;
        struct av_error e;
        assert_int_equal(configure(&c, cases[i].settings, &e), AV_OK);
        assert_int_equal(c.fresh, cases[i].fresh);
    }
}

/* ---- Edges -------------------------------------------------------------------- */

static void smallest_sizes_train(void **state)
{
    (void)state;
    static const char *const cases[] = {
        SMALL "d_k=1",
        SMALL "d_k=1 d_model=1 seq_len=1 batch=1 sequences=1",
        SMALL "batch=4096",
        SMALL "batch=1",
        SMALL "task=average seq_len=1",
        SMALL "task=recall seq_len=2 d_model=2",
        SMALL "task=copy_previous seq_len=2 d_model=1",
        SMALL "seq_len=33 d_k=17 d_model=19 sequences=3",
        SMALL "input_std=0",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_train *t = trained(cases[i], NULL);
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            const struct av_train_run *run = av_train_run(t, twin);
            assert_int_equal(run->state, AV_TRAIN_DONE);
            assert_int_equal(run->epoch_count, 6);
            assert_int_equal(run->steps, av_train_steps_total(t));
            assert_true(isfinite(run->epochs[5].at[AV_TRAIN_LOSS]));
            assert_true(run->epochs[5].at[AV_TRAIN_LOSS] <= run->epochs[0].at[AV_TRAIN_LOSS] + 0.1);
        }
        assert_int_equal(av_train_steps(t), av_train_steps_total(t));
        assert_false(av_train_step(t));
        av_train_free(t);
    }
}

static void a_batch_is_at_most_all_sequences(void **state)
{
    (void)state;
    struct av_train *wide = trained(SMALL "batch=1000", NULL), *exact = trained(SMALL "batch=10", NULL);
    assert_int_equal(av_train_epoch_steps(wide), 1);
    assert_same_curves(av_train_run(wide, 0), av_train_run(exact, 0));
    av_train_free(wide);
    av_train_free(exact);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *why;
    } cases[] = {
        { "sequences=0", "sequences=0: out of range 1 .. 1000000" },
        { "epochs=0", "epochs=0: out of range 1 .. 100000" },
        { "batch=0", "batch=0: out of range 1 .. 4096" },
        { "seq_len=0", "seq_len=0: out of range 1 .. 2048" },
        { "lr=-1", "lr=-1: out of range" },
        { "clip=-1", "clip=-1: out of range" },
        { "task=forget", "task=forget: not one of reconstruct average recall copy_previous" },
        { "task=depth", "task=depth trains nothing: see the view depth" },
        { "task=recall seq_len=1", "seq_len=1: the task recall needs an earlier token" },
        { "task=copy_previous seq_len=1", "seq_len=1: the task copy_previous needs an earlier token" },
        { "task=recall d_model=1", "d_model=1: the task recall needs" },
        { "d_k=4096 d_model=4096", "MiB, and at most 64 are allowed: lower d_k" },
        { "sequences=1000000", "MiB, and at most 64 are allowed" },
        { "seq_len=2048 batch=4096", "MiB, and at most 64 are allowed" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_train_config c;
        struct av_train *t = NULL;
        struct av_error e = { "" };
        enum av_status s = configure(&c, cases[i].settings, &e);
        s = s == AV_OK ? av_train_new(&t, &c, NULL, &e) : s;
        assert_int_equal(s, AV_USAGE);
        assert_null(t);
        if (strstr(e.text, cases[i].why) == NULL) {
            fail_msg("%s: '%s', not '%s'", cases[i].settings, e.text, cases[i].why);
        }
    }
    av_train_free(NULL);
}

/* In a child, which the limit dies with, and which must not use assertions. */
static int refuse_without_memory(void)
{
    struct rlimit limit = { 1 << 25, 1 << 25 };
    struct av_train_config c;
    struct av_train *t = NULL;
    struct av_error e = { "" };
    setrlimit(RLIMIT_AS, &limit);
    if (configure(&c, "sequences=13000", &e) != AV_OK) {
        return 1;
    }
    if (av_train_new(&t, &c, NULL, &e) != AV_NOMEM || t != NULL || strstr(e.text, "out of memory") == NULL) {
        return 2;
    }
    c.sequences = 100;
    return av_train_new(&t, &c, NULL, &e) == AV_OK && av_train_step(t) ? 0 : 3;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    if (SANITIZED) {
        skip(); /* its own memory breaks the limit */
    }
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(refuse_without_memory());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- Learning that goes wrong, and well ---------------------------------------- */

static void huge_learning_rates_end(void **state)
{
    (void)state;
    static const char *const optimizers[] = { "adam", "sgd" };
    for (size_t i = 0; i < KINDS; i++) {
        for (size_t o = 0; o < 2; o++) {
            char settings[256];
            strcpy(settings, kinds[i]);
            strcat(settings, " clip=0 epochs=20 lr=1e6 optimizer=");
            strcat(settings, optimizers[o]);
            struct av_train *t = trained(settings, NULL);
            for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
                const struct av_train_run *run = av_train_run(t, twin);
                assert_int_not_equal(run->state, AV_TRAIN_RUNNING);
                for (size_t n = 0; n < run->first_count; n++) {
                    assert_true(isfinite(run->first[n].at[AV_TRAIN_LOSS]));
                    assert_true(isfinite(run->first[n].at[AV_TRAIN_GRAD_NORM]));
                }
            }
            av_train_free(t);
        }
    }
}

/* alpha s is infinite for keys whose s differ: none of them is the largest. */
static void logits_that_overflow_diverge(void **state)
{
    (void)state;
    static const char settings[] =
        "optimizer=sgd seq_len=9 sequences=2 epochs=5 d_k=33 d_model=3 lr=1e6 learn_scale=on "
        "exponent=1 input_std=1000";
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        if (kernels != NULL) {
            struct av_train *t = trained(settings, kernels);
            assert_int_equal(av_train_run(t, AV_TWIN_SCALED)->state, AV_TRAIN_DIVERGED);
            assert_int_equal(av_train_run(t, AV_TWIN_UNSCALED)->state, AV_TRAIN_DIVERGED);
            av_train_free(t);
        }
    }
}

static void a_spread_too_small_for_floats_is_0(void **state)
{
    (void)state;
    struct av_train *t = trained("input_std=1.5e-19 sequences=4 epochs=1", NULL);
    assert_true(av_train_run(t, AV_TWIN_UNSCALED)->last.at[AV_TRAIN_LOSS] > 0);
    assert_true(av_train_run(t, AV_TWIN_UNSCALED)->last.at[AV_TRAIN_LOGIT_STD] == 0);
    av_train_free(t);
}

static void a_run_that_diverges_names_its_step_and_keeps_its_curve(void **state)
{
    (void)state;
    struct av_train *t = trained(SMALL "optimizer=sgd lr=100 init=unit", NULL);
    const struct av_train_run *run = av_train_run(t, AV_TWIN_UNSCALED);
    assert_int_equal(run->state, AV_TRAIN_DIVERGED);
    assert_true(run->steps >= 3 && run->steps < av_train_steps_total(t)); /* an epoch is three steps */
    assert_int_equal(run->first_count, run->steps);
    assert_int_equal(run->epoch_count, run->steps / 3);
    assert_true(run->epochs[0].at[AV_TRAIN_LOSS] > 0);
    av_train_free(t);
}

static void clipping_bounds_the_step(void **state)
{
    (void)state;
    struct av_train *t = train_of(SMALL "optimizer=sgd lr=1 clip=0.001", NULL);
    double moved = 0;
    float before[4][16 * 8], after[16 * 8];
    for (int m = 0; m < 4; m++) {
        av_train_matrix(t, AV_TWIN_UNSCALED, m, before[m]);
    }
    av_train_step(t);
    for (int m = 0; m < 4; m++) {
        av_train_matrix(t, AV_TWIN_UNSCALED, m, after);
        for (size_t i = 0; i < 16 * 8; i++) {
            moved += pow((double)after[i] - (double)before[m][i], 2);
        }
    }
    assert_true(av_train_run(t, AV_TWIN_UNSCALED)->last.at[AV_TRAIN_GRAD_NORM] > 0.01);
    assert_float_equal(sqrt(moved), 0.001, 1e-6);
    av_train_free(t);
}

/* Numbers below the smallest normal one are slow on many machines, and
 * saturated weights are where they come from elsewhere: here a step makes
 * none, and so takes no longer. */
static void nothing_underflows_in_saturation(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "runs=off init=unit epochs=2",
        "runs=off init=unit task=average d_k=256 seq_len=16 sequences=4 epochs=10",
        "runs=off init=unit task=recall d_k=256 seq_len=16 sequences=4 epochs=10 optimizer=sgd",
    };
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        for (size_t i = 0; kernels != NULL && i < sizeof cases / sizeof cases[0]; i++) {
            feclearexcept(FE_UNDERFLOW);
            struct av_train *t = train_of(cases[i], kernels);
            do {
                assert_int_equal(fetestexcept(FE_UNDERFLOW), 0);
            } while (av_train_step(t));
            assert_true(av_train_run(t, AV_TWIN_UNSCALED)->first[0].at[AV_TRAIN_MAX_WEIGHT] > 0.8);
            av_train_free(t);
        }
    }
}

/* What the whole experiment is about, on a scale that takes a second. */
static void without_the_scale_copying_is_learned_late(void **state)
{
    (void)state;
    if (SANITIZED) {
        skip(); /* ten times slower, and the same code as in other tests */
    }
    struct av_train *t =
        trained("task=copy_previous d_k=256 init=unit seq_len=16 sequences=32 epochs=100 seed=0", NULL);
    double on = av_train_run(t, AV_TWIN_SCALED)->epochs[99].at[AV_TRAIN_LOSS];
    double off = av_train_run(t, AV_TWIN_UNSCALED)->epochs[99].at[AV_TRAIN_LOSS];
    assert_true(on < 0.25);
    assert_true(off > 3 * on);
    av_train_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_do_not_matter),
        cmocka_unit_test(a_restart_is_a_new_experiment),
        cmocka_unit_test(a_run_alone_is_the_run_of_the_twins),
        cmocka_unit_test(sets_with_fused_multiply_add_agree),
        cmocka_unit_test(twins_of_single_tokens_are_the_same),
        cmocka_unit_test(alpha_moves_only_when_learned),
        cmocka_unit_test(weights_are_those_of_the_matrices),
        cmocka_unit_test(an_epoch_is_all_sequences_once),
        cmocka_unit_test(fresh_is_as_the_task_has_it),
        cmocka_unit_test(smallest_sizes_train),
        cmocka_unit_test(a_batch_is_at_most_all_sequences),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(huge_learning_rates_end),
        cmocka_unit_test(logits_that_overflow_diverge),
        cmocka_unit_test(a_spread_too_small_for_floats_is_0),
        cmocka_unit_test(a_run_that_diverges_names_its_step_and_keeps_its_curve),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(clipping_bounds_the_step),
        cmocka_unit_test(nothing_underflows_in_saturation),
        cmocka_unit_test(without_the_scale_copying_is_learned_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
