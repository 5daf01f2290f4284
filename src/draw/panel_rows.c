/* panel_rows.c - a gradient row by row: where the mean hides what happens.
 *
 * Values are drawn by their logarithm. A column that stands for several
 * queries shows them from the least to the greatest. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

enum {
    LABELS_W = 18, /* columns on the right for the names of lines */
    AXIS_H = 2,
    TITLE_H = 1,
    DECADES_MOST = 12,
    DECADES_LEAST = 2,
    RANKS = 2048, /* steps of the axis by which rows are sorted */
    LINES = 4
};

static const double LOG10_DEAD = -3;
static const double NONE = -1; /* not a logarithm that is drawn: see range.any */

/* Least and greatest log10 value of a column. */
struct range {
    bool any;
    double lo, hi;
};

/* One series: log10 of a value per row. */
struct rows {
    const struct av_snapshot *s;
    enum av_row_quantity quantity;
    bool other; /* of the state with scale toggled */
};

static double log10_value(const struct rows *rows, size_t i)
{
    if (rows->quantity == AV_ROW_DQ) {
        return log10(rows->s->dq_rms[i]);
    }
    return av_rowstats_log10_jacobian_fro((rows->other ? rows->s->other_rows : rows->s->rows) + i);
}

static void widen(struct range *r, double v)
{
    r->lo = r->any ? fmin(r->lo, v) : v;
    r->hi = r->any ? fmax(r->hi, v) : v;
    r->any = true;
}

static struct range range_of(const struct rows *rows, size_t first, size_t count)
{
    struct range r = { false, NONE, NONE };
    for (size_t i = first; i < first + count; i++) {
        if (av_row_counts(rows->s, rows->s->rows, i)) {
            widen(&r, log10_value(rows, i));
        }
    }
    return r;
}

static bool has_series(const struct rows *rows)
{
    const struct av_snapshot *s = rows->s;
    return rows->quantity == AV_ROW_DQ ? !rows->other && s->dq_rms != NULL : !rows->other || s->other_rows != NULL;
}

/* ---- the axis -------------------------------------------------------- */

/* Whole powers of ten around the values, within limits: a row may be 1e-400.
 * The Jacobian's axis always holds the line below which a row is dead. */
static struct av_axis make_axis(const struct rows series[2], int cells)
{
    double least = series->quantity == AV_ROW_JACOBIAN ? LOG10_DEAD - 1 : (double)INFINITY;
    struct range all = { false, NONE, NONE };
    for (int k = 0; k < 2; k++) {
        struct range r = has_series(&series[k]) ? range_of(&series[k], 0, series[k].s->n_q) : all;
        if (r.any && isfinite(r.hi)) {
            widen(&all, r.hi);
            widen(&all, r.lo);
        }
    }
    double hi = all.any ? ceil(all.hi) : 0;
    double lo = all.any ? floor(all.lo) : -DECADES_LEAST;
    lo = fmin(fmin(fmax(lo, hi - DECADES_MOST), hi - DECADES_LEAST), least);
    return (struct av_axis){ pow(10, lo), pow(10, hi), true, cells };
}

/* The cell, counted from the bottom, of a log10 value; -1 below the axis. */
static int cell_of(const struct av_axis *a, double log10_v)
{
    double lo = log10(a->lo);
    double at = floor((log10_v - lo) / (log10(a->hi) - lo) * a->cells);
    return at < 0 ? -1 : at < a->cells ? (int)at : a->cells - 1;
}

/* ---- sorted ---------------------------------------------------------- */

/* Rows by rank without a copy of them: counted into fine steps of the axis,
 * finer than what can be seen. */
struct ranks {
    unsigned counts[RANKS];
    double lo, hi;
    size_t total;
    size_t bin, used; /* the walk: rows of `bin` already given away */
};

