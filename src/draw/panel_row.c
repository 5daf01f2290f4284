/* panel_row.c - the selected query's weights, one column a key. */
#include "panels.h"

#include "attnviz/entropy_unit.h"
#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS_LEAST_H = 4 }; /* of a panel with a line of tokens */

/* "query 7   largest p 0.19 at key 12   entropy 2.9 nats", as far as it fits; of
 * weights that have no simplex "... row sum 0.53   entropy of |w| 2.9". */
static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    size_t i = av_panel_query(s);
    const struct av_rowstats *row = &s->rows[i];
    char number[AV_NUMBER_MAX];
    char text[2 * AV_PIECE_MAX];
    char token[AV_QUOTED_MAX];
    int right = r.x + r.w;
    snprintf(text, sizeof text, "query %zu%s", av_panel_first_query(s) + i,
             av_panel_quoted(token, s, av_panel_query_position(s, i)));
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, text);
    if (s->invalid[i] || row->keys == 0) {
        char why[AV_PIECE_MAX];
        snprintf(text, sizeof text, "holds %s", av_panel_invalid(why, s, i));
        av_plot_fit(c, x + 1, right, r.y, AV_ROLE_BAD, s->invalid[i] ? text : "has no keys");
        return;
    }
    const char *symbol = s->simplex ? "p" : "w";
    bool averages = av_panel_averages(s);
    snprintf(text, sizeof text, "largest %s %s at %s %zu%s", symbol,
             av_panel_weight(number, row->max, row->one_minus_max), averages ? "average" : "key", row->argmax,
             averages ? "" : av_panel_quoted(token, s, row->argmax));
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
    snprintf(text, sizeof text, s->simplex ? "entropy %s %s" : "entropy of |w| %s %s",
             av_plot_number(number, av_entropy_shown(&s->params, row->entropy), 3), av_entropy_unit(&s->params));
    if (av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, text) == x + 2 && s->params.entropy_unit == AV_NATS) {
        *strrchr(text, ' ') = '\0'; /* nats go without saying */
        av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, text);
    }
}

/* Below this part of the largest a weight is none to the eye: the trace that a
 * column leaves would make zero look like one. */
static const double LEAST_PART = 1.0 / 16;

/* The weight of the greatest size, the first of equal ones. */
static size_t largest_at(const double *p, size_t n)
{
    size_t at = 0;
    for (size_t j = 1; j < n; j++) {
        at = fabs(p[j]) > fabs(p[at]) ? j : at;
    }
    return at;
}

static double largest_of(const double *p, size_t n)
{
    return p[largest_at(p, n)];
}

/* The weights that column x of the grid stands for. */
struct bar {
    size_t first, n;
};

static struct bar bar_at(const struct av_heat_grid *g, size_t x)
{
    size_t first = x * g->pool_cols;
    size_t n = g->cols - first < g->pool_cols ? g->cols - first : g->pool_cols;
    return (struct bar){ g->col + first, n };
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
        struct bar b = bar_at(g, x);
        double v = largest_of(p + b.first, b.n);
        double part = fabs(v) / top;
        /* Wide columns keep a gap, so that equal ones can be counted. */
        int w = g->cell_w > 2 ? g->cell_w - 1 : g->cell_w;
        for (int k = 0; k < w && part >= LEAST_PART; k++) {
            draw_column(c, g->cells.x + (int)x * g->cell_w + k, r, v < 0 ? -part : part, fill);
        }
    }
}

/* The token of a bar's largest weight below it, where it is clear of others. */
static void draw_token(struct av_canvas *c, const struct av_heat_grid *g, int y, int right, const struct av_snapshot *s,
                       size_t key)
{
    enum { NARROW = 8 }; /* tokens of narrow bars reach over others' places */
    char text[AV_TOKEN_MAX];
    int x = av_heat_x(g, key);
    int cells = g->cell_w > NARROW ? g->cell_w - 1 : NARROW;
    av_panel_token(text, s, key, right - x < cells ? right - x : cells);
    int end = x + av_utf8_columns(text);
    for (int i = x - 1; i <= end; i++) {
        if (i >= g->cells.x && av_canvas_at(c, i, y)->code != ' ') {
            return;
        }
    }
    av_canvas_text(c, x, y, key == av_panel_key(s) ? AV_ROLE_SELECT : AV_ROLE_AXIS, text);
}

/* Tokens below the bars, the selected one's first, then from the largest bar down
 * to those that leave a trace. */
static void draw_tokens(struct av_canvas *c, const struct av_heat_grid *g, int y, int right,
                        const struct av_snapshot *s)
{
    enum { MOST = 32 };
    const double *p = s->weights + av_panel_query(s) * s->n_k;
    double least = LEAST_PART * fabs(largest_of(p, s->n_k));
    double bound = (double)INFINITY; /* sizes from here on are done, of equal ones up to key `behind` */
    size_t behind = 0;
    if (av_heat_x(g, av_panel_key(s)) >= 0) {
        draw_token(c, g, y, right, s, av_panel_key(s));
    }
    for (int i = 0; i < MOST && bound > least; i++) {
        double most = 0;
        size_t next = s->n_k;
        for (size_t x = 0; x * g->pool_cols < g->cols; x++) {
            struct bar b = bar_at(g, x);
            size_t key = b.first + largest_at(p + b.first, b.n);
            double size = fabs(p[key]);
            bool left = size < bound || (size == bound && key > behind);
            if (left && size >= least && size > most) {
                most = size;
                next = key;
            }
        }
        if (next == s->n_k) {
            return;
        }
        draw_token(c, g, y, right, s, next);
        bound = most;
        behind = next;
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
        bool tokens = r.h >= TOKENS_LEAST_H && av_panel_has_tokens(s) && !av_panel_averages(s);
        draw_columns(c, (struct av_rect){ r.x, r.y + 1, r.w, r.h - 1 - tokens }, s, &own);
        if (tokens) {
            draw_tokens(c, &own, r.y + r.h - 1, r.x + r.w, s);
        }
    }
    av_canvas_clip(c, clip);
}
