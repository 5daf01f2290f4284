/* verdicts.c - the rules behind the findings. */
#include "verdicts.h"

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
    const char *mean = s->params.mask == AV_MASK_CAUSAL ? "mean " : "";
    if (share > AV_LARGEST_SHARE) {
        snprintf(
            v->text, sizeof v->text,
            "%.0f%% of rows give more than 0.9 to one key; logit std %.3g within a row is %s %ssqrt(2 ln n) = %.3g",
            100 * share, inside, inside > limit ? "above" : "below", mean, limit);
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
    snprintf(v->text, sizeof v->text, "%.0f%% of rows have a softmax Jacobian below 1e-3; the median is %.3g",
             100 * dead, median);
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

/* Rows that are invalid though no entry is: a product or sum of finite entries
 * beyond the range of double. */
static void judge_overflow(struct av_snapshot *s)
{
    size_t count = 0;
    size_t first = 0;
    for (size_t i = s->n_q; i-- > 0;) {
        count += s->invalid[i];
        first = s->invalid[i] ? i : first;
    }
    if (count > 0) {
        struct av_verdict *v = add(s, "score_overflow", AV_BAD);
        snprintf(v->text, sizeof v->text,
                 "%zu rows have a score beyond the range of double, the first row %zu: they are left out", count,
                 first);
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
        judge_overflow(s);
    }
    if (s->now.rows > 0) {
        judge_saturation(s);
        judge_gradient(s);
    }
}
