/* test_view_varied.c - what views say and draw of variants and dtypes: made by
 * the model, drawn, and read. */
#include "../../src/draw/panels.h"
#include "canvas_reader.h"
#include "model_driver.h"

static const struct av_ghost no_ghost;

static struct av_canvas draw(const char *name, const struct av_snapshot *s, struct av_view_state state, int w, int h)
{
    struct av_canvas c = { .ascii = false };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    struct av_view_context ctx = { .snapshot = s, .ghost = &no_ghost, .state = &state, .full = true };
    av_view_find(name)->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static bool says(const char *name, const struct av_snapshot *s, struct av_view_state state, const char *text)
{
    struct av_canvas c = draw(name, s, state, 100, 38);
    bool found = find(&c, text) >= 0;
    av_canvas_free(&c);
    return found;
}

static void views_say_what_is_drawn(void **state)
{
    (void)state;
    static const struct {
        const char *settings[5];
        const char *view;
        struct av_view_state state;
        const char *text;
    } cases[] = {
        { { "variant=qk_rms+softcap" }, "overview", { .page = 0 }, "qk_rms+softcap" },
        { { "variant=qk_rms+softcap" }, "overview", { .page = 0 }, "q^·k^ × 0.125" },
        { { "variant=mup", "mup.factor=16" }, "overview", { .page = 0 }, "q·k × 0.25" },
        { { "variant=ssmax+alibi", "mask=causal" }, "overview", { .page = 0 }, "q·k × 0.125 × ssmax + alibi" },
        { { "variant=ssmax+alibi" }, "overview", { .page = 0 }, "q·k × 0.186 + alibi" }, /* in every row the same */
        { { "variant=softcap" }, "overview", { .page = 0 }, "fine: the weights by softcap are not" },
        { { "variant=qk_clip" }, "overview", { .page = 0 }, "note: qk_clip acts in training only" },
        { { "variant=score_layernorm" }, "overview", { .page = 0 }, "note: score_layernorm normalises" },
        { { "variant=score_layernorm" }, "weights", { .page = 0 }, "s^" },
        { { "dtype=f16" }, "weights", { .page = 0 }, "softmax in f16" },
        { { "n_head=4", "head=2" }, "weights", { .page = 0 }, "head 2 of 4" },
        { { "variant=sigmoid" }, "overview", { .page = 0 }, "entropy |w|" },
        { { "variant=sigmoid" }, "overview", { .page = 0 }, "row sum" },
        { { "variant=sigmoid" }, "weights", { .page = 0 }, "weights w" },
        { { "variant=window" }, "weights", { .page = 0 }, "· not seen" },
        { { "mask=causal" }, "weights", { .page = 0 }, "· masked" },
        { { "variant=window", "key=20" }, "weights", { .page = 0 }, "query 0, key 20  not seen" },
        { { "variant=linformer" }, "weights", { .page = 0 }, "query ↓ average of keys →" },
        { { "variant=linformer" }, "weights", { .page = 0 }, "query 0, average 0" },
        { { "variant=sparsemax" }, "weights", { .page = 0 }, "weight 0  log10 -∞" },
        { { "dtype=f16", "q_std=1000", "d_k=4096", "scale=off" },
          "weights",
          { .page = 0 },
          "NaN in f16: beyond 65504" },
        { { "variant=qk_rms" }, "scores", { .page = 0 }, "q·k before qk_rms, whose logits have std" },
        { { "variant=softcap" },
          "saturation",
          { .page = 0 },
          "plain softmax in f64: variant softcap is not used here" },
        { { "dtype=bf16" }, "distributions", { .page = 0 }, "plain scores in f64: dtype bf16 is not used here" },
        { { "variant=sink", "dtype=f16" },
          "facts",
          { .page = 0 },
          "plain softmax in f64: sink and f16 are not used here" },
        { { "variant=softcap" }, "depth", { .page = 0 }, "plain softmax: variant softcap is not used here" },
        { { "variant=softcap" }, "derivation", { .page = 1 }, "plain scores in f64: variant softcap is not used" },
        { { "variant=linformer", "linformer.k=4", "key=9" },
          "weights",
          { .page = 0 },
          "query 0, average 9  there are 4" },
        { { "variant=sparsemax" }, "gradient", { .page = 0 }, "of each query's sparsemax" },
        { { "variant=softcap" }, "derivation", { .page = 0 }, "no limit for softcap" },
        { { "variant=softcap" }, "derivation", { .page = 0 }, "p = softcap(z)" },
        { { "variant=sparsemax", "logits=1,0,-1" }, "softmax", { .page = 0 }, "weights p of sparsemax" },
        { { "variant=sparsemax", "logits=1,0,-1" }, "softmax", { .page = 0 }, "J = dw/dz of sparsemax" },
        { { "variant=sparsemax", "logits=1,0,-1" }, "softmax", { .page = 1 }, "This page is of the softmax" },
        { { "variant=softmax1", "logits=1,0,-1" }, "softmax", { .page = 0 }, "weights change, too" },
        { { "variant=softmax1", "logits=1,0,-1" }, "softmax", { .page = 0 }, "weights w of softmax1" },
        { { "variant=softmax1", "logits=1,0,-1" }, "softmax", { .page = 0 }, "H of |w|" },
    };
    struct av_model *m = fresh();
    struct av_params plain;
    av_params_default(&plain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct av_params p = params(cases[i].settings);
        const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
        if (!says(cases[i].view, s, cases[i].state, cases[i].text)) {
            fail_msg("%s of %s does not say \"%s\"", cases[i].view, cases[i].settings[0], cases[i].text);
        }
        s = update(m, &plain, ALL_NEEDS);
        if (says(cases[i].view, s, cases[i].state, cases[i].text)) {
            fail_msg("%s of the softmax says \"%s\"", cases[i].view, cases[i].text);
        }
    }
    av_model_free(m);
}

/* Negative weights are marks of their own, positive ones are not. */
static void signs_are_not_colours_alone(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("variant=differential", "differential.lambda=1");
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    struct av_rect r = { 0, 1, 100, 36 };
    struct av_view_state none = { .page = 0 };
    struct av_heat_grid g = av_panel_weights_grid(r, s, &none);
    struct av_canvas c = draw("weights", s, none, 100, 38);
    assert_true(g.pool_rows == 1 && g.pool_cols == 1);
    size_t negative = 0;
    for (size_t i = 1; i < s->n_q; i++) { /* the cursor is in row 0 */
        for (size_t j = 0; j < s->n_k; j++) {
            uint32_t code = av_canvas_at(&c, av_heat_x(&g, j), av_heat_y(&g, i))->code;
            bool disc = code == 0x2218 || code == 0x25CB || code == 0x25CF;
            assert_int_equal(disc, s->weights[i * s->n_k + j] < 0);
            negative += disc;
        }
    }
    assert_true(negative > 100);
    assert_true(find(&c, "- 0 ∘○● -1") >= 0);
    av_canvas_free(&c);
    av_model_free(m);
}

static void heat_values_follow_what_is_seen(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("variant=window+sparsemax", "window.size=3", "mask=causal");
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    for (size_t i = 0; i < 32; i++) {
        for (size_t j = 0; j < 32; j++) {
            double v = 0, w = 0;
            bool seen = j <= i && i - j < 3;
            assert_int_equal(av_heat_value(s, AV_HEAT_WEIGHTS, i, j, &w), seen);
            assert_int_equal(av_heat_value(s, AV_HEAT_LOGITS, i, j, &v), seen);
            assert_int_equal(av_heat_value(s, AV_HEAT_SCORES, i, j, &v), j <= i);
            assert_int_equal(av_heat_value(s, AV_HEAT_LOG_WEIGHTS, i, j, &v), seen);
            assert_true(!seen || (w > 0 ? fabs(v - log10(w)) < 1e-15 : isinf(v)));
        }
    }
    double v;
    struct av_heat_block block = { 10, 1, 5, 6 }; /* of keys 5 to 10 query 10 sees 8, 9, 10 */
    assert_int_equal(av_heat_pooled(s, AV_HEAT_WEIGHTS, AV_HEAT_MEAN, block, &v), AV_HEAT_SHOWN);
    assert_near(v, 1.0 / 3, 1e-15);
    block = (struct av_heat_block){ 10, 1, 0, 8 };
    assert_int_equal(av_heat_pooled(s, AV_HEAT_WEIGHTS, AV_HEAT_MAX, block, &v), AV_HEAT_MASKED);
    assert_int_equal(av_heat_pooled(s, AV_HEAT_SCORES, AV_HEAT_MAX, block, &v), AV_HEAT_SHOWN);
    p = PARAMS("dtype=f16", "q_std=1000", "d_k=4096", "scale=off");
    s = update(m, &p, 0);
    assert_int_equal(av_heat_pooled(s, AV_HEAT_WEIGHTS, AV_HEAT_MAX, block, &v), AV_HEAT_INVALID);
    assert_int_equal(av_heat_pooled(s, AV_HEAT_SCORES, AV_HEAT_MAX, block, &v), AV_HEAT_SHOWN);
    av_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_say_what_is_drawn),
        cmocka_unit_test(signs_are_not_colours_alone),
        cmocka_unit_test(heat_values_follow_what_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
