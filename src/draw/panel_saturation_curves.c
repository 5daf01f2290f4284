/* panel_saturation_curves.c - quantities over d_k, scaled and unscaled.
 *
 * Measured points stand over the line of exact theory; where there is none
 * they are joined. Values below a logarithmic axis point down. */
#include "panels_saturation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TITLE_H = 1,
    CURVE_LEAST_H = 10, /* title, plot and the line below it */
    DECADES_LEAST = 2,
    DECADES_MOST = 12,
    JOIN = 0x00B7,
    MEAN_NOW = 0x25CB,
    MEAN_OTHER = '+',
    MARK_BELOW = 0x25BE,
    LEVEL = 0x2504,
    CURSOR = 0x2502
};

/* Lines where a state freezes: unscaled, scaled. */
static const uint32_t FREEZES[2] = { 0x250A, 0x2507 };

/* A field of struct av_theory_means. */
typedef double (*theory_value)(const struct av_theory_means *means);

static double theory_entropy(const struct av_theory_means *means)
{
    return means->entropy_norm;
}

static double theory_trace(const struct av_theory_means *means)
{
    return means->trace;
}

/* One plot: a quantity, and where means and medians part the mean too. */
struct curve {
    const char *name, *meaning;
    bool log;
    enum av_saturation_quantity main, mean; /* the same: there is one only */
    theory_value theory;                    /* NULL: none is known */
    double level;                           /* a limit that is drawn across; 0: none */
    const char *level_name;
};

static const struct curve curves[AV_SATURATION_CURVES] = {
    { "entropy", "/ ln n, mean", false, AV_SATURATION_ENTROPY, AV_SATURATION_ENTROPY, theory_entropy, 0, "" },
    { "jacobian_fro", "", true, AV_SATURATION_FRO_MEDIAN, AV_SATURATION_FRO_MEAN, NULL, AV_DEAD_FRO, "dead" },
    { "largest weight", "", false, AV_SATURATION_MAX_MEDIAN, AV_SATURATION_MAX_MEAN, NULL, AV_LARGEST_ALARM, "alarm" },
    { "largest > 0.9", "share of rows", false, AV_SATURATION_LARGE, AV_SATURATION_LARGE, NULL, 0, "" },
    { "dq_rms", "", true, AV_SATURATION_DQ_MEDIAN, AV_SATURATION_DQ_MEAN, NULL, 0, "" },
    { "dead rows", "share, fro < 1e-3", false, AV_SATURATION_DEAD, AV_SATURATION_DEAD, NULL, AV_DEAD_SHARE, "alarm" },
    { "trace", "sum p (1 - p), mean", true, AV_SATURATION_TRACE, AV_SATURATION_TRACE, theory_trace, 0, "" },
};

/* ---- the axis of values -------------------------------------------------- */

/* Shares and the like from 0 to 1, gradients by whole powers of ten that hold
 * both states. Rows of cells stand for the values at their middles, the lowest
 * and the highest one for the ends. */
static struct av_axis value_axis(const struct curve *curve, const struct av_saturation *s, int cells)
{
    double half = 0.5 / (cells > 1 ? cells - 1 : 1);
    if (!curve->log) {
        return (struct av_axis){ -half, 1 + half, false, cells };
    }
    double lo = 1;
    double hi = 0;
    const enum av_saturation_quantity quantities[] = { curve->main, curve->mean };
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
        for (int k = 0; k < 4; k++) {
            double v = s->points[i].value[k & 1][quantities[k / 2]];
            if (s->points[i].known[k & 1] && v > 0) {
                lo = fmin(lo, v);
                hi = fmax(hi, v);
            }
        }
    }
    double top = hi > 0 ? ceil(log10(hi)) : 0;
    double bottom = fmin(floor(log10(lo)), top - DECADES_LEAST);
    bottom = fmax(bottom, top - DECADES_MOST);
    half *= top - bottom;
    return (struct av_axis){ pow(10, bottom - half), pow(10, top + half), true, cells };
}

/* ---- strokes --------------------------------------------------------- */

/* A plot: its cells, and the axes over them. */
struct plot {
    struct av_canvas *c;
    struct av_rect cells;
    struct av_axis d, value;
};

struct cell {
    int x, y;
};

static struct cell cell_at(const struct plot *p, size_t d, double v)
{
    return (struct cell){ p->cells.x + av_axis_cell(&p->d, (double)d),
                          p->cells.y + p->cells.h - 1 - av_axis_cell(&p->value, v) };
}

static bool below(const struct plot *p, double v)
{
    return p->value.log && !(v >= p->value.lo);
}

static void draw_point(const struct plot *p, size_t d, double v, struct av_fill mark)
{
    if (!isnan(v)) {
        struct cell at = cell_at(p, d, v);
        av_canvas_put(p->c, at.x, at.y, below(p, v) ? MARK_BELOW : mark.body, mark.role);
    }
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

static void draw_theory(const struct plot *p, const struct av_saturation *s, theory_value get, bool scale)
{
    static const struct av_fill fill = { AV_MARK_CURVE, AV_ROLE_CURVE };
    struct cell last = { 0, 0 };
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
        struct cell at = cell_at(p, s->points[i].d, get(&s->theory[scale][i]));
        draw_line(p, i > 0 ? last : at, at, fill);
        last = at;
    }
}

