/* panel_saturation_plane.c - normalised entropy over d_k and temperature. */
#include "panels_saturation.h"

#include <math.h>
#include <stdio.h>

enum { TITLE_H = 1, LEGEND_MOST_H = 3, FORMULAS = 4, LEAST_W = 12, LEAST_H = 3, CONTOUR = AV_MARK_CURVE, CURSOR = 'X' };

static struct av_axis temperature_axis(int cells)
{
    return (struct av_axis){ 0.01, 100, true, cells };
}

/* The value at the middle of a cell of an axis. */
static double middle(const struct av_axis *a, int cell)
{
    return a->lo * pow(a->hi / a->lo, (cell + 0.5) / a->cells);
}

/* The grid's index nearest to a cell's middle, of n that reach over the axis. */
static size_t nearest(int cell, int cells, int n)
{
    return (size_t)lround((cell + 0.5) / cells * (n - 1));
}

static void draw_cells(struct av_canvas *c, struct av_rect cells, const struct av_saturation_plane *plane)
{
    for (int y = 0; y < cells.h; y++) {
        size_t j = nearest(cells.h - 1 - y, cells.h, AV_SATURATION_ROWS);
        for (int x = 0; x < cells.w; x++) {
            double v = plane->value[j][nearest(x, cells.w, AV_SATURATION_COLUMNS)];
            if (!isnan(v)) {
                av_canvas_heat(c, cells.x + x, cells.y + y, (int)(v * AV_HEAT_LEVELS));
            }
        }
    }
}

/* Dots through the columns where the contour runs within the plane. */
static void draw_contour(struct av_canvas *c, struct av_rect cells, const struct av_saturation *s, bool scale)
{
    struct av_axis d = av_saturation_axis(cells.w);
    struct av_axis t = temperature_axis(cells.h);
    for (int x = 0; x < cells.w; x++) {
        double at = av_saturation_contour(s, scale, middle(&d, x));
        if (at >= t.lo && at <= t.hi) {
            av_canvas_put(c, cells.x + x, cells.y + cells.h - 1 - av_axis_cell(&t, at), CONTOUR, AV_ROLE_CURVE);
        }
    }
}

static void draw_cursor(struct av_canvas *c, struct av_rect cells, const struct av_saturation *s)
{
    struct av_axis d = av_saturation_axis(cells.w);
    struct av_axis t = temperature_axis(cells.h);
    int x = cells.x + av_axis_cell(&d, (double)s->at.d);
    int y = cells.y + cells.h - 1 - av_axis_cell(&t, s->params.temperature);
    av_canvas_put(c, x, y, CURSOR, AV_ROLE_SELECT);
    av_canvas_mark(c, (struct av_rect){ x, y, 1, 1 });
    av_canvas_put(c, cells.x - 1, y, 0x253C, AV_ROLE_SELECT);
}

static void draw_temperatures(struct av_canvas *c, struct av_rect cells)
{
    static const struct {
        double t;
        const char *label;
    } ticks[] = { { 0.01, ".01" }, { 0.1, "0.1" }, { 1, "1" }, { 10, "10" }, { 100, "100" } };
    struct av_axis t = temperature_axis(cells.h);
    int behind = -1;
    for (int y = 0; y < cells.h; y++) {
        av_canvas_put(c, cells.x - 1, cells.y + y, 0x2502, AV_ROLE_AXIS);
    }
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        int cell = av_axis_cell(&t, ticks[i].t);
        int y = cells.y + cells.h - 1 - cell;
        if (cell > behind) {
            av_canvas_put(c, cells.x - 1, y, 0x2524, AV_ROLE_AXIS);
            av_canvas_text_right(c, cells.x - 1, y, AV_ROLE_AXIS, ticks[i].label);
            behind = cell + 1;
        }
    }
}

/* "X d_k 64, T 1.00: 0.874 measured, 0.870 exact". */
static void draw_value(struct av_canvas *c, int x, int right, int y, const struct av_saturation *s, bool scale)
{
    char t[AV_NUMBER_MAX];
    char number[AV_NUMBER_MAX];
    char text[96];
    av_plot_short(t, s->params.temperature, 4);
    snprintf(text, sizeof text, "X d_k %zu, T %s:", s->at.d, t);
    x = av_plot_fit(c, x, right, y, AV_ROLE_SELECT, text);
    if (s->has_theory) {
        snprintf(text, sizeof text, " %s exact", av_plot_number(number, s->at_theory[scale].entropy_norm, 3));
        x = av_plot_fit(c, x, right, y, AV_ROLE_CURVE, text);
    }
    if (s->at.known[scale]) {
        av_plot_number(number, s->at.value[scale][AV_SATURATION_ENTROPY], 3);
        snprintf(text, sizeof text, "%s %s measured", s->has_theory ? "," : "", number);
        av_plot_fit(c, x, right, y, AV_ROLE_TEXT, text);
    }
}

