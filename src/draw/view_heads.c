/* view_heads.c - all heads of all layers beside each other.
 *
 * Use of the view's state: row is the head under the cursor, by its place in
 * the list; quantity the one shown and sorted by; col how it is sorted; pool what
 * a cell of a map shows; page 0 the maps, 1 numbers and names; zoom the first line
 * of the text in sight. */
#include "panels_heads.h"

#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>

enum { DETAIL_H = 5, DETAIL_HIGH_H = 7, DETAIL_MOST_H = 12, LOW_H = 18, HIGH_H = 30, ROOMY_H = 45 };

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
    int detail = page != 0 || r.h < LOW_H ? 0 : r.h < HIGH_H ? DETAIL_H : r.h < ROOMY_H ? DETAIL_HIGH_H : DETAIL_MOST_H;
    int legend = r.h >= 8;
    int top = 1 + legend;
    int gap = r.h >= ROOMY_H;
    return (struct places){ { r.x + 1, r.y + 1, r.w - 1, legend },
                            { r.x, r.y + top + gap, r.w, r.h - top - gap - detail },
                            { r.x + 1, r.y + r.h - detail, r.w - 2, detail } };
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

static void draw_numbers(struct av_canvas *c, const struct places *at, const struct av_heads *h,
                         const struct av_heads_look *look)
{
    av_panel_heads_matrix(c, matrix_of(at, h), h, look);
}

/* The text of a page: below the maps the lines that they leave as well, below the
 * matrix all of them. */
static struct av_rect text_below(const struct places *at, const struct av_heads *h, const struct av_heads_look *look,
                                 int page)
{
    struct av_rect r = at->detail;
    int from = at->body.y + at->body.h;
    if (page == 0) {
        struct av_heads_order order;
        av_heads_sort(&order, h, look);
        const struct av_heads_grid g = av_heads_layout(at->body, h, look, &order);
        size_t rows = g.rows < g.down ? g.rows : g.down;
        from -= g.map_w > 0 ? at->body.h - (int)rows * g.tile_h : 0;
    } else {
        struct av_rect matrix = matrix_of(at, h);
        from = matrix.y + matrix.h + 1;
    }
    return (struct av_rect){ r.x, from, r.w, r.y + r.h - from };
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    static void (*const pages[AV_HEADS_PAGES])(struct av_canvas *, const struct places *, const struct av_heads *,
                                               const struct av_heads_look *) = { draw_maps, draw_numbers };
    const struct av_heads *h = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    if (h == NULL) {
        av_plot_wrap(c, r, AV_ROLE_DIM, "heads: there is not enough memory to measure them");
    } else {
        const struct av_heads_look look = look_of(ctx->state, h);
        const struct places at = place(r, ctx->state->page);
        av_panel_heads_title(c, r, ctx, ctx->state->page == 0 ? &at.body : NULL, &look);
        pages[ctx->state->page](c, &at, h, &look);
        av_panel_heads_text(c, text_below(&at, h, &look, ctx->state->page), h, &look, ctx->state->page,
                            ctx->state->zoom);
    }
    av_canvas_clip(c, clip);
}

/* ---- Actions ----------------------------------------------------------------------------- */

static void next_page(struct av_view_edit *e)
{
    e->state->page = (e->state->page + 1) % AV_HEADS_PAGES;
    e->state->zoom = 0;
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

static size_t moved(size_t at, int64_t by, size_t count)
{
    int64_t to = (int64_t)at + by;
    return to < 0 ? 0 : to < (int64_t)count ? (size_t)to : count - 1;
}

/* The text begins anew with another head. */
static void select_head(struct av_view_edit *e, size_t at)
{
    const struct av_heads *h = e->study;
    size_t was = look_of(e->state, h).cursor;
    size_t now = at < h->count ? at : was;
    e->state->zoom = now == was ? e->state->zoom : 0;
    e->state->row = (int)now;
}

/* So many rows, or as many screens of them, and columns of the grid on, as far as it
 * goes, where there is a head. */
static void walk(struct av_view_edit *e, int64_t down, int64_t screens, int64_t right)
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
    row = moved(row, down + screens * (int64_t)g.down, g.rows);
    select_head(e, av_heads_at(&g, h, &look, &order, row, moved(col, right, g.cols)));
}

static void move(struct av_view_edit *e, int down, int right)
{
    walk(e, down, 0, right);
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

static void move_first(struct av_view_edit *e)
{
    move(e, 0, -AV_HEADS_MEASURED);
}

static void move_last(struct av_view_edit *e)
{
    move(e, 0, AV_HEADS_MEASURED);
}

static void page_up(struct av_view_edit *e)
{
    walk(e, 0, -1, 0);
}

static void page_down(struct av_view_edit *e)
{
    walk(e, 0, 1, 0);
}

/* Half of the lines in sight on, as far as there is more. */
static void scroll(struct av_view_edit *e, int sign)
{
    const struct av_heads *h = e->study;
    if (h == NULL) {
        return;
    }
    const struct av_heads_look look = look_of(e->state, h);
    const struct places at = place((struct av_rect){ 0, 0, e->cols, e->rows }, e->state->page);
    struct av_rect r = text_below(&at, h, &look, e->state->page);
    int most = av_heads_text_hidden(r, h, &look, e->state->page);
    int to = e->state->zoom + sign * (r.h > 3 ? r.h / 2 : 1);
    e->state->zoom = to < 0 ? 0 : to < most ? to : most;
    e->say = most == 0 ? "all of the text is in sight" : NULL;
}

static void scroll_down(struct av_view_edit *e)
{
    scroll(e, 1);
}

static void scroll_up(struct av_view_edit *e)
{
    scroll(e, -1);
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
        e->say = "the head that was under the cursor";
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
    select_head(e, under);
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
    { "J", "text-down", "scroll the text down", scroll_down },
    { "K", "text-up", "scroll the text up", scroll_up },
    { "z", "pool", "in the maps: what a query gives to a cell's keys, or the largest weight", next_pool },
    { "Enter e", "open", "open the head under the cursor in the view weights", open_head },
    { "Home", "row-start", "the first head of the row", move_first },
    { "End", "row-end", "the last head of the row", move_last },
    { "PgUp", "row-up", "up by the rows in sight", page_up },
    { "PgDn", "row-down", "down by the rows in sight", page_down },
    { NULL, NULL, NULL, NULL },
};

/* ---- The view ------------------------------------------------------------------------------ */

static const char *const listens[] = { "n_head",      "d_k",         "n_q",         "n_k",        "scale", "exponent",
                                       "temperature", "offset",      "key",         "key_offset", "q_std", "k_std",
                                       "q_mean",      "k_mean",      "corr",        "dist",       "mask",  "variant",
                                       "dtype",       "scale_order", "softmax_f32", "smooth_k",   "seed",  "head",
                                       "layer",       "from",        AV_ALL_OWNED,  NULL };

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
    "uneven, what would have to move to make the rows even.",
    "Heads in sight are measured first, then the others; of files they are diagnosed as",
    "well. Of more than 1024 queries so many are looked at, in groups of eight.",
    "Page 2: a number for every head, what was found, all numbers of the heads in the",
    "cursor's layer, the heads with a name, and the head under the cursor. J and K scroll",
    "the text where it has more lines than there are. The arrow keys belong to the list of",
    "parameters; h j k l, Home, End, PgUp and PgDn walk over the heads.",
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
