/* test_training_variants.c - what the view of the twin runs says and shows of a variant. */
#include "../../src/draw/panels_training.h"
#include "canvas_reader.h"
#include "training_driver.h"

#include <stdio.h>

#define SMALL "d_model=16 d_k=8 seq_len=5 batch=4 sequences=13 epochs=8 init=unit "

enum { W = 120, H = 38 };

/* The view of an experiment that has come to its end. */
static struct av_canvas drawn(const char *settings)
{
    static const struct av_snapshot snapshot;
    static const struct av_ghost ghost;
    static const struct av_view_state state;
    void *study = opened();
    struct av_canvas c = { .cells = NULL };
    const struct av_view_context ctx = { .snapshot = &snapshot,
                                         .ghost = &ghost,
                                         .state = &state,
                                         .study = finished(study, settings),
                                         .progress = 1,
                                         .full = true };
    assert_int_equal(av_canvas_resize(&c, W, H, NULL), AV_OK);
    av_view_find("training")->draw(&c, (struct av_rect){ 0, 0, W, H }, &ctx);
    training()->close(study);
    return c;
}

static void assert_drawn(const char *settings, const char *text, bool expected)
{
    struct av_canvas c = drawn(settings);
    if ((find(&c, text) >= 0) != expected) {
        fail_msg("%s: \"%s\" is %s", settings, text, expected ? "not there" : "there");
    }
    av_canvas_free(&c);
}

static void the_variant_is_told_in_words(void **state)
{
    (void)state;
    assert_drawn(SMALL "variant=softcap softcap.c=2", "softcap  softmax(c tanh(z/c)) · softcap.c 2", true);
    assert_drawn(SMALL "variant=mup+sink", "mup+sink  m = factor/d_k · e^z/(e^logit + sum e^z)", true);
    assert_drawn(SMALL, "softmax(", false);
}

static void odd_rows_are_called_so(void **state)
{
    (void)state;
    static const char *const odd[] = { "softmax1", "sink", "sigmoid", "softpick", "differential", "alibi+sink" };
    static const char *const shares[] = { "softmax", "softcap", "sparsemax", "qk_l2+window" };
    char settings[128];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        snprintf(settings, sizeof settings, SMALL "variant=%s", odd[i]);
        assert_drawn(settings, "row sum", true);
        assert_drawn(settings, "entropy |w|", true);
        assert_drawn(settings, "entropy / ln n", false);
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        snprintf(settings, sizeof settings, SMALL "variant=%s", shares[i]);
        assert_drawn(settings, "row sum", false);
        assert_drawn(settings, "entropy / ln n", true);
    }
}

/* Cells of the heatmaps: their marks are no blocks, and no other panel has them. */
static size_t discs(const char *settings)
{
    struct av_canvas c = drawn(settings);
    size_t count = 0;
    for (int y = 6; y < H; y++) {
        for (int x = 0; x < W; x++) {
            const struct av_cell *cell = av_canvas_at(&c, x, y);
            count += cell->role == AV_ROLE_BAR && cell->code != 0x2588;
        }
    }
    av_canvas_free(&c);
    return count;
}

static void weights_below_0_have_marks_of_their_own(void **state)
{
    (void)state;
    assert_true(discs(SMALL "variant=differential differential.lambda=0.9") > 10);
    assert_drawn(SMALL "variant=differential differential.lambda=0.9", "below 0", true);
    assert_int_equal(discs(SMALL "variant=differential differential.lambda=0"), 0);
    assert_int_equal(discs(SMALL "variant=sigmoid"), 0);
}

/* ---- Findings ------------------------------------------------------------------------- */

static void assert_found(const char *settings, const char *text, bool expected)
{
    void *study = opened();
    const struct av_training *t = finished(study, settings);
    struct av_training_finding lines[AV_TRAINING_FINDINGS];
    size_t n = av_training_findings(t, lines);
    bool said = false;
    for (size_t i = 0; i < n; i++) {
        said = said || strstr(lines[i].text, text) != NULL;
    }
    if (said != expected) {
        fail_msg("%s: \"%s\" is %s", settings, text, expected ? "not said" : "said");
    }
    training()->close(study);
}

static void what_a_variant_does_is_found(void **state)
{
    (void)state;
    assert_found(SMALL "variant=none", "scale on or off, alpha is 1 here: both runs are the same", true);
    assert_found(SMALL "variant=score_layernorm", "both runs are the same", true);
    assert_found(SMALL "variant=score_layernorm runs=on", "both runs are the same", false);
    assert_found(SMALL, "both runs are the same", false);
    assert_found(SMALL "variant=qk_clip qk_clip.tau=1e8",
                 "qk_clip shrinks w_q, w_k: scaled after 0 of 32, unscaled after 0 of 32 steps", true);
    assert_found(SMALL "variant=qk_clip qk_clip.tau=0.1", "scaled after 0 of 32", false);
    assert_found(SMALL "variant=sink learn_scale=on", "sink.logit: scaled ", true);
    assert_found(SMALL "variant=sink", "sink.logit", false);
    assert_found(SMALL "variant=sigma_reparam runs=off", "gamma of w_q w_k w_v w_o: unscaled ", true);
}

/* ---- Refusals, and what is listened to -------------------------------------------------- */

static void a_refusal_has_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *why;
    } cases[] = {
        { "variant=lsh", "variant=lsh: it has no backward pass here" },
        { "variant=softcap+linformer", "variant=linformer: it has no backward pass here" },
        { "variant=differential d_k=9", "it needs an even d_k, and it is 9" },
        { "variant=score_batchnorm+differential", "have no backward pass" },
        { "variant=cosine+qk_clip", "cosine undoes what qk_clip does" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct av_params p = params_of(cases[i].settings);
        struct av_canvas c = { .cells = NULL };
        assert_int_equal(av_canvas_resize(&c, 100, 22, NULL), AV_OK);
        av_panel_training_refused(&c, (struct av_rect){ 0, 0, 100, 22 }, &p);
        if (find(&c, cases[i].why) < 0) {
            fail_msg("nothing says \"%s\"", cases[i].why);
        }
        av_canvas_free(&c);
    }
}

static void a_variants_parameters_are_listened_to(void **state)
{
    (void)state;
    static const char *const changes[] = { "variant=softcap softcap.c=3", "variant=sink sink.logit=1",
                                           "variant=window window.size=2", "variant=qk_clip qk_clip.tau=9" };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const struct av_params was = params_of(""), now = params_of(changes[i]);
        struct av_params same = was;
        same.variant = now.variant;
        assert_true(av_params_differ(av_train_listens, &was, &same));
        assert_true(av_params_differ(av_train_listens, &same, &now));
        assert_false(av_params_differ(av_train_listens, &now, &now));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_variant_is_told_in_words),
        cmocka_unit_test(odd_rows_are_called_so),
        cmocka_unit_test(weights_below_0_have_marks_of_their_own),
        cmocka_unit_test(what_a_variant_does_is_found),
        cmocka_unit_test(a_refusal_has_its_reason),
        cmocka_unit_test(a_variants_parameters_are_listened_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
