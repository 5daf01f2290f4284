/* panel_depth_table.c - seven stacks at two depths: gradients and cosines at three layers. */
#include "attnviz/facts.h"
#include "panels_depth.h"

#include <math.h>
#include <stdio.h>

enum {
    NAME_X = 13,
    BLOCK_X = 36, /* the first depth's columns */
    COLUMN_W = 7,
    BLOCK_W = 3 * COLUMN_W,
    HEAD_H = 2,
    PLACES = 3,
    DIGITS = 2,
    DEEP = 64
};

/* First, middle and last layer. */
static size_t place(size_t layers, int which)
{
    return which == 0 ? 0 : which == 1 ? layers / 2 : layers - 1;
}

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_depth_study *study, int depths)
{
    char text[64];
    for (int d = 0; d < depths; d++) {
        const size_t layers = study->table[0][d]->config.layers;
        const int x = r.x + BLOCK_X + d * BLOCK_W;
        snprintf(text, sizeof text, "%zu layers", layers);
        av_plot_fit_right(c, x, x + BLOCK_W, r.y, AV_ROLE_TITLE, text);
        for (int k = 0; k < PLACES; k++) {
            snprintf(text, sizeof text, "%zu", place(layers, k));
            av_canvas_text_right(c, x + (k + 1) * COLUMN_W, r.y + 1, AV_ROLE_AXIS, text);
        }
    }
    av_plot_fit(c, r.x + 1, r.x + BLOCK_X, r.y, AV_ROLE_DIM, "gradient norm of w_q, w_k;");
    av_plot_fit(c, r.x + 1, r.x + BLOCK_X, r.y + 1, AV_ROLE_DIM, "cosine of tokens     at layer");
}

/* Gradients, and below them cosines. */
static void draw_values(struct av_canvas *c, int x, int y, const struct av_depth_cell *cell)
{
    char text[AV_NUMBER_MAX];
    for (int k = 0; k < PLACES; k++) {
        const size_t layer = place(cell->config.layers, k);
        const int right = x + (k + 1) * COLUMN_W;
        const double cosine = cell->median.layers[layer].at[AV_DEPTH_COSINE];
        av_depth_value(text, cell, layer, AV_DEPTH_GRAD_QK, DIGITS, COLUMN_W - 1);
        av_canvas_text_right(c, right, y, AV_ROLE_TEXT, text);
        if (cell->done > 0 && isfinite(cosine)) {
            snprintf(text, sizeof text, "%.2f", fabs(cosine) < 0.005 ? 0 : cosine);
            av_canvas_text_right(c, right, y + 1, AV_ROLE_DIM, text);
        }
    }
}

/* "8 uneven 41×  64 dead", what becomes of the gradient at either depth. */
static void draw_fates(struct av_canvas *c, struct av_rect r, int y, const struct av_depth_study *study, size_t row,
                       int depths)
{
    int x = r.x + 1;
    for (int d = 0; d < depths; d++) {
        const struct av_depth_finding f = av_depth_find(&study->table[row][d]->median);
        const enum av_depth_fate fate = f.fate;
        const double ratio = av_depth_fate_ratio(&f);
        const bool bad = fate >= AV_DEPTH_FATE_OVERFLOW && fate <= AV_DEPTH_FATE_VANISHES;
        const enum av_role role = fate == AV_DEPTH_FATE_FLAT ? AV_ROLE_GOOD : bad ? AV_ROLE_BAD : AV_ROLE_WARN;
        if (fate != AV_DEPTH_FATE_UNKNOWN) {
            char number[AV_FACT_NUMBER];
            char text[96];
            const int len =
                snprintf(text, sizeof text, "%zu %s", study->table[row][d]->config.layers, av_depth_fate_name(fate));
            if (!isnan(ratio)) {
                av_fact_number(number, ratio, AV_FACT_DIGITS);
                snprintf(text + len, sizeof text - (size_t)len, " %s×", number);
            }
            x = av_plot_fit(c, d > 0 ? x + 2 : x, r.x + BLOCK_X + 1, y, role, text);
        }
    }
}

static void draw_row(struct av_canvas *c, struct av_rect r, int y, const struct av_depth_study *study, size_t row,
                     bool selected)
{
    const struct av_depth_recipe *recipe = &av_depth_recipes[row];
    const struct av_look look = av_look_scale(recipe->scale);
    const int depths = study->table[row][0] == study->table[row][1] ? 1 : AV_DEPTH_DEPTHS;
    if (selected) {
        av_canvas_put(c, r.x, y, 0x25B8, AV_ROLE_SELECT);
    }
    av_panel_legend(c, r.x + 1, r.x + NAME_X, y, look.fill, look.name);
    av_plot_fit(c, r.x + NAME_X, r.x + BLOCK_X + 1, y, selected ? AV_ROLE_SELECT : AV_ROLE_TEXT, recipe->name);
    draw_fates(c, r, y + 1, study, row, depths);
    for (int d = 0; d < depths; d++) {
        draw_values(c, r.x + BLOCK_X + d * BLOCK_W, y, study->table[row][d]);
    }
}

/* What the ratios are, and that the second depth can be another. */
static void draw_legend(struct av_canvas *c, struct av_rect r, int y, const struct av_depth_study *study)
{
    av_plot_fit(c, r.x + 1, r.x + r.w, y, AV_ROLE_DIM,
                "flat, uneven: largest gradient over smallest; the others: first layer over last");
    if (study->table[0][AV_DEPTH_DEPTHS - 1]->config.layers < DEEP) {
        av_plot_fit(c, r.x + 1, r.x + r.w, y + 1, AV_ROLE_DIM,
                    "the second depth is the parameter layers; 64: a deep stack");
    }
}

void av_panel_depth_table(struct av_canvas *c, struct av_rect r, const struct av_depth_study *study, size_t selected)
{
    const int depths = study->table[0][0] == study->table[0][1] ? 1 : AV_DEPTH_DEPTHS;
    const int room = r.h - HEAD_H;
    const int gap = room >= 3 * AV_DEPTH_STACKS ? 3 : 2;
    const int rows = room / gap < AV_DEPTH_STACKS ? room / gap : AV_DEPTH_STACKS;
    const int first = (int)selected < rows || selected >= AV_DEPTH_STACKS ? 0 : (int)selected - rows + 1;
    struct av_rect clip = av_plot_enter(c, r);
    draw_head(c, r, study, depths);
    for (int i = 0; i < rows; i++) {
        const size_t row = (size_t)first + (size_t)i;
        draw_row(c, r, r.y + HEAD_H + i * gap, study, row, row == selected);
    }
    if (room > rows * gap + 1) {
        draw_legend(c, r, r.y + HEAD_H + rows * gap + 1, study);
    }
    av_canvas_clip(c, clip);
}
