/* panel_heads_text.c - the text below maps and matrix, which scrolls where it has too many lines. */
#include "panels_heads.h"

#include <stdio.h>

enum { WORDS_MAX = 2048, LINES_MAX = 10000, TABLE_MOST_H = 17 };

/* A panel of the text in r, whose height has no end; returns the lines used. */
typedef int (*part)(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_heads_look *look);

static int detail(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_heads_look *look)
{
    return av_panel_heads_detail(c, r, h, look->cursor);
}

static int words(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_heads_look *look)
{
    char text[WORDS_MAX];
    (void)look;
    return av_plot_wrap(c, r, AV_ROLE_MESSAGE, av_heads_words(text, sizeof text, h));
}

static int table(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_heads_look *look)
{
    return av_panel_heads_table(c, (struct av_rect){ r.x - 1, r.y, r.w + 2, TABLE_MOST_H }, h, look);
}

static int named(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_heads_look *look)
{
    (void)look;
    return av_panel_heads_named(c, (struct av_rect){ r.x - 1, r.y, r.w + 2, r.h }, h);
}

static const part parts[AV_HEADS_PAGES][4] = { { detail }, { words, table, named, detail } };

/* All parts of a page below each other, with a blank line between; returns the lines used. */
static int write_all(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_heads_look *look,
                     int page)
{
    int used = 0;
    for (size_t i = 0; i < sizeof parts[0] / sizeof parts[0][0] && parts[page][i] != NULL; i++) {
        int gap = used > 0;
        int more = parts[page][i](c, (struct av_rect){ r.x, r.y + used + gap, r.w, LINES_MAX }, h, look);
        used += more > 0 ? gap + more : 0;
    }
    return used;
}

/* The last line tells of the others where there are more. */
int av_heads_text_hidden(struct av_rect r, const struct av_heads *h, const struct av_heads_look *look, int page)
{
    struct av_canvas nothing = { 0 }; /* to count lines on */
    int lines = write_all(&nothing, (struct av_rect){ r.x, 0, r.w, LINES_MAX }, h, look, page);
    return lines <= r.h ? 0 : lines - (r.h > 1 ? r.h - 1 : 1);
}

void av_panel_heads_text(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                         const struct av_heads_look *look, int page, int first)
{
    if (r.h < 1 || r.w < 1) {
        return;
    }
    int hidden = av_heads_text_hidden(r, h, look, page);
    int from = first < hidden ? first : hidden;
    bool hint = hidden > 0 && r.h > 1;
    struct av_rect sight = { r.x, r.y, r.w + 1, r.h - hint };
    struct av_rect clip = av_plot_enter(c, sight);
    write_all(c, (struct av_rect){ r.x, r.y - from, r.w, LINES_MAX }, h, look, page);
    av_canvas_clip(c, clip);
    if (hint) {
        char text[64];
        const char *lines = hidden - from == 1 ? "line" : "lines";
        snprintf(text, sizeof text, from < hidden ? "J: %d more %s" : "K: back up", hidden - from, lines);
        av_plot_fit_right(c, r.x, r.x + r.w, r.y + r.h - 1, AV_ROLE_DIM, text);
    }
}
