/* panel_heads_tile.c - one head among the others: its map in a border that tells its verdict. */
#include "panels_heads.h"

#include <math.h>

enum { NUMBER_W = 4, CURSOR = 0x25B8 };

/* ---- Maps ---------------------------------------------------------------------------- */

/* Blocks [from, to) of `blocks` that cell `at` of `cells` stands for: one or more. */
static void blocks_of(int at, int cells, size_t blocks, size_t *from, size_t *to)
{
    *from = (size_t)at * blocks / (size_t)cells;
    *to = (size_t)(at + 1) * blocks / (size_t)cells;
    *to = *to > *from ? *to : *from + 1;
}

/* What a cell of a map shows, NaN where no pair is seen. A row of blocks that is
 * not seen gets no weight. */
static double pooled(const struct av_heads_grid *g, const struct av_head_map *map, enum av_heads_cell cell, int x,
                     int y)
{
    size_t a0, a1, b0, b1;
    double sum = 0, most = -(double)INFINITY;
    bool seen = false;
    blocks_of(y, g->map_h, map->rows, &a0, &a1);
    blocks_of(x, g->map_w, map->cols, &b0, &b1);
    for (size_t a = a0; a < a1; a++) {
        for (size_t b = b0; b < b1; b++) {
            if (!isnan(map->max[a][b])) {
                sum += (double)map->share[a][b];
                most = fmax(most, (double)map->max[a][b]);
                seen = true;
            }
        }
    }
    return !seen ? (double)NAN : cell == AV_HEADS_LARGEST ? most : sum / (double)(a1 - a0);
}

static void draw_map(struct av_canvas *c, const struct av_heads_grid *g, const struct av_head *head,
                     enum av_heads_cell cell, int x0, int y0)
{
    for (int y = 0; y < g->map_h; y++) {
        for (int x = 0; x < g->map_w; x++) {
            double v = head->state == AV_HEAD_MEASURED ? pooled(g, &head->map, cell, x, y) : (double)NAN;
            if (isnan(v)) {
                av_canvas_put(c, x0 + x, y0 + y, 0x00B7, AV_ROLE_DIM);
            } else if (v < 0) {
                av_panel_negative(c, x0 + x, y0 + y, fmin(sqrt(-v), 1));
            } else {
                av_canvas_heat(c, x0 + x, y0 + y, (int)(sqrt(fmin(v, 1)) * AV_HEAT_LEVELS));
            }
        }
    }
}

/* ---- Tiles ------------------------------------------------------------------------------ */

/* A border of w x h cells. */
static void draw_border(struct av_canvas *c, struct av_rect r, const struct av_heads_border *b)
{
    int right = r.x + r.w - 1, bottom = r.y + r.h - 1;
    for (int x = r.x + 1; x < right; x++) {
        av_canvas_put(c, x, r.y, b->across, b->role);
        av_canvas_put(c, x, bottom, b->across, b->role);
    }
    for (int y = r.y + 1; y < bottom; y++) {
        av_canvas_put(c, r.x, y, b->down, b->role);
        av_canvas_put(c, right, y, b->down, b->role);
    }
    for (int i = 0; i < 4; i++) {
        av_canvas_put(c, i % 2 == 0 ? r.x : right, i < 2 ? r.y : bottom, b->corners[i / 2][i % 2], b->role);
    }
}

/* "2.3 ✓0.42", or "2.3✓0.42" where that has no room; returns the column behind it. */
static int draw_number(struct av_canvas *c, int x, int right, int y, const struct av_heads *h,
                       const struct av_head *head, enum av_head_quantity quantity)
{
    char text[AV_NUMBER_MAX];
    struct av_fill mark = av_heads_mark(head);
    int end = av_canvas_text(c, x, y, AV_ROLE_TEXT, av_heads_label(text, head));
    x += av_heads_label_w(h);
    x += x + 1 + 1 + NUMBER_W <= right ? 1 : 0;
    while (end < x) { /* over the border */
        av_canvas_put(c, end++, y, ' ', AV_ROLE_TEXT);
    }
    av_canvas_put(c, x, y, mark.body, mark.role);
    return av_canvas_text(c, x + 1, y, AV_ROLE_TEXT, av_heads_number(text, head, quantity, NUMBER_W));
}

static void draw_line(struct av_canvas *c, const struct av_heads_grid *g, const struct av_heads *h,
                      const struct av_heads_look *look, size_t at, int x, int y)
{
    if (at == look->cursor) {
        av_canvas_put(c, x, y, CURSOR, AV_ROLE_SELECT);
    }
    draw_number(c, x + 1, x + g->tile_w, y, h, &h->heads[at], look->quantity);
    av_canvas_text(c, x + 1 + av_heads_label_w(h) + 2 + NUMBER_W + 1, y, AV_ROLE_TEXT, av_heads_name(&h->heads[at]));
}

void av_heads_tile(struct av_canvas *c, const struct av_heads_grid *g, const struct av_heads *h,
                   const struct av_heads_look *look, size_t at, int x, int y)
{
    const struct av_head *head = &h->heads[at];
    const struct av_heads_border border = av_heads_border(head, c->ascii);
    struct av_rect r = { x, y, g->tile_w - g->gap, g->tile_h };
    int right = r.x + r.w - 1;
    if (g->map_w == 0) {
        draw_line(c, g, h, look, at, x, y);
        return;
    }
    draw_border(c, r, &border);
    draw_map(c, g, head, look->cell, x + 1, y + 1);
    int end = draw_number(c, x + 1, right, y, h, head, look->quantity);
    av_plot_fit(c, x + 1, right, r.y + r.h - 1, AV_ROLE_TEXT, av_heads_name(head));
    if (at == look->cursor) {
        av_canvas_put(c, x, y, CURSOR, AV_ROLE_SELECT);
        av_canvas_mark(c, (struct av_rect){ x + 1, y, end - x - 1, 1 });
    }
}
