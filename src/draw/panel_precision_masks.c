/* panel_precision_masks.c - finite numbers in the place of masks, in every dtype. */
#include "panels_precision.h"

#include <math.h>
#include <stdio.h>

enum { NAME_W = 12, COLUMN_LEAST_W = 17, COLUMN_MOST_W = 22, LINES = 3, HEAD_H = 1, NOTES_H = 4 };

/* The dtypes as columns, what matters most first where not all fit. */
static const enum av_dtype order[AV_MASK_DTYPES] = { AV_DTYPE_F16, AV_DTYPE_BF16, AV_DTYPE_F32, AV_DTYPE_F64 };

typedef const char *write_words(char out[AV_MASK_WORDS_MAX], const struct av_mask_trial *t, enum av_severity *how);

/* The number as the dtype holds it. */
static const char *write_held(char out[AV_MASK_WORDS_MAX], const struct av_mask_trial *t, enum av_severity *how)
{
    char number[AV_NUMBER_MAX];
    *how = isinf(t->held) ? AV_BAD : AV_INFO;
    snprintf(out, AV_MASK_WORDS_MAX, "%s", av_plot_short(number, t->held, 5));
    return out;
}

static const struct line {
    const char *name; /* NULL: that of the number */
    write_words *write;
} lines[LINES] = {
    { NULL, write_held },
    { " masked get", av_mask_words_causal },
    { " all masked", av_mask_words_full },
};

static void draw_trial(struct av_canvas *c, int x, int right, int y, const struct av_mask_trial *t)
{
    for (int i = 0; i < LINES; i++) {
        char text[AV_MASK_WORDS_MAX];
        enum av_severity how;
        lines[i].write(text, t, &how);
        struct av_fill mark = av_precision_mark(how);
        const int from = x + 2 + c->ascii; /* behind two letters */
        if (av_plot_fit(c, from, right, y + i, how == AV_INFO ? AV_ROLE_TEXT : mark.role, text) > from) {
            av_precision_put(c, x, y + i, mark);
        }
    }
}

static void draw_value(struct av_canvas *c, struct av_rect r, int y, const struct av_precision *s,
                       enum av_mask_value value, int w)
{
    av_plot_fit(c, r.x + 1, r.x + NAME_W, y, AV_ROLE_TITLE, av_mask_value_names[value]);
    for (int i = 1; i < LINES; i++) {
        av_plot_fit(c, r.x + 1, r.x + NAME_W, y + i, AV_ROLE_DIM, lines[i].name);
    }
    for (int k = 0; k < AV_MASK_DTYPES; k++) {
        int x = r.x + NAME_W + 1 + k * w;
        if (x + w <= r.x + r.w && s->masks_whole[order[k]]) {
            draw_trial(c, x, x + w, y, &s->masks[order[k]][value]);
        } else if (x + w <= r.x + r.w) {
            av_canvas_text(c, x + 2, y, AV_ROLE_DIM, "…");
        }
    }
}

static void draw_notes(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    char text[512];
    snprintf(text, sizeof text,
             "Each number is added to the logits that a causal mask leaves out, the sum rounded. Beside it: as the "
             "dtype holds it. Masked get: the largest share of a causal row that masked keys get. All masked: the "
             "weights of query %zu, uniform or as is: as if not masked; n/m: only n of m different logits are left.",
             av_panel_query(ctx->snapshot));
    av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y, r.w - 2, r.h }, AV_ROLE_DIM, text);
}

void av_panel_precision_masks(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_precision *s = ctx->study;
    enum av_dtype present = (enum av_dtype)ctx->snapshot->params.dtype;
    int w = (r.w - NAME_W - 1) / AV_MASK_DTYPES;
    w = w < COLUMN_LEAST_W - 1 ? COLUMN_LEAST_W - 1 : w > COLUMN_MOST_W ? COLUMN_MOST_W : w;
    int gap = r.h >= HEAD_H + AV_MASK_VALUES * (LINES + 1) + NOTES_H;
    int y = r.y;
    av_plot_fit(c, r.x + 1, r.x + NAME_W, y, AV_ROLE_DIM, "added");
    for (int k = 0; k < AV_MASK_DTYPES; k++) {
        int x = r.x + NAME_W + 1 + k * w;
        if (x + w <= r.x + r.w) {
            av_canvas_text(c, x + 2, y, order[k] == present ? AV_ROLE_SELECT : AV_ROLE_TITLE,
                           av_param_find("dtype")->choices[order[k]]);
        }
    }
    y += HEAD_H;
    for (int v = 0; v < AV_MASK_VALUES; v++) {
        draw_value(c, r, y, s, (enum av_mask_value)v, w);
        y += LINES + gap;
    }
    draw_notes(c, (struct av_rect){ r.x, y, r.w, r.y + r.h - y }, ctx);
}
