/* test_app_long.c - heads of which the views show the last queries; weights beside Q and K. */
#include "app_heads_driver.h"
#include "drawn_source.h"

enum { LONG = 2560, LEFT_OUT = LONG - (1 << 20) / LONG };

/* Rows, the cursor and the title count as the file does, the parameter from 0. */
static void queries_have_their_numbers(void **state)
{
    (void)state;
    static struct drawn_source s;
    char text[64];
    drawn_source(&s, LONG, LONG, 4, false);
    struct av_app_config config = plain_config();
    config.source = &s.source;
    struct av_app *app = open_app(&config);
    show(app, "weights");
    snprintf(text, sizeof text, "query 0 is the file's %d", LEFT_OUT);
    assert_true(shows(app, text));
    snprintf(text, sizeof text, "query %d, key 0", LEFT_OUT);
    assert_true(shows(app, text));
    snprintf(text, sizeof text, "%d▸", LEFT_OUT);
    assert_true(shows(app, text));
    press(app, ": q u e r y = 3 Enter");
    assert_int_equal(params_of(app)->query, 3);
    snprintf(text, sizeof text, "query %d, key 0", LEFT_OUT + 3);
    assert_true(shows(app, text));
    av_app_free(app);
}

/* Among so many keys no weight gets beyond the first colours: the scale ends at the
 * largest. Of a head with a large weight it ends at 1, as in every other. */
static void faint_weights_have_a_scale(void **state)
{
    (void)state;
    struct made_source made;
    made_source(&made);
    made.source.layer_count = 1;
    struct av_app_config config = plain_config();
    config.source = &made.source;
    struct av_app *app = open_app(&config);
    show(app, "weights");
    press(app, ": h e a d = 3 Enter");
    assert_true(shows(app, ".25"));
    av_app_free(app);
    static struct drawn_source s;
    drawn_source(&s, 512, 512, 4, false);
    config.source = &s.source;
    app = open_app(&config);
    show(app, "weights");
    press(app, ": t e m p e r a t u r e = 1 0 0 Enter"); /* about 1/512 each */
    assert_true(shows(app, "2.1e-3  colour"));
    assert_false(shows(app, ".25"));
    av_app_free(app);
}

/* What is found of q.k is not what there is to say of the file's weights. */
static void the_verdict_says_what_it_is_of(void **state)
{
    (void)state;
    struct made_source made;
    made_source(&made);
    made.source.layer_count = 1;
    struct av_app_config config = plain_config();
    config.source = &made.source;
    struct av_app *app = open_app(&config);
    show(app, "overview");
    press(app, ": h e a d = 2 Enter");
    assert_true(shows(app, "fine: "));
    assert_false(shows(app, "view heads"));
    av_app_free(app);
    made.layers[0].part[AV_PART_WEIGHTS] = (struct av_source_tensor){ .there = true, .wide = true };
    app = open_app(&config);
    show(app, "overview");
    press(app, ": h e a d = 2 Enter");
    assert_true(shows(app, "fine: q·k × 0.177"));
    assert_true(shows(app, "view heads"));
    av_app_free(app);
}

/* Where entropies have no unit, the message says why. */
static void the_unit_of_entropies(void **state)
{
    (void)state;
    struct made_source made;
    struct av_app *app = open_made(&made);
    show(app, "heads");
    press(app, ": e n t r o p y _ u n i t = b i t s Enter");
    assert_non_null(strstr(av_app_message(app), "no entropy here has a unit"));
    press(app, "Esc");
    assert_int_equal(av_app_resize(app, 120, 50), AV_OK);
    show(app, "weights");
    assert_true(shows(app, " nats"));
    press(app, ": e n t r o p y _ u n i t = b i t s Enter");
    assert_true(shows(app, " bits"));
    av_app_free(app);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_have_their_numbers),
        cmocka_unit_test(faint_weights_have_a_scale),
        cmocka_unit_test(the_verdict_says_what_it_is_of),
        cmocka_unit_test(the_unit_of_entropies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
