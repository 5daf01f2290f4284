/* panel_diversity_heads.c - heads against each other: the matrix of pairs, and a line of numbers a head. */
#include "panels_diversity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CELL_W_MOST = 10,
    CELL_H_MOST = 3,
    NUMBER_W = 4,      /* 0.21, 3e-3 */
    WIDE_NUMBER_W = 6, /* 0.0025 */
    SWATCH_W = 2,      /* beside a number, with a blank behind it */
    COLUMN_W = 8,
    COLUMNS = 3,
    TABLE_W = COLUMNS * COLUMN_W + 1
};

/* ---- Cells ----------------------------------------------------------------------- */

/* As large as fit, all heads or, where they are too many, several a cell. */
static struct av_heat_grid make_grid(struct av_rect r, size_t heads)
{
    struct av_rect cells = { r.x + AV_HEAT_MARGIN, r.y + AV_DIVERSITY_ABOVE, r.w - AV_HEAT_MARGIN - 1,
                             r.h - AV_DIVERSITY_ABOVE - AV_DIVERSITY_BELOW };
    const struct av_heat_window all = { 0, 0, 0 };
    struct av_heat_grid g = av_layout_heat(cells, heads, heads, all);
    int n = (int)heads;
    if (g.pool_rows == 1 && g.pool_cols == 1 && g.cells.w > 0) {
        g.cell_w = cells.w / n < CELL_W_MOST ? cells.w / n : CELL_W_MOST;
        g.cell_h = cells.h / n < CELL_H_MOST ? cells.h / n : CELL_H_MOST;
        g.cell_h = g.cell_h < (g.cell_w + 1) / 2 ? g.cell_h : (g.cell_w + 1) / 2; /* not taller than wide */
        g.cells.w = g.cell_w * n;
        g.cells.h = g.cell_h * n;
    }
    return g;
}

static int level_of(double divergence)
{
    return (int)(AV_HEAT_LEVELS * divergence / AV_DIVERSITY_MOST);
}

/* The mean over the pairs that a cell stands for; NaN where there is none. No
 * head is a pair with itself. */
static double pooled(const struct av_heat_grid *g, const struct av_diversity *d, size_t row, size_t col)
{
    double sum = 0;
    size_t count = 0;
    for (size_t a = row; a < row + g->pool_rows && a < d->heads; a++) {
        for (size_t b = col; b < col + g->pool_cols && b < d->heads; b++) {
            if (a != b && !isnan(d->pair[a][b])) {
                sum += d->pair[a][b];
                count++;
            }
        }
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* A divergence in that many cells. */
static const char *divergence_text(char out[AV_NUMBER_MAX], double v, int w)
{
    if (v >= 0.0995 || v <= 0) {
        snprintf(out, AV_NUMBER_MAX, "%.2f", v);
    } else if ((int)strlen(av_plot_number(out, v, 2)) > w && (int)strlen(av_plot_number(out, v, 1)) > w) {
        const double power = floor(log10(v));
        snprintf(out, AV_NUMBER_MAX, "%.0fe%.0f", floor(v / pow(10, power)), power);
    }
    return out;
}

/* A cell with room for its number is a swatch with the number behind it. */
static void draw_cell(struct av_canvas *c, const struct av_heat_grid *g, const struct av_diversity *d, size_t a,
                      size_t b)
{
    const int x0 = av_heat_x(g, b), y0 = av_heat_y(g, a);
    const bool number = g->cell_w >= SWATCH_W + NUMBER_W;
    const int number_w = g->cell_w > SWATCH_W + WIDE_NUMBER_W + 1 ? WIDE_NUMBER_W : NUMBER_W;
    const int gap = g->cell_w > SWATCH_W + number_w; /* before the number; one is behind it */
    const int w = number ? g->cell_w - number_w - 1 - gap : g->cell_w;
    const double v = d->known ? pooled(g, d, a, b) : (double)NAN;
    const bool own = a == b && g->pool_rows == 1 && g->pool_cols == 1;
    for (int y = y0; y < y0 + g->cell_h; y++) {
        for (int x = x0; x < x0 + w; x++) {
            if (own || isnan(v)) {
                av_canvas_put(c, x, y, 0x00B7, AV_ROLE_DIM);
            } else {
                av_canvas_heat(c, x, y, level_of(v));
            }
        }
    }
    if (number && !own) {
        char text[AV_NUMBER_MAX];
        if (isnan(v)) {
            snprintf(text, sizeof text, "%s", d->known ? "n/a" : "…");
        } else {
            divergence_text(text, v, number_w);
        }
        av_canvas_text(c, x0 + w + gap, y0, AV_ROLE_TEXT, text);
    }
}

/* "0 <ramp> 0.69 nats, no key shared". */
static void draw_legend(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g)
{
    const int right = r.x + r.w, y = g->cells.y + g->cells.h;
    int x = g->cells.x;
    if (right - x < AV_HEAT_LEVELS + 12) {
        return;
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, "0 ");
    for (int level = 0; level < AV_HEAT_LEVELS; level++) {
        av_canvas_heat(c, x++, y, level);
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, " ln 2");
    av_plot_fit(c, x, right, y, AV_ROLE_AXIS, " = 0.69: no key shared");
}

/* Every head has its label, as few as they are; pools have those of a heatmap. */
static void draw_labels(struct av_canvas *c, const struct av_heat_grid *g, size_t heads, int64_t selected)
{
    av_panel_row_labels(c, g, 0, selected);
    av_panel_column_labels(c, g, g->cells.y - 1, g->cells.x + g->cells.w, 0, selected);
    for (size_t a = 0; a < heads && g->pool_rows == 1 && g->pool_cols == 1; a++) {
        char text[AV_NUMBER_MAX];
        const int w = snprintf(text, sizeof text, "%zu", a);
        if ((int64_t)a != selected) {
            av_canvas_text_right(c, g->cells.x - 1, av_heat_y(g, a), AV_ROLE_AXIS, text);
        }
        if ((int64_t)a != selected && w < g->cell_w) {
            av_canvas_text(c, av_heat_x(g, a) + (g->cell_w - w) / 2, g->cells.y - 1, AV_ROLE_AXIS, text);
        }
    }
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g)
{
    const int right = r.x + r.w;
    char text[64];
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, "Jensen-Shannon divergence of two heads");
    x = x > r.x + 1 ? x : av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, "divergence of two heads");
    if (g->pool_rows > 1 || g->pool_cols > 1) {
        snprintf(text, sizeof text, "mean of %zu×%zu", g->pool_rows, g->pool_cols);
        av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    } else {
        av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, "nats, head ↓ head →");
    }
}

