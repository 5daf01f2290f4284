/* test_app_from.c - the program on layers that have several parts: `from` changed live, and what it says. */
#include "app_driver.h"
#include "parts_source.h"

static struct av_app *open_parts(struct parts_source *s, enum parts_layer layer)
{
    struct av_app_config config = plain_config();
    parts_source(s);
    config.source = &s->source;
    config.params.layer = layer;
    struct av_app *app = open_app(&config);
    av_app_resize(app, 150, 40);
    return app;
}

static void type_weights(struct av_app *app)
{
    press(app, ": f r o m = w e i g h t s Enter");
}

static void assert_shown(struct av_app *app, const char *what)
{
    av_app_finish(app);
    if (!shows(app, what)) {
        struct av_str text = screen(app);
        fail_msg("no \"%s\":\n%s", what, av_str_text(&text));
    }
}

static void weights_are_shown_in_every_view(void **state)
{
    (void)state;
    static const struct {
        const char *view, *before, *after;
    } said[] = {
        { "overview", "q·k / √3", "Shown are the file's weights (from): no" },
        { "weights", "weight 0.061267", "weight 0.038462" },
        { "gradient", "q·k / √3", "Shown are the file's weights (from): no keys, so no dq_rms." },
        { "derivation", "z = ", "Shown are the file's weights (from), not q and k." },
        { "precision", "q·k", "Shown are the file's weights (from): no queries and keys to measure." },
        { "heads", "q·k × 0.5774", "weights of the file" },
    };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        struct parts_source parts;
        struct av_app *app = open_parts(&parts, PARTS_ALL);
        show(app, said[i].view);
        assert_shown(app, said[i].before);
        type_weights(app);
        assert_int_equal(params_of(app)->from, AV_FROM_WEIGHTS);
        assert_shown(app, said[i].after);
        press(app, "u");
        assert_int_equal(params_of(app)->from, AV_FROM_AUTO);
        assert_shown(app, said[i].before);
        av_app_free(app);
    }
}

static void keys_without_effect_say_why(void **state)
{
    (void)state;
    struct parts_source parts;
    struct av_app *app = open_parts(&parts, PARTS_ALL);
    type_weights(app);
    press(app, "s");
    assert_string_equal(av_app_message(app), "scale has no effect: the file's weights are shown; `from` chooses");
    press(app, ": f r o m = s c o r e s Enter s");
    assert_string_equal(av_app_message(app),
                        "scale has no effect: the file's scores are shown, taken as they are; `from` chooses");
    press(app, ": f r o m = q k Enter s");
    assert_int_equal(params_of(app)->scale, 0);
    av_app_free(app);
}

/* Typing it says so, and leaves it as it is; "": it does something. */
static void assert_choice(struct av_app *app, const char *view, const char *says)
{
    show(app, view);
    type_weights(app);
    assert_true(strstr(says, "no effect") == NULL || params_of(app)->from == AV_FROM_AUTO);
    assert_string_equal(av_app_message(app), says);
    press(app, "Esc");
}

static void from_has_to_have_a_choice(void **state)
{
    (void)state;
    struct parts_source parts;
    struct av_app *app = open_parts(&parts, PARTS_QK);
    assert_choice(app, "overview", "from has no effect: the layer holds nothing else");
    assert_choice(app, "precision", "from has no effect: the layer holds nothing else");
    assert_true(shows(app, "from "));
    assert_choice(app, "heads", "from=weights: layer 1 has none; shown as by auto: q.k"); /* others have */
    av_app_free(app);

    app = open_parts(&parts, PARTS_ALL);
    assert_choice(app, "overview", "");
    av_app_free(app);

    struct av_app_config config = plain_config();
    parts_source(&parts);
    parts.source.layers = &parts.layers[PARTS_QK];
    parts.source.layer_count = 1;
    config.source = &parts.source;
    app = open_app(&config);
    av_app_resize(app, 120, 40);
    assert_choice(app, "overview", "from has no effect: the file holds nothing else");
    assert_false(shows(app, "from "));
    av_app_free(app);

    app = open_plain();
    assert_choice(app, "overview", "from has no effect: there is no file to select in");
    av_app_free(app);
}

/* In a layer without the part that is asked for. */
static void what_is_not_there_is_said(void **state)
{
    (void)state;
    struct parts_source parts;
    parts_source(&parts);
    parts.layers[PARTS_ALL].part[AV_PART_SCORES].there = false;
    struct av_app_config config = plain_config();
    config.source = &parts.source;
    struct av_app *app = open_app(&config);
    press(app, ": f r o m = s c o r e s Enter");
    assert_string_equal(av_app_message(app), "from=scores: layer 0 has none; shown as by auto: q.k");
    assert_int_equal(params_of(app)->from, AV_FROM_SCORES);
    assert_int_equal(av_app_snapshot(app, 0)->from, AV_PART_Q);
    type_weights(app);
    assert_string_equal(av_app_message(app), "");
    av_app_free(app);
}

/* Columns of weights behind the query are cut, not masked before a softmax. */
static void causal_weights_are_told_truly(void **state)
{
    (void)state;
    struct parts_source parts;
    struct av_app *app = open_parts(&parts, PARTS_WEIGHTS);
    assert_true(shows(app, "w as the file has them   9"));
    press(app, "m");
    assert_true(shows(app, "w as the file has them, causal keys only   9"));
    assert_false(shows(app, "· causal"));
    av_app_free(app);
}

static void a_sequence_of_several_is_named(void **state)
{
    (void)state;
    struct parts_source parts;
    struct av_app *app = open_parts(&parts, PARTS_QK);
    assert_false(shows(app, "sequence"));
    av_app_free(app);
    struct av_app_config config = plain_config();
    parts_source(&parts);
    parts.source.sequence = 1;
    parts.source.sequences = 3;
    config.source = &parts.source;
    app = open_app(&config);
    av_app_resize(app, 140, 40);
    assert_true(shows(app, "sequence 1 of 3; --batch"));
    show(app, "heads");
    assert_shown(app, "seq 1/3");
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_shown_in_every_view), cmocka_unit_test(keys_without_effect_say_why),
        cmocka_unit_test(from_has_to_have_a_choice),       cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(causal_weights_are_told_truly),   cmocka_unit_test(a_sequence_of_several_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
