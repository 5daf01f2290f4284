/* panel_heads_detail.c - all that is known of one head: its verdicts, its numbers. */
#include "panels_heads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DETAIL_MAX = 1024, JOINT = 2, MARK_W = 2, DIGITS = 3 };

/* The label of the first position, as far as there are labels. */
static const char *first_token(const struct av_heads *h)
{
    return h->source != NULL && h->source->token_count > 0 ? h->source->tokens[0] : NULL;
}

/* ---- What it is -------------------------------------------------------------------- */

static const char *what_from(enum av_part from)
{
    static const char *const words[AV_PARTS] = {
        [AV_PART_SCORES] = ", from its logits", [AV_PART_WEIGHTS] = ", weights as they are"
    };
    return words[from] != NULL ? words[from] : "";
}

static const char *state_of(const struct av_head *head)
{
    static const char *const healths[AV_HEAD_HEALTHS] = { "fine", "a warning, by the spread of its logits alone",
                                                          "a warning", "bad" };
    return head->state == AV_HEAD_WAITING   ? "still to be measured"
           : head->state == AV_HEAD_REFUSED ? "it cannot be measured"
           : head->rows == 0                ? "no row has numbers for two keys, so there is nothing to judge"
                                            : healths[head->health];
}

static const char *diagnosis_of(const struct av_heads *h, const struct av_head *head)
{
    static const char *const states[] = { [AV_HEAD_WAITING] = "; still to be diagnosed",
                                          [AV_HEAD_MEASURED] = "",
                                          [AV_HEAD_REFUSED] = "; it cannot be diagnosed" };
    return head->state == AV_HEAD_MEASURED && h->diagnoses ? states[head->diagnosis] : "";
}

/* "layer 2, head 3: fine; sink". */
static void describe(char out[DETAIL_MAX], const struct av_heads *h, const struct av_head *head)
{
    bool named = head->state == AV_HEAD_MEASURED && head->kind != AV_HEAD_PLAIN;
    snprintf(out, DETAIL_MAX, "layer %zu, head %zu%s: %s%s%s%s", head->number, head->head, what_from(head->from),
             state_of(head), named ? "; " : "", named ? av_heads_name(head) : "", diagnosis_of(h, head));
}

/* ---- Its numbers ---------------------------------------------------------------------- */

/* Pieces of a text: a quantity between two words, the first of which begins with
 * what joins it to the piece before. */
struct piece {
    const char *before;
    enum av_head_quantity of;
    const char *behind;
};

static void measure(char out[DETAIL_MAX], const struct av_heads *h, const struct av_head *head)
{
    static const struct piece pieces[] = {
        { "; entropy ", AV_HEAD_ENTROPY, " of ln n" },
        { "; largest weight ", AV_HEAD_MAX_MEDIAN, " (median)" },
        { ", ", AV_HEAD_MAX_MEAN, " (mean)" },
        { ", above 0.9 in ", AV_HEAD_SATURATED_ROWS, " of rows" },
        { "; gradient ", AV_HEAD_FRO, " (median jacobian_fro)" },
        { ", ", AV_HEAD_DEAD_ROWS, " dead rows" },
        { "; logit std in a row ", AV_HEAD_LOGIT_STD, "" },
        { "; row sum ", AV_HEAD_ROW_SUM, "" },
        { "; weight on the first key ", AV_HEAD_FIRST, "" },
        { ", own ", AV_HEAD_OWN, "" },
        { ", the one before ", AV_HEAD_PREVIOUS, "" },
        { "; ", AV_HEAD_MOVED, " of the weight would have to move to make rows even" },
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0] && used < DETAIL_MAX; i++) {
        char number[AV_NUMBER_MAX];
        if (isnan(head->at[pieces[i].of])) {
            continue; /* weights alone have no logits */
        }
        if (av_heads_columns[pieces[i].of].percent) {
            av_panel_percent(number, head->at[pieces[i].of]);
        } else {
            av_plot_number(number, head->at[pieces[i].of], DIGITS);
        }
        used += (size_t)snprintf(out + used, DETAIL_MAX - used, "%s%s%s", pieces[i].before + (used == 0 ? JOINT : 0),
                                 number, pieces[i].behind);
        if (pieces[i].of == AV_HEAD_FIRST && first_token(h) != NULL && used < DETAIL_MAX) {
            used += (size_t)snprintf(out + used, DETAIL_MAX - used, " (\"%s\")", first_token(h));
        }
    }
}

/* ---- The panel ------------------------------------------------------------------------- */

/* The first lines of r are used up. */
static struct av_rect below(struct av_rect r, int lines)
{
    return (struct av_rect){ r.x, r.y + lines, r.w, r.h - lines };
}

/* Verdicts [from, to), each behind its mark; returns the lines used. */
static int draw_verdicts(struct av_canvas *c, struct av_rect r, const struct av_head *head, size_t from, size_t to)
{
    int used = 0;
    for (size_t i = from; i < to && used < r.h; i++) {
        const struct av_verdict *v = &head->verdicts[i];
        struct av_fill mark = av_heads_severity_mark(v->severity);
        char text[DETAIL_MAX];
        if (head->saturated == AV_SATURATED_SPREAD && strcmp(v->code, "saturated") == 0) {
            mark = av_heads_mark(&(struct av_head){ .state = AV_HEAD_MEASURED, .health = AV_HEAD_SPREAD });
        }
        snprintf(text, sizeof text, "%s: %s", v->code, v->text);
        av_canvas_put(c, r.x, r.y + used, mark.body, mark.role);
        used += av_plot_wrap(c, (struct av_rect){ r.x + MARK_W, r.y + used, r.w - MARK_W, r.h - used },
                             v->severity >= AV_WARN ? mark.role : AV_ROLE_TEXT, text);
    }
    return used;
}

int av_panel_heads_detail(struct av_canvas *c, struct av_rect r, const struct av_heads *h, size_t at)
{
    const struct av_head *head = &h->heads[at];
    char text[DETAIL_MAX];
    size_t warnings = 0;
    int top = r.y;
    describe(text, h, head);
    r = below(r, av_plot_wrap(c, r, AV_ROLE_TITLE, text));
    if (head->state == AV_HEAD_REFUSED || head->diagnosis == AV_HEAD_REFUSED) {
        r = below(r, av_plot_wrap(c, r, AV_ROLE_BAD, head->why));
    }
    if (head->state != AV_HEAD_MEASURED) {
        return r.y - top;
    }
    while (warnings < head->verdict_count && head->verdicts[warnings].severity >= AV_WARN) {
        warnings++;
    }
    r = below(r, draw_verdicts(c, r, head, 0, warnings));
    if (head->rows > 0) {
        measure(text, h, head);
        r = below(r, av_plot_wrap(c, r, AV_ROLE_TEXT, text));
    }
    r = below(r, draw_verdicts(c, r, head, warnings, head->verdict_count));
    return r.y - top;
}
