/* test_train_variants.c - the way back of every variant that is trained, against
 * differences of the loss, and its way there against attend.h. */
#include "../../src/model/train_hook.h"
#include "attnviz/attend.h"
#include "pass_in_double.h"
#include "sanitized.h"
#include "train_driver.h"

#include <stdio.h>

/* Every row with parameters at which it does something at these sizes, and some
 * of them together. h: of the differences; small where a bend has corners. */
static const struct variant {
    const char *name, *settings;
    double h;
} variants[] = {
    { "none", "", 1e-3 },
    { "sqrt", "", 1e-3 },
    { "mup", "", 1e-3 },
    { "fixed", "fixed.scalar=3", 1e-3 },
    { "inverse_layer", "inverse_layer.layer=2", 1e-3 },
    { "learned", "learned.gain=1.7", 1e-3 },
    { "mixed", "mixed.exponent=0.3 mixed.temperature=0.7", 1e-3 },
    { "logn", "logn.L=2", 1e-3 },
    { "ssmax", "", 1e-3 },
    { "yarn", "", 1e-3 },
    { "llama4", "llama4.floor=2 llama4.scale=0.5", 1e-3 },
    { "qk_l2", "", 1e-4 },
    { "cosine", "cosine.g=3", 1e-4 },
    { "swin2", "swin2.tau=1", 1e-4 },
    { "qk_rms", "qk_rms.eps=0.1", 1e-4 },
    { "qk_layernorm", "qk_layernorm.eps=0.1", 1e-4 },
    { "score_layernorm", "score_layernorm.eps=0.1", 1e-4 },
    { "score_batchnorm", "score_batchnorm.eps=0.1", 1e-4 },
    { "softcap", "softcap.c=1.5", 1e-3 },
    { "softmax1", "", 1e-3 },
    { "sink", "sink.logit=0.4", 1e-3 },
    { "sparsemax", "", 1e-5 },
    { "entmax15", "", 1e-5 },
    { "sigmoid", "", 1e-3 },
    { "clipped", "clipped.eta=1.2 clipped.gamma=-0.2", 1e-5 },
    { "softpick", "", 1e-5 },
    { "differential", "", 1e-3 },
    { "alibi", "", 1e-3 },
    { "window", "window.size=2", 1e-3 },
    { "logn+window", "logn.L=2 window.size=3", 1e-3 },
    { "ssmax+qk_rms+softcap+alibi", "softcap.c=2", 1e-3 },
    { "mup+score_layernorm+sink+window", "window.size=3 score_layernorm.eps=0.1", 1e-3 },
    { "qk_layernorm+differential+window", "window.size=3 qk_layernorm.eps=0.1", 1e-3 },
    { "fixed+qk_l2+sigmoid", "", 1e-3 },
    { "yarn+sink+window", "window.size=3", 1e-3 },
};

enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* The configuration of one of them, with more settings. */
static struct av_train_config variant_config(const struct variant *v, const char *more)
{
    struct av_train_config c;
    struct av_error e;
    char settings[256];
    snprintf(settings, sizeof settings, "batch=3 sequences=3 init=unit fresh=on seed=5 variant=%s %s %s", v->name,
             v->settings, more);
    if (configure(&c, settings, &e) != AV_OK) {
        fail_msg("%s: %s", settings, e.text);
    }
    return c;
}

static void set_up_variant(struct av_train_config *c, double alpha, double spread)
{
    struct av_error e;
    set_up_task(c, alpha, spread);
    assert_int_equal(av_train_hook_new(&at.pass.hook, c, av_kernels_best(), &e), AV_OK);
    at.learns_extra = c->learn_sink;
}

static void tear_down_variant(void)
{
    av_train_hook_free(at.pass.hook);
    tear_down_task();
}

/* ---- All rows are here -------------------------------------------------------------- */

static void every_row_is_tested_or_refused(void **state)
{
    (void)state;
    size_t rows;
    const struct av_variant *table = av_variants_table(&rows);
    for (size_t i = 0; i < rows; i++) {
        bool found = (table[i].flags & AV_VARIANT_NOT_TRAINED) != 0 || table[i].group == AV_GROUP_TRAINING;
        for (size_t j = 0; j < VARIANTS && !found; j++) {
            found = strcmp(variants[j].name, table[i].name) == 0;
        }
        if (!found) {
            fail_msg("%s has no gradient test", table[i].name);
        }
    }
}

/* ---- The way back --------------------------------------------------------------------- */

