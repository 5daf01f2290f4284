/* test_plot.c - numbers as labels, axes whose ticks tell the truth, bars. */
#include "attnviz/plot.h"
#include "attnviz/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct av_canvas make(int cols, int rows)
{
    struct av_canvas c = { .ascii = false };
    assert_int_equal(av_canvas_resize(&c, cols, rows, NULL), AV_OK);
    return c;
}

/* A row as text, one byte a cell: what is not ASCII becomes '~'. */
static const char *row(const struct av_canvas *c, int y, char *out)
{
    for (int x = 0; x < c->cols; x++) {
        uint32_t code = av_canvas_at(c, x, y)->code;
        out[x] = code < 0x7F ? (char)code : '~';
    }
    out[c->cols] = '\0';
    return out;
}

static void numbers_keep_their_digits(void **state)
{
    (void)state;
    static const struct {
        double v;
        int digits;
        const char *fixed, *trimmed;
    } table[] = {
        { 0, 3, "0", "0" },
        { 0.87, 3, "0.870", "0.87" },
        { 9.996, 3, "10.0", "10" },
        { 64, 3, "64.0", "64" },
        { 999.6, 3, "1000", "1000" },
        { 1024, 2, "1024", "1024" },
        { -0.25, 2, "-0.25", "-0.25" },
        { 0.01, 1, "0.01", "0.01" },
        { 0.001, 2, "1.0e-3", "1e-3" },
        { 0.00999, 2, "0.010", "0.01" },
        { 1.2e-9, 2, "1.2e-9", "1.2e-9" },
        { 123456, 3, "123456", "123456" },
        { 1e6, 2, "1.0e6", "1e6" },
        { -1e300, 3, "-1.00e300", "-1e300" },
        { 5e-324, 2, "4.9e-324", "4.9e-324" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char out[AV_NUMBER_MAX];
        assert_string_equal(av_plot_number(out, table[i].v, table[i].digits), table[i].fixed);
        assert_string_equal(av_plot_short(out, table[i].v, table[i].digits), table[i].trimmed);
    }
    char out[AV_NUMBER_MAX];
    assert_string_equal(av_plot_number(out, (double)NAN, 3), "n/a");
    assert_string_equal(av_plot_short(out, -(double)INFINITY, 3), "-inf");
}

static void numbers_fit_their_cells(void **state)
{
    (void)state;
    char out[AV_NUMBER_MAX];
    assert_string_equal(av_plot_number_in(out, 1.05e-97, 3, 8), "1.05e-97");
    assert_string_equal(av_plot_number_in(out, 1.06e-107, 3, 8), "1.1e-107");
    assert_string_equal(av_plot_number_in(out, 1.05e-107, 3, 7), "1e-107");
    assert_string_equal(av_plot_number_in(out, 1.05e-107, 3, 1), "1e-107");
    assert_string_equal(av_plot_number_in(out, 0, 3, 1), "0");
}

static void numbers_read_back_to_the_digits_shown(void **state)
{
    (void)state;
    for (int power = -300; power <= 300; power += 7) {
        for (int digits = 1; digits <= 15; digits += 2) {
            double v = 1.2345678901234567 * pow(10, power);
            char out[AV_NUMBER_MAX];
            double back = strtod(av_plot_number(out, v, digits), NULL);
            assert_true(fabs(back - v) <= 0.5000001 * pow(10, power - digits + 1));
        }
    }
}

/* Below the smallest normal double the logarithm speaks. */
static void tiny_numbers_are_known_by_their_logarithm(void **state)
{
    (void)state;
    static const struct {
        double v, log10;
        int digits;
        const char *text;
    } table[] = {
        { 0.25, -0.602059991, 3, "0.250" },          { 1e-300, -300, 2, "1.0e-300" },
        { 0, -433.99345190758783, 4, "1.015e-434" }, { 4e-310, -309.39794, 2, "4.0e-310" },
        { 0, -400.0000001, 3, "1.00e-400" },         { 0, -399.98, 1, "1e-400" },
        { 0, -4.3429448e29, 3, "10^-4.34e29" },      { 0, -(double)INFINITY, 3, "0" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char out[AV_NUMBER_MAX];
        assert_string_equal(av_plot_tiny(out, table[i].v, table[i].log10, table[i].digits), table[i].text);
    }
}

/* A 0 on the way is a tick like others. */
static void an_axis_through_0_names_it(void **state)
{
    (void)state;
    struct av_canvas c = make(10, 8);
    struct av_axis a = { -5, 5, false, 8 };
    char out[16];
    av_plot_axis_y(&c, &a, 5, 0, 5);
    assert_string_equal(row(&c, 8 - 1 - av_axis_cell(&a, 0), out), "    0~    ");
    av_canvas_free(&c);
}

static void steps_are_round(void **state)
{
    (void)state;
    static const struct {
        double span;
        int count;
        bool whole;
        double step;
    } table[] = {
        { 10, 10, false, 1 }, { 10, 5, false, 2 },    { 10, 4, false, 5 }, { 0.3, 3, false, 0.1 },
        { 64, 3, false, 50 }, { 7, 100, true, 1 },    { 40, 8, true, 5 },  { 1e6, 1, false, 1e6 },
        { 0.9, 1, false, 1 }, { 100, 0, false, 100 },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double step = av_plot_step(table[i].span, table[i].count, table[i].whole);
        assert_true(fabs(step - table[i].step) < 1e-9 * table[i].step);
    }
}

static void axes_map_values_to_cells(void **state)
{
    (void)state;
    struct av_axis a = { -1, 1, false, 4 };
    assert_int_equal(av_axis_cell(&a, -1), 0);
    assert_int_equal(av_axis_cell(&a, -0.01), 1);
    assert_int_equal(av_axis_cell(&a, 0), 2);
    assert_int_equal(av_axis_cell(&a, 1), 3);
    assert_int_equal(av_axis_cell(&a, 99), 3);
    assert_int_equal(av_axis_cell(&a, (double)NAN), 0);
    struct av_axis log_axis = { 1e-6, 1, true, 6 };
    assert_int_equal(av_axis_cell(&log_axis, 2e-6), 0);
    assert_int_equal(av_axis_cell(&log_axis, 0.5), 5);
    assert_true(isinf(av_axis_part(&log_axis, 0)) && av_axis_part(&log_axis, 0) < 0);
    assert_true(fabs(av_axis_part(&log_axis, 1e-3) - 0.5) < 1e-12);
}

/* Every tick of a drawn axis stands in the cell of some value on it, and the
 * labels, read back, are the values of the ticks, in order. */
static void check_axis_x(const struct av_axis *a, int room)
{
    enum { X = 10 };
    struct av_canvas c = make(a->cells + X, 2);
    av_plot_axis_x(&c, a, X, 0, room);
    char text[512];
    row(&c, 1, text);
    int ticks[512];
    int n = 0;
    for (int x = 0; x < c.cols; x++) {
        if (av_canvas_at(&c, x, 0)->code == 0x252C) {
            ticks[n++] = x - X;
        }
    }
    char *at = text;
    int seen = 0;
    for (char *word = strtok(at, " "); word != NULL; word = strtok(NULL, " ")) {
        char *end = NULL;
        double v = strtod(word, &end);
        assert_int_equal(*end, '\0');
        assert_true(seen < n);
        assert_int_equal(av_axis_cell(a, v), ticks[seen]);
        seen++;
    }
    assert_int_equal(seen, n);
    if (a->cells >= 40) {
        assert_true(n >= 2);
    }
    assert_true(strspn(row(&c, 1, text), " ") >= (size_t)(X - room) || n == 0);
    av_canvas_free(&c);
}

static void ticks_stand_where_their_labels_say(void **state)
{
    (void)state;
    static const double ends[][2] = { { -32, 32 },   { 0, 1 },    { -128, 128 },   { 0.1, 0.37 },    { 0, 2048 },
                                      { -4e6, 4e6 }, { 0, 1e-7 }, { 99.5, 100.5 }, { -0.003, 0.004 } };
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        for (int cells = 1; cells <= 200; cells++) {
            check_axis_x(&(struct av_axis){ ends[k][0], ends[k][1], false, cells }, 2);
        }
    }
    for (int cells = 1; cells <= 100; cells++) {
        check_axis_x(&(struct av_axis){ 1e-6, 1, true, cells }, 1);
    }
}

static void vertical_labels_stand_in_their_rows(void **state)
{
    (void)state;
    static const struct av_axis axes[] = {
        { 0, 0.41, false, 0 }, { 0, 0.0125, false, 0 }, { 1e-9, 1, true, 0 }, { 0, 1, false, 0 }
    };
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        for (int cells = 2; cells <= 60; cells++) {
            struct av_axis a = axes[k];
            a.cells = cells;
            struct av_canvas c = make(12, cells);
            av_plot_axis_y(&c, &a, 8, 0, 8);
            int labels = 0;
            for (int y = 0; y < cells; y++) {
                char text[32];
                row(&c, y, text);
                text[8] = '\0';
                char *end = NULL;
                double v = strtod(text, &end);
                if (end != text) {
                    assert_int_equal(av_axis_cell(&a, v), cells - 1 - y);
                    assert_int_equal(av_canvas_at(&c, 8, y)->code, 0x2524);
                    labels++;
                }
            }
            assert_true(labels >= 1);
            av_canvas_free(&c);
        }
    }
}

