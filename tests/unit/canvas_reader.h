/* canvas_reader.h - a canvas read line by line. */
#ifndef CANVAS_READER_H
#define CANVAS_READER_H

#include "attnviz/canvas.h"
#include "attnviz/utf8.h"

#include <string.h>

enum { LINE = 4096 };

static inline const char *line(const struct av_canvas *c, int y, char out[LINE])
{
    size_t n = 0;
    for (int x = 0; x < c->cols; x++) {
        uint32_t code = av_canvas_at(c, x, y)->code;
        n += code == AV_GLYPH_REST ? 0 : av_utf8_put(out + n, code);
    }
    out[n] = '\0';
    return out;
}

/* The first line with `text`, -1 when there is none. */
static inline int find(const struct av_canvas *c, const char *text)
{
    char out[LINE];
    for (int y = 0; y < c->rows; y++) {
        if (strstr(line(c, y, out), text) != NULL) {
            return y;
        }
    }
    return -1;
}

#endif
