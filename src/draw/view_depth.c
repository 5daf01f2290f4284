/* view_depth.c - a stack of layers at initialisation: gradients and tokens, layer by layer.
 *
 * Uses of the view's state: page 0 is curves over the layers, page 1 the table
 * of seven stacks; row is the stack shown, 0: the parameters' own, else the
 * table's row; col is the cursor's layer; quantity and pool are what the upper
 * and the lower curve are of. */
#include "panels_depth.h"

#include <stdio.h>

enum {
    PAGES = 2,
    PIECES = 10,
    HEAD_H = 4,         /* the header, the names of the marks, a line of words a twin */
    LOWER_LEAST_H = 16, /* of both curves together */
    LAYER_LEAST_H = 8,
    FURTHER_LEAST_H = 10, /* below the values of a layer */
    CURVE_LEAST_W = 40    /* beside the values of a layer */
};

static const enum av_depth_field upper[] = { AV_DEPTH_GRAD_QK, AV_DEPTH_GRAD_Q,   AV_DEPTH_GRAD_K, AV_DEPTH_GRAD_V,
                                             AV_DEPTH_GRAD_O,  AV_DEPTH_GRAD_MLP, AV_DEPTH_GRAD_X };
static const enum av_depth_field lower[] = { AV_DEPTH_COSINE, AV_DEPTH_SIZE, AV_DEPTH_LOGIT_STD,
                                             AV_DEPTH_ENTROPY_NORM };

enum { UPPER = sizeof upper / sizeof upper[0], LOWER = sizeof lower / sizeof lower[0] };

/* ---- What is shown ------------------------------------------------------------- */

static struct av_depth_shown make_shown(const struct av_view_context *ctx)
{
    const struct av_depth_study *study = ctx->study;
    struct av_depth_shown shown = { { study->twins[0], study->twins[1] }, ctx->snapshot->params.scale != 0, 0 };
    const int row = ctx->state->row;
    if (row > 0 && row <= AV_DEPTH_STACKS) {
        shown.now = av_depth_recipes[row - 1].scale;
        shown.cells[shown.now] = study->table[row - 1][AV_DEPTH_DEPTHS - 1];
        shown.cells[!shown.now] = NULL;
    }
    const size_t last = shown.cells[shown.now]->config.layers - 1;
    const int col = ctx->state->col;
    shown.layer = col < 0 ? 0 : (size_t)col < last ? (size_t)col : last;
    return shown;
}

/* ---- The first lines --------------------------------------------------------------- */

static const char *residual_text(const struct av_depth_config *c)
{
    return !c->residual        ? (c->residual_scale ? "no residual, 1/sqrt(2L)" : "no residual")
           : c->residual_scale ? "residual, 1/sqrt(2L)"
                               : "residual";
}

/* What was computed: fills the pieces, the most telling first; returns their
 * number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_depth_cell *cell)
{
    static const char *const norms[AV_NORM_COUNT] = { "no norm", "pre-norm", "post-norm" };
    const struct av_depth_config *c = &cell->config;
    char number[AV_NUMBER_MAX];
    size_t n = 0;
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", residual_text(c));
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", norms[c->norm]);
    snprintf(pieces[n++], AV_PIECE_MAX, "init %s", av_param_find("init")->choices[c->init]);
    if (c->mlp) {
        snprintf(pieces[n++], AV_PIECE_MAX, "mlp");
    }
    if (c->single) {
        snprintf(pieces[n++], AV_PIECE_MAX, "f32");
    }
    if (c->clip > 0) {
        snprintf(pieces[n++], AV_PIECE_MAX, "clip %s", av_plot_short(number, c->clip, 4));
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%zu of %d seeds", cell->done, AV_DEPTH_SEEDS);
    snprintf(pieces[n++], AV_PIECE_MAX, "%zu tokens", c->tokens);
    snprintf(pieces[n++], AV_PIECE_MAX, "%zu→%zu", c->d_model, c->d_k);
    return n;
}

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    char title[AV_TITLE_MAX];
    av_panel_title(title, "depth", ctx->state->page, PAGES);
    int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    if (ctx->state->page == 0) {
        const struct av_depth_shown shown = make_shown(ctx);
        const struct av_depth_cell *cell = shown.cells[shown.now];
        char pieces[PIECES][AV_PIECE_MAX];
        char text[64];
        snprintf(text, sizeof text, "%zu layers", cell->config.layers);
        int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, text) + 2;
        av_panel_pieces(c, x, right, r.y, pieces, make_pieces(pieces, cell));
    } else {
        av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, "seven stacks, init unit, medians of five seeds");
    }
}

/* "● scaled now  ◇ unscaled", and which of the seven it is. */
static void draw_names(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                       const struct av_depth_shown *shown)
{
    char text[96];
    int x = r.x + 1;
    for (int k = 0; k < 2; k++) {
        const bool scale = k == 0 ? shown->now : !shown->now;
        const struct av_look look = av_look_scale(scale);
        if (shown->cells[scale] != NULL) {
            snprintf(text, sizeof text, "%s%s", look.name, k == 0 && shown->cells[!scale] != NULL ? " now" : "");
            x = av_panel_legend(c, x, r.x + r.w, r.y, (struct av_fill){ av_depth_mark(shown, scale), look.fill.role },
                                text);
        }
    }
    if (ctx->state->row > 0) {
        snprintf(text, sizeof text, "stack %d of %d: %s", ctx->state->row, AV_DEPTH_STACKS,
                 av_depth_recipes[ctx->state->row - 1].name);
        av_plot_fit(c, x + 1, r.x + r.w, r.y, AV_ROLE_SELECT, text);
    } else {
        av_plot_fit(c, x + 1, r.x + r.w, r.y, AV_ROLE_DIM, "as the parameters have it");
    }
}

