/* panel_distribution.c - the scores at one d_k, scaled over unscaled.
 *
 * The scaled scores are a spike over a wide hump, sqrt(d_k) times as high and
 * as narrow. So that both shapes are seen each fills the height, which the
 * margin names; on one height the hump is what it truly is beside the spike. */
#include "panels_distributions.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 8, /* columns left of the plot: the axis' name, heights, the line */
    AXIS_H = 2,
    PLOT_LEAST_H = 2,
    CELLS_LEAST = 11
};

/* A density by bins over [lo, hi]. */
struct series {
    const double *density;
    size_t bins;
    double lo, hi;
};

/* Highest density of the bins that a column covers; 0 outside of the bins. A
 * spike narrower than a column so keeps its height. */
static double at_column(const struct series *s, const struct av_axis *a, int column)
{
    const double hair = 1e-6; /* of a bin: an edge that they share covers nothing */
    double per_bin = (double)s->bins / (s->hi - s->lo);
    double width = (a->hi - a->lo) / a->cells;
    double from = floor((a->lo + width * column - s->lo) * per_bin + hair);
    double to = ceil((a->lo + width * (column + 1) - s->lo) * per_bin - hair);
    double top = 0;
    size_t end = to > 0 ? (size_t)fmin(to, (double)s->bins) : 0;
    for (size_t b = from > 0 ? (size_t)fmin(from, (double)s->bins) : 0; b < end; b++) {
        top = fmax(top, s->density[b]);
    }
    return top;
}

/* One of the two sets of scores, and how high a density it fills the plot with. */
struct plot {
    bool scale;
    struct series bars, exact, normal; /* density NULL: not drawn */
    double top;
};

static struct plot make_plot(const struct av_distributions *d, size_t panel, bool scale, bool normal)
{
    const struct av_distribution *from = &d->panels[panel].by_scale[scale];
    struct series bars = { from->density, d->bins, from->lo, from->hi };
    struct plot p = { .scale = scale, .bars = bars, .exact = bars, .normal = bars, .top = from->peak };
    p.exact.density = d->has_exact ? from->exact : NULL;
    p.normal.density = normal ? from->normal : NULL;
    for (size_t b = 0; b < d->bins && d->has_exact; b++) {
        p.top = fmax(p.top, from->exact[b]);
    }
    return p;
}

/* The axis of scores: it holds both series of this panel, or of all. An odd
 * number of cells, so that one of them has its middle in the middle. */
static struct av_axis make_axis(const struct av_distributions *d, size_t panel, bool all, int cells)
{
    struct av_axis a = { (double)INFINITY, -(double)INFINITY, false, cells - 1 + cells % 2 };
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        for (size_t on = 0; on < 2 && (all || i == panel); on++) {
            a.lo = fmin(a.lo, d->panels[i].by_scale[on].lo);
            a.hi = fmax(a.hi, d->panels[i].by_scale[on].hi);
        }
    }
    return a;
}

/* ---- drawing -------------------------------------------------------------------- */

/* A curve as dots in every second column, so that bars are seen between them.
 * On a full cell a dot is reversed; along the axis dots would be noise. */
static void draw_dots(struct av_canvas *c, struct av_rect r, const struct av_axis *a, const struct series *s,
                      double top, uint32_t dot, int first)
{
    const double least = 0.05; /* of a cell */
    for (int i = first; s->density != NULL && i < a->cells; i += 2) {
        double height = at_column(s, a, i) / top * r.h;
        if (height > least) {
            int x = r.x + i;
            int y = r.y + r.h - 1 - (int)fmin(height, r.h - 1);
            const struct av_cell *cell = av_canvas_at(c, x, y);
            bool full = cell->code == av_look_scale(true).fill.body && !cell->mark;
            av_canvas_put(c, x, y, dot, full ? (enum av_role)cell->role : AV_ROLE_CURVE);
            if (full) {
                av_canvas_mark(c, (struct av_rect){ x, y, 1, 1 });
            }
        }
    }
}

/* A bar in front of another one. A thin end would blank the cell that the bar
 * behind fills, as if nothing were there: such a cell is the nearer one's from
 * half on and else is left as it is. */
