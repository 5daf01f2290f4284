/* diagnosis_weight_findings.c - weights that are no softmax's, and what made them so. */
#include "diagnosis_state.h"

#include <math.h>
#include <stdio.h>

enum { TWICE_ROWS = 8, BELOW_BY_CHANCE = 8, LEAK_TEXT = 128 }; /* rows whose sums are all below 1 */
#define TWICE_PEAKED 1.5
#define LEAK_OF_ZERO 0.05 /* of logits: 0 but for rounding */
#define LEAK_BAD 0.01     /* of the weight */
#define HARMLESS 0x1p-24  /* of the weight: lost in single precision's rounding */
#define LOSABLE 1e-4      /* chance of a row to lose all its keys by dropout */
#define DROPOUT_ROWS 0.75 /* of the rows lose some weight that shows, at least, */
#define SPREAD_LEFT 0.25  /* or sums spread by so much of the variance that dropout gives them */
#define GAIN 25           /* variances left: five standard errors */

/* ---- Sums ------------------------------------------------------------------------------- */

/* Are there enough keys in rows that are far from underflow? */
static bool tells_zeros(const struct av_weight_sums *s)
{
    return s->clear >= s->seen / 4 + 1;
}

/* p that dropout would have had: the share of zeros where underflow gives none, if
 * that is not a few keys among many, but no less than the largest row says, which it
 * leaves at most 1 / (1 - p). */
static double share_dropped(const struct av_weight_sums *s)
{
    double zeros = tells_zeros(s) ? (double)s->clear_zeros / (double)s->clear : 0;
    return fmax(zeros, 1 - 1 / s->sum_max);
}

/* Are the zeros too few, by four standard errors, for the largest row? */
static bool too_few_zeros(const struct av_weight_sums *s)
{
    double clear = (double)s->clear, p = 1 - 1 / s->sum_max - 0x1p-8;
    return tells_zeros(s) && (double)s->clear_zeros < clear * p - 4 * sqrt(clear * fmax(0, p));
}

/* Is it what dropout leaves? A weight w that is kept with the chance 1 - p, times
 * 1 / (1 - p), has the variance w^2 p / (1 - p), of which p times the square of what is
 * left has the mean; what a row lacks may be one key, taken from few. The sums must be 1 on
 * average, to four standard errors, and as far from it as this says, or most of them off. */
static bool dropped(const struct av_diagnoser *d)
{
    const struct av_weight_sums *s = &d->weight;
    double rows = (double)s->row_sums.count, p = share_dropped(s), empty = (double)s->empty;
    double excess = rows * (s->row_sums.mean - 1) - empty, variance = p * (s->squares + empty);
    double far = s->off_squares + empty;
    return s->zeros > 0 && !too_few_zeros(s) && (s->above > 0 || rows < BELOW_BY_CHANCE) &&
           fabs(excess) <= 4 * sqrt(variance) &&
           ((double)s->off >= DROPOUT_ROWS * rows || rows < BELOW_BY_CHANCE || far >= SPREAD_LEFT * variance);
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
        av_diagnosis_add(
            &d->result, "rows_without_key", AV_WARN,
            "%zu of %zu rows give every key the same weight, or 0, masked ones too, the first row %zu: all "
            "their keys are masked, by a finite number",
            s->keyless, d->at->n_q, s->first_keyless);
    } else if (s->blind > 0 && s->keyless == 0 && d->slope.freedom > 0) {
        av_diagnosis_add(
            &d->result, "rows_without_key", AV_WARN,
            "%zu of %zu rows give every key the same weight, or 0, though q.k differs, the first row %zu: all "
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
        av_diagnosis_add(&d->result, "softmax_twice", av_diagnosis_has_entries(d) ? AV_WARN : AV_INFO,
                         "the logarithms of each row, shifted to sum 1, are a distribution themselves (lowest %.2g, "
                         "mean n sum p^2 %.3g), as a softmax of softmax's weights would be",
                         v->twice_lowest, v->twice_n_sum_p2);
    }
}

/* ---- Masks ------------------------------------------------------------------------------ */

enum av_severity av_diagnosis_leak_severity(double share)
{
    return share < HARMLESS ? AV_INFO : share > LEAK_BAD ? AV_BAD : AV_WARN;
}

/* How the keys that a mask should hide got their weight; false: by no finite number. */
static bool tell_leak(char out[LEAK_TEXT], const struct av_diagnoser *d)
{
    double set = av_diagnosis_leak_set(d), added = av_diagnosis_leak_added(d);
    bool even = d->weight.even == d->weight.leaking;
    if (d->weight.level == d->weight.leaking && fabs(set) < LEAK_OF_ZERO) {
        snprintf(out, LEAK_TEXT, "the same in a row, as a score of 0 has it: a mask was multiplied, not added");
    } else if (even && isfinite(set)) {
        snprintf(out, LEAK_TEXT, "the same in a row: a finite number, about %.4g, stands for -infinity", set);
    } else if (even) {
        snprintf(out, LEAK_TEXT, "the same in a row: a finite number stands for -infinity");
    } else if (added < -LEAK_OF_ZERO) {
        snprintf(out, LEAK_TEXT, "as q.k has it less about %.4g: a finite number is added in the place of -infinity",
                 -added);
    } else {
        return false;
    }
    return true;
}

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
    enum av_severity severity = flat ? AV_BAD : av_diagnosis_leak_severity(v->masked_share);
    bool harmless = severity == AV_INFO;
    char how[LEAK_TEXT] = "", shape[AV_SHAPE_TEXT];
    if (flat && s->leaking == 0) {
        av_diagnosis_add(&d->result, "masked_weight", severity,
                         "masked keys have weight in all %zu rows that have some, the same as every other key", rows);
    } else if (!flat && tell_leak(how, d)) {
        av_diagnosis_add(&d->result, "mask_leak", severity,
                         "masked keys have weight in %zu of %zu rows, %s; the largest %.3g, row %zu, column %zu; mean "
                         "share %.3g%s%s",
                         leaking, rows, how, v->masked_max, s->masked_at[0], s->masked_at[1], v->masked_share,
                         harmless ? ", too little to change a sum" : "", told);
    } else {
        bool named = av_diagnosis_name_shape(shape, d);
        av_diagnosis_add(&d->result, "masked_weight", severity,
                         "masked keys have weight in %zu of %zu rows, the largest %.3g, row %zu, column %zu; mean "
                         "share %.3g%s%s%s%s",
                         leaking, rows, v->masked_max, s->masked_at[0], s->masked_at[1], v->masked_share,
                         harmless ? ", too little to change a sum" : "", told,
                         named ? "; the mask is another one: " : "", shape);
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
