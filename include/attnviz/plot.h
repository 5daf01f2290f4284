/* plot.h - the strokes that panels are made of: numbers, axes, bars, points.
 *
 * Everything here draws on a canvas, is clipped by it and keeps no state. */
#ifndef ATTNVIZ_PLOT_H
#define ATTNVIZ_PLOT_H

#include "attnviz/canvas.h"

/* Numbers as labels. Both write to out and return it. */
enum { AV_NUMBER_MAX = 32 };

/* v with that many significant digits (1 .. 15), zeros kept so that a changing
 * number keeps its width: 0.870, 20.6, 1.20e-9 (a power outside 1e-2 .. 1e6).
 * "0" for 0, "n/a" for NaN, "inf" and "-inf". */
const char *av_plot_number(char out[AV_NUMBER_MAX], double v, int digits);

/* The same in that many cells: with fewer digits where they are too many, but
 * one at least. For columns, whose numbers must stay apart. */
const char *av_plot_number_in(char out[AV_NUMBER_MAX], double v, int digits, int cells);

/* The first without trailing zeros: 64, 0.25, 1e-3. For exact values. */
const char *av_plot_short(char out[AV_NUMBER_MAX], double v, int digits);

/* A number that is not negative, by its value while that is a normal double
 * and by its log10 below: 1.015e-434, and 10^-4.34e29 where the logarithm has
 * no digits left for the first figures. "0" for 0 of log10 -infinity. */
const char *av_plot_tiny(char out[AV_NUMBER_MAX], double v, double log10_v, int digits);

/* An axis of `cells` cells from lo to hi, lo < hi; on a logarithmic one both
 * are positive. */
struct av_axis {
    double lo, hi;
    bool log;
    int cells;
};

/* Where v lies: 0 at lo, 1 at hi, beyond them outside; -infinity for what a
 * logarithmic axis cannot show and for NaN. */
double av_axis_part(const struct av_axis *a, double v);

/* The cell 0 .. cells - 1 that holds v, the nearest one when v is outside. */
int av_axis_cell(const struct av_axis *a, double v);

/* The smallest of 1, 2, 5 times a power of ten with span / step <= count; on
 * integers never below 1 when whole is set. */
double av_plot_step(double span, int count, bool whole);

/* A horizontal axis: the line at (x, y), ticks and labels of nice values below
 * it, never overlapping, within columns [x - room, x + cells). */
void av_plot_axis_x(struct av_canvas *c, const struct av_axis *a, int x, int y, int room);

/* A vertical axis: the line in column x, rows y .. y + cells - 1 with hi on
 * top; labels end left of it and use at most `room` cells. A bottom of 0 on a
 * linear axis is left to the horizontal one. */
void av_plot_axis_y(struct av_canvas *c, const struct av_axis *a, int x, int y, int room);

/* How an area is filled. */
struct av_fill {
    uint32_t body; /* glyph of a full cell */
    enum av_role role;
};

/* A bar of `part` (0 .. 1, clipped) of w cells from (x, y) to the right, in
 * eighths of a cell; with a body other than the full block in whole cells, so
 * that it has one texture. What is above 0 shows at least one eighth. */
void av_plot_bar(struct av_canvas *c, int x, int y, int w, double part, struct av_fill fill);

/* A column of `part` of h cells that grows up from row `bottom`. */
void av_plot_column(struct av_canvas *c, int x, int bottom, int h, double part, struct av_fill fill);

/* Text when all of it fits into [x, right), else nothing. Returns the column
 * behind it, x when nothing was drawn. */
int av_plot_fit(struct av_canvas *c, int x, int right, int y, enum av_role role, const char *text);

/* The same, ending before `right`. Returns the column of its first cell,
 * `right` when nothing was drawn. */
int av_plot_fit_right(struct av_canvas *c, int x, int right, int y, enum av_role role, const char *text);

/* Text broken into the lines of r (wrap.h); an ellipsis ends what does not fit
 * any more. Returns the number of lines used. */
int av_plot_wrap(struct av_canvas *c, struct av_rect r, enum av_role role, const char *text);

/* Narrows the clip to r and returns the one before, to be set again. */
struct av_rect av_plot_enter(struct av_canvas *c, struct av_rect r);

#endif
