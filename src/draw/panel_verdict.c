/* panel_verdict.c - what was found, the worst first. */
#include "panels.h"

#include <stdio.h>

struct severity_look {
    const char *word;
    enum av_role role;
};

/* By enum av_severity. */
static const struct severity_look looks[] = {
    { "note", AV_ROLE_MESSAGE },
    { "warning", AV_ROLE_WARN },
    { "alarm", AV_ROLE_BAD },
};

/* Draws one finding; returns the lines used. */
static int draw_one(struct av_canvas *c, struct av_rect r, const struct severity_look *look, const char *text)
{
    char line[sizeof((struct av_verdict *)0)->text + 16];
    snprintf(line, sizeof line, "%s: %s", look->word, text);
    return av_plot_wrap(c, r, look->role, line);
}

/* Q and K may come along with weights or scores: what is found is of their product.
 * Returns the part that it is not of, NULL: there is none. */
static const char *left_aside(const struct av_snapshot *s)
{
    bool product = s->layer != NULL && s->from_files && s->from == AV_PART_Q;
    return !product                                ? NULL
           : s->layer->part[AV_PART_WEIGHTS].there ? "weights"
           : s->layer->part[AV_PART_SCORES].there  ? "scores"
                                                   : NULL;
}

static int draw_left_aside(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    char text[AV_PIECE_MAX], number[AV_NUMBER_MAX];
    if (left_aside(s) == NULL) {
        return 0;
    }
    snprintf(text, sizeof text, "This is q·k × %s; the file's own %s: view heads.", av_plot_short(number, s->alpha, 3),
             left_aside(s));
    return av_plot_wrap(c, r, AV_ROLE_MESSAGE, text);
}

/* Where nothing is wrong. */
static int draw_fine(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    static const struct severity_look fine = { "fine", AV_ROLE_GOOD };
    static const struct severity_look none = { "nothing to judge", AV_ROLE_WARN };
    char variant[AV_PIECE_MAX], number[AV_NUMBER_MAX];
    char text[AV_PIECE_MAX + 64];
    if (s->now.rows == 0) {
        return draw_one(c, r, &none, "no row has two or more keys");
    }
    if (left_aside(s) != NULL) {
        snprintf(text, sizeof text, "q·k × %s is not saturated, its gradient is alive; the file's own %s: view heads",
                 av_plot_short(number, s->alpha, 3), left_aside(s));
        return draw_one(c, r, &fine, text);
    }
    if (!s->varied) {
        return draw_one(c, r, &fine, "the softmax is not saturated, its gradient is alive");
    }
    snprintf(text, sizeof text, "the weights by %s are not saturated, their gradient is alive",
             av_panel_variant(variant, s));
    return draw_one(c, r, &fine, text);
}

void av_panel_verdict(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_rect clip = av_plot_enter(c, r);
    struct av_rect rest = { r.x + 1, r.y, r.w - 2, r.h };
    bool wrong = false;
    for (int severity = AV_BAD; severity >= AV_INFO; severity--) {
        int used = severity > AV_INFO ? 0 : wrong ? draw_left_aside(c, rest, s) : draw_fine(c, rest, s);
        rest.y += used;
        rest.h -= used;
        for (size_t i = 0; i < s->verdict_count && rest.h > 0; i++) {
            if ((int)s->verdicts[i].severity == severity) {
                used = draw_one(c, rest, &looks[severity], s->verdicts[i].text);
                rest.y += used;
                rest.h -= used;
                wrong = true;
            }
        }
    }
    av_canvas_clip(c, clip);
}
