/* panel_heads_title.c - the first line of the view `heads`: what it shows, and of what. */
#include "panels_heads.h"

#include <stdio.h>

enum { PIECES = 16 };

/* The layer whose heads have the most queries, counted or left out. */
static const struct av_source_layer *longest(const struct av_source *source)
{
    const struct av_source_layer *most = &source->layers[0];
    for (size_t i = 1; i < source->layer_count; i++) {
        const struct av_source_layer *l = &source->layers[i];
        most = l->n_q + l->left_out > most->n_q + most->left_out ? l : most;
    }
    return most;
}

/* "the last 32 of 131072 queries" when not all are looked at; returns whether it is said. */
static bool tell_queries(char piece[AV_PIECE_MAX], const struct av_heads *h)
{
    size_t n_q = (size_t)h->params.n_q, left_out = 0;
    if (h->source != NULL) {
        n_q = longest(h->source)->n_q;
        left_out = longest(h->source)->left_out;
    }
    size_t queries = n_q < AV_HEADS_QUERIES ? n_q : AV_HEADS_QUERIES;
    if (queries == n_q + left_out) {
        return false;
    }
    if (left_out > 0 && n_q > queries) {
        snprintf(piece, AV_PIECE_MAX, "%zu of the last %zu queries", queries, n_q);
    } else {
        snprintf(piece, AV_PIECE_MAX, "%s%zu of %zu queries", left_out > 0 ? "the last " : "", queries, n_q + left_out);
    }
    return true;
}

/* "2 of 5 layers, more below": what of the grid is in sight; returns whether it is said. */
static bool tell_sight(char piece[AV_PIECE_MAX], const struct av_heads *h, const struct av_heads_grid *g)
{
    bool above = g->row > 0, below = g->row + g->down < g->rows;
    bool left = g->col > 0, right = g->col + g->across < g->cols;
    const char *of = g->rows == h->layers ? "layers" : "rows";
    if (above || below) {
        snprintf(piece, AV_PIECE_MAX, "%zu of %zu %s, more %s", g->down, g->rows, of,
                 !above   ? "below"
                 : !below ? "above"
                          : "↑↓");
    } else if (left || right) {
        snprintf(piece, AV_PIECE_MAX, "%zu of %zu columns, more %s", g->across, g->cols,
                 !left    ? "right"
                 : !right ? "left"
                          : "← →");
    }
    return above || below || left || right;
}

/* What it is of: fills the pieces, the most telling first; returns their number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_view_context *ctx,
                          const struct av_heads_grid *g)
{
    static const char *const sorted[AV_HEADS_SORTINGS] = { "", "largest first", "smallest first" };
    const struct av_heads *h = ctx->study;
    const struct av_params *p = &h->params;
    size_t n = g != NULL ? tell_sight(pieces[0], h, g) : 0;
    if (h->source == NULL && h->all == 1) {
        snprintf(pieces[n++], AV_PIECE_MAX, "n_head is 1");
    }
    if (ctx->state->page == 0 && ctx->state->col != AV_HEADS_IN_PLACE) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", sorted[ctx->state->col]);
    }
    if (h->done < h->count) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu measured", h->done);
    } else if (h->diagnoses && h->diagnosed < h->count) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu diagnosed", h->diagnosed);
    }
    if (h->count < h->all) {
        snprintf(pieces[n++], AV_PIECE_MAX, "the first %zu", h->count);
    }
    n += tell_queries(pieces[n], h);
    if (h->source != NULL) {
        n += av_panel_sequence(pieces[n], h->source, true);
    }
    n += av_heads_way(pieces + n, h);
    if (p->mask == AV_MASK_CAUSAL) {
        snprintf(pieces[n++], AV_PIECE_MAX, "causal");
    }
    if (p->dtype != 0) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("dtype")->choices[p->dtype]);
    }
    if (h->source != NULL) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", h->source->name);
    } else {
        snprintf(pieces[n++], AV_PIECE_MAX, "sampled, seed %llu", (unsigned long long)p->seed);
    }
    return n;
}

void av_panel_heads_title(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                          const struct av_rect *body, const struct av_heads_look *look)
{
    const struct av_heads *h = ctx->study;
    char pieces[PIECES][AV_PIECE_MAX];
    char title[AV_TITLE_MAX];
    char text[64];
    struct av_heads_order order;
    struct av_heads_grid g;
    if (body != NULL) {
        av_heads_sort(&order, h, look);
        g = av_heads_layout(*body, h, look, &order);
    }
    size_t n = make_pieces(pieces, ctx, body != NULL ? &g : NULL);
    av_panel_title(title, "heads", ctx->state->page, AV_HEADS_PAGES);
    int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    snprintf(text, sizeof text, "%zu head%s, %zu layer%s", h->all, h->all == 1 ? "" : "s", h->layers,
             h->layers == 1 ? "" : "s");
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, h->layers > 1 || h->source != NULL ? text : "");
    x = x > r.x + 1 ? x + 2 : x;
    if (ctx->state->page == 0) { /* page 2 has it in the title of its matrix */
        x = av_plot_fit(c, x, right, r.y, AV_ROLE_TEXT, av_heads_columns[ctx->state->quantity].words) + 2;
    }
    av_panel_pieces(c, x, right, r.y, pieces, n);
}
