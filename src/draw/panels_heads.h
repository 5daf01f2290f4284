/* panels_heads.h - the panels of the view `heads`. */
#ifndef ATTNVIZ_PANELS_HEADS_H
#define ATTNVIZ_PANELS_HEADS_H

#include "attnviz/heads_study.h"
#include "panels.h"

/* ---- Quantities and the order of heads ------------------------------------------ */

/* How a quantity is shown. */
struct av_heads_column {
    const char *head;  /* "entropy" */
    const char *words; /* "entropy / ln n, mean" */
    bool percent;
    double top; /* the value with the most heat; 0 has the least */
};
extern const struct av_heads_column av_heads_columns[AV_HEAD_QUANTITIES];

/* As the layers are, or by the quantity shown. */
enum av_heads_sorting { AV_HEADS_IN_PLACE, AV_HEADS_FALLING, AV_HEADS_RISING, AV_HEADS_SORTINGS };

/* What a cell of a map shows: the weight that a query gives to its keys together,
 * in the mean over its queries; or the largest weight. */
enum av_heads_cell { AV_HEADS_SHARE, AV_HEADS_LARGEST, AV_HEADS_CELLS };

/* What is looked at: the head under the cursor by its place in the list. */
struct av_heads_look {
    size_t cursor;
    enum av_head_quantity quantity;
    enum av_heads_sorting sorting;
    enum av_heads_cell cell;
};

/* Heads [count] from the first place on; those without the number, or NaN, last, as
 * they are in the list. */
struct av_heads_order {
    uint16_t at[AV_HEADS_MEASURED];
    size_t count;
};
void av_heads_sort(struct av_heads_order *out, const struct av_heads *h, const struct av_heads_look *look);

/* The number of a head in so many cells, 4 at least, with the same decimals below 10; "<.01" where they do not hold
 * its power of ten, "…" while it is waiting, "n/a". */
const char *av_heads_number(char out[AV_NUMBER_MAX], const struct av_head *h, enum av_head_quantity quantity,
                            int cells);

/* "2.3": the layer as the file counts it, the head from 0. */
const char *av_heads_label(char out[AV_NUMBER_MAX], const struct av_head *h);
int av_heads_label_w(const struct av_heads *h); /* of the longest */

/* What the heads' maps are of, in at most five pieces: "q·k × 0.125", "scores of the
 * file", "weights of the file", as any layer has them by `from`; and where there are
 * logits what makes weights of them: "softmax", "T 1". Returns how many. */
size_t av_heads_way(char pieces[][AV_PIECE_MAX], const struct av_heads *h);

/* Its health by a glyph and a role; the glyph of a severity; what it is called,
 * "" for nothing. */
struct av_fill av_heads_mark(const struct av_head *h);
struct av_fill av_heads_severity_mark(enum av_severity severity);
const char *av_heads_name(const struct av_head *h);

/* Glyphs of a border, which tells the health as the mark does: whoever sees no
 * colours sees lines that are thin, dashed, double and heavy. */
struct av_heads_border {
    uint32_t across, down;
    uint32_t corners[2][2]; /* top, bottom; left, right */
    enum av_role role;
};
struct av_heads_border av_heads_border(const struct av_head *h, bool ascii);

/* ---- The grid ------------------------------------------------------------------ */

/* Where heads stand: tiles of a map in a border, which holds its number and its
 * name; or, where these have no room, a line each. In place a row of tiles is a
 * layer, if there are several; else rows are filled from the left. */
struct av_heads_grid {
    struct av_rect r;
    int map_w, map_h; /* 0: lines of text */
    int tile_w, tile_h;
    int gap;                       /* blank columns behind a tile, among tile_w */
    size_t rows, cols;             /* of the whole grid */
    size_t row, col, down, across; /* in sight: from (row, col) on, so many */
};
struct av_heads_grid av_heads_layout(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look,
                                     const struct av_heads_order *order);

/* The place of a head in the grid; the head at a place, and at a cell of the
 * screen, h->count where there is none. */
void av_heads_place(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look,
                    const struct av_heads_order *order, size_t head, size_t *row, size_t *col);
size_t av_heads_at(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look,
                   const struct av_heads_order *order, size_t row, size_t col);
size_t av_heads_under(const struct av_heads_grid *g, const struct av_heads *h, const struct av_heads_look *look,
                      const struct av_heads_order *order, int x, int y);

/* The head at that cell of the screen, and in what the grid says of it. */
void av_heads_tile(struct av_canvas *c, const struct av_heads_grid *g, const struct av_heads *h,
                   const struct av_heads_look *look, size_t at, int x, int y);

/* ---- Panels ---------------------------------------------------------------------- */

/* Pages: maps; numbers. */
enum { AV_HEADS_PAGES = 2 };

/* The first line of r: how many heads, what is in sight of the grid in *body (NULL:
 * the page has none), and how their weights come about. */
void av_panel_heads_title(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                          const struct av_rect *body, const struct av_heads_look *look);

void av_panel_heads_grid(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                         const struct av_heads_look *look);

/* What the marks and the map's cells are; a line. */
void av_panel_heads_legend(struct av_canvas *c, int x, int right, int y, const struct av_heads_look *look);

/* All that is known of one head, its warnings first; returns the lines used. */
int av_panel_heads_detail(struct av_canvas *c, struct av_rect r, const struct av_heads *h, size_t at);

/* A quantity over layers (down) and heads (across); returns the lines used. The
 * head at a cell, h->count where there is none. */
int av_panel_heads_matrix(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                          const struct av_heads_look *look);
size_t av_panel_heads_matrix_under(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look, int x,
                                   int y);

/* The rules, and the heads that they name with what was measured; returns the
 * lines used. */
int av_panel_heads_named(struct av_canvas *c, struct av_rect r, const struct av_heads *h);

/* The heads of the cursor's layer with all quantities that fit, a line each below
 * a line of headings; the cursor's is among them. Returns the lines used. */
int av_panel_heads_table(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                         const struct av_heads_look *look);

/* The text of a page, from its line `first` on: the head under the cursor; on page 2
 * before that what was found, its layer, and the heads with a name. */
void av_panel_heads_text(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                         const struct av_heads_look *look, int page, int first);

/* Its lines beyond those that r shows: `first` at most. */
int av_heads_text_hidden(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look, int page);

#endif