static void bars_count_in_eighths(void **state)
{
    (void)state;
    const struct av_fill solid = { 0x2588, AV_ROLE_SCALED };
    for (int n = 0; n <= 32; n++) {
        struct av_canvas c = make(6, 6);
        av_plot_bar(&c, 1, 5, 4, n / 32.0, solid);
        av_plot_column(&c, 0, 4, 4, n / 32.0, solid);
        int across = 0;
        int up = 0;
        for (int i = 0; i < 4; i++) {
            uint32_t code = av_canvas_at(&c, 1 + i, 5)->code;
            across += code == ' ' ? 0 : (int)(0x2590 - code);
            code = av_canvas_at(&c, 0, 4 - i)->code;
            up += code == ' ' ? 0 : (int)(code - 0x2580);
        }
        assert_int_equal(across, n);
        assert_int_equal(up, n);
        assert_int_equal(av_canvas_at(&c, 5, 5)->code, ' ');
        assert_int_equal(av_canvas_at(&c, 0, 0)->code, ' ');
        av_canvas_free(&c);
    }
}

static void a_trace_of_something_is_seen(void **state)
{
    (void)state;
    struct av_canvas c = make(4, 4);
    av_plot_column(&c, 0, 3, 4, 1e-300, (struct av_fill){ 0x2588, AV_ROLE_BAR });
    assert_int_equal(av_canvas_at(&c, 0, 3)->code, 0x2581);
    av_plot_column(&c, 1, 3, 4, 0, (struct av_fill){ 0x2588, AV_ROLE_BAR });
    av_plot_column(&c, 2, 3, 4, (double)NAN, (struct av_fill){ 0x2588, AV_ROLE_BAR });
    assert_int_equal(av_canvas_at(&c, 1, 3)->code, ' ');
    assert_int_equal(av_canvas_at(&c, 2, 3)->code, ' ');
    av_canvas_free(&c);
}

