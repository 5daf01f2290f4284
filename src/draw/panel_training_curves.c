/* panel_training_curves.c - twin runs over epochs or steps.
 *
 * A mark is a record; dots join marks that do not touch. Alarms stand below
 * the curves, as wide as the epochs where they fire. */
#include "training_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MARGIN = 7,        /* columns left of a plot, for labels */
    PLOT_LEAST_W = 20, /* cells and margin */
    PLOT_LEAST_H = 9,  /* beside others: title, curves, axis */
    LEAST_H = 4,
    STRIPS_FROM_H = 10, /* from here on alarms have lines of their own */
    TWO_FROM_W = 108,   /* from here on plots stand in two columns */
    JOIN = 0x00B7,
    MARK_BELOW = 0x25BE,
    LEVEL = 0x2504,
    CURSOR = 0x2502
};

#define PAST 1.5 /* from a round number to between it and the next */

struct av_training_marks av_training_marks(enum av_twin twin)
{
    static const uint32_t marks[AV_TWINS][3] = {
        [AV_TWIN_SCALED] = { AV_MARK_NOW, 0x25CB, AV_MARK_GHOST },
        [AV_TWIN_UNSCALED] = { AV_MARK_OTHER, '+', 0x25B7 },
    };
    struct av_look look = av_look_scale(twin == AV_TWIN_SCALED);
    return (struct av_training_marks){ look.name, look.fill.role, marks[twin][0], marks[twin][1], marks[twin][2] };
}

/* Of less than two decades 1, 2 and 5 have labels, too. */
static void label_values(struct av_canvas *c, const struct av_axis *a, int x, int y)
{
    const bool few = a->log && a->hi / a->lo < 100;
    int behind = -2;
    av_plot_axis_y(c, a, x, y, few ? 0 : MARGIN - 1);
    double v = av_training_round(a->lo, 1);
    while (few && v <= a->hi) {
        char text[AV_NUMBER_MAX];
        int cell = av_axis_cell(a, v);
        if (cell > behind + 1) {
            av_canvas_put(c, x, y + a->cells - 1 - cell, 0x2524, AV_ROLE_AXIS);
            av_canvas_text_right(c, x, y + a->cells - 1 - cell, AV_ROLE_AXIS, av_plot_short(text, v, 1));
            behind = cell;
        }
        v = av_training_round(v * PAST, 1);
    }
}

/* ---- strokes --------------------------------------------------------------------- */

struct plot {
    struct av_canvas *c;
    const struct av_training_plot *kind;
    const struct av_training *t;
    enum av_training_series series;
    struct av_rect cells;
    struct av_axis number, value;
};

struct cell {
    int x, y;
};

static struct cell cell_at(const struct plot *p, size_t number, double v)
{
    return (struct cell){ p->cells.x + av_axis_cell(&p->number, (double)number),
                          p->cells.y + p->cells.h - 1 - av_axis_cell(&p->value, v) };
}

static bool is_below(const struct plot *p, double v)
{
    return p->value.log && !(v >= p->value.lo);
}

static void join(const struct plot *p, struct cell from, struct cell to, enum av_role role)
{
    int dx = to.x - from.x;
    int dy = to.y - from.y;
    int steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 1; i < steps; i++) {
        double part = (double)i / steps;
        av_canvas_put(p->c, from.x + (int)lround(part * dx), from.y + (int)lround(part * dy), JOIN, role);
    }
}

/* Records whose number is on the axis. */
static size_t in_sight(const struct plot *p, const struct av_training_curve *curve)
{
    const size_t most = av_training_numbers(p->t, p->series) / (curve->stride > 0 ? curve->stride : 1);
    return curve->count < most ? curve->count : most;
}

static void draw_joins(const struct plot *p, const struct av_training_curve *curve, enum av_train_field field,
                       enum av_role role)
{
    const size_t n = in_sight(p, curve);
    struct cell last = { 0, 0 };
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        double v = curve->at[i].at[field];
        if (!isnan(v)) {
            struct cell at = cell_at(p, (i + 1) * curve->stride, v);
            join(p, any ? last : at, at, role);
            last = at;
            any = true;
        }
    }
}

