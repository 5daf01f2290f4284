/* panel_jacobian.c - the Jacobian of the softmax, or of what stands in its
 * place, as a signed heatmap.
 *
 * Positive entries are blocks in the ramp's colours: of the softmax those of
 * the diagonal. Negative ones are round marks that grow. Sizes have one scale
 * in every state, from 0 to 1/4, which no entry of the softmax exceeds, and to
 * more where others do; by their roots, where small ones stay visible, or by
 * logarithm, over twelve powers of ten. Other bends than the softmax have
 * entries that are 0: they are left blank. */
#include "panels_softmax.h"

#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS_H = AV_HEAT_ABOVE + AV_HEAT_BELOW + 4, CELL_H_MOST = 4, NUMBERS_W = 9 };

static const double LOG_BOTTOM = -12;

struct av_heat_grid av_panel_jacobian_grid(struct av_rect r, size_t n)
{
    const struct av_heat_window all = { 0, 0, 0 };
    struct av_rect wide = { r.x, r.y, r.w, COLUMNS_H };
    struct av_heat_grid g = av_layout_heat(av_layout_heat_cells(wide), 1, n, all);
    struct av_rect cells = av_layout_heat_cells(r);
    if (cells.h < 1 || g.cells.w < 1) {
        return g;
    }
    struct av_heat_grid down = av_layout_heat((struct av_rect){ cells.x, cells.y, 1, cells.h }, n, 1, all);
    int most = cells.h / (int)n < CELL_H_MOST ? cells.h / (int)n : CELL_H_MOST;
    g.cell_h = most > 1 ? most : 1;
    g.cells.h = down.cells.h * g.cell_h;
    g.pool_rows = down.pool_rows;
    g.row = down.row;
    g.rows = down.rows;
    return g;
}

/* The upper end of the scale of sizes. */
static double end_of(const struct av_softmax_row *row)
{
    if (row->form == NULL) {
        return AV_JACOBIAN_LARGEST;
    }
    struct av_jacobian_place at = av_jacobian_largest(row, (struct av_jacobian_block){ 0, row->n, 0, row->n });
    double most = fabs(av_jacobian_entry(row, at.row, at.col));
    return most > AV_JACOBIAN_LARGEST ? av_plot_step(most, 1, false) : AV_JACOBIAN_LARGEST;
}

/* How large an entry is on the scale, 0 .. 1. */
static double part_of(const struct av_softmax_row *row, struct av_jacobian_place at, bool log, double end)
{
    double part = log ? 1 - av_jacobian_log10_entry(row, at.row, at.col) / LOG_BOTTOM
                      : sqrt(fabs(av_jacobian_entry(row, at.row, at.col)) / end);
    return fmin(fmax(part, 0), 1);
}

static void draw_cell(struct av_canvas *c, struct av_rect cell, double part, bool positive)
{
    for (int y = cell.y; y < cell.y + cell.h; y++) {
        for (int x = cell.x; x < cell.x + cell.w; x++) {
            if (positive) {
                av_canvas_heat(c, x, y, av_panel_step(part, AV_HEAT_LEVELS));
            } else {
                av_panel_negative(c, x, y, part);
            }
        }
    }
}

/* The number itself in the middle of a large cell, clear of the marks, with as
 * many digits as fit. */
static void draw_number(struct av_canvas *c, struct av_rect cell, const struct av_softmax_row *row,
                        struct av_jacobian_place at)
{
    double v = av_jacobian_entry(row, at.row, at.col);
    double log10_v = av_jacobian_log10_entry(row, at.row, at.col);
    const char *sign = v < 0 || (row->form == NULL && at.row != at.col && !isinf(log10_v)) ? "-" : "";
    int end = cell.x;
    for (int digits = 3; digits > 0 && end == cell.x; digits--) {
        char number[AV_NUMBER_MAX];
        char text[AV_NUMBER_MAX + 4];
        snprintf(text, sizeof text, " %s%s ", sign, av_plot_tiny(number, fabs(v), log10_v, digits));
        end = av_plot_fit(c, cell.x, cell.x + cell.w, cell.y + (cell.h - 1) / 2, AV_ROLE_TEXT, text);
    }
}

