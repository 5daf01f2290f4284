/* test_app_params.c - the parameters under keys: walked to, stepped, typed, undone, compared. */
#include "app_driver.h"

/* ---- On the screen ------------------------------------------------------ */

static void value_of(struct av_app *app, const struct av_param *row, char out[128])
{
    struct av_str text = AV_STR_INIT;
    av_param_format(row, params_of(app), &text);
    snprintf(out, 128, "%s", av_str_text(&text));
    av_str_free(&text);
}

/* Each of the list can be walked to, is then on the screen, changes, and is
 * undone. At 80x24 one line is all there is for them. */
static void every_parameter_walks_steps_and_undoes(void **state)
{
    (void)state;
    size_t count;
    const struct av_param *table = av_params_table(&count);
    static const int sizes[][2] = { { 80, 24 }, { 40, 10 }, { 100, 30 }, { 120, 40 }, { 120, 14 } };
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
        struct av_app *app = open_plain();
        av_app_resize(app, sizes[size][0], sizes[size][1]);
        for (size_t i = 0; i < count; i++) {
            if (!on_list(&table[i])) {
                continue;
            }
            char mark[64], before[128], after[128];
            press(app, i == 0 ? "Up Down" : "Down");
            snprintf(mark, sizeof mark, "%s", table[i].name);
            struct av_str text = screen(app);
            const char *at = strstr(text.text, "\xE2\x80\xB9");
            assert_non_null(at); /* the mark before the value */
            while (at > text.text && at[-1] == ' ') {
                at--;
            }
            assert_true(at - text.text >= (ptrdiff_t)strlen(mark));
            assert_memory_equal(at - strlen(mark), mark, strlen(mark));
            av_str_free(&text);
            value_of(app, &table[i], before);
            press(app, "Right");
            value_of(app, &table[i], after);
            bool single = table[i].kind == AV_PARAM_CHOICE && table[i].max < 1;
            if (single) {
                continue;
            }
            assert_string_not_equal(before, after);
            press(app, "u");
            value_of(app, &table[i], after);
            assert_string_equal(before, after);
            press(app, "] Backspace");
            value_of(app, &table[i], after);
            assert_string_equal(before, after);
        }
        av_app_free(app);
    }
}

/* Where one line does not hold them, it says that there are more, behind the
 * entries and whole, or not at all. */
static void more_parameters_are_told_of(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    char line[1024];
    line_of(app, 22, line, sizeof line);
    assert_non_null(strstr(line, "  more 1/"));
    for (int cols = 1; cols < 120; cols++) {
        av_app_resize(app, cols, 24);
        line_of(app, 22, line, sizeof line);
        if (strstr(line, "mor") != NULL) {
            assert_non_null(strstr(line, " more 1/"));
        }
        assert_true(cols < 9 || strstr(line, "d_k\xE2\x80\xB9") != NULL);
    }
    av_app_free(app);
}

/* ---- Stepped and typed -------------------------------------------------- */

static void direct_keys(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "D");
    assert_int_equal(params_of(app)->d_k, 128);
    press(app, "d d");
    assert_int_equal(params_of(app)->d_k, 32);
    press(app, "N");
    assert_int_equal(params_of(app)->n_q, 64);
    assert_int_equal(params_of(app)->n_k, 64);
    press(app, "n n");
    assert_int_equal(params_of(app)->n_k, 16);
    press(app, "T");
    assert_true(params_of(app)->temperature > 1);
    press(app, "t t");
    assert_true(params_of(app)->temperature < 1);
    press(app, "O");
    assert_true(params_of(app)->offset > 0);
    press(app, "o o");
    assert_true(params_of(app)->offset < 0);
    press(app, "m");
    assert_int_equal(params_of(app)->mask, AV_MASK_CAUSAL);
    press(app, "r");
    assert_int_equal(params_of(app)->seed, 43);
    press(app, "R");
    struct av_params start;
    av_params_default(&start);
    assert_int_equal(av_params_stale(params_of(app), &start), AV_STAGE_COUNT);
    assert_int_equal(params_of(app)->n_q, 32);
    press(app, "u");
    assert_int_equal(params_of(app)->seed, 43);
    av_app_free(app);
}

static void values_are_typed(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Enter 1 0 0 0 Backspace Enter");
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "= 7 Esc");
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "Enter Enter");
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "Enter 5 0 0 0 Enter");
    assert_true(shows(app, "1 .. 4096"));
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "Backspace Enter"); /* mended: 500 */
    assert_int_equal(params_of(app)->d_k, 500);
    press(app, "Enter x"); /* a key that is no part of a number is none of the value */
    assert_non_null(strstr(av_app_message(app), "x is no part of a number"));
    press(app, "- Enter");
    assert_non_null(strstr(av_app_message(app), "d_k=-: not a whole number"));
    press(app, "Esc u");
    assert_int_equal(params_of(app)->d_k, 100);
    /* Fewer keys than the probed one: it moves, and that is no error. */
    struct av_app_config config = plain_config();
    config.params.key = 31;
    struct av_app *other = open_app(&config);
    press(other, "Down Down Enter 8 Enter");
    assert_int_equal(params_of(other)->n_k, 8);
    assert_int_equal(params_of(other)->key, 7);
    av_app_free(other);
    av_app_free(app);
}

