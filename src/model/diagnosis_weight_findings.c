/* diagnosis_weight_findings.c - weights that are no softmax's, and what made them so. */
#include "diagnosis_state.h"

#include <math.h>

enum { TWICE_ROWS = 8 };
#define TWICE_PEAKED 1.5
#define LEAK_BAD 0.01 /* of the weight */
#define LOSABLE 1e-4  /* chance of a row to lose all its keys by dropout */

/* Rows whose keys dropout has all taken. */
static bool explained(const struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    double z = d->result.evidence.zero_share;
    return av_diagnosis_found(&d->result, "dropout") && !s->empty_nan && pow(z, (double)s->longest_empty) >= LOSABLE;
}

static void find_empty(struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    if (s->empty > 0 && !explained(d)) {
        av_diagnosis_add(&d->result, "rows_without_weight", AV_BAD,
                         "%zu of %zu rows hold nothing but %s though they have keys, the first row %zu: %s", s->empty,
                         d->rows, s->empty_nan ? "0 or NaN" : "0", s->first_empty,
                         s->empty_nan ? "a softmax over no key at all gives NaN" : "no softmax gives that");
    }
}

/* Is it what dropout leaves? */
static bool dropped(const struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    double error = av_moments_std(&s->row_sums) / sqrt((double)s->row_sums.count);
    return s->zeros > 0 && s->above > 0 && s->above < s->off && fabs(s->row_sums.mean - 1) <= 4 * error;
}

static void find_sums(struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    const struct av_evidence *v = &d->result.evidence;
    if (s->off == 0) {
        return;
    }
    if (d->at->n_q > 1 && av_diagnosis_is_one(1 + v->column_sum_error_max, d->at->n_q)) {
        av_diagnosis_add(&d->result, "softmax_wrong_axis", AV_BAD,
                         "%zu of %zu rows do not sum to 1 (%.3g to %.3g), but every column does, to %.2g: the softmax "
                         "ran over queries, not over keys",
                         s->off, d->rows, s->row_sums.min, s->row_sums.max, v->column_sum_error_max);
    } else if (dropped(d)) {
        double z = v->zero_share;
        av_diagnosis_add(&d->result, "dropout", AV_WARN,
                         "%zu of %zu rows do not sum to 1 (%.3g to %.3g, mean %.3g), and %.3g%% of the seen keys have "
                         "exactly 0: dropout of p about %.2g, the rest times 1/(1-p) = %.3g",
                         s->off, d->rows, s->row_sums.min, s->row_sums.max, s->row_sums.mean, 100 * z, z, 1 / (1 - z));
    } else {
        av_diagnosis_add(&d->result, "rows_not_one", AV_BAD,
                         "%zu of %zu rows do not sum to 1 (%.4g to %.4g, mean %.4g), the first row %zu%s", s->off,
                         d->rows, s->row_sums.min, s->row_sums.max, s->row_sums.mean, s->first_off,
                         d->result.sampled ? "; columns were not looked at" : "");
    }
}

static void find_twice(struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    if (d->weight.twice_rows >= TWICE_ROWS && v->twice_lowest >= -av_diagnosis_rounding(&d->weight) &&
        v->twice_n_sum_p2 > TWICE_PEAKED) {
        av_diagnosis_add(&d->result, "softmax_twice", AV_WARN,
                         "the logarithms of each row, shifted to sum 1, are a distribution themselves (lowest %.2g, "
                         "mean n sum p^2 %.3g): a softmax of softmax's weights",
                         v->twice_lowest, v->twice_n_sum_p2);
    }
}

static void find_masked(struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    const struct av_evidence *v = &d->result.evidence;
    if (d->causal_seen) {
        av_diagnosis_add(&d->result, "mask_seen", AV_INFO,
                         "no key behind its query has any weight: causal, though mask is none");
    }
    if (s->leaking == 0) {
        return;
    }
    enum av_severity severity = v->masked_share > LEAK_BAD ? AV_BAD : AV_WARN;
    if (s->even == s->leaking) {
        av_diagnosis_add(&d->result, "mask_leak", severity,
                         "masked keys have weight in %zu of %zu rows, the same in a row: a finite number stands for "
                         "-infinity; the largest %.3g, row %zu, column %zu; mean share %.3g",
                         s->leaking, s->masked_rows, v->masked_max, s->masked_at[0], s->masked_at[1], v->masked_share);
    } else {
        av_diagnosis_add(&d->result, "masked_weight", severity,
                         "masked keys have weight in %zu of %zu rows, the largest %.3g, row %zu, column %zu; mean "
                         "share %.3g",
                         s->leaking, s->masked_rows, v->masked_max, s->masked_at[0], s->masked_at[1], v->masked_share);
    }
}

void av_diagnosis_find_weights(struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    if (s->negative > 0) {
        av_diagnosis_add(&d->result, "weights_negative", AV_BAD,
                         "%llu weights are below 0, the first at row %zu, column %zu: no softmax gives such",
                         (unsigned long long)s->negative, s->first_negative[0], s->first_negative[1]);
        return;
    }
    find_sums(d);
    find_empty(d);
    find_twice(d);
    find_masked(d);
}
