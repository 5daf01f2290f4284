/* view_variants.c - all variants on the same queries and keys.
 *
 * Uses of the view's state: page 0 is the table, 1 two variants entry by entry,
 * 2 curves; row is the cursor's place in the table, quantity the column that it
 * is sorted by (0: as it is), zoom 1 sorts rising; pool is the quantity of the
 * curves. */
#include "panels_variants.h"

#include <stdio.h>
#include <string.h>

enum {
    PAGES = 3,
    PIECES = 15,
    HEAD_H = 1,
    DETAIL_H = 6,      /* with the line of marks */
    TABLE_MOST_H = 46, /* all of it, with its headings */
    DIFFERENCE_H = 2
};

/* ---- Where things are ------------------------------------------------------------ */

struct places {
    struct av_rect table, marks, detail; /* h 0: none */
};

/* The table first; what it leaves goes to the words below it, which get a third
 * of low screens. */
static struct places place(struct av_rect r, size_t rows)
{
    int left = r.h - HEAD_H;
    int words = left / 3 < DETAIL_H ? left / 3 : DETAIL_H;
    int wanted = (int)rows + 1;
    int table = wanted < left - words ? wanted : left - words;
    int below = left - table;
    return (struct places){ { r.x, r.y + HEAD_H, r.w, table },
                            { r.x, r.y + HEAD_H + table, r.w, below > 0 ? 1 : 0 },
                            { r.x, r.y + HEAD_H + table + 1, r.w, below - 1 } };
}

static struct av_variant_look look_of(const struct av_view_state *state, const struct av_variants *v)
{
    size_t cursor = state->row > 0 && (size_t)state->row < v->table.count ? (size_t)state->row : 0;
    bool gone = cursor >= av_variant_entries() && v->table.rows[cursor].state == AV_VARIANT_ABSENT;
    return (struct av_variant_look){ gone ? v->table.now : cursor, state->quantity, state->zoom > 0, v->params.variants,
                                     &v->params };
}

/* ---- The first line ----------------------------------------------------------------- */

/* "now gemma-2: fixed+softcap". */
static void now_piece(char out[AV_PIECE_MAX], const struct av_variants *v)
{
    const struct av_variant_subject *now = &v->table.rows[v->table.now].of;
    char name[AV_VARIANT_TEXT_MAX];
    av_variant_format(now->value, name);
    if (now->preset != NULL) {
        snprintf(out, AV_PIECE_MAX, "now %s: %s", now->name, name);
    } else {
        snprintf(out, AV_PIECE_MAX, "now %s", name);
    }
}

/* What it is of: fills the pieces, the most telling first; returns their number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_view_context *ctx)
{
    const struct av_variants *v = ctx->study;
    const struct av_params *p = &v->params;
    const struct av_view_state *state = ctx->state;
    bool curves = state->page == 2;
    char number[AV_NUMBER_MAX];
    size_t n = 0;
    if (!curves) {
        now_piece(pieces[n++], v);
    }
    if (state->page == 0 && state->quantity > 0) {
        snprintf(pieces[n++], AV_PIECE_MAX, "by %s %s", av_variant_columns[state->quantity - 1].name,
                 state->zoom > 0 ? "↑" : "↓");
    }
    if (ctx->snapshot->from_logits) {
        snprintf(pieces[n++], AV_PIECE_MAX, "not the logits given");
    }
    if (curves && v->curves.over == AV_CURVE_N_K) {
        snprintf(pieces[n++], AV_PIECE_MAX, "up to %zu queries, d_k %zu", v->curves.n_q, v->curves.d);
    } else if (curves) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu queries, %zu keys",
                 v->curves.n_q < v->curves.n_k ? v->curves.n_q : v->curves.n_k, v->curves.n_k);
    } else {
        snprintf(pieces[n++], AV_PIECE_MAX, "%lld×%lld, d_k %lld", (long long)p->n_q, (long long)p->n_k,
                 (long long)p->d_k);
    }
    if (!curves && v->table.queries < (size_t)p->n_q) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu queries measured", v->table.queries);
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "scale %s", p->scale != 0 ? "on" : "off");
    snprintf(pieces[n++], AV_PIECE_MAX, "T %s", av_plot_short(number, p->temperature, 4));
    if (curves || p->mask == AV_MASK_CAUSAL) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", curves ? "no mask" : "causal");
    }
    if (p->dtype != AV_DTYPE_F64) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("dtype")->choices[p->dtype]);
    }
    if (v->from_files) {
        snprintf(pieces[n++], AV_PIECE_MAX, "files, head %lld", (long long)p->head);
        return n;
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("dist")->choices[p->dist]);
    snprintf(pieces[n++], AV_PIECE_MAX, "seed %llu", (unsigned long long)p->seed);
    return n;
}

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    char pieces[PIECES][AV_PIECE_MAX];
    char title[AV_TITLE_MAX];
    size_t n = make_pieces(pieces, ctx);
    av_panel_title(title, "variants", ctx->state->page, PAGES);
    int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    av_panel_pieces(c, r.x + 1, right, r.y, pieces, n);
}

/* ---- Pages ------------------------------------------------------------------------------ */

