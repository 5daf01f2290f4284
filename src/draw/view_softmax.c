/* view_softmax.c - the lab: a row of logits, edited in place, and its softmax.
 *
 * Uses of the view's state: page 1 is the sensitivity sweep; quantity 1 shows
 * the Jacobian by log10 of its entries' sizes. */
#include "attnviz/logit_list.h"
#include "attnviz/variant.h"
#include "panels_softmax.h"

#include <math.h>
#include <stdio.h>

enum { PAGES = 2, HEAD_H = 1, WIDE = AV_ROW_NUMBERS_W + 38, CELL_H_MOST = 4, LEAST_H = AV_BARS_LEAST_H + 1 };

static const double FINE = 0.1, COARSE = 1, SHIFT = 9, FACTOR = 2;

/* ---- drawing ---------------------------------------------------------- */

struct places {
    struct av_rect logits, weights, jacobian, numbers, line;
};

/* Lines of the Jacobian: half of what there is, or what n keys can fill. */
static int jacobian_height(int h, size_t n)
{
    int words = AV_HEAT_ABOVE + AV_HEAT_BELOW;
    int cells = h / 2 - words;
    int each = n > (size_t)cells ? 0 : cells / (int)n;
    int used = each == 0 ? cells : (each < CELL_H_MOST ? each : CELL_H_MOST) * (int)n;
    return used + words > AV_JACOBIAN_LEAST_H ? used + words : AV_JACOBIAN_LEAST_H;
}

/* Numbers stand at the right, or on the last line where it is narrow. The bars
 * share what the Jacobian leaves. As it gets lower the Jacobian goes,
 * then the logits. */
static struct places place(struct av_rect r, size_t n)
{
    struct places p = { .line = { 0, 0, 0, 0 } };
    int y = r.y + HEAD_H;
    int h = r.h > HEAD_H ? r.h - HEAD_H : 0;
    int w = r.w;
    if (r.w >= WIDE) {
        p.numbers = (struct av_rect){ r.x + r.w - AV_ROW_NUMBERS_W, y, AV_ROW_NUMBERS_W, h };
        w -= AV_ROW_NUMBERS_W + 1;
    } else if (h > 0) {
        h--;
        p.line = (struct av_rect){ r.x, y + h, w, 1 };
    }
    if (h < 2 * AV_BARS_LEAST_H) {
        p.weights = (struct av_rect){ r.x, y, w, h };
        return p;
    }
    bool has_jacobian = h >= 2 * AV_BARS_LEAST_H + AV_JACOBIAN_LEAST_H;
    int bars = (has_jacobian ? h - jacobian_height(h, n) : h) / 2;
    p.logits = (struct av_rect){ r.x, y, w, bars };
    p.weights = (struct av_rect){ r.x, y + bars, w, bars };
    if (has_jacobian) {
        p.jacobian = (struct av_rect){ r.x, y + 2 * bars, w, h - 2 * bars };
    }
    return p;
}

/* The columns that bars and Jacobian share do not depend on its height. */
static struct av_heat_grid bars_grid(const struct places *p, size_t n)
{
    return av_panel_jacobian_grid(p->weights, n);
}

static void draw_row(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                     const struct av_lab_row *lab)
{
    struct places p = place(r, lab->row.n);
    struct av_heat_grid g = bars_grid(&p, lab->row.n);
    av_panel_logits(c, p.logits, lab, &g);
    av_panel_logit_weights(c, p.weights, lab, &g);
    av_panel_jacobian(c, p.jacobian, lab, ctx->state->quantity == 1);
    if (p.numbers.w > 0) {
        av_panel_row_numbers(c, p.numbers, lab);
    }
    if (p.line.w > 0) {
        av_panel_row_line(c, p.line, lab);
    }
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    struct av_lab_row lab;
    struct av_rect body = { r.x, r.y + HEAD_H, r.w, r.h - HEAD_H };
    char title[AV_TITLE_MAX];
    struct av_rect clip = av_plot_enter(c, r);
    av_panel_title(title, "softmax", ctx->state->page, PAGES);
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, HEAD_H }, ctx, title);
    if (!av_lab_row(ctx->snapshot, &lab)) {
        av_plot_fit(c, r.x + 1, r.x + r.w, r.y + HEAD_H, AV_ROLE_DIM, "this row has no weights");
    } else if (ctx->state->page == 1 || body.h < LEAST_H) {
        av_panel_sensitivity(c, body, &lab); /* in little room, the key's numbers alone */
    } else {
        draw_row(c, r, ctx, &lab);
    }
    av_canvas_clip(c, clip);
}

/* ---- editing ---------------------------------------------------------- */

static void select_key(struct av_view_edit *e, int64_t key)
{
    int64_t last = e->row->n - 1;
    e->key = key < 0 ? 0 : key < last ? key : last;
}

static void key_left(struct av_view_edit *e)
{
    select_key(e, e->key - 1);
}

