/* view_heads.c - all heads of all layers beside each other.
 *
 * Use of the view's state: row is the head under the cursor, by its place in
 * the list; quantity the one shown and sorted by; col how it is sorted; pool what
 * a cell of a map shows; page 0 the maps, 1 numbers and names. */
#include "panels_heads.h"

#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>

enum { PAGES = 2, PIECES = 12, DETAIL_H = 3, WORDS_MAX = 1024, WORDS_H = 6, TABLE_LEAST_H = 5 };

/* ---- Where things are ------------------------------------------------------------ */

struct places {
    struct av_rect legend, body, detail; /* h 0: none */
};

static struct places place(struct av_rect r)
{
    int legend = r.h >= 8, detail = r.h >= 18 ? DETAIL_H : 0;
    int top = 1 + legend;
    int gap = r.h >= 45;
    return (struct places){ { r.x + 1, r.y + 1, r.w - 1, legend },
                            { r.x + 1, r.y + top + gap, r.w - 1, r.h - top - gap - detail },
                            { r.x + 1, r.y + r.h - detail, r.w - 2, detail } };
}

static struct av_heads_look look_of(const struct av_view_state *state, const struct av_heads *h)
{
    size_t row = state->row > 0 ? (size_t)state->row : 0;
    return (struct av_heads_look){ row < h->count ? row : h->count - 1, (enum av_head_quantity)state->quantity,
                                   (enum av_heads_sorting)state->col, (enum av_heads_cell)state->pool };
}

/* ---- The first line ---------------------------------------------------------------- */

static size_t most_queries(const struct av_heads *h)
{
    size_t most = 0;
    for (size_t i = 0; i < h->count; i++) {
        most = h->heads[i].n_q > most ? h->heads[i].n_q : most;
    }
    return most;
}

/* What it is of: fills the pieces, the most telling first; returns their number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_view_context *ctx)
{
    static const char *const sorted[AV_HEADS_SORTINGS] = { "", "sorted ↓", "sorted ↑" };
    const struct av_heads *h = ctx->study;
    const struct av_params *p = &h->params;
    char text[AV_VARIANT_TEXT_MAX], number[AV_NUMBER_MAX];
    size_t n = 0;
    if (h->source == NULL && h->all == 1) {
        snprintf(pieces[n++], AV_PIECE_MAX, "n_head is 1");
    }
    if (ctx->state->page == 0 && ctx->state->col != AV_HEADS_IN_PLACE) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", sorted[ctx->state->col]);
    }
    if (h->done < h->count) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu weighed", h->done);
    }
    if (h->count < h->all) {
        snprintf(pieces[n++], AV_PIECE_MAX, "the first %zu", h->count);
    }
    if (most_queries(h) > AV_HEADS_QUERIES) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%d of up to %zu queries", AV_HEADS_QUERIES, most_queries(h));
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_variant_format(p->variant, text));
    snprintf(pieces[n++], AV_PIECE_MAX, "scale %s", p->scale != 0 ? "on" : "off");
    snprintf(pieces[n++], AV_PIECE_MAX, "T %s", av_plot_short(number, p->temperature, 4));
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

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_heads *h = ctx->study;
    char pieces[PIECES][AV_PIECE_MAX];
    char title[AV_TITLE_MAX];
    char text[64];
    size_t n = make_pieces(pieces, ctx);
    av_panel_title(title, "heads", ctx->state->page, PAGES);
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

/* ---- Pages ---------------------------------------------------------------------------- */

static void draw_maps(struct av_canvas *c, const struct places *at, const struct av_heads *h,
                      const struct av_heads_look *look)
{
    if (at->legend.h > 0) {
        av_panel_heads_legend(c, at->legend.x, at->legend.x + at->legend.w, at->legend.y, look);
    }
    av_panel_heads_grid(c, at->body, h, look);
}

/* The matrix of page 2, which gets up to a half of the lines. */
static struct av_rect matrix_of(const struct places *at, const struct av_heads *h)
{
    int lines = at->body.y + at->body.h - at->legend.y;
    int wanted = (int)h->layers + 2;
    int half = lines > 8 ? lines / 2 : lines;
    return (struct av_rect){ at->legend.x - 1, at->legend.y, at->legend.w + 1, wanted < half ? wanted : half };
}

