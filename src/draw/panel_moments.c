/* panel_moments.c - measured against expected moments of the scores. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

enum { NAME_W = 13, COLUMN_W = 10, GAP_W = 2 };

/* Right edge of a column: 0 and 1 scaled, 2 and 3 unscaled. */
static int edge(int x, int column)
{
    return x + NAME_W + (column + 1) * COLUMN_W + (column >= 2 ? GAP_W : 0);
}

static void draw_number(struct av_canvas *c, int right, int y, enum av_role role, double v, bool exact)
{
    if (!isnan(v)) {
        char number[AV_NUMBER_MAX];
        av_canvas_text_right(c, right, y, role, exact ? av_plot_short(number, v, 4) : av_plot_number(number, v, 4));
    }
}

/* A moment of the raw scores, how it grows with the multiplier, and what is
 * expected (NaN: nothing). */
struct moment {
    const char *name;
    double measured, expected;
    int power;
};

static void draw_moment(struct av_canvas *c, int x, int y, const struct moment *m, double alpha)
{
    double factor = pow(alpha, m->power);
    av_canvas_text(c, x + 1, y, AV_ROLE_TEXT, m->name);
    draw_number(c, edge(x, 2), y, AV_ROLE_TEXT, m->measured, false);
    if (isnan(alpha)) { /* a file's scores: multiplied they are, and by what is not known */
        return;
    }
    draw_number(c, edge(x, 0), y, AV_ROLE_TEXT, factor * m->measured, false);
    draw_number(c, edge(x, 1), y, AV_ROLE_CURVE, factor * m->expected, true);
    draw_number(c, edge(x, 3), y, AV_ROLE_CURVE, m->expected, true);
}

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    if (s->from == AV_PART_SCORES) {
        av_canvas_text_right(c, edge(r.x, 2), r.y, av_look_now(s).fill.role, av_look_now(s).name);
        av_canvas_text_right(c, edge(r.x, 2), r.y + 1, AV_ROLE_DIM, "measured");
        return;
    }
    for (int scale = 1; scale >= 0; scale--) {
        struct av_look look = av_look_scale(scale == 1);
        bool now = (s->params.scale != 0) == (scale == 1) && !s->varied;
        int first = scale == 1 ? 0 : 2;
        char name[32];
        snprintf(name, sizeof name, now ? "%s now" : "%s", look.name);
        av_canvas_text_right(c, edge(r.x, first + 1), r.y, look.fill.role, name);
        av_canvas_text_right(c, edge(r.x, first), r.y + 1, AV_ROLE_DIM, "measured");
        av_canvas_text_right(c, edge(r.x, first + 1), r.y + 1, AV_ROLE_DIM, "expected");
    }
}

void av_panel_moments(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    if (s->from_logits || s->from == AV_PART_WEIGHTS || r.w < AV_MOMENTS_W || r.h < AV_MOMENTS_H) {
        return;
    }
    const struct av_moments *m = &s->score_moments;
    const double unknown = (double)NAN;
    bool any = m->count > 0;
    const struct moment moments[] = {
        { "mean", any ? m->mean : unknown, s->expected_mean, 1 },
        { "variance", av_moments_var(m), s->expected_var, 2 },
        { "std", av_moments_std(m), sqrt(s->expected_var), 1 },
        { "ex. kurtosis", av_moments_excess_kurtosis(m), s->expected_kurtosis, 0 },
        { "least", any ? m->min : unknown, unknown, 1 },
        { "largest", any ? m->max : unknown, unknown, 1 },
    };
    struct av_rect clip = av_plot_enter(c, r);
    double alpha = s->from == AV_PART_SCORES ? unknown : av_params_multiplier(&s->params, true);
    draw_head(c, r, s);
    int y = r.y + 2;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        draw_moment(c, r.x, y++, &moments[i], alpha);
    }
    av_canvas_textf(c, r.x + 1, y++, AV_ROLE_DIM, "over %llu unmasked pairs of %zu × %zu", (unsigned long long)m->count,
                    s->n_q, s->n_k);
    av_panel_legend(c, r.x + 1, r.x + r.w, y, (struct av_fill){ AV_MARK_CURVE, AV_ROLE_CURVE },
                    s->histogram.exact ? "exact density" : "normal approximation");
    av_canvas_clip(c, clip);
}
