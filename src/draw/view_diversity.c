/* view_diversity.c - how far several heads are from each other, and what makes them alike.
 *
 * Use of the view's state: page 0 is the pairs of heads, with the curves below
 * where there is room; page 1 the curves alone. */
#include "panels_diversity.h"

#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>

enum { PAGES = 2, PIECES = 12, WORDS_H = 2, BESIDE_LEAST_W = 76 };

/* ---- The first lines ---------------------------------------------------------------- */

/* What was measured: fills the pieces, the most telling first; returns their
 * number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_diversity *d, bool files)
{
    const struct av_params *p = &d->params;
    char text[AV_VARIANT_TEXT_MAX];
    size_t n = 0;
    if (d->heads < (size_t)p->n_head) {
        snprintf(pieces[n++], AV_PIECE_MAX, "the first of %lld", (long long)p->n_head);
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_variant_format(p->variant, text));
    if (p->scale == 0) {
        snprintf(pieces[n++], AV_PIECE_MAX, "scale off");
    }
    if (p->temperature < 1 || p->temperature > 1) {
        char number[AV_NUMBER_MAX];
        snprintf(pieces[n++], AV_PIECE_MAX, "T %s", av_plot_short(number, p->temperature, 4));
    }
    if (!d->simplex) {
        snprintf(pieces[n++], AV_PIECE_MAX, "of |w| / sum |w|");
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%lld×%lld", (long long)p->n_q, (long long)p->n_k);
    if (d->rows < (size_t)p->n_q) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu queries measured", d->rows);
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "d_k %lld", (long long)p->d_k);
    if (p->dtype != 0) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("dtype")->choices[p->dtype]);
    }
    if (p->mask == AV_MASK_CAUSAL) {
        snprintf(pieces[n++], AV_PIECE_MAX, "causal");
    }
    if (!files) {
        snprintf(pieces[n++], AV_PIECE_MAX, "seed %llu", (unsigned long long)p->seed);
    }
    return n;
}

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_diversity *d = ctx->study;
    char title[AV_TITLE_MAX];
    char text[64];
    char pieces[PIECES][AV_PIECE_MAX];
    av_panel_title(title, "diversity", ctx->state->page, PAGES);
    const int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    snprintf(text, sizeof text, "%zu head%s", d->heads, d->heads == 1 ? "" : "s");
    const int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, text) + 3;
    av_panel_pieces(c, x, right, r.y, pieces, make_pieces(pieces, d, ctx->snapshot->from_files));
}

/* "mean divergence 0.213 nats, 31% of ln 2  same winner: 3% of rows (chance 3%)", and what that means. */
static void draw_words(struct av_canvas *c, struct av_rect r, const struct av_diversity *d)
{
    char pieces[3][AV_PIECE_MAX];
    char number[AV_NUMBER_MAX];
    char share[AV_NUMBER_MAX];
    char chance[AV_NUMBER_MAX];
    if (!d->known) {
        av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_DIM, "mean divergence …");
        return;
    }
    av_plot_number(number, d->divergence, 3);
    av_panel_percent(share, d->divergence / AV_DIVERSITY_MOST);
    snprintf(pieces[0], AV_PIECE_MAX, "mean divergence %s nats, %s of ln 2", number, share);
    av_panel_percent(share, d->shared);
    snprintf(pieces[1], AV_PIECE_MAX, "same winner: %s of rows", share);
    snprintf(pieces[2], AV_PIECE_MAX, "(chance %s)", av_panel_percent(chance, d->chance));
    const size_t count = isnan(d->chance) ? 2 : 3;
    int x = r.x;
    int from = x - 1;
    for (size_t i = 0; i < count && x > from; i++) { /* up to the first that does not fit */
        from = x + (i == 1 ? 2 : 1);
        x = av_plot_fit(c, from, r.x + r.w, r.y, AV_ROLE_TEXT, pieces[i]);
    }
    av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + 1, r.w - 1, r.h - 1 }, AV_ROLE_MESSAGE, av_diversity_words(d));
}

/* ---- Pages -------------------------------------------------------------------------- */

/* Lines of the curves: their names, and both beside each other where there is
 * room, else one below the other. */
static int curves_least(struct av_rect r)
{
    return 1 + (r.w >= BESIDE_LEAST_W ? 1 : AV_DIVERSITY_OVERS) * AV_DIVERSITY_CURVE_LEAST_H;
}