static void draw_table(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_variants *v = ctx->study;
    struct av_variant_look look = look_of(ctx->state, v);
    look.params = &ctx->snapshot->params; /* the study does not begin anew for another unit */
    struct av_variant_order order;
    av_variant_sort(&order, &v->table, 0, false);
    struct places at = place(r, order.count);
    av_panel_variant_table(c, at.table, &v->table, &look);
    if (at.marks.h > 0) {
        av_panel_variant_marks(c, at.marks, at.table, &v->table, &look);
    }
    av_panel_variant_detail(c, at.detail, v, look.cursor);
}

static void draw_pair(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_variants *v = ctx->study;
    int below = AV_VARIANT_PAIR_ROWS_H + DIFFERENCE_H;
    int room = r.h - HEAD_H;
    int unpooled = AV_VARIANT_PAIR_AROUND_H + (v->pair.n_q < INT16_MAX ? (int)v->pair.n_q : INT16_MAX);
    bool tight = room - below < unpooled && unpooled <= room - DIFFERENCE_H; /* whole without the two lines */
    below = room >= 2 * below && !tight ? below : room >= 8 ? DIFFERENCE_H : 0;
    struct av_rect maps = { r.x, r.y + HEAD_H, r.w, room - below };
    struct av_rect rows = { r.x, maps.y + maps.h, r.w, below > DIFFERENCE_H ? AV_VARIANT_PAIR_ROWS_H : 0 };
    av_panel_variant_pair(c, maps, v);
    av_panel_variant_two(c, rows, &v->table, &ctx->snapshot->params);
    av_panel_variant_difference(c, (struct av_rect){ r.x + 1, rows.y + rows.h, r.w - 2, below - rows.h }, v);
}

static void draw_curves(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    av_panel_variant_curves(c, (struct av_rect){ r.x, r.y + HEAD_H, r.w, r.h - HEAD_H }, ctx->study, ctx->state->pool,
                            &ctx->snapshot->params);
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    static void (*const pages[PAGES])(struct av_canvas *, struct av_rect,
                                      const struct av_view_context *) = { draw_table, draw_pair, draw_curves };
    struct av_rect clip = av_plot_enter(c, r);
    if (ctx->study == NULL) {
        char why[AV_LACK_MAX];
        av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, "variants");
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + 1, r.w - 1, r.h - 1 }, AV_ROLE_DIM,
                     av_panel_no_study(why, ctx->snapshot));
    } else {
        draw_head(c, r, ctx);
        pages[ctx->state->page](c, r, ctx);
    }
    av_canvas_clip(c, clip);
}

/* ---- Actions ------------------------------------------------------------------------------ */

static void turn(struct av_view_edit *e, int by)
{
    e->state->page = (e->state->page + PAGES + by) % PAGES;
}

static void next_page(struct av_view_edit *e)
{
    turn(e, 1);
}

static void previous_page(struct av_view_edit *e)
{
    turn(e, -1);
}

/* The study's result on page 1; NULL elsewhere, and says so. */
static const struct av_variants *on_table(struct av_view_edit *e)
{
    if (e->state->page != 0) {
        e->say = "that is for page 1, the table: v turns the pages";
        return NULL;
    }
    return e->study;
}

static void move(struct av_view_edit *e, int by)
{
    const struct av_variants *v = on_table(e);
    if (v == NULL) {
        return;
    }
    struct av_variant_look look = look_of(e->state, v);
    struct av_variant_order order;
    av_variant_sort(&order, &v->table, look.column, look.rising);
    int at = 0;
    while (order.at[at] != look.cursor) {
        at++;
    }
    at += by;
    at = at < 0 ? 0 : at < (int)order.count ? at : (int)order.count - 1;
    e->state->row = (int)order.at[at];
}

static void move_down(struct av_view_edit *e)
{
    move(e, 1);
}

static void move_up(struct av_view_edit *e)
{
    move(e, -1);
}

