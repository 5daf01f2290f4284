/* panel_heads_matrix.c - a quantity over layers and heads, and the heads that have a name. */
#include "panels_heads.h"

#include <math.h>
#include <stdio.h>

enum {
    SWATCH_W = 2,
    NUMBER_W = 4,
    CELL_W = SWATCH_W + NUMBER_W + 2, /* behind it its mark, and a blank */
    MARGIN = 6,                       /* "L 12  " */
    ABOVE = 2,                        /* title, numbers of heads */
    RULE_W = 32                       /* "sink      first > 50%" */
};

/* ---- The matrix ------------------------------------------------------------------- */

struct grid {
    struct av_rect cells;
    size_t row, col, down, across;
};

static size_t first_of(size_t at, size_t count, size_t fit)
{
    size_t last = count > fit ? count - fit : 0;
    size_t first = at > fit / 2 ? at - fit / 2 : 0;
    return first < last ? first : last;
}

static struct grid layout(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look)
{
    const struct av_head *cursor = &h->heads[look->cursor];
    struct grid g = { .cells = { r.x + MARGIN, r.y + ABOVE, r.w - MARGIN, r.h - ABOVE } };
    size_t fit_w = g.cells.w > CELL_W ? (size_t)(g.cells.w / CELL_W) : 0;
    size_t fit_h = g.cells.h > 0 ? (size_t)g.cells.h : 0;
    g.across = fit_w < h->widest ? fit_w : h->widest;
    g.down = fit_h < h->layers ? fit_h : h->layers;
    g.row = first_of(cursor->layer, h->layers, g.down);
    g.col = first_of(cursor->head, h->widest, g.across);
    return g;
}

static void draw_cell(struct av_canvas *c, int x, int y, const struct av_head *head, const struct av_heads_look *look)
{
    const struct av_heads_column *column = &av_heads_columns[look->quantity];
    char text[AV_NUMBER_MAX];
    double v = head->state == AV_HEAD_MEASURED ? head->at[look->quantity] : (double)NAN;
    for (int i = 0; i < SWATCH_W; i++) {
        if (isnan(v)) {
            av_canvas_put(c, x + i, y, 0x00B7, AV_ROLE_DIM);
        } else {
            av_canvas_heat(c, x + i, y, (int)(fmin(v / column->top, 1) * AV_HEAT_LEVELS));
        }
    }
    struct av_fill mark = av_heads_mark(head);
    bool fine = head->state == AV_HEAD_MEASURED && head->health == AV_HEAD_FINE;
    av_canvas_text_right(c, x + SWATCH_W + NUMBER_W, y, fine ? AV_ROLE_TEXT : mark.role,
                         av_heads_number(text, head, look->quantity, NUMBER_W));
    av_canvas_put(c, x + SWATCH_W + NUMBER_W, y, mark.body, mark.role);
}

/* "entropy / ln n, mean  layer ↓ head →   0 <ramp> 1". */
static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_heads_look *look)
{
    const struct av_heads_column *column = &av_heads_columns[look->quantity];
    char top[AV_NUMBER_MAX];
    int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, column->words);
    x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, "layer ↓ head →") + 3;
    if (right - x < AV_HEAT_LEVELS + 6) {
        return;
    }
    x = av_canvas_text(c, x, r.y, AV_ROLE_AXIS, "0 ");
    for (int level = 0; level < AV_HEAT_LEVELS; level++) {
        av_canvas_heat(c, x++, r.y, level);
    }
    av_canvas_textf(c, x, r.y, AV_ROLE_AXIS, " %s", column->percent ? "100%" : av_plot_short(top, column->top, 3));
}

