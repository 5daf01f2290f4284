/* panels.h - the panels that views are made of.
 *
 * A panel draws one thing into its rectangle, drops what does not fit and
 * draws nothing at all when too little is left. */
#ifndef ATTNVIZ_PANELS_H
#define ATTNVIZ_PANELS_H

#include "attnviz/layout.h"
#include "attnviz/plot.h"
#include "attnviz/view.h"

/* How one of the two states, scale on and scale off, looks: a colour role, a
 * glyph for areas and a name, so that colour is never the only carrier. */
struct av_look {
    const char *name;
    struct av_fill fill;
};

/* The look of the current state (its own when logits were given by hand, or
 * scores or weights by a file, where scale does not apply) and of the one with scale toggled. */
struct av_look av_look_scale(bool on);
struct av_look av_look_now(const struct av_snapshot *s);
struct av_look av_look_other(const struct av_snapshot *s);

/* What a file holds in the place of queries and keys: "weights", "scores"; NULL:
 * there are queries and keys, or logits by hand. What is therefore not there,
 * in a line: "This file holds weights alone: no scores." or, where `from` has
 * chosen, "Shown are the file's weights (from): no scores." Writes to out and
 * returns it. */
const char *av_panel_holds(const struct av_snapshot *s);
enum { AV_LACK_MAX = 96 };
const char *av_panel_lacks(char out[AV_LACK_MAX], const struct av_snapshot *s, const char *what);

/* Why a study that measures queries and keys has no result. */
const char *av_panel_no_study(char out[AV_LACK_MAX], const struct av_snapshot *s);

/* Marks on gauges and plots. */
enum {
    AV_MARK_NOW = 0x25CF,    /* black circle */
    AV_MARK_OTHER = 0x25C7,  /* white diamond */
    AV_MARK_GHOST = 0x25B3,  /* white triangle */
    AV_MARK_THEORY = 0x2502, /* vertical line */
    AV_MARK_ALARM = '!',
    AV_MARK_CURVE = 0x2022,  /* bullet */
    AV_MARK_HOLDS = 0x2713,  /* check mark */
    AV_MARK_PARTLY = 0x25D0, /* circle with left half black */
    AV_MARK_BROKEN = 0x2717, /* ballot x */
    AV_MARK_UNKNOWN = 0x00B7 /* middle dot */
};

/* Draws "glyph name" in one colour when it fits into [x, right); returns the
 * column behind it and a gap of two. */
int av_panel_legend(struct av_canvas *c, int x, int right, int y, struct av_fill glyph, const char *name);

/* Of `steps` equal steps from 0 to 1 the one that a part lies in; beyond them the
 * first or the last one, for NaN the first. */
int av_panel_step(double part, int steps);

/* A negative cell of a heatmap: a round mark that grows with part, 0 .. 1, in
 * so many steps. */
enum { AV_NEGATIVE_STEPS = 4 };
void av_panel_negative(struct av_canvas *c, int x, int y, double part);

/* A share in percent, as "9%", "<1%", ">99%", "n/a". */
const char *av_panel_percent(char out[AV_NUMBER_MAX], double share);

/* A weight p with two digits; close to 1 as "1 - 3e-4", from one_minus = 1 - p. */
const char *av_panel_weight(char out[AV_NUMBER_MAX], double p, double one_minus);

/* What stands between logits and weights: "softmax", "sparsemax"; whether it is
 * the softmax, in double, which a file's weights are not. The dtype's name. */
const char *av_panel_bend(const struct av_snapshot *s);
bool av_panel_by_softmax(const struct av_snapshot *s);
const char *av_panel_dtype(const struct av_snapshot *s);

/* "qk_rms+softcap in f16"; "" of the plain softmax in double. Writes to out and
 * returns it. */
enum { AV_PIECE_MAX = 192 };
const char *av_panel_variant(char out[AV_PIECE_MAX], const struct av_snapshot *s);

