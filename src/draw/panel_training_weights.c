/* panel_training_weights.c - the weights that both runs give to one sequence, side by side. */
#include "panels_training.h"

#include <math.h>
#include <stdio.h>

enum { TITLE_H = 1, LEGEND_H = 1, GAP = 2, MOST_H = 32 };

static struct av_rect half_of(struct av_rect r, enum av_twin twin)
{
    int w = (r.w - 1 - GAP) / 2;
    return (struct av_rect){ r.x + 1 + (int)twin * (w + GAP), r.y + TITLE_H, w, r.h - TITLE_H - LEGEND_H };
}

static struct av_heat_grid grid_of(struct av_rect cells, const struct av_training *t)
{
    struct av_heat_window all = { 0, 0, 0 };
    return av_layout_heat(cells, t->config.seq_len, t->config.seq_len, all);
}

int av_panel_training_weights_h(struct av_rect r, const struct av_training *t)
{
    struct av_heat_grid g = grid_of(half_of(r, 0), t);
    int h = g.cells.h < MOST_H ? g.cells.h : MOST_H;
    return h > 0 ? h + TITLE_H + LEGEND_H : 0;
}

/* The largest in size of the entries of a cell; NaN when one is. */
static double pooled(const float *weights, size_t len, const struct av_heat_grid *g, size_t row, size_t col)
{
    double most = 0;
    for (size_t i = row; i < row + g->pool_rows && i < len; i++) {
        for (size_t j = col; j < col + g->pool_cols && j < len; j++) {
            double v = (double)weights[i * len + j];
            most = isnan(v) || fabs(v) > fabs(most) ? v : most;
        }
    }
    return most;
}

static void draw_cell(struct av_canvas *c, struct av_rect at, double weight)
{
    for (int i = 0; i < at.w * at.h; i++) {
        int x = at.x + i % at.w, y = at.y + i / at.w;
        if (isnan(weight)) {
            av_canvas_put(c, x, y, '!', AV_ROLE_BAD);
        } else if (weight < 0) {
            av_panel_negative(c, x, y, sqrt(-weight));
        } else {
            av_canvas_heat(c, x, y, av_panel_step(sqrt(weight), AV_HEAT_LEVELS));
        }
    }
}

/* Of the first steps without a cursor the last of them, which the table shows,
 * too: not the weights that the run has come to since. */
static size_t number_of(const struct av_training *t, const struct av_training_look *look)
{
    const size_t a = t->runs[0].ended[AV_TRAINING_STEPS], b = t->runs[1].ended[AV_TRAINING_STEPS];
    const bool follows = look->number == 0 && look->series == AV_TRAINING_STEPS;
    return follows ? (a > b ? a : b) : look->number;
}

static bool any_below_0(const float *weights, size_t n)
{
    size_t i = 0;
    while (i < n && !(weights[i] < 0)) {
        i++;
    }
    return i < n;
}

/* Which moment it is: "after epoch 12", "before step 7", "after 64 steps". */
static void moment_text(char out[64], const struct av_training_look *look, size_t number, size_t of)
{
    if (number == 0) {
        snprintf(out, 64, "after %zu step%s", of, of == 1 ? "" : "s");
    } else if (look->series == AV_TRAINING_EPOCHS) {
        snprintf(out, 64, "after epoch %zu", of);
    } else {
        snprintf(out, 64, "before step %zu", of);
    }
}

/* "∘● below 0" */
static void draw_below_0(struct av_canvas *c, int x, int right, int y)
{
    int end = av_plot_fit(c, x + 3, right, y, AV_ROLE_DIM, "below 0");
    end = end > x + 3 ? end : av_plot_fit(c, x + 3, right, y, AV_ROLE_DIM, "< 0");
    for (int i = 0; i < 2 && end > x + 3; i++) {
        av_panel_negative(c, x + i, y, 0.3 + i);
    }
}

static void draw_half(struct av_canvas *c, struct av_rect r, const struct av_training *t, enum av_twin twin,
                      const float *weights)
{
    struct av_training_marks m = av_training_marks(twin);
    struct av_heat_grid g = grid_of(r, t);
    const size_t len = t->config.seq_len;
    int x = av_panel_legend(c, r.x, r.x + r.w, r.y - TITLE_H, (struct av_fill){ m.main, m.role }, m.name);
    if (g.pool_rows > 1 || g.pool_cols > 1) {
        char text[64];
        snprintf(text, sizeof text, "max %zu×%zu", g.pool_rows, g.pool_cols);
        x = av_plot_fit(c, x, r.x + r.w, r.y - TITLE_H, AV_ROLE_TEXT, text) + 2;
    }
    if (weights != NULL && any_below_0(weights, len * len)) {
        draw_below_0(c, x, r.x + r.w, r.y - TITLE_H);
    }
    for (size_t row = 0; row < g.rows && weights != NULL; row += g.pool_rows) {
        for (size_t col = 0; col < g.cols; col += g.pool_cols) {
            struct av_rect at = { av_heat_x(&g, col), av_heat_y(&g, row), g.cell_w, g.cell_h };
            draw_cell(c, at, pooled(weights, len, &g, row, col));
        }
    }
    if (weights == NULL) {
        av_plot_wrap(c, r, AV_ROLE_DIM, t->runs[twin].asked ? "not kept" : "not trained");
    }
}

/* "0 <ramp> 1  colour ~ √p", as far as it fits. */
static void draw_legend(struct av_canvas *c, int x, int right, int y, bool odd)
{
    static const char *const sizes[2][2] = { { "colour ~ √p", "colour ~ sqrt(p)" },
                                             { "size ~ √|w|", "size ~ sqrt|w|" } };
    if (right - x < AV_HEAT_LEVELS + 4) {
        return;
    }
    av_canvas_text(c, x, y, AV_ROLE_AXIS, "0");
    for (int i = 0; i < AV_HEAT_LEVELS; i++) {
        av_canvas_heat(c, x + 2 + i, y, i);
    }
    x = av_canvas_text(c, x + 3 + AV_HEAT_LEVELS, y, AV_ROLE_AXIS, "1");
    av_plot_fit(c, x + 2, right, y, AV_ROLE_DIM, sizes[odd][c->ascii]);
}

void av_panel_training_weights(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                               const struct av_training_look *look)
{
    struct av_rect clip = av_plot_enter(c, r);
    struct av_heat_grid g = grid_of(half_of(r, 0), t);
    const size_t number = number_of(t, look);
    char text[64] = "";
    int y = g.cells.y + g.cells.h, right = r.x + r.w;
    for (enum av_twin twin = 0; twin < AV_TWINS && g.cells.h > 0; twin++) {
        size_t of = 0;
        const float *weights = av_training_weights(t, look->series, twin, number, &of);
        draw_half(c, half_of(r, twin), t, twin, weights);
        if (weights != NULL) {
            moment_text(text, look, number, of);
        }
    }
    if (g.cells.h > 0) {
        int left = av_plot_fit_right(c, r.x + 1, right, y, AV_ROLE_DIM, text);
        draw_legend(c, r.x + 1, left - 2, y, av_training_is_odd(t));
    }
    av_canvas_clip(c, clip);
}
