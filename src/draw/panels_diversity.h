/* panels_diversity.h - the panels of the view `diversity`. */
#ifndef ATTNVIZ_PANELS_DIVERSITY_H
#define ATTNVIZ_PANELS_DIVERSITY_H

#include "attnviz/diversity.h"
#include "panels.h"

/* The matrix of pairs of heads and, where there is room beside it, a line of
 * numbers a head: title and labels above, a legend below. Returns the lines
 * that it took. selected: the head shown elsewhere. */
enum { AV_DIVERSITY_ABOVE = 2, AV_DIVERSITY_BELOW = 1 };
int av_panel_diversity_heads(struct av_canvas *c, struct av_rect r, const struct av_diversity *d, size_t selected);

/* What the marks of the curves are, in a line; one of the curves, and the least
 * of lines that it takes. */
void av_panel_diversity_names(struct av_canvas *c, struct av_rect r);
enum { AV_DIVERSITY_CURVE_LEAST_H = 7 };
void av_panel_diversity_curve(struct av_canvas *c, struct av_rect r, const struct av_diversity *d,
                              enum av_diversity_over over);

#endif