/* "sequence 0 of 2; --batch", brief "seq 0/2", where a file holds several; returns
 * the number of pieces written, 0 or 1. */
size_t av_panel_sequence(char out[AV_PIECE_MAX], const struct av_source *source, bool brief);

/* Do averages of keys stand in the places of keys? */
bool av_panel_averages(const struct av_snapshot *s);

/* Columns of a matrix of that quantity: the keys, or averages of them. */
enum av_heat_quantity { AV_HEAT_WEIGHTS, AV_HEAT_LOG_WEIGHTS, AV_HEAT_LOGITS, AV_HEAT_SCORES, AV_HEAT_QUANTITIES };
size_t av_panel_columns(const struct av_snapshot *s, enum av_heat_quantity quantity);

/* What an invalid row holds: "a NaN or an infinity", "NaN in f16: beyond 65504". */
const char *av_panel_invalid(char out[AV_PIECE_MAX], const struct av_snapshot *s, size_t i);

/* The selected query and key, moved into the matrix. */
size_t av_panel_query(const struct av_snapshot *s);
size_t av_panel_key(const struct av_snapshot *s);

/* The formula with its live values, the sizes and the view's title; one line. */
void av_panel_header(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx, const char *title);

/* The title of a view of several pages, "derivation 1/3", for the right end of
 * its first line; pages are counted from 0, as in struct av_view_state. Writes
 * to out and returns it. */
enum { AV_TITLE_MAX = 40 };
const char *av_panel_title(char out[AV_TITLE_MAX], const char *view, int page, int pages);

/* What views of drawn entries say when there are files. */
#define AV_NOT_THE_FILES "not the files"

/* The rest of r, without the line in which a view says what it does not use of
 * the present state: "plain softmax in f64: variant softcap is not used here".
 * All of r when variant and dtype are the defaults, or r is low. uses_variant:
 * only dtype is not used. av_panel_unused draws that line, the last one, and
 * returns the rest. */
struct av_rect av_panel_used(struct av_rect r, const struct av_snapshot *s, bool uses_variant);
struct av_rect av_panel_unused(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s, const char *instead,
                               bool uses_variant);

/* What a view is drawn of, "32×32 · normal · seed 42", from column x on: the
 * first pieces of n that fit, of at most AV_PIECE_MAX bytes each. */
void av_panel_pieces(struct av_canvas *c, int x, int right, int y, char pieces[][AV_PIECE_MAX], size_t n);

/* Histograms of the scores, scaled above unscaled on one axis of scores, with
 * the density that theory expects. */
