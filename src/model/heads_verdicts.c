/* heads_verdicts.c - what there is to say of a head, by the rules of the pipeline and of the diagnosis. */
#include "attnviz/variant.h"
#include "heads_state.h"
#include "verdicts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How bad a verdict is: the spread of the logits alone is less than other warnings. */
static int rank(const struct av_head *h, const struct av_verdict *v)
{
    return 2 * (int)v->severity - (h->saturated == AV_SATURATED_SPREAD && strcmp(v->code, "saturated") == 0);
}

/* Worse ones go before, others stay behind those that are there; what does not
 * fit is the least. */
static void add(struct av_head *h, const struct av_verdict *v)
{
    size_t at = h->verdict_count;
    while (at > 0 && rank(h, &h->verdicts[at - 1]) < rank(h, v)) {
        at--;
    }
    if (at == AV_HEAD_VERDICTS) {
        return;
    }
    h->verdict_count += h->verdict_count < AV_HEAD_VERDICTS;
    memmove(&h->verdicts[at + 1], &h->verdicts[at], (h->verdict_count - 1 - at) * sizeof *h->verdicts);
    h->verdicts[at] = *v;
}

static bool says(const struct av_head *h, const char *text)
{
    for (size_t i = 0; i < h->verdict_count; i++) {
        if (strcmp(h->verdicts[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

static enum av_head_health health_of(const struct av_head *h)
{
    bool others = false; /* warnings of another code */
    size_t warnings = 0;
    while (warnings < h->verdict_count && h->verdicts[warnings].severity >= AV_WARN) {
        others = others || strcmp(h->verdicts[warnings].code, "saturated") != 0;
        warnings++;
    }
    if (warnings == 0) {
        return AV_HEAD_FINE;
    }
    return h->verdicts[0].severity == AV_BAD                ? AV_HEAD_BAD
           : !others && h->saturated == AV_SATURATED_SPREAD ? AV_HEAD_SPREAD
                                                            : AV_HEAD_WARN;
}

/* Rows without weights, for a number in them that is not finite. */
static void judge_rows_left_out(struct av_head *h, const bool *invalid)
{
    size_t count = 0;
    for (size_t r = 0; r < h->queries; r++) {
        count += invalid[r];
    }
    if (count > 0) {
        struct av_verdict v = { "rows_left_out", AV_BAD, "" };
        snprintf(v.text, sizeof v.text, "%zu of %zu rows hold a number that is not finite: they are left out", count,
                 h->queries);
        add(h, &v);
    }
}

void av_heads_judge(const struct av_heads_state *s, struct av_head *h, const struct av_summary *sum)
{
    bool logits = h->from != AV_PART_WEIGHTS;
    const struct av_variant *bend = av_variant_of(s->p.variant, AV_GROUP_BEND);
    const struct av_judged_rows rows = {
        .share = sum->share_max_gt_0_9,
        .std = logits ? av_moments_std(&s->sums.all) : (double)NAN,
        .row_std = h->at[AV_HEAD_LOGIT_STD],
        .freezing = logits ? av_verdicts_freezing(s->room.stats, h->queries, s->p.variant) : (double)NAN,
        .differ = s->p.mask == AV_MASK_CAUSAL || av_variant_of(s->p.variant, AV_GROUP_PATTERN) != NULL,
        .no_logits = !logits,
    };
    struct av_verdict v;
    h->verdict_count = 0;
    h->saturated = sum->rows > 0 ? av_verdict_saturation(&rows) : AV_SATURATED_NOT;
    if (sum->rows > 0 && av_verdict_saturated(&v, &rows)) {
        add(h, &v);
    }
    if (sum->rows > 0 && av_verdict_dead(&v, sum->share_fro_lt_1e_3, sum->jacobian_fro_median,
                                         logits && bend != NULL ? bend->name : "softmax")) {
        add(h, &v);
    }
    judge_rows_left_out(h, s->room.invalid);
    h->health = health_of(h);
}

/* Why the diagnosis calls it saturated. */
static enum av_saturated saturation_of(const struct av_diagnosis *d, const struct av_verdict *found)
{
    return found->severity == AV_BAD                         ? AV_SATURATED_FROZEN
           : d->evidence.share_max_gt_0_9 > AV_LARGEST_SHARE ? AV_SATURATED_ROWS
                                                             : AV_SATURATED_SPREAD;
}

/* Takes out what the diagnosis has the only say in. */
static void give_way(struct av_head *h, const struct av_diagnosis *d)
{
    size_t left = 0;
    for (size_t i = 0; i < h->verdict_count; i++) {
        if (!av_diagnosis_replaces(d, h->verdicts[i].code)) {
            h->verdicts[left++] = h->verdicts[i];
        }
    }
    h->verdict_count = left;
    h->saturated = d->of_file ? AV_SATURATED_NOT : h->saturated;
}

void av_heads_add_diagnosis(struct av_head *h, const struct av_diagnosis *d)
{
    give_way(h, d);
    const struct av_head before = *h;
    for (size_t i = 0; i < d->finding_count; i++) {
        const struct av_verdict *found = &d->findings[i];
        bool saturated = strcmp(found->code, "saturated") == 0;
        if (saturated && saturation_of(d, found) > h->saturated) {
            h->saturated = saturation_of(d, found);
        }
        if (!says(&before, found->text)) {
            add(h, found);
        }
    }
    h->health = health_of(h);
}