/* The matrix, what was found in words, the heads with a name, and those of a layer. */
static void draw_numbers(struct av_canvas *c, const struct places *at, const struct av_heads *h,
                         const struct av_heads_look *look)
{
    char words[WORDS_MAX];
    struct av_rect r = { at->legend.x, at->legend.y, at->legend.w, at->body.y + at->body.h - at->legend.y };
    int used = av_panel_heads_matrix(c, matrix_of(at, h), h, look);
    r.y += used + 1;
    r.h -= used + 1;
    if (r.h < 1) {
        return;
    }
    int lines = r.h < 2 * WORDS_H ? r.h / 2 : WORDS_H;
    used = av_plot_wrap(c, (struct av_rect){ r.x, r.y, r.w - 1, lines }, AV_ROLE_MESSAGE,
                        av_heads_words(words, sizeof words, h));
    used += 1 + av_panel_heads_named(c, (struct av_rect){ r.x - 1, r.y + used + 1, r.w + 1, r.h - used - 1 }, h);
    if (r.h - used - 1 >= TABLE_LEAST_H) {
        av_panel_heads_table(c, (struct av_rect){ r.x - 1, r.y + used + 1, r.w + 1, r.h - used - 2 }, h, look);
    }
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    static void (*const pages[PAGES])(struct av_canvas *, const struct places *, const struct av_heads *,
                                      const struct av_heads_look *) = { draw_maps, draw_numbers };
    const struct av_heads *h = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    if (h == NULL) {
        av_plot_wrap(c, r, AV_ROLE_DIM, "heads: there is not enough memory to weigh them");
    } else {
        const struct av_heads_look look = look_of(ctx->state, h);
        const struct places at = place(r);
        draw_head(c, r, ctx);
        pages[ctx->state->page](c, &at, h, &look);
        if (at.detail.h > 0) {
            av_panel_heads_detail(c, at.detail, h, look.cursor);
        }
    }
    av_canvas_clip(c, clip);
}

/* ---- Actions ----------------------------------------------------------------------------- */

static void next_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + 1) % PAGES;
}

/* The matrix of page 2 is in place, whatever page 1 is sorted by. */
static struct av_heads_look look_at_page(const struct av_view_edit *e)
{
    struct av_heads_look look = look_of(e->state, e->study);
    look.sorting = e->state->page == 0 ? look.sorting : AV_HEADS_IN_PLACE;
    return look;
}

static struct av_heads_grid grid_of(const struct av_view_edit *e, const struct av_heads_look *look,
                                    const struct av_heads_order *order)
{
    struct av_rect whole = { 0, 0, e->cols, e->rows };
    struct av_rect roomy = { 0, 0, e->cols, 1000 }; /* page 2 has no lines of text */
    return av_heads_layout(e->state->page == 0 ? place(whole).body : roomy, e->study, look, order);
}

/* One row or column of the grid on, where there is a head. */
static void move(struct av_view_edit *e, int down, int right)
{
    const struct av_heads *h = e->study;
    struct av_heads_order order;
    if (h == NULL) {
        return;
    }
    const struct av_heads_look look = look_at_page(e);
    av_heads_sort(&order, h, &look);
    const struct av_heads_grid g = grid_of(e, &look, &order);
    size_t row, col;
    av_heads_place(&g, h, &look, &order, look.cursor, &row, &col);
    int64_t to_row = (int64_t)row + down, to_col = (int64_t)col + right;
    if (to_row < 0 || to_col < 0 || to_row >= (int64_t)g.rows || to_col >= (int64_t)g.cols) {
        return;
    }
    size_t at = av_heads_at(&g, h, &look, &order, (size_t)to_row, (size_t)to_col);
    e->state->row = (int)(at < h->count ? at : look.cursor);
}

static void move_left(struct av_view_edit *e)
{
    move(e, 0, -1);
}

static void move_right(struct av_view_edit *e)
{
    move(e, 0, 1);
}

static void move_up(struct av_view_edit *e)
{
    move(e, -1, 0);
}

static void move_down(struct av_view_edit *e)
{
    move(e, 1, 0);
}

static void step_quantity(struct av_view_edit *e, int by)
{
    e->state->quantity = (e->state->quantity + AV_HEAD_QUANTITIES + by) % AV_HEAD_QUANTITIES;
}