static void of_every_variant_in_every_task(void **state)
{
    (void)state;
    static const char *const tasks[] = { "reconstruct", "average", "recall", "copy_previous" };
    for (size_t i = 0; i < VARIANTS; i++) {
        for (size_t task = 0; task < (SANITIZED ? 2 : 4); task++) {
            char more[96];
            snprintf(more, sizeof more, "task=%s seq_len=5 d_model=6 d_k=4 learn_scale=on", tasks[task]);
            struct av_train_config c = variant_config(&variants[i], more);
            set_up_variant(&c, c.alpha[AV_TWIN_SCALED], 1.5);
            check_all_parameters(variants[i].name, variants[i].h);
            tear_down_variant();
        }
    }
}

static void in_saturation(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        struct av_train_config c =
            variant_config(&variants[i], "task=average seq_len=6 d_model=8 d_k=8 learn_scale=on runs=off");
        set_up_variant(&c, c.alpha[AV_TWIN_UNSCALED], 2);
        check_all_parameters(variants[i].name, variants[i].h / 3);
        tear_down_variant();
    }
}

static void at_the_smallest_sizes(void **state)
{
    (void)state;
    static const char *const sizes[] = { "seq_len=1 d_model=2 d_k=2", "seq_len=2 d_model=3 d_k=2" };
    for (size_t i = 0; i < VARIANTS; i++) {
        for (size_t size = 0; size < 2; size++) {
            struct av_train_config c = variant_config(&variants[i], sizes[size]);
            set_up_variant(&c, 0.9, 1);
            check_all_parameters(variants[i].name, variants[i].h);
            tear_down_variant();
        }
    }
}

/* ---- The way there --------------------------------------------------------------------- */

enum { LEN = 9, D = 8 };

/* q and k of the first sequence of the batch, and their products. */
struct entries {
    double q[LEN * D], k[LEN * D], scores[LEN * LEN];
};

static void load(struct entries *to)
{
    const size_t pitch = at.pass.sizes.token_pitch;
    for (size_t i = 0; i < LEN; i++) {
        for (size_t c = 0; c < D; c++) {
            to->q[i * D + c] = at.pass.qkv_t[c * pitch + i];
            to->k[i * D + c] = at.pass.qkv_t[(D + c) * pitch + i];
        }
    }
    for (size_t pair = 0; pair < LEN * LEN; pair++) {
        to->scores[pair] = 0;
        for (size_t c = 0; c < D; c++) {
            to->scores[pair] += to->q[pair / LEN * D + c] * to->k[pair % LEN * D + c];
        }
    }
}

/* Their weights by attend.h, which the pipeline uses. */
static void attend(double weights[LEN * LEN], const struct entries *entries, struct av_params p, bool scale)
{
    struct av_moments moments = { 0 };
    struct av_rowstats rows[LEN];
    bool invalid[LEN];
    struct av_attend *a;
    struct av_error e;
    const struct av_attend_head head = {
        .q = { .f64 = entries->q, .pitch = D },
        .k = { .f64 = entries->k, .pitch = D },
        .n_q = LEN,
        .n_k = LEN,
        .d = D,
        .scores = entries->scores,
        .score_moments = &moments,
    };
    p.scale = scale;
    av_moments_add(&moments, entries->scores, LEN * LEN);
    assert_int_equal(av_attend_new(&a, NULL, &e), AV_OK);
    assert_int_equal(av_attend_begin(a, &p, &head, (double)NAN, &e), AV_OK);
    const struct av_attend_rows run = { .to = LEN, .weights = weights, .rows = rows, .invalid = invalid };
    av_attend_run(a, &run);
    av_attend_free(a);
}

