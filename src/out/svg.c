/* svg.c - a canvas as a picture.
 *
 * Row by row: backgrounds with full blocks and shades, then dots, the other
 * blocks and lines as shapes, then text, every character with its own x, so that
 * columns align in any font, and wide ones by themselves, in the middle of two. All coordinates are whole numbers: no
 * locale can put commas into them. */
#include "attnviz/out.h"

#include "attnviz/utf8.h"
#include "svg_shapes.h"

enum { W = AV_SVG_CELL_W, H = AV_SVG_CELL_H };
enum { MARGIN = 8 };         /* units around the canvas */
enum { UNDERLINE = 14 };     /* units from a cell's top */
enum { BASELINE = 12 };      /* units from a cell's top */
enum { WIDE_IN = 1 };        /* units from the left of two cells: a wide glyph is as wide as its font is high */
enum { ZOOM_PERCENT = 125 }; /* pixels to a hundred units */

struct picture {
    struct av_str *out;
    const struct av_canvas *canvas;
    const struct av_theme *theme;
    uint32_t paper, ink; /* what the terminal's own colours become */
};

/* A cell's look with every colour known. */
struct paint {
    uint32_t fg, bg; /* bg: of the whole cell, full blocks and shades mixed in */
    bool bold, underline;
};

/* percent of a and the rest of b, channel by channel, as a viewer would lay a
 * translucent a over b. */
static uint32_t mix(uint32_t a, uint32_t b, int percent)
{
    uint32_t out = 0, part = (uint32_t)percent;
    for (int shift = 16; shift >= 0; shift -= 8) {
        out = out << 8 | ((a >> shift & 0xFF) * part + (b >> shift & 0xFF) * (100 - part) + 50) / 100;
    }
    return out;
}

/* A light shade is a texture: dots in the full colour, so that a bar looks
 * like its name and its numbers. In a heatmap it is a tint between two levels. */
static bool is_dotted(const struct av_cell *cell)
{
    return cell->code == AV_SVG_LIGHT_SHADE && cell->role != AV_ROLE_HEAT;
}

static struct paint paint_of(const struct picture *p, int x, int y)
{
    const struct av_cell *cell = av_canvas_at(p->canvas, x, y);
    struct av_style s = av_style_reduce(av_theme_style(p->theme, cell), AV_DEPTH_TRUE);
    uint32_t fg = s.fg == AV_COLOR_DEFAULT ? p->ink : av_color_rgb(s.fg);
    uint32_t bg = s.bg == AV_COLOR_DEFAULT ? p->paper : av_color_rgb(s.bg);
    struct paint paint = { s.reverse ? bg : fg, s.reverse ? fg : bg, s.bold, s.underline };
    struct av_svg_block block;
    if (!is_dotted(cell) && av_svg_block(cell->code, &block) && block.w == W && block.h == H) {
        paint.bg = mix(paint.fg, paint.bg, block.percent);
    }
    return paint;
}

static bool same_text(struct paint a, struct paint b)
{
    return a.fg == b.fg && a.bold == b.bold && a.underline == b.underline;
}

static void add_escaped(struct av_str *out, uint32_t code)
{
    switch (code) {
    case '&':
        av_str_add(out, "&amp;");
        break;
    case '<':
        av_str_add(out, "&lt;");
        break;
    case '>':
        av_str_add(out, "&gt;");
        break;
    default: /* XML has no control characters, nor these two */
        av_str_utf8(out, code < 0x20 ? ' ' : code == 0xFFFE || code == 0xFFFF ? AV_GLYPH_UNKNOWN : code);
    }
}

static void add_rect(const struct picture *p, int x, int y, int w, int h, uint32_t fill)
{
    av_str_addf(p->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", x, y, w, h,
                (unsigned)fill);
}

static void add_backgrounds(const struct picture *p, int y)
{
    for (int x = 0, end; x < p->canvas->cols; x = end) {
        uint32_t bg = paint_of(p, x, y).bg;
        for (end = x + 1; end < p->canvas->cols && paint_of(p, end, y).bg == bg; end++) {
        }
        if (bg != p->paper) {
            add_rect(p, x * W, y * H, (end - x) * W, H, bg);
        }
    }
}

/* Neighbouring dotted cells of a colour are one path. */
static void add_dots(const struct picture *p, int y)
{
    struct av_str path = AV_STR_INIT;
    for (int x = 0, end; x < p->canvas->cols; x = end) {
        end = x + 1;
        if (!is_dotted(av_canvas_at(p->canvas, x, y))) {
            continue;
        }
        uint32_t fg = paint_of(p, x, y).fg;
        while (end < p->canvas->cols && is_dotted(av_canvas_at(p->canvas, end, y)) && paint_of(p, end, y).fg == fg) {
            end++;
        }
        av_svg_dots(&path, x * W, y * H, (end - x) * W);
        av_str_addf(p->out, "<path d=\"%s\" stroke=\"#%06x\" stroke-width=\"%d\" stroke-dasharray=\"%d\"/>\n",
                    path.text, (unsigned)fg, AV_SVG_DOT, AV_SVG_DOT);
        av_str_clear(&path);
    }
    p->out->failed = p->out->failed || path.failed;
    av_str_free(&path);
}

/* Blocks that cover a part of their cell; equal neighbours that fill its width
 * are one rectangle. */
static void add_blocks(const struct picture *p, int y)
{
    for (int x = 0, end; x < p->canvas->cols; x = end) {
        uint32_t code = av_canvas_at(p->canvas, x, y)->code;
        struct av_svg_block b;
        end = x + 1;
        if (!av_svg_block(code, &b) || (b.w == W && b.h == H)) {
            continue;
        }
        uint32_t fg = paint_of(p, x, y).fg;
        while (b.w == W * (end - x) && end < p->canvas->cols && av_canvas_at(p->canvas, end, y)->code == code &&
               paint_of(p, end, y).fg == fg) {
            b.w += W;
            end++;
        }
        add_rect(p, x * W + b.x, y * H + b.y, b.w, b.h, fg);
    }
}