static void draw_words(struct av_canvas *c, struct av_rect r, const struct av_depth_shown *shown)
{
    char words[AV_DEPTH_WORDS];
    for (int k = 0; k < 2; k++) {
        const bool scale = k == 0 ? shown->now : !shown->now;
        if (shown->cells[scale] != NULL) {
            const enum av_role role = av_look_scale(scale).fill.role;
            av_canvas_put(c, r.x + 1, r.y, av_depth_mark(shown, scale), role);
            av_plot_wrap(c, (struct av_rect){ r.x + 3, r.y, r.w - 3, 1 }, role,
                         av_depth_words(words, shown->cells[scale]));
            r.y++;
        }
    }
}

/* The notes, one a line, as many as leave both curves in; returns the lines. */
static int draw_notes(struct av_canvas *c, struct av_rect r, const struct av_depth_shown *shown)
{
    char notes[AV_DEPTH_NOTES][AV_PIECE_MAX];
    const int n = (int)av_depth_notes(notes, shown);
    int y = 0;
    for (; y < n && r.h - y > LOWER_LEAST_H; y++) {
        av_plot_fit(c, r.x + 3, r.x + r.w, r.y + y, AV_ROLE_DIM, notes[y]);
    }
    return y;
}

/* ---- Pages -------------------------------------------------------------------------- */

static void draw_curves(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_depth_shown shown = make_shown(ctx);
    if (r.h > HEAD_H + AV_DEPTH_CURVE_LEAST_H) {
        const int words = (shown.cells[0] != NULL) + (shown.cells[1] != NULL);
        int head = 1 + words;
        draw_names(c, (struct av_rect){ r.x, r.y, r.w, 1 }, ctx, &shown);
        draw_words(c, (struct av_rect){ r.x, r.y + 1, r.w - 1, words }, &shown);
        head += draw_notes(c, (struct av_rect){ r.x, r.y + head, r.w, r.h - head }, &shown);
        r.y += head;
        r.h -= head;
    }
    if (r.w >= CURVE_LEAST_W + AV_DEPTH_LAYER_W && r.h >= LAYER_LEAST_H) {
        struct av_rect right = { r.x + r.w - AV_DEPTH_LAYER_W, r.y, AV_DEPTH_LAYER_W, r.h };
        r.w -= AV_DEPTH_LAYER_W;
        av_panel_depth_layer(c, right, &shown);
        right.y += AV_DEPTH_LAYER_H;
        right.h -= AV_DEPTH_LAYER_H;
        if (right.h >= FURTHER_LEAST_H) {
            av_panel_depth_curve(c, right, &shown, lower[(ctx->state->pool + 1) % LOWER], true);
        }
    }
    const int below = r.h >= LOWER_LEAST_H ? r.h * 2 / 5 : 0;
    av_panel_depth_curve(c, (struct av_rect){ r.x, r.y, r.w, r.h - below }, &shown, upper[ctx->state->quantity % UPPER],
                         below == 0);
    av_panel_depth_curve(c, (struct av_rect){ r.x, r.y + r.h - below, r.w, below }, &shown,
                         lower[ctx->state->pool % LOWER], true);
}

