/* svg_shapes.c - block elements and lines as shapes. */
#include "svg_shapes.h"

enum { W = AV_SVG_CELL_W, H = AV_SVG_CELL_H };

bool av_svg_block(uint32_t code, struct av_svg_block *block)
{
    const int eighth_w = W / 8, eighth_h = H / 8;
    static const int shade_percent[3] = { 35, 60, 80 };
    struct av_svg_block b = { 0, 0, W, H, 100 };
    if (code >= 0x2581 && code <= 0x2588) { /* lower one eighth .. full */
        b.h = eighth_h * (int)(code - 0x2580);
        b.y = H - b.h;
    } else if (code >= 0x2589 && code <= 0x258F) { /* left seven eighths .. one */
        b.w = eighth_w * (int)(0x2590 - code);
    } else if (code >= 0x2591 && code <= 0x2593) { /* light, medium, dark shade */
        b.percent = shade_percent[code - 0x2591];
    } else if (code == 0x2580) { /* upper half */
        b.h = H / 2;
    } else if (code == 0x2590) { /* right half */
        b.x = b.w = W / 2;
    } else if (code == 0x2594) { /* upper one eighth */
        b.h = eighth_h;
    } else if (code == 0x2595) { /* right one eighth */
        b.w = eighth_w;
        b.x = W - b.w;
    } else {
        return false;
    }
    *block = b;
    return true;
}

/* Arms of a line from the middle of the cell, or a dashed line through it. */
struct line {
    uint32_t code;
    bool up, down, left, right;
    int dashes; /* 0: solid arms; else pieces of a line across the cell */
};

static const struct line lines[] = {
    { 0x2500, .left = true, .right = true },
    { 0x2502, .up = true, .down = true },
    { 0x2504, .left = true, .right = true, .dashes = 4 },
    { 0x2506, .up = true, .down = true, .dashes = 4 },
    { 0x2508, .left = true, .right = true, .dashes = 4 },
    { 0x250A, .up = true, .down = true, .dashes = 4 },
    { 0x250C, .down = true, .right = true },
    { 0x2510, .down = true, .left = true },
    { 0x2514, .up = true, .right = true },
    { 0x2518, .up = true, .left = true },
    { 0x251C, .up = true, .down = true, .right = true },
    { 0x2524, .up = true, .down = true, .left = true },
    { 0x252C, .down = true, .left = true, .right = true },
    { 0x2534, .up = true, .left = true, .right = true },
    { 0x253C, .up = true, .down = true, .left = true, .right = true },
    { 0x254C, .left = true, .right = true, .dashes = 2 },
    { 0x254E, .up = true, .down = true, .dashes = 2 },
    { 0x2574, .left = true },
    { 0x2575, .up = true },
    { 0x2576, .right = true },
    { 0x2577, .down = true },
};

static void add_dashes(struct av_str *path, const struct line *line, int x, int y)
{
    const char direction = line->left ? 'h' : 'v';
    const int piece = (line->left ? W : H) / line->dashes;
    for (int i = 0; i < line->dashes; i++) {
        int along = i * piece;
        av_str_addf(path, "M%d %d%c%d", line->left ? x + along : x + W / 2, line->left ? y + H / 2 : y + along,
                    direction, piece / 2);
    }
}

static void add_arms(struct av_str *path, const struct line *line, int x, int y)
{
    if (line->left || line->right) {
        int from = line->left ? x : x + W / 2;
        int to = line->right ? x + W : x + W / 2;
        av_str_addf(path, "M%d %dh%d", from, y + H / 2, to - from);
    }
    if (line->up || line->down) {
        int from = line->up ? y : y + H / 2;
        int to = line->down ? y + H : y + H / 2;
        av_str_addf(path, "M%d %dv%d", x + W / 2, from, to - from);
    }
}

static const struct line *find_line(uint32_t code)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].code == code) {
            return &lines[i];
        }
    }
    return NULL;
}

bool av_svg_is_line(uint32_t code)
{
    return find_line(code) != NULL;
}

void av_svg_line(struct av_str *path, uint32_t code, int x, int y)
{
    const struct line *line = find_line(code);
    if (line == NULL) {
        return;
    }
    if (line->dashes > 0) {
        add_dashes(path, line, x, y);
    } else {
        add_arms(path, line, x, y);
    }
}

void av_svg_dots(struct av_str *path, int x, int y, int w)
{
    /* A quarter of the cell, as in most fonts: every second dot of every
     * second row, the rows shifted against each other. */
    for (int row = 0; row < H / (2 * AV_SVG_DOT); row++) {
        int shift = row % 2 * AV_SVG_DOT;
        av_str_addf(path, "M%d %dh%d", x + shift, y + (2 * row + 1) * AV_SVG_DOT, w - shift);
    }
}