static void rank_rows(struct ranks *ranks, const struct rows *rows, const struct av_axis *a)
{
    *ranks = (struct ranks){ .lo = log10(a->lo), .hi = log10(a->hi) };
    for (size_t i = 0; i < rows->s->n_q; i++) {
        if (av_row_counts(rows->s, rows->s->rows, i)) {
            double at = (log10_value(rows, i) - ranks->lo) / (ranks->hi - ranks->lo) * (RANKS - 2) + 1;
            ranks->counts[at > 0 ? (at < RANKS ? (size_t)at : RANKS - 1) : 0]++;
            ranks->total++;
        }
    }
}

/* The range of the next `count` rows in order. Bin 0 lies below the axis. */
static struct range next_ranks(struct ranks *ranks, size_t count)
{
    struct range r = { false, NONE, NONE };
    while (count > 0 && ranks->bin < RANKS) {
        size_t left = ranks->counts[ranks->bin] - ranks->used;
        if (left == 0) {
            ranks->bin++;
            ranks->used = 0;
            continue;
        }
        size_t take = left < count ? left : count;
        widen(&r, ranks->lo + ((double)ranks->bin - 0.5) / (RANKS - 2) * (ranks->hi - ranks->lo));
        ranks->used += take;
        count -= take;
    }
    return r;
}

/* ---- drawing --------------------------------------------------------- */

static void draw_range(struct av_canvas *c, const struct av_axis *a, int x, int bottom, struct range r,
                       struct av_fill mark, uint32_t between)
{
    if (!r.any) {
        return;
    }
    int lo = cell_of(a, r.lo);
    int hi = cell_of(a, r.hi);
    for (int k = lo > 0 ? lo : 0; k <= hi; k++) {
        av_canvas_put(c, x, bottom - k, k == lo || k == hi ? mark.body : between, mark.role);
    }
    if (lo < 0) { /* goes on below the axis */
        av_canvas_put(c, x, bottom, 0x25BE, mark.role);
    }
}

static void draw_series(struct av_canvas *c, const struct rows *rows, const struct av_axis *a,
                        const struct av_heat_grid *g, bool sorted)
{
    struct av_look look = rows->other ? av_look_other(rows->s) : av_look_now(rows->s);
    struct av_fill mark = { rows->other ? AV_MARK_OTHER : AV_MARK_NOW, look.fill.role };
    struct ranks ranks;
    if (sorted) {
        rank_rows(&ranks, rows, a);
    }
    for (size_t first = 0; first < g->cols; first += g->pool_cols) {
        size_t count = g->cols - first < g->pool_cols ? g->cols - first : g->pool_cols;
        struct range r = sorted ? next_ranks(&ranks, count) : range_of(rows, first, count);
        int x = av_heat_x(g, first) + (g->cell_w - 1) / 2;
        draw_range(c, a, x, g->cells.y + g->cells.h - 1, r, mark, rows->other ? 0x250A : 0x2502);
    }
}

/* A level line across the plot, named on the right. */
struct line {
    const char *name;
    double value;
    struct av_fill look;
};

static void draw_lines(struct av_canvas *c, struct av_rect plot, const struct av_axis *a, const struct line *lines,
                       size_t n)
{
    bool taken[LINES] = { false };
    int rows[LINES] = { 0 };
    for (size_t i = 0; i < n; i++) {
        double part = av_axis_part(a, lines[i].value);
        if (!(part >= 0 && part <= 1)) {
            continue;
        }
        int y = plot.y + plot.h - 1 - av_axis_cell(a, lines[i].value);
        bool free_row = true;
        for (size_t k = 0; k < i; k++) {
            free_row = free_row && !(taken[k] && rows[k] == y);
        }
        for (int x = plot.x; free_row && x < plot.x + plot.w; x++) {
            av_canvas_put(c, x, y, lines[i].look.body, lines[i].look.role);
        }
        char number[AV_NUMBER_MAX];
        char text[64];
        snprintf(text, sizeof text, "%s %s", lines[i].name, av_plot_short(number, lines[i].value, 2));
        if (free_row) {
            av_plot_fit(c, plot.x + plot.w + 1, plot.x + plot.w + LABELS_W, y, lines[i].look.role, text);
        }
        taken[i] = true;
        rows[i] = y;
    }
}

