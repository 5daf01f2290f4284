/* panel_heads_detail.c - all that is known of one head, in a sentence. */
#include "panels_heads.h"

#include <stdio.h>

enum { DETAIL_MAX = 1024 };

/* The label of the first position, as far as there are labels. */
static const char *first_token(const struct av_heads *h)
{
    return h->source != NULL && h->source->token_count > 0 ? h->source->tokens[0] : NULL;
}

static const char *what_from(enum av_part from)
{
    static const char *const words[AV_PARTS] = {
        [AV_PART_SCORES] = ", from its logits", [AV_PART_WEIGHTS] = ", weights as they are"
    };
    return words[from] != NULL ? words[from] : "";
}

/* "layer 2, head 3: sink. 128×128, ... H/ln n 0.42, ...". */
static void describe(char out[DETAIL_MAX], const struct av_heads *h, const struct av_head *head)
{
    static const char *const healths[AV_HEAD_HEALTHS] = { "fine", "saturated", "dead" };
    size_t used =
        (size_t)snprintf(out, DETAIL_MAX, "layer %zu, head %zu%s", head->number, head->head, what_from(head->from));
    bool named = head->kind < AV_HEAD_PEAKED; /* that one the health tells */
    if (head->state == AV_HEAD_WAITING) {
        snprintf(out + used, DETAIL_MAX - used, ": still to be weighed");
        return;
    }
    if (head->state == AV_HEAD_REFUSED) {
        snprintf(out + used, DETAIL_MAX - used, ": %s", head->why);
        return;
    }
    used += (size_t)snprintf(out + used, DETAIL_MAX - used, ": %s%s%s.", healths[head->health], named ? ", " : "",
                             named ? av_heads_name(head) : "");
    for (enum av_head_quantity q = 0; q < AV_HEAD_QUANTITIES && used < DETAIL_MAX; q++) {
        char number[AV_NUMBER_MAX];
        used += (size_t)snprintf(out + used, DETAIL_MAX - used, "%s %s %s", q > 0 ? "," : "", av_heads_columns[q].head,
                                 av_heads_number(number, head, q, 6));
        if (q == AV_HEAD_FIRST && first_token(h) != NULL && used < DETAIL_MAX) {
            used += (size_t)snprintf(out + used, DETAIL_MAX - used, " (\"%s\")", first_token(h));
        }
    }
}

void av_panel_heads_detail(struct av_canvas *c, struct av_rect r, const struct av_heads *h, size_t head)
{
    char text[DETAIL_MAX];
    describe(text, h, &h->heads[head]);
    av_plot_wrap(c, r, AV_ROLE_TEXT, text);
}