static void key_right(struct av_view_edit *e)
{
    select_key(e, e->key + 1);
}

static void nudge(struct av_view_edit *e, double by)
{
    if (!av_logit_list_nudge(e->row, (size_t)e->key, by)) {
        e->say = "this logit is too large for such a step to change it";
    }
}

static void nudge_down(struct av_view_edit *e)
{
    nudge(e, -FINE);
}

static void nudge_up(struct av_view_edit *e)
{
    nudge(e, FINE);
}

static void push_down(struct av_view_edit *e)
{
    nudge(e, -COARSE);
}

static void push_up(struct av_view_edit *e)
{
    nudge(e, COARSE);
}

static void type(struct av_view_edit *e)
{
    e->type = true;
}

static void insert(struct av_view_edit *e)
{
    if (av_logit_list_insert(e->row, (size_t)e->key, 0)) {
        e->key++;
    } else {
        e->say = "2048 keys is as many as there can be";
    }
}

static void delete (struct av_view_edit *e)
{
    if (!av_logit_list_delete(e->row, (size_t)e->key)) {
        e->say = "the last key stays";
    }
    select_key(e, e->key);
}

/* Sums of larger logits are rounded, which weights may show. */
static bool rounds(const struct av_logit_list *l)
{
    const double exact = 1e6;
    for (int64_t i = 0; i < l->n; i++) {
        if (fabs(l->at[i]) > exact) {
            return true;
        }
    }
    return false;
}

/* What to say of a change of all logits: what it does to the weights, or, when
 * this is not true, the change alone, or that there was none. */
struct telling {
    const char *change, *effect, *none;
    const char *plain; /* the change alone, where it is not the softmax that weighs */
};

static void add(struct av_view_edit *e, double by, const struct telling *say)
{
    bool done = av_logit_list_add(e->row, by);
    e->say = !done                              ? say->none
             : rounds(e->row)                   ? say->change
             : av_panel_by_softmax(e->snapshot) ? say->effect
                                                : say->plain;
}

static void subtract_all(struct av_view_edit *e)
{
    static const struct telling say = { "all logits - 9, rounded", "all logits - 9: no weight has changed",
                                        "the logits are too large for it to change them", "all logits - 9" };
    add(e, -SHIFT, &say);
}

static void add_all(struct av_view_edit *e)
{
    static const struct telling say = { "all logits + 9, rounded", "all logits + 9: no weight has changed",
                                        "the logits are too large for it to change them", "all logits + 9" };
    add(e, SHIFT, &say);
}

static void scale(struct av_view_edit *e, double by, const struct telling *say)
{
    bool done = av_logit_list_scale(e->row, by);
    bool softmax = av_panel_by_softmax(e->snapshot);
    e->say = !done ? say->none : !softmax ? say->plain : av_logit_list_even(e->row) ? say->change : say->effect;
}

static void halve_all(struct av_view_edit *e)
{
    static const struct telling say = { "all logits / 2: equal ones, which weigh the same",
                                        "all logits / 2: the weights are more even", "all logits are 0",
                                        "all logits / 2" };
    scale(e, 1 / FACTOR, &say);
}

static void double_all(struct av_view_edit *e)
{
    static const struct telling say = { "all logits × 2: equal ones, which weigh the same",
                                        "all logits × 2: the weights are less even",
                                        "all logits are 0, or one would pass the largest double", "all logits × 2" };
    scale(e, FACTOR, &say);
}

static void more_keys(struct av_view_edit *e)
{
    size_t n = 2 * (size_t)e->row->n;
    n = n < AV_LOGITS_MAX ? n : AV_LOGITS_MAX;
    e->say = av_logit_list_resize(e->row, n) ? "more keys, the new ones at 0" : "2048 keys is as many as there can be";
}

static void fewer_keys(struct av_view_edit *e)
{
    e->say = av_logit_list_resize(e->row, (size_t)e->row->n / 2) ? "fewer keys" : "the last key stays";
    select_key(e, e->key);
}

/* From the preset that the row is now, else to the first or the last one. */
static void preset(struct av_view_edit *e, bool back)
{
    size_t count;
    const struct av_logit_preset *all = av_logit_presets(&count);
    const struct av_logit_preset *now = av_logit_preset_of(e->row);
    size_t step = back ? count - 1 : 1;
    size_t next = now != NULL ? ((size_t)(now - all) + step) % count : back ? count - 1 : 0;
    av_logit_list_preset(e->row, &all[next]);
    e->say = all[next].say;
    select_key(e, 0);
}

static void next_preset(struct av_view_edit *e)
{
    preset(e, false);
}

static void previous_preset(struct av_view_edit *e)
{
    preset(e, true);
}

/* The selected query's scores times the multiplier, where unmasked: offset and
 * temperature act on the lab as well. Of a variant the logits that it sees,
 * from which both are taken back. */
