/* panel_rows.c - a gradient row by row: where the mean hides what happens.
 *
 * Values are drawn by their logarithm. A column that stands for several
 * queries shows them from the least to the greatest. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

enum {
    LABELS_W = 18,       /* columns on the right for the names of lines and their values */
    LABELS_LEAST_W = 10, /* for the names alone */
    CELL_W_MOST = 6,
    AXIS_H = 2,
    TITLE_H = 1,
    DECADES_MOST = 12,
    DECADES_LEAST = 2,
    RANKS = 2048, /* steps of the axis by which rows are sorted */
    LINES = 4,
    MARK_BELOW = 0x25BE
};

static const double LOG10_DEAD = -3;
static const double DQ_SPARE = 0.2; /* decades that dq_rms may differ from what is expected */
static const double NONE = -1;      /* not a logarithm that is drawn: see range.any */

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

static const struct av_rowstats *stats_of(const struct rows *rows)
{
    return rows->other ? rows->s->other_rows : rows->s->rows;
}

static bool counts(const struct rows *rows, size_t i)
{
    return av_row_counts(rows->s, stats_of(rows), i);
}

static double log10_jacobian(const struct rows *rows, size_t i)
{
    return av_rowstats_log10_jacobian_fro(stats_of(rows) + i);
}

static double log10_value(const struct rows *rows, size_t i)
{
    return rows->quantity == AV_ROW_DQ ? log10(rows->s->dq_rms[i]) : log10_jacobian(rows, i);
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
        if (counts(rows, i)) {
            widen(&r, log10_value(rows, i));
        }
    }
    return r;
}

static bool has_values(const struct rows *rows)
{
    const struct av_snapshot *s = rows->s;
    return (!rows->other || s->other_rows != NULL) && (rows->quantity != AV_ROW_DQ || s->dq_rms != NULL);
}

/* What is drawn is measured. */
static bool has_series(const struct rows *rows)
{
    return has_values(rows) && (rows->quantity != AV_ROW_DQ || !rows->other);
}

/* ---- the axis -------------------------------------------------------- */

/* log10 of what the keys add from d_scores to dq: how far they lie apart. The
 * state does not matter to sampled keys, and to those of files hardly; what a
 * variant does to them is measured as well. */
static double log10_keys(const struct rows *rows)
{
    const struct av_snapshot *s = rows->s;
    if (!s->from_files && !s->varied) {
        return log10(s->params.k_std) + 0.5 * log10((double)s->d_k);
    }
    const struct rows now = { s, AV_ROW_DQ, false };
    double sum = 0;
    double n = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        double ratio = log10_value(&now, i) - log10_jacobian(&now, i);
        if (counts(&now, i) && isfinite(ratio)) {
            sum += ratio;
            n++;
        }
    }
    return n > 0 ? sum / n - log10(fabs(s->now.alpha) / s->params.temperature) : 0;
}

/* log10 of what a Jacobian of 1 is on the axis. dq_rms is measured in one of
 * the states only: for the axis it is what the Jacobian lets expect. */
static double log10_unit(const struct rows *rows)
{
    const struct av_snapshot *s = rows->s;
    double alpha = fabs(rows->other ? s->other.alpha : s->now.alpha);
    return rows->quantity == AV_ROW_DQ ? log10(alpha / s->params.temperature) + log10_keys(rows) : 0;
}

/* The logarithms that an axis has to hold: of both states, so that it holds
 * still when scale is toggled. */
static struct range range_of_both(const struct rows series[2])
{
    struct range all = { false, NONE, NONE };
    for (int k = 0; k < 2; k++) {
        const struct rows *rows = &series[k];
        double unit = has_values(rows) ? log10_unit(rows) : (double)NAN;
        for (size_t i = 0; isfinite(unit) && i < rows->s->n_q; i++) {
            double v = counts(rows, i) ? unit + log10_jacobian(rows, i) : (double)NAN;
            if (isfinite(v)) {
                widen(&all, v);
            }
        }
    }
    return all;
}

/* Whole powers of ten around the values, within limits: a row may be 1e-400.
 * The Jacobian's axis always holds the line below which a row is dead. */
