/* canvas.c - the grid of cells and what is drawn on it. */
#include "attnviz/canvas.h"

#include "attnviz/mem.h"
#include "attnviz/utf8.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum { TEXT_MAX = 4096 }; /* bytes that av_canvas_textf can draw, with the NUL */

static const struct av_cell blank = { .code = ' ', .role = AV_ROLE_TEXT, .level = 0, .mark = false };

static struct av_rect whole(const struct av_canvas *c)
{
    return (struct av_rect){ 0, 0, c->cols, c->rows };
}

/* The part of the span [at, at + len) that lies in [0, limit): sums in 64
 * bits, since a caller's arithmetic may end at any int. */
static void cut_span(int *at, int *len, int limit)
{
    int64_t first = *at > 0 ? *at : 0;
    int64_t end = (int64_t)*at + *len;
    end = end < limit ? end : limit;
    *len = end > first ? (int)(end - first) : 0;
    *at = *len > 0 ? (int)first : 0;
}

/* The part of r that lies on the canvas. */
static struct av_rect cut_rect(const struct av_canvas *c, struct av_rect r)
{
    cut_span(&r.x, &r.w, c->cols);
    cut_span(&r.y, &r.h, c->rows);
    return r;
}

static bool inside(struct av_rect r, int x, int y)
{
    return x >= r.x && x - r.x < r.w && y >= r.y && y - r.y < r.h;
}

static struct av_cell *cell_at(const struct av_canvas *c, int x, int y)
{
    return &c->cells[(size_t)y * (size_t)c->cols + (size_t)x];
}

enum av_status av_canvas_resize(struct av_canvas *c, int cols, int rows, struct av_error *e)
{
    if (cols < 1 || rows < 1) {
        return av_fail(e, AV_USAGE, "screen: %d columns by %d rows is no size", cols, rows);
    }
    if (c->cells == NULL || cols != c->cols || rows != c->rows) {
        /* Sizes that an int of bytes cannot hold count as memory that is not there. */
        bool fits = cols <= INT_MAX / (int)sizeof *c->cells / rows;
        struct av_cell *cells = fits ? av_alloc((size_t)cols * (size_t)rows, sizeof *cells) : NULL;
        if (cells == NULL) {
            return av_fail_nomem(e, "screen");
        }
        av_free(c->cells);
        c->cells = cells;
        c->cols = cols;
        c->rows = rows;
    }
    av_canvas_clear(c);
    return AV_OK;
}

void av_canvas_free(struct av_canvas *c)
{
    av_free(c->cells);
    *c = (struct av_canvas){ .ascii = c->ascii };
}

void av_canvas_clear(struct av_canvas *c)
{
    c->clip = whole(c);
    size_t count = (size_t)c->cols * (size_t)c->rows;
    for (size_t i = 0; i < count; i++) {
        c->cells[i] = blank;
    }
}

void av_canvas_clip(struct av_canvas *c, struct av_rect r)
{
    c->clip = cut_rect(c, r);
}

/* Sets a cell in the clip rectangle; of a wide character there or that ends
 * there no half is left. */
static void set(struct av_canvas *c, int x, int y, struct av_cell cell)
{
    struct av_cell *at = cell_at(c, x, y);
    if (at->code == AV_GLYPH_REST) {
        at[-1].code = ' ';
    }
    if (x + 1 < c->cols && at[1].code == AV_GLYPH_REST) {
        at[1].code = ' ';
    }
    *at = cell;
}

static void put_wide(struct av_canvas *c, int x, int y, struct av_cell cell)
{
    bool left = inside(c->clip, x, y), right = x < c->cols && inside(c->clip, x + 1, y);
    struct av_cell rest = cell;
    rest.code = c->ascii ? ' ' : AV_GLYPH_REST;
    if (!left || !right) {
        cell.code = rest.code = ' ';
    }
    if (left) {
        set(c, x, y, cell);
    }
    if (right) {
        set(c, x + 1, y, rest);
    }
}

void av_canvas_put(struct av_canvas *c, int x, int y, uint32_t code, enum av_role role)
{
    int width = av_utf8_width(code);
    struct av_cell cell = { .code = width < 1 ? AV_GLYPH_UNKNOWN : code, .role = (uint8_t)role };
    if (c->ascii) {
        cell.code = av_glyph_ascii(cell.code);
    }
    if (width == 2) {
        put_wide(c, x, y, cell);
    } else if (inside(c->clip, x, y)) {
        set(c, x, y, cell);
    }
}

/* Both ends of a ladder of glyphs belong to the ends of the levels alone; the
 * others share the levels between. */
static int rung(int level, int rungs)
{
    const int top = AV_HEAT_LEVELS - 1;
    if (level == 0 || level == top) {
        return level == 0 ? 0 : rungs - 1;
    }
    return 1 + (level - 1) * (rungs - 2) / (top - 1);
}

void av_canvas_heat(struct av_canvas *c, int x, int y, int level)
{
    static const uint32_t shades[] = { ' ', 0x2591, 0x2592, 0x2593, 0x2588 }; /* ░▒▓█ */
    static const char signs[] = " .:-=+*#%@";
    if (!inside(c->clip, x, y)) {
        return;
    }
    level = level < 0 ? 0 : level >= AV_HEAT_LEVELS ? AV_HEAT_LEVELS - 1 : level;
    uint32_t code = c->ascii ? (uint32_t)signs[rung(level, (int)sizeof signs - 1)]
                             : shades[rung(level, (int)(sizeof shades / sizeof *shades))];
    set(c, x, y, (struct av_cell){ .code = code, .role = AV_ROLE_HEAT, .level = (uint8_t)level });
}

/* Marks a cell and the other half of a wide character. */
static void mark(struct av_canvas *c, int x, int y)
{
    struct av_cell *at = cell_at(c, x, y);
    at->mark = true;
    if (at->code == AV_GLYPH_REST) {
        at[-1].mark = true;
    } else if (x + 1 < c->cols && at[1].code == AV_GLYPH_REST) {
        at[1].mark = true;
    }
}

void av_canvas_mark(struct av_canvas *c, struct av_rect r)
{
    r = cut_rect(c, r);
    for (int y = r.y; y < r.y + r.h; y++) {
        for (int x = r.x; x < r.x + r.w; x++) {
            if (inside(c->clip, x, y)) {
                mark(c, x, y);
            }
        }
    }
}

int av_canvas_text(struct av_canvas *c, int x, int y, enum av_role role, const char *text)
{
    int columns;
    for (uint32_t code; (code = av_utf8_drawn(&text, &columns)) != 0; x += columns) {
        av_canvas_put(c, x, y, code, role);
    }
    return x;
}

int av_canvas_textf(struct av_canvas *c, int x, int y, enum av_role role, const char *fmt, ...)
{
    char text[TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return n < 0 ? x : av_canvas_text(c, x, y, role, text);
}

void av_canvas_text_right(struct av_canvas *c, int right, int y, enum av_role role, const char *text)
{
    av_canvas_text(c, right - av_utf8_columns(text), y, role, text);
}

const struct av_cell *av_canvas_at(const struct av_canvas *c, int x, int y)
{
    return inside(whole(c), x, y) ? cell_at(c, x, y) : &blank;
}
