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

/* Where nothing is wrong. */
static int draw_fine(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    static const struct severity_look fine = { "fine", AV_ROLE_GOOD };
    static const struct severity_look none = { "nothing to judge", AV_ROLE_WARN };
    char variant[AV_PIECE_MAX];
    char text[AV_PIECE_MAX + 64];
    if (s->now.rows == 0) {
        return draw_one(c, r, &none, "no row has two or more keys");
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
        int used = severity == AV_INFO && !wrong ? draw_fine(c, rest, s) : 0;
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
