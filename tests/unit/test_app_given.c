/* test_app_given.c - the program on files that hold scores or weights alone: keys, views, steps between layers. */
#include "app_driver.h"
#include "given_source.h"

/* On the layer, with the cursor where it is at the start. */
static struct av_app *open_at(struct given_source *g, enum given_layer layer)
{
    struct av_app_config config = plain_config();
    given_source(g);
    config.source = &g->source;
    config.params.layer = layer;
    struct av_app *app = open_app(&config);
    av_app_resize(app, 100, 30);
    return app;
}

static void assert_shown(struct av_app *app, const char *view, const char *what)
{
    show(app, view);
    av_app_finish(app);
    if (!shows(app, what)) {
        struct av_str text = screen(app);
        fail_msg("%s does not say \"%s\":\n%s", view, what, av_str_text(&text));
    }
}

/* ---- What the views say ----------------------------------------------------- */

struct said {
    const char *view, *what;
};

static void assert_said(enum given_layer layer, const struct said *said, size_t count)
{
    struct given_source g;
    struct av_app *app = open_at(&g, layer);
    for (size_t i = 0; i < count; i++) {
        assert_shown(app, said[i].view, said[i].what);
    }
    assert_int_equal(av_app_status(app), AV_OK);
    av_app_free(app);
}

static void weights_in_every_view(void **state)
{
    (void)state;
    static const struct said said[] = {
        { "overview", "w as the file has them" },
        { "overview", "This file holds weights alone: no scores." },
        { "overview", "not known: the file holds no logits" },
        { "overview", "not known: the file holds no scores" },
        { "overview", "0.70 of ln 12" },
        { "scores", "This file holds weights alone: no scores." },
        { "weights", "weight 7.1842e-3  log10 -2.1436" },
        { "gradient", "given now" },
        { "gradient", "of each query's weights, as if of a softmax" },
        { "gradient", "This file holds weights alone: no keys, so no dq_rms." },
        { "derivation", "This file holds weights alone: there is no q and no k" },
        { "variants", "This file holds weights alone: no queries and keys to measure." },
        { "precision", "This file holds weights alone: no queries and keys to measure." },
        { "diversity", "This file holds weights alone: no queries and keys to measure." },
    };
    assert_said(GIVEN_WEIGHTS, said, sizeof said / sizeof said[0]);
}

static void scores_in_every_view(void **state)
{
    (void)state;
    static const struct said said[] = {
        { "overview", "z = ( s + 0 ) / 1.00" },
        { "overview", "given" },
        { "scores", "given    now" },
        { "weights", "logit -1.5000  score -1.5000" },
        { "gradient", "This file holds scores alone: no keys, so no dq_rms." },
        { "derivation", "This file holds scores alone: there is no q and no k" },
        { "derivation", "std[z] < sqrt(2 ln n)" },
        { "variants", "This file holds scores alone: no queries and keys to measure." },
    };
    assert_said(GIVEN_SCORES, said, sizeof said / sizeof said[0]);
}

static void nothing_is_drawn_that_is_not_there(void **state)
{
    (void)state;
    static const struct {
        enum given_layer layer;
        const char *view, *not ;
    } cases[] = {
        { GIVEN_WEIGHTS, "overview", "unscaled" },    { GIVEN_WEIGHTS, "overview", "scale off" },
        { GIVEN_WEIGHTS, "weights", "logit" },        { GIVEN_WEIGHTS, "weights", "score" },
        { GIVEN_WEIGHTS, "derivation", "sqrt(2 ln" }, { GIVEN_SCORES, "scores", "unscaled" },
        { GIVEN_SCORES, "gradient", "unscaled" },     { GIVEN_SCORES, "overview", "q·k" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given_source g;
        struct av_app *app = open_at(&g, cases[i].layer);
        show(app, cases[i].view);
        if (shows(app, cases[i].not )) {
            fail_msg("%s says \"%s\"", cases[i].view, cases[i].not );
        }
        av_app_free(app);
    }
}

static void every_view_is_drawn_in_every_size(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 1 }, { 20, 5 }, { 40, 12 }, { 80, 24 }, { 300, 100 } };
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t layer = GIVEN_WEIGHTS; layer < GIVEN_LAYERS; layer++) {
        struct given_source g;
        struct av_app *app = open_at(&g, (enum given_layer)layer);
        for (size_t i = 0; i < count; i++) {
            show(app, views[i]->name);
            for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
                av_app_resize(app, sizes[k][0], sizes[k][1]);
                struct av_str text = screen(app);
                assert_false(text.failed);
                av_str_free(&text);
            }
        }
        assert_int_equal(av_app_status(app), AV_OK);
        av_app_free(app);
    }
}