static void draw_cells(struct av_canvas *c, const struct av_heat_grid *g, const struct av_lab_row *lab, bool log,
                       double end)
{
    for (size_t i = 0; i < g->rows; i += g->pool_rows) {
        for (size_t j = 0; j < g->cols; j += g->pool_cols) {
            size_t rows = g->rows - i < g->pool_rows ? g->rows - i : g->pool_rows;
            size_t cols = g->cols - j < g->pool_cols ? g->cols - j : g->pool_cols;
            struct av_jacobian_block block = { i, rows, j, cols };
            struct av_jacobian_place at = av_jacobian_largest(&lab->row, block);
            struct av_rect cell = { av_heat_x(g, j), av_heat_y(g, i), g->cell_w, g->cell_h };
            double v = av_jacobian_entry(&lab->row, at.row, at.col);
            bool blank = lab->row.form != NULL && v == 0;
            bool positive = lab->row.form != NULL ? v > 0 : at.row == at.col;
            if (!blank) {
                draw_cell(c, cell, part_of(&lab->row, at, log, end), positive);
            }
            if (g->cell_w >= NUMBERS_W) {
                draw_number(c, cell, &lab->row, at);
            }
        }
    }
}

/* "J = dp/dz = diag(p) - p pᵀ  largest of 6×2": a shorter name where that is
 * too long. */
static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g,
                       const struct av_lab_row *lab)
{
    enum { NAMES = 4 };
    char other[64];
    snprintf(other, sizeof other, "J = dw/dz of %s", lab->bend);
    const char *const softmax[NAMES] = { "J = dp/dz = diag(p) - p pᵀ", "J = diag(p) - p pᵀ", "J = dp/dz", "J" };
    const char *const bent[NAMES] = { other, "J = dw/dz", "J = dw/dz", "J" };
    const char *const *names = lab->row.form == NULL ? softmax : bent;
    bool pooled = g->pool_rows > 1 || g->pool_cols > 1;
    char note[64];
    snprintf(note, sizeof note, lab->row.form == NULL ? "p ↓ z →" : "w ↓ z →");
    if (pooled) {
        snprintf(note, sizeof note, "largest of %zu×%zu", g->pool_rows, g->pool_cols);
    }
    int right = r.x + r.w;
    int room = right - r.x - 3 - av_utf8_columns(note);
    int i = 0;
    while (i < NAMES - 1 && av_utf8_columns(names[i]) > room) {
        i++;
    }
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, names[i]);
    av_plot_fit(c, x + 2, right, r.y, pooled ? AV_ROLE_TEXT : AV_ROLE_DIM, note);
}

/* "+ 0 <ramp> .25   - 0 <discs> -.25   ~ √|J|", of other ends those. */
static void draw_legend(struct av_canvas *c, int x, int right, int y, bool log, double end)
{
    char number[AV_NUMBER_MAX];
    char ends[2][AV_NUMBER_MAX + 4];
    bool quarter = end <= AV_JACOBIAN_LARGEST;
    av_plot_short(number, end, 2);
    snprintf(ends[0], sizeof ends[0], " %s", quarter ? ".25" : number);
    snprintf(ends[1], sizeof ends[1], " -%s", quarter ? ".25" : number);
    const char *const most[2][2] = { { ends[0], ends[1] }, { " 1", " -1" } };
    static const char *const least[2] = { "+ 0 ", "+ 1e-12 " };
    static const char *const least_negative[2] = { "- 0 ", "- " };
    static const char *const scales[2][2] = { { "size ~ √|J|", "size ~ sqrt|J|" }, { "by log10 |J|", "by log10 |J|" } };
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, least[log]);
    for (int level = 0; level < AV_HEAT_LEVELS; level += 2) {
        av_canvas_heat(c, x++, y, level + (level == AV_HEAT_LEVELS - 2));
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, most[log][0]);
    x = av_canvas_text(c, x + 2, y, AV_ROLE_AXIS, least_negative[log]);
    for (int i = 0; i < AV_NEGATIVE_STEPS; i++) {
        av_panel_negative(c, x++, y, (double)i / AV_NEGATIVE_STEPS);
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, most[log][1]);
    av_plot_fit(c, x + 2, right, y, AV_ROLE_DIM, scales[log][c->ascii]);
}

void av_panel_jacobian(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab, bool log)
{
    struct av_heat_grid g = av_panel_jacobian_grid(r, lab->row.n);
    if (r.h < AV_JACOBIAN_LEAST_H || g.cells.w < 1) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    double end = end_of(&lab->row);
    draw_title(c, r, &g, lab);
    av_panel_row_labels(c, &g, 0, (int64_t)lab->key);
    av_panel_column_labels(c, &g, g.cells.y - 1, r.x + r.w, 0, (int64_t)lab->key);
    draw_cells(c, &g, lab, log, end);
    draw_legend(c, r.x + 1, r.x + r.w, g.cells.y + g.cells.h, log, end);
    av_canvas_clip(c, clip);
}
