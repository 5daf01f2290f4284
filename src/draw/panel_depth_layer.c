/* panel_depth_layer.c - all values of one layer of a stack, scaled and unscaled. */
#include "panels_depth.h"

#include <stdio.h>

/* Columns of the values end here, counted from the panel's left: scaled, unscaled. */
static const int ENDS[2] = { AV_DEPTH_LAYER_W - 10, AV_DEPTH_LAYER_W - 1 };

enum { VALUE_W = 8, DIGITS = 3 };

static const struct {
    const char *name;
    enum av_depth_field field;
    int indent;
} lines[] = {
    { "w_q, w_k", AV_DEPTH_GRAD_QK, 1 },
    { "w_q", AV_DEPTH_GRAD_Q, 2 },
    { "w_k", AV_DEPTH_GRAD_K, 2 },
    { "w_v", AV_DEPTH_GRAD_V, 1 },
    { "w_o", AV_DEPTH_GRAD_O, 1 },
    { "mlp", AV_DEPTH_GRAD_MLP, 1 },
    { "x", AV_DEPTH_GRAD_X, 1 },
    { "cosine", AV_DEPTH_COSINE, 0 },
    { "size", AV_DEPTH_SIZE, 0 },
    { "logit std", AV_DEPTH_LOGIT_STD, 0 },
    { "entropy/ln n", AV_DEPTH_ENTROPY_NORM, 0 },
};

static bool has_mlp(const struct av_depth_shown *shown)
{
    return (shown->cells[0] != NULL && shown->cells[0]->config.mlp) ||
           (shown->cells[1] != NULL && shown->cells[1]->config.mlp);
}

/* The whole stack's gradient, and what clipping did to it. */
static void draw_norm(struct av_canvas *c, struct av_rect r, int y, const struct av_depth_shown *shown)
{
    char text[AV_NUMBER_MAX];
    bool clips = false;
    av_plot_fit(c, r.x + 1, r.x + ENDS[0] - 8, y, AV_ROLE_TEXT, "all matrices");
    for (int k = 0; k < 2; k++) {
        const struct av_depth_cell *cell = shown->cells[k == 0];
        if (cell != NULL && cell->done > 0) {
            av_plot_number_in(text, cell->median.norm, DIGITS, VALUE_W);
            av_canvas_text_right(c, r.x + ENDS[k], y, AV_ROLE_TEXT, text);
            clips = clips || cell->config.clip > 0;
        }
    }
    if (clips) {
        av_plot_fit(c, r.x + 1, r.x + ENDS[0] - 8, y + 1, AV_ROLE_TEXT, "clipped by");
        for (int k = 0; k < 2; k++) {
            const struct av_depth_cell *cell = shown->cells[k == 0];
            if (cell != NULL && cell->done > 0) {
                av_plot_number_in(text, cell->median.clipped, 2, VALUE_W);
                av_canvas_text_right(c, r.x + ENDS[k], y + 1, AV_ROLE_TEXT, text);
            }
        }
    }
}

void av_panel_depth_layer(struct av_canvas *c, struct av_rect r, const struct av_depth_shown *shown)
{
    struct av_rect clip = av_plot_enter(c, r);
    char text[AV_NUMBER_MAX];
    int y = r.y;
    snprintf(text, sizeof text, "layer %zu", shown->layer);
    av_plot_fit(c, r.x + 1, r.x + r.w, y, AV_ROLE_SELECT, text);
    for (int k = 0; k < 2; k++) {
        if (shown->cells[k == 0] != NULL) {
            const struct av_look look = av_look_scale(k == 0);
            av_canvas_text_right(c, r.x + ENDS[k], y, look.fill.role, look.name);
        }
    }
    av_canvas_text(c, r.x + 1, ++y, AV_ROLE_DIM, "gradient norms");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i].field == AV_DEPTH_GRAD_MLP && !has_mlp(shown)) {
            continue;
        }
        av_canvas_text(c, r.x + 1 + lines[i].indent, ++y, AV_ROLE_TEXT, lines[i].name);
        for (int k = 0; k < 2; k++) {
            if (shown->cells[k == 0] != NULL) {
                av_depth_value(text, shown->cells[k == 0], shown->layer, lines[i].field, DIGITS, VALUE_W);
                av_canvas_text_right(c, r.x + ENDS[k], y, AV_ROLE_TEXT, text);
            }
        }
    }
    draw_norm(c, r, y + 1, shown);
    av_canvas_clip(c, clip);
}
