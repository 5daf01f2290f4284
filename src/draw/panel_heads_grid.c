/* panel_heads_grid.c - a small map of every head's weights, with its number below. */
#include "panels_heads.h"

#include <math.h>
#include <stdio.h>

enum {
    NUMBER_W = 4,
    MARKED_W = 1 + 1 + NUMBER_W, /* behind the label */
    WORDS_H = 2,                 /* below a map, and a line between tiles */
    NAME_W = 9,                  /* the longest */
    CURSOR = 0x25B8,
    LINE_TAIL_W = 1 + NAME_W
};

/* ---- Where heads stand ----------------------------------------------------------- */

static size_t at_least_one(int n)
{
    return n > 1 ? (size_t)n : 1;
}

static bool by_layer(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look)
{
    return look->sorting == AV_HEADS_IN_PLACE && g->map_w > 0 && h->layers > 1;
}

struct size {
    int w, h;
};

/* Tiles with maps of that size in r, without what is in sight. */
static struct av_heads_grid with_maps(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look,
                                      struct size map)
{
    struct av_heads_grid g = { .r = r, .map_w = map.w, .map_h = map.h };
    int words = av_heads_label_w(h) + MARKED_W;
    words = words > NAME_W ? words : NAME_W;
    g.tile_w = (words > map.w ? words : map.w) + 1;
    g.tile_h = g.map_h + WORDS_H + 1;
    if (map.w == 0) {
        g.tile_w = 1 + words + LINE_TAIL_W + 1;
        g.tile_h = 1;
    }
    g.across = at_least_one((r.w + 1) / g.tile_w); /* the last ones need no gap */
    g.down = at_least_one((r.h + (map.w > 0)) / g.tile_h);
    g.cols = by_layer(&g, h, look) ? h->widest : g.across < h->count ? g.across : h->count;
    g.rows = by_layer(&g, h, look) ? h->layers : (h->count + g.cols - 1) / g.cols;
    return g;
}

/* The first of `count` of which `fit` are in sight, and one of them is `at`. */
static size_t first_of(size_t at, size_t count, size_t fit)
{
    size_t last = count > fit ? count - fit : 0;
    size_t first = at > fit / 2 ? at - fit / 2 : 0;
    return first < last ? first : last;
}

struct av_heads_grid av_heads_layout(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look,
                                     const struct av_heads_order *order)
{
    enum { WHOLE = AV_HEADS_MAP, HALF = WHOLE / 2, TWICE = 2 * WHOLE };
    static const struct size sizes[] = { { TWICE, 16 }, { TWICE, 12 }, { WHOLE, 8 }, { WHOLE, 6 }, { HALF, 4 } };
    static const struct size lines = { 0, 0 };
    struct av_heads_grid g = { 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) { /* the largest of which all fit, or the smallest */
        g = with_maps(r, h, look, sizes[i]);
        if (g.cols <= g.across && g.rows <= g.down) {
            break;
        }
    }
    if (r.h < g.tile_h - 1 || (r.w < 2 * g.tile_w - 1 && h->count > 1)) {
        g = with_maps(r, h, look, lines);
    }
    size_t row, col;
    av_heads_place(&g, h, look, order, look->cursor, &row, &col);
    g.row = first_of(row, g.rows, g.down);
    g.col = first_of(col, g.cols, g.across);
    return g;
}

void av_heads_place(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look,
                    const struct av_heads_order *order, size_t head, size_t *row, size_t *col)
{
    if (by_layer(g, h, look)) {
        *row = h->heads[head].layer;
        *col = h->heads[head].head;
        return;
    }
    size_t at = 0;
    while (at + 1 < order->count && order->at[at] != head) {
        at++;
    }
    *row = at / g->cols;
    *col = at % g->cols;
}

size_t av_heads_at(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look,
                   const struct av_heads_order *order, size_t row, size_t col)
{
    if (by_layer(g, h, look)) {
        const struct av_head *head = av_heads_find(h, row, col);
        return head != NULL ? (size_t)(head - h->heads) : h->count;
    }
    size_t at = row * g->cols + col;
    return col < g->cols && at < order->count ? order->at[at] : h->count;
}

