/* panel_remedies.c - scaling, normalisation and initialisation side by side. */
#include "attnviz/origin.h"
#include "panels_derivation.h"

#include <math.h>

enum { TEXT_W = 40, NAME_W = 20, COLUMNS = 4, COLUMN_W = 10, MARK_W = 1, HEAD_H = 3, BLOCK_H = 3 };

static const char *const TITLES[COLUMNS] = { "expected", "measured", "± se", "+ QK-norm" };

static int edge_of(struct av_rect r, int column)
{
    /* The names alone keep their place where there is no room for more. */
    int text = r.w >= TEXT_W + 2 * COLUMN_W ? TEXT_W : NAME_W;
    int first = r.w - COLUMNS * COLUMN_W - MARK_W;
    return r.x + (first < text ? text : first) + (column + 1) * COLUMN_W - 2;
}

static void draw_number(struct av_canvas *c, struct av_rect r, int column, int y, enum av_role role, const char *text)
{
    int edge = edge_of(r, column);
    if (edge < r.x + r.w) {
        av_plot_fit_right(c, edge - COLUMN_W + 1, edge, y, role, text);
    }
}

static void draw_verdict(struct av_canvas *c, struct av_rect r, int column, int y, const struct av_estimate *e,
                         double limit)
{
    int edge = edge_of(r, column);
    if (edge < r.x + r.w) {
        av_panel_agreement(c, edge + 1, y, av_estimate_judge(e, limit));
    }
}

/* A remedy without which the variance is twice or half what it should be. */
static bool matters(const struct av_estimate *e)
{
    return e->theory > 2 || e->theory < 0.5;
}

static void draw_remedy(struct av_canvas *c, struct av_rect r, int y, const struct av_remedy *row, double limit)
{
    char number[AV_NUMBER_MAX];
    const struct av_estimate *e = &row->missing;
    int right = edge_of(r, 0) - COLUMN_W + 1;
    enum av_role role = matters(e) ? AV_ROLE_BAD : AV_ROLE_TEXT;
    av_canvas_put(c, r.x + 1, y, matters(e) ? AV_MARK_BROKEN : AV_MARK_HOLDS, matters(e) ? AV_ROLE_BAD : AV_ROLE_GOOD);
    av_plot_fit(c, r.x + 3, right, y, AV_ROLE_TITLE, row->name);
    av_plot_fit(c, r.x + 5, right, y + 1, AV_ROLE_TEXT, row->acts);
    av_plot_fit(c, r.x + 5, right, y + 2, AV_ROLE_DIM, row->controls);
    draw_number(c, r, 0, y, role, av_plot_number(number, e->theory, 3));
    if (!isnan(e->error)) {
        draw_number(c, r, 1, y, AV_ROLE_TEXT, av_plot_number(number, e->measured, 3));
        draw_verdict(c, r, 1, y, e, limit);
        draw_number(c, r, 2, y, AV_ROLE_DIM, av_plot_number(number, e->error, 2));
        draw_number(c, r, 3, y, AV_ROLE_TEXT, av_plot_number(number, row->with_qk_norm.measured, 3));
        draw_verdict(c, r, 3, y, &row->with_qk_norm, limit);
    }
}

void av_panel_remedies(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_origin *o = ctx->study;
    struct av_remedy rows[AV_REMEDIES];
    av_origin_remedies(rows, o, &ctx->snapshot->params);
    struct av_rect clip = av_plot_enter(c, r);
    int behind = av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_TITLE, "what keeps the variance at 1");
    if (ctx->snapshot->from_files) {
        av_plot_fit(c, behind + 3, r.x + r.w, r.y, AV_ROLE_WARN, AV_NOT_THE_FILES);
    }
    int numbers = edge_of(r, 0) - COLUMN_W + 1;
    av_plot_fit(c, r.x + 1, numbers, r.y + 1, AV_ROLE_DIM, "acts on what, controls what");
    av_plot_fit_right(c, numbers, r.x + r.w - MARK_W, r.y + 1, AV_ROLE_DIM, "Var[α s] when it alone is missing");
    for (int i = 0; i < COLUMNS; i++) {
        draw_number(c, r, i, r.y + 2, AV_ROLE_DIM, i == 2 && c->ascii ? "+- se" : TITLES[i]);
    }
    int room = r.h - HEAD_H - 1;
    int gap = room >= AV_REMEDIES * (BLOCK_H + 1);
    int y = r.y + HEAD_H;
    for (int i = 0; i < AV_REMEDIES && y < r.y + r.h; i++, y += BLOCK_H + gap) {
        draw_remedy(c, r, y, &rows[i], o->limit);
    }
    int bottom = r.y + r.h;
    if (bottom - y >= 3) {
        y += av_plot_wrap(c, (struct av_rect){ r.x + 1, y, r.w - 2, bottom - y - 1 }, AV_ROLE_DIM,
                          "✗: 0.5 or less, 2 or more. No initialisation: w ~ N(0, 1). Without LayerNorm "
                          "inputs of another mean or std come through: try input_std=2.");
    }
    y += y + 1 < bottom;
    if (y < bottom) {
        av_panel_drawings(c, (struct av_rect){ r.x, y, r.w, 1 }, ctx);
    }
    av_canvas_clip(c, clip);
}
