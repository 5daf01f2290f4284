/* test_layout.c - rectangles and grids at every size a terminal can have. */
#include "attnviz/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

static bool within(struct av_rect inner, struct av_rect outer)
{
    return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.w <= outer.x + outer.w &&
           inner.y + inner.h <= outer.y + outer.h;
}

static bool overlap(struct av_rect a, struct av_rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

static bool stands(const struct av_layout *l, enum av_place place)
{
    return l->at[place].w > 0 && l->at[place].h > 0;
}

/* Sizes of the matrix that differ in what they ask of the layout. */
static const size_t sizes[][2] = { { 32, 32 }, { 1, 1 }, { 2048, 2048 }, { 1, 300 }, { 300, 1 }, { 7, 50 } };
enum { SIZES = sizeof sizes / sizeof *sizes, COLS = 250, ROWS = 80 };

static void panels_lie_within_and_never_overlap(void **state)
{
    (void)state;
    for (int w = 1; w <= COLS; w++) {
        for (int h = 1; h <= ROWS; h++) {
            for (size_t k = 0; k < SIZES; k++) {
                struct av_rect r = { 3, 5, w, h };
                struct av_layout l = av_layout_overview(r, sizes[k][0], sizes[k][1]);
                for (int i = 0; i < AV_PLACE_COUNT; i++) {
                    if (!stands(&l, (enum av_place)i)) {
                        assert_true(l.at[i].w == 0 && l.at[i].h == 0);
                        continue;
                    }
                    assert_true(within(l.at[i], r));
                    for (int j = 0; j < i; j++) {
                        assert_false(stands(&l, (enum av_place)j) && overlap(l.at[i], l.at[j]));
                    }
                }
            }
        }
    }
}

static void a_taller_screen_loses_no_panel(void **state)
{
    (void)state;
    for (int w = 1; w <= COLS; w++) {
        for (int h = 1; h < ROWS; h++) {
            struct av_layout low = av_layout_overview((struct av_rect){ 0, 0, w, h }, 32, 32);
            struct av_layout tall = av_layout_overview((struct av_rect){ 0, 0, w, h + 1 }, 32, 32);
            /* The moments only fill what is left. */
            for (int i = 0; i < AV_PLACE_MOMENTS; i++) {
                assert_true(!stands(&low, (enum av_place)i) || stands(&tall, (enum av_place)i));
            }
        }
    }
}

static void panels_go_in_the_stated_order(void **state)
{
    (void)state;
    /* From the last that goes to the first. */
    static const enum av_place narrow[] = { AV_PLACE_HEADER, AV_PLACE_GAUGES,  AV_PLACE_VERDICT,
                                            AV_PLACE_SCORES, AV_PLACE_WEIGHTS, AV_PLACE_QUERY };
    static const enum av_place wide[] = { AV_PLACE_HEADER,  AV_PLACE_GAUGES, AV_PLACE_VERDICT,
                                          AV_PLACE_WEIGHTS, AV_PLACE_SCORES, AV_PLACE_QUERY };
    for (int w = 1; w <= COLS; w++) {
        const enum av_place *order = w < 72 ? narrow : wide;
        for (int h = 1; h <= ROWS; h++) {
            struct av_layout l = av_layout_overview((struct av_rect){ 0, 0, w, h }, 32, 32);
            assert_true(stands(&l, AV_PLACE_HEADER));
            for (size_t i = 1; i < sizeof narrow / sizeof *narrow; i++) {
                assert_true(!stands(&l, order[i]) || stands(&l, order[i - 1]));
            }
        }
    }
}

static void the_first_screen_has_every_panel(void **state)
{
    (void)state;
    struct av_layout l = av_layout_overview((struct av_rect){ 0, 0, 80, 22 }, 32, 32);
    for (int i = 0; i <= AV_PLACE_QUERY; i++) {
        assert_true(stands(&l, (enum av_place)i));
    }
    /* 32 keys get a column each, 32 queries a line for two. */
    struct av_rect cells = av_layout_heat_cells(l.at[AV_PLACE_WEIGHTS]);
    assert_true(cells.w >= 32);
    assert_int_equal(cells.h, 16);
}

static void nothing_fits_into_nothing(void **state)
{
    (void)state;
    struct av_layout l = av_layout_overview((struct av_rect){ 0, 0, 0, 10 }, 32, 32);
    for (int i = 0; i < AV_PLACE_COUNT; i++) {
        assert_false(stands(&l, (enum av_place)i));
    }
    struct av_heat_grid g = av_layout_heat((struct av_rect){ 0, 0, 5, 0 }, 3, 3, (struct av_heat_window){ 0, 0, 0 });
    assert_int_equal(g.cells.w, 0);
    assert_int_equal(av_heat_x(&g, 0), -1);
}

/* Checks everything that a grid promises. */
static void check_grid(struct av_rect r, size_t n_rows, size_t n_cols, struct av_heat_window window)
{
    struct av_heat_grid g = av_layout_heat(r, n_rows, n_cols, window);
    assert_true(g.cells.w >= 1 && g.cells.h >= 1 && within(g.cells, r));
    assert_true(g.rows >= 1 && g.row + g.rows <= n_rows);
    assert_true(g.cols >= 1 && g.col + g.cols <= n_cols);
    assert_true(g.pool_rows == 1 || g.cell_h == 1);
    assert_true(g.pool_cols == 1 || g.cell_w == 1);
    /* Every entry in sight has a cell that leads back to it or to the first
     * of its pool. */
    for (size_t j = g.col; j < g.col + g.cols; j++) {
        size_t row = n_rows;
        size_t col = n_cols;
        assert_true(av_heat_entry(&g, av_heat_x(&g, j), g.cells.y, &row, &col));
        assert_true(col <= j && j < col + g.pool_cols);
        assert_int_equal(row, g.row);
    }
    for (size_t i = g.row; i < g.row + g.rows; i++) {
        size_t row = n_rows;
        size_t col = n_cols;
        assert_true(av_heat_entry(&g, g.cells.x, av_heat_y(&g, i), &row, &col));
        assert_true(row <= i && i < row + g.pool_rows);
    }
    /* And every cell has an entry in sight. */
    size_t row = n_rows;
    size_t col = n_cols;
    assert_true(av_heat_entry(&g, g.cells.x + g.cells.w - 1, g.cells.y + g.cells.h - 1, &row, &col));
    assert_true(row < g.row + g.rows && col < g.col + g.cols);
    assert_false(av_heat_entry(&g, g.cells.x + g.cells.w, g.cells.y, &row, &col));
    assert_false(av_heat_entry(&g, g.cells.x - 1, g.cells.y, &row, &col));
    assert_int_equal(av_heat_x(&g, g.col + g.cols), -1);
    if (window.zoom == 0) {
        assert_true(g.rows == n_rows && g.cols == n_cols);
    }
}

static void grids_show_entries_and_lead_back_to_them(void **state)
{
    (void)state;
    for (int w = 1; w <= 130; w += 3) {
        for (int h = 1; h <= 60; h += 3) {
            for (size_t k = 0; k < SIZES; k++) {
                for (int zoom = 0; zoom < 8; zoom += 1 + zoom) {
                    struct av_rect r = { 4, 2, w, h };
                    check_grid(r, sizes[k][0], sizes[k][1], (struct av_heat_window){ zoom, 0, 0 });
                    check_grid(r, sizes[k][0], sizes[k][1], (struct av_heat_window){ zoom, 5, 17 });
                    check_grid(r, sizes[k][0], sizes[k][1], (struct av_heat_window){ zoom, 5000, 5000 });
                }
            }
        }
    }
}

static void zoom_doubles_what_a_cell_shows(void **state)
{
    (void)state;
    struct av_rect r = { 0, 0, 64, 32 };
    struct av_heat_grid g = av_layout_heat(r, 256, 256, (struct av_heat_window){ 0, 0, 0 });
    assert_int_equal(g.pool_cols, 4);
    assert_int_equal(g.pool_rows, 8);
    g = av_layout_heat(r, 256, 256, (struct av_heat_window){ 1, 0, 0 });
    assert_int_equal(g.pool_cols, 2);
    assert_int_equal(g.cols, 128);
    g = av_layout_heat(r, 256, 256, (struct av_heat_window){ 3, 0, 0 });
    assert_int_equal(g.pool_cols, 1);
    assert_int_equal(g.cell_w, 2);
    assert_int_equal(g.cols, 32);
    /* The far end is reached exactly. */
    g = av_layout_heat(r, 256, 256, (struct av_heat_window){ 1, 255, 255 });
    assert_int_equal(g.col + g.cols, 256);
    assert_int_equal(g.row + g.rows, 256);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panels_lie_within_and_never_overlap),
        cmocka_unit_test(a_taller_screen_loses_no_panel),
        cmocka_unit_test(panels_go_in_the_stated_order),
        cmocka_unit_test(the_first_screen_has_every_panel),
        cmocka_unit_test(nothing_fits_into_nothing),
        cmocka_unit_test(grids_show_entries_and_lead_back_to_them),
        cmocka_unit_test(zoom_doubles_what_a_cell_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
