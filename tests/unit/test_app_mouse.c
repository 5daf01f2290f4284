/* test_app_mouse.c - the mouse on the parameters, on the heatmap, elsewhere. */
#include "app_driver.h"

#include <math.h>

static bool find(struct av_app *app, const char *word, int *x, int *y)
{
    const struct av_canvas *c = av_app_draw(app);
    for (*y = 0; *y < c->rows; ++*y) {
        for (*x = 0; *x < c->cols; ++*x) {
            size_t n = 0;
            while (word[n] != '\0' && av_canvas_at(c, *x + (int)n, *y)->code == (unsigned char)word[n]) {
                n++;
            }
            if (word[n] == '\0') {
                return true;
            }
        }
    }
    return false;
}

static void mouse_on_a_parameter(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    for (int cols = 80; cols <= 130; cols += 50) {
        int x = 0, y = 0;
        press(app, "R");
        av_app_resize(app, cols, 24);
        assert_true(find(app, "temperature", &x, &y));
        av_app_mouse(app, AV_MOUSE_PRESS, x + 2, y);
        press(app, "]");
        assert_true(params_of(app)->temperature > 1);
        press(app, "u");
        av_app_mouse(app, AV_MOUSE_WHEEL_UP, x, y);
        av_app_mouse(app, AV_MOUSE_WHEEL_UP, x, y);
        assert_true(params_of(app)->temperature > 1.09);
        av_app_mouse(app, AV_MOUSE_WHEEL_DOWN, x, y);
        assert_true(params_of(app)->temperature < 1.09);
        press(app, "u u u");
        av_app_mouse(app, AV_MOUSE_PRESS, x, y);
        av_app_mouse(app, AV_MOUSE_DRAG, x + 3, y);
        av_app_mouse(app, AV_MOUSE_DRAG, x + 5, y);
        assert_true(fabs(params_of(app)->temperature - pow(1.05, 5)) < 1e-3);
        press(app, "u");
        assert_true(params_of(app)->temperature == 1);
    }
    av_app_free(app);
}

/* Off the parameters the wheel is nobody's. */
static void the_wheel_elsewhere_does_nothing(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    int x = 0, y = 0;
    assert_true(find(app, "n_q", &x, &y));
    av_app_mouse(app, AV_MOUSE_WHEEL_UP, x, y);
    struct av_str before = screen(app);
    assert_non_null(strstr(before.text, "n_q\xE2\x80\xB9"
                                        "64"));
    for (int row = -1; row < 26; row += row == y - 1 ? 2 : 1) {
        av_app_mouse(app, AV_MOUSE_WHEEL_UP, 40, row);
        av_app_mouse(app, AV_MOUSE_WHEEL_DOWN, 40, row);
        av_app_mouse(app, AV_MOUSE_WHEEL_DOWN, 3, row);
    }
    struct av_str after = screen(app);
    assert_string_equal(before.text, after.text);
    press(app, "= 5"); /* it does not drop what is typed */
    av_app_mouse(app, AV_MOUSE_WHEEL_UP, 40, 5);
    press(app, "Enter");
    assert_int_equal(params_of(app)->n_q, 5);
    av_str_free(&before);
    av_str_free(&after);
    av_app_free(app);
}

static void a_second_click_turns_a_switch(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    int x = 0, y = 0;
    av_app_resize(app, 130, 40);
    assert_true(find(app, "scale  ", &x, &y));
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    assert_int_equal(params_of(app)->scale, 1);
    av_app_draw(app);
    for (int off = 0; off < 2; off++) {
        av_app_mouse(app, AV_MOUSE_PRESS, x, y);
        assert_int_equal(params_of(app)->scale, off);
        av_app_draw(app);
    }
    press(app, "u");
    assert_int_equal(params_of(app)->scale, 0); /* each click by itself */
    press(app, "= o");
    av_app_draw(app);
    av_app_mouse(app, AV_MOUSE_PRESS, x, y); /* drops what was typed */
    assert_int_equal(params_of(app)->scale, 0);
    assert_true(find(app, "mask  ", &x, &y));
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    av_app_draw(app);
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    assert_int_equal(params_of(app)->mask, AV_MASK_CAUSAL);
    assert_true(find(app, "n_k  ", &x, &y)); /* a number stays */
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    assert_int_equal(params_of(app)->n_k, 32);
    av_app_free(app);
}

static void a_drag_doubles_every_fourth_column(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    int x = 0, y = 0;
    show(app, "weights");
    press(app, "j j"); /* moves that the drag does not add to */
    assert_true(find(app, "d_k", &x, &y));
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    static const int way[][2] = { { 3, 64 }, { 4, 128 }, { 7, 128 }, { 8, 256 }, { 1, 128 }, { 0, 64 }, { -9, 16 } };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        av_app_mouse(app, AV_MOUSE_DRAG, x + way[i][0], y);
        assert_int_equal(params_of(app)->d_k, way[i][1]);
    }
    press(app, "j");
    av_app_mouse(app, AV_MOUSE_DRAG, x + 40, y); /* a key has ended it */
    assert_int_equal(params_of(app)->d_k, 16);
    int64_t query = params_of(app)->query;
    press(app, "u");
    assert_true(params_of(app)->query < query);
    assert_int_equal(params_of(app)->d_k, 16);
    press(app, "u");
    assert_int_equal(params_of(app)->d_k, 64);
    assert_true(params_of(app)->query > 0);
    press(app, "u");
    assert_int_equal(params_of(app)->query, 0);
    av_app_free(app);
}

/* A click selects the query and the key whose labels stand at the cell. */
static void mouse_in_the_heatmap(void **state)
{
    (void)state;
    enum { TOP = 3, LEFT = 6, CELL_W = 2 }; /* where an app of this size has query 0, key 0 */
    struct av_app *app = open_plain();
    show(app, "weights");
    av_app_resize(app, 100, 46);
    for (int query = 20; query >= 0; query -= 20) {
        for (int key = 5; key < 32; key += 26) {
            int x = LEFT + CELL_W * key, y = TOP + query;
            av_app_mouse(app, AV_MOUSE_PRESS, x + 1, y);
            assert_int_equal(params_of(app)->query, query);
            assert_int_equal(params_of(app)->key, key);
            char line[1024];
            line_of(app, y, line, sizeof line);
            assert_int_equal(strtol(line, NULL, 10), query);
            line_of(app, TOP - 1, line, sizeof line);
            assert_int_equal(strtol(line + x - (key > 9), NULL, 10), key);
            const struct av_canvas *c = av_app_draw(app);
            assert_true(av_canvas_at(c, x, y)->mark && av_canvas_at(c, x + 1, y)->mark);
            assert_false(av_canvas_at(c, x - 1, y)->mark || av_canvas_at(c, x, y + 1)->mark);
        }
    }
    av_app_mouse(app, AV_MOUSE_PRESS, LEFT - 2, TOP + 7); /* beside the cells */
    assert_int_equal(params_of(app)->query, 0);
    av_app_mouse(app, AV_MOUSE_DRAG, LEFT + CELL_W * 3, TOP + 9);
    assert_int_equal(params_of(app)->query, 9);
    assert_int_equal(params_of(app)->key, 3);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mouse_on_a_parameter),          cmocka_unit_test(the_wheel_elsewhere_does_nothing),
        cmocka_unit_test(a_second_click_turns_a_switch), cmocka_unit_test(a_drag_doubles_every_fourth_column),
        cmocka_unit_test(mouse_in_the_heatmap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
