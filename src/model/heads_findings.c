/* heads_findings.c - what a head is called, and what can be said of all: the rules behind the words. */
#include "heads_state.h"

#include "attnviz/snapshot.h"

#include <stdarg.h>
#include <stdio.h>

const struct av_head_rule av_head_rules[AV_HEAD_KINDS] = {
    [AV_HEAD_SINK] = { "sink",
                       AV_HEAD_FIRST,
                       false,
                       0.5,
                       { "gives more than half of its weight to the first token",
                         "give more than half of their weight to the first token" } },
    [AV_HEAD_BEFORE] = { "previous",
                         AV_HEAD_PREVIOUS,
                         false,
                         0.5,
                         { "gives more than half of its weight to the token before the query's",
                           "give more than half of their weight to the token before the query's" } },
    [AV_HEAD_DIAGONAL] = { "diagonal",
                           AV_HEAD_OWN,
                           false,
                           0.5,
                           { "gives more than half of its weight to the query's own token",
                             "give more than half of their weight to the query's own token" } },
    [AV_HEAD_UNIFORM] = { "uniform",
                          AV_HEAD_MOVED,
                          true,
                          0.1,
                          { "is uniform, but for less than a tenth of its weight",
                            "are uniform, but for less than a tenth of their weight" } },
    [AV_HEAD_PEAKED] = { "saturated",
                         AV_HEAD_SATURATED_ROWS,
                         false,
                         AV_LARGEST_SHARE,
                         { "has a weight above 0.9 in more than a quarter of its rows, and no other name",
                           "have a weight above 0.9 in more than a quarter of their rows, and no other name" } },
};

enum av_head_kind av_heads_kind(const struct av_head *h)
{
    enum av_head_kind kind = 0;
    while (kind < AV_HEAD_KINDS) {
        const struct av_head_rule *rule = &av_head_rules[kind];
        double x = h->at[rule->of];
        if (rule->below ? x < rule->limit : x > rule->limit) {
            break;
        }
        kind++;
    }
    return kind;
}

/* They are sorted by layer, then head. */
const struct av_head *av_heads_find(const struct av_heads *h, size_t layer, size_t head)
{
    size_t from = 0, to = h->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct av_head *at = &h->heads[middle];
        if (at->layer == layer && at->head == head) {
            return at;
        }
        bool before = at->layer < layer || (at->layer == layer && at->head < head);
        from = before ? middle + 1 : from;
        to = before ? to : middle;
    }
    return NULL;
}

/* ---- Words -------------------------------------------------------------------------- */

struct text {
    char *at;
    size_t size, used;
};

static void AV_PRINTF(2, 3) add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (t->used < t->size) {
        int more = vsnprintf(t->at + t->used, t->size - t->used, format, args);
        t->used += more > 0 ? (size_t)more : 0;
    }
    va_end(args);
}

struct tally {
    size_t measured, refused;
    size_t kinds[AV_HEAD_KINDS + 1], healths[AV_HEAD_HEALTHS];
};

static struct tally count(const struct av_heads *h)
{
    struct tally t = { 0 };
    for (size_t i = 0; i < h->done; i++) {
        const struct av_head *head = &h->heads[i];
        bool measured = head->state == AV_HEAD_MEASURED;
        t.measured += measured;
        t.refused += !measured;
        t.kinds[head->kind] += measured;
        t.healths[head->health] += measured;
    }
    return t;
}

const char *av_heads_words(char *out, size_t size, const struct av_heads *h)
{
    struct text text = { out, size, 0 };
    const struct tally t = count(h);
    size_t said = 0;
    out[0] = '\0';
    if (t.measured == 0) {
        add(&text, t.refused > 0 ? "No head could be weighed." : "No head is weighed yet.");
        return out;
    }
    for (enum av_head_kind kind = 0; kind < AV_HEAD_KINDS; kind++) {
        if (t.kinds[kind] > 0) {
            add(&text, "%s%zu of %zu heads %s.", said++ > 0 ? " " : "", t.kinds[kind], t.measured,
                av_head_rules[kind].does[t.kinds[kind] > 1]);
        }
    }
    if (said == 0) {
        add(&text,
            "None of %zu heads gives more than half of its weight to the first token, its own or the one before; none "
            "is uniform or saturated.",
            t.measured);
    }
    if (t.healths[AV_HEAD_DEAD] > 0) {
        add(&text, " The gradient of %zu head%s is dead.", t.healths[AV_HEAD_DEAD],
            t.healths[AV_HEAD_DEAD] > 1 ? "s" : "");
    }
    if (t.refused > 0) {
        add(&text, " %zu could not be weighed.", t.refused);
    }
    if (h->done < h->count) {
        add(&text, " %zu are yet to come.", h->count - h->done);
    }
    return out;
}
