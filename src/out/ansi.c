/* ansi.c - a canvas as text with SGR sequences (ECMA-48). */
#include "attnviz/out.h"

static const struct av_style plain = { .fg = AV_COLOR_DEFAULT, .bg = AV_COLOR_DEFAULT, .fg16 = -1, .bg16 = -1 };

/* A sequence opens with its first parameter. */
static void separate(struct av_str *out, bool *open)
{
    av_str_add(out, *open ? ";" : "\033[");
    *open = true;
}

static void add_flag(struct av_str *out, bool *open, int parameter)
{
    separate(out, open);
    av_str_addf(out, "%d", parameter);
}

/* base: 30 for the foreground, 40 for the background. */
static void add_color(struct av_str *out, bool *open, int base, int index, enum av_depth depth)
{
    separate(out, open);
    if (index == AV_COLOR_DEFAULT) {
        av_str_addf(out, "%d", base + 9);
    } else if (depth == AV_DEPTH_TRUE) {
        unsigned rgb = av_color_rgb(index);
        av_str_addf(out, "%d;2;%u;%u;%u", base + 8, rgb >> 16, rgb >> 8 & 0xFF, rgb & 0xFF);
    } else if (depth == AV_DEPTH_256) {
        av_str_addf(out, "%d;5;%d", base + 8, index);
    } else {
        av_str_addf(out, "%d", index < 8 ? base + index : base + 60 + index - 8);
    }
}

/* The shortest sequence from one style to another: what is switched off can
 * only be switched off together. */
static void change_style(struct av_str *out, struct av_style from, struct av_style to, enum av_depth depth)
{
    bool open = false;
    if ((from.bold && !to.bold) || (from.underline && !to.underline) || (from.reverse && !to.reverse)) {
        add_flag(out, &open, 0);
        from = plain;
    }
    if (to.bold && !from.bold) {
        add_flag(out, &open, 1);
    }
    if (to.underline && !from.underline) {
        add_flag(out, &open, 4);
    }
    if (to.reverse && !from.reverse) {
        add_flag(out, &open, 7);
    }
    if (to.fg != from.fg) {
        add_color(out, &open, 30, to.fg, depth);
    }
    if (to.bg != from.bg) {
        add_color(out, &open, 40, to.bg, depth);
    }
    if (open) {
        av_str_add(out, "m");
    }
}

static bool is_bare(const struct av_cell *cell, struct av_style s)
{
    return cell->code == ' ' && !s.underline && !s.reverse;
}

static int line_end(const struct av_canvas *c, int y, const struct av_theme *t, enum av_depth depth)
{
    int end = c->cols;
    while (end > 0) {
        const struct av_cell *cell = av_canvas_at(c, end - 1, y);
        struct av_style s = av_style_reduce(av_theme_style(t, cell), depth);
        if (!is_bare(cell, s) || s.bg != AV_COLOR_DEFAULT) {
            break;
        }
        end--;
    }
    return end;
}

void av_out_ansi(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, enum av_depth depth)
{
    for (int y = 0; y < c->rows; y++) {
        struct av_style now = plain;
        int end = line_end(c, y, t, depth);
        for (int x = 0; x < end; x++) {
            const struct av_cell *cell = av_canvas_at(c, x, y);
            if (cell->code == AV_GLYPH_REST) {
                continue;
            }
            struct av_style s = av_style_reduce(av_theme_style(t, cell), depth);
            if (is_bare(cell, s)) {
                /* Nothing of a blank is seen but its background. */
                s.fg = now.fg;
                s.bold = now.bold;
            }
            change_style(out, now, s, depth);
            now = s;
            av_str_utf8(out, cell->code);
        }
        av_str_add(out, now.bold || now.underline || now.reverse || now.fg != plain.fg || now.bg != plain.bg
                            ? "\033[0m\n"
                            : "\n");
    }
}
