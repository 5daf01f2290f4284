/* panel_depth_curve.c - a quantity over the layers of a stack, scaled and unscaled. */
#include "panels_depth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DECADES_LEAST = 2,
    DECADES_MOST = 40,
    LEAST_W = 12,
    JOIN = 0x00B7,
    CURSOR = 0x2502,
    NOISE = '~',
    ZERO = '0',
    OVERFLOWED = '!',
    BEHIND = '-'
};

/* A plot: its cells, and the axes over them. */
struct plot {
    struct av_canvas *c;
    struct av_rect cells;
    struct av_axis layers, value;
    const struct av_depth_shown *shown;
    enum av_depth_field field;
};

uint32_t av_depth_mark(const struct av_depth_shown *shown, bool scale)
{
    return shown->now == scale ? AV_MARK_NOW : AV_MARK_OTHER;
}

const char *av_depth_value(char out[AV_NUMBER_MAX], const struct av_depth_cell *cell, size_t layer,
                           enum av_depth_field field, int digits, int cells)
{
    const struct av_depth_layer *at = &cell->median.layers[layer];
    const enum av_depth_kind kind = av_depth_kind(at, field, cell->median.single);
    if (cell->done == 0) {
        snprintf(out, AV_NUMBER_MAX, "…");
    } else if (kind == AV_DEPTH_NUMBER) {
        av_plot_number_in(out, at->at[field], digits, cells);
    } else {
        snprintf(out, AV_NUMBER_MAX, "%s", kind == AV_DEPTH_NOISE ? "noise" : kind == AV_DEPTH_ZERO ? "0" : "-");
    }
    return out;
}

/* ---- Axes ---------------------------------------------------------------------- */

static size_t layers_of(const struct av_depth_shown *shown)
{
    const struct av_depth_cell *cell =
        shown->cells[shown->now] != NULL ? shown->cells[shown->now] : shown->cells[!shown->now];
    return cell->config.layers;
}

static struct av_axis layer_axis(size_t count, int cells)
{
    return (struct av_axis){ -0.5, (double)count - 0.5, false, cells };
}

/* A number to be drawn, NaN where there is none. */
static double number_at(const struct av_depth_cell *cell, size_t layer, enum av_depth_field field)
{
    const struct av_depth_layer *at = &cell->median.layers[layer];
    bool number = cell->done > 0 && av_depth_kind(at, field, cell->median.single) == AV_DEPTH_NUMBER;
    return number ? at->at[field] : (double)NAN;
}

static bool is_share(enum av_depth_field field)
{
    return field == AV_DEPTH_COSINE || field == AV_DEPTH_ENTROPY_NORM;
}

/* Powers of ten between which the axis begins and ends. */
static double decades(double span)
{
    return span > 8 ? 5 : span > 4 ? 2 : 1;
}

/* Shares from 0 to 1, all else by whole powers of ten that hold both twins. The
 * lowest row and the highest stand for the ends. */
static struct av_axis value_axis(const struct av_depth_shown *shown, enum av_depth_field field, int cells)
{
    double half = 0.5 / (cells > 1 ? cells - 1 : 1);
    double lo = (double)INFINITY;
    double hi = 0;
    if (is_share(field)) {
        return (struct av_axis){ -half, 1 + half, false, cells };
    }
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; shown->cells[k] != NULL && i < shown->cells[k]->median.count; i++) {
            double v = number_at(shown->cells[k], i, field);
            if (v > 0) {
                lo = fmin(lo, v);
                hi = fmax(hi, v);
            }
        }
    }
    double top = hi > 0 ? ceil(log10(hi)) : 0;
    double bottom = hi > 0 ? fmin(floor(log10(lo)), top - DECADES_LEAST) : top - DECADES_LEAST;
    bottom = fmax(bottom, top - DECADES_MOST);
    const double unit = decades(top - bottom);
    top = unit * ceil(top / unit);
    bottom = unit * floor(bottom / unit);
    half *= top - bottom;
    return (struct av_axis){ pow(10, bottom - half), pow(10, top + half), true, cells };
}

/* ---- Strokes ---------------------------------------------------------------------- */

struct cell {
    int x, y;
};