/* A shaded bar has one texture: cells of which at least half is filled. */
static void shaded_bars_count_in_cells(void **state)
{
    (void)state;
    const struct av_fill shaded = { 0x2591, AV_ROLE_UNSCALED };
    for (int n = 0; n <= 40; n++) {
        struct av_canvas c = make(6, 6);
        av_plot_bar(&c, 1, 5, 4, n / 40.0, shaded);
        av_plot_column(&c, 0, 4, 4, n / 40.0, shaded);
        for (int i = 0; i < 4; i++) {
            bool half = n - 10 * i >= 5;
            bool trace = i == 0 && n > 0 && n < 5; /* would vanish whole */
            assert_int_equal(av_canvas_at(&c, 1 + i, 5)->code, half ? 0x2591 : trace ? 0x258F : ' ');
            assert_int_equal(av_canvas_at(&c, 0, 4 - i)->code, half ? 0x2591 : trace ? 0x2581 : ' ');
        }
        av_canvas_free(&c);
    }
}

static void text_fits_whole_or_not_at_all(void **state)
{
    (void)state;
    struct av_canvas c = make(10, 1);
    char out[16];
    assert_int_equal(av_plot_fit(&c, 2, 7, 0, AV_ROLE_TEXT, "12345"), 7);
    assert_int_equal(av_plot_fit(&c, 7, 9, 0, AV_ROLE_TEXT, "678"), 7);
    assert_string_equal(row(&c, 0, out), "  12345   ");
    av_canvas_clear(&c);
    assert_int_equal(av_plot_fit_right(&c, 0, 10, 0, AV_ROLE_TEXT, "0.5"), 7);
    assert_int_equal(av_plot_fit_right(&c, 5, 7, 0, AV_ROLE_TEXT, "0.25"), 7);
    assert_string_equal(row(&c, 0, out), "       0.5");
    assert_int_equal(av_plot_fit(&c, 9, 3, 0, AV_ROLE_TEXT, "x"), 9);
    av_canvas_free(&c);
}

