/* view_facts.c - claims about the scale with their verdicts, one in full.
 *
 * Use of the view's state: row is the selected claim. */
#include "panels_facts.h"

#include <stdio.h>
#include <string.h>

enum {
    HEAD_H = 2, /* the header line and the names of the columns */
    TABLE_LEAST_H = 5,
    GLYPH_X = 1,
    WORD_X = 3,
    WIDE = 88,    /* from here on verdicts are written out */
    WIDEST = 140, /* and what was measured has a column */
    MOST = 160,   /* the table is not wider: lines are to be followed */
    NARROW = 60   /* and below there is no room for numbers */
};

/* ---- Where things are ---------------------------------------------------------- */

struct places {
    struct av_rect table, detail; /* of the claims; of the selected one, h 0: none */
};

static struct places place(struct av_rect r, size_t count)
{
    int left = r.h - HEAD_H;
    int rows = left - AV_FACT_PANEL_H;
    if (rows < TABLE_LEAST_H) {
        rows = left < TABLE_LEAST_H + 3 ? left : TABLE_LEAST_H;
    }
    rows = rows < (int)count ? rows : (int)count;
    rows = rows > 0 ? rows : 0;
    struct places p = { { r.x, r.y + HEAD_H, r.w, rows }, { r.x, r.y + HEAD_H + rows, r.w, left - rows } };
    return p;
}

static size_t selected(const struct av_view_state *state, size_t count)
{
    return state->row < 0 ? 0 : (size_t)state->row < count ? (size_t)state->row : count - 1;
}

/* The first claim in sight: the selected one is in the middle, as far as the
 * ends allow. */
static size_t first_in_sight(size_t at, size_t count, int rows)
{
    size_t half = (size_t)(rows / 2);
    size_t last = count - (size_t)rows;
    size_t first = at > half ? at - half : 0;
    return first < last ? first : last;
}

/* ---- The header ------------------------------------------------------------------ */

/* "✓ 5 hold   ◐ 14 hold only when   ✗ 5 are false" */
static void draw_counts(struct av_canvas *c, int x, int right, int y, const struct av_facts *facts)
{
    static const char *const words[] = {
        [AV_FACT_HOLDS] = "hold", [AV_FACT_WHEN] = "only when", [AV_FACT_FALSE] = "false"
    };
    for (int v = AV_FACT_HOLDS; v <= AV_FACT_FALSE; v++) {
        struct av_fact_look look = av_fact_look((enum av_fact_verdict)v);
        char text[32];
        snprintf(text, sizeof text, "%zu %s", av_facts_count(facts, (enum av_fact_verdict)v), words[v]);
        int end = av_plot_fit(c, x + 2, right, y, look.role, text);
        if (end == x + 2) {
            return;
        }
        av_canvas_put(c, x, y, look.glyph, look.role);
        x = end + 3;
    }
    char text[32];
    snprintf(text, sizeof text, "+ %zu timed", av_facts_timed(facts));
    av_plot_fit(c, x, right, y, AV_ROLE_DIM, text);
}

static void draw_header(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_facts *facts = ctx->study;
    int right = r.x + r.w - 1;
    right = av_plot_fit_right(c, r.x + 30, right, r.y, AV_ROLE_TITLE, "facts") - 2;
    if (facts == NULL) {
        av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_WARN, "nothing is measured");
        return;
    }
    char text[96];
    if (facts->measured < facts->count) {
        enum { BAR = 16 };
        snprintf(text, sizeof text, "%zu of %zu claims measured", facts->measured, facts->count);
        int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, text);
        if (x + 2 + BAR <= right) {
            av_plot_bar(c, x + 2, r.y, BAR, ctx->progress, (struct av_fill){ 0x2588, AV_ROLE_BAR });
        }
        return;
    }
    snprintf(text, sizeof text, "%zu claims, seeds %llu .. %llu", facts->count, (unsigned long long)facts->seed,
             (unsigned long long)(facts->seed + AV_FACT_SEEDS - 1));
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, text);
    draw_counts(c, x > r.x + 1 ? x + 3 : x, right, r.y, facts);
}

/* ---- The table --------------------------------------------------------------------- */

/* Columns of the table in r. */
struct columns {
    int claim, quantity, value, right; /* quantity, value: `right` when left out */
};

static struct columns make_columns(struct av_rect r)
{
    struct columns k;
    int right = r.x + (r.w < MOST ? r.w : MOST) - 1;
    k.right = right;
    k.claim = r.x + WORD_X + (r.w >= WIDE ? 17 : 10);
    k.value = r.w < NARROW ? right : right - (r.w >= WIDE ? 18 : 17);
    k.quantity = r.w >= WIDEST ? k.claim + AV_CLAIM_MOST + 2 : k.value;
    return k;
}

static void draw_headings(struct av_canvas *c, struct av_rect r)
{
    struct columns k = make_columns(r);
    av_plot_fit(c, r.x + WORD_X, k.claim, r.y, AV_ROLE_DIM, "verdict");
    av_plot_fit(c, k.claim, k.quantity, r.y, AV_ROLE_DIM, "the claim");
    av_plot_fit(c, k.quantity, k.value, r.y, AV_ROLE_DIM, "what was measured");
    av_plot_fit_right(c, k.value, k.right, r.y, AV_ROLE_DIM, k.quantity < k.value ? "measured" : "settings agree");
}

/* In how many of its settings the claim is so. */
static size_t agreeing(const struct av_fact *f)
{
    size_t settings = av_claim_settings(f->claim);
    size_t n = 0;
    for (size_t i = 0; i < settings; i++) {
        n += f->at[i].agrees;
    }
    return n;
}