/* ---- Keys -------------------------------------------------------------------- */

static void keys_that_cannot_act_say_so(void **state)
{
    (void)state;
    static const struct {
        enum given_layer layer;
        const char *key, *says;
    } cases[] = {
        { GIVEN_WEIGHTS, "s", "scale has no effect: the file holds weights alone" },
        { GIVEN_WEIGHTS, "t", "temperature has no effect: the file holds weights alone" },
        { GIVEN_WEIGHTS, "o", "offset has no effect: the file holds weights alone" },
        { GIVEN_SCORES, "s", "scale has no effect: the file holds scores alone, taken as they are" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct given_source g;
        struct av_app *app = open_at(&g, cases[i].layer);
        press(app, cases[i].key);
        assert_string_equal(av_app_message(app), cases[i].says);
        assert_int_equal(params_of(app)->scale, 1);
        av_app_free(app);
    }
    struct given_source g;
    struct av_app *app = open_at(&g, GIVEN_SCORES);
    press(app, "t");
    assert_true(params_of(app)->temperature != 1);
    press(app, ": v a r i a n t = q k _ r m s Enter");
    assert_non_null(strstr(av_app_message(app), "does not act on the file's scores"));
    assert_int_equal(params_of(app)->variant, 0);
    press(app, "Esc : v a r i a n t = s p a r s e m a x Enter");
    assert_true(params_of(app)->variant != 0);
    av_app_free(app);
}

/* In the view of all heads a key acts when it does on one of them. */
static void all_heads_together(void **state)
{
    (void)state;
    struct given_source g;
    struct av_app *app = open_at(&g, GIVEN_WEIGHTS);
    show(app, "heads");
    press(app, "s");
    assert_int_equal(params_of(app)->scale, 0);
    av_app_free(app);
    given_source(&g);
    struct av_app_config config = plain_config();
    g.source.layers = &g.layers[GIVEN_WEIGHTS];
    g.source.layer_count = 1;
    config.source = &g.source;
    app = open_app(&config);
    show(app, "heads");
    press(app, "s");
    assert_string_equal(av_app_message(app), "scale has no effect: the file holds weights alone");
    av_app_free(app);
}

static void the_lab_loads_what_there_is(void **state)
{
    (void)state;
    struct given_source g;
    struct av_app *app = open_at(&g, GIVEN_WEIGHTS);
    show(app, "softmax");
    press(app, "L");
    assert_non_null(strstr(av_app_message(app), "what is shown are a file's weights, no logits"));
    av_app_free(app);
    app = open_at(&g, GIVEN_SCORES);
    show(app, "softmax");
    press(app, "L");
    assert_int_equal(params_of(app)->logits.n, GIVEN_N);
    assert_true(params_of(app)->logits.at[1] == g.scores[1]);
    av_app_free(app);
}

static void quantities_that_are_not_there_are_passed_over(void **state)
{
    (void)state;
    struct given_source g;
    struct av_app *app = open_at(&g, GIVEN_SCORES);
    show(app, "weights");
    press(app, "y y");
    assert_true(shows(app, "logits z"));
    press(app, "y");
    assert_true(shows(app, "scores s"));
    av_app_free(app);
    app = open_at(&g, GIVEN_WEIGHTS);
    show(app, "weights");
    press(app, "y");
    assert_true(shows(app, "log10"));
    press(app, "y");
    assert_true(shows(app, "weights p"));
    press(app, "y");
    assert_true(shows(app, "log10"));
    av_app_free(app);
}

/* ---- From layer to layer ------------------------------------------------------- */

static void go(struct av_app *app, enum given_layer layer)
{
    char keys[] = ": l a y e r = 0 Enter";
    *strchr(keys, '0') = (char)('0' + (int)layer);
    press(app, keys);
    assert_int_equal(params_of(app)->layer, layer);
}

static void to_a_layer_without_keys_and_back(void **state)
{
    (void)state;
    struct given_source g;
    struct av_app *app = open_at(&g, GIVEN_ENTRIES);
    show(app, "weights");
    struct av_str before = screen(app);
    go(app, GIVEN_WEIGHTS);
    assert_true(shows(app, "w as the file has them"));
    go(app, GIVEN_SMALL);
    assert_true(shows(app, "5 queries × 9 keys"));
    go(app, GIVEN_SCORES);
    assert_true(shows(app, "z = ( s"));
    press(app, "u u u");
    assert_int_equal(params_of(app)->layer, GIVEN_ENTRIES);
    assert_int_equal(params_of(app)->d_k, GIVEN_D);
    struct av_str after = screen(app);
    /* But for the last lines, where the parameter is another and the message new. */
    const char *list = strstr(av_str_text(&before), " d_k ");
    assert_memory_equal(before.text, after.text, (size_t)(list - before.text));
    av_str_free(&before);
    av_str_free(&after);
    av_app_free(app);
}

/* A state that was kept at a layer of one kind, beside all others. */
static void a_kept_state_of_another_kind(void **state)
{
    (void)state;
    static const char *const compared[] = { "overview", "scores", "gradient" };
    for (size_t kept = 0; kept < GIVEN_LAYERS; kept++) {
        struct given_source g;
        struct av_app *app = open_at(&g, (enum given_layer)kept);
        press(app, "c");
        for (size_t i = 0; i < 3 * GIVEN_LAYERS; i++) {
            show(app, compared[i % 3]);
            go(app, (enum given_layer)(i / 3));
            assert_false(shows(app, "nan") || shows(app, "inf"));
        }
        assert_int_equal(av_app_status(app), AV_OK);
        av_app_free(app);
    }
}

static void a_head_that_has_gone_is_told_and_left(void **state)
{
    (void)state;
    struct given_source g;
    struct av_app *app = open_at(&g, GIVEN_ENTRIES);
    g.broken_layer = GIVEN_WEIGHTS;
    press(app, ": l a y e r = 1 Enter");
    av_app_snapshot(app, 0);
    assert_non_null(strstr(av_app_message(app), "layer 1, head 0 has gone"));
    g.broken_layer = GIVEN_LAYERS;
    go(app, GIVEN_SCORES);
    assert_int_equal(av_app_snapshot(app, 0)->from, AV_PART_SCORES);
    go(app, GIVEN_WEIGHTS);
    assert_int_equal(av_app_snapshot(app, 0)->from, AV_PART_WEIGHTS);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_in_every_view),
        cmocka_unit_test(scores_in_every_view),
        cmocka_unit_test(nothing_is_drawn_that_is_not_there),
        cmocka_unit_test(every_view_is_drawn_in_every_size),
        cmocka_unit_test(keys_that_cannot_act_say_so),
        cmocka_unit_test(all_heads_together),
        cmocka_unit_test(the_lab_loads_what_there_is),
        cmocka_unit_test(quantities_that_are_not_there_are_passed_over),
        cmocka_unit_test(to_a_layer_without_keys_and_back),
        cmocka_unit_test(a_kept_state_of_another_kind),
        cmocka_unit_test(a_head_that_has_gone_is_told_and_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
