/* panel_origin.c - where the variance of the scores comes from. */
#include "attnviz/origin.h"
#include "panels_derivation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAME_W = 19, COLUMN_W = 10, COLUMNS = 7, FULL_LINES = 3 };

/* In the order in which data flows; the first to go as the panel gets narrower
 * is the one with the highest `sheds`. */
static const struct {
    const char *title;
    enum av_origin_quantity quantity;
    bool scaled; /* times 1 / d_k */
    int sheds;
} COLUMN[COLUMNS] = {
    { "Var[w]", AV_ORIGIN_W, false, 5 },     { "E[x^2]", AV_ORIGIN_X, false, 4 }, { "Var[q]", AV_ORIGIN_Q, false, 2 },
    { "Var[k]", AV_ORIGIN_K, false, 3 },     { "Var[s]", AV_ORIGIN_S, false, 0 }, { "Var s/d_k", AV_ORIGIN_S, true, 1 },
    { "row s/d_k", AV_ORIGIN_ROW, true, 6 },
};

void av_panel_agreement(struct av_canvas *c, int x, int y, enum av_estimate_verdict verdict)
{
    static const struct av_fill marks[] = {
        [AV_ESTIMATE_AGREES] = { AV_MARK_HOLDS, AV_ROLE_GOOD },
        [AV_ESTIMATE_OFF] = { '!', AV_ROLE_WARN },
    };
    if (verdict != AV_ESTIMATE_FEW) {
        av_canvas_put(c, x, y, marks[verdict].body, marks[verdict].role);
    }
}

void av_panel_drawings(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_origin *o = ctx->study;
    char text[96];
    uint64_t seed = ctx->snapshot->params.seed;
    if (o->drawings < o->planned) {
        snprintf(text, sizeof text, "%d of %d drawings of x, w_q, w_k", o->drawings, o->planned);
    } else {
        snprintf(text, sizeof text, "%d drawings of x, w_q, w_k: seeds %" PRIu64 " + 0 .. %d", o->drawings, seed,
                 o->drawings - 1);
    }
    int x = av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_DIM, text);
    if (!isnan(o->limit)) {
        snprintf(text, sizeof text, "within %.3g se", o->limit);
        av_panel_legend(c, x + 2, r.x + r.w, r.y, (struct av_fill){ AV_MARK_HOLDS, AV_ROLE_GOOD }, text);
    }
}

/* The columns that fit, from the left edge of the first on. */
struct columns {
    int x, shown;
};

static struct columns fit_columns(struct av_rect r)
{
    int shown = (r.w - NAME_W) / COLUMN_W;
    return (struct columns){ r.x + NAME_W, shown < COLUMNS ? shown > 0 ? shown : 0 : COLUMNS };
}

/* Draws one text per column, right-aligned, one cell left for a mark. */
typedef const char *(*column_text)(char out[AV_NUMBER_MAX], int column, const struct av_estimate *e, double factor);

static const char *theory(char out[AV_NUMBER_MAX], int column, const struct av_estimate *e, double factor)
{
    (void)column;
    return av_plot_number(out, factor * e->theory, 3);
}

static const char *measured(char out[AV_NUMBER_MAX], int column, const struct av_estimate *e, double factor)
{
    (void)column;
    return isnan(e->measured) ? "" : av_plot_number(out, factor * e->measured, 3);
}

static const char *error(char out[AV_NUMBER_MAX], int column, const struct av_estimate *e, double factor)
{
    (void)column;
    return isnan(e->error) ? "" : av_plot_number(out, factor * e->error, 2);
}

static const char *title(char out[AV_NUMBER_MAX], int column, const struct av_estimate *e, double factor)
{
    (void)out;
    (void)e;
    (void)factor;
    return COLUMN[column].title;
}

/* One line of numbers; limit > 0: with marks whether they agree. */
static void draw_row(struct av_canvas *c, struct columns at, int y, enum av_role role, column_text text,
                     const struct av_estimate *values, double d, double limit)
{
    int x = at.x;
    for (int i = 0; i < COLUMNS; i++) {
        if (COLUMN[i].sheds >= at.shown) {
            continue;
        }
        char number[AV_NUMBER_MAX];
        const struct av_estimate *e = &values[COLUMN[i].quantity];
        int edge = x + COLUMN_W - 2;
        av_plot_fit_right(c, x - 1, edge, y, role, text(number, i, e, COLUMN[i].scaled ? 1 / d : 1));
        if (limit > 0) {
            av_panel_agreement(c, edge + 1, y, av_estimate_judge(e, limit));
        }
        x += COLUMN_W;
    }
}