static void load(struct av_view_edit *e)
{
    const struct av_snapshot *s = e->pipeline;
    if (s->from_logits || s->scores == NULL) {
        e->say = s->from_logits ? "no query to load: the logits were given"
                                : "no query to load: what is shown are a file's weights, no logits";
        return;
    }
    bool of_logits = s->varied || s->from == AV_PART_SCORES;
    size_t i = av_panel_query(s);
    size_t n = s->rows[i].keys;
    bool multiplied = (av_variant_flags(s->params.variant) & AV_VARIANT_MULTIPLIES) != 0;
    if (n == 0 || s->invalid[i]) {
        e->say = n == 0 ? "the selected query has no keys" : "the selected query's row holds a NaN or an infinity";
    } else if (of_logits ? !av_logit_list_take_seen(e->row, s->logits + i * s->n_k, s->n_k, &s->params)
                         : !av_logit_list_take(e->row, s->scores + i * s->n_k, n, s->alpha)) {
        e->say = "the selected query has more than 2048 keys";
    } else if (of_logits) {
        e->say = multiplied ? "loaded: the selected query's logits, which the variant multiplies once more"
                            : "loaded: the selected query's logits, but for temperature and offsets";
    } else {
        e->say = "loaded: the selected query's scores × the multiplier";
    }
    select_key(e, e->key);
}

static void next_quantity(struct av_view_edit *e)
{
    e->state->quantity = e->state->quantity != 1;
}

static void next_page(struct av_view_edit *e)
{
    e->state->page = e->state->page != 1;
}

/* A column of the bars or of the Jacobian. */
static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    struct places p = place(r, e->snapshot->n_k);
    struct av_heat_grid g = bars_grid(&p, e->snapshot->n_k);
    size_t row;
    size_t col;
    bool below_header = y > r.y && y < r.y + r.h;
    if (e->state->page != 1 && below_header && av_heat_entry(&g, x, g.cells.y, &row, &col)) {
        e->key = (int64_t)col;
    }
}

/* The first ones are those of the bottom line. */
static const struct av_view_action actions[] = {
    { "h", "key-left", "select the key to the left", key_left },
    { "l", "key-right", "select the key to the right", key_right },
    { "j", "nudge-down", "lower its logit by 0.1", nudge_down },
    { "k", "nudge-up", "raise its logit by 0.1", nudge_up },
    { "b", "shift-down", "subtract 9 from all logits", subtract_all },
    { "B", "shift-up", "add 9 to all logits", add_all },
    { "f", "factor-down", "divide all logits by 2", halve_all },
    { "F", "factor-up", "multiply all logits by 2", double_all },
    { "g", "preset-next", "next preset", next_preset },
    { "G", "preset-previous", "previous preset", previous_preset },
    { "v", "page", "the row, or the sweep of the selected key's logit", next_page },
    { "e", "type", "type its logit", type },
    { "i", "insert", "insert a key behind it, at 0", insert },
    { "x", "delete", "delete it", delete },
    { "J", "push-down", "lower its logit by 1", push_down },
    { "K", "push-up", "raise its logit by 1", push_up },
    { "L", "load", "load the selected query's row", load },
    { "z", "keys-double", "double the number of keys, the new ones at 0", more_keys },
    { "Z", "keys-halve", "halve the number of keys", fewer_keys },
    { "y", "quantity", "the Jacobian by size, or by log10 of the size", next_quantity },
    { NULL, NULL, NULL, NULL },
};

static const char *const listens[] = { "logits",  "temperature", "offset", "key",         "key_offset",
                                       "x_range", "variant",     "dtype",  "softmax_f32", NULL };

static const char *const about[] = {
    "A row of logits to play with, apart from the queries and keys: type the whole row",
    "as the parameter logits, or edit it key by key.",
    "Add to all (b/B): the axis of z moves, no weight does. Multiply all (f/F): the",
    "weights change, unless all z are equal. The axis of z ends at the largest logit;",
    "▾ lies below it.",
    "J = diag(p) - p pᵀ is how weights answer to logits. Its diagonal, positive, in",
    "colour; off it, negative, round marks. No entry exceeds 1/4 in size.",
    "spectral: its largest eigenvalue. row sum, max: the largest sum of sizes in a row,",
    "2 p (1 - p) of the largest p.",
    "Where a number is below the smallest double its logarithm is exact still.",
    "A variant that acts on logits (sparsemax, softcap, sigmoid ...) weighs the row in",
    "the softmax's place: J is its own then, blank where it is 0.",
    "The second page (v) moves the selected key's logit against the others. dp/dz peaks",
    "where the key weighs as much as all others together: at ln(n - 1) when they are 0.",
    NULL,
};

const struct av_view av_view_softmax = {
    .name = "softmax",
    .title = "the lab: a row of logits to edit, its weights, Jacobian and sensitivity",
    .order = 50,
    .needs = 0,
    .listens = listens,
    .lab = true,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