static void draw_joined(const struct plot *p, const struct av_saturation *s, enum av_saturation_quantity quantity,
                        bool scale)
{
    struct av_fill fill = { JOIN, av_look_scale(scale).fill.role };
    struct cell last = { -1, -1 };
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
        const struct av_saturation_point *point = &s->points[i];
        double v = point->value[scale][quantity];
        if (point->known[scale] && !isnan(v)) {
            struct cell at = cell_at(p, point->d, v);
            draw_line(p, last.x >= 0 ? last : at, at, fill);
            last = at;
        }
    }
}

static void draw_points(const struct plot *p, const struct av_saturation *s, enum av_saturation_quantity quantity,
                        bool scale, uint32_t glyph)
{
    struct av_fill mark = { glyph, av_look_scale(scale).fill.role };
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
        if (s->points[i].known[scale]) {
            draw_point(p, s->points[i].d, s->points[i].value[scale][quantity], mark);
        }
    }
    if (s->at.known[scale]) {
        draw_point(p, s->at.d, s->at.value[scale][quantity], mark);
    }
}

static void draw_upright(const struct plot *p, double d, uint32_t glyph, enum av_role role)
{
    double part = av_axis_part(&p->d, d);
    for (int y = 0; part >= 0 && part <= 1 && y < p->cells.h; y++) {
        av_canvas_put(p->c, p->cells.x + av_axis_cell(&p->d, d), p->cells.y + y, glyph, role);
    }
}

static void draw_level(const struct plot *p, const struct curve *curve)
{
    if (curve->level > 0 && !below(p, curve->level)) {
        int y = cell_at(p, 1, curve->level).y;
        for (int x = 0; x < p->cells.w; x++) {
            av_canvas_put(p->c, p->cells.x + x, y, LEVEL, AV_ROLE_WARN);
        }
    }
}

static bool is_now(const struct av_saturation *s, bool scale)
{
    return (s->params.scale != 0) == scale;
}

static uint32_t main_mark(const struct av_saturation *s, bool scale)
{
    return is_now(s, scale) ? AV_MARK_NOW : AV_MARK_OTHER;
}

static uint32_t mean_mark(const struct av_saturation *s, bool scale)
{
    return is_now(s, scale) ? MEAN_NOW : MEAN_OTHER;
}

/* ---- one plot -------------------------------------------------------- */

static void draw_strokes(const struct plot *p, const struct curve *curve, const struct av_saturation *s)
{
    bool now = s->params.scale != 0;
    bool exact = curve->theory != NULL && s->has_theory;
    draw_level(p, curve);
    for (int scale = 0; scale < 2; scale++) {
        draw_upright(p, s->freezing_d[scale], FREEZES[scale], av_look_scale(scale).fill.role);
    }
    draw_upright(p, (double)s->at.d, CURSOR, AV_ROLE_AXIS);
    for (int k = 0; k < 2; k++) { /* the present state lies on top */
        bool scale = k == 0 ? !now : now;
        if (exact) {
            draw_theory(p, s, curve->theory, scale);
        } else {
            draw_joined(p, s, curve->main, scale);
        }
    }
    for (int k = 0; k < 2 && curve->mean != curve->main; k++) {
        bool scale = k == 0 ? !now : now;
        draw_points(p, s, curve->mean, scale, mean_mark(s, scale));
    }
    for (int k = 0; k < 2; k++) {
        bool scale = k == 0 ? !now : now;
        draw_points(p, s, curve->main, scale, main_mark(s, scale));
    }
}

/* "● ◇ median  ○ + mean"; the column behind it and a gap, x when it does not
 * fit. */
static int draw_kinds(struct av_canvas *c, int x, int right, int y, const struct av_saturation *s)
{
    static const char *const words[] = { "median", "mean" };
    for (int k = 0; k < 2; k++) {
        int end = av_plot_fit(c, x + 4, right, y, AV_ROLE_DIM, words[k]);
        if (end == x + 4) {
            return x;
        }
        for (int i = 0; i < 2; i++) { /* the present state first */
            bool scale = (s->params.scale != 0) == (i == 0);
            uint32_t mark = k == 0 ? main_mark(s, scale) : mean_mark(s, scale);
            av_canvas_put(c, x + 2 * i, y, mark, av_look_scale(scale).fill.role);
        }
        x = end + 2;
    }
    return x;
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct curve *curve, const struct av_saturation *s)
{
    int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, curve->name);
    if (curve->mean != curve->main) {
        x = draw_kinds(c, x + 2, right, r.y, s);
    } else {
        x = av_plot_fit(c, x + 1, right, r.y, AV_ROLE_DIM, curve->meaning) + 2;
    }
    if (curve->theory != NULL && s->has_theory) {
        x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_CURVE, AV_ROLE_CURVE }, "exact");
    }
    if (curve->level > 0) {
        av_panel_legend(c, x, right, r.y, (struct av_fill){ LEVEL, AV_ROLE_WARN }, curve->level_name);
    }
}

