/* panel_variance.c - the variance of the scores over d_k, scale off and on. */
#include "panels_distributions.h"

#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 9,
    TITLE_H = 3, /* the title, then a line for each slope */
    AXIS_H = 2,
    CELLS_LEAST = 20,
    TABLE_HEAD_H = 2,
    PLOT_LEAST_W = 38 /* beside a table */
};

static struct av_fill mark_of(size_t on)
{
    return (struct av_fill){ on ? AV_MARK_NOW : AV_MARK_OTHER, av_look_scale(on != 0).fill.role };
}

/* ---- axes ------------------------------------------------------------------------ */

static bool can_show(double v)
{
    return v > 0 && isfinite(v);
}

/* All that is shown and a little room around it; false when nothing is. */
static bool make_height(struct av_axis *a, const struct av_distributions *d, int cells)
{
    double lo = (double)INFINITY;
    double hi = 0;
    for (size_t i = 0; i < 2 * d->points; i++) {
        const struct av_estimate *e = &d->point[i / 2].variance[i % 2];
        const double shown[] = { e->measured, e->theory };
        for (size_t k = 0; k < 2; k++) {
            lo = can_show(shown[k]) ? fmin(lo, shown[k]) : lo;
            hi = can_show(shown[k]) ? fmax(hi, shown[k]) : hi;
        }
    }
    if (!(hi > 0)) {
        return false;
    }
    *a = (struct av_axis){ lo / 2, hi * 2, true, cells };
    return true;
}

/* Half a step of 2 is left beside the first and the last d_k. */
static struct av_axis make_width(const struct av_distributions *d, int cells)
{
    double spare = sqrt(2);
    double last = (double)d->point[d->points - 1].d_k;
    return (struct av_axis){ (double)d->point[0].d_k / spare, last * spare, true, cells };
}

/* The d_k that were measured, as many as fit; the last one always. */
static void draw_d_k(struct av_canvas *c, const struct av_distributions *d, const struct av_axis *a, int x, int y)
{
    for (int i = 0; i < a->cells; i++) {
        av_canvas_put(c, x + i, y, 0x2500, AV_ROLE_AXIS);
    }
    char label[AV_NUMBER_MAX];
    int last = (int)d->points - 1;
    int right = x + a->cells + 2; /* first column that is taken */
    for (int i = last; i >= 0; i--) {
        snprintf(label, sizeof label, "%zu", d->point[i].d_k);
        int len = av_utf8_columns(label);
        int at = x + av_axis_cell(a, (double)d->point[i].d_k);
        int from = at - len / 2;
        if (from + len < right) {
            av_canvas_put(c, at, y, 0x252C, AV_ROLE_AXIS);
            av_canvas_text(c, from, y + 1, AV_ROLE_AXIS, label);
            right = from;
        }
    }
}

/* ---- the plot -------------------------------------------------------------------- */

static void put_at(struct av_canvas *c, struct av_rect r, const struct av_axis *height, int column, double v,
                   struct av_fill mark)
{
    if (can_show(v)) {
        av_canvas_put(c, r.x + column, r.y + r.h - 1 - av_axis_cell(height, v), mark.body, mark.role);
    }
}

/* Theory is a power of d_k: a straight line between its ends. */
static void draw_theory(struct av_canvas *c, struct av_rect r, const struct av_axis *width,
                        const struct av_axis *height, const struct av_distributions *d, size_t on)
{
    const struct av_fill dot = { AV_MARK_CURVE, AV_ROLE_CURVE };
    const struct av_variance_point *first = &d->point[0];
    for (int i = 0; i < width->cells; i += 2) {
        double part = (i + 0.5) / width->cells;
        double d_k = width->lo * pow(width->hi / width->lo, part);
        double v = first->variance[on].theory * pow(d_k / (double)first->d_k, d->slope[on].theory);
        put_at(c, r, height, i, v, dot);
    }
}

static void draw_points(struct av_canvas *c, struct av_rect r, const struct av_axis *width,
                        const struct av_axis *height, const struct av_distributions *d, size_t on)
{
    for (size_t i = 0; i < d->points; i++) {
        int column = av_axis_cell(width, (double)d->point[i].d_k);
        put_at(c, r, height, column, d->point[i].variance[on].measured, mark_of(on));
    }
}

static void draw_plot(struct av_canvas *c, struct av_rect r, const struct av_distributions *d)
{
    struct av_rect area = { r.x + MARGIN, r.y, r.w - MARGIN - 2, r.h - AXIS_H };
    struct av_axis width = make_width(d, area.w);
    struct av_axis height;
    if (!make_height(&height, d, area.h)) {
        av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_DIM, "all scores are the same: no variance");
        return;
    }
    av_plot_axis_y(c, &height, area.x - 1, area.y, MARGIN - 1);
    for (size_t on = 0; on < 2; on++) {
        draw_theory(c, area, &width, &height, d, on);
    }
    for (size_t on = 0; on < 2; on++) {
        draw_points(c, area, &width, &height, d, on);
    }
    int y = area.y + area.h;
    av_canvas_put(c, area.x - 1, y, 0x2514, AV_ROLE_AXIS);
    draw_d_k(c, d, &width, area.x, y);
    av_canvas_text_right(c, area.x - 2, y + 1, AV_ROLE_DIM, "d_k");
}