/* Any parameter by its name, wherever the selection is. */
static void values_are_typed_by_name(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, ": q _ s t d = 2 . 5");
    assert_true(shows(app, "NAME=VALUE: q_std=2.5_"));
    press(app, "Enter");
    assert_true(params_of(app)->q_std == 2.5);
    press(app, "Right"); /* it is selected now */
    assert_true(params_of(app)->q_std > 2.5);
    press(app, ": d i s t = l a p l a c e Enter");
    assert_int_equal(params_of(app)->dist, AV_DIST_LAPLACE);
    static const char *const bad[][2] = {
        { ": d _ k Enter", "not of the form NAME=VALUE" },
        { ": x = 1 Enter", "x: there is no such parameter" },
        { ": d _ k = 0 Enter", "d_k 0: it takes 1 .. 4096" },
        { ": s a m p l e s = 2 0 0 Enter", "samples has no effect" },
        { ": l o g i t s = 1 Enter", "logits has no effect" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        press(app, bad[i][0]);
        if (strstr(av_app_message(app), bad[i][1]) == NULL) {
            fail_msg("%s says \"%s\"", bad[i][0], av_app_message(app));
        }
        press(app, "Esc");
    }
    av_app_free(app);
}

static void a_seed_keeps_its_digits(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Up Up Enter 1 8 4 4 6 7 4 4 0 7 3 7 0 9 5 5 1 6 1 4 Enter");
    assert_true(params_of(app)->seed == 18446744073709551614U);
    press(app, "r r u");
    assert_true(params_of(app)->seed == 18446744073709551615U || params_of(app)->seed == 18446744073709551614U);
    av_app_free(app);
}

static void the_end_of_a_range_is_told(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 4096;
    struct av_app *app = open_app(&config);
    press(app, "D");
    assert_true(shows(app, "d_k ends here: 1 .. 4096"));
    press(app, "u");
    assert_true(shows(app, "nothing to undo"));
    av_app_free(app);
}

/* ---- There and back ----------------------------------------------------- */

static void scale_there_and_back(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "s s"); /* selects it, too */
    struct av_str before = screen(app);
    assert_true(av_app_snapshot(app, 0)->alpha == 0.125);
    press(app, "s");
    struct av_str off = screen(app);
    assert_string_not_equal(before.text, off.text);
    assert_true(av_app_snapshot(app, 0)->alpha == 1);
    press(app, "s");
    struct av_str after = screen(app);
    assert_string_equal(before.text, after.text);
    av_str_free(&before);
    av_str_free(&off);
    av_str_free(&after);
    av_app_free(app);
}

/* A hundred steps are undone one by one, those of one parameter too. */
static void undo_goes_far_back(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    for (int i = 0; i < 100; i++) {
        press(app, "r");
    }
    for (int i = 99; i >= 0; i--) {
        press(app, "u");
        assert_int_equal(params_of(app)->seed, 42 + i);
    }
    press(app, "u");
    assert_true(shows(app, "nothing to undo"));
    for (int i = 0; i < 1000; i++) {
        press(app, "r");
    }
    for (int i = 0; i < 64; i++) {
        press(app, "u");
    }
    assert_int_equal(params_of(app)->seed, 42 + 1000 - 64);
    av_app_free(app);
}

static void cursor_moves_undo_together(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    av_app_resize(app, 140, 60); /* an entry a cell */
    press(app, "T");
    show(app, "weights");
    press(app, "j j l l j");
    assert_int_equal(params_of(app)->query, 3);
    assert_int_equal(params_of(app)->key, 2);
    press(app, "u");
    assert_int_equal(params_of(app)->query, 0);
    assert_int_equal(params_of(app)->key, 0);
    assert_true(params_of(app)->temperature > 1);
    press(app, "u");
    assert_true(params_of(app)->temperature == 1);
    av_app_free(app);
}

static void a_ghost_is_kept_and_dropped(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "s");
    struct av_str before = screen(app);
    press(app, "s c s c F7 Esc");
    struct av_str after = screen(app);
    assert_string_equal(before.text, after.text);
    press(app, "s c s Esc");
    struct av_str kept = screen(app);
    assert_string_not_equal(before.text, kept.text);
    av_str_free(&before);
    av_str_free(&after);
    av_str_free(&kept);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_walks_steps_and_undoes),
        cmocka_unit_test(more_parameters_are_told_of),
        cmocka_unit_test(direct_keys),
        cmocka_unit_test(values_are_typed),
        cmocka_unit_test(values_are_typed_by_name),
        cmocka_unit_test(a_seed_keeps_its_digits),
        cmocka_unit_test(the_end_of_a_range_is_told),
        cmocka_unit_test(scale_there_and_back),
        cmocka_unit_test(undo_goes_far_back),
        cmocka_unit_test(cursor_moves_undo_together),
        cmocka_unit_test(a_ghost_is_kept_and_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