/* The value that decides, beside what it is of; else how far the claim holds. */
static void draw_value(struct av_canvas *c, const struct columns *k, int y, const struct av_fact *f)
{
    char value[AV_FACT_LINE];
    if (f->claim->timed) { /* differs from run to run: it is told in full alone */
        snprintf(value, sizeof value, "timed");
    } else if (k->quantity < k->value) {
        av_fact_short(value, &f->at[av_fact_decisive(f)], k->right - k->value, c->ascii);
    } else {
        snprintf(value, sizeof value, "%zu of %zu", agreeing(f), av_claim_settings(f->claim));
    }
    av_plot_fit_right(c, k->value, k->right, y, AV_ROLE_TEXT, value);
}

/* The quantity and the setting that the value is of. */
static void draw_quantity(struct av_canvas *c, const struct columns *k, int y, const struct av_fact *f)
{
    char text[AV_FACT_LINE];
    snprintf(text, sizeof text, "%.120s: %.80s", f->claim->quantity, f->claim->settings[av_fact_decisive(f)].label);
    av_plot_wrap(c, (struct av_rect){ k->quantity, y, k->value - k->quantity - 1, 1 }, AV_ROLE_DIM, text);
}

static void draw_row(struct av_canvas *c, struct av_rect r, const struct av_fact *f, bool is_selected)
{
    struct columns k = make_columns(r);
    struct av_fact_look look = av_fact_look(f->verdict);
    av_canvas_put(c, r.x + GLYPH_X, r.y, look.glyph, look.role);
    av_plot_fit(c, r.x + WORD_X, k.claim, r.y, look.role, r.w >= WIDE ? look.word : look.brief);
    struct av_rect claim = { k.claim, r.y, k.quantity - k.claim - 1, 1 };
    av_plot_wrap(c, claim, is_selected ? AV_ROLE_SELECT : AV_ROLE_TEXT, f->claim->text);
    if (is_selected) {
        av_canvas_put(c, r.x, r.y, 0x25B8, AV_ROLE_SELECT);
    }
    if (f->verdict == AV_FACT_OPEN) {
        return;
    }
    if (k.quantity < k.value) {
        draw_quantity(c, &k, r.y, f);
    }
    draw_value(c, &k, r.y, f);
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_facts *facts = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    r = av_panel_unused(c, r, ctx->snapshot, "plain softmax in f64", false);
    draw_header(c, r, ctx);
    if (facts != NULL) {
        struct places p = place(r, facts->count);
        size_t at = selected(ctx->state, facts->count);
        size_t first = first_in_sight(at, facts->count, p.table.h);
        draw_headings(c, (struct av_rect){ r.x, r.y + 1, r.w, 1 });
        for (int i = 0; i < p.table.h; i++) {
            struct av_rect line = { p.table.x, p.table.y + i, p.table.w, 1 };
            draw_row(c, line, &facts->facts[first + (size_t)i], first + (size_t)i == at);
        }
        av_panel_fact(c, p.detail, &facts->facts[at], facts->seed);
    }
    av_canvas_clip(c, clip);
}

/* ---- Actions ---------------------------------------------------------------------- */

static struct places edit_places(const struct av_view_edit *e, size_t *count)
{
    av_claims(count);
    const struct av_rect r = { 0, 0, e->cols, e->rows };
    return place(av_panel_used(r, e->snapshot, false), *count);
}

static void move(struct av_view_edit *e, int by)
{
    size_t count;
    av_claims(&count);
    int to = (int)selected(e->state, count) + by;
    e->state->row = to < 0 ? 0 : to < (int)count ? to : (int)count - 1;
}

static void move_down(struct av_view_edit *e)
{
    move(e, 1);
}

static void move_up(struct av_view_edit *e)
{
    move(e, -1);
}

static void page_down(struct av_view_edit *e)
{
    size_t count;
    move(e, edit_places(e, &count).table.h);
}

static void page_up(struct av_view_edit *e)
{
    size_t count;
    move(e, -edit_places(e, &count).table.h);
}

static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    (void)x;
    size_t count;
    av_claims(&count);
    struct places p = place(av_panel_used(r, e->snapshot, false), count);
    if (y >= p.table.y && y < p.table.y + p.table.h) {
        size_t first = first_in_sight(selected(e->state, count), count, p.table.h);
        e->state->row = (int)first + y - p.table.y;
    }
}

static const struct av_view_action actions[] = {
    { "j", "claim-next", "the next claim", move_down },
    { "k", "claim-previous", "the claim before", move_up },
    { "J", "claims-down", "a page of claims down", page_down },
    { "K", "claims-up", "a page of claims up", page_up },
    { NULL, NULL, NULL, NULL },
};

static const char *const listens[] = { "seed", NULL };

static const char *const about[] = {
    "What one reads about the scale, measured here and now over five seeds.",
    "Each claim has a quantity, a range it must be in, and settings in which it",
    "is measured: the claim holds when the mean over the seeds is in the range in",
    "all settings, holds only when ... in some, and is false in none.",
    "The number in the table is of the first setting that speaks against the",
    "claim, if there is one. Below: ✓ a setting agrees, ✗ it does not.",
    "`attnviz facts` writes the same as text, JSON or CSV.",
    NULL,
};

const struct av_view av_view_facts = {
    .name = "facts",
    .title = "claims about the sqrt(d_k) scale put to the test, with verdicts",
    .order = 90,
    .study = "facts",
    .listens = listens,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