static struct av_axis make_axis(const struct rows series[2], int cells)
{
    bool dq = series->quantity == AV_ROW_DQ;
    double spare = dq ? DQ_SPARE : 0;
    struct range all = range_of_both(series);
    double hi = all.any ? ceil(all.hi + spare) : 0;
    double lo = all.any ? floor(all.lo - spare) : -DECADES_LEAST;
    lo = fmin(fmax(lo, hi - DECADES_MOST), hi - DECADES_LEAST);
    lo = dq ? lo : fmin(lo, LOG10_DEAD - 1);
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
        if (counts(rows, i)) {
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

/* Tells whether the range goes on below the axis. */
static bool draw_range(struct av_canvas *c, const struct av_axis *a, int x, int bottom, struct range r,
                       struct av_fill mark, uint32_t between)
{
    if (!r.any) {
        return false;
    }
    int lo = cell_of(a, r.lo);
    int hi = cell_of(a, r.hi);
    for (int k = lo > 0 ? lo : 0; k <= hi; k++) {
        av_canvas_put(c, x, bottom - k, k == lo || k == hi ? mark.body : between, mark.role);
    }
    if (lo < 0) {
        av_canvas_put(c, x, bottom, MARK_BELOW, mark.role);
    }
    return lo < 0;
}

/* Tells whether some of it lies below the axis. */
static bool draw_series(struct av_canvas *c, const struct rows *rows, const struct av_axis *a,
                        const struct av_heat_grid *g, bool sorted)
{
    struct av_look look = rows->other ? av_look_other(rows->s) : av_look_now(rows->s);
    struct av_fill mark = { rows->other ? AV_MARK_OTHER : AV_MARK_NOW, look.fill.role };
    bool below = false;
    struct ranks ranks;
    if (sorted) {
        rank_rows(&ranks, rows, a);
    }
    for (size_t first = 0; first < g->cols; first += g->pool_cols) {
        size_t count = g->cols - first < g->pool_cols ? g->cols - first : g->pool_cols;
        struct range r = sorted ? next_ranks(&ranks, count) : range_of(rows, first, count);
        int x = av_heat_x(g, first) + (g->cell_w - 1) / 2;
        below |= draw_range(c, a, x, g->cells.y + g->cells.h - 1, r, mark, rows->other ? 0x250A : 0x2502);
    }
    return below;
}

/* A level line across the plot, named on the right. */
struct line {
    const char *name, *brief;
    double value;
    struct av_fill look;
};

/* "dead below 1e-3", or in less room "dead 1e-3", or "dead". */
static void draw_name(struct av_canvas *c, int x, int right, int y, const struct line *line)
{
    char number[AV_NUMBER_MAX];
    char texts[3][64];
    av_plot_short(number, line->value, 2);
    snprintf(texts[0], sizeof texts[0], "%s %s", line->name, number);
    snprintf(texts[1], sizeof texts[1], "%s %s", line->brief, number);
    snprintf(texts[2], sizeof texts[2], "%s", line->brief);
    for (int i = 0, end = x; i < 3 && end == x; i++) {
        end = av_plot_fit(c, x, right, y, line->look.role, texts[i]);
    }
}

static void draw_lines(struct av_canvas *c, struct av_rect plot, int right, const struct av_axis *a,
                       const struct line *lines, size_t n)
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
        if (free_row) {
            draw_name(c, plot.x + plot.w + 1, right, y, &lines[i]);
        }
        taken[i] = true;
        rows[i] = y;
    }
}

static void draw_levels(struct av_canvas *c, struct av_rect plot, int right, const struct av_axis *a,
                        const struct av_snapshot *s, enum av_row_quantity quantity)
{
    enum av_role now = av_look_now(s).fill.role;
    bool dq = quantity == AV_ROW_DQ;
    const struct line lines[LINES] = {
        { "median", "median", dq ? s->now.dq_rms_median : s->now.jacobian_fro_median, { 0x2500, now } },
        { "mean", "mean", dq ? s->now.dq_rms_mean : s->now.jacobian_fro_mean, { 0x254C, now } },
        { "dead below", "dead", dq ? (double)NAN : AV_DEAD_FRO, { 0x2504, AV_ROLE_WARN } },
        { "median",
          "median",
          dq || s->other.rows == 0 ? (double)NAN : s->other.jacobian_fro_median,
          { 0x2500, av_look_other(s).fill.role } },
    };
    draw_lines(c, plot, right, a, lines, LINES);
}