static struct cell cell_at(const struct plot *p, size_t layer, double v)
{
    return (struct cell){ p->cells.x + av_axis_cell(&p->layers, (double)layer),
                          p->cells.y + p->cells.h - 1 - av_axis_cell(&p->value, v) };
}

static void draw_join(const struct plot *p, struct cell from, struct cell to, enum av_role role)
{
    int dx = to.x - from.x;
    int dy = to.y - from.y;
    int steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 1; i < steps; i++) {
        double part = (double)i / steps;
        av_canvas_put(p->c, from.x + (int)lround(part * dx), from.y + (int)lround(part * dy), JOIN, role);
    }
}

/* Joins neighbours that both have a number, then marks them. */
static void draw_twin(const struct plot *p, bool scale)
{
    const struct av_depth_cell *cell = p->shown->cells[scale];
    const enum av_role role = av_look_scale(scale).fill.role;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < cell->median.count; i++) {
            const double v = number_at(cell, i, p->field);
            const double before = i > 0 ? number_at(cell, i - 1, p->field) : (double)NAN;
            if (pass == 1 && !isnan(v)) {
                struct cell at = cell_at(p, i, v);
                av_canvas_put(p->c, at.x, at.y, av_depth_mark(p->shown, scale), role);
            } else if (pass == 0 && !isnan(v) && !isnan(before)) {
                draw_join(p, cell_at(p, i - 1, before), cell_at(p, i, v), role);
            }
        }
    }
}

static void draw_cursor(const struct plot *p)
{
    int x = p->cells.x + av_axis_cell(&p->layers, (double)p->shown->layer);
    for (int y = 0; y < p->cells.h; y++) {
        av_canvas_put(p->c, x, p->cells.y + y, CURSOR, AV_ROLE_AXIS);
    }
}

/* ---- Lanes -------------------------------------------------------------------------- */

/* What stands in a twin's lane at a layer; ' ' where there is a number. */
static struct av_fill lane_mark(const struct av_depth_cell *cell, size_t layer, enum av_depth_field field)
{
    const struct av_depth_stack *s = &cell->median;
    if (s->overflow != AV_DEPTH_NO_OVERFLOW && s->overflow_layer == layer) {
        return (struct av_fill){ OVERFLOWED, AV_ROLE_BAD };
    }
    switch (av_depth_kind(&s->layers[layer], field, s->single)) {
    case AV_DEPTH_NOISE:
        return (struct av_fill){ NOISE, AV_ROLE_WARN };
    case AV_DEPTH_ZERO:
        return (struct av_fill){ ZERO, AV_ROLE_WARN };
    case AV_DEPTH_UNKNOWN:
        return (struct av_fill){ s->overflow != AV_DEPTH_NO_OVERFLOW ? BEHIND : ' ', AV_ROLE_BAD };
    default:
        return (struct av_fill){ ' ', AV_ROLE_TEXT };
    }
}

/* A line of marks below the plot, over the columns of its layers. */
static void draw_lane(const struct plot *p, int y, bool scale)
{
    const struct av_depth_cell *cell = p->shown->cells[scale];
    const size_t count = cell->median.count;
    const enum av_role role = av_look_scale(scale).fill.role;
    av_canvas_put(p->c, p->cells.x - 7, y, av_depth_mark(p->shown, scale), role);
    av_plot_fit_right(p->c, p->cells.x - 6, p->cells.x - 1, y, role, "dead");
    av_canvas_put(p->c, p->cells.x - 1, y, CURSOR, AV_ROLE_AXIS);
    for (size_t i = 0; i < count; i++) {
        const struct av_fill mark = lane_mark(cell, i, p->field);
        const int from = av_axis_cell(&p->layers, (double)i - 0.5 + 1e-9);
        const int end = i + 1 < count ? av_axis_cell(&p->layers, (double)i + 0.5 + 1e-9) : p->cells.w;
        for (int x = from; x < end && mark.body != ' '; x++) {
            av_canvas_put(p->c, p->cells.x + x, y, mark.body, mark.role);
        }
    }
}