/* ---- words ----------------------------------------------------------------------- */

/* Both lines say it alike: in the fullest words that fit for both. */
void av_panel_variance_slopes(struct av_canvas *c, struct av_rect r, const struct av_distributions *d)
{
    enum { WORDINGS = 3, MARK_W = 2 };
    static const char *const wordings[WORDINGS] = { " variance grows as d_k to the power of ", " variance ∝ d_k^",
                                                    " ∝ d_k^" };
    const struct av_estimate_style style = { .digits = 1, .theory_digits = 4, .roomy = true, .ascii = c->ascii };
    char text[2][2 * AV_ESTIMATE_MAX];
    int width = r.w + 1;
    for (int i = 0; i < WORDINGS && width > r.w; i++) {
        width = 0;
        for (size_t on = 0; on < 2; on++) {
            char slope[AV_ESTIMATE_MAX];
            av_panel_estimate_line(slope, &d->slope[on], style);
            snprintf(text[on], sizeof text[on], "%s%s%s", av_look_scale(on != 0).name, wordings[i], slope);
            int w = MARK_W + av_utf8_columns(text[on]);
            width = w > width ? w : width;
        }
    }
    for (size_t on = 0; on < 2 && (int)on < r.h; on++) {
        struct av_fill mark = mark_of(on);
        int y = r.y + (int)on;
        av_canvas_put(c, r.x, y, mark.body, mark.role);
        av_plot_fit(c, r.x + MARK_W, r.x + r.w, y, mark.role, text[on]);
    }
}

/* The columns of the table, by their right edges. */
enum { D_K_AT = 5, VARIANCE_AT = 15, SE_AT = 23, THEORY_AT = 31, OFF_AT = 40, TABLE_W };

static void draw_row(struct av_canvas *c, int x, int y, const struct av_variance_point *point)
{
    struct av_estimate_text t = av_panel_estimate(&point->variance[0], 2);
    char d_k[AV_NUMBER_MAX];
    snprintf(d_k, sizeof d_k, "%zu", point->d_k);
    av_canvas_text_right(c, x + D_K_AT, y, AV_ROLE_TITLE, d_k);
    av_canvas_text_right(c, x + VARIANCE_AT, y, AV_ROLE_TEXT, t.measured);
    av_canvas_text_right(c, x + SE_AT, y, AV_ROLE_TEXT, t.error);
    av_canvas_text_right(c, x + THEORY_AT, y, AV_ROLE_CURVE, t.theory);
    av_canvas_text_right(c, x + OFF_AT, y, AV_ROLE_DIM, t.off);
}

/* Of the scores with scale off; with scale on all of a row but what it is off
 * by are divided by the same number. */
static void draw_table(struct av_canvas *c, struct av_rect r, const struct av_distributions *d)
{
    struct av_look look = av_look_scale(false);
    av_canvas_text_right(c, r.x + VARIANCE_AT, r.y, look.fill.role, look.name);
    av_canvas_text_right(c, r.x + D_K_AT, r.y + 1, AV_ROLE_DIM, "d_k");
    av_canvas_text_right(c, r.x + VARIANCE_AT, r.y + 1, AV_ROLE_DIM, "variance");
    av_canvas_text_right(c, r.x + SE_AT, r.y + 1, AV_ROLE_DIM, c->ascii ? "+- se" : "± se");
    av_canvas_text_right(c, r.x + THEORY_AT, r.y + 1, AV_ROLE_DIM, "theory");
    av_canvas_text_right(c, r.x + OFF_AT, r.y + 1, AV_ROLE_DIM, "off by");
    for (size_t i = 0; i < d->points; i++) {
        draw_row(c, r.x, r.y + TABLE_HEAD_H + (int)i, &d->point[i]);
    }
}

void av_panel_variance(struct av_canvas *c, struct av_rect r, const struct av_distributions *d, bool table)
{
    if (r.w < AV_VARIANCE_W || r.h < AV_VARIANCE_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    if (table && r.w >= PLOT_LEAST_W + TABLE_W && r.h >= (int)d->points + TABLE_HEAD_H) {
        r.w -= TABLE_W;
        draw_table(c, (struct av_rect){ r.x + r.w, r.y, TABLE_W, r.h }, d);
    }
    int x = av_canvas_text(c, r.x, r.y, AV_ROLE_TITLE, "variance of the scores");
    av_plot_fit(c, x + 1, r.x + r.w, r.y, AV_ROLE_DIM, "over d_k, both axes logarithmic");
    av_panel_variance_slopes(c, (struct av_rect){ r.x, r.y + 1, r.w, 2 }, d);
    draw_plot(c, (struct av_rect){ r.x, r.y + TITLE_H, r.w, r.h - TITLE_H }, d);
    av_canvas_clip(c, clip);
}
