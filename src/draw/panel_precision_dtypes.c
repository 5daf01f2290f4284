/* panel_precision_dtypes.c - every dtype against f64, and the first d_k that
 * overflows f16. */
#include "panels_precision.h"

#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>

enum { NAME_W = 11, HEAD_H = 2, BLOCK_H = 1 + AV_DTYPES, OVERFLOW_H = 3, PRESENT = 0x25B8 };

/* ---- the table ----------------------------------------------------------------------- */

typedef void write_value(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell);

static void write_count(char out[AV_NUMBER_MAX], size_t count, size_t rows)
{
    snprintf(out, AV_NUMBER_MAX, rows == 0 ? "n/a" : count > 0 ? "%zu/%zu" : "0", count, rows);
}

static void write_nan(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell)
{
    write_count(out, cell->nan_rows, cell->rows);
}

static void write_argmax(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell)
{
    write_count(out, cell->argmax_lost, av_precision_rows(cell));
}

static void write_dead(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell)
{
    write_count(out, cell->dead_rows, av_precision_rows(cell));
}

static void write_weight_max(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell)
{
    av_plot_number(out, cell->weight_error_max, 2);
}

static void write_weight_mean(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell)
{
    av_plot_number(out, cell->weight_error_mean, 2);
}

static void write_logit(char out[AV_NUMBER_MAX], const struct av_precision_cell *cell)
{
    av_plot_number(out, cell->logit_error_max, 2);
}

