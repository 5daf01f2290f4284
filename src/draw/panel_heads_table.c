/* panel_heads_table.c - the heads of one layer with everything that is measured, a line each. */
#include "panels_heads.h"

#include <stdio.h>

enum {
    NAME_W = 10,
    GAP = 2,    /* between columns, at least */
    LEAST_W = 6 /* of a number */
};

/* The most telling first: narrow screens show the first ones. */
static const enum av_head_quantity columns[AV_HEAD_QUANTITIES] = {
    AV_HEAD_ENTROPY,  AV_HEAD_MAX_MEDIAN, AV_HEAD_SATURATED_ROWS, AV_HEAD_FRO,       AV_HEAD_FIRST,   AV_HEAD_OWN,
    AV_HEAD_PREVIOUS, AV_HEAD_MOVED,      AV_HEAD_LOGIT_STD,      AV_HEAD_DEAD_ROWS, AV_HEAD_ROW_SUM, AV_HEAD_MAX_MEAN,
};

/* Columns stand behind label, mark and name. */
static int label_end(const struct av_heads *h)
{
    return 1 + av_heads_label_w(h) + 2 + NAME_W;
}

static int column_w(enum av_head_quantity quantity)
{
    int w = 0;
    for (const char *c = av_heads_columns[quantity].head; *c != '\0'; c++) {
        w++;
    }
    return GAP + (w > LEAST_W ? w : LEAST_W);
}

static void draw_headings(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                          const struct av_heads_look *look)
{
    int end = r.x + label_end(h);
    for (size_t i = 0; i < AV_HEAD_QUANTITIES; i++) {
        enum av_head_quantity q = columns[i];
        end += column_w(q);
        if (end < r.x + r.w) {
            av_canvas_text_right(c, end, r.y, q == look->quantity ? AV_ROLE_TITLE : AV_ROLE_AXIS,
                                 av_heads_columns[q].head);
        }
    }
}

static void draw_line(struct av_canvas *c, struct av_rect r, const struct av_heads *h, const struct av_head *head)
{
    char text[AV_NUMBER_MAX];
    struct av_fill mark = av_heads_mark(head);
    int x = r.x + 1 + av_heads_label_w(h) + 1;
    int end = r.x + label_end(h);
    av_canvas_text(c, r.x + 1, r.y, AV_ROLE_TEXT, av_heads_label(text, head));
    av_canvas_put(c, x, r.y, mark.body, mark.role);
    av_canvas_text(c, x + 1, r.y, AV_ROLE_TEXT, av_heads_name(head));
    for (size_t i = 0; i < AV_HEAD_QUANTITIES; i++) {
        enum av_head_quantity q = columns[i];
        end += column_w(q);
        if (end < r.x + r.w) {
            av_canvas_text_right(c, end, r.y, AV_ROLE_TEXT, av_heads_number(text, head, q, LEAST_W));
        }
    }
}

int av_panel_heads_table(struct av_canvas *c, struct av_rect r, const struct av_heads *h,
                         const struct av_heads_look *look)
{
    const struct av_head *cursor = &h->heads[look->cursor];
    size_t lines = r.h > 1 ? (size_t)(r.h - 1) : 0;
    size_t first = cursor->head + 1 > lines ? cursor->head + 1 - lines : 0;
    size_t used = 0;
    if (lines == 0) {
        return 0;
    }
    draw_headings(c, r, h, look);
    for (size_t i = 0; i < lines; i++) {
        const struct av_head *head = av_heads_find(h, cursor->layer, first + i);
        struct av_rect at = { r.x, r.y + 1 + (int)i, r.w, 1 };
        if (head == NULL) {
            break;
        }
        draw_line(c, at, h, head);
        used++;
        if (head == cursor) {
            av_canvas_mark(c, (struct av_rect){ r.x + 1, at.y, av_heads_label_w(h), 1 });
        }
    }
    return 1 + (int)used;
}