void av_panel_scores(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Measured against expected moments of the scores. */
void av_panel_moments(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Gauges of entropy, largest weight, gradient, and more where there is room. */
void av_panel_gauges(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* The findings, the worst first. */
void av_panel_verdict(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Quantities of the heatmap are counted by struct av_view_state.quantity, ways
 * to pool by .pool. */
enum av_heat_pool { AV_HEAT_MAX, AV_HEAT_MEAN, AV_HEAT_POOLS };

/* The quantity drawn: without scores, logits stand in for them, without logits
 * weights. */
enum av_heat_quantity av_heat_quantity(const struct av_snapshot *s, const struct av_view_state *state);

/* Its value for one entry; false when the row does not see it or is invalid.
 * Scores are there for every key that the mask leaves. The logarithm is that of
 * the weight's size, -infinity of a weight that is 0. */
bool av_heat_value(const struct av_snapshot *s, enum av_heat_quantity quantity, size_t i, size_t j, double *value);

/* A block of entries pooled into one value: the mean, or the largest; of weights
 * that of the greatest size, with its sign. */
struct av_heat_block {
    size_t row, rows, col, cols;
};
enum av_heat_state { AV_HEAT_SHOWN, AV_HEAT_MASKED, AV_HEAT_INVALID };
enum av_heat_state av_heat_pooled(const struct av_snapshot *s, enum av_heat_quantity quantity, enum av_heat_pool pool,
                                  struct av_heat_block block, double *value);

/* The heatmap with labels and legend; its grid for the panel's rectangle. With
 * ctx->full tokens stand beside the indices, where there are some. */
void av_panel_weights(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);
struct av_heat_grid av_panel_weights_grid(struct av_rect r, const struct av_snapshot *s,
                                          const struct av_view_state *state);

/* The grid of the heatmap with tokens, and their room: columns left of the
 * cells, between the indices and a gap, and lines above the cells. 0: none. */
struct av_token_room {
    int columns, lines;
};
struct av_heat_grid av_panel_weights_tokens(struct av_rect r, const struct av_snapshot *s,
                                            const struct av_view_state *state, struct av_token_room *room);

/* Indices of rows, ending one column left of the cells, and of columns on
 * line y, ending before column `right`; `first` is that of the first one of all. The selected one (-1: none) always has
 * its label, others make room for it. */
void av_panel_row_labels(struct av_canvas *c, const struct av_heat_grid *g, size_t first, int64_t selected);
void av_panel_column_labels(struct av_canvas *c, const struct av_heat_grid *g, int y, int right, size_t first,
                            int64_t selected);

/* Tokens of rows and columns in their room beside a grid whose rows are queries
 * and whose columns are keys. A cell that stands for several has the token of
 * the first, or that of the selected one. */
void av_panel_row_tokens(struct av_canvas *c, const struct av_heat_grid *g, int columns, const struct av_snapshot *s);
void av_panel_column_tokens(struct av_canvas *c, const struct av_heat_grid *g, int lines, int right,
                            const struct av_snapshot *s);

/* Tokens: the labels that the files' positions have, if they do. */
bool av_panel_has_tokens(const struct av_snapshot *s);

/* The number of query 0 in its file: not 0 where only the last ones are looked at. */
size_t av_panel_first_query(const struct av_snapshot *s);

/* The position of a query among the keys: fewer queries than keys are the last. */
size_t av_panel_query_position(const struct av_snapshot *s, size_t query);

/* The token of a position in at most so many cells, blanks made visible, "…" at
 * the end of what is cut; the same to be written downwards, a character a line;
 * the same in quotes behind a blank, ` " time"`, as it is and uncut up to
 * AV_TOKEN_CELLS. "" where there is none. What joins a character is left out
 * (av_utf8_width). Writes to out and returns it. */
enum { AV_TOKEN_CELLS = 16, AV_TOKEN_MAX = 4 * AV_TOKEN_CELLS + 1, AV_QUOTED_MAX = AV_TOKEN_MAX + 8 };
const char *av_panel_token(char out[AV_TOKEN_MAX], const struct av_snapshot *s, size_t position, int cells);
const char *av_panel_token_down(char out[AV_TOKEN_MAX], const struct av_snapshot *s, size_t position, int lines);
const char *av_panel_quoted(char out[AV_QUOTED_MAX], const struct av_snapshot *s, size_t position);

/* The room that tokens get in a heatmap's panel r: columns; then, with the grid
 * that these leave, lines. Cells of AV_TOKEN_CELL_W columns have their tokens
 * across, in one line; narrower ones, where it is high enough, downwards. */
enum { AV_TOKEN_CELL_W = 6 };
int av_panel_token_columns(struct av_rect r, const struct av_snapshot *s);
int av_panel_token_lines(struct av_rect r, const struct av_snapshot *s, const struct av_heat_grid *g);

/* The selected query's weights as columns, below the columns of a heatmap's
 * grid (cells.w 0: over a grid of its own). */
void av_panel_row(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                  const struct av_heat_grid *above);

/* A quantity of the rows that count, one column a query (or several queries
 * pooled from the least to the greatest), on a logarithmic axis. */
enum av_row_quantity { AV_ROW_JACOBIAN, AV_ROW_DQ };
void av_panel_rows(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx,
                   enum av_row_quantity quantity);
struct av_heat_grid av_panel_rows_grid(struct av_rect r, size_t n_q);
enum { AV_ROWS_LEAST_H = 8 };

#endif
