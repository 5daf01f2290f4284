/* axis.c - from values to cells, and axes with ticks at round values. */
#include "attnviz/plot.h"
#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>

double av_axis_part(const struct av_axis *a, double v)
{
    if (isnan(v) || (a->log && v <= 0)) {
        return -(double)INFINITY;
    }
    return a->log ? log(v / a->lo) / log(a->hi / a->lo) : (v - a->lo) / (a->hi - a->lo);
}

int av_axis_cell(const struct av_axis *a, double v)
{
    double at = floor(av_axis_part(a, v) * a->cells);
    return at > 0 ? (at < a->cells ? (int)at : a->cells - 1) : 0;
}

double av_plot_step(double span, int count, bool whole)
{
    static const double round_steps[] = { 1, 2, 5, 10 };
    double least = span / (count > 0 ? count : 1);
    if (whole && least < 1) {
        return 1;
    }
    double power = pow(10, floor(log10(least)));
    size_t i = 0;
    /* A hair of slack: 0.3 / 3 shall count as 0.1. */
    while (i < 3 && round_steps[i] * power < least * (1 - 1e-9)) {
        i++;
    }
    return round_steps[i] * power;
}

/* ---- ticks ----------------------------------------------------------- */

/* Ticks of one axis: values first * step .. last * step, or on a logarithmic
 * axis the powers of ten first * step .. last * step. */
struct ticks {
    double step;
    long first, last;
};

static struct ticks make_ticks(const struct av_axis *a, int count)
{
    double lo = a->log ? log10(a->lo) : a->lo;
    double hi = a->log ? log10(a->hi) : a->hi;
    double step = av_plot_step(hi - lo, count, a->log);
    return (struct ticks){ step, lround(ceil(lo / step - 1e-9)), lround(floor(hi / step + 1e-9)) };
}

static double tick_value(const struct av_axis *a, const struct ticks *t, long i)
{
    /* Decimal steps are no binary numbers, their inverses are whole: 3 / 10 is
     * the number that reads 0.3, 3 * 0.1 is not. */
    double v = t->step < 1 ? (double)i / round(1 / t->step) : (double)i * t->step;
    return a->log ? pow(10, v) : v;
}

static void tick_label(char out[AV_NUMBER_MAX], const struct av_axis *a, const struct ticks *t, long i)
{
    if (a->log) {
        long power = lround((double)i * t->step);
        snprintf(out, AV_NUMBER_MAX, power == 0 ? "1" : "1e%ld", power);
        return;
    }
    /* As many decimals as the step has, the same for all labels. */
    double v = tick_value(a, t, i);
    int decimals = (int)-floor(log10(t->step) + 1e-9);
    if (decimals > 4 || fabs(v) >= 1e6) {
        av_plot_short(out, v, 6);
    } else {
        snprintf(out, AV_NUMBER_MAX, "%.*f", decimals > 0 && i != 0 ? decimals : 0, v);
    }
}

/* First column of a label centred below its tick, kept within the room. */
static int label_start(const struct av_axis *a, int cell, int len, int room)
{
    int start = cell - len / 2;
    start = start + len > a->cells ? a->cells - len : start;
    return start < -room ? -room : start;
}

/* Draws the labels, or with c NULL only tells whether two cells stay free
 * between any two of them. */
static bool labels_x(struct av_canvas *c, const struct av_axis *a, const struct ticks *t, int x, int y, int room)
{
    int behind = -room - 2;
    for (long i = t->first; i <= t->last; i++) {
        char label[AV_NUMBER_MAX];
        tick_label(label, a, t, i);
        int len = av_utf8_columns(label);
        int cell = av_axis_cell(a, tick_value(a, t, i));
        int start = label_start(a, cell, len, room);
        if (start < behind + 2 || start + len > a->cells) {
            return false;
        }
        behind = start + len;
        if (c != NULL) {
            av_canvas_put(c, x + cell, y, 0x252C, AV_ROLE_AXIS);
            av_canvas_text(c, x + start, y + 1, AV_ROLE_AXIS, label);
        }
    }
    return true;
}

void av_plot_axis_x(struct av_canvas *c, const struct av_axis *a, int x, int y, int room)
{
    for (int i = 0; i < a->cells; i++) {
        av_canvas_put(c, x + i, y, 0x2500, AV_ROLE_AXIS);
    }
    for (int count = a->cells / 3; count > 0; count--) {
        struct ticks t = make_ticks(a, count);
        if (labels_x(NULL, a, &t, x, y, room)) {
            labels_x(c, a, &t, x, y, room);
            return;
        }
    }
}

void av_plot_axis_y(struct av_canvas *c, const struct av_axis *a, int x, int y, int room)
{
    for (int i = 0; i < a->cells; i++) {
        av_canvas_put(c, x, y + i, 0x2502, AV_ROLE_AXIS);
    }
    if (a->cells < 1) {
        return;
    }
    /* Every second cell at most, but one label at least above a bottom of 0. */
    int count = a->cells > 3 ? a->cells / 2 : a->cells;
    struct ticks t = make_ticks(a, count);
    while (t.last <= 0 && t.first >= 0 && !a->log && count < 2 * a->cells) {
        t = make_ticks(a, ++count);
    }
    int behind = -1;
    for (long i = t.first; i <= t.last; i++) {
        char label[AV_NUMBER_MAX];
        tick_label(label, a, &t, i);
        int cell = av_axis_cell(a, tick_value(a, &t, i));
        int row = y + a->cells - 1 - cell;
        if ((a->log || i != 0 || a->lo < 0) && cell > behind && av_utf8_columns(label) <= room) {
            av_canvas_put(c, x, row, 0x2524, AV_ROLE_AXIS);
            av_canvas_text_right(c, x, row, AV_ROLE_AXIS, label);
            behind = cell;
        }
    }
}