static void next_quantity(struct av_view_edit *e)
{
    step_quantity(e, 1);
}

static void previous_quantity(struct av_view_edit *e)
{
    step_quantity(e, -1);
}

static void next_sorting(struct av_view_edit *e)
{
    e->state->col = (e->state->col + 1) % AV_HEADS_SORTINGS;
    e->say = e->state->page == 0 ? NULL : "page 1 is sorted; here every head has its place";
}

static void next_pool(struct av_view_edit *e)
{
    e->state->pool = (e->state->pool + 1) % AV_HEADS_CELLS;
}

static void open_head(struct av_view_edit *e)
{
    const struct av_heads *h = e->study;
    if (h != NULL) {
        const struct av_head *head = &h->heads[look_of(e->state, h).cursor];
        e->head = (int64_t)head->head;
        e->layer = (int64_t)head->layer;
        e->view = "weights";
        e->say = "the head that was under the cursor; Tab and S-Tab walk the views";
    }
}

static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    const struct av_heads *h = e->study;
    struct av_heads_order order;
    if (h == NULL) {
        return;
    }
    const struct av_heads_look look = look_of(e->state, h);
    const struct places at = place(r);
    size_t under;
    if (e->state->page == 0) {
        av_heads_sort(&order, h, &look);
        const struct av_heads_grid g = av_heads_layout(at.body, h, &look, &order);
        under = av_heads_under(&g, h, &look, &order, x, y);
    } else {
        under = av_panel_heads_matrix_under(matrix_of(&at, h), h, &look, x, y);
    }
    e->state->row = (int)(under < h->count ? under : look.cursor);
}

static const struct av_view_action actions[] = {
    { "v", "page", "maps of all heads, or numbers and names", next_page },
    { "h", "head-left", "the head to the left", move_left },
    { "j", "head-down", "the head below", move_down },
    { "k", "head-up", "the head above", move_up },
    { "l", "head-right", "the head to the right", move_right },
    { "y", "quantity", "the next quantity is shown", next_quantity },
    { "Y", "quantity-back", "the quantity before is shown", previous_quantity },
    { "x", "sort", "by layer and head, or sorted by the quantity, from the top or from the bottom", next_sorting },
    { "z", "pool", "in the maps: what a query gives to a cell's keys, or the largest weight", next_pool },
    { "e", "open", "open the head under the cursor in the view weights", open_head },
    { NULL, NULL, NULL, NULL },
};

/* ---- The view ------------------------------------------------------------------------------ */

static const char *const listens[] = { "n_head",      "d_k",         "n_q",         "n_k",        "scale", "exponent",
                                       "temperature", "offset",      "key",         "key_offset", "q_std", "k_std",
                                       "q_mean",      "k_mean",      "corr",        "dist",       "mask",  "variant",
                                       "dtype",       "scale_order", "softmax_f32", "smooth_k",   "seed",  "head",
                                       "layer",       AV_ALL_OWNED,  NULL };

static const char *const about[] = {
    "Every head of every layer of the files, or the n_head that are sampled; 2.3 is head",
    "3 of layer 2. A map shows its weights, queries down and keys across: what a query",
    "gives to all keys of a cell, in the mean, or the largest weight; by the root, from 0",
    "to 1; · is masked. Below it: whether its softmax is fine, !",
    "saturated (a weight above 0.9 in more than a quarter of the rows) or dead (little of",
    "a gradient gets through), a number, and what the head is called.",
    "Names go by measured shares of the weight, over rows with eight keys or more: sink,",
    "more than half on the first key; previous, on the position before the query's;",
    "diagonal, on its own; uniform, less than a tenth would have to move to make the rows",
    "uniform; saturated, none of these, but saturated rows. The first that holds counts.",
    "Of more than 1024 queries so many are looked at, in groups of eight.",
    "Page 2: a number for every head, what was found, the heads with a name, and all",
    "numbers of the heads in the cursor's layer. uneven: what would have to move.",
    NULL,
};

const struct av_view av_view_heads = {
    .name = "heads",
    .title = "all heads of all layers: maps, numbers, and what they do",
    .order = 150,
    .needs = 0,
    .study = "heads",
    .listens = listens,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
