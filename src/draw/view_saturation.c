/* view_saturation.c - how softmax freezes as d_k grows, and what the scale does
 * about it.
 *
 * Uses of the view's state: page 0 is curves over d_k, page 1 the plane of d_k
 * and temperature; quantity is the first of the curves; zoom 1 shows it alone. */
#include "panels_saturation.h"

#include <stdio.h>

enum {
    CURVES_LEAST_W = 38, /* beside a table */
    PLANE_LEAST_W = 44,  /* beside another */
    TABLE_LEAST_H = 8,
    CURVES_LEAST_H = 6,   /* below their names */
    FURTHER_LEAST_H = 10, /* below the table */
    PAGES = 2,
    PIECES = 13
};

/* ---- the first line --------------------------------------------------- */

/* What was drawn: fills the pieces, the most telling first; returns their
 * number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_saturation *s, bool files)
{
    static const char *const rarely[] = { "q_std", "k_std", "q_mean", "k_mean", "corr" }; /* not as by default */
    const struct av_params *p = &s->params;
    char number[AV_NUMBER_MAX];
    size_t n = 0;
    if (files) {
        snprintf(pieces[n++], AV_PIECE_MAX, AV_NOT_THE_FILES);
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%lld×%lld", (long long)p->n_q, (long long)p->n_k);
    if (s->rows < (size_t)p->n_q) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%zu queries measured", s->rows);
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "exponent %s", av_plot_short(number, p->exponent, 4));
    snprintf(pieces[n++], AV_PIECE_MAX, "T %s", av_plot_short(number, p->temperature, 4));
    if (p->mask == AV_MASK_CAUSAL) {
        snprintf(pieces[n++], AV_PIECE_MAX, "causal");
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("dist")->choices[p->dist]);
    for (size_t i = 0; i < sizeof rarely / sizeof rarely[0]; i++) {
        const struct av_param *row = av_param_find(rarely[i]);
        double value = av_param_get(row, p);
        if (value != row->def) {
            snprintf(pieces[n++], AV_PIECE_MAX, "%s %s", row->name, av_plot_short(number, value, 3));
        }
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "seed %llu", (unsigned long long)p->seed);
    return n;
}

static void draw_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_saturation *s = ctx->study;
    char pieces[PIECES][AV_PIECE_MAX];
    size_t n = make_pieces(pieces, s, ctx->snapshot->from_files);
    const char *what = ctx->state->page == 0 ? "over d_k" : "over d_k and temperature";
    char title[AV_TITLE_MAX];
    av_panel_title(title, "saturation", ctx->state->page, PAGES);
    int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, what) + 3;
    av_panel_pieces(c, x, right, r.y, pieces, n);
}

/* ---- pages -------------------------------------------------------------- */

/* Curves at the left; at the right the values and, below them, further curves. */
static void draw_curves(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_saturation *s = ctx->study;
    bool table = r.w >= AV_SATURATION_TABLE_W + CURVES_LEAST_W && r.h >= TABLE_LEAST_H;
    int names_h = r.h > AV_SATURATION_NAMES_H + CURVES_LEAST_H ? AV_SATURATION_NAMES_H : 0;
    int most = ctx->state->zoom > 0 ? 1 : AV_SATURATION_CURVES;
    int first = ctx->state->quantity;
    struct av_rect right = { r.x + r.w - AV_SATURATION_TABLE_W, r.y, AV_SATURATION_TABLE_W, r.h };
    r.w -= table ? AV_SATURATION_TABLE_W : 0;
    av_panel_saturation_names(c, (struct av_rect){ r.x, r.y, r.w, names_h }, s);
    r.y += names_h;
    r.h -= names_h;
    int drawn = av_panel_saturation_curves(c, r, s, first, most);
    if (table) {
        av_panel_saturation_table(c, right, s);
        right.y += AV_SATURATION_TABLE_H + 1;
        right.h -= AV_SATURATION_TABLE_H + 1;
        most = right.h >= FURTHER_LEAST_H ? most - drawn : 0;
        av_panel_saturation_curves(c, right, s, first + drawn, most);
    }
}