static void draw_table(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const int row = ctx->state->row;
    av_panel_depth_table(c, r, ctx->study, row > 0 ? (size_t)row - 1 : AV_DEPTH_STACKS);
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    struct av_rect clip = av_plot_enter(c, r);
    r = av_panel_unused(c, r, ctx->snapshot, "plain softmax", false);
    struct av_rect below = { r.x, r.y + 1, r.w, r.h - 1 };
    if (ctx->study == NULL) {
        av_plot_wrap(c, r, AV_ROLE_DIM, "depth: nothing is computed");
    } else {
        draw_head(c, r, ctx);
        (ctx->state->page == 0 ? draw_curves : draw_table)(c, below, ctx);
    }
    av_canvas_clip(c, clip);
}

/* ---- Actions ---------------------------------------------------------------------------- */

static void next_page(struct av_view_edit *e)
{
    e->state->page = !e->state->page;
}

/* The keys of the curves say so where there are none. */
static bool on_curves(struct av_view_edit *e)
{
    e->say = e->state->page == 0 ? NULL : "the table has no curves; v goes back to them";
    return e->state->page == 0;
}

static void move_layer(struct av_view_edit *e, int by)
{
    if (on_curves(e)) {
        const int last = (int)e->snapshot->params.layers - 1;
        const int at = e->state->col < last ? e->state->col : last;
        const int to = at + by;
        e->state->col = to < 0 ? 0 : to < last ? to : last;
    }
}

static void next_layer(struct av_view_edit *e)
{
    move_layer(e, 1);
}

static void previous_layer(struct av_view_edit *e)
{
    move_layer(e, -1);
}

static void next_stack(struct av_view_edit *e)
{
    e->state->row = (e->state->row + 1) % (AV_DEPTH_STACKS + 1);
}

static void previous_stack(struct av_view_edit *e)
{
    e->state->row = (e->state->row + AV_DEPTH_STACKS) % (AV_DEPTH_STACKS + 1);
}

static void next_gradient(struct av_view_edit *e)
{
    if (on_curves(e)) {
        e->state->quantity = (e->state->quantity + 1) % UPPER;
    }
}

static void next_signal(struct av_view_edit *e)
{
    if (on_curves(e)) {
        e->state->pool = (e->state->pool + 1) % LOWER;
    }
}

static const struct av_view_action actions[] = {
    { "v", "page", "curves over the layers, or the table of seven stacks", next_page },
    { "j", "stack-next", "the next of the seven stacks, or the parameters' own", next_stack },
    { "k", "stack-previous", "the stack before", previous_stack },
    { "l", "layer-next", "the next layer, towards the top", next_layer },
    { "h", "layer-previous", "the layer before", previous_layer },
    { "y", "gradient", "which gradient the upper curve is of", next_gradient },
    { "Y", "signal", "what the lower curve is of", next_signal },
    { NULL, NULL, NULL, NULL },
};

static const char *const about[] = {
    "A stack of attention layers as it is before training: tokens go up through it,",
    "white noise comes down as the gradient. Layer 0 is the input's side. All values are",
    "medians of five seeds.",
    "Above: gradient norms, scaled and unscaled. Below: the mean cosine between tokens; at",
    "1 all tokens are alike, the stack has collapsed to rank one.",
    "Where tokens are alike the softmax passes nothing on: ~ is noise, a gradient lost in",
    "rounding, below 1e-12 (f32: 1e-7) of the terms that cancel in it. 0: every row is",
    "one-hot. !: a number too large for the arithmetic, and - what it kept from being known.",
    "The scale alone saves nothing: without residual both twins die in a few layers.",
    "Switch on residual, then norm pre, then residual_scale, and see what each does.",
    "clip bounds the norm of all gradients together; what was dead stays dead.",
    "Table: seven stacks with init unit, at layers 0, L/2 and L-1. flat: the largest",
    "gradient is at most 3 times the smallest; explodes: the first layer's is 100 times",
    "the last one's, and x's too; fades: w_q's and w_k's alone. j and k walk through them.",
    NULL,
};

static const char *const listens[] = { "scale", "layers",      "tokens",   "d_model",  "d_k",
                                       "init",  "clip",        "residual", "norm",     "residual_scale",
                                       "mlp",   "depth_dtype", "seed",     "exponent", NULL };

const struct av_view av_view_depth = {
    .name = "depth",
    .title = "gradients and rank collapse through a stack of layers at initialisation",
    .order = 110,
    .study = "depth",
    .listens = listens,
    .draw = draw,
    .actions = actions,
    .about = about,
};