static int lanes_of(const struct av_depth_shown *shown, enum av_depth_field field)
{
    return field < AV_DEPTH_COSINE ? (shown->cells[0] != NULL) + (shown->cells[1] != NULL) : 0;
}

/* ---- One plot ------------------------------------------------------------------------- */

static void draw_title(struct av_canvas *c, struct av_rect r, enum av_depth_field field, int lanes)
{
    const int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, av_depth_fields[field].name) + 1;
    x = av_plot_fit(c, x, right, r.y, AV_ROLE_DIM, av_depth_fields[field].text) + 2;
    if (lanes > 0 && x < right) {
        static const struct {
            struct av_fill mark;
            const char *name;
        } marks[] = { { { NOISE, AV_ROLE_WARN }, "noise" },
                      { { ZERO, AV_ROLE_WARN }, "zero" },
                      { { OVERFLOWED, AV_ROLE_BAD }, "overflow" } };
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
            x = av_panel_legend(c, x, right, r.y, marks[i].mark, marks[i].name);
        }
    }
}

/* The line of layers, the cursor's and a few others labelled below it. */
static void draw_layers(const struct plot *p, int y, size_t count, bool labels)
{
    char label[AV_NUMBER_MAX];
    const int at = av_axis_cell(&p->layers, (double)p->shown->layer);
    const int len = snprintf(label, sizeof label, "%zu", p->shown->layer);
    const int step = (int)fmax(1, av_plot_step((double)count, p->cells.w / 6, true));
    for (int x = 0; x < p->cells.w; x++) {
        av_canvas_put(p->c, p->cells.x + x, y, 0x2500, AV_ROLE_AXIS);
    }
    av_canvas_put(p->c, p->cells.x - 1, y, 0x2514, AV_ROLE_AXIS);
    for (int i = 0; i < (int)count; i += step) {
        char tick[AV_NUMBER_MAX];
        const int x = av_axis_cell(&p->layers, i);
        const int width = snprintf(tick, sizeof tick, "%d", i);
        av_canvas_put(p->c, p->cells.x + x, y, 0x252C, AV_ROLE_AXIS);
        if (labels && (x > at + len || x + width < at)) {
            av_plot_fit(p->c, p->cells.x + x, p->cells.x + p->cells.w + 1, y + 1, AV_ROLE_AXIS, tick);
        }
    }
    av_canvas_put(p->c, p->cells.x + at, y, 0x253C, AV_ROLE_SELECT);
    if (labels) {
        const int from = at + len > p->cells.w ? p->cells.w - len : at;
        av_plot_fit_right(p->c, p->cells.x - AV_DEPTH_MARGIN, p->cells.x - 1, y + 1, AV_ROLE_DIM, "layer");
        av_plot_fit(p->c, p->cells.x + from, p->cells.x + p->cells.w, y + 1, AV_ROLE_SELECT, label);
    }
}

void av_panel_depth_curve(struct av_canvas *c, struct av_rect r, const struct av_depth_shown *shown,
                          enum av_depth_field field, bool labels)
{
    const size_t count = layers_of(shown);
    const int lanes = lanes_of(shown, field);
    const struct av_rect cells = { r.x + AV_DEPTH_MARGIN, r.y + 1, r.w - AV_DEPTH_MARGIN - 1,
                                   r.h - 2 - lanes - (labels ? 1 : 0) };
    if (cells.w < LEAST_W || cells.h < 2) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    const struct plot p = { c, cells, layer_axis(count, cells.w), value_axis(shown, field, cells.h), shown, field };
    draw_title(c, r, field, lanes);
    av_plot_axis_y(c, &p.value, cells.x - 1, cells.y, AV_DEPTH_MARGIN - 1);
    draw_cursor(&p);
    int y = cells.y + cells.h;
    for (int k = 0; k < 2; k++) { /* the present state's curve lies on top, its lane too */
        const bool under = k == 0 ? !shown->now : shown->now;
        if (shown->cells[under] != NULL) {
            draw_twin(&p, under);
        }
        if (shown->cells[!under] != NULL && lanes > 0) {
            draw_lane(&p, y++, !under);
        }
    }
    draw_layers(&p, y, count, labels);
    av_canvas_clip(c, clip);
}