/* Neighbouring lines of a colour are one path. */
static void add_lines(const struct picture *p, int y)
{
    struct av_str path = AV_STR_INIT;
    for (int x = 0; x < p->canvas->cols; x++) {
        uint32_t fg = paint_of(p, x, y).fg;
        av_svg_line(&path, av_canvas_at(p->canvas, x, y)->code, x * W, y * H);
        bool more = x + 1 < p->canvas->cols && paint_of(p, x + 1, y).fg == fg;
        if (!more && path.len > 0) {
            av_str_addf(p->out, "<path d=\"%s\" stroke=\"#%06x\"/>\n", path.text, (unsigned)fg);
            av_str_clear(&path);
        }
    }
    p->out->failed = p->out->failed || path.failed;
    av_str_free(&path);
}

static void add_underlines(const struct picture *p, int y)
{
    for (int x = 0, end; x < p->canvas->cols; x = end) {
        struct paint first = paint_of(p, x, y);
        for (end = x + 1; end < p->canvas->cols && same_text(paint_of(p, end, y), first); end++) {
        }
        if (first.underline) {
            add_rect(p, x * W, y * H + UNDERLINE, (end - x) * W, 1, first.fg);
        }
    }
}

/* Whether the cell holds a character that is drawn as text. */
static bool is_text(const struct picture *p, int x, int y)
{
    uint32_t code = av_canvas_at(p->canvas, x, y)->code;
    struct av_svg_block block;
    return code != ' ' && code != AV_GLYPH_REST && !av_svg_block(code, &block) && !av_svg_is_line(code);
}

static bool is_wide(const struct picture *p, int x, int y)
{
    return x + 1 < p->canvas->cols && av_canvas_at(p->canvas, x + 1, y)->code == AV_GLYPH_REST;
}

/* Where the text from x on ends: at another look, a shape, a wide character, or
 * two blanks, which XML would make one. Of a character beyond 16 bits, which
 * some viewers count as two, behind it. */
static int text_end(const struct picture *p, int x, int y)
{
    struct paint first = paint_of(p, x, y);
    int end = x + 1;
    while (!is_wide(p, end - 1, y) && av_canvas_at(p->canvas, end - 1, y)->code <= 0xFFFF) {
        int next = end;
        if (next + 1 < p->canvas->cols && av_canvas_at(p->canvas, next, y)->code == ' ') {
            next++;
        }
        if (next >= p->canvas->cols || !is_text(p, next, y) || !same_text(paint_of(p, next, y), first) ||
            is_wide(p, next, y)) {
            return end;
        }
        end = next + 1;
    }
    return end;
}

static void add_texts(const struct picture *p, int y)
{
    for (int x = 0, end; x < p->canvas->cols; x = end) {
        end = x + 1;
        if (!is_text(p, x, y)) {
            continue;
        }
        end = text_end(p, x, y);
        struct paint look = paint_of(p, x, y);
        av_str_addf(p->out, "<text y=\"%d\" fill=\"#%06x\"%s x=\"", y * H + BASELINE, (unsigned)look.fg,
                    look.bold ? " font-weight=\"bold\"" : "");
        for (int i = x; i < end; i++) {
            av_str_addf(p->out, i > x ? " %d" : "%d", i * W + (is_wide(p, i, y) ? WIDE_IN : 0));
        }
        av_str_add(p->out, "\">");
        for (int i = x; i < end; i++) {
            add_escaped(p->out, av_canvas_at(p->canvas, i, y)->code);
        }
        av_str_add(p->out, "</text>\n");
    }
}

static void add_head(const struct picture *p, const char *title)
{
    int w = p->canvas->cols * W + 2 * MARGIN, h = p->canvas->rows * H + 2 * MARGIN;
    av_str_addf(p->out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %d %d\" "
                "role=\"img\">\n<title>",
                w * ZOOM_PERCENT / 100, h * ZOOM_PERCENT / 100, -MARGIN, -MARGIN, w, h);
    for (uint32_t code; (code = av_utf8_next(&title)) != 0;) {
        add_escaped(p->out, code);
    }
    av_str_add(p->out, "</title>\n");
    add_rect(p, -MARGIN, -MARGIN, w, h, p->paper);
    /* Most monospaced fonts advance 0.6 of their size: a cell is 8 units. */
    av_str_add(p->out, "<g font-family=\"'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace\" "
                       "font-size=\"13.3\" fill=\"none\" shape-rendering=\"crispEdges\" "
                       "style=\"font-variant-ligatures:none\">\n");
}

void av_out_svg(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, const char *title)
{
    /* Where a theme leaves colours to the terminal, a picture is ink on paper. */
    const uint32_t white = 0xFFFFFF, black = 0x000000;
    struct picture p = { out, c, t, white, black };
    if (t->ground.bg != AV_COLOR_DEFAULT) {
        p.paper = av_color_rgb(t->ground.bg);
        p.ink = t->light ? black : white;
    }
    if (t->ground.fg != AV_COLOR_DEFAULT) {
        p.ink = av_color_rgb(t->ground.fg);
    }
    add_head(&p, title);
    for (int y = 0; y < c->rows; y++) {
        add_backgrounds(&p, y);
        add_dots(&p, y);
        add_blocks(&p, y);
        add_lines(&p, y);
        add_underlines(&p, y);
        add_texts(&p, y);
    }
    av_str_add(out, "</g>\n</svg>\n");
}
