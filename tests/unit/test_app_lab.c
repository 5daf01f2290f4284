/* The lab in the interactive program: a row of logits that is typed, nudged
 * and undone, apart from the pipeline. */
#include "app_driver.h"

#include <math.h>

static void type_text(struct av_app *app, const char *text)
{
    for (; *text != '\0'; text++) {
        av_app_key(app, (uint32_t)(unsigned char)*text);
    }
}

static void assert_row(struct av_app *app, size_t n, const double *at)
{
    const struct av_params *p = params_of(app);
    assert_int_equal(p->logits.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(p->logits.at[i] - at[i]) < 1e-12);
    }
}

#define ASSERT_ROW(app, ...)                                                                                           \
    assert_row(app, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), (const double[]){ __VA_ARGS__ })

static struct av_app *open_lab(void)
{
    struct av_app_config config = plain_config();
    config.view = "softmax";
    return open_app(&config);
}

static void it_begins_with_three_logits(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    ASSERT_ROW(app, 1, 0.5, -0.5);
    const struct av_snapshot *s = av_app_snapshot(app, 0);
    assert_true(s->from_logits);
    assert_true(fabs(s->rows[0].entropy - 0.952807564013367) < 1e-14);
    av_app_free(app);
}

static void the_pipeline_is_left_alone(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Down Down"); /* n_k */
    struct av_params before = *params_of(app);
    uint64_t samples = av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE];
    show(app, "softmax");
    press(app, "K K x");
    show(app, "overview");
    const struct av_snapshot *s = av_app_snapshot(app, 0);
    assert_false(s->from_logits);
    assert_int_equal(s->n_k, 32);
    assert_int_equal(s->runs[AV_STAGE_SAMPLE], samples);
    assert_int_equal(s->params.key, before.key);
    show(app, "softmax");
    ASSERT_ROW(app, 0.5, -0.5); /* the row has waited */
    av_app_free(app);
}

/* Of 32 queries and keys the last are selected, of three logits there is no
 * such key; back again, the selection is what it was. */
static void the_selection_waits(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.key = 31;
    config.params.query = 31;
    struct av_app *app = open_app(&config);
    show(app, "softmax");
    assert_int_equal(params_of(app)->key, 2);
    show(app, "weights");
    assert_int_equal(params_of(app)->key, 31);
    assert_int_equal(params_of(app)->query, 31);
    av_app_free(app);
}

static void given_logits_are_the_row_everywhere(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    assert_int_equal(av_params_set_text(&config.params, "logits=3,1,-2,0.5", NULL), AV_OK);
    struct av_app *app = open_app(&config);
    show(app, "softmax");
    ASSERT_ROW(app, 3, 1, -2, 0.5);
    press(app, "K");
    show(app, "overview");
    ASSERT_ROW(app, 4, 1, -2, 0.5);
    assert_true(av_app_snapshot(app, 0)->from_logits);
    press(app, "R");
    ASSERT_ROW(app, 3, 1, -2, 0.5);
    av_app_free(app);
}

static void edits_are_undone_one_by_one(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    press(app, "K l K x");
    ASSERT_ROW(app, 2, -0.5);
    press(app, "u");
    ASSERT_ROW(app, 2, 1.5, -0.5);
    press(app, "u u");
    ASSERT_ROW(app, 2, 0.5, -0.5);
    press(app, "u");
    ASSERT_ROW(app, 1, 0.5, -0.5);
    av_app_free(app);
}

/* Undone while another view is shown, the row is back there; the pipeline does
 * not become a row of logits. */
static void undo_reaches_the_row_from_elsewhere(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    press(app, "K");
    show(app, "overview");
    press(app, "u");
    assert_false(av_app_snapshot(app, 0)->from_logits);
    show(app, "softmax");
    ASSERT_ROW(app, 1, 0.5, -0.5);
    av_app_free(app);
}

/* R in the lab resets what waits as well, and u brings all of it back. */
static void a_reset_reaches_the_selection_that_waits(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.key = 31;
    struct av_app *app = open_app(&config);
    press(app, "n"); /* fewer keys than the selection waits for */
    press(app, ":");
    type_text(app, "key=10");
    press(app, "Enter");
    struct av_params before = *params_of(app);
    show(app, "softmax");
    press(app, "h"); /* of three logits, the second */
    assert_int_equal(params_of(app)->key, 1);
    press(app, "R");
    assert_int_equal(params_of(app)->key, 2);
    show(app, "overview");
    assert_int_equal(params_of(app)->key, 31);
    assert_int_equal(params_of(app)->n_k, 32);
    press(app, "u");
    assert_memory_equal(params_of(app), &before, offsetof(struct av_params, logits));
    show(app, "softmax");
    press(app, "R u");
    assert_int_equal(params_of(app)->key, 2); /* as it was entered */
    show(app, "overview");
    assert_int_equal(params_of(app)->key, 10);
    av_app_free(app);
}

/* A selection that moved in the lab is none of the pipeline's. */
static void undo_elsewhere_leaves_the_selection_alone(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.key = 20;
    config.params.query = 9;
    struct av_app *app = open_app(&config);
    show(app, "softmax");
    press(app, "K h h");
    show(app, "overview");
    press(app, "u");
    assert_int_equal(params_of(app)->key, 20);
    press(app, "u u");
    assert_int_equal(params_of(app)->key, 20);
    assert_int_equal(params_of(app)->query, 9);
    show(app, "softmax");
    ASSERT_ROW(app, 1, 0.5, -0.5);
    av_app_free(app);
}

