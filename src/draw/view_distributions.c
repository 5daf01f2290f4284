/* view_distributions.c - the scores at four d_k, and their variance over d_k.
 *
 * state: page 0 everything, 1 .. 4 one panel alone, 5 the variance alone; zoom
 * 1 one axis of scores for all panels; pool 1 one height for both series;
 * quantity 1 the normal approximation on (without an exact density: off). */
#include "panels_distributions.h"

#include <inttypes.h>
#include <stdio.h>

enum { HEAD_H = 2, PAGE_VARIANCE = AV_DISTRIBUTIONS + 1, PAGES, SLOPES_H = 2, GAP = 1, PIECES = 4, LINE = 64 };

enum { TABLE_FROM_W = 120 }; /* from here on the variance has its table beside it */

/* ---- where things stand ---------------------------------------------------------- */

/* A panel that is not drawn has height 0. */
struct places {
    struct av_rect panels[AV_DISTRIBUTIONS];
    struct av_rect variance, slopes;
    bool alone; /* one panel has all the room */
};

/* How the four stand: columns of panels, and what they want of a rectangle. */
static const struct grid {
    int columns, w, h; /* least size of the body for it; h 0: any */
} GRIDS[] = {
    { 4, 4 * (AV_DISTRIBUTION_W + GAP), 0 },
    { 2, 2 * (AV_DISTRIBUTION_W + GAP), 2 * AV_DISTRIBUTION_H },
    { 1, 0, 4 * AV_DISTRIBUTION_H },
};

enum { ROOMY_H = 40 }; /* from here on two by two looks better than four beside each other */

/* The number of columns, 0: there is no room for four. */
static int columns_of(struct av_rect body)
{
    for (size_t i = 0; i < sizeof GRIDS / sizeof *GRIDS; i++) {
        const struct grid *g = &GRIDS[i];
        if (body.w >= g->w && body.h >= g->h && !(g->columns == 4 && body.h >= ROOMY_H)) {
            return g->columns;
        }
    }
    return 0;
}

/* The variance gets what the panels can spare: a plot, or else two lines. */
static void place_all(struct places *p, struct av_rect body, int columns)
{
    int rows = AV_DISTRIBUTIONS / columns;
    int spare = body.h - rows * (AV_DISTRIBUTION_H + 3);
    int variance = body.h / (rows + 1) < AV_VARIANCE_H ? AV_VARIANCE_H : body.h / (rows + 1);
    bool plot = spare >= AV_VARIANCE_H;
    bool words = !plot && body.h - rows * AV_DISTRIBUTION_H >= SLOPES_H;
    int below = plot ? variance : words ? SLOPES_H : 0;
    int h = (body.h - below) / rows;
    int w = (body.w - (columns - 1) * GAP) / columns;
    for (int i = 0; i < AV_DISTRIBUTIONS; i++) {
        p->panels[i] = (struct av_rect){ body.x + i % columns * (w + GAP), body.y + i / columns * h, w, h };
    }
    struct av_rect rest = { body.x, body.y + rows * h, body.w, body.h - rows * h };
    p->variance = plot ? rest : p->variance;
    p->slopes = words ? rest : p->slopes;
}

static struct places place(struct av_rect r, int page)
{
    struct places p = { .variance = { r.x, r.y, 0, 0 }, .slopes = { r.x, r.y, 0, 0 } };
    struct av_rect body = { r.x + 1, r.y + HEAD_H, r.w - 1, r.h - HEAD_H };
    int columns = columns_of(body);
    p.alone = page > 0 || columns == 0;
    if (page == PAGE_VARIANCE) {
        p.variance = body;
    } else if (p.alone) {
        p.panels[page > 0 ? page - 1 : 0] = body;
    } else {
        place_all(&p, body, columns);
    }
    return p;
}

/* ---- the lines at the top --------------------------------------------------------- */

static void draw_header(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_params *p = &ctx->snapshot->params;
    const struct av_distributions *d = ctx->study;
    char title[AV_TITLE_MAX];
    char text[LINE];
    char pieces[PIECES][AV_PIECE_MAX];
    bool done = d == NULL || ctx->progress >= 1;
    if (done) {
        snprintf(text, sizeof text, "%" PRId64 " pairs", p->samples);
    } else {
        snprintf(text, sizeof text, "%zu of %zu pairs so far", d->counted, d->samples);
    }
    size_t n = 0;
    if (ctx->snapshot->from_files) {
        snprintf(pieces[n++], AV_PIECE_MAX, AV_NOT_THE_FILES);
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("dist")->choices[p->dist]);
    snprintf(pieces[n++], AV_PIECE_MAX, "seed %" PRIu64, p->seed);
    snprintf(pieces[n++], AV_PIECE_MAX, "mean, var %s se (theory)", c->ascii ? "+-" : "±");
    av_panel_title(title, "distributions", ctx->state->page, PAGES);
    int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    int x = av_plot_fit(c, r.x + 1, right, r.y, done ? AV_ROLE_TITLE : AV_ROLE_SELECT, text) + 3;
    av_panel_pieces(c, x, right, r.y, pieces, n);
}

/* Without an exact density the normal one stands in for it. */
static bool normal_is_on(const struct av_view_context *ctx)
{
    const struct av_distributions *d = ctx->study;
    return (ctx->state->quantity != 0) == d->has_exact;
}