/* Columns end at `edge`, counted from behind the names; what tells most is left. */
static const struct column {
    int edge;
    const char *upper, *lower;
    write_value *write;
    bool error; /* f64 is what it is measured against */
} columns[] = {
    { 9, "NaN", "rows", write_nan, false },        { 21, "argmax", "lost", write_argmax, false },
    { 33, "gradient", "lost", write_dead, false }, { 45, "weight err", "largest", write_weight_max, true },
    { 56, "", "mean", write_weight_mean, true },   { 68, "logit err", "largest", write_logit, true },
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void draw_column(struct av_canvas *c, struct av_rect r, const struct column *column, int y, enum av_role role,
                        const char *text)
{
    int edge = r.x + NAME_W + column->edge;
    if (edge < r.x + r.w) {
        av_plot_fit_right(c, r.x + NAME_W, edge, y, role, text);
    }
}

static void draw_row(struct av_canvas *c, struct av_rect r, int y, const struct av_precision_cell *cell,
                     enum av_dtype dtype, bool present)
{
    struct av_fill mark = av_precision_mark(av_precision_judge(cell));
    if (cell->rows > 0) {
        av_precision_put(c, r.x + 1, y, mark);
    }
    if (present) {
        av_canvas_put(c, r.x + 3, y, PRESENT, AV_ROLE_SELECT);
    }
    av_canvas_text(c, r.x + 5, y, present ? AV_ROLE_SELECT : AV_ROLE_TEXT, av_param_find("dtype")->choices[dtype]);
    for (const struct column *column = columns; column < columns + COLUMNS; column++) {
        char text[AV_NUMBER_MAX];
        if (column->error && dtype == AV_DTYPE_F64) {
            snprintf(text, sizeof text, "·");
        } else if (cell->rows == 0) {
            snprintf(text, sizeof text, "…");
        } else {
            column->write(text, cell);
        }
        bool bad = !column->error && text[0] != '0' && text[0] != 'n' && cell->rows > 0;
        draw_column(c, r, column, y, bad ? mark.role : cell->whole ? AV_ROLE_TEXT : AV_ROLE_DIM, text);
    }
}

/* What the signs before a dtype say. */
static void draw_legend(struct av_canvas *c, int x, int right, int y)
{
    static const char *const words[] = { [AV_INFO] = "fine", [AV_WARN] = "lost", [AV_BAD] = "NaN" };
    for (int severity = AV_INFO; severity <= AV_BAD; severity++) {
        struct av_fill mark = av_precision_mark((enum av_severity)severity);
        const int from = x + 2 + c->ascii; /* behind two letters */
        int end = av_plot_fit(c, from, right, y, mark.role, words[severity]);
        if (end == from) {
            return;
        }
        av_precision_put(c, x, y, mark);
        x = end + 2;
    }
    av_panel_legend(c, x, right, y, (struct av_fill){ PRESENT, AV_ROLE_SELECT }, "dtype");
}

/* One state of scale. */
static void draw_block(struct av_canvas *c, struct av_rect r, int y, const struct av_precision *s, bool scale,
                       enum av_dtype present)
{
    struct av_look look = av_look_scale(scale);
    int x = av_panel_legend(c, r.x + 1, r.x + r.w, y, look.fill, look.name);
    if (scale == (s->params.scale != 0)) {
        x = av_plot_fit(c, x - 1, r.x + r.w, y, AV_ROLE_DIM, "· as set") + 3;
        if (s->at[scale][AV_DTYPE_F64].rows > 0) {
            draw_legend(c, x, r.x + r.w, y);
        }
    }
    for (int t = 0; t < AV_DTYPES; t++) {
        draw_row(c, r, y + 1 + t, &s->at[scale][t], (enum av_dtype)t, (enum av_dtype)t == present);
    }
}

/* ---- overflow ----------------------------------------------------------------------------- */

static void write_first(char out[AV_NUMBER_MAX], const struct av_precision_overflow *o, size_t first)
{
    if (first > 0) {
        snprintf(out, AV_NUMBER_MAX, "%s%zu", o->whole ? "" : "≤ ", first);
    } else {
        snprintf(out, AV_NUMBER_MAX, o->whole ? "none up to %zu" : "…", o->columns);
    }
}

static void draw_overflow(struct av_canvas *c, struct av_rect r, int y, const struct av_precision *s)
{
    static const char *const orders[AV_SCALE_ORDERS] = { "scale on the product, or off", "scale on the query first" };
    const struct av_precision_overflow *o = &s->overflow;
    int right = r.x + r.w;
    bool normalised = (av_variant_flags(s->params.variant) & AV_VARIANT_ENTRIES) != 0;
    char number[AV_NUMBER_MAX];
    char text[128];
    int x = av_plot_fit(c, r.x + 1, right, y, AV_ROLE_TITLE, "f16 ends at 65504: first d_k with a score beyond");
    snprintf(text, sizeof text, "here |q·k| ≤ %.20s", av_plot_number(number, s->score_max, 3));
    if (!isnan(s->score_max)) {
        av_plot_fit(c, x + 2, right, y, AV_ROLE_DIM, text);
    }
    for (int order = 0; order < AV_SCALE_ORDERS; order++) {
        bool here = o->first[order] > 0 && o->first[order] <= (size_t)s->params.d_k;
        write_first(number, o, o->first[order]);
        av_plot_fit(c, r.x + 3, right, y + 1 + order, AV_ROLE_TEXT, orders[order]);
        x = av_plot_fit(c, r.x + 34, right, y + 1 + order, here ? AV_ROLE_BAD : AV_ROLE_TEXT, number);
        if (here) {
            av_plot_fit(c, x + 2, right, y + 1 + order, AV_ROLE_BAD, "✗ here");
        } else if (normalised && order == 0) {
            av_plot_fit(c, x + 2, right, y + 1, AV_ROLE_DIM, "(of q·k as they are, not normalised)");
        }
    }
}

/* ---- in words ----------------------------------------------------------------------------- */

static void draw_findings(struct av_canvas *c, struct av_rect r, const struct av_precision *s)
{
    struct av_precision_finding findings[AV_PRECISION_FINDINGS];
    size_t n = av_precision_findings(findings, s);
    int y = r.y;
    for (size_t i = 0; i < n && y < r.y + r.h; i++) {
        static const struct av_fill figure = { AV_MARK_UNKNOWN, AV_ROLE_TEXT };
        struct av_fill mark = findings[i].figure ? figure : av_precision_mark(findings[i].severity);
        av_precision_put(c, r.x + 1, y, mark);
        struct av_rect text = { r.x + 3, y, r.w - 4, r.y + r.h - y };
        y += av_plot_wrap(c, text, mark.role, findings[i].text);
    }
}

void av_panel_precision_dtypes(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_precision *s = ctx->study;
    enum av_dtype present = (enum av_dtype)ctx->snapshot->params.dtype;
    bool now = s->params.scale != 0;
    int gap = r.h > HEAD_H + 2 * BLOCK_H + OVERFLOW_H + AV_PRECISION_FINDINGS + 3;
    int y = r.y;
    for (const struct column *column = columns; column < columns + COLUMNS; column++) {
        draw_column(c, r, column, y, AV_ROLE_DIM, column->upper);
        draw_column(c, r, column, y + 1, AV_ROLE_DIM, column->lower);
    }
    av_plot_fit(c, r.x + 1, r.x + NAME_W, y + 1, AV_ROLE_DIM, "dtype");
    y += HEAD_H;
    draw_block(c, r, y, s, now, present);
    y += BLOCK_H + gap;
    draw_block(c, r, y, s, !now, present);
    y += BLOCK_H + gap;
    draw_overflow(c, r, y, s);
    y += OVERFLOW_H + gap;
    draw_findings(c, (struct av_rect){ r.x, y, r.w, r.y + r.h - y }, s);
}
