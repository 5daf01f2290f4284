/* view_derivation.c - the derivation of the scale, line by line, and where its
 * assumptions come from.
 *
 * Use of the view's state: page 0 the chain, 1 the origin of the variance,
 * 2 what keeps it at 1. */
#include "panels_derivation.h"

typedef void (*panel)(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

static const panel pages[] = { av_panel_chain, av_panel_origin, av_panel_remedies };

enum { PAGES = sizeof pages / sizeof *pages };

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    enum { WIDEST = 104 }; /* numbers stay near what they belong to */
    int page = ctx->state->page;
    r = page > 0 ? av_panel_unused(c, r, ctx->snapshot, "plain scores in f64", false) : r;
    struct av_rect body = { r.x, r.y + 1, r.w < WIDEST ? r.w : WIDEST, r.h - 1 };
    char title[AV_TITLE_MAX];
    av_panel_title(title, "derivation", page, PAGES);
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, 1 }, ctx, title);
    if (page > 0 && ctx->study == NULL) {
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + 1, r.w - 1, r.h - 1 }, AV_ROLE_DIM,
                     "There is not enough memory to measure this. v: next page.");
        return;
    }
    pages[page](c, body, ctx);
}

static void next_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + 1) % PAGES;
}

static void previous_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + PAGES - 1) % PAGES;
}

static const struct av_view_action actions[] = {
    { "v", "page-next", "the chain, the origin of the variance, what keeps it at 1", next_page },
    { "V", "page-previous", "the page before", previous_page },
    { NULL, NULL, NULL, NULL },
};

static const char *const listens[] = { "d_k",     "n_q",        "n_k",    "scale",      "exponent",   "temperature",
                                       "offset",  "key_offset", "key",    "q_std",      "k_std",      "q_mean",
                                       "k_mean",  "corr",       "dist",   "mask",       "seed",       "head",
                                       "logits",  "d_model",    "init",   "layer_norm", "input_mean", "input_std",
                                       "variant", "dtype",      "n_head", "layer",      "from",       NULL };

/* What the study of the origin depends on, and page 3 beside it. */
static const char *const origin_listens[] = { "d_k",        "d_model",   "init", "layer_norm",
                                              "input_mean", "input_std", "seed", NULL };
static const char *const remedies_listens[] = { "d_k",        "scale",      "exponent",  "d_model", "init",
                                                "layer_norm", "input_mean", "input_std", "seed",    NULL };
static const char *const *const page_listens[] = { origin_listens, remedies_listens, NULL };

static const char *const about[] = {
    "Page 1: the chain from the entries of q and k to the gradient. Break an",
    "assumption (q_std 2, corr 0.3, dist laplace, k_mean 0.5, exponent 1): the lines",
    "that need it turn to ✗ with the corrected formula and its true value, the",
    "others stay.",
    "± se is one standard error of the measured value; ✓ at the right: measured and",
    "true value agree within 4.5 of them, ! they do not.",
    "Page 2: q and k as they come out of a layer: inputs x of input_mean and",
    "input_std, learned matrices by four kinds of init, with and without LayerNorm.",
    "Page 3: what the variance of the logits is when scaling, normalisation or",
    "initialisation alone is missing.",
    NULL,
};

const struct av_view av_view_derivation = {
    .name = "derivation",
    .title = "the chain from E q = 0 to the gradient, each line measured; where the variance comes from",
    .order = 80,
    .needs = AV_NEED_OTHER | AV_NEED_THEORY,
    .study = "origin",
    .listens = listens,
    .page_listens = page_listens,
    .draw = draw,
    .actions = actions,
    .about = about,
};
