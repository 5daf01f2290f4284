/* panel_labels.c - indices of rows and columns beside a grid of cells. */
#include "panels.h"

#include <stdio.h>
#include <string.h>

/* The smallest power of two times `pool` whose labels are `gap` cells apart. */
static size_t label_step(size_t pool, int cell, int gap)
{
    size_t step = pool;
    while ((int)(step / pool) * cell < gap) {
        step *= 2;
    }
    return step;
}

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

void av_panel_row_labels(struct av_canvas *c, const struct av_heat_grid *g, int64_t selected)
{
    char text[AV_NUMBER_MAX];
    int right = g->cells.x - 1;
    int own = selected >= 0 ? av_heat_y(g, (size_t)selected) : -1;
    size_t step = label_step(g->pool_rows, g->cell_h, 2);
    for (size_t i = round_up(g->row, step); i < g->row + g->rows; i += step) {
        int y = av_heat_y(g, i);
        if (y != own) {
            snprintf(text, sizeof text, "%zu", i);
            av_canvas_text_right(c, right, y, AV_ROLE_AXIS, text);
        }
    }
    if (own >= 0) {
        snprintf(text, sizeof text, "%zu", (size_t)selected);
        av_canvas_text_right(c, right, own, AV_ROLE_SELECT, text);
        av_canvas_put(c, right, own, 0x25B8, AV_ROLE_SELECT);
    }
}

/* Room that a label takes on the line of labels. */
struct label {
    char text[AV_NUMBER_MAX];
    int from, to;
};

static struct label column_label(const struct av_heat_grid *g, size_t column, int right)
{
    struct label l;
    int len = snprintf(l.text, sizeof l.text, "%zu", column);
    l.from = av_heat_x(g, column) + (g->cell_w - len) / 2;
    l.from = l.from + len > right ? right - len : l.from;
    l.to = l.from + len;
    return l;
}

void av_panel_column_labels(struct av_canvas *c, const struct av_heat_grid *g, int y, int right, int64_t selected)
{
    struct label own = { "", 0, 0 };
    if (selected >= 0 && av_heat_x(g, (size_t)selected) >= 0) {
        own = column_label(g, (size_t)selected, right);
        av_canvas_text(c, own.from, y, AV_ROLE_SELECT, own.text);
    }
    int digits = snprintf(NULL, 0, "%zu", g->col + g->cols);
    size_t step = label_step(g->pool_cols, g->cell_w, digits + 2);
    int behind = -1;
    for (size_t j = round_up(g->col, step); j < g->col + g->cols; j += step) {
        struct label l = column_label(g, j, right);
        if ((l.to < own.from || l.from > own.to) && l.from > behind) {
            av_canvas_text(c, l.from, y, AV_ROLE_AXIS, l.text);
            behind = l.to;
        }
    }
}
