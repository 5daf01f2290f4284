/* panel_variant_curves.c - one quantity of several variants over n_k or d_k. */
#include "attnviz/entropy_unit.h"
#include "panels_variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MARGIN = 7, /* labels of values */
    AXIS_H = 2,
    TITLE_H = 1,
    NAMES_W = 28, /* names beside the plot */
    BESIDE_W = 78,
    LEAST_W = MARGIN + 12,
    LEAST_H = TITLE_H + AXIS_H + 3,
    DECADES_MOST = 12,
    DIGITS = 3,
    JOIN = 0x00B7,
    BELOW = 0x25BE
};

/* How the curves look, by their place: the first is of the present variant. None
 * is as other pages mark the one compared, or differences. */
static const struct av_fill marks[AV_VARIANT_CURVES_MAX] = {
    { AV_MARK_NOW, AV_ROLE_SCALED }, { 0x25A0, AV_ROLE_UNSCALED }, { 0x25B3, AV_ROLE_GOOD }, { 0x25A1, AV_ROLE_BAR },
    { 0x25BD, AV_ROLE_KEY },         { '+', AV_ROLE_TITLE },       { '#', AV_ROLE_GHOST },   { '%', AV_ROLE_TEXT },
};

/* In ASCII, where several marks would look alike, they are letters. */
static struct av_fill mark_of(const struct av_canvas *c, size_t i)
{
    return (struct av_fill){ c->ascii ? 'a' + (uint32_t)i : marks[i].body, marks[i].role };
}

static struct av_fill mark_of_theory(const struct av_canvas *c)
{
    return (struct av_fill){ c->ascii ? 'T' : AV_MARK_CURVE, AV_ROLE_CURVE };
}

/* What curves are drawn of. */
static const struct quantity {
    const char *name, *meaning;
    enum av_variant_quantity of;
    bool log, share; /* powers of ten; from 0 to 1 */
} quantities[AV_VARIANT_CURVE_QUANTITIES] = {
    { "entropy", "mean", AV_VARIANT_ENTROPY, false, false },
    { "entropy / ln keys", "mean", AV_VARIANT_ENTROPY_NORM, false, true },
    { "effective keys", "mean", AV_VARIANT_KEYS, true, false },
    { "largest weight", "median", AV_VARIANT_MAX_MEDIAN, true, false },
    { "jacobian_fro", "median", AV_VARIANT_FRO, true, false },
    { "dq_rms", "median", AV_VARIANT_DQ, true, false },
    { "row std of logits", "", AV_VARIANT_ROW_STD, true, false },
    { "row sum", "mean", AV_VARIANT_ROW_SUM, false, false },
    { "nonzero weights", "share of keys seen, mean", AV_VARIANT_NONZERO, false, true },
};

/* One of them as it is drawn. */
struct drawn {
    const struct quantity *q;
    const char *unit; /* "" */
    double factor;    /* of what was measured, for that unit */
    bool theory;      /* the exact values of softmax are drawn too */
};

static struct drawn drawn_as(const struct quantity *q, const struct av_variant_curves *k, const struct av_params *p)
{
    bool entropy = q->of == AV_VARIANT_ENTROPY;
    return (struct drawn){
        .q = q,
        .unit = entropy ? av_entropy_unit(p) : "",
        .factor = entropy ? av_entropy_shown(p, 1) : 1,
        .theory = entropy && k->has_theory,
    };
}

/* The value of a curve at a point; NaN: there is none. */
static double value_of(const struct av_variant_curve *curve, size_t point, const struct drawn *d)
{
    return curve->state[point] == AV_VARIANT_MEASURED ? d->factor * curve->points[point].at[d->q->of] : (double)NAN;
}

/* ---- Axes --------------------------------------------------------------------- */

struct plot {
    struct av_canvas *c;
    struct av_rect cells;
    struct av_axis x, y;
};

/* Ends of all values that are known; positive ones alone on a logarithmic axis. */
struct range {
    double lo, hi;
};