/* Where two runs meet in a cell, their marks take turns from column to column. */
static void draw_marks(const struct plot *p, const struct av_training_curve *curve, enum av_train_field field,
                       struct av_fill mark, uint32_t shares_with)
{
    const size_t n = in_sight(p, curve);
    for (size_t i = 0; i < n; i++) {
        double v = curve->at[i].at[field];
        struct cell at = cell_at(p, (i + 1) * curve->stride, v);
        bool taken = av_canvas_at(p->c, at.x, at.y)->code == shares_with;
        if (!isnan(v) && !(taken && (at.x - p->cells.x) % 2 == 1)) {
            av_canvas_put(p->c, at.x, at.y, is_below(p, v) ? MARK_BELOW : mark.body, mark.role);
        }
    }
}

static void draw_ghosts(const struct plot *p)
{
    for (enum av_twin twin = 0; twin < AV_TWINS && p->t->ghost.on; twin++) {
        struct av_fill mark = { av_training_marks(twin).ghost, AV_ROLE_GHOST };
        draw_marks(p, &p->t->ghost.curves[twin][p->series], p->kind->main, mark, 0);
    }
}

/* The unscaled run first: the scaled one lies on top. */
static void draw_runs(const struct plot *p)
{
    static const enum av_twin order[AV_TWINS] = { AV_TWIN_UNSCALED, AV_TWIN_SCALED };
    const struct av_training_plot *kind = p->kind;
    uint32_t below[2] = { 0, 0 };
    for (int i = 0; i < AV_TWINS; i++) {
        const struct av_training_curve *curve = &p->t->runs[order[i]].curves[p->series];
        struct av_training_marks m = av_training_marks(order[i]);
        draw_joins(p, curve, kind->main, m.role);
        if (kind->second != kind->main) {
            draw_joins(p, curve, kind->second, m.role);
        }
    }
    for (int i = 0; i < AV_TWINS; i++) {
        const struct av_training_curve *curve = &p->t->runs[order[i]].curves[p->series];
        struct av_training_marks m = av_training_marks(order[i]);
        if (kind->second != kind->main) {
            draw_marks(p, curve, kind->second, (struct av_fill){ m.second, m.role }, below[1]);
        }
        draw_marks(p, curve, kind->main, (struct av_fill){ m.main, m.role }, below[0]);
        below[0] = p->c->ascii ? av_glyph_ascii(m.main) : m.main;
        below[1] = p->c->ascii ? av_glyph_ascii(m.second) : m.second;
    }
}

static void draw_levels(const struct plot *p)
{
    double levels[2];
    const size_t n = av_training_levels(p->kind, p->t, levels);
    enum av_role role = av_training_has_alarms(p->kind) ? AV_ROLE_WARN : AV_ROLE_CURVE;
    for (size_t i = 0; i < n; i++) {
        int y = cell_at(p, 1, levels[i]).y;
        for (int x = 0; x < p->cells.w && !is_below(p, levels[i]); x++) {
            av_canvas_put(p->c, p->cells.x + x, y, LEVEL, role);
        }
    }
}

static void draw_cursor(const struct plot *p, size_t number)
{
    for (int y = 0; number > 0 && y < p->cells.h; y++) {
        av_canvas_put(p->c, cell_at(p, number, p->value.lo).x, p->cells.y + y, CURSOR, AV_ROLE_SELECT);
    }
}

/* ---- alarms ------------------------------------------------------------------------ */

/* The epoch or step that a column stands for. */
static size_t number_at(const struct av_axis *axis, int column)
{
    const long number = lround(axis->lo + (column + 0.5) * (axis->hi - axis->lo) / axis->cells);
    return number > 0 ? (size_t)number : 1;
}

static void draw_alarm(const struct plot *p, const struct av_training_curve *curve, size_t record, int column, int y)
{
    if (record < in_sight(p, curve) && av_training_plot_fires(p->kind, &curve->at[record])) {
        av_canvas_put(p->c, p->cells.x + column, y, AV_MARK_ALARM, AV_ROLE_BAD);
    }
}