int av_panel_heads_matrix(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                          const struct av_heads_look *look)
{
    const struct grid g = layout(r, h, look);
    if (g.down == 0 || g.across == 0) {
        return 0;
    }
    draw_title(c, r, look);
    for (size_t b = 0; b < g.across; b++) {
        av_canvas_textf(c, g.cells.x + (int)b * CELL_W + SWATCH_W, r.y + 1, AV_ROLE_AXIS, "%zu", g.col + b);
    }
    for (size_t a = 0; a < g.down; a++) {
        int y = g.cells.y + (int)a;
        const struct av_head *first = av_heads_find(h, g.row + a, 0);
        if (first != NULL) {
            av_canvas_textf(c, r.x + 1, y, AV_ROLE_AXIS, "%zu", first->number);
        }
        for (size_t b = 0; b < g.across; b++) {
            const struct av_head *head = av_heads_find(h, g.row + a, g.col + b);
            int x = g.cells.x + (int)b * CELL_W;
            if (head != NULL) {
                draw_cell(c, x, y, head, look);
            }
            if (head == &h->heads[look->cursor]) {
                av_canvas_mark(c, (struct av_rect){ x + SWATCH_W, y, NUMBER_W, 1 });
            }
        }
    }
    return ABOVE + (int)g.down;
}

size_t av_panel_heads_matrix_under(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look, int x,
                                   int y)
{
    const struct grid g = layout(r, h, look);
    if (x < g.cells.x || y < g.cells.y) {
        return h->count;
    }
    size_t a = (size_t)(y - g.cells.y), b = (size_t)((x - g.cells.x) / CELL_W);
    const struct av_head *head = a < g.down && b < g.across ? av_heads_find(h, g.row + a, g.col + b) : NULL;
    return head != NULL ? (size_t)(head - h->heads) : h->count;
}

/* ---- Heads with a name ---------------------------------------------------------------- */

/* "sink      first > 50%". */
static void draw_rule(struct av_canvas *c, int x, int right, int y, const struct av_head_rule *rule)
{
    char limit[AV_NUMBER_MAX], text[64];
    snprintf(text, sizeof text, "%-10s %s %c %s", rule->name, av_heads_columns[rule->of].head, rule->below ? '<' : '>',
             av_panel_percent(limit, rule->limit));
    av_plot_fit(c, x, right, y, AV_ROLE_TITLE, text);
}

/* The heads of a kind with their shares, from (x, y) on; the lines used, at most `lines`. */
static int draw_kind(struct av_canvas *c, struct av_rect r, const struct av_heads *h, enum av_head_kind kind)
{
    const struct av_head_rule *rule = &av_head_rules[kind];
    int x = r.x, y = r.y, used = 0;
    for (size_t i = 0; i < h->count; i++) {
        char label[AV_NUMBER_MAX], share[AV_NUMBER_MAX], text[2 * AV_NUMBER_MAX + 1];
        const struct av_head *head = &h->heads[i];
        if (head->state != AV_HEAD_MEASURED || head->kind != kind) {
            continue;
        }
        int w = snprintf(text, sizeof text, "%s %s", av_heads_label(label, head),
                         av_heads_number(share, head, rule->of, NUMBER_W));
        if (x > r.x && x + w > r.x + r.w) {
            x = r.x;
            y++;
        }
        if (y >= r.y + r.h) {
            av_canvas_put(c, r.x + r.w - 1, r.y + r.h - 1, 0x2026, AV_ROLE_DIM);
            return r.h;
        }
        x = av_plot_fit(c, x, r.x + r.w, y, AV_ROLE_TEXT, text) + 2;
        used = y - r.y + 1;
    }
    return used;
}

int av_panel_heads_named(struct av_canvas *c, struct av_rect r, const struct av_heads *h)
{
    int bottom = r.y + r.h, y = r.y;
    for (enum av_head_kind kind = 0; kind < AV_HEAD_KINDS && y < bottom; kind++) {
        struct av_rect at = { r.x + RULE_W, y, r.w - RULE_W - 1, bottom - y };
        int used = draw_kind(c, at, h, kind);
        if (used > 0) {
            draw_rule(c, r.x + 1, r.x + RULE_W, y, &av_head_rules[kind]);
            y += used;
        }
    }
    return y - r.y;
}
