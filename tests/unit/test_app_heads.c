/* test_app_heads.c - from the view of all heads to one of them. */
#include "app_heads_driver.h"

static void a_head_is_opened(void **state)
{
    (void)state;
    struct made_source made;
    struct av_app *app = open_made(&made);
    show(app, "heads");
    press(app, "l l l e");
    assert_int_equal(params_of(app)->head, 3);
    assert_int_equal(params_of(app)->layer, 0);
    assert_true(shows(app, "weights"));
    assert_non_null(strstr(av_app_message(app), "under the cursor"));
    press(app, "u"); /* the head goes back, the view stays */
    assert_int_equal(params_of(app)->head, 0);
    show(app, "heads");
    press(app, "Enter"); /* the cursor is where it was; = types here */
    assert_int_equal(params_of(app)->head, 3);
    assert_true(shows(app, "weights"));
    press(app, "u");
    show(app, "heads");
    press(app, "= Esc e");
    assert_int_equal(params_of(app)->head, 3);
    av_app_free(app);
}

/* Esc goes back to where the head was opened, once; whoever walks on by himself is
 * not brought back. */
static void esc_goes_back(void **state)
{
    (void)state;
    struct made_source made;
    struct av_app *app = open_made(&made);
    show(app, "heads");
    press(app, "l l Enter");
    assert_true(shows(app, "Esc: back to heads"));
    press(app, "? Esc"); /* what is on top is closed first */
    press(app, ": Esc");
    assert_false(shows(app, "heads 1/2"));
    press(app, "Esc");
    assert_true(shows(app, "heads 1/2"));
    assert_true(shows(app, "layer 10, head 2"));
    press(app, "Esc Esc"); /* the second time it stops the study, and lets it go on */
    assert_true(shows(app, "heads 1/2"));
    press(app, "Enter Tab S-Tab Esc");
    assert_false(shows(app, "heads 1/2"));
    av_app_free(app);
}

/* The head that is looked at comes before the first of the list, and the file's
 * sizes are no parameters here. */
static void what_is_looked_at_comes_first(void **state)
{
    (void)state;
    struct made_source made;
    struct av_app *app = open_made(&made);
    show(app, "heads");
    press(app, "l l l l l");
    assert_true(shows(app, "layer 10, head 5: still to be measured"));
    assert_true(av_app_work(app));
    assert_true(shows(app, "layer 10, head 5: fine"));
    assert_true(shows(app, "1 measured"));
    press(app, "h h h");
    assert_true(shows(app, "layer 10, head 2: still to be measured"));
    assert_true(av_app_work(app));
    assert_true(shows(app, "layer 10, head 2: fine"));
    av_app_finish(app);
    assert_true(shows(app, "10.0✗"));
    press(app, ": q _ s t d = 2 Enter");
    assert_non_null(strstr(av_app_message(app), "queries and keys come from files"));
    av_app_free(app);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_opened),
        cmocka_unit_test(esc_goes_back),
        cmocka_unit_test(what_is_looked_at_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
