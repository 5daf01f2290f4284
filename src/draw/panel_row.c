/* panel_row.c - the selected query's weights, one column a key. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

/* "query 7   largest p 0.19 at key 12   entropy 2.9", as far as it fits; of
 * weights that have no simplex "... row sum 0.53   entropy of |w| 2.9". */
static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    size_t i = av_panel_query(s);
    const struct av_rowstats *row = &s->rows[i];
    char number[AV_NUMBER_MAX];
    char text[AV_PIECE_MAX + 16];
    int right = r.x + r.w;
    snprintf(text, sizeof text, "query %zu", i);
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, text);
    if (s->invalid[i] || row->keys == 0) {
        char why[AV_PIECE_MAX];
        snprintf(text, sizeof text, "holds %s", av_panel_invalid(why, s, i));
        av_plot_fit(c, x + 1, right, r.y, AV_ROLE_BAD, s->invalid[i] ? text : "has no keys");
        return;
    }
    const char *symbol = s->simplex ? "p" : "w";
    snprintf(text, sizeof text, "largest %s %s at %s %zu", symbol,
             av_panel_weight(number, row->max, row->one_minus_max), av_panel_averages(s) ? "average" : "key",
             row->argmax);
    int end = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    if (end == x + 2) {
        snprintf(text, sizeof text, "%s %s at %zu", symbol, number, row->argmax);
        end = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    }
    x = end;
    if (!s->simplex) {
        snprintf(text, sizeof text, "row sum %s", av_plot_number(number, row->row_sum, 3));
        x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    }
    snprintf(text, sizeof text, s->simplex ? "entropy %s" : "entropy of |w| %s",
             av_plot_number(number, row->entropy, 3));
    av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, text);
}

/* Below this part of the largest a weight is none to the eye: the trace that a
 * column leaves would make zero look like one. */
static const double LEAST_PART = 1.0 / 16;

/* The weight of the greatest size. */
static double largest_of(const double *p, size_t n)
{
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        most = fabs(p[j]) > fabs(most) ? p[j] : most;
    }
    return most;
}

/* A column by size; of a negative weight a shade, a whole cell at least. */
static void draw_column(struct av_canvas *c, int x, struct av_rect r, double part, struct av_fill fill)
{
    double cells = fmax(1, round(-part * r.h));
    if (part >= 0) {
        av_plot_column(c, x, r.y + r.h - 1, r.h, part, fill);
    }
    for (int k = 0; part < 0 && k < (int)cells; k++) {
        av_canvas_put(c, x, r.y + r.h - 1 - k, 0x2592, AV_ROLE_UNSCALED);
    }
}

/* Columns by size. */
static void draw_columns(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s,
                         const struct av_heat_grid *g)
{
    size_t i = av_panel_query(s);
    const double *p = s->weights + i * s->n_k;
    double top = fabs(largest_of(p, s->n_k));
    /* One series: full blocks in every state, as a shade has no eighths. */
    struct av_fill fill = { 0x2588, av_look_now(s).fill.role };
    char number[AV_NUMBER_MAX];
    for (int digits = 2; digits > 0; digits--) {
        av_plot_number(number, top, digits);
        if (av_plot_fit_right(c, r.x, g->cells.x - 1, r.y, AV_ROLE_AXIS, number) < g->cells.x - 1) {
            break;
        }
    }
    for (int y = r.y; y < r.y + r.h; y++) {
        av_canvas_put(c, g->cells.x - 1, y, y == r.y ? 0x2524 : 0x2502, AV_ROLE_AXIS);
    }
    for (size_t x = 0; x * g->pool_cols < g->cols; x++) {
        size_t first = x * g->pool_cols;
        size_t n = g->cols - first < g->pool_cols ? g->cols - first : g->pool_cols;
        double v = largest_of(p + g->col + first, n);
        double part = fabs(v) / top;
        /* Wide columns keep a gap, so that equal ones can be counted. */
        int w = g->cell_w > 2 ? g->cell_w - 1 : g->cell_w;
        for (int k = 0; k < w && part >= LEAST_PART; k++) {
            draw_column(c, g->cells.x + (int)x * g->cell_w + k, r, v < 0 ? -part : part, fill);
        }
    }
}

void av_panel_row(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                  const struct av_heat_grid *above)
{
    const struct av_snapshot *s = ctx->snapshot;
    if (r.h < 2 || r.w < AV_HEAT_MARGIN + 4 || s->n_q == 0) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct av_heat_grid own = *above;
    if (own.cells.w == 0) {
        struct av_rect room = { r.x + AV_HEAT_MARGIN, r.y, r.w - AV_HEAT_MARGIN, 1 };
        own = av_layout_heat(room, 1, av_panel_columns(s, AV_HEAT_WEIGHTS), (struct av_heat_window){ 0, 0, 0 });
    }
    size_t i = av_panel_query(s);
    draw_title(c, r, s);
    if (!s->invalid[i] && s->rows[i].keys > 0) {
        draw_columns(c, (struct av_rect){ r.x, r.y + 1, r.w, r.h - 1 }, s, &own);
    }
    av_canvas_clip(c, clip);
}
