/* canvas.h - a grid of cells that drawings are made on.
 *
 * A cell is a code point, a semantic role and, in heatmaps, a heat level. A wide
 * character (av_utf8_width) takes two cells, the right one with AV_GLYPH_REST
 * and else like the left one: the two come and go together. Roles become colours only in a backend, through a theme.
 * Everything drawn is clipped at the canvas and at the current clip rectangle. Drawing never fails and never allocates.
 */
#ifndef ATTNVIZ_CANVAS_H
#define ATTNVIZ_CANVAS_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(enumerator, name in theme files, what it is for) */
#define AV_ROLES(X)                                                                                                    \
    X(TEXT, "text", "plain text and numbers")                                                                          \
    X(DIM, "dim", "secondary text, units")                                                                             \
    X(TITLE, "title", "titles of panels, the header line")                                                             \
    X(AXIS, "axis", "axes, ticks, frames")                                                                             \
    X(SCALED, "scaled", "the series with scale on")                                                                    \
    X(UNSCALED, "unscaled", "the series with scale off")                                                               \
    X(CURVE, "curve", "theory: exact densities and means")                                                             \
    X(GHOST, "ghost", "the kept earlier state")                                                                        \
    X(BAR, "bar", "neutral bars")                                                                                      \
    X(GOOD, "good", "verdict: healthy")                                                                                \
    X(WARN, "warn", "verdict: warning")                                                                                \
    X(BAD, "bad", "verdict: alarm")                                                                                    \
    X(SELECT, "select", "the selected row, column, parameter")                                                         \
    X(KEY, "key", "a key that can be pressed")                                                                         \
    X(MESSAGE, "message", "the message line")                                                                          \
    X(HEAT, "heat", "heatmap cells; coloured by the ramp, not by a role")

enum av_role {
#define AV_ROLE_ENUM(id, name, text) AV_ROLE_##id,
    AV_ROLES(AV_ROLE_ENUM)
#undef AV_ROLE_ENUM
        AV_ROLE_COUNT
};

enum { AV_HEAT_LEVELS = 12 }; /* levels 0 (least) .. 11 (most) */
enum {
    AV_GLYPH_UNKNOWN = 0xFFFD,
    AV_GLYPH_REST = 0x110000 /* no character: the right half of the wide one before it */
};

struct av_cell {
    uint32_t code; /* never 0; a blank is ' ' */
    uint8_t role;  /* enum av_role */
    uint8_t level; /* heat level when role is AV_ROLE_HEAT */
    bool mark;     /* drawn reversed: cursor, selection */
};

struct av_rect {
    int x, y, w, h;
};

struct av_canvas {
    struct av_cell *cells; /* [rows * cols] */
    int cols, rows;
    struct av_rect clip;
    bool ascii; /* only ASCII glyphs may be drawn */
};

/* A canvas starts as all zeros. Makes it cols by rows, each at least 1, and
 * blank, whatever was on it; `ascii` stays. AV_USAGE or AV_NOMEM on failure:
 * the old grid stands. The caller frees it with av_canvas_free. */
enum av_status av_canvas_resize(struct av_canvas *c, int cols, int rows, struct av_error *e);
void av_canvas_free(struct av_canvas *c);

void av_canvas_clear(struct av_canvas *c);                  /* blanks, clip reset */
void av_canvas_clip(struct av_canvas *c, struct av_rect r); /* within the canvas */

/* One cell, or the two from x on of a wide character, mark and level reset.
 * What takes no cell (control characters, combining ones) becomes
 * AV_GLYPH_UNKNOWN; on an ascii canvas every glyph becomes its stand-in
 * (av_glyph_ascii), that of a wide one with a blank behind it. Of a wide
 * character that is cut by the clip rectangle a blank is drawn; when one of its
 * halves is drawn over, the other becomes a blank wherever it is. */
void av_canvas_put(struct av_canvas *c, int x, int y, uint32_t code, enum av_role role);
/* A heatmap's cell: level is clamped to 0 .. AV_HEAT_LEVELS - 1, the glyph
 * grows with it, ` ░▒▓█` or in ASCII ` .:-=+*#%@`. */
void av_canvas_heat(struct av_canvas *c, int x, int y, int level);
/* Marks the cells of r that are drawn already, whole characters: mark last. */
void av_canvas_mark(struct av_canvas *c, struct av_rect r);

/* UTF-8 text from x on, in as many cells as av_utf8_columns says; returns the
 * column behind it, also where the text is clipped. Of formatted text the first 4095
 * bytes are drawn. */
int av_canvas_text(struct av_canvas *c, int x, int y, enum av_role role, const char *text);
int av_canvas_textf(struct av_canvas *c, int x, int y, enum av_role role, const char *fmt, ...) AV_PRINTF(5, 6);
/* The same, ending before column `right`. */
void av_canvas_text_right(struct av_canvas *c, int right, int y, enum av_role role, const char *text);

/* The cell at (x, y); a blank one outside the canvas. */
const struct av_cell *av_canvas_at(const struct av_canvas *c, int x, int y);

/* The ASCII stand-in for a glyph this program draws: '#' for a full block,
 * '|' for a vertical line, a blank for AV_GLYPH_REST; '?' for what it does not
 * know. One character each: who needs several ("sqrt" for a root) looks at
 * canvas->ascii. */
uint32_t av_glyph_ascii(uint32_t code);

#endif
