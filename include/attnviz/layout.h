/* layout.h - from sizes to rectangles: where panels stand, which entry of a
 * matrix a cell shows. Pure functions; drawing and mouse share them. */
#ifndef ATTNVIZ_LAYOUT_H
#define ATTNVIZ_LAYOUT_H

#include "attnviz/canvas.h"

/* The panels of the overview. */
enum av_place {
    AV_PLACE_HEADER,
    AV_PLACE_SCORES,
    AV_PLACE_GAUGES,
    AV_PLACE_VERDICT,
    AV_PLACE_WEIGHTS,
    AV_PLACE_QUERY,
    AV_PLACE_MOMENTS,
    AV_PLACE_COUNT
};

/* A panel that was shed has width and height 0. */
struct av_layout {
    struct av_rect at[AV_PLACE_COUNT];
};

/* Places the panels in r for a matrix of n_rows x n_cols weights. Panels never
 * overlap and lie within r. As r gets lower they go in this order: query,
 * weights, scores, verdict, gauges, and the header last; from 72 columns on,
 * where scores and weights stand beside each other, scores before weights.
 * Moments only fill what a large screen leaves. */
struct av_layout av_layout_overview(struct av_rect r, size_t n_rows, size_t n_cols);

/* Leaves the scores h lines, for words in their place: the panels below them
 * move up, the gauges grow into what that frees. */
void av_layout_shrink_scores(struct av_layout *l, int h);

/* Size of a table of moments. */
enum { AV_MOMENTS_W = 56, AV_MOMENTS_H = 10 };

/* Columns left of a heatmap's cells, for the row labels, and lines it needs
 * beside the cells: title and column labels above, legend below. */
enum { AV_HEAT_MARGIN = 6, AV_HEAT_ABOVE = 2, AV_HEAT_BELOW = 1 };

/* The part of a matrix that the user looks at: see struct av_view_state. */
struct av_heat_window {
    int zoom, row, col;
};

/* A heatmap: rows x cols entries from (row, col) on in a rectangle of screen
 * cells. When entries are more than cells, a cell stands for pool_rows x
 * pool_cols of them (fewer at the far ends); otherwise an entry is drawn
 * cell_w x cell_h cells large. Everything is 0 when there is no room. */
struct av_heat_grid {
    struct av_rect cells;
    int cell_w, cell_h;
    size_t pool_rows, pool_cols;
    size_t row, col;
    size_t rows, cols;
};

/* Fits an n_rows x n_cols matrix, n >= 1, into the cells of r. */
struct av_heat_grid av_layout_heat(struct av_rect r, size_t n_rows, size_t n_cols, struct av_heat_window window);

/* The cells of a heatmap panel: r without margins, title and legend. */
struct av_rect av_layout_heat_cells(struct av_rect r);

/* The first entry that the cell at (x, y) stands for; false outside. */
bool av_heat_entry(const struct av_heat_grid *g, int x, int y, size_t *row, size_t *col);

/* Where the screen shows an entry: its first cell column or row, -1 when it
 * is out of sight. */
int av_heat_x(const struct av_heat_grid *g, size_t col);
int av_heat_y(const struct av_heat_grid *g, size_t row);

#endif