static void gives_the_pipelines_weights(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANTS; i++) {
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            struct av_train_config c = variant_config(&variants[i], "seq_len=9 d_model=8 d_k=8");
            struct entries entries;
            double want[LEN * LEN];
            set_up_variant(&c, c.alpha[twin], 1);
            forward(&at.pass);
            load(&entries);
            attend(want, &entries, c.attention, twin == AV_TWIN_SCALED);
            for (size_t pair = 0; pair < LEN * LEN; pair++) {
                double got = at.pass.p[pair / LEN * at.pass.sizes.token_pitch + pair % LEN];
                if (!(fabs(got - want[pair]) <= 1e-13)) {
                    fail_msg("%s, pair %zu: %.17g, the pipeline %.17g", variants[i].name, pair, got, want[pair]);
                }
            }
            tear_down_variant();
        }
    }
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* What is learned is the scalar that the paper learns, and alpha follows. */
static void scalars_start_where_their_rows_say(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *name;
        double scalar, alpha[AV_TWINS];
    } cases[] = {
        { "variant=softmax learn_scale=on d_k=16", "alpha", 0.25, { 0.25, 1 } },
        { "variant=learned learned.gain=1.5 d_k=16", "learned.gain", 1.5, { 0.375, 1 } },
        { "variant=ssmax ssmax.sigma=2 learn_scale=on d_k=16 seq_len=8",
          "ssmax.sigma",
          2,
          { 1.0397207708399179, 4.1588830833596715 } },
        { "variant=ssmax+alibi ssmax.sigma=2 learn_scale=on d_k=16 seq_len=8",
          "ssmax.sigma",
          2,
          { 1.0397207708399179, 4.1588830833596715 } },
        { "variant=ssmax+window ssmax.sigma=2 d_k=16 seq_len=8", "alpha", 0.25, { 0.25, 1 } },
        { "variant=yarn+window d_k=16", "alpha", 0.32411924819517657, { 0.32411924819517657, 1.2964769927807063 } },
        { "variant=swin2 swin2.tau=0.5 learn_scale=on", "swin2.tau", 0.5, { 1.6487212707001282, 1 } },
        { "variant=swin2 swin2.tau=9 learn_scale=on", "swin2.tau", 9, { 100, 1 } },
        { "variant=fixed+swin2 fixed.scalar=16 learn_scale=on", "alpha", 0.25, { 0.25, 1 } },
        { "variant=cosine cosine.g=3 learn_scale=on", "alpha", 3, { 3, 1 } },
        { "variant=qk_l2 seq_len=8 learn_scale=on", "alpha", 5.807354922057605, { 5.807354922057605, 1 } },
        { "variant=llama4 llama4.start=81919 llama4.scale=1 d_k=16",
          "alpha",
          0.8494738181996,
          { 0.8494738181996, 3.3978952727984 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "d_model=8 sequences=4 epochs=1 %s", cases[i].settings);
        struct av_train *t = train_of(settings, NULL);
        const struct av_train_config *c = av_train_config(t);
        const double got = av_train_run(t, AV_TWIN_SCALED)->scalars[AV_SCALAR_ALPHA];
        if (!(fabs(got / cases[i].scalar - 1) < 1e-12) ||
            !(fabs(c->alpha[AV_TWIN_SCALED] / cases[i].alpha[0] - 1) < 1e-12) ||
            !(fabs(c->alpha[AV_TWIN_UNSCALED] / cases[i].alpha[1] - 1) < 1e-12)) {
            fail_msg("%s: %.17g, alpha %.17g and %.17g", settings, got, c->alpha[AV_TWIN_SCALED],
                     c->alpha[AV_TWIN_UNSCALED]);
        }
        assert_string_equal(av_train_scalar_name(c, AV_SCALAR_ALPHA), cases[i].name);
        av_train_free(t);
    }
}

/* Far beyond what numbers can hold, and with nothing but zeros. */
static void every_run_ends(void **state)
{
    (void)state;
    static const char *const ways[] = { "lr=1e6", "lr=100 optimizer=sgd input_std=1000", "input_std=0" };
    for (size_t i = 0; i < VARIANTS; i++) {
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            char settings[256];
            snprintf(settings, sizeof settings,
                     "d_model=8 d_k=4 seq_len=4 sequences=8 epochs=4 learn_scale=on variant=%s %s %s", variants[i].name,
                     variants[i].settings, ways[way]);
            struct av_train *t = trained(settings, NULL);
            for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
                const struct av_train_run *run = av_train_run(t, twin);
                assert_true(run->state == AV_TRAIN_DONE || run->state == AV_TRAIN_DIVERGED);
                for (size_t epoch = 0; epoch < run->epoch_count; epoch++) {
                    assert_true(isfinite(run->epochs[epoch].at[AV_TRAIN_LOSS]));
                    assert_true(isfinite(run->epochs[epoch].at[AV_TRAIN_GRAD_NORM]));
                }
            }
            av_train_free(t);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_tested_or_refused),
        cmocka_unit_test(of_every_variant_in_every_task),
        cmocka_unit_test(in_saturation),
        cmocka_unit_test(at_the_smallest_sizes),
        cmocka_unit_test(gives_the_pipelines_weights),
        cmocka_unit_test(scalars_start_where_their_rows_say),
        cmocka_unit_test(every_run_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
