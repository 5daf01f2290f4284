/* heads_findings.c - what a head is called, and what can be said of all: the rules behind the words. */
#include "heads_state.h"

#include "attnviz/snapshot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    [AV_HEAD_PEAKED] = { "peaked",
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

/* A code of verdicts, and the heads that have it as a warning or worse. */
struct code {
    const char *code;
    size_t heads;
};

enum { CODES = 16 }; /* told of */

struct tally {
    size_t measured, refused, undiagnosed;
    size_t kinds[AV_HEAD_KINDS + 1], healths[AV_HEAD_HEALTHS];
    size_t rows, frozen, dead; /* saturated by so many rows; with a dead gradient */
    struct code codes[CODES];  /* the others */
    size_t code_count;
};

static void count_code(struct tally *t, const char *code)
{
    size_t i = 0;
    while (i < t->code_count && strcmp(t->codes[i].code, code) != 0) {
        i++;
    }
    if (i < CODES) {
        t->codes[i].code = code;
        t->codes[i].heads++;
        t->code_count += i == t->code_count;
    }
}

static void count_verdicts(struct tally *t, const struct av_head *head)
{
    t->rows += head->saturated == AV_SATURATED_ROWS;
    t->frozen += head->saturated == AV_SATURATED_FROZEN;
    for (size_t i = 0; i < head->verdict_count && head->verdicts[i].severity >= AV_WARN; i++) {
        const char *code = head->verdicts[i].code;
        size_t first = 0;
        while (strcmp(head->verdicts[first].code, code) != 0) {
            first++;
        }
        if (first < i) {
            continue; /* two of a code, of Q and of K */
        }
        if (strcmp(code, "gradient_dead") == 0) {
            t->dead++;
        } else if (strcmp(code, "saturated") != 0) {
            count_code(t, code);
        }
    }
}

static struct tally count(const struct av_heads *h)
{
    struct tally t = { 0 };
    for (size_t i = 0; i < h->count; i++) {
        const struct av_head *head = &h->heads[i];
        bool measured = head->state == AV_HEAD_MEASURED;
        t.measured += measured;
        t.refused += head->state == AV_HEAD_REFUSED;
        t.undiagnosed += measured && h->diagnoses && head->diagnosis == AV_HEAD_WAITING;
        if (measured) {
            t.kinds[head->kind]++;
            t.healths[head->health]++;
            count_verdicts(&t, head);
        }
    }
    return t;
}

static const char *is_are(size_t n)
{
    return n == 1 ? "is" : "are";
}

/* "3 of 40 heads are fine, 31 spread, 2 a warning, 4 bad.": the marks of the view. */
static void tell_healths(struct text *text, const struct tally *t)
{
    static const char *const names[AV_HEAD_HEALTHS] = { "fine", "spread", "a warning", "bad" };
    add(text, "%zu of %zu heads %s fine", t->healths[AV_HEAD_FINE], t->measured, is_are(t->healths[AV_HEAD_FINE]));
    for (enum av_head_health health = AV_HEAD_FINE + 1; health < AV_HEAD_HEALTHS; health++) {
        if (t->healths[health] > 0) {
            add(text, ", %zu %s", t->healths[health], names[health]);
        }
    }
    add(text, ".");
}

/* What the marks are for. A head may have several of these. */
static void tell_verdicts(struct text *text, const struct tally *t)
{
    tell_healths(text, t);
    if (t->healths[AV_HEAD_SPREAD] > 0) {
        add(text, " Spread: logits beyond sqrt(2 ln n) and nothing else; a trained model's logits are not normal, and "
                  "at most a quarter of the rows are saturated.");
    }
    if (t->rows + t->frozen > 0) {
        add(text, " Saturated, a weight above 0.9 in more than a quarter of the rows: %zu head%s", t->rows + t->frozen,
            t->rows + t->frozen > 1 ? "s" : "");
        if (t->frozen > 0) {
            add(text, ", %zu of them frozen, in more than half", t->frozen);
        }
        add(text, ".");
    }
    if (t->dead > 0) {
        add(text, " Gradient dead: %zu head%s.", t->dead, t->dead > 1 ? "s" : "");
    }
    for (size_t i = 0; i < t->code_count; i++) {
        add(text, "%s %s in %zu", i == 0 ? " Found besides:" : ",", t->codes[i].code, t->codes[i].heads);
    }
    add(text, "%s", t->code_count > 0 ? "." : "");
}

/* What a head does; saturated ones are among the verdicts. */
static void tell_kinds(struct text *text, const struct tally *t)
{
    size_t said = 0;
    for (enum av_head_kind kind = 0; kind < AV_HEAD_PEAKED; kind++) {
        if (t->kinds[kind] > 0) {
            add(text, " %zu %s.", t->kinds[kind], av_head_rules[kind].does[t->kinds[kind] > 1]);
            said++;
        }
    }
    if (said == 0) {
        add(text, " None gives more than half of its weight to the first token, its own or the one before; none is "
                  "uniform.");
    }
}

const char *av_heads_words(char *out, size_t size, const struct av_heads *h)
{
    struct text text = { out, size, 0 };
    const struct tally t = count(h);
    out[0] = '\0';
    if (t.measured == 0) {
        add(&text, t.refused > 0 ? "No head could be measured." : "No head is measured yet.");
        return out;
    }
    tell_verdicts(&text, &t);
    tell_kinds(&text, &t);
    if (t.refused > 0) {
        add(&text, " %zu could not be measured.", t.refused);
    }
    if (h->done < h->count) {
        add(&text, " %zu %s yet to be measured.", h->count - h->done, is_are(h->count - h->done));
    }
    if (t.undiagnosed > 0) {
        add(&text, " %zu %s yet to be diagnosed.", t.undiagnosed, is_are(t.undiagnosed));
    }
    return out;
}