/* All that is nearest to a record is filled; each record has a column at least. */
static void draw_alarms_of(const struct plot *p, enum av_twin twin, int y)
{
    const struct av_training_curve *curve = &p->t->runs[twin].curves[p->series];
    const size_t n = in_sight(p, curve);
    for (int column = 0; column < p->cells.w && n > 0; column++) {
        const size_t nearest = (number_at(&p->number, column) + curve->stride / 2) / curve->stride;
        draw_alarm(p, curve, nearest > 0 ? nearest - 1 : 0, column, y);
    }
    for (size_t i = 0; i < n; i++) {
        draw_alarm(p, curve, i, av_axis_cell(&p->number, (double)((i + 1) * curve->stride)), y);
    }
}

/* Lines below the curves, one for each run; without them on the axis itself. */
static void draw_alarms(const struct plot *p, int strips, int axis_y)
{
    int y = p->cells.y + p->cells.h;
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        struct av_training_marks m = av_training_marks(twin);
        if (strips > 0) {
            av_canvas_text_right(p->c, p->cells.x - 2, y, AV_ROLE_DIM, "alarm");
            av_canvas_put(p->c, p->cells.x - 1, y, m.main, m.role);
        }
        draw_alarms_of(p, twin, strips > 0 ? y++ : axis_y);
    }
}

/* ---- one plot ------------------------------------------------------------------------ */

/* The axis of epochs or steps; labels: numbers and a name below it. */
static void draw_number_axis(const struct plot *p, int y, bool labels)
{
    const int w = p->cells.w, x = p->cells.x;
    const size_t most = av_training_numbers(p->t, p->series);
    const size_t step = (size_t)av_plot_step((double)most, w / 8 > 1 ? w / 8 : 1, true);
    av_canvas_put(p->c, x - 1, y, 0x2514, AV_ROLE_AXIS);
    for (int i = 0; i < w; i++) {
        av_canvas_put(p->c, x + i, y, 0x2500, AV_ROLE_AXIS);
    }
    for (size_t number = step; number <= most; number += step) {
        char text[AV_NUMBER_MAX];
        int len = snprintf(text, sizeof text, "%zu", number);
        int at = av_axis_cell(&p->number, (double)number);
        int from = at - len / 2 + len > w ? w - len : at - len / 2;
        av_canvas_put(p->c, x + at, y, 0x252C, AV_ROLE_AXIS);
        if (labels) {
            av_plot_fit(p->c, x + (from > 0 ? from : 0), x + w, y + 1, AV_ROLE_AXIS, text);
        }
    }
    if (labels) {
        av_canvas_text_right(p->c, x - 1, y + 1, AV_ROLE_DIM, p->series == AV_TRAINING_EPOCHS ? "epoch" : "step");
    }
}

/* "● ◇ median  ○ + mean"; x when it does not fit. */
static int draw_words(struct av_canvas *c, int x, int right, int y, const struct av_training_plot *kind)
{
    for (int k = 0; k < 2; k++) {
        int end = av_plot_fit(c, x + 4, right, y, AV_ROLE_DIM, kind->words[k]);
        if (end == x + 4) {
            return x;
        }
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            struct av_training_marks m = av_training_marks(twin);
            av_canvas_put(c, x + 2 * (int)twin, y, k == 0 ? m.main : m.second, m.role);
        }
        x = end + 2;
    }
    return x;
}

/* Which of how many plots it is, and the key that turns them, in as many words
 * as fit behind x. Returns its column, `right` when there is none. */