/* The grid that leaves so many columns for the names of lines. */
static struct av_heat_grid make_grid(struct av_rect r, size_t n_q, int labels_w)
{
    struct av_rect plot = { r.x + AV_HEAT_MARGIN, r.y + TITLE_H, r.w - AV_HEAT_MARGIN - labels_w,
                            r.h - TITLE_H - AXIS_H };
    struct av_heat_grid g =
        av_layout_heat((struct av_rect){ plot.x, plot.y, plot.w, 1 }, 1, n_q, (struct av_heat_window){ 0, 0, 0 });
    if (g.pool_cols == 1) { /* no aspect is to be kept here */
        g.cell_w = plot.w / (int)n_q < CELL_W_MOST ? plot.w / (int)n_q : CELL_W_MOST;
        g.cells.w = g.cell_w * (int)n_q;
    }
    g.cells.h = plot.h > 0 && g.cells.w > 0 ? plot.h : 0;
    return g;
}

/* Values beside the names of lines go where a query then gets a second column,
 * or a column of its own. */
struct av_heat_grid av_panel_rows_grid(struct av_rect r, size_t n_q)
{
    struct av_heat_grid roomy = make_grid(r, n_q, LABELS_W);
    struct av_heat_grid tight = make_grid(r, n_q, LABELS_LEAST_W);
    bool gains = tight.pool_cols == 1 && (roomy.pool_cols != 1 || (roomy.cell_w == 1 && tight.cell_w > 1));
    return gains ? tight : roomy;
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g, const struct av_snapshot *s,
                       enum av_row_quantity quantity, bool sorted, bool below)
{
    static const char *const names[] = { "jacobian_fro", "dq_rms" };
    char meaning[64] = "what reaches each query";
    if (quantity == AV_ROW_JACOBIAN && s->from == AV_PART_WEIGHTS) {
        snprintf(meaning, sizeof meaning, "of each query's weights, as if of a softmax");
    } else if (quantity == AV_ROW_JACOBIAN) {
        snprintf(meaning, sizeof meaning, "of each query's %s", av_panel_bend(s));
    }
    int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, names[quantity]);
    if (below) {
        right = av_plot_fit_right(c, x + 2, right - 1, r.y, AV_ROLE_TEXT, "▾ below the axis") - 1;
    }
    x = av_plot_fit(c, x + 1, right, r.y, AV_ROLE_DIM, meaning);
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
    draw_levels(c, g.cells, r.x + r.w, &axis, s, quantity);
    bool below = false;
    for (int k = 0; k < 2; k++) {
        if (has_series(&series[k])) {
            below |= draw_series(c, &series[k], &axis, &g, sorted);
        }
    }
    draw_title(c, r, &g, s, quantity, sorted, below);
    av_plot_axis_y(c, &axis, g.cells.x - 1, g.cells.y, AV_HEAT_MARGIN - 1);
    int y = g.cells.y + g.cells.h;
    av_canvas_put(c, g.cells.x - 1, y, 0x2514, AV_ROLE_AXIS);
    for (int x = 0; x < g.cells.w; x++) {
        av_canvas_put(c, g.cells.x + x, y, 0x2500, AV_ROLE_AXIS);
    }
    int right = g.cells.x + g.cells.w;
    av_panel_column_labels(c, &g, y + 1, right + 2, sorted ? 0 : av_panel_first_query(s),
                           sorted ? -1 : (int64_t)av_panel_query(s));
    av_plot_fit(c, right + 3, r.x + r.w, y + 1, AV_ROLE_DIM, sorted ? "rank →" : "query →");
    av_canvas_clip(c, clip);
}