static void draw_ramp(struct av_canvas *c, int x, int right, int y)
{
    x = av_plot_fit(c, x, right, y, AV_ROLE_AXIS, "0 ");
    for (int i = 0; i < AV_HEAT_LEVELS; i++) {
        av_canvas_heat(c, x++, y, i);
    }
    av_plot_fit(c, x, right, y, AV_ROLE_AXIS, " 1 entropy / ln n");
}

/* The contour's formula with its number, the fullest that fits. */
static void draw_formula(struct av_canvas *c, int x, int right, int y, const struct av_saturation *s, bool scale)
{
    static const char *const factors[2][2] = { { "√d_k", "α √d_k" }, { "sqrt(d_k)", "alpha sqrt(d_k)" } };
    static const char *const roots[2][2] = { { "√(2 ln n)", "σ_c" }, { "sqrt(2 ln n)", "sigma_c" } };
    const struct av_params *p = &s->params;
    char number[AV_NUMBER_MAX];
    char texts[FORMULAS][128];
    const char *stds = p->q_mean != 0 ? " q_rms k_std" : p->q_std != 1 || p->k_std != 1 ? " q_std k_std" : "";
    const char *left = factors[c->ascii][scale];
    const char *root = roots[c->ascii][p->mask == AV_MASK_CAUSAL];
    av_plot_number(number, s->freezing_std, 3);
    snprintf(texts[0], sizeof texts[0], "%s%s / T = %s = %s, frozen below", left, stds, root, number);
    snprintf(texts[1], sizeof texts[1], "%s%s / T = %s = %s", left, stds, root, number);
    snprintf(texts[2], sizeof texts[2], "%s%s / T = %s", left, stds, root);
    snprintf(texts[3], sizeof texts[3], "frozen below");
    for (int i = 0, end = x; i < FORMULAS && end == x; i++) {
        end = av_panel_legend(c, x, right, y, (struct av_fill){ CONTOUR, AV_ROLE_CURVE }, texts[i]);
    }
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_saturation *s, bool scale)
{
    struct av_look look = av_look_scale(scale);
    int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_AXIS, "T ↑");
    x = av_plot_fit(c, x + 2, right, r.y, look.fill.role, look.name);
    if ((s->params.scale != 0) == scale) {
        x = av_plot_fit(c, x + 1, right, r.y, look.fill.role, "now");
    }
    const char *source = s->has_theory ? "exact theory" : s->plane[scale].stride > 0 ? "measured" : "being measured";
    av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, source);
}

void av_panel_saturation_plane(struct av_canvas *c, struct av_rect r, const struct av_saturation *s, bool scale)
{
    int spare = (r.h - TITLE_H - AV_SATURATION_AXIS_H) / 3; /* lines of the legend: a third at most */
    int legend_h = spare < LEGEND_MOST_H ? spare : LEGEND_MOST_H;
    struct av_rect cells = { r.x + AV_SATURATION_MARGIN, r.y + TITLE_H, r.w - AV_SATURATION_MARGIN - 1,
                             r.h - TITLE_H - AV_SATURATION_AXIS_H - legend_h };
    if (cells.w < LEAST_W || cells.h < LEAST_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct av_axis d = av_saturation_axis(cells.w);
    int right = r.x + r.w - 1;
    int y = cells.y + cells.h;
    draw_title(c, r, s, scale);
    draw_cells(c, cells, &s->plane[scale]);
    draw_contour(c, cells, s, scale);
    draw_temperatures(c, cells);
    av_canvas_put(c, cells.x - 1, y, 0x2514, AV_ROLE_AXIS);
    av_panel_saturation_axis(c, &d, cells.x, y, s->at.d, true);
    draw_cursor(c, cells, s);
    draw_value(c, r.x + 1, right, y + 2, s, scale);
    draw_formula(c, r.x + 1, right, y + 3, s, scale);
    draw_ramp(c, r.x + 1, right, y + 4);
    av_canvas_clip(c, clip);
}