static int draw_place(const struct plot *p, int x, int right, int y, int number)
{
    static const char *const words[][2] = { { "plot ", " of " }, { "plot ", "/" }, { "", "/" } };
    int from = right;
    for (size_t i = 0; number > 0 && from == right && i < sizeof words / sizeof words[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s%d%s%d · y", words[i][0], number, words[i][1], av_training_plots(p->t));
        from = av_plot_fit_right(p->c, x, right, y, AV_ROLE_DIM, text);
    }
    return from;
}

/* number: which plot it is, 0: that is not told. */
static void draw_title(const struct plot *p, struct av_rect r, int number)
{
    const struct av_training_plot *kind = p->kind;
    const int right = r.x + r.w - 1;
    const enum av_role role = av_training_has_alarms(kind) ? AV_ROLE_WARN : AV_ROLE_CURVE;
    int x = av_plot_fit(p->c, r.x + 1, right, r.y, AV_ROLE_TITLE, kind->name) + 2;
    if (kind->second != kind->main) {
        x = draw_words(p->c, x, right, r.y, kind);
    }
    int end = x;
    for (int brief = 0; kind->level != AV_LEVEL_NONE && brief < 2 && end == x; brief++) {
        char text[64];
        av_training_level_text(text, kind, p->t, brief);
        end = av_panel_legend(p->c, x, right, r.y, (struct av_fill){ LEVEL, role }, text);
    }
    const int place = draw_place(p, end, right, r.y, number);
    av_plot_fit(p->c, end, place < right ? place - 2 : right, r.y, AV_ROLE_DIM, kind->meaning);
}

/* The plot that comes `behind` others. */
static void draw_plot(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                      const struct av_training_look *look, int behind, bool labels)
{
    const struct av_training_plot *kind = av_training_plot(t, look->first + behind);
    const int strips = av_training_has_alarms(kind) && r.h >= STRIPS_FROM_H ? AV_TWINS : 0;
    const int below = labels ? 2 : 1;
    struct av_rect cells = { r.x + MARGIN, r.y + 1, r.w - MARGIN - 1, r.h - 1 - below - strips };
    struct plot p = { c,
                      kind,
                      t,
                      look->series,
                      cells,
                      av_training_number_axis(t, look->series, cells.w),
                      av_training_value_axis(kind, t, look->series, cells.h) };
    const int axis_y = cells.y + cells.h + strips;
    draw_title(&p, r, behind == 0 ? look->first % av_training_plots(t) + 1 : 0);
    label_values(c, &p.value, cells.x - 1, cells.y);
    if (kind->scale == AV_PLOT_SHARE) {
        av_canvas_put(c, cells.x - 1, cells.y + cells.h - 1, 0x2524, AV_ROLE_AXIS);
        av_canvas_text_right(c, cells.x - 1, cells.y + cells.h - 1, AV_ROLE_AXIS, "0");
    }
    draw_number_axis(&p, axis_y, labels);
    draw_levels(&p);
    draw_cursor(&p, look->number);
    draw_ghosts(&p);
    draw_runs(&p);
    if (av_training_has_alarms(kind)) {
        draw_alarms(&p, strips, axis_y);
    }
}

/* ---- all of them ----------------------------------------------------------------------- */

struct grid {
    int columns, rows;
};

static struct grid grid_of(struct av_rect r, const struct av_training *t, bool alone)
{
    const int most = alone ? 1 : av_training_plots(t);
    struct grid g = { r.w >= TWO_FROM_W && most > 1 ? 2 : 1, (r.h - 1) / PLOT_LEAST_H };
    g.rows = g.rows * g.columns > most ? (most + g.columns - 1) / g.columns : g.rows;
    g.rows = g.rows > 1 ? g.rows : 1;
    return g;
}

void av_panel_training_curves(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                              const struct av_training_look *look)
{
    if (r.h < LEAST_H || r.w < PLOT_LEAST_W) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct grid g = grid_of(r, t, look->alone);
    const int w = r.w / g.columns;
    for (int i = 0; i < g.columns * g.rows && (i == 0 || i < av_training_plots(t)); i++) {
        const int row = i % g.rows, column = i / g.rows;
        const int h = (r.h - 1) / g.rows, more = (r.h - 1) % g.rows;
        const bool last = row == g.rows - 1;
        struct av_rect at = { r.x + column * w, r.y + row * h + (row < more ? row : more), w,
                              h + (row < more) + (last ? 1 : 0) };
        draw_plot(c, at, t, look, i, last);
    }
    av_canvas_clip(c, clip);
}

size_t av_panel_training_number(struct av_rect r, const struct av_training *t, const struct av_training_look *look,
                                int x)
{
    const int w = r.w / grid_of(r, t, look->alone).columns;
    const int cells = w - MARGIN - 1, at = (x - r.x) % (w > 0 ? w : 1) - MARGIN;
    if (x < r.x || x >= r.x + r.w || cells < 1 || at < 0 || at >= cells) {
        return 0;
    }
    const struct av_axis axis = av_training_number_axis(t, look->series, cells);
    return number_at(&axis, at);
}