static int page_rows(const struct av_view_edit *e)
{
    const struct av_variants *v = e->study;
    struct places at = place((struct av_rect){ 0, 0, e->cols, e->rows }, v != NULL ? v->table.count : 1);
    return at.table.h > 2 ? at.table.h - 1 : 1;
}

static void page_down(struct av_view_edit *e)
{
    move(e, page_rows(e));
}

static void page_up(struct av_view_edit *e)
{
    move(e, -page_rows(e));
}

/* The cursor onto the first line, so that what is largest or least is in sight. */
static void to_top(struct av_view_edit *e, const struct av_variants *v)
{
    struct av_variant_order order;
    av_variant_sort(&order, &v->table, e->state->quantity, e->state->zoom > 0);
    e->state->row = (int)order.at[0];
}

/* The next column that is in sight, or quantity of the curves. */
static void step_quantity(struct av_view_edit *e, int by)
{
    int columns = av_variant_columns_in(e->cols) + 1;
    if (e->state->page == 2) {
        e->state->pool = (e->state->pool + AV_VARIANT_CURVE_QUANTITIES + by) % AV_VARIANT_CURVE_QUANTITIES;
        return;
    }
    const struct av_variants *v = on_table(e);
    if (v != NULL) {
        e->state->quantity = (e->state->quantity + columns + by) % columns;
        to_top(e, v);
    }
}

static void next_quantity(struct av_view_edit *e)
{
    step_quantity(e, 1);
}

static void previous_quantity(struct av_view_edit *e)
{
    step_quantity(e, -1);
}

static void reverse(struct av_view_edit *e)
{
    const struct av_variants *v = on_table(e);
    if (v == NULL) {
        return;
    }
    e->state->zoom = !e->state->zoom;
    to_top(e, v);
    e->say = e->state->quantity == 0 ? "the table is in its own order; y sorts it by a column" : NULL;
}

/* The row under the cursor if it can be had. */
static const struct av_variant_row *cursor_row(struct av_view_edit *e)
{
    const struct av_variants *v = on_table(e);
    const struct av_variant_row *row = v != NULL ? &v->table.rows[look_of(e->state, v).cursor] : NULL;
    if (row != NULL && row->state == AV_VARIANT_REFUSED) {
        e->say = "it cannot be had with these parameters: its line says why";
        return NULL;
    }
    return row;
}

static void use(struct av_view_edit *e)
{
    const struct av_variant_row *row = cursor_row(e);
    if (row != NULL) {
        e->variant = row->of.value;
        e->preset = row->of.preset;
        e->say = row->of.preset != NULL ? "the model's variant and its parameters, in every view; u takes them back"
                                        : "the present variant, in every view; u takes it back";
    }
}

static void compare(struct av_view_edit *e)
{
    const struct av_variant_row *row = cursor_row(e);
    if (row != NULL) {
        e->compare = row->of.value;
        e->say = row->of.preset != NULL ? "compared with the model's variant, with the parameters at hand"
                                        : "page 2 compares the present variant with it";
    }
}

/* With all of them listed the first one that is chosen is the only one. */
static void choose(struct av_view_edit *e)
{
    const struct av_variants *v = on_table(e);
    int64_t bit = v != NULL ? av_variant_bit(look_of(e->state, v).cursor) : 0;
    if (bit != 0) {
        e->variants ^= bit;
        bool one = (e->variants & (e->variants - 1)) == 0;
        e->say = e->variants == 0 ? "none is chosen: all are measured" : one ? "1 chosen; F: all again" : NULL;
    } else if (v != NULL) {
        e->say = "it is no entry of the table: it is always measured";
    }
}

static void choose_all(struct av_view_edit *e)
{
    e->variants = 0;
    e->say = "none is chosen: all are measured";
}

static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    (void)x;
    const struct av_variants *v = e->study;
    if (v == NULL || e->state->page != 0) {
        return;
    }
    struct av_variant_look look = look_of(e->state, v);
    struct av_variant_order order;
    av_variant_sort(&order, &v->table, look.column, look.rising);
    struct places at = place(r, order.count);
    size_t first = av_panel_variant_first(at.table, &order, look.cursor);
    if (y > at.table.y && y < at.table.y + at.table.h && first + (size_t)(y - at.table.y - 1) < order.count) {
        e->state->row = (int)order.at[first + (size_t)(y - at.table.y - 1)];
    }
}

