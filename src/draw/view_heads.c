/* view_heads.c - all heads of all layers beside each other.
 *
 * Use of the view's state: row is the head under the cursor, by its place in
 * the list; quantity the one shown and sorted by; col how it is sorted; pool what
 * a cell of a map shows; page 0 the maps, 1 numbers and names. */
#include "panels_heads.h"

#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>

enum {
    PAGES = 2,
    PIECES = 12,
    DETAIL_H = 5,
    DETAIL_MOST_H = 9,
    LOW_H = 18,
    HIGH_H = 30,
    WORDS_MAX = 2048,
    WORDS_H = 8,
    TABLE_LEAST_H = 5
};

/* ---- Where things are ------------------------------------------------------------ */

struct places {
    struct av_rect legend, body, detail; /* h 0: none */
};

static struct av_heads_look look_of(const struct av_view_state *state, const struct av_heads *h)
{
    size_t row = state->row > 0 ? (size_t)state->row : 0;
    return (struct av_heads_look){ row < h->count ? row : h->count - 1, (enum av_head_quantity)state->quantity,
                                   (enum av_heads_sorting)state->col, (enum av_heads_cell)state->pool };
}

static struct places place(struct av_rect r, int page)
{
    int legend = r.h >= 8, detail = r.h < LOW_H ? 0 : page == 0 || r.h < HIGH_H ? DETAIL_H : DETAIL_MOST_H;
    int top = 1 + legend;
    int gap = r.h >= 45;
    return (struct places){ { r.x + 1, r.y + 1, r.w - 1, legend },
                            { r.x, r.y + top + gap, r.w, r.h - top - gap - detail },
                            { r.x + 1, r.y + r.h - detail, r.w - 2, detail } };
}

/* The words about one head, and the lines that the maps leave. */
static struct av_rect detail_below(const struct places *at, const struct av_heads *h, const struct av_heads_look *look)
{
    struct av_heads_order order;
    struct av_rect r = at->detail;
    av_heads_sort(&order, h, look);
    const struct av_heads_grid g = av_heads_layout(at->body, h, look, &order);
    int spare = g.map_w > 0 ? at->body.h - (int)g.down * g.tile_h : 0;
    return (struct av_rect){ r.x, r.y - spare, r.w, r.h + spare };
}

/* ---- The first line ---------------------------------------------------------------- */

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

/* What it is of: fills the pieces, the most telling first; returns their number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_view_context *ctx)
{
    static const char *const sorted[AV_HEADS_SORTINGS] = { "", "largest first", "smallest first" };
    const struct av_heads *h = ctx->study;
    const struct av_params *p = &h->params;
    size_t n = 0;
    if (h->source == NULL && h->all == 1) {
        snprintf(pieces[n++], AV_PIECE_MAX, "n_head is 1");
    }
    if (ctx->state->page == 0 && ctx->state->col != AV_HEADS_IN_PLACE) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", sorted[ctx->state->col]);
    }
    if (h->done < h->count) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu weighed", h->done);
    } else if (h->diagnoses && h->diagnosed < h->count) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu diagnosed", h->diagnosed);
    }
    if (h->count < h->all) {
        snprintf(pieces[n++], AV_PIECE_MAX, "the first %zu", h->count);
    }
    n += tell_queries(pieces[n], h);
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
        const struct places at = place(r, ctx->state->page);
        draw_head(c, r, ctx);
        pages[ctx->state->page](c, &at, h, &look);
        struct av_rect detail = ctx->state->page == 0 ? detail_below(&at, h, &look) : at.detail;
        if (detail.h > 0) {
            av_panel_heads_detail(c, detail, h, look.cursor);
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
    return av_heads_layout(e->state->page == 0 ? place(whole, 0).body : roomy, e->study, look, order);
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

/* Adds a place, but the first one, which is there. */
static size_t add_place(size_t *out, size_t n, size_t most, size_t place, const struct av_heads *h)
{
    if (n < most && place < h->count && place != out[0]) {
        out[n++] = place;
    }
    return n;
}

/* The head under the cursor; on page 1 the maps in sight, on page 2 the cursor's layer. */
static size_t wants(struct av_rect r, const struct av_view_state *state, const void *study, size_t *out, size_t most)
{
    const struct av_heads *h = study;
    struct av_heads_order order;
    if (most == 0) {
        return 0;
    }
    const struct av_heads_look look = look_of(state, h);
    size_t n = 1;
    out[0] = look.cursor;
    if (state->page != 0) {
        for (size_t i = 0; i < h->widest; i++) {
            const struct av_head *head = av_heads_find(h, h->heads[look.cursor].layer, i);
            n = add_place(out, n, most, head != NULL ? (size_t)(head - h->heads) : h->count, h);
        }
        return n;
    }
    av_heads_sort(&order, h, &look);
    const struct av_heads_grid g = av_heads_layout(place(r, 0).body, h, &look, &order);
    for (size_t i = 0; i < g.down * g.across; i++) {
        n = add_place(out, n, most, av_heads_at(&g, h, &look, &order, g.row + i / g.across, g.col + i % g.across), h);
    }
    return n;
}

static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    const struct av_heads *h = e->study;
    struct av_heads_order order;
    if (h == NULL) {
        return;
    }
    const struct av_heads_look look = look_of(e->state, h);
    const struct places at = place(r, e->state->page);
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
    { "Enter e", "open", "open the head under the cursor in the view weights", open_head },
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
    "to 1; · is masked.",
    "Its border and mark tell the verdicts, as in the report: thin, fine; dashed ~, the",
    "logits spread beyond sqrt(2 ln n) alone: normal logits would saturate the softmax",
    "there, a trained model's are not normal, and few of its rows are saturated; double !,",
    "a warning, of rows that are saturated (a weight above 0.9 in more than a quarter of",
    "them) or by the diagnosis of the files; heavy, bad: frozen (in more than half),",
    "its gradient dead, or a finding that is bad.",
    "Then a number (y), and what the head is called,",
    "by measured shares of the weight, over rows with eight keys or more: sink,",
    "more than half on the first key; previous, on the position before the query's;",
    "diagonal, on its own; uniform, less than a tenth would have to move to make the rows",
    "uniform; peaked, none of these, but saturated rows. The first that holds counts.",
    "The numbers: entropy over ln n, n the keys seen; the median and the mean of the",
    "largest weight; rows with a weight above 0.9; gradient, the median of jacobian_fro,",
    "|dw/dz|; dead rows, where that is below 1e-3; logit std within rows; row sum, of the",
    "weights; the weight on the first key, on a query's own and on the one before;",
    "uneven, what would have to move for uniform rows.",
    "Heads in sight are weighed first, then the others; of files they are diagnosed as",
    "well. Of more than 1024 queries so many are looked at, in groups of eight.",
    "Page 2: a number for every head, what was found, the heads with a name, and all",
    "numbers of the heads in the cursor's layer.",
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
    .wants = wants,
    .click = click,
    .actions = actions,
    .about = about,
};
