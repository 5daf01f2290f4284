/* view_precision.c - what narrower arithmetic does to the weights, and finite
 * numbers in the place of masks.
 *
 * Use of the view's state: page 0 the dtypes, 1 the masks. */
#include "attnviz/variant.h"
#include "panels_precision.h"

#include <stdio.h>

typedef void (*panel)(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

static const panel pages[] = { av_panel_precision_dtypes, av_panel_precision_masks };

enum { PAGES = sizeof pages / sizeof *pages, PIECES = 8, HEAD_H = 2, ROOMY_H = 32 };

struct av_fill av_precision_mark(enum av_severity severity)
{
    static const struct av_fill marks[] = {
        [AV_INFO] = { AV_MARK_HOLDS, AV_ROLE_GOOD },
        [AV_WARN] = { AV_MARK_ALARM, AV_ROLE_WARN },
        [AV_BAD] = { AV_MARK_BROKEN, AV_ROLE_BAD },
    };
    return marks[severity];
}

void av_precision_put(struct av_canvas *c, int x, int y, struct av_fill mark)
{
    if (c->ascii && (mark.body == AV_MARK_HOLDS || mark.body == AV_MARK_BROKEN)) {
        av_canvas_text(c, x, y, mark.role, mark.body == AV_MARK_HOLDS ? "ok" : "no");
    } else {
        av_canvas_put(c, x, y, mark.body, mark.role);
    }
}

/* How it is computed: the second line. Returns the number of pieces. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_view_context *ctx)
{
    const struct av_precision *s = ctx->study;
    const struct av_params *p = &s->params;
    char name[AV_VARIANT_TEXT_MAX];
    size_t n = 0;
    if (ctx->snapshot->from_logits) {
        snprintf(pieces[n++], AV_PIECE_MAX, "of sampled q and k, not of the logits");
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s%s", av_variant_format(p->variant, name),
             ctx->state->page == 0 ? " against f64" : "");
    snprintf(pieces[n++], AV_PIECE_MAX, "scale_order %s", p->scale_order == AV_SCALE_QUERY ? "query" : "product");
    snprintf(pieces[n++], AV_PIECE_MAX, "softmax in %s", p->softmax_f32 ? "f32" : "dtype");
    if (p->smooth_k) {
        snprintf(pieces[n++], AV_PIECE_MAX, "keys less mean");
    }
    if (ctx->progress < 1) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%.0f%%", 100 * ctx->progress);
    }
    return n;
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    enum { WIDEST = 104 }; /* numbers stay near what they belong to */
    struct av_rect clip = av_plot_enter(c, r);
    char title[AV_TITLE_MAX];
    av_panel_title(title, "precision", ctx->state->page, PAGES);
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, 1 }, ctx, title);
    if (ctx->study == NULL) {
        char why[AV_LACK_MAX];
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + 1, r.w - 1, r.h - 1 }, AV_ROLE_DIM,
                     av_panel_no_study(why, ctx->snapshot));
    } else {
        char pieces[PIECES][AV_PIECE_MAX];
        size_t n = make_pieces(pieces, ctx);
        av_panel_pieces(c, r.x + 1, r.x + r.w, r.y + 1, pieces, n);
        int head = HEAD_H + (r.h >= ROOMY_H);
        struct av_rect body = { r.x, r.y + head, r.w < WIDEST ? r.w : WIDEST, r.h - head };
        pages[ctx->state->page](c, body, ctx);
    }
    av_canvas_clip(c, clip);
}

static void next_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + 1) % PAGES;
}

static const struct av_view_action actions[] = {
    { "v", "page", "the dtypes, or numbers in the place of masks", next_page },
    { NULL, NULL, NULL, NULL },
};

static const char *const listens[] = { "d_k",         "n_q",         "n_k",      "scale",      "exponent",
                                       "temperature", "offset",      "key",      "key_offset", "query",
                                       "q_std",       "k_std",       "q_mean",   "k_mean",     "corr",
                                       "dist",        "mask",        "variant",  "dtype",      "seed",
                                       "n_head",      "head",        "layer",    "from",       AV_ALL_OWNED,
                                       "scale_order", "softmax_f32", "smooth_k", NULL };

static const char *const about[] = {
    "Page 1: the same queries and keys in every dtype, scores, logits and softmax",
    "rounded as such arithmetic rounds them, held against f64. NaN rows: a logit was",
    "infinite. argmax lost: another key weighs as much as f64's first one, or more.",
    "Gradient lost: one weight is exactly 1 and the others 0, though in truth they are",
    "not; f64 itself can do so.",
    "f16 has no number above 65504. A score beyond it is infinite, and a scale that",
    "comes after it does not help: scale_order=query multiplies q first. bf16 reaches",
    "as far as f32, with 8 bits: each rounding is off by up to 1 in 257, in f16 by 1 in",
    "2049. int8: q and k in 255 steps a row; smooth_k subtracts the mean key, which no",
    "exact weight notices. softmax_f32 makes the softmax in f32: its sum stands still at",
    "256 equal keys in bf16, at 2048 in f16. Where most rows are one-hot all dtypes",
    "agree on the weights, however far off their logits are.",
    "✓ (ok) nothing lost; ! argmax or gradient of a row lost; ✗ (no) a row is NaN;",
    "· a figure, neither good nor bad; ▸ the dtype that the other views show.",
    "Page 2: what happens when masks are numbers added to logits. -inf: it does not",
    "fit. Masked keys that get weight have won against it. A row with every key masked",
    "becomes uniform where adding rounds its logits away, NaN where it does not fit.",
    "A real mask leaves keys out, and a row without keys has no weights.",
    NULL,
};

const struct av_view av_view_precision = {
    .name = "precision",
    .title = "narrower arithmetic against f64: f32, bf16, f16, int8; numbers in the place of masks",
    .order = 130,
    .needs = 0,
    .study = "precision",
    .listens = listens,
    .draw = draw,
    .actions = actions,
    .about = about,
};
