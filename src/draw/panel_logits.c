/* panel_logits.c - a row of logits and its weights as columns, key by key. */
#include "panels_softmax.h"

#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>

enum {
    TITLE_H = 1,
    CAPTION_H = 1,
    NOTES = 3,
    NUMBERS_W = 7, /* of columns that have room for their numbers */
    MARK_KEY = 0x25B4,
    MARK_BELOW = 0x25BE
};

/* Logits beyond it have no round values that an axis could show. */
static const double LABELLED = 1e9;

/* Weights above it are told by what is missing to 1. */
static const double CLOSE_TO_1 = 0.99;

/* Below this part of the axis a weight leaves no trace: nearly 0 looks like 0. */
static const double LEAST_PART = 1e-3;

bool av_lab_row(const struct av_snapshot *s, struct av_lab_row *out)
{
    size_t i = av_panel_query(s);
    if (s->n_q == 0 || s->invalid[i] || s->rows[i].keys == 0) {
        return false;
    }
    struct av_softmax_row row = { s->logits + i * s->n_k, s->weights + i * s->n_k, s->n_k, &s->rows[i], s->form };
    *out = (struct av_lab_row){
        .row = row,
        .key = av_panel_key(s),
        .range = s->params.x_range,
        .given = s->from_logits ? s->params.logits.at : NULL,
        .bend = av_panel_bend(s),
        .params = &s->params,
        .simplex = s->simplex || !s->varied,
        /* Rounded sums are not the same ones. */
        .shifts = (av_variant_flags(s->params.variant) & AV_VARIANT_SHIFTS) != 0 || s->params.dtype != AV_DTYPE_F64,
    };
    return true;
}

const char *av_lab_weight(char out[AV_NUMBER_MAX], const struct av_softmax_row *row, size_t j, int digits)
{
    char rest[AV_NUMBER_MAX];
    const struct av_rowstats *stats = row->stats;
    if (j != stats->argmax || stats->max <= CLOSE_TO_1 || stats->keys < 2 || row->form != NULL) {
        return av_plot_tiny(out, row->p[j], av_softmax_log10_weight(row, j), digits);
    }
    av_plot_tiny(rest, stats->one_minus_max, av_rowstats_log10_one_minus_max(stats), 1);
    snprintf(out, AV_NUMBER_MAX, "1 - %.20s", rest);
    return out;
}

/* One of the two quantities: where a value stands on its axis, 0 .. 1, and
 * what it is called. */
struct bars {
    const struct av_lab_row *lab;
    const double *value;
    const char *name;
    const char *notes[NOTES]; /* the lesson, in full, brief, briefest */
    double lo, hi;            /* the axis */
    bool relative;            /* to the largest; what lies below the axis is marked */
};

static double part_of(const struct bars *b, double v)
{
    /* From the top down: exact for neighbours of a logit of 1e30. */
    return v >= b->hi ? 1 : 1 - (b->hi - v) / (b->relative ? b->lab->range : b->hi);
}

/* The largest of the values that share a column. */
static size_t largest(const struct bars *b, size_t first, size_t n)
{
    size_t at = first;
    for (size_t j = first + 1; j < first + n; j++) {
        at = b->value[j] > b->value[at] ? j : at;
    }
    return at;
}

static const char *value_text(char out[AV_NUMBER_MAX], const struct bars *b, size_t j, int digits)
{
    return b->relative ? av_plot_short(out, b->value[j], digits) : av_lab_weight(out, &b->lab->row, j, digits);
}

/* "0.547" below its column, that of the selected key marked. */
static void draw_numbers(struct av_canvas *c, const struct bars *b, const struct av_heat_grid *g, int y)
{
    for (size_t j = 0; j < g->cols; j++) {
        int x = av_heat_x(g, j);
        int end = x;
        for (int digits = b->relative ? 4 : 3; digits > 0 && end == x; digits--) {
            char number[AV_NUMBER_MAX];
            enum av_role role = j == b->lab->key ? AV_ROLE_SELECT : AV_ROLE_TEXT;
            end = av_plot_fit(c, x, x + g->cell_w - 1, y, role, value_text(number, b, j, digits));
        }
    }
}

/* "▴ key 7: 0.547" below the selected key's column, or "key 7: 0.547 ▴". */
static void draw_pointer(struct av_canvas *c, const struct bars *b, const struct av_heat_grid *g, int right, int y)
{
    size_t key = b->lab->key;
    int x = av_heat_x(g, key);
    char number[AV_NUMBER_MAX];
    char text[64];
    snprintf(text, sizeof text, "key %zu: %s", key, value_text(number, b, key, b->relative ? 6 : 4));
    av_canvas_put(c, x, y, MARK_KEY, AV_ROLE_SELECT);
    if (av_plot_fit(c, x + 2, right, y, AV_ROLE_SELECT, text) == x + 2) {
        av_plot_fit_right(c, g->cells.x - AV_HEAT_MARGIN, x - 1, y, AV_ROLE_SELECT, text);
    }
}