static void draw_levels(struct av_canvas *c, struct av_rect plot, const struct av_axis *a, const struct av_snapshot *s,
                        enum av_row_quantity quantity)
{
    enum av_role now = av_look_now(s).fill.role;
    bool dq = quantity == AV_ROW_DQ;
    const struct line lines[LINES] = {
        { "median", dq ? s->now.dq_rms_median : s->now.jacobian_fro_median, { 0x2500, now } },
        { "mean", dq ? s->now.dq_rms_mean : s->now.jacobian_fro_mean, { 0x254C, now } },
        { "dead below", dq ? (double)NAN : AV_DEAD_FRO, { 0x2504, AV_ROLE_WARN } },
        { "median",
          dq || s->other.rows == 0 ? (double)NAN : s->other.jacobian_fro_median,
          { 0x2500, av_look_other(s).fill.role } },
    };
    draw_lines(c, plot, a, lines, LINES);
}

struct av_heat_grid av_panel_rows_grid(struct av_rect r, size_t n_q)
{
    struct av_rect plot = { r.x + AV_HEAT_MARGIN, r.y + TITLE_H, r.w - AV_HEAT_MARGIN - LABELS_W,
                            r.h - TITLE_H - AXIS_H };
    struct av_heat_grid g =
        av_layout_heat((struct av_rect){ plot.x, plot.y, plot.w, 1 }, 1, n_q, (struct av_heat_window){ 0, 0, 0 });
    g.cells.h = plot.h > 0 && g.cells.w > 0 ? plot.h : 0;
    return g;
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g,
                       enum av_row_quantity quantity, bool sorted)
{
    static const char *const names[] = { "jacobian_fro", "dq_rms" };
    static const char *const meanings[] = { "of each query's softmax", "what reaches each query" };
    int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, names[quantity]);
    x = av_plot_fit(c, x + 1, right, r.y, AV_ROLE_DIM, meanings[quantity]);
    x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, sorted ? "sorted" : "");
    if (g->pool_cols > 1) {
        char text[64];
        snprintf(text, sizeof text, "least to greatest of %zu", g->pool_cols);
        av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    }
}

void av_panel_rows(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                   enum av_row_quantity quantity)
{
    const struct av_snapshot *s = ctx->snapshot;
    const struct rows series[2] = { { s, quantity, true }, { s, quantity, false } };
    struct av_heat_grid g = av_panel_rows_grid(r, s->n_q);
    bool sorted = ctx->state->page != 0;
    if (g.cells.h < 2 || !has_series(&series[1])) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct av_axis axis = make_axis(series, g.cells.h);
    draw_title(c, r, &g, quantity, sorted);
    draw_levels(c, g.cells, &axis, s, quantity);
    for (int k = 0; k < 2; k++) {
        if (has_series(&series[k])) {
            draw_series(c, &series[k], &axis, &g, sorted);
        }
    }
    av_plot_axis_y(c, &axis, g.cells.x - 1, g.cells.y, AV_HEAT_MARGIN - 1);
    int y = g.cells.y + g.cells.h;
    av_canvas_put(c, g.cells.x - 1, y, 0x2514, AV_ROLE_AXIS);
    for (int x = 0; x < g.cells.w; x++) {
        av_canvas_put(c, g.cells.x + x, y, 0x2500, AV_ROLE_AXIS);
    }
    int right = g.cells.x + g.cells.w;
    av_panel_column_labels(c, &g, y + 1, right + 2, sorted ? -1 : (int64_t)av_panel_query(s));
    av_plot_fit(c, right + 3, r.x + r.w, y + 1, AV_ROLE_DIM, sorted ? "rank →" : "query →");
    av_canvas_clip(c, clip);
}
