/* panels_saturation.h - the panels of the view `saturation`. */
#ifndef ATTNVIZ_PANELS_SATURATION_H
#define ATTNVIZ_PANELS_SATURATION_H

#include "attnviz/saturation.h"
#include "panels.h"

/* Columns left of a plot, for the labels of its vertical axis, and lines below
 * it for the horizontal one. */
enum { AV_SATURATION_MARGIN = 7, AV_SATURATION_AXIS_H = 2 };

/* What the curves are of, by struct av_view_state.quantity. */
enum { AV_SATURATION_CURVES = 7 };

/* The axis of d_k, 1 .. 4096, over the columns from x on: its line at y with
 * ticks at powers of two, their labels below that, and the cursor's. */
struct av_axis av_saturation_axis(int cells);
void av_panel_saturation_axis(struct av_canvas *c, const struct av_axis *a, int x, int y, size_t cursor, bool labels);

/* What marks and lines of the curves are: two lines. */
enum { AV_SATURATION_NAMES_H = 2 };
void av_panel_saturation_names(struct av_canvas *c, struct av_rect r, const struct av_saturation *s);

/* Curves over d_k, from the quantity `first` on as many above each other as
 * fit, at most `most`. Returns how many. */
int av_panel_saturation_curves(struct av_canvas *c, struct av_rect r, const struct av_saturation *s, int first,
                               int most);

/* All values at the present d_k, and its size. */
enum { AV_SATURATION_TABLE_W = 36, AV_SATURATION_TABLE_H = 18 };
void av_panel_saturation_table(struct av_canvas *c, struct av_rect r, const struct av_saturation *s);

/* The plane of one state of scale. */
void av_panel_saturation_plane(struct av_canvas *c, struct av_rect r, const struct av_saturation *s, bool scale);

#endif