static void draw_columns(struct av_canvas *c, const struct bars *b, const struct av_heat_grid *g, int top, int h)
{
    for (size_t first = 0; first < g->cols; first += g->pool_cols) {
        size_t n = g->cols - first < g->pool_cols ? g->cols - first : g->pool_cols;
        size_t j = largest(b, first, n);
        double part = part_of(b, b->value[j]);
        bool selected = b->lab->key >= first && b->lab->key < first + n;
        struct av_fill fill = { 0x2588, selected ? AV_ROLE_TITLE : AV_ROLE_BAR };
        /* Wide columns keep a gap, so that equal ones can be counted. */
        int w = g->cell_w > 2 ? g->cell_w - 1 : g->cell_w;
        for (int k = 0; k < w; k++) {
            int x = av_heat_x(g, first) + k;
            if (part >= LEAST_PART) {
                av_plot_column(c, x, top + h - 1, h, part, fill);
            } else if (b->relative && isfinite(b->value[j])) {
                av_canvas_put(c, x, top + h - 1, MARK_BELOW, AV_ROLE_DIM);
            }
        }
    }
}

static void draw_axis(struct av_canvas *c, const struct bars *b, const struct av_heat_grid *g, int top, int h)
{
    int x = g->cells.x - 1;
    struct av_axis axis = { b->lo, b->hi, false, h };
    if (fabs(b->hi) < LABELLED) {
        av_plot_axis_y(c, &axis, x, top, AV_HEAT_MARGIN - 1);
        return;
    }
    for (int y = top; y < top + h; y++) {
        av_canvas_put(c, x, y, 0x2502, AV_ROLE_AXIS);
    }
}

/* "logits z   max of 13 keys   ...the lesson", as far as it fits. */
static void draw_title(struct av_canvas *c, struct av_rect r, const struct bars *b, const struct av_heat_grid *g)
{
    int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, b->name) + 2;
    if (g->pool_cols > 1) {
        char text[64];
        snprintf(text, sizeof text, "max of %zu keys", g->pool_cols);
        x = av_plot_fit(c, x, right, r.y, AV_ROLE_TEXT, text) + 2;
    }
    for (int i = 0, end = x; i < NOTES && end == x; i++) {
        end = av_plot_fit(c, x, right, r.y, AV_ROLE_DIM, b->notes[i]);
    }
}

static void draw_bars(struct av_canvas *c, struct av_rect r, const struct bars *b, const struct av_heat_grid *g)
{
    if (r.h < AV_BARS_LEAST_H || g->cells.w < 1) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    int h = r.h - TITLE_H - CAPTION_H;
    draw_title(c, r, b, g);
    draw_axis(c, b, g, r.y + TITLE_H, h);
    draw_columns(c, b, g, r.y + TITLE_H, h);
    if (g->cell_w >= NUMBERS_W) {
        draw_numbers(c, b, g, r.y + r.h - CAPTION_H);
    } else {
        draw_pointer(c, b, g, r.x + r.w, r.y + r.h - CAPTION_H);
    }
    av_canvas_clip(c, clip);
}

void av_panel_logits(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab,
                     const struct av_heat_grid *grid)
{
    double top = lab->row.stats->max_logit;
    const char *full = lab->shifts ? "add to all (b/B) or change the offset: weights change, too"
                                   : "add to all (b/B) or change the offset: only this axis moves";
    const char *brief = lab->shifts ? "b/B add: weights change, too" : "b/B add: only the axis moves";
    const char *least = lab->shifts ? "" : "b/B: the axis moves";
    struct bars b = { .lab = lab,
                      .value = lab->row.z,
                      .name = "logits z",
                      .notes = { full, brief, least },
                      .lo = top - lab->range,
                      .hi = top,
                      .relative = true };
    draw_bars(c, r, &b, grid);
}

void av_panel_logit_weights(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab,
                            const struct av_heat_grid *grid)
{
    double most = lab->row.stats->max;
    double top = most > 0 ? av_plot_step(most, 1, false) : 1;
    bool softmax = lab->row.form == NULL;
    char name[64] = "weights p";
    if (!softmax) {
        snprintf(name, sizeof name, lab->simplex ? "weights p of %s" : "weights w of %s", lab->bend);
    }
    const char *full = !softmax ? "" : "unchanged when all logits move (b/B), changed by factors (f/F)";
    const char *brief = !softmax ? "" : "b/B: unchanged  f/F: changed";
    const char *least = !softmax ? "" : "b/B: unchanged";
    struct bars b = { .lab = lab,
                      .value = lab->row.p,
                      .name = name,
                      .notes = { full, brief, least },
                      .lo = 0,
                      .hi = top,
                      .relative = false };
    draw_bars(c, r, &b, grid);
}
