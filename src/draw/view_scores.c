/* view_scores.c - the distribution of the scores, and its moments. */
#include "panels.h"

enum { BESIDE_W = 110, BELOW_H = 26, PLOT_LEAST_H = 9 };

/* The table stands below the histograms where they stay high enough, else
 * beside them, else it is shed. */
static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    struct av_rect body = { r.x, r.y + 1, r.w, r.h - 1 };
    struct av_rect table = { 0, 0, 0, 0 };
    bool beside = r.w >= BESIDE_W && r.h < BELOW_H;
    if (beside) {
        table = (struct av_rect){ r.x + r.w - AV_MOMENTS_W, body.y, AV_MOMENTS_W, body.h };
        body.w -= AV_MOMENTS_W + 1;
    } else if (body.h >= PLOT_LEAST_H + AV_MOMENTS_H) {
        table = (struct av_rect){ r.x, r.y + r.h - AV_MOMENTS_H, r.w, AV_MOMENTS_H };
        body.h -= AV_MOMENTS_H;
    }
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, 1 }, ctx, "scores");
    av_panel_scores(c, body, ctx);
    av_panel_moments(c, table, ctx);
}

static const char *const about[] = {
    "Histograms of the scores q·k, scaled above unscaled, on one axis: widths",
    "compare, heights do not, each fills its own.",
    "• is the density expected, exact for normal entries.",
    "A score of independent entries of variance 1 has variance d_k: that is why it",
    "is divided by sqrt(d_k).",
    "The table sets measured moments beside expected ones; excess kurtosis is 0 for",
    "a normal distribution, and 6 / d_k for the scores of normal entries.",
    NULL,
};

const struct av_view av_view_scores = {
    .name = "scores",
    .title = "distribution of the scores, scaled and unscaled, against its exact density",
    .order = 20,
    .compares = true,
    .needs = AV_NEED_HISTOGRAM | AV_NEED_WHOLE_AXIS | AV_NEED_OTHER,
    .draw = draw,
    .about = about,
};
