/* verdicts.c - the rules behind the findings. */
#include "verdicts.h"

#include "attnviz/attend.h"
#include "attnviz/theory.h"
#include "attnviz/variant.h"
#include "attnviz/verdict_rules.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Is sqrt(2 ln n) about these logits? They may be bent, or have a bias that
 * spreads them far more than chance. */
static bool may_freeze(av_variant_value variant)
{
    const struct av_variant *pattern = av_variant_of(variant, AV_GROUP_PATTERN);
    bool biased = pattern != NULL && (strcmp(pattern->name, "alibi") == 0 || strcmp(pattern->name, "lsh") == 0);
    return !biased && av_variant_of(variant, AV_GROUP_BEND) == NULL;
}

double av_verdicts_freezing(const struct av_rowstats *rows, size_t n, av_variant_value variant)
{
    double sum = 0;
    size_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].keys >= 2) {
            sum += av_theory_freezing((double)rows[i].keys);
            counted++;
        }
    }
    return counted > 0 && may_freeze(variant) ? sum / (double)counted : (double)NAN;
}

/* The next free verdict: the list holds more than there are rules. */
static struct av_verdict *add(struct av_snapshot *s, const char *code, enum av_severity severity)
{
    assert(s->verdict_count < AV_VERDICTS_MAX);
    struct av_verdict *v = &s->verdicts[s->verdict_count++];
    v->code = code;
    v->severity = severity;
    return v;
}

static void judge_saturation(struct av_snapshot *s)
{
    const struct av_judged_rows rows = {
        .share = s->now.share_max_gt_0_9,
        .std = av_moments_std(&s->now.logits),
        .row_std = s->now.row_std,
        .freezing = s->theory_freezing,
        .differ = s->params.mask == AV_MASK_CAUSAL || s->patterned,
        .no_logits = s->from == AV_PART_WEIGHTS,
    };
    struct av_verdict v;
    if (av_verdict_saturated(&v, &rows)) {
        *add(s, v.code, v.severity) = v;
    }
}

static void judge_gradient(struct av_snapshot *s)
{
    const struct av_variant *bend = av_variant_of(s->params.variant, AV_GROUP_BEND);
    struct av_verdict v;
    if (av_verdict_dead(&v, s->now.share_fro_lt_1e_3, s->now.jacobian_fro_median,
                        bend != NULL ? bend->name : "softmax")) {
        *add(s, v.code, v.severity) = v;
    }
}

/* A tensor of the head that is shown, and what is in it. */
struct values {
    const char *name;
    size_t head;
    const struct av_not_finite *bad;
};

static void judge_values(struct av_snapshot *s, bool nan, const struct values *of, uint64_t count, const size_t at[2])
{
    struct av_verdict_holes holes = { of->name, s->layer->number, of->head, count, at[0], at[1] };
    struct av_verdict v;
    if (count > 0) {
        av_verdict_not_finite(&v, nan, &holes);
        *add(s, v.code, v.severity) = v;
    }
}

/* Returns how many there are. */
static uint64_t judge_entries(struct av_snapshot *s)
{
    const struct av_loaded_head *head = s->loaded;
    uint64_t count = 0;
    if (head == NULL) {
        return 0;
    }
    const struct values entries[] = { { s->layer->part[AV_PART_Q].name, head->head, &head->q_bad },
                                      { s->layer->part[AV_PART_K].name, head->k_head, &head->k_bad } };
    const struct values given[] = { { s->layer->part[s->from].name, head->head, &head->given_bad } };
    const struct values *parts = s->from == AV_PART_Q ? entries : given;
    for (size_t i = 0; i < (s->from == AV_PART_Q ? 2 : 1); i++) {
        const struct av_not_finite *bad = parts[i].bad;
        judge_values(s, true, &parts[i], bad->nan_count, bad->first_nan);
        judge_values(s, false, &parts[i], bad->inf_count, bad->first_inf);
        count += bad->nan_count + bad->inf_count;
    }
    return count;
}

/* Rows that have become invalid, and the first of them. */
struct lost {
    size_t count, first;
};

