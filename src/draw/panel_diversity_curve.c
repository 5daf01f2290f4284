/* panel_diversity_curve.c - how heads become alike: divergence and entropy along a way there.
 *
 * Both are drawn as shares of their greatest values, so that they share an
 * axis: the divergence of ln 2, the entropy of ln n. */
#include "panels_diversity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARGIN = 5, LEAST_W = 16, ENTROPY = 0x00B7, CURSOR = 0x2502 };

static const struct av_fill divergence_fill = { AV_MARK_CURVE, AV_ROLE_BAR };
static const struct av_fill entropy_fill = { ENTROPY, AV_ROLE_DIM };
static const struct av_fill now_fill = { AV_MARK_NOW, AV_ROLE_SELECT };

struct plot {
    struct av_canvas *c;
    struct av_rect cells;
    struct av_axis x, share;
};

struct cell {
    int x, y;
};

static struct cell cell_at(const struct plot *p, double x, double share)
{
    return (struct cell){ p->cells.x + av_axis_cell(&p->x, x),
                          p->cells.y + p->cells.h - 1 - av_axis_cell(&p->share, share) };
}

static void draw_line(const struct plot *p, struct cell from, struct cell to, struct av_fill fill)
{
    const int dx = to.x - from.x;
    const int dy = to.y - from.y;
    const int steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 0; i <= steps; i++) {
        const double part = steps > 0 ? (double)i / steps : 0;
        av_canvas_put(p->c, from.x + (int)lround(part * dx), from.y + (int)lround(part * dy), fill.body, fill.role);
    }
}

static double divergence_of(const struct av_diversity_point *point)
{
    return point->divergence / AV_DIVERSITY_MOST;
}

static double entropy_of(const struct av_diversity_point *point)
{
    return point->entropy_norm;
}

/* Joins the points that are known; one without a value breaks the line. */
static void draw_series(const struct plot *p, const struct av_diversity_point *points,
                        double (*get)(const struct av_diversity_point *point), struct av_fill fill)
{
    struct cell last = { -1, -1 };
    for (size_t i = 0; i < AV_DIVERSITY_POINTS; i++) {
        if (points[i].known && isnan(get(&points[i]))) {
            last.x = -1;
        } else if (points[i].known) {
            const struct cell at = cell_at(p, points[i].x, get(&points[i]));
            draw_line(p, last.x >= 0 ? last : at, at, fill);
            last = at;
        }
    }
}

/* The present state; beyond the axis an arrow at its end. */
static void draw_now(const struct plot *p, const struct av_diversity *d, double x)
{
    const double part = av_axis_part(&p->x, x);
    const struct cell at = cell_at(p, x, d->known ? d->divergence / AV_DIVERSITY_MOST : 0);
    if (part < 0 || part > 1) {
        av_canvas_put(p->c, at.x, p->cells.y, part < 0 ? 0x25C2 : 0x25B8, now_fill.role);
        return;
    }
    for (int y = 0; y < p->cells.h; y++) {
        const struct av_cell *below = av_canvas_at(p->c, at.x, p->cells.y + y);
        if (below->code == ' ') {
            av_canvas_put(p->c, at.x, p->cells.y + y, CURSOR, AV_ROLE_AXIS);
        }
    }
    if (d->known && !isnan(d->divergence)) {
        av_canvas_put(p->c, at.x, at.y, now_fill.body, now_fill.role);
    }
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_diversity *d, enum av_diversity_over over)
{
    char text[64];
    if (over == AV_DIVERSITY_FACTOR) {
        snprintf(text, sizeof text, "logits times a factor");
    } else {
        snprintf(text, sizeof text, "logit of key %lld raised", (long long)d->params.key);
    }
    av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_TITLE, text);
}

void av_panel_diversity_names(struct av_canvas *c, struct av_rect r)
{
    const int right = r.x + r.w;
    int x = av_panel_legend(c, r.x + 1, right, r.y, divergence_fill, "mean divergence / ln 2");
    x = av_panel_legend(c, x, right, r.y, entropy_fill, "mean entropy / ln n");
    av_panel_legend(c, x, right, r.y, now_fill, "now");
}

void av_panel_diversity_curve(struct av_canvas *c, struct av_rect r, const struct av_diversity *d,
                              enum av_diversity_over over)
{
    const struct av_rect cells = { r.x + MARGIN, r.y + 1, r.w - MARGIN - 1, r.h - 3 };
    if (cells.w < LEAST_W || r.h < AV_DIVERSITY_CURVE_LEAST_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    const struct av_diversity_point *points = d->curves[over];
    const double half = 0.5 / (cells.h - 1); /* the lowest row and the highest stand for the ends */
    const struct plot p = { c,
                            cells,
                            { points[0].x, points[AV_DIVERSITY_POINTS - 1].x, over == AV_DIVERSITY_FACTOR, cells.w },
                            { -half, 1 + half, false, cells.h } };
    draw_title(c, r, d, over);
    av_plot_axis_y(c, &p.share, cells.x - 1, cells.y, MARGIN - 1);
    av_canvas_put(c, cells.x - 1, cells.y + cells.h, 0x2514, AV_ROLE_AXIS);
    av_plot_axis_x(c, &p.x, cells.x, cells.y + cells.h, 1);
    draw_series(&p, points, entropy_of, entropy_fill);
    draw_series(&p, points, divergence_of, divergence_fill);
    draw_now(&p, d, d->at[over]);
    av_canvas_clip(c, clip);
}