/* The four kinds of init for one kind of inputs: `lines` a kind, 3 or 1. */
static int draw_block(struct av_canvas *c, struct av_rect r, int y, const struct av_view_context *ctx, bool norm,
                      int lines)
{
    const struct av_origin *o = ctx->study;
    const struct av_params *p = &ctx->snapshot->params;
    const struct av_param *init = av_param_find("init");
    struct columns at = fit_columns(r);
    bool current = norm == (p->layer_norm != 0);
    double d = (double)p->d_k;
    int right = at.x;
    av_plot_fit(c, r.x + 1, right, y, AV_ROLE_TITLE, norm ? "with LayerNorm" : "no LayerNorm");
    draw_row(c, at, y++, AV_ROLE_DIM, title, o->at[0][norm], d, 0);
    for (int k = 0; k < AV_INIT_COUNT; k++) {
        bool here = current && k == p->init;
        const struct av_estimate *values = o->at[k][norm];
        enum av_role role = here ? AV_ROLE_SELECT : AV_ROLE_TEXT;
        av_canvas_put(c, r.x + 1, y, here ? 0x25B8 : ' ', role);
        av_plot_fit(c, r.x + 3, right, y, role, init->choices[k]);
        if (lines == FULL_LINES) {
            av_plot_fit(c, r.x + 11, right, y, AV_ROLE_DIM, "expected");
            draw_row(c, at, y++, AV_ROLE_CURVE, theory, values, d, 0);
        }
        av_plot_fit(c, r.x + 11, right, y, AV_ROLE_DIM, "measured");
        draw_row(c, at, y++, AV_ROLE_TEXT, measured, values, d, o->limit);
        if (lines == FULL_LINES) {
            av_plot_fit(c, r.x + 11, right, y, AV_ROLE_DIM, c->ascii ? "+- se" : "± se");
            draw_row(c, at, y++, AV_ROLE_DIM, error, values, d, 0);
        }
    }
    return y;
}

void av_panel_origin(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    enum { HEAD_H = 2, BLOCK_H = 1 + AV_INIT_COUNT * FULL_LINES, BRIEF_H = 1 + AV_INIT_COUNT, FOOT_H = 1 };
    const struct av_params *p = &ctx->snapshot->params;
    struct av_rect clip = av_plot_enter(c, r);
    char text[160];
    int bottom = r.y + r.h;
    int behind = av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_TITLE, "where the variance comes from");
    if (ctx->snapshot->from_files) {
        av_plot_fit(c, behind + 3, r.x + r.w, r.y, AV_ROLE_WARN, AV_NOT_THE_FILES);
    }
    snprintf(text, sizeof text, "x [%d, %" PRId64 "];  q = x w_q, k = x w_k [%d, %" PRId64 "];  s = q k^T, i != j",
             AV_ORIGIN_TOKENS, p->d_model, AV_ORIGIN_TOKENS, p->d_k);
    av_plot_fit(c, r.x + 1, r.x + r.w, r.y + 1, AV_ROLE_TEXT, text);
    bool norm = p->layer_norm != 0;
    int left = r.h - HEAD_H - BLOCK_H;
    int gap = left >= 2 * FOOT_H + BRIEF_H;
    int lines = left >= 1 + FOOT_H + BLOCK_H ? FULL_LINES : 1;
    int y = draw_block(c, r, r.y + HEAD_H, ctx, norm, r.h >= HEAD_H + BLOCK_H ? FULL_LINES : 1);
    if (left >= BRIEF_H) {
        y = draw_block(c, r, y + gap, ctx, !norm, lines);
    }
    const char *const formulas[] = {
        "Var[q] = d_model Var[w] E[x^2];  Var[s] = d_k Var[q] Var[k], over x and w",
        "row s = d_k Var[q] d_model Var[w] Var[x], within a row: all that a softmax sees",
        "d_model Var[w]: pytorch 1/3, unit 1, xavier 2 d_model/(d_model + d_k), kaiming 2",
    };
    y += y + 1 < bottom;
    if (y < bottom) {
        av_panel_drawings(c, (struct av_rect){ r.x, y, r.w, 1 }, ctx);
    }
    y += 2;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        int free = bottom - y;
        y += av_plot_wrap(c, (struct av_rect){ r.x + 1, y, r.w - 2, free > 0 ? free : 0 }, AV_ROLE_DIM, formulas[i]);
    }
    av_canvas_clip(c, clip);
}
