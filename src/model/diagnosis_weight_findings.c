/* diagnosis_weight_findings.c - weights that are no softmax's, and what made them so. */
#include "diagnosis_state.h"

#include <math.h>

enum { TWICE_ROWS = 8 };
#define TWICE_PEAKED 1.5
#define LEAK_BAD 0.01     /* of the weight */
#define HARMLESS 0x1p-24  /* of the weight: lost in single precision's rounding */
#define LOSABLE 1e-4      /* chance of a row to lose all its keys by dropout */
#define DROPOUT_ROWS 0.75 /* of the rows lose some weight that shows, at least */
#define GAIN 25           /* variances left: five standard errors */

/* ---- Sums ------------------------------------------------------------------------------- */

/* p that dropout would have had: the share of zeros where underflow gives none, if
 * that is not a few keys among many, but no less than the largest row says, which it
 * leaves at most 1 / (1 - p). */
static double share_dropped(const struct av_weight_sums *s)
{
    double zeros = s->clear >= s->seen / 4 + 1 ? (double)s->clear_zeros / (double)s->clear : 0;
    return fmax(zeros, 1 - 1 / s->sum_max);
}

/* Is it what dropout leaves? A weight w that is kept with the chance 1 - p, times
 * 1 / (1 - p), has the variance w^2 p / (1 - p), of which p times the square of what is
 * left has the mean; what a row lacks may be one key, taken from few. */
static bool dropped(const struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    double rows = (double)s->row_sums.count, p = share_dropped(s);
    double excess = rows * (s->row_sums.mean - 1) - (double)s->empty;
    return s->zeros > 0 && s->above > 0 && (double)s->off >= DROPOUT_ROWS * rows &&
           fabs(excess) <= 4 * sqrt(p * (s->squares + (double)s->empty));
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
                         s->off, d->at->n_q, s->row_sums.min, s->row_sums.max, v->column_sum_error_max);
    } else if (av_diagnosis_is_over_heads(d)) {
        av_diagnosis_add(&d->result, "softmax_wrong_axis", AV_BAD,
                         "%zu of %zu rows do not sum to 1 (%.3g to %.3g), but over the %zu heads every pair does, to "
                         "%.2g: the softmax ran over heads, not over keys",
                         s->off, d->at->n_q, s->row_sums.min, s->row_sums.max, d->at->n_head, v->heads_sum_error_max);
    } else if (dropped(d)) {
        double p = share_dropped(s);
        av_diagnosis_add(&d->result, "dropout", AV_WARN,
                         "%zu of %zu rows do not sum to 1 (%.3g to %.3g, mean %.3g), and %.3g%% of the seen keys have "
                         "exactly 0: dropout of p about %.2g, the rest times 1/(1-p) = %.3g",
                         s->off, d->at->n_q, s->row_sums.min, s->row_sums.max, s->row_sums.mean, 100 * v->zero_share, p,
                         1 / (1 - p));
    } else {
        av_diagnosis_add(&d->result, "rows_not_one", AV_BAD,
                         "%zu of %zu rows do not sum to 1 (%.4g to %.4g, mean %.4g), the first row %zu", s->off,
                         d->at->n_q, s->row_sums.min, s->row_sums.max, s->row_sums.mean, s->first_off);
    }
}

/* ---- Rows without a key ----------------------------------------------------------------- */

/* Rows of zeros whose keys dropout has all taken, or all that did not underflow; or
 * that the columns' softmax left so. */
static bool explained(const struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    return av_diagnosis_found(&d->result, "softmax_wrong_axis") ||
           (av_diagnosis_found(&d->result, "dropout") &&
            (s->underflowing > 0 || pow(share_dropped(s), (double)s->longest_empty) >= LOSABLE));
}

static void find_empty(struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    if (s->empty_nan > 0 && !av_diagnosis_spoilt(d)) {
        av_diagnosis_add(&d->result, "rows_without_weight", AV_BAD,
                         "%zu of %zu rows hold nothing but 0 or NaN though they have keys, the first row %zu: a "
                         "softmax over masked keys alone gives NaN",
                         s->empty_nan, d->at->n_q, s->first_empty_nan);
    } else if (s->empty > 0 && !explained(d)) {
        av_diagnosis_add(&d->result, "rows_without_weight", AV_BAD,
                         "%zu of %zu rows hold nothing but 0 though they have keys, the first row %zu: no softmax "
                         "gives that",
                         s->empty, d->at->n_q, s->first_empty);
    }
    if (s->keyless > 0 && s->masked_rows > s->leaking) {
        av_diagnosis_add(&d->result, "rows_without_key", AV_WARN,
                         "%zu of %zu rows give every key the same weight, masked ones too, the first row %zu: all "
                         "their keys are masked, by a finite number",
                         s->keyless, d->at->n_q, s->first_keyless);
    } else if (s->blind > 0 && s->keyless == 0 && d->slope.freedom > 0) {
        av_diagnosis_add(&d->result, "rows_without_key", AV_WARN,
                         "%zu of %zu rows give every key the same weight though q.k differs, the first row %zu: all "
                         "their keys are masked, by a finite number",
                         s->blind, d->rows, s->first_blind);
    }
}