size_t av_heads_under(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look,
                      const struct av_heads_order *order, int x, int y)
{
    int col = (x - g->r.x) / g->tile_w, row = (y - g->r.y) / g->tile_h;
    if (x < g->r.x || y < g->r.y || (size_t)col >= g->across || (size_t)row >= g->down) {
        return h->count;
    }
    return av_heads_at(g, h, look, order, g->row + (size_t)row, g->col + (size_t)col);
}

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

/* "2.3 ✓0.42"; returns the column behind it. */
static int draw_number(struct av_canvas *c, int x, int y, const struct av_heads *h, const struct av_head *head,
                       enum av_head_quantity quantity)
{
    char text[AV_NUMBER_MAX];
    struct av_fill mark = av_heads_mark(head);
    av_canvas_text(c, x, y, AV_ROLE_TEXT, av_heads_label(text, head));
    x += av_heads_label_w(h) + 1;
    av_canvas_put(c, x, y, mark.body, mark.role);
    av_canvas_text(c, x + 1, y, AV_ROLE_TEXT, av_heads_number(text, head, quantity, NUMBER_W));
    return x + 1 + NUMBER_W;
}

static void draw_tile(struct av_canvas *c, const struct av_heads_grid *g, const struct av_heads *h,
                      const struct av_heads_look *look, size_t at, int x, int y)
{
    const struct av_head *head = &h->heads[at];
    bool cursor = at == look->cursor;
    if (g->map_w == 0) {
        if (cursor) {
            av_canvas_put(c, x, y, CURSOR, AV_ROLE_SELECT);
        }
        int right = draw_number(c, x + 1, y, h, head, look->quantity);
        av_canvas_text(c, right + 1, y, AV_ROLE_TEXT, av_heads_name(head));
        return;
    }
    draw_map(c, g, head, look->cell, x, y);
    draw_number(c, x, y + g->map_h, h, head, look->quantity);
    av_canvas_text(c, x, y + g->map_h + 1, AV_ROLE_TEXT, av_heads_name(head));
    if (cursor) {
        av_canvas_mark(c, (struct av_rect){ x, y + g->map_h, g->tile_w - 1, 1 });
    }
}

void av_panel_heads_grid(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                         const struct av_heads_look *look)
{
    struct av_heads_order order;
    if (r.h < 1 || r.w < 1) {
        return;
    }
    av_heads_sort(&order, h, look);
    const struct av_heads_grid g = av_heads_layout(r, h, look, &order);
    struct av_rect clip = av_plot_enter(c, r);
    for (size_t a = 0; a < g.down; a++) {
        for (size_t b = 0; b < g.across; b++) {
            size_t at = av_heads_at(&g, h, look, &order, g.row + a, g.col + b);
            if (at < h->count) {
                draw_tile(c, &g, h, look, at, r.x + (int)b * g.tile_w, r.y + (int)a * g.tile_h);
            }
        }
    }
    av_canvas_clip(c, clip);
}

/* "✓ fine ! saturated ✗ dead 0 <ramp> 1 largest weight of a cell". */
void av_panel_heads_legend(struct av_canvas *c, int x, int right, int y, const struct av_heads_look *look)
{
    static const char *const names[AV_HEAD_HEALTHS] = { "fine", "saturated", "dead" };
    for (enum av_head_health health = 0; health < AV_HEAD_HEALTHS; health++) {
        const struct av_head like = { .state = AV_HEAD_MEASURED, .health = health };
        x = av_panel_legend(c, x, right, y, av_heads_mark(&like), names[health]);
    }
    if (right - x < AV_HEAT_LEVELS + 4) {
        return;
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, "0 ");
    for (int level = 0; level < AV_HEAT_LEVELS; level++) {
        av_canvas_heat(c, x++, y, level);
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, " 1 ");
    av_plot_fit(c, x, right, y, AV_ROLE_AXIS,
                look->cell == AV_HEADS_LARGEST ? "largest weight of a cell" : "a query's weight on a cell's keys");
}