/* And a key that moved before the lab was entered goes back while it is shown. */
static void undo_in_the_lab_reaches_the_selection_that_waits(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, ":");
    type_text(app, "key=10");
    press(app, "Enter");
    show(app, "softmax");
    press(app, "l u u");
    show(app, "overview");
    assert_int_equal(params_of(app)->key, 0);
    av_app_free(app);
}

/* Everything goes back to the start, a row that is not in sight as well. */
static void a_reset_elsewhere_reaches_the_row(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    press(app, "K");
    show(app, "overview");
    press(app, "R");
    show(app, "softmax");
    ASSERT_ROW(app, 1, 0.5, -0.5);
    press(app, "u");
    ASSERT_ROW(app, 2, 0.5, -0.5);
    av_app_free(app);
}

static void a_row_is_typed(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    press(app, "Up"); /* from the first parameter of the list to its last, logits */
    press(app, "=");
    type_text(app, "5,-1e2,.25,7");
    press(app, "Enter");
    ASSERT_ROW(app, 5, -100, 0.25, 7);
    press(app, "=");
    type_text(app, "1,x");
    assert_non_null(strstr(av_app_message(app), "x is no part of a number"));
    type_text(app, "-,2");
    press(app, "Enter");
    assert_non_null(strstr(av_app_message(app), "number 2 is '-'"));
    ASSERT_ROW(app, 5, -100, 0.25, 7);
    press(app, "Esc Backspace");
    ASSERT_ROW(app, 1, 0.5, -0.5);
    av_app_free(app);
}

/* Blanks part numbers as well: "3 2 1" is no 321. */
static void a_row_is_typed_with_blanks(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    press(app, "Up =");
    type_text(app, "3 2  -1");
    press(app, "Enter");
    ASSERT_ROW(app, 3, 2, -1);
    press(app, ":");
    type_text(app, "logits=4 , 5 6");
    press(app, "Enter");
    ASSERT_ROW(app, 4, 5, 6);
    av_app_free(app);
}

/* The row that is loaded is of the state as it is set, not of one on its way. */
static void a_loaded_row_is_at_rest(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    double score = av_app_snapshot(app, 0)->scores[0];
    av_app_tick(app, 1000);
    press(app, "s");
    av_app_tick(app, 1020);
    av_app_draw(app);
    show(app, "softmax");
    press(app, "L");
    const struct av_params *p = params_of(app);
    assert_int_equal(p->logits.n, 32);
    assert_true(p->logits.at[0] == score);
    av_app_free(app);
}

static void one_logit_is_typed(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    press(app, "l e");
    type_text(app, "-3.5");
    assert_true(shows(app, "logit of key 1, now 0.5: -3.5_"));
    press(app, "Enter");
    ASSERT_ROW(app, 1, -3.5, -0.5);
    static const char *const bad[] = { "1-2", "1e400", "-", "e" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        press(app, "e");
        type_text(app, bad[i]);
        press(app, "Enter");
        assert_true(av_app_message(app)[0] != '\0');
        press(app, "Esc");
        ASSERT_ROW(app, 1, -3.5, -0.5);
    }
    press(app, "e Enter"); /* nothing typed, nothing changed */
    ASSERT_ROW(app, 1, -3.5, -0.5);
    press(app, "u");
    ASSERT_ROW(app, 1, 0.5, -0.5);
    av_app_free(app);
}

/* Only what a row of logits depends on is listed, and other keys say so. */
static void only_its_parameters_are_listed(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    av_app_resize(app, 120, 40);
    assert_true(shows(app, "temperature"));
    assert_false(shows(app, "d_k"));
    press(app, "s");
    assert_non_null(strstr(av_app_message(app), "scale has no effect"));
    press(app, "c");
    assert_non_null(strstr(av_app_message(app), "does not show kept states"));
    av_app_free(app);
}

/* Temperature and offset are those of the whole program. */
static void shared_parameters_are_shared(void **state)
{
    (void)state;
    struct av_app *app = open_lab();
    double entropy = av_app_snapshot(app, 0)->rows[0].entropy;
    press(app, "O O O");
    assert_true(av_app_snapshot(app, 0)->rows[0].entropy == entropy);
    press(app, "T");
    assert_true(av_app_snapshot(app, 0)->rows[0].entropy > entropy);
    show(app, "overview");
    assert_true(params_of(app)->temperature > 1);
    assert_true(params_of(app)->offset == 3);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_with_three_logits),
        cmocka_unit_test(the_pipeline_is_left_alone),
        cmocka_unit_test(the_selection_waits),
        cmocka_unit_test(given_logits_are_the_row_everywhere),
        cmocka_unit_test(edits_are_undone_one_by_one),
        cmocka_unit_test(undo_reaches_the_row_from_elsewhere),
        cmocka_unit_test(a_reset_reaches_the_selection_that_waits),
        cmocka_unit_test(undo_elsewhere_leaves_the_selection_alone),
        cmocka_unit_test(undo_in_the_lab_reaches_the_selection_that_waits),
        cmocka_unit_test(a_reset_elsewhere_reaches_the_row),
        cmocka_unit_test(a_row_is_typed),
        cmocka_unit_test(a_row_is_typed_with_blanks),
        cmocka_unit_test(a_loaded_row_is_at_rest),
        cmocka_unit_test(one_logit_is_typed),
        cmocka_unit_test(only_its_parameters_are_listed),
        cmocka_unit_test(shared_parameters_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
