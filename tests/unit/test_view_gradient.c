/* test_view_gradient.c - the gradient's rows, sorted and by query. */
#include "view_driver.h"

static void sorted_rows_rise(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=40", "n_k=32", "scale=off", "d_k=1024");
    f.state.page = 1;
    f.s.other_rows = NULL;
    f.s.other.rows = 0;
    struct av_canvas c = drawn("gradient", &f, 100, 38, false);
    int top = find(&c, "jacobian_fro") + 1;
    int bottom = find(&c, "└");
    assert_true(top > 0 && bottom > top + 8);
    int last = bottom;
    int columns = 0;
    for (int x = 0; x < c.cols; x++) {
        for (int y = top; y < bottom; y++) {
            uint32_t code = av_canvas_at(&c, x, y)->code;
            if (code == AV_MARK_NOW || code == 0x25BE) {
                assert_true(y <= last);
                last = y;
                columns++;
            }
        }
    }
    assert_int_equal(columns, 40);
    av_canvas_free(&c);
    fake_free(&f);
}

static void rows_below_the_axis_point_down(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    struct av_canvas c = drawn("gradient", &f, 80, 22, false);
    assert_int_equal(find(&c, "▾"), -1);
    av_canvas_free(&c);
    f.rows[3].scaled.half_gap = 500; /* some 10^-435 */
    f.dq[3] = 0;
    c = drawn("gradient", &f, 80, 22, false);
    int legends = 0;
    int arrows = 0;
    for (int y = 0; y < c.rows; y++) {
        char out[LINE];
        bool legend = strstr(line(&c, y, out), "▾ below the axis") != NULL;
        legends += legend;
        arrows += legend ? 0 : count(&c, y, 0x25BE);
    }
    assert_int_equal(arrows, 2); /* one in each panel */
    assert_int_equal(legends, 2);
    av_canvas_free(&c);
    fake_free(&f);
}

static void queries_fill_the_width(void **state)
{
    (void)state;
    static const struct {
        int w, n_q, columns;
    } table[] = { { 80, 32, 2 }, { 80, 60, 1 }, { 100, 32, 2 }, { 120, 32, 3 }, { 200, 32, 5 }, { 60, 32, 1 } };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct av_heat_grid g = av_panel_rows_grid((struct av_rect){ 0, 0, table[i].w, 10 }, (size_t)table[i].n_q);
        assert_int_equal(g.cell_w, table[i].columns);
        assert_int_equal(g.pool_cols, 1);
        assert_int_equal(g.cells.w, table[i].columns * table[i].n_q);
    }
    struct fake f;
    make(&f, NULL);
    assert_says("gradient", &f, 80, 22, "┄ dead 1e-3");
    assert_says("gradient", &f, 120, 38, "┄ dead below 1e-3");
    fake_free(&f);
}

/* The kept state has no points: its line joins those of the points, and goes
 * where it would cost a panel. */
static void the_kept_line_replaces_no_legend(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    f.ghost = (struct av_ghost){ .on = true, .now = f.s.other };
    for (int h = 4; h <= 40; h++) {
        struct av_canvas c = drawn("gradient", &f, 80, h, false);
        assert_int_equal(find(&c, "● scaled now"), 1);
        assert_int_equal(find(&c, "◇ unscaled"), 2);
        assert_int_equal(find(&c, "△ kept (not plotted)"), h >= 12 && h != 19 ? 3 : -1);
        assert_int_equal(find(&c, "dq_rms") > 0, h >= 19);
        av_canvas_free(&c);
    }
    fake_free(&f);
}

static void the_mean_goes_before_the_dead_rows(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    for (int w = 1; w <= 80; w++) {
        struct av_canvas c = drawn("gradient", &f, w, 22, false);
        char out[LINE];
        bool mean = strstr(line(&c, 1, out), "mean ") != NULL;
        bool dead = strstr(out, "dead rows 0%") != NULL;
        assert_true(dead || (!mean && strstr(out, "of 32") == NULL));
        assert_true(dead || w < 60);
        assert_true(mean || w < 80);
        av_canvas_free(&c);
    }
    fake_free(&f);
}

/* Labels of the vertical axes, all lines of them. */
static void axis_labels(const struct fake *f, char out[LINE])
{
    struct av_canvas c = drawn("gradient", f, 100, 40, false);
    size_t n = 0;
    for (int y = 3; y < c.rows; y++) {
        for (int x = 0; x < AV_HEAT_MARGIN; x++) {
            uint32_t code = av_canvas_at(&c, x, y)->code;
            out[n++] = code < 0x7F ? (char)code : '|';
        }
        out[n++] = '\n';
    }
    out[n] = '\0';
    av_canvas_free(&c);
}

static void the_scale_leaves_the_gradients_axes_alone(void **state)
{
    (void)state;
    static const char *const sizes[] = { "d_k=1", "d_k=16", "d_k=64", "d_k=1024", "d_k=4096" };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake on;
        struct fake off;
        char labels[2][LINE];
        MAKE(&on, sizes[i], "scale=on");
        MAKE(&off, sizes[i], "scale=off");
        axis_labels(&on, labels[0]);
        axis_labels(&off, labels[1]);
        assert_non_null(strstr(labels[0], "1e-"));
        assert_string_equal(labels[0], labels[1]);
        fake_free(&on);
        fake_free(&off);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_rows_rise),
        cmocka_unit_test(rows_below_the_axis_point_down),
        cmocka_unit_test(queries_fill_the_width),
        cmocka_unit_test(the_kept_line_replaces_no_legend),
        cmocka_unit_test(the_mean_goes_before_the_dead_rows),
        cmocka_unit_test(the_scale_leaves_the_gradients_axes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
