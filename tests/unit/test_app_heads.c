/* test_app_heads.c - from the view of all heads to one of them. */
#include "app_driver.h"
#include "heads_source.h"

static void a_head_is_opened(void **state)
{
    (void)state;
    struct made_source made;
    made_source(&made);
    made.source.layer_count = 1;
    struct av_app_config config = plain_config();
    config.source = &made.source;
    struct av_app *app = open_app(&config);
    show(app, "heads");
    press(app, "l l l e");
    assert_int_equal(params_of(app)->head, 3);
    assert_int_equal(params_of(app)->layer, 0);
    assert_true(shows(app, "weights"));
    assert_non_null(strstr(av_app_message(app), "under the cursor"));
    press(app, "u"); /* the head goes back, the view stays */
    assert_int_equal(params_of(app)->head, 0);
    show(app, "heads");
    press(app, "e"); /* the cursor is where it was */
    assert_int_equal(params_of(app)->head, 3);
    av_app_free(app);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