/* Those that are invalid now and, before: were not before. */
static struct lost count_lost(const struct av_snapshot *s, const bool *now, const bool *before)
{
    struct lost lost = { 0, 0 };
    for (size_t i = s->n_q; i-- > 0;) {
        if (now[i] && (before == NULL || !before[i])) {
            lost.count++;
            lost.first = i;
        }
    }
    return lost;
}

/* Rows that are invalid though no entry is: a product or sum of finite entries
 * beyond the range of double. */
static void judge_scores(struct av_snapshot *s)
{
    struct lost lost = count_lost(s, s->invalid_scores, NULL);
    if (lost.count > 0) {
        struct av_verdict *v = add(s, "score_overflow", AV_BAD);
        snprintf(v->text, sizeof v->text,
                 "%zu rows have a score beyond the range of double, the first row %zu: they are left out", lost.count,
                 lost.first);
    }
}

/* Rows that only the variant or the dtype has made invalid. */
static void judge_logits(struct av_snapshot *s)
{
    struct lost lost = count_lost(s, s->invalid, s->invalid_scores);
    enum av_dtype dtype = (enum av_dtype)s->params.dtype;
    double most = av_dtype_max(dtype);
    if (lost.count == 0) {
        return;
    }
    if (dtype == AV_DTYPE_F64) {
        struct av_verdict *v = add(s, "logit_overflow", AV_BAD);
        snprintf(v->text, sizeof v->text,
                 "%zu rows have a logit beyond the range of double, the first row %zu: they are left out", lost.count,
                 lost.first);
        return;
    }
    struct av_verdict *v = add(s, "dtype_nan", AV_BAD);
    const char *name = av_param_find("dtype")->choices[dtype];
    int n =
        snprintf(v->text, sizeof v->text, "%zu rows became NaN in %s, the first row %zu", lost.count, name, lost.first);
    if (!isnan(most)) {
        snprintf(v->text + n, sizeof v->text - (size_t)n, ": beyond %.6g, the largest %s, and left out", most, name);
    }
}

static void judge_simplex(struct av_snapshot *s)
{
    const char *what = s->from == AV_PART_WEIGHTS ? "not every row of the file's weights is a distribution"
                                                  : "the weights of a row need not sum to 1";
    if (!s->simplex) {
        struct av_verdict *v = add(s, "not_simplex", AV_INFO);
        snprintf(v->text, sizeof v->text, "%s (mean sum %.3g): entropy is that of |w| / sum |w|", what,
                 s->now.row_sum_mean);
    }
}

/* Rows of training do nothing here. */
static void judge_training(struct av_snapshot *s)
{
    const struct av_variant *row = av_variant_of(s->params.variant, AV_GROUP_TRAINING);
    if (row != NULL) {
        struct av_verdict *v = add(s, "training_only", AV_INFO);
        snprintf(v->text, sizeof v->text, "%s acts in training only: it changes nothing here", row->name);
    }
}

/* Scores that are normalised have no scale left to be multiplied, unless a row
 * of the group scale comes after. */
static void judge_scale(struct av_snapshot *s)
{
    static const char *const normalisers[] = { "score_layernorm", "score_batchnorm" };
    const struct av_variant *row = av_variant_of(s->params.variant, AV_GROUP_NORMALISE);
    struct av_params on = s->params;
    on.scale = 1;
    bool switched = s->from != AV_PART_Q || av_attend_alpha(&on, s->d_k, s->n_k) != 1;
    for (size_t i = 0; row != NULL && !switched && i < sizeof normalisers / sizeof normalisers[0]; i++) {
        if (row == av_variant_find(normalisers[i])) {
            struct av_verdict *v = add(s, "scale_cancelled", AV_INFO);
            snprintf(v->text, sizeof v->text, "%s normalises the scores: scale on and off are the same", row->name);
        }
    }
}

void av_verdicts_make(struct av_snapshot *s)
{
    s->verdict_count = 0;
    if (judge_entries(s) == 0) {
        judge_scores(s);
    }
    judge_logits(s);
    if (s->now.rows > 0) {
        judge_saturation(s);
        judge_gradient(s);
        judge_simplex(s);
    }
    judge_training(s);
    judge_scale(s);
}
