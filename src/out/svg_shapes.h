/* svg_shapes.h - block elements and lines as shapes, so that they join without
 * gaps whatever the font. A cell is AV_SVG_CELL_W by AV_SVG_CELL_H units, so
 * that eighths of it and its middle are whole numbers. */
#ifndef ATTNVIZ_SVG_SHAPES_H
#define ATTNVIZ_SVG_SHAPES_H

#include "attnviz/strbuf.h"

enum { AV_SVG_CELL_W = 8, AV_SVG_CELL_H = 16 };

/* The part of a cell that a block covers. */
struct av_svg_block {
    int x, y, w, h; /* units, from the cell's upper left corner */
    int percent;    /* 100: solid; less: a shade */
};

/* False when code is no block element. */
bool av_svg_block(uint32_t code, struct av_svg_block *block);

bool av_svg_is_line(uint32_t code);

/* Appends path data of the line character in the cell whose upper left corner
 * is (x, y); nothing when code is no line. */
void av_svg_line(struct av_str *path, uint32_t code, int x, int y);

/* The dots of a light shade over w units from (x, y), a cell high, as a path
 * to be stroked AV_SVG_DOT wide in dashes of AV_SVG_DOT. */
enum { AV_SVG_LIGHT_SHADE = 0x2591, AV_SVG_DOT = 2 };
void av_svg_dots(struct av_str *path, int x, int y, int w);

#endif
