/* panel_heads_grid.c - a small map of every head's weights, side by side. */
#include "panels_heads.h"

enum {
    NUMBER_W = 4,
    MARKED_W = 1 + NUMBER_W, /* behind the label */
    BORDER = 2,              /* both sides */
    NAME_W = 8,              /* the longest */
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
    int w, h, gap;
};

/* Tiles with maps of that size in r, without what is in sight. */
static struct av_heads_grid with_maps(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look,
                                      struct size map)
{
    struct av_heads_grid g = { .r = r, .map_w = map.w, .map_h = map.h, .gap = map.gap };
    int words = av_heads_label_w(h) + MARKED_W;
    g.tile_w = (words > map.w ? words : map.w) + BORDER + map.gap;
    g.tile_h = g.map_h + BORDER;
    if (map.w == 0) {
        g.tile_w = 1 + words + 1 + LINE_TAIL_W + 1;
        g.tile_h = 1;
    }
    g.across = at_least_one((r.w + map.gap) / g.tile_w); /* the last one needs no gap */
    g.down = at_least_one(r.h / g.tile_h);
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

static bool all_fit(const struct av_heads_grid *g)
{
    return g->tile_h <= g->r.h && g->tile_w - g->gap <= g->r.w && g->cols <= g->across && g->rows <= g->down;
}

/* Wider maps where the columns leave room: by WIDER cells, up to four times as wide as high. */
static struct av_heads_grid widened(struct av_heads_grid g, const struct av_heads *h, const struct av_heads_look *look)
{
    enum { WIDER = AV_HEADS_MAP / 2, WIDEST = 4 };
    while (g.gap > 0 && g.map_w + WIDER <= WIDEST * g.map_h) {
        const struct av_heads_grid wider = with_maps(g.r, h, look, (struct size){ g.map_w + WIDER, g.map_h, g.gap });
        size_t columns = g.cols < g.across ? g.cols : g.across;
        if (wider.across < columns || wider.tile_w - wider.gap > g.r.w) {
            break;
        }
        g = wider;
    }
    return g;
}

struct av_heads_grid av_heads_layout(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look,
                                     const struct av_heads_order *order)
{
    enum { WHOLE = AV_HEADS_MAP, HALF = WHOLE / 2, TWICE = 2 * WHOLE, HUGE = 4 * WHOLE };
    static const struct size sizes[] = { { HUGE, 32, 1 }, { HUGE, 24, 1 }, { TWICE, 16, 1 }, { TWICE, 12, 1 },
                                         { WHOLE, 8, 1 }, { WHOLE, 6, 1 }, { HALF, 4, 1 },   { HALF, 4, 0 } };
    static const struct size lines = { 0, 0, 1 };
    struct av_heads_grid g = { 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) { /* the largest of which all fit, or the smallest */
        g = with_maps(r, h, look, sizes[i]);
        if (all_fit(&g)) {
            break;
        }
    }
    if (r.h < g.tile_h || (r.w < 2 * g.tile_w && h->count > 1)) {
        g = with_maps(r, h, look, lines);
    }
    g = widened(g, h, look);
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

/* ---- The panel ----------------------------------------------------------------------- */

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
                av_heads_tile(c, &g, h, look, at, r.x + (int)b * g.tile_w, r.y + (int)a * g.tile_h);
            }
        }
    }
    av_canvas_clip(c, clip);
}

/* "─✓ fine  ┄~ spread  ═! warning  ━✗ bad  0 <ramp> 1 largest weight of a cell". */
void av_panel_heads_legend(struct av_canvas *c, int x, int right, int y, const struct av_heads_look *look)
{
    static const char *const names[AV_HEAD_HEALTHS] = { "fine", "spread", "warning", "bad" };
    static const char *const cells[AV_HEADS_CELLS] = { "a query's weight on a cell's keys",
                                                       "largest weight of a cell" };
    static const char *const shorter[AV_HEADS_CELLS] = { "weight on a cell", "largest of a cell" };
    for (enum av_head_health health = 0; health < AV_HEAD_HEALTHS; health++) {
        const struct av_head like = { .state = AV_HEAD_MEASURED, .rows = 1, .health = health };
        const struct av_heads_border border = av_heads_border(&like, c->ascii);
        int end = av_panel_legend(c, x + 1, right, y, av_heads_mark(&like), names[health]);
        if (end > x + 1) {
            av_canvas_put(c, x, y, border.across, border.role);
            x = end;
        }
    }
    if (right - x < AV_HEAT_LEVELS + 4) {
        return;
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, "0 ");
    for (int level = 0; level < AV_HEAT_LEVELS; level++) {
        av_canvas_heat(c, x++, y, level);
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, " 1 ");
    if (av_plot_fit(c, x, right, y, AV_ROLE_AXIS, cells[look->cell]) == x) {
        av_plot_fit(c, x, right, y, AV_ROLE_AXIS, shorter[look->cell]);
    }
}