static void widen(struct range *range, double v, bool log)
{
    if (isfinite(v) && (!log || v > 0)) {
        range->lo = fmin(range->lo, v);
        range->hi = fmax(range->hi, v);
    }
}

static struct range range_of(const struct av_variant_curves *k, const struct drawn *d)
{
    struct range range = { (double)INFINITY, -(double)INFINITY };
    for (size_t i = 0; i < k->count; i++) {
        for (size_t j = 0; j < k->points; j++) {
            widen(&range, value_of(&k->curves[i], j, d), d->q->log);
        }
    }
    for (size_t j = 0; d->theory && j < k->points; j++) {
        widen(&range, d->factor * k->theory[j], d->q->log);
    }
    return range;
}

/* Rows of cells stand for the values at their middles: the lowest and the
 * highest one for the ends. */
static struct av_axis value_axis(const struct range *range, const struct quantity *q, int cells)
{
    double half = 0.5 / (cells > 1 ? cells - 1 : 1);
    bool any = range->lo <= range->hi;
    if (q->log) {
        double top = any ? ceil(log10(range->hi)) : 0;
        double bottom = any ? floor(log10(range->lo)) : -1;
        bottom = fmax(fmin(bottom, top - 1), top - DECADES_MOST);
        half *= top - bottom;
        return (struct av_axis){ pow(10, bottom - half), pow(10, top + half), true, cells };
    }
    double lo = any ? fmin(range->lo, 0) : 0;
    double hi = q->share || !any ? 1 : fmax(range->hi, 0);
    double step = av_plot_step(hi > lo ? hi - lo : 1, 5, false);
    lo = floor(lo / step) * step;
    hi = fmax(ceil(hi / step), floor(lo / step) + 1) * step;
    half *= hi - lo;
    return (struct av_axis){ lo - half, hi + half, false, cells };
}

/* Half an octave beyond the points at either side. */
static struct av_axis point_axis(const struct av_variant_curves *k, int cells)
{
    double first = (double)k->at[0];
    double last = (double)k->at[k->points - 1];
    return (struct av_axis){ first / 1.2, last * 1.2, true, cells };
}

/* A label below a point, within the columns up to `right`. */
struct label {
    char text[AV_NUMBER_MAX];
    int from, to;
};

static struct label label_of(const struct plot *p, const struct av_variant_curves *k, size_t point, int right)
{
    struct label l;
    int at = p->cells.x + av_axis_cell(&p->x, (double)k->at[point]);
    int len = snprintf(l.text, sizeof l.text, "%zu", k->at[point]);
    l.from = at - len / 2 + len > right ? right - len : at - len / 2;
    l.to = l.from + len;
    return l;
}

/* Do the labels of every step-th point, counted from the last, stay apart? */
static bool apart(const struct plot *p, const struct av_variant_curves *k, size_t step, int right)
{
    struct label after = label_of(p, k, k->points - 1, right);
    for (size_t j = k->points - 1; j >= step; j -= step) {
        struct label l = label_of(p, k, j - step, right);
        if (l.to >= after.from) {
            return false;
        }
        after = l;
    }
    return true;
}

/* The line with a tick a point, and labels of as many as stay apart. */
static void draw_points_axis(const struct plot *p, const struct av_variant_curves *k, int x, int right)
{
    int y = p->cells.y + p->cells.h;
    for (int i = 0; i < p->cells.w; i++) {
        av_canvas_put(p->c, p->cells.x + i, y, 0x2500, AV_ROLE_AXIS);
    }
    av_plot_fit_right(p->c, x, p->cells.x - 1, y + 1, AV_ROLE_DIM, k->over == AV_CURVE_N_K ? "n_k" : "d_k");
    size_t step = 1;
    while (!apart(p, k, step, right)) {
        step++;
    }
    for (size_t j = 0; j < k->points; j++) {
        struct label l = label_of(p, k, j, right);
        av_canvas_put(p->c, p->cells.x + av_axis_cell(&p->x, (double)k->at[j]), y, 0x252C, AV_ROLE_AXIS);
        if ((k->points - 1 - j) % step == 0) {
            av_canvas_text(p->c, l.from, y + 1, AV_ROLE_AXIS, l.text);
        }
    }
}