static void draw_curves(struct av_canvas *c, struct av_rect r, const struct av_diversity *d)
{
    const bool beside = r.w >= BESIDE_LEAST_W;
    av_panel_diversity_names(c, r);
    r.y++;
    r.h--;
    for (enum av_diversity_over over = 0; over < AV_DIVERSITY_OVERS; over++) {
        const int k = (int)over;
        const int w = beside ? r.w / 2 : r.w;
        const int h = beside ? r.h : r.h / 2;
        av_panel_diversity_curve(c, (struct av_rect){ r.x + (beside ? k * w : 0), r.y + (beside ? 0 : k * h), w, h }, d,
                                 over);
    }
}

static void draw_pairs(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_diversity *d = ctx->study;
    const int least = AV_DIVERSITY_ABOVE + (int)d->heads + AV_DIVERSITY_BELOW;
    const bool both = r.h >= least + curves_least(r);
    struct av_rect pairs = r;
    if (both) { /* what is left is for both, in equal parts */
        pairs.h = least + (r.h - least - curves_least(r)) / 2;
    }
    const int used = av_panel_diversity_heads(c, pairs, d, (size_t)ctx->snapshot->params.head);
    if (both) {
        draw_curves(c, (struct av_rect){ r.x, r.y + used, r.w, r.h - used }, d);
    }
}

static const char *const alone[] = {
    "one head: there is nothing to compare it with. n_head is a parameter: :n_head=8 gives eight heads, each with "
    "queries and keys of its own",
    "the files hold one head: there is nothing to compare it with",
};

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_diversity *d = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    struct av_rect below = { r.x, r.y + 1, r.w, r.h - 1 };
    if (d == NULL) {
        char why[AV_LACK_MAX];
        av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, "diversity");
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + 1, r.w - 1, r.h - 1 }, AV_ROLE_DIM,
                     av_panel_no_study(why, ctx->snapshot));
    } else if (d->heads < 2) {
        draw_head(c, r, ctx);
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + 2, r.w - 2, r.h - 2 }, AV_ROLE_TEXT,
                     alone[ctx->snapshot->from_files]);
    } else {
        draw_head(c, r, ctx);
        if (below.h > WORDS_H + AV_DIVERSITY_CURVE_LEAST_H) {
            draw_words(c, (struct av_rect){ below.x, below.y, below.w, WORDS_H }, d);
            below.y += WORDS_H;
            below.h -= WORDS_H;
        }
        if (ctx->state->page == 0) {
            draw_pairs(c, below, ctx);
        } else {
            draw_curves(c, below, d);
        }
    }
    av_canvas_clip(c, clip);
}

/* ---- Actions ------------------------------------------------------------------------- */

static void next_page(struct av_view_edit *e)
{
    e->state->page = !e->state->page;
}

static const struct av_view_action actions[] = {
    { "v", "page", "pairs of heads, or the curves alone", next_page },
    { NULL, NULL, NULL, NULL },
};

static const char *const about[] = {
    "Several heads (n_head, or all of a file's), each with queries and keys of its own.",
    "How far two are apart is the Jensen-Shannon divergence of their weights, row by",
    "row: 0 when every key has the same weight in both, ln 2 when they share no key.",
    "Beside the matrix: each head's mean entropy over ln n, mean largest weight, and",
    "mean divergence to all others. Same winner: in how many rows two heads give the",
    "largest weight to the same key.",
    "Heads become alike in two ways. Flat: logits times a small factor (or a high",
    "temperature) make every weight 1/n, whatever the head; entropy is 1. Saturated on",
    "one key: raise its logit, and it takes all the weight in every head; entropy is 0.",
    "Large logits alone do the opposite: each row of each head has a winner of its own,",
    "and the divergence nears ln 2 times the share of rows whose winners differ.",
    "Where weights are no distribution, |w| / sum |w| is compared.",
    NULL,
};

static const char *const listens[] = { "n_head",   "head",        "d_k",         "n_q",         "n_k",        "scale",
                                       "exponent", "temperature", "offset",      "key",         "key_offset", "q_std",
                                       "k_std",    "q_mean",      "k_mean",      "corr",        "dist",       "mask",
                                       "variant",  "dtype",       "scale_order", "softmax_f32", "smooth_k",   "layer",
                                       "from",     "seed",        AV_ALL_OWNED,  NULL };

const struct av_view av_view_diversity = {
    .name = "diversity",
    .title = "several heads: how far they are from each other, and what makes them alike",
    .order = 140,
    .study = "diversity",
    .listens = listens,
    .draw = draw,
    .actions = actions,
    .about = about,
};
