/* verdicts.c - the rules behind the findings. */
#include "verdicts.h"

#include "attnviz/variant.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* The next free verdict: the list holds more than there are rules. */
static struct av_verdict *add(struct av_snapshot *s, const char *code, enum av_severity severity)
{
    assert(s->verdict_count < AV_VERDICTS_MAX);
    struct av_verdict *v = &s->verdicts[s->verdict_count++];
    v->code = code;
    v->severity = severity;
    return v;
}

/* What there is to say of how far the logits lie apart; `inside`: within a row.
 * Where they are bent there is no limit to hold it against. */
static void tell_spread(char *out, size_t size, const struct av_snapshot *s, double inside, const char *mean)
{
    double limit = s->theory_freezing;
    if (isnan(limit)) {
        snprintf(out, size, "logit std %.3g within a row", inside);
    } else {
        snprintf(out, size, "logit std %.3g within a row is %s %ssqrt(2 ln n) = %.3g", inside,
                 inside > limit ? "above" : "below", mean, limit);
    }
}

static void judge_saturation(struct av_snapshot *s)
{
    double share = s->now.share_max_gt_0_9;
    /* A spread whose square is beyond the largest double is wide. */
    double std = av_moments_std(&s->now.logits);
    std = isfinite(std) ? std : (double)INFINITY;
    double limit = s->theory_freezing;
    if (!(share > AV_LARGEST_SHARE) && !(std > limit)) {
        return;
    }
    struct av_verdict *v = add(s, "saturated", share > 0.5 ? AV_BAD : AV_WARN);
    /* The finding that decided comes first. What rows as a whole are shifted
     * by is part of the spread, but no softmax sees it. */
    double inside = isfinite(s->now.row_std) ? s->now.row_std : std;
    const char *mean = s->params.mask == AV_MASK_CAUSAL || s->patterned ? "mean " : "";
    if (share > AV_LARGEST_SHARE) {
        char spread[128];
        tell_spread(spread, sizeof spread, s, inside, mean);
        snprintf(v->text, sizeof v->text, "%.0f%% of rows give more than 0.9 to one key; %s", 100 * share, spread);
    } else if (inside <= limit) {
        snprintf(v->text, sizeof v->text,
                 "logit std %.3g is above %ssqrt(2 ln n) = %.3g, but only by shifts of whole rows, which change no "
                 "weight: within a row it is %.3g",
                 std, mean, limit, inside);
    } else {
        snprintf(v->text, sizeof v->text,
                 "logit std %.3g within a row is above %ssqrt(2 ln n) = %.3g; %.0f%% of rows give more than 0.9 to one "
                 "key",
                 inside, mean, limit, 100 * share);
    }
}

static void judge_gradient(struct av_snapshot *s)
{
    double dead = s->now.share_fro_lt_1e_3;
    double median = s->now.jacobian_fro_median;
    if (!av_summary_dead(&s->now)) {
        return;
    }
    struct av_verdict *v = add(s, "gradient_dead", median < AV_DEAD_FRO ? AV_BAD : AV_WARN);
    const struct av_variant *bend = av_variant_of(s->params.variant, AV_GROUP_BEND);
    snprintf(v->text, sizeof v->text, "%.0f%% of rows have a %s Jacobian below 1e-3; the median is %.3g", 100 * dead,
             bend != NULL ? bend->name : "softmax", median);
}

static void judge_values(struct av_snapshot *s, const char *code, const char *what, const struct av_tensor *t,
                         uint64_t count, const size_t at[3])
{
    if (count > 0) {
        struct av_verdict *v = add(s, code, AV_BAD);
        snprintf(v->text, sizeof v->text, "%.120s holds %llu %s, the first at head %zu, row %zu, column %zu", t->name,
                 (unsigned long long)count, what, at[0], at[1], at[2]);
    }
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
    if (!s->simplex) {
        struct av_verdict *v = add(s, "not_simplex", AV_INFO);
        snprintf(v->text, sizeof v->text,
                 "the weights of a row need not sum to 1 (mean sum %.3g): entropy is that of |w| / sum |w|",
                 s->now.row_sum_mean);
    }
}

void av_verdicts_make(struct av_snapshot *s)
{
    s->verdict_count = 0;
    const struct av_tensor *tensors[] = { s->q_file, s->k_file };
    uint64_t not_finite = 0;
    for (size_t i = 0; i < 2; i++) {
        if (tensors[i] != NULL) {
            const struct av_tensor *t = tensors[i];
            judge_values(s, "nan_input", "NaN", t, t->nan_count, t->first_nan);
            judge_values(s, "inf_input", "infinities", t, t->inf_count, t->first_inf);
            not_finite += t->nan_count + t->inf_count;
        }
    }
    if (not_finite == 0) {
        judge_scores(s);
    }
    judge_logits(s);
    if (s->now.rows > 0) {
        judge_saturation(s);
        judge_gradient(s);
        judge_simplex(s);
    }
}