/* ---- Strokes ------------------------------------------------------------------------ */

struct cell {
    int x, y;
};

static struct cell cell_at(const struct plot *p, size_t at, double v)
{
    return (struct cell){ p->cells.x + av_axis_cell(&p->x, (double)at),
                          p->cells.y + p->cells.h - 1 - av_axis_cell(&p->y, v) };
}

static void draw_line(const struct plot *p, struct cell from, struct cell to, struct av_fill fill)
{
    int dx = to.x - from.x;
    int dy = to.y - from.y;
    int steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 0; i <= steps; i++) {
        double part = steps > 0 ? (double)i / steps : 0;
        av_canvas_put(p->c, from.x + (int)lround(part * dx), from.y + (int)lround(part * dy), fill.body, fill.role);
    }
}

static void draw_theory(const struct plot *p, const struct av_variant_curves *k, const struct drawn *d)
{
    const struct av_fill fill = mark_of_theory(p->c);
    struct cell last = { 0, 0 };
    for (size_t j = 0; j < k->points; j++) {
        struct cell at = cell_at(p, k->at[j], d->factor * k->theory[j]);
        draw_line(p, j > 0 ? last : at, at, fill);
        last = at;
    }
}

static void draw_joined(const struct plot *p, const struct av_variant_curves *k, size_t i, const struct drawn *d)
{
    struct av_fill fill = { JOIN, marks[i].role };
    struct cell last = { -1, -1 };
    for (size_t j = 0; j < k->points; j++) {
        double v = value_of(&k->curves[i], j, d);
        if (!isnan(v)) {
            struct cell at = cell_at(p, k->at[j], v);
            draw_line(p, last.x >= 0 ? last : at, at, fill);
            last = at;
        }
    }
}

static void draw_marks(const struct plot *p, const struct av_variant_curves *k, size_t i, const struct drawn *d)
{
    for (size_t j = 0; j < k->points; j++) {
        double v = value_of(&k->curves[i], j, d);
        if (!isnan(v)) {
            struct cell at = cell_at(p, k->at[j], v);
            bool below = p->y.log && !(v >= p->y.lo);
            av_canvas_put(p->c, at.x, at.y, below ? BELOW : mark_of(p->c, i).body, marks[i].role);
        }
    }
}

/* ---- Names ---------------------------------------------------------------------------- */

/* The last point that is known of a curve; k->points: none. */
static size_t last_known(const struct av_variant_curves *k, size_t i)
{
    for (size_t j = k->points; j-- > 0;) {
        if (k->curves[i].state[j] == AV_VARIANT_MEASURED) {
            return j;
        }
    }
    return k->points;
}

/* The value at the last point, or that there is none. */
static const char *last_value(char out[AV_NUMBER_MAX], const struct av_variant_curves *k, size_t i,
                              const struct drawn *d)
{
    size_t at = last_known(k, i);
    size_t last = k->points - 1;
    if (at == last) {
        return av_plot_number_in(out, value_of(&k->curves[i], at, d), DIGITS, 8);
    }
    snprintf(out, AV_NUMBER_MAX, "%s", k->curves[i].state[last] == AV_VARIANT_REFUSED ? "n/a" : "…");
    return out;
}

static void draw_names_beside(struct av_canvas *c, struct av_rect r, const struct av_variant_curves *k,
                              const struct drawn *d)
{
    char text[AV_NUMBER_MAX];
    int right = r.x + r.w - 1;
    snprintf(text, sizeof text, "at %zu", k->at[k->points - 1]);
    av_plot_fit_right(c, r.x, right, r.y, AV_ROLE_AXIS, text);
    for (size_t i = 0; i < k->count; i++) {
        int y = r.y + 1 + (int)i;
        int left = av_plot_fit_right(c, r.x, right, y, AV_ROLE_TEXT, last_value(text, k, i, d));
        av_canvas_put(c, r.x + 1, y, mark_of(c, i).body, marks[i].role);
        av_variant_text(c, r.x + 3, left - 1, y, marks[i].role, k->curves[i].of.name);
    }
    int y = r.y + 1 + (int)k->count;
    if (d->theory) {
        av_panel_legend(c, r.x + 1, right, y++, mark_of_theory(c), "softmax, exact");
    }
    if (k->left_out > 0) {
        snprintf(text, sizeof text, "+ %zu chosen", k->left_out);
        av_plot_fit(c, r.x + 1, right, y, AV_ROLE_DIM, text);
    }
}

