/* panel_saturation_axis.c - the axis of d_k, its powers of two and its cursor. */
#include "panels_saturation.h"

#include <stdio.h>

struct av_axis av_saturation_axis(int cells)
{
    return (struct av_axis){ 1, AV_DIM_MAX, true, cells };
}

/* First column of a label centred below its tick, within the axis. */
static int label_start(const struct av_axis *a, int cell, int len)
{
    int start = cell - len / 2;
    start = start + len > a->cells ? a->cells - len : start;
    return start > 0 ? start : 0;
}

void av_panel_saturation_axis(struct av_canvas *c, const struct av_axis *a, int x, int y, size_t cursor, bool labels)
{
    enum { LABEL_ROOM = 7, OCTAVES = 12 };
    char label[AV_NUMBER_MAX];
    int at = av_axis_cell(a, (double)cursor);
    int len = snprintf(label, sizeof label, "%zu", cursor);
    int from = label_start(a, at, len);
    int behind = from + len;
    int step = 1;
    while (step < OCTAVES && (a->cells * step < LABEL_ROOM * OCTAVES || OCTAVES % step != 0)) {
        step++;
    }
    for (int i = 0; i < a->cells; i++) {
        av_canvas_put(c, x + i, y, 0x2500, AV_ROLE_AXIS);
    }
    if (labels) {
        av_plot_fit_right(c, x - AV_SATURATION_MARGIN, x - 2, y + 1, AV_ROLE_DIM, "d_k");
        av_plot_fit(c, x + from, x + a->cells, y + 1, AV_ROLE_SELECT, label);
    }
    for (int octave = 0; octave <= OCTAVES; octave += step) {
        len = snprintf(label, sizeof label, "%d", 1 << octave);
        int cell = av_axis_cell(a, 1 << octave);
        int start = label_start(a, cell, len);
        av_canvas_put(c, x + cell, y, 0x252C, AV_ROLE_AXIS);
        if (labels && (start > behind || start + len < from)) {
            av_plot_fit(c, x + start, x + a->cells, y + 1, AV_ROLE_AXIS, label);
        }
    }
    av_canvas_put(c, x + at, y, 0x253C, AV_ROLE_SELECT);
}
