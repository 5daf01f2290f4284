/* panel_labels.c - indices and tokens of rows and columns beside a grid of cells. */
#include "panels.h"

#include "attnviz/utf8.h"

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

void av_panel_row_labels(struct av_canvas *c, const struct av_heat_grid *g, size_t first, int64_t selected)
{
    char text[AV_NUMBER_MAX];
    int right = g->cells.x - 1;
    int own = selected >= 0 ? av_heat_y(g, (size_t)selected) : -1;
    size_t step = label_step(g->pool_rows, g->cell_h, 2);
    for (size_t i = round_up(g->row, step); i < g->row + g->rows; i += step) {
        int y = av_heat_y(g, i);
        if (y != own) {
            snprintf(text, sizeof text, "%zu", first + i);
            av_canvas_text_right(c, right, y, AV_ROLE_AXIS, text);
        }
    }
    if (own >= 0) {
        snprintf(text, sizeof text, "%zu", first + (size_t)selected);
        av_canvas_text_right(c, right, own, AV_ROLE_SELECT, text);
        av_canvas_put(c, right, own, 0x25B8, AV_ROLE_SELECT);
    }
}

/* Room that a label takes on the line of labels. */
struct label {
    char text[AV_NUMBER_MAX];
    int from, to;
};

static struct label column_label(const struct av_heat_grid *g, size_t first, size_t column, int right)
{
    struct label l;
    int len = snprintf(l.text, sizeof l.text, "%zu", first + column);
    l.from = av_heat_x(g, column) + (g->cell_w - len) / 2;
    l.from = l.from + len > right ? right - len : l.from;
    l.to = l.from + len;
    return l;
}

void av_panel_column_labels(struct av_canvas *c, const struct av_heat_grid *g, int y, int right, size_t first,
                            int64_t selected)
{
    struct label own = { "", 0, 0 };
    if (selected >= 0 && av_heat_x(g, (size_t)selected) >= 0) {
        own = column_label(g, first, (size_t)selected, right);
        av_canvas_text(c, own.from, y, AV_ROLE_SELECT, own.text);
    }
    int digits = snprintf(NULL, 0, "%zu", first + g->col + g->cols);
    size_t step = label_step(g->pool_cols, g->cell_w, digits + 2);
    int behind = -1;
    for (size_t j = round_up(g->col, step); j < g->col + g->cols; j += step) {
        struct label l = column_label(g, first, j, right);
        if ((l.to < own.from || l.from > own.to) && l.from > behind) {
            av_canvas_text(c, l.from, y, AV_ROLE_AXIS, l.text);
            behind = l.to;
        }
    }
}

/* ---- tokens ---------------------------------------------------------- */

void av_panel_row_tokens(struct av_canvas *c, const struct av_heat_grid *g, int columns, const struct av_snapshot *s)
{
    char text[AV_TOKEN_MAX];
    int x = g->cells.x - 1 - columns;
    size_t selected = av_panel_query(s);
    for (size_t i = g->row; columns > 0 && i < g->row + g->rows; i += g->pool_rows) {
        bool own = selected >= i && selected - i < g->pool_rows;
        size_t position = av_panel_query_position(s, own ? selected : i);
        av_canvas_text(c, x, av_heat_y(g, i), own ? AV_ROLE_SELECT : AV_ROLE_AXIS,
                       av_panel_token(text, s, position, columns));
    }
}

/* A token that is written downwards, and the columns that it covers. */
struct down {
    char text[AV_TOKEN_MAX];
    int from, to;
};

static struct down token_down(const struct av_heat_grid *g, size_t column, int lines, const struct av_snapshot *s)
{
    struct down d = { "", 0, 0 };
    int widest = 0;
    const char *text = av_panel_token_down(d.text, s, column, lines);
    for (int columns; av_utf8_drawn(&text, &columns) != 0;) {
        widest = columns > widest ? columns : widest;
    }
    d.from = av_heat_x(g, column) + (g->cell_w - 1) / 2;
    d.to = d.from + widest;
    return d;
}

/* A character a line, the last one just above the cells. */
static void write_down(struct av_canvas *c, int below, enum av_role role, const struct down *d)
{
    int y = below - (int)av_utf8_len(d->text);
    for (const char *text = d->text; *text != '\0';) {
        av_canvas_put(c, d->from, y++, av_utf8_next(&text), role);
    }
}

/* Where columns touch, every other one is brighter: they are told apart. Wide
 * characters need two columns: those of the next one are then left out. */
static void tokens_down(struct av_canvas *c, const struct av_heat_grid *g, int lines, const struct av_snapshot *s)
{
    size_t selected = av_panel_key(s);
    struct down own = token_down(g, selected, lines, s);
    int behind = g->cells.x;
    for (size_t j = g->col; j < g->col + g->cols; j++) {
        enum av_role other = g->cell_w == 1 && j % 2 == 1 ? AV_ROLE_TEXT : AV_ROLE_AXIS;
        struct down d = token_down(g, j, lines, s);
        if (j == selected || (d.from >= behind && (d.to <= own.from || d.from >= own.to))) {
            write_down(c, g->cells.y, j == selected ? AV_ROLE_SELECT : other, &d);
            behind = d.to;
        }
    }
}

/* A token that begins at its column's cell, cut at `width` and before `right`. */
static struct av_rect token_across(char text[AV_TOKEN_MAX], const struct av_heat_grid *g, size_t column, int width,
                                   int right, const struct av_snapshot *s)
{
    struct av_rect at = { av_heat_x(g, column), g->cells.y - 1, 0, 1 };
    av_panel_token(text, s, column, width < right - at.x ? width : right - at.x);
    at.w = av_utf8_columns(text);
    return at;
}

static void tokens_across(struct av_canvas *c, const struct av_heat_grid *g, int right, const struct av_snapshot *s)
{
    enum { WIDTH_MOST = 8 };
    char text[AV_TOKEN_MAX];
    struct av_rect own = { -2, 0, 0, 0 };
    size_t selected = av_panel_key(s);
    size_t step = label_step(g->pool_cols, g->cell_w, AV_TOKEN_CELL_W);
    int apart = (int)(step / g->pool_cols) * g->cell_w;
    if (av_heat_x(g, selected) >= 0) {
        own = token_across(text, g, selected, apart > WIDTH_MOST ? apart - 1 : WIDTH_MOST, right, s);
        av_canvas_text(c, own.x, own.y, AV_ROLE_SELECT, text);
    }
    for (size_t j = round_up(g->col, step); j < g->col + g->cols; j += step) {
        struct av_rect at = token_across(text, g, j, apart - 1, right, s);
        if (at.x + at.w < own.x || at.x > own.x + own.w) {
            av_canvas_text(c, at.x, at.y, AV_ROLE_AXIS, text);
        }
    }
}

void av_panel_column_tokens(struct av_canvas *c, const struct av_heat_grid *g, int lines, int right,
                            const struct av_snapshot *s)
{
    if (lines > 1) {
        tokens_down(c, g, lines, s);
    } else if (lines == 1) {
        tokens_across(c, g, right, s);
    }
}
