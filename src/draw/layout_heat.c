/* layout_heat.c - which entry of a matrix stands in which cell. */
#include "attnviz/layout.h"

enum { CELL_W_MOST = 12, CELL_H_MOST = 4, ASPECT = 3 };

/* One direction of a heatmap: `count` entries from `first` on, `pool` of them
 * in each of the cells, or `size` screen cells for each of them. */
struct span {
    int cells, size;
    size_t pool, first, count;
};

static struct span fit(int room, size_t n, int size_most, struct av_heat_window window, int first)
{
    struct span s = { .size = 1 };
    size_t more = (n - 1) / (size_t)room; /* entries of a cell beyond its first */
    if (more == 0) {
        s.size = room / (int)n;
        s.size = s.size < size_most ? s.size : size_most;
    }
    for (int i = 0; i < window.zoom; i++) {
        if (more > 0) {
            more /= 2;
        } else if (s.size * 2 <= room) {
            s.size *= 2;
        } else {
            break;
        }
    }
    s.pool = more + 1;
    size_t capacity = (size_t)(room / s.size) * s.pool;
    /* Pools start at multiples of their size, so that panning moves them
     * without mixing them anew. */
    size_t far = n > capacity ? (n - capacity + s.pool - 1) / s.pool * s.pool : 0;
    s.first = first > 0 ? (size_t)first / s.pool * s.pool : 0;
    s.first = s.first < far ? s.first : far;
    s.count = n - s.first < capacity ? n - s.first : capacity;
    s.cells = (int)((s.count + s.pool - 1) / s.pool) * s.size;
    return s;
}

struct av_heat_grid av_layout_heat(struct av_rect r, size_t n_rows, size_t n_cols, struct av_heat_window window)
{
    if (r.w < 1 || r.h < 1 || n_rows < 1 || n_cols < 1) {
        return (struct av_heat_grid){ .cells = { r.x, r.y, 0, 0 } };
    }
    /* A screen cell is about twice as high as wide: entries are kept between
     * tall by two and wide by one and a half. */
    const struct av_heat_window all = { 0, 0, 0 };
    int w = fit(r.w, n_cols, CELL_W_MOST, all, 0).size;
    int h = fit(r.h, n_rows, CELL_H_MOST, all, 0).size;
    h = h < w ? h : w;
    w = w < ASPECT * h ? w : ASPECT * h;
    struct span x = fit(r.w, n_cols, w, window, window.col);
    struct span y = fit(r.h, n_rows, h, window, window.row);
    return (struct av_heat_grid){
        .cells = { r.x, r.y, x.cells, y.cells },
        .cell_w = x.size,
        .cell_h = y.size,
        .pool_rows = y.pool,
        .pool_cols = x.pool,
        .row = y.first,
        .col = x.first,
        .rows = y.count,
        .cols = x.count,
    };
}

struct av_rect av_layout_heat_cells(struct av_rect r)
{
    struct av_rect cells = { r.x + AV_HEAT_MARGIN, r.y + AV_HEAT_ABOVE, r.w - AV_HEAT_MARGIN,
                             r.h - AV_HEAT_ABOVE - AV_HEAT_BELOW };
    return cells.w > 0 && cells.h > 0 ? cells : (struct av_rect){ r.x, r.y, 0, 0 };
}

bool av_heat_entry(const struct av_heat_grid *g, int x, int y, size_t *row, size_t *col)
{
    x -= g->cells.x;
    y -= g->cells.y;
    if (x < 0 || y < 0 || x >= g->cells.w || y >= g->cells.h) {
        return false;
    }
    *row = g->row + (size_t)(y / g->cell_h) * g->pool_rows;
    *col = g->col + (size_t)(x / g->cell_w) * g->pool_cols;
    return true;
}

int av_heat_x(const struct av_heat_grid *g, size_t col)
{
    bool seen = col >= g->col && col - g->col < g->cols;
    return seen ? g->cells.x + (int)((col - g->col) / g->pool_cols) * g->cell_w : -1;
}

int av_heat_y(const struct av_heat_grid *g, size_t row)
{
    bool seen = row >= g->row && row - g->row < g->rows;
    return seen ? g->cells.y + (int)((row - g->row) / g->pool_rows) * g->cell_h : -1;
}
