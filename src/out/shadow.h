/* shadow.h - what a screen shows already, so that only changes are sent. */
#ifndef ATTNVIZ_SHADOW_H
#define ATTNVIZ_SHADOW_H

#include "attnviz/canvas.h"

/* Starts as all zeros. */
struct av_shadow {
    struct av_cell *cells; /* [rows * cols] */
    int cols, rows;
};

/* Makes it the size of the canvas, nothing shown; av_shadow_free frees it.
 * AV_NOMEM on failure: it stays as it was. */
enum av_status av_shadow_resize(struct av_shadow *s, int cols, int rows, struct av_error *e);
void av_shadow_free(struct av_shadow *s);

/* Nothing counts as shown any more. */
void av_shadow_forget(struct av_shadow *s);
void av_shadow_forget_row(struct av_shadow *s, int y);

/* The next run of cells in row y, from *x on, that the canvas has otherwise:
 * moves *x to its first cell, returns its length and counts it as shown. 0 at
 * the end of the row. What is outside of either is left out. */
int av_shadow_run(struct av_shadow *s, const struct av_canvas *c, int *x, int y);

#endif