static void draw_curve(struct av_canvas *c, struct av_rect r, const struct curve *curve, const struct av_saturation *s,
                       bool last)
{
    struct av_rect cells = { r.x + AV_SATURATION_MARGIN, r.y + TITLE_H, r.w - AV_SATURATION_MARGIN - 1,
                             r.h - TITLE_H - 1 };
    struct plot p = { c, cells, av_saturation_axis(cells.w), value_axis(curve, s, cells.h) };
    int below_y = cells.y + cells.h;
    draw_title(c, r, curve, s);
    av_plot_axis_y(c, &p.value, cells.x - 1, cells.y, AV_SATURATION_MARGIN - 1);
    av_canvas_put(c, cells.x - 1, below_y, 0x2514, AV_ROLE_AXIS);
    if (!p.value.log) {
        av_canvas_put(c, cells.x - 1, below_y - 1, 0x2524, AV_ROLE_AXIS);
        av_canvas_text_right(c, cells.x - 1, below_y - 1, AV_ROLE_AXIS, "0");
    }
    draw_strokes(&p, curve, s);
    av_panel_saturation_axis(c, &p.d, cells.x, below_y, s->at.d, last);
}

/* ---- all of them ----------------------------------------------------- */

/* Names of the marks: "● scaled now  ◇ unscaled". */
static void draw_names(struct av_canvas *c, struct av_rect r, const struct av_saturation *s)
{
    bool now = s->params.scale != 0;
    char text[AV_NUMBER_MAX];
    int x = r.x + 1;
    for (int k = 0; k < 2; k++) {
        bool scale = k == 0 ? now : !now;
        struct av_look look = av_look_scale(scale);
        snprintf(text, sizeof text, "%s%s", look.name, k == 0 ? " now" : "");
        x = av_panel_legend(c, x, r.x + r.w, r.y, (struct av_fill){ main_mark(s, scale), look.fill.role }, text);
    }
}

/* "┊ unscaled freezes: d_k = 2 ln n = 6.93", in less room without the formula,
 * or the number alone. Returns the column behind it and a gap. */
static int draw_freezing(struct av_canvas *c, int x, int right, int y, const struct av_saturation *s, bool scale)
{
    enum { TEXTS = 3 };
    const struct av_params *p = &s->params;
    double d = s->freezing_d[scale];
    if (!(d >= 1 && d <= AV_DIM_MAX)) {
        return x;
    }
    struct av_look look = av_look_scale(scale);
    char number[AV_NUMBER_MAX];
    char texts[TEXTS][96];
    bool unit = p->temperature == 1 && p->k_std == 1 && p->q_std == 1 && p->q_mean == 0;
    const char *base = p->mask == AV_MASK_CAUSAL ? (c->ascii ? "sigma_c^2" : "σ_c^2") : "2 ln n";
    const char *rest = unit ? "" : p->q_mean == 0 ? " (T / (q_std k_std))^2" : " (T / (q_rms k_std))^2";
    av_plot_number(number, d, 3);
    snprintf(texts[0], sizeof texts[0], "%s freezes: d_k = %s%s = %s", look.name, base, rest, number);
    snprintf(texts[1], sizeof texts[1], "%s freezes: d_k = %s", look.name, number);
    snprintf(texts[2], sizeof texts[2], "%s", number);
    int end = x;
    for (int i = scale ? 1 : 0; i < TEXTS && end == x; i++) { /* the formula is of the unscaled state */
        end = av_panel_legend(c, x, right, y, (struct av_fill){ FREEZES[scale], look.fill.role }, texts[i]);
    }
    return end;
}

int av_panel_saturation_curves(struct av_canvas *c, struct av_rect r, const struct av_saturation *s, int first,
                               int most)
{
    enum { LEAST_H = 4, LEAST_W = AV_SATURATION_MARGIN + 12 };
    int room = r.h - 1;
    int count = room / CURVE_LEAST_H;
    count = count < 1 ? 1 : count < most ? count : most;
    if (room < LEAST_H || r.w < LEAST_W || most < 1) {
        return 0;
    }
    struct av_rect clip = av_plot_enter(c, r);
    int y = r.y;
    for (int i = 0; i < count; i++) {
        int h = room / count + (i < room % count);
        draw_curve(c, (struct av_rect){ r.x, y, r.w, h }, &curves[(first + i) % AV_SATURATION_CURVES], s,
                   i == count - 1);
        y += h;
    }
    av_canvas_clip(c, clip);
    return count;
}

void av_panel_saturation_names(struct av_canvas *c, struct av_rect r, const struct av_saturation *s)
{
    struct av_rect clip = av_plot_enter(c, r);
    draw_names(c, r, s);
    int x = draw_freezing(c, r.x + 1, r.x + r.w, r.y + 1, s, false);
    draw_freezing(c, x, r.x + r.w, r.y + 1, s, true);
    av_canvas_clip(c, clip);
}
