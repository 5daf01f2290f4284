/* panels_depth.h - the panels of the view `depth`. */
#ifndef ATTNVIZ_PANELS_DEPTH_H
#define ATTNVIZ_PANELS_DEPTH_H

#include "attnviz/depth_study.h"
#include "panels.h"

/* What is shown layer by layer: one stack, or the twins. */
struct av_depth_shown {
    const struct av_depth_cell *cells[2]; /* without the scale, with it; NULL: not part of it */
    bool now;                             /* which of them is the present state */
    size_t layer;                         /* the cursor's */
};

/* Marks of the twin with scale on or off: the present one's on top. */
uint32_t av_depth_mark(const struct av_depth_shown *shown, bool scale);

/* A value of a layer as text, with so many digits or as many as the cells hold:
 * "noise", "0", "-" behind an overflow, "..." where nothing is computed yet.
 * Writes to out and returns it. */
const char *av_depth_value(char out[AV_NUMBER_MAX], const struct av_depth_cell *cell, size_t layer,
                           enum av_depth_field field, int digits, int cells);

/* What to know about the stack beside its curves, a line each, the most needed
 * first: that it is fixed, what clipping does, that the init shrinks the signal.
 * Returns how many there are. */
enum { AV_DEPTH_NOTES = 3 };
size_t av_depth_notes(char notes[AV_DEPTH_NOTES][AV_PIECE_MAX], const struct av_depth_shown *shown);

/* A quantity over the layers: 0 on the left is the input's side. Gradients and
 * sizes have a logarithmic axis; below it, for the fields that may be noise, a
 * line a twin says which layers are dead. */
enum { AV_DEPTH_CURVE_LEAST_H = 5, AV_DEPTH_MARGIN = 7 };
void av_panel_depth_curve(struct av_canvas *c, struct av_rect r, const struct av_depth_shown *shown,
                          enum av_depth_field field, bool labels);

/* All values of the cursor's layer, and its size. */
enum { AV_DEPTH_LAYER_W = 32, AV_DEPTH_LAYER_H = 15 };
void av_panel_depth_layer(struct av_canvas *c, struct av_rect r, const struct av_depth_shown *shown);

/* The seven stacks: gradients and cosines at three layers of either depth. One
 * is selected, AV_DEPTH_STACKS: none. */
enum { AV_DEPTH_TABLE_W = 78 };
void av_panel_depth_table(struct av_canvas *c, struct av_rect r, const struct av_depth_study *study, size_t selected);

#endif