/* Below the plot, as many as fit into its lines. */
static void draw_names_below(struct av_canvas *c, struct av_rect r, const struct av_variant_curves *k, bool theory)
{
    int x = r.x + 1;
    int y = r.y;
    for (size_t i = 0; i < k->count + (theory ? 1 : 0); i++) {
        bool exact = i == k->count;
        struct av_fill fill = exact ? mark_of_theory(c) : mark_of(c, i);
        const char *name = exact ? "softmax, exact" : k->curves[i].of.name;
        int end = av_panel_legend(c, x, r.x + r.w, y, fill, name);
        if (end == x) {
            x = r.x + 1;
            end = av_panel_legend(c, x, r.x + r.w, ++y, fill, name);
        }
        x = end;
    }
}

/* ---- All of it ------------------------------------------------------------------------ */

static void draw_plot(struct av_canvas *c, struct av_rect r, const struct av_variant_curves *k, const struct drawn *d)
{
    char meaning[AV_PIECE_MAX];
    struct av_rect cells = { r.x + MARGIN, r.y + TITLE_H, r.w - MARGIN - 1, r.h - TITLE_H - AXIS_H };
    struct range range = range_of(k, d);
    struct plot p = { c, cells, point_axis(k, cells.w), value_axis(&range, d->q, cells.h) };
    int x = av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_TITLE, d->q->name);
    snprintf(meaning, sizeof meaning, "%s%s%s", d->unit, d->unit[0] != '\0' ? ", " : "", d->q->meaning);
    av_plot_fit(c, x + 1, r.x + r.w, r.y, AV_ROLE_DIM, meaning);
    av_plot_axis_y(c, &p.y, cells.x - 1, cells.y, MARGIN - 1);
    av_canvas_put(c, cells.x - 1, cells.y + cells.h, 0x2514, AV_ROLE_AXIS);
    draw_points_axis(&p, k, r.x, r.x + r.w);
    for (size_t i = k->count; i-- > 0;) { /* the present one on top */
        draw_joined(&p, k, i, d);
    }
    if (d->theory) {
        draw_theory(&p, k, d);
    }
    for (size_t i = k->count; i-- > 0;) {
        draw_marks(&p, k, i, d);
    }
}

void av_panel_variant_curves(struct av_canvas *c, struct av_rect r, const struct av_variants *v, int quantity,
                             const struct av_params *p)
{
    const struct av_variant_curves *k = &v->curves;
    const struct drawn d = drawn_as(&quantities[quantity % AV_VARIANT_CURVE_QUANTITIES], k, p);
    bool beside = r.w >= BESIDE_W;
    int below = beside ? 0 : r.h / 4 < 3 ? r.h / 4 : 3;
    struct av_rect plot = { r.x, r.y, r.w - (beside ? NAMES_W : 0), r.h - below };
    if (plot.w < LEAST_W || plot.h < LEAST_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    if (!k->kept) {
        av_plot_wrap(c, r, AV_ROLE_DIM, "There is not enough memory for the entries of the curves.");
    } else {
        draw_plot(c, plot, k, &d);
        if (beside) {
            draw_names_beside(c, (struct av_rect){ plot.x + plot.w, r.y, NAMES_W, r.h }, k, &d);
        } else {
            draw_names_below(c, (struct av_rect){ r.x, plot.y + plot.h, r.w, below }, k, d.theory);
        }
    }
    av_canvas_clip(c, clip);
}