/* A key and what it is about, when both fit; returns the column behind. */
static int draw_key(struct av_canvas *c, int x, int right, int y, const char *key, const char *text)
{
    int end = av_plot_fit(c, x + 2, right, y, AV_ROLE_DIM, text);
    if (end == x + 2) {
        return x;
    }
    av_canvas_text(c, x, y, AV_ROLE_KEY, key);
    return end + 2;
}

/* What the glyphs are, and what of the drawing is not to be compared. */
static void draw_note(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_distributions *d = ctx->study;
    const struct av_view_state *s = ctx->state;
    int right = r.x + r.w;
    int x = r.x + 1;
    for (int on = 1; on >= 0; on--) {
        struct av_look look = av_look_scale(on == 1);
        x = av_panel_legend(c, x, right, r.y, look.fill, look.name);
    }
    if (d->has_exact) {
        x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_CURVE, AV_ROLE_CURVE }, "exact");
    }
    if (normal_is_on(ctx)) {
        x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_NORMAL, AV_ROLE_CURVE }, "normal");
    }
    x = draw_key(c, x, right, r.y, "y", s->pool != 0 ? "one height" : "heights differ");
    x = draw_key(c, x, right, r.y, "x", s->zoom != 0 ? "one axis" : "axes differ");
    draw_key(c, x, right, r.y, "g", "normal");
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_distributions *d = ctx->study;
    const struct av_view_state *s = ctx->state;
    struct av_rect clip = av_plot_enter(c, r);
    r = av_panel_unused(c, r, ctx->snapshot, "plain scores in f64", false);
    draw_header(c, r, ctx);
    if (d == NULL) {
        av_plot_fit(c, r.x + 1, r.x + r.w, r.y + 1, AV_ROLE_DIM, "nothing is measured yet");
        av_canvas_clip(c, clip);
        return;
    }
    struct places p = place(r, s->page);
    draw_note(c, (struct av_rect){ r.x, r.y + 1, r.w - 1, 1 }, ctx);
    struct av_distribution_options options = { s->zoom != 0, s->pool != 0, normal_is_on(ctx), s->page != 0 };
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        av_panel_distribution(c, p.panels[i], d, i, &options);
    }
    av_panel_variance(c, p.variance, d, p.alone || r.w >= TABLE_FROM_W);
    av_panel_variance_slopes(c, p.slopes, d);
    av_canvas_clip(c, clip);
}

/* ---- what the user does ------------------------------------------------------------ */

static void next_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + 1) % PAGES;
}

static void previous_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + PAGES - 1) % PAGES;
}

static void toggle_axis(struct av_view_edit *e)
{
    e->state->zoom = !e->state->zoom;
    e->say = e->state->zoom ? "one axis of scores for all panels" : "each panel has its own axis of scores";
}

static void toggle_height(struct av_view_edit *e)
{
    e->state->pool = !e->state->pool;
    e->say = e->state->pool ? "scaled and unscaled densities on one height" : "each density as high as its panel";
}

static void toggle_normal(struct av_view_edit *e)
{
    e->state->quantity = !e->state->quantity;
}

/* A click enlarges a panel, the next one brings all back. */
static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    struct places p = place(av_panel_used(r, e->snapshot, false), e->state->page);
    const struct av_rect at[] = { p.panels[0], p.panels[1], p.panels[2], p.panels[3], p.variance };
    int page = 0;
    for (int i = 0; i < PAGE_VARIANCE && e->state->page == 0; i++) {
        bool inside = x >= at[i].x && x < at[i].x + at[i].w && y >= at[i].y && y < at[i].y + at[i].h;
        page = inside ? i + 1 : page;
    }
    e->state->page = page;
}

static const struct av_view_action actions[] = {
    { "v", "page-next", "all at once, each panel alone, the variance alone", next_page },
    { "V", "page-previous", "the page before", previous_page },
    { "x", "axes", "one axis of scores for all panels, or one each", toggle_axis },
    { "y", "heights", "both series on one height, or each as high as the panel", toggle_height },
    { "g", "normal", "the normal approximation, or not", toggle_normal },
    { NULL, NULL, NULL, NULL },
};

static const char *const listens[] = { "samples", "bins",   "d_k_1",  "d_k_2", "d_k_3",    "d_k_4", "dist", "q_std",
                                       "k_std",   "q_mean", "k_mean", "corr",  "exponent", "seed",  NULL };

static const char *const about[] = {
    "Histograms of the scores q·k of independent pairs of a query and a key, at",
    "four d_k, and of the same scores times d_k^-exponent. A smaller d_k takes the",
    "first columns of the same pairs.",
    "When entries have mean 0 and variance 1, the scores spread as sqrt(d_k);",
    "divided by it they have variance 1 at every d_k.",
    "Scaled and unscaled fill the height of a panel each, so their heights do not",
    "compare: the left margin tells the density at the top, of each by its glyph. A",
    "column of the screen shows the highest of the bins that it covers; over a bar",
    "of unscaled scores, scaled ones end at the nearest whole cell.",
    "m, v, kurt: mean, variance and excess kurtosis where room is scarce.",
    "• is the exact density, known for normal entries of mean 0 that are not",
    "correlated; × the normal density of the mean and variance of theory.",
    "se is one standard error, from leaving out one of 50 groups of pairs at a",
    "time; off by is the distance from theory in standard errors.",
    "Below, variance over d_k: on logarithmic axes a power of d_k is a straight",
    "line, and its slope is the power. Points are measured, dots are theory.",
    NULL,
};

const struct av_view av_view_distributions = {
    .name = "distributions",
    .title = "scores at four d_k, scaled and unscaled, and their variance over d_k",
    .order = 60,
    .study = "distributions",
    .listens = listens,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