/* ---- A softmax of a softmax ------------------------------------------------------------- */

/* From q.k: ln w follows the softmax with the slope 1, as far as rounding lets it, and
 * far better than it follows q.k. */
static bool twice_from_dots(const struct av_diagnoser *d)
{
    const struct av_slope once = d->result.evidence.multiplier, twice = d->result.evidence.second;
    double rounding = av_diagnosis_rounding(&d->weight);
    double gain = once.residual * once.residual - twice.residual * twice.residual;
    return fabs(twice.slope - 1) <= AV_SLOPE_TOLERANCE + 3 * twice.error && twice.error <= AV_SLOPE_UNSURE &&
           (twice.residual <= rounding || twice.r2 >= AV_SLOPE_GOOD_R2) &&
           gain * d->second.h > GAIN * twice.residual * twice.residual;
}

static void find_twice(struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    const struct av_weight_sums *s = &d->weight;
    if (twice_from_dots(d)) {
        av_diagnosis_add(
            &d->result, "softmax_twice", AV_WARN,
            "the logarithms of weights follow the softmax of q.k times %.3g with slope %.3g (residual std %.2g; "
            "on q.k itself %.2g): a softmax of softmax's weights",
            d->multiplier, v->second.slope, v->second.residual, v->multiplier.residual);
    } else if (s->behind_rows >= TWICE_ROWS && s->behind_twice == s->behind_rows) {
        av_diagnosis_add(&d->result, "softmax_twice", AV_WARN,
                         "masked keys have the weight e^0 of a second softmax: ln of the others' over theirs sums to 1 "
                         "in %zu rows, as a softmax's weights do",
                         s->behind_rows);
    } else if (s->twice_rows >= TWICE_ROWS && v->twice_lowest >= -2 * av_diagnosis_rounding(s) &&
               v->twice_n_sum_p2 > TWICE_PEAKED) {
        av_diagnosis_add(&d->result, "softmax_twice", AV_WARN,
                         "the logarithms of each row, shifted to sum 1, are a distribution themselves (lowest %.2g, "
                         "mean n sum p^2 %.3g): a softmax of softmax's weights",
                         v->twice_lowest, v->twice_n_sum_p2);
    }
}

/* ---- Masks ------------------------------------------------------------------------------ */

static void find_masked(struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    const struct av_evidence *v = &d->result.evidence;
    if (d->causal_seen) {
        av_diagnosis_add(&d->result, "mask_seen", AV_INFO,
                         "no key behind its query has any weight: causal, though mask is none");
    }
    /* All rows even, masked keys as well: nothing is masked. */
    bool flat = s->keyless > 0 && s->masked_rows == s->leaking;
    size_t leaking = s->leaking + (flat ? s->keyless : 0), rows = s->masked_rows + (flat ? s->keyless : 0);
    if (leaking == 0) {
        return;
    }
    const char *told = d->causal_fits ? "; mask is none: causal by where weights follow q.k" : "";
    enum av_severity severity = flat || v->masked_share > LEAK_BAD ? AV_BAD : AV_WARN;
    if (flat && s->leaking == 0) {
        av_diagnosis_add(&d->result, "masked_weight", severity,
                         "masked keys have weight in all %zu rows that have some, the same as every other key", rows);
    } else if (s->even == s->leaking && !flat) {
        bool harmless = v->masked_share < HARMLESS;
        av_diagnosis_add(&d->result, "mask_leak", harmless ? AV_INFO : severity,
                         "masked keys have weight in %zu of %zu rows, the same in a row: a finite number stands for "
                         "-infinity; the largest %.3g, row %zu, column %zu; mean share %.3g%s%s",
                         leaking, rows, v->masked_max, s->masked_at[0], s->masked_at[1], v->masked_share,
                         harmless ? ", too little to change a sum" : "", told);
    } else {
        av_diagnosis_add(&d->result, "masked_weight", severity,
                         "masked keys have weight in %zu of %zu rows, the largest %.3g, row %zu, column %zu; mean "
                         "share %.3g%s",
                         leaking, rows, v->masked_max, s->masked_at[0], s->masked_at[1], v->masked_share, told);
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
    if (!av_diagnosis_is_over_heads(d) &&
        (!av_diagnosis_found(&d->result, "softmax_twice") || d->weight.behind_twice < d->weight.behind_rows)) {
        find_masked(d);
    }
}