static void draw_column(struct av_canvas *c, int x, int bottom, int h, double part, struct av_fill fill)
{
    int end = (int)fmin(part * h, h - 1);
    bool taken = av_canvas_at(c, x, bottom - end)->code != ' ';
    av_plot_column(c, x, bottom, h, taken ? round(part * h) / h : part, fill);
}

static void draw_series(struct av_canvas *c, struct av_rect r, const struct av_axis *a, const struct plot *p)
{
    struct av_fill fill = av_look_scale(p->scale).fill;
    for (int i = 0; i < a->cells; i++) {
        draw_column(c, r.x + i, r.y + r.h - 1, r.h, at_column(&p->bars, a, i) / p->top, fill);
    }
    int middle = a->cells / 2 % 2;
    draw_dots(c, r, a, &p->exact, p->top, AV_MARK_CURVE, middle);
    draw_dots(c, r, a, &p->normal, p->top, AV_MARK_NORMAL, 1 - middle);
}

/* Is nothing written on this line of the margin? */
static bool is_blank(const struct av_canvas *c, int x, int right, int y)
{
    while (x < right && av_canvas_at(c, x, y)->code == ' ') {
        x++;
    }
    return x >= right;
}

/* The axis' name on the first lines of the margin that are free. */
static void draw_name(struct av_canvas *c, struct av_rect r, bool one_height)
{
    const char *const words[] = { "density", "at top" };
    size_t n = one_height ? 1 : 2;
    int right = r.x - 1;
    size_t i = 0;
    for (int y = r.y; y < r.y + r.h && i < n; y++) {
        if (is_blank(c, r.x - MARGIN, right, y)) {
            av_canvas_text_right(c, right, y, AV_ROLE_DIM, words[i++]);
        }
    }
}

/* What a full height is of each series; where it is the same, an axis. */
static void draw_heights(struct av_canvas *c, struct av_rect r, const struct plot *plots, bool one_height)
{
    int right = r.x - 1;
    struct av_axis height = { 0, plots[0].top, false, r.h };
    if (one_height) {
        av_plot_axis_y(c, &height, right, r.y, MARGIN - 1);
        draw_name(c, r, one_height);
        return;
    }
    for (int y = 0; y < r.h; y++) {
        av_canvas_put(c, right, r.y + y, y == 0 ? 0x2524 : 0x2502, AV_ROLE_AXIS);
    }
    for (int i = 0; i < 2; i++) {
        struct av_fill fill = av_look_scale(plots[1 - i].scale).fill;
        char number[AV_NUMBER_MAX];
        av_plot_short(number, plots[1 - i].top, 2);
        av_canvas_put(c, r.x - MARGIN, r.y + i, fill.body, fill.role);
        av_canvas_text_right(c, right, r.y + i, fill.role, number);
    }
    draw_name(c, r, one_height);
}

void av_panel_distribution(struct av_canvas *c, struct av_rect r, const struct av_distributions *d, size_t panel,
                           const struct av_distribution_options *options)
{
    struct av_axis axis = make_axis(d, panel, options->one_axis, r.w - MARGIN - 1);
    if (r.h < AV_DISTRIBUTION_H || axis.cells < CELLS_LEAST) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    int lines = av_panel_distribution_numbers(c, r, &d->panels[panel], options->table);
    struct av_rect area = { r.x + MARGIN, r.y + lines, axis.cells, r.h - lines - AXIS_H };
    struct plot plots[2] = { make_plot(d, panel, false, options->normal), make_plot(d, panel, true, options->normal) };
    if (options->one_height) {
        plots[0].top = plots[1].top = fmax(plots[0].top, plots[1].top);
    }
    if (area.h >= PLOT_LEAST_H && axis.hi > axis.lo && plots[0].top > 0 && plots[1].top > 0) {
        draw_heights(c, area, plots, options->one_height);
        for (size_t i = 0; i < 2; i++) {
            draw_series(c, area, &axis, &plots[i]);
        }
        int y = area.y + area.h;
        av_canvas_put(c, area.x - 1, y, 0x2514, AV_ROLE_AXIS);
        av_plot_axis_x(c, &axis, area.x, y, 0);
        av_canvas_text_right(c, area.x - 1, y + 1, AV_ROLE_DIM, "score");
    }
    av_canvas_clip(c, clip);
}