/* Both states beside each other where there is room, else the present one. */
static void draw_plane(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_saturation *s = ctx->study;
    bool both = r.w >= 2 * PLANE_LEAST_W;
    bool now = s->params.scale != 0;
    for (int k = 0; k < 2; k++) {
        bool scale = k == 0;
        int w = r.w / 2;
        struct av_rect half = { r.x + k * (r.w - w), r.y, w, r.h };
        if (both || scale == now) {
            av_panel_saturation_plane(c, both ? half : r, s, scale);
        }
    }
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_saturation *s = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    r = av_panel_unused(c, r, ctx->snapshot, "plain softmax in f64", false);
    struct av_rect below = { r.x, r.y + 1, r.w, r.h - 1 };
    if (s == NULL) {
        av_plot_wrap(c, r, AV_ROLE_DIM, "saturation: nothing is measured");
    } else if (s->rows_counting == 0) {
        draw_head(c, r, ctx);
        av_plot_wrap(c, below, AV_ROLE_DIM, "no row has two or more keys: there is nothing to choose from");
    } else {
        draw_head(c, r, ctx);
        (ctx->state->page == 0 ? draw_curves : draw_plane)(c, below, ctx);
    }
    av_canvas_clip(c, clip);
}

/* ---- actions -------------------------------------------------------------- */

static void next_page(struct av_view_edit *e)
{
    e->state->page = !e->state->page;
}

/* The keys of the curves say so where there are none. */
static bool on_curves(struct av_view_edit *e)
{
    e->say = e->state->page == 0 ? NULL : "the plane is of entropy alone; v goes back to the curves";
    return e->state->page == 0;
}

static void next_quantity(struct av_view_edit *e)
{
    if (on_curves(e)) {
        e->state->quantity = (e->state->quantity + 1) % AV_SATURATION_CURVES;
    }
}

static void previous_quantity(struct av_view_edit *e)
{
    if (on_curves(e)) {
        e->state->quantity = (e->state->quantity + AV_SATURATION_CURVES - 1) % AV_SATURATION_CURVES;
    }
}

static void toggle_zoom(struct av_view_edit *e)
{
    if (on_curves(e)) {
        e->state->zoom = !e->state->zoom;
    }
}

static const struct av_view_action actions[] = {
    { "v", "page", "curves over d_k, or the plane of d_k and temperature", next_page },
    { "y", "quantity", "curves from the next quantity on", next_quantity },
    { "Y", "quantity-back", "curves from the quantity before", previous_quantity },
    { "z", "zoom", "as many curves as fit, or one", toggle_zoom },
    { NULL, NULL, NULL, NULL },
};

static const char *const about[] = {
    "Curves: the same queries and keys at every d_k from 1 to 4096, once with the",
    "scale and once without. ● ◇ are measured at powers of two and between them,",
    "• is exact theory for normal entries, · joins points where none is known;",
    "▾ lies below the axis; ┄ is a limit: dead below 1e-3, alarm above 0.9 or above a",
    "quarter of dead rows.",
    "Entropy: of a row's weights over ln n: 1 when all keys count the same, 0 when one",
    "takes all. Rows above 0.9: how many give one key more than that.",
    "jacobian_fro: how much of a gradient at the weights gets through to the logits;",
    "dead rows: below 1e-3. dq_rms: what reaches a query. Some rows that are alive carry",
    "the mean: look at the median.",
    "┊: where the spread of the logits passes sqrt(2 ln n), the softmax freezes: without",
    "the scale at d_k = 2 ln n, for 32 keys at 7. With it the spread does not know d_k.",
    "With a causal mask sigma_c is the mean of sqrt(2 ln n) over the rows.",
    "Plane: the entropy at every d_k and temperature; below the dots rows are frozen.",
    "Scaled they lie level: one temperature fits all d_k. Unscaled they rise: each d_k",
    "would need a temperature of its own, sqrt(d_k) times as high. That is the scale.",
    "The cursor is the parameter d_k (in the plane temperature, too).",
    NULL,
};

static const char *const listens[] = { "n_q",    "n_k",    "d_k",  "scale", "exponent", "temperature", "q_std", "k_std",
                                       "q_mean", "k_mean", "corr", "dist",  "mask",     "seed",        "head",  NULL };

const struct av_view av_view_saturation = {
    .name = "saturation",
    .title = "how softmax freezes as d_k grows: curves, and d_k against temperature",
    .order = 70,
    .needs = 0,
    .study = "saturation",
    .listens = listens,
    .draw = draw,
    .actions = actions,
    .about = about,
};