/* ---- Numbers ------------------------------------------------------------------------ */

static double entropy_norm(const struct av_diversity_head *h)
{
    return h->entropy_norm;
}

static double largest(const struct av_diversity_head *h)
{
    return h->max;
}

static double divergence(const struct av_diversity_head *h)
{
    return h->divergence;
}

static const struct {
    const char *name, *unit;
    double (*get)(const struct av_diversity_head *h);
} columns[COLUMNS] = {
    { "entropy", "/ ln n", entropy_norm },
    { "largest", "weight", largest },
    { "to all", "others", divergence },
};

/* Each head's line stands beside its row of the matrix. */
static void draw_table(struct av_canvas *c, int x, int y, const struct av_heat_grid *g, const struct av_diversity *d)
{
    char number[AV_NUMBER_MAX];
    for (int k = 0; k < COLUMNS; k++) {
        const int right = x + (k + 1) * COLUMN_W;
        av_canvas_text_right(c, right, y, AV_ROLE_TITLE, columns[k].name);
        av_canvas_text_right(c, right, y + 1, AV_ROLE_DIM, columns[k].unit);
        for (size_t a = 0; a < d->heads; a++) {
            const double v = d->known ? columns[k].get(&d->of[a]) : (double)NAN;
            av_canvas_text_right(c, right, av_heat_y(g, a), AV_ROLE_TEXT,
                                 d->known ? av_plot_number(number, v, 3) : "…");
        }
    }
}

int av_panel_diversity_heads(struct av_canvas *c, struct av_rect r, const struct av_diversity *d, size_t selected)
{
    struct av_rect left = r;
    left.w -= TABLE_W;
    struct av_heat_grid g = make_grid(left, d->heads);
    const bool table = g.cells.w > 0 && g.pool_rows == 1 && g.pool_cols == 1;
    if (!table) {
        left = r;
        g = make_grid(left, d->heads);
    }
    if (g.cells.w < 1 || g.cells.h < 1) {
        return 0;
    }
    struct av_rect clip = av_plot_enter(c, r);
    draw_title(c, (struct av_rect){ r.x, r.y, table ? g.cells.x + g.cells.w - r.x + 1 : r.w, 1 }, &g);
    const int64_t own = selected < d->heads ? (int64_t)selected : -1;
    draw_labels(c, &g, d->heads, own);
    for (size_t a = 0; a < d->heads; a += g.pool_rows) {
        for (size_t b = 0; b < d->heads; b += g.pool_cols) {
            draw_cell(c, &g, d, a, b);
        }
    }
    draw_legend(c, r, &g);
    if (table) {
        draw_table(c, g.cells.x + g.cells.w, r.y, &g, d);
    }
    av_canvas_clip(c, clip);
    return AV_DIVERSITY_ABOVE + g.cells.h + AV_DIVERSITY_BELOW;
}
