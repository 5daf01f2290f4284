/* panels_precision.h - the panels of the view `precision`. */
#ifndef ATTNVIZ_PANELS_PRECISION_H
#define ATTNVIZ_PANELS_PRECISION_H

#include "attnviz/precision_study.h"
#include "panels.h"

/* A mark for how bad something is: a glyph and a role. */
struct av_fill av_precision_mark(enum av_severity severity);

/* Puts it at x and, where + before a number would be a sign of it, letters in
 * ASCII: "ok" and "no", two cells. */
void av_precision_put(struct av_canvas *c, int x, int y, struct av_fill mark);

/* Every dtype against f64 for both states of scale, the first d_k that
 * overflows f16, and what can be said of it. */
void av_panel_precision_dtypes(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Finite numbers in the place of masks, in every dtype. */
void av_panel_precision_masks(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

#endif