static const struct av_view_action actions[] = {
    { "v", "page-next", "the table, two variants entry by entry, curves", next_page },
    { "V", "page-previous", "the page before", previous_page },
    { "j", "variant-next", "the next variant", move_down },
    { "k", "variant-previous", "the variant before", move_up },
    { "J", "variants-down", "a page of variants down", page_down },
    { "K", "variants-up", "a page of variants up", page_up },
    { "y", "quantity", "sort by the next column; of the curves the next quantity", next_quantity },
    { "Y", "quantity-back", "sort by the column before; of the curves the quantity before", previous_quantity },
    { "x", "reverse", "sort the other way round", reverse },
    { "e", "use", "the variant under the cursor becomes the present one, in every view", use },
    { "C", "compare-with", "compare the present variant with the one under the cursor", compare },
    { "f", "choose", "put the variant under the cursor into the chosen ones, or out of them", choose },
    { "F", "choose-all", "choose none: all are measured", choose_all },
    { NULL, NULL, NULL, NULL },
};

/* ---- The view ------------------------------------------------------------------------------- */

#define OF_ENTRIES "d_k", "q_std", "k_std", "q_mean", "k_mean", "corr", "dist", "seed", "head", "layer", "from"
#define OF_LOGITS                                                                                                      \
    "scale", "exponent", "temperature", "offset", "key", "key_offset", "dtype", "scale_order", "softmax_f32",          \
        "smooth_k", "n_head"
#define OF_PAIR "n_q", "n_k", OF_ENTRIES, OF_LOGITS, "mask", "variant", "compare", AV_ALL_OWNED

static const char *const listens[] = { OF_PAIR, "variants", NULL };
static const char *const pair_listens[] = { OF_PAIR, NULL };
static const char *const curve_listens[] = { "curve_over", "n_k",      OF_ENTRIES,   OF_LOGITS,
                                             "variant",    "variants", AV_ALL_OWNED, NULL };

/* A curve has a point for every value of its axis. */
static bool ignores(const char *param, const struct av_view_state *state, const struct av_params *p)
{
    return state->page == 2 && strcmp(param, p->curve_over == AV_CURVE_N_K ? "n_k" : "d_k") == 0;
}

/* All actions are for the table; the pages are turned everywhere, and curves
 * have quantities, too. */
static bool offers(const struct av_view_action *action, const struct av_view_state *state)
{
    static const char *const keys[PAGES] = { NULL, "vV", "vVyY" };
    return state->page == 0 || strchr(keys[state->page], action->key[0]) != NULL;
}

static const char *const about[] = {
    "Page 1: every variant on the same queries and keys, a line each.",
    "Means over rows: H/ln keys, the entropy of a row's weights over ln of the keys it sees,",
    "1 when all count the same, 0 when one takes all; keys, e^H, the effective keys; sum w,",
    "of a row's weights; w≠0, of the keys seen those whose weight is not 0; H nats, the",
    "entropy itself; avg max, the largest weight.",
    "Medians over rows: max w, the largest weight; J med, jacobian_fro: how much of a",
    "gradient at the weights gets through to the logits; dq med, dq_rms: to the query.",
    "Of all rows: std z, spread of the logits within rows; std all z, of all logits; min z",
    "and max z, the least and the largest; dead, share of rows with jacobian_fro < 1e-3.",
    "A query's own key of lsh, at -5e4, is in none of the logits' figures.",
    "= stands by variants whose weights are those of softmax here; the lines below the",
    "table say why, with the parameters of the variant under the cursor.",
    "Where a row's weights need not be >= 0 with sum 1 (*), the entropy is that of",
    "|w| / sum |w|; rows whose weights are all 0 have none.",
    "Bars at the right: how the rows' largest weights and entropies lie between 0 and 1,",
    "and logits between -12 and 12.",
    "sigma_reparam and qk_clip act in training only, and have no line.",
    "With the scale off, m = 1 stands for whatever replaces 1/sqrt(d_k).",
    "Page 2: the weights of the present variant and of the one it is compared with.",
    "▲ + : the present one gives more weight there, ▼ - : less.",
    "Page 3: curves over the number of keys, or over d_k (the parameter curve_over):",
    "of the chosen variants, or of some that differ. • is exact theory of the softmax.",
    "Softmax spreads out as keys are added, its entropy grows like ln n; logn and ssmax",
    "sharpen the logits with ln n and hold it down.",
    NULL,
};

const struct av_view av_view_variants = {
    .name = "variants",
    .title = "every way to scale, normalise or bend the softmax, on the same scores",
    .order = 120,
    .needs = 0,
    .study = "variants",
    .listens = listens,
    .page_parts = (const unsigned[PAGES]){ AV_VARIANTS_TABLE, AV_VARIANTS_PAIR, AV_VARIANTS_CURVES },
    .page_listens = (const char *const *const[]){ pair_listens, curve_listens, NULL },
    .ignores = ignores,
    .offers = offers,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