static void text_wraps_at_blanks(void **state)
{
    (void)state;
    struct av_canvas c = make(10, 3);
    char out[16];
    assert_int_equal(av_plot_wrap(&c, (struct av_rect){ 0, 0, 10, 3 }, AV_ROLE_TEXT, "one two three four"), 2);
    assert_string_equal(row(&c, 0, out), "one two   ");
    assert_string_equal(row(&c, 1, out), "three four");
    av_canvas_clear(&c);
    assert_int_equal(av_plot_wrap(&c, (struct av_rect){ 0, 0, 9, 1 }, AV_ROLE_TEXT, "one two three"), 1);
    assert_string_equal(row(&c, 0, out), "one two~  ");
    av_canvas_clear(&c);
    assert_int_equal(av_plot_wrap(&c, (struct av_rect){ 0, 0, 4, 3 }, AV_ROLE_TEXT, "overlong word"), 3);
    assert_string_equal(row(&c, 0, out), "over      ");
    assert_string_equal(row(&c, 1, out), "long      ");
    assert_string_equal(row(&c, 2, out), "word      ");
    assert_int_equal(av_plot_wrap(&c, (struct av_rect){ 0, 0, 4, 2 }, AV_ROLE_TEXT, "  "), 0);
    av_canvas_free(&c);
}

static void clips_only_narrow(void **state)
{
    (void)state;
    struct av_canvas c = make(10, 4);
    struct av_rect all = av_plot_enter(&c, (struct av_rect){ 2, 1, 5, 2 });
    assert_int_equal(all.w, 10);
    av_plot_enter(&c, (struct av_rect){ 0, 0, 4, 4 });
    av_canvas_put(&c, 3, 1, 'x', AV_ROLE_TEXT);
    av_canvas_put(&c, 4, 1, 'x', AV_ROLE_TEXT);
    av_canvas_put(&c, 1, 1, 'x', AV_ROLE_TEXT);
    char out[16];
    assert_string_equal(row(&c, 1, out), "   x      ");
    av_plot_enter(&c, (struct av_rect){ 8, 0, 2, 4 });
    av_canvas_put(&c, 8, 0, 'x', AV_ROLE_TEXT);
    assert_string_equal(row(&c, 0, out), "          ");
    av_canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_their_digits),
        cmocka_unit_test(numbers_fit_their_cells),
        cmocka_unit_test(numbers_read_back_to_the_digits_shown),
        cmocka_unit_test(tiny_numbers_are_known_by_their_logarithm),
        cmocka_unit_test(an_axis_through_0_names_it),
        cmocka_unit_test(steps_are_round),
        cmocka_unit_test(axes_map_values_to_cells),
        cmocka_unit_test(ticks_stand_where_their_labels_say),
        cmocka_unit_test(vertical_labels_stand_in_their_rows),
        cmocka_unit_test(bars_count_in_eighths),
        cmocka_unit_test(a_trace_of_something_is_seen),
        cmocka_unit_test(shaded_bars_count_in_cells),
        cmocka_unit_test(text_fits_whole_or_not_at_all),
        cmocka_unit_test(text_wraps_at_blanks),
        cmocka_unit_test(clips_only_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
