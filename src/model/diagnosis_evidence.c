/* diagnosis_evidence.c - from sums over rows to the numbers that findings go by. */
#include "diagnosis_state.h"

#include <math.h>
#include <stddef.h>

#define FIELD(member, name, unit, text, whole)                                                                         \
    {                                                                                                                  \
        name, unit, text, offsetof(struct av_evidence, member), whole                                                  \
    }

static const struct av_evidence_field fields[] = {
    FIELD(q_mean, "q_mean", "", "mean of the entries of Q", false),
    FIELD(q_std, "q_std", "", "standard deviation of the entries of Q", false),
    FIELD(k_mean, "k_mean", "", "mean of the entries of K", false),
    FIELD(k_std, "k_std", "", "standard deviation of the entries of K", false),
    FIELD(predicted_std, "predicted_std", "", "standard deviation of q.k within rows, were entries independent", false),
    FIELD(dot_std, "dot_std", "", "standard deviation of q.k within rows", false),
    FIELD(dot_max, "dot_max", "", "largest |q.k|", false),
    FIELD(dot_beyond_float16, "dot_beyond_float16", "", "pairs with |q.k| beyond 65504", true),
    FIELD(saturated_scaled, "saturated_scaled", "", "share of rows with a weight above 0.9, q.k over sqrt(d_k)", false),
    FIELD(saturated_bare, "saturated_bare", "", "share of rows with a weight above 0.9, q.k as it is", false),
    FIELD(entropy_scaled, "entropy_scaled", "", "mean entropy over ln keys, q.k over sqrt(d_k)", false),
    FIELD(entropy_bare, "entropy_bare", "", "mean entropy over ln keys, q.k as it is", false),
    FIELD(logit_std, "logit_std", "", "standard deviation of all logits", false),
    FIELD(logit_row_std, "logit_row_std", "", "standard deviation of the logits within rows", false),
    FIELD(freezing, "freezing", "", "mean of sqrt(2 ln keys)", false),
    FIELD(share_max_gt_0_9, "share_max_gt_0_9", "", "share of rows with a weight above 0.9", false),
    FIELD(jacobian_fro_median, "jacobian_fro_median", "", "median size of a row's Jacobian", false),
    FIELD(share_fro_lt_1e_3, "share_fro_lt_1e_3", "", "share of rows with a Jacobian below 1e-3", false),
    FIELD(entropy_norm_mean, "entropy_norm_mean", "", "mean entropy over ln keys", false),
    FIELD(multiplier.slope, "multiplier", "", "slope of log weights, or scores, on q.k within rows", false),
    FIELD(multiplier.error, "multiplier_error", "", "standard error of the multiplier", false),
    FIELD(multiplier.r2, "multiplier_r2", "", "share of the variance that the multiplier explains", false),
    FIELD(multiplier.residual, "multiplier_residual", "", "standard deviation of what it leaves", false),
    FIELD(second.slope, "second", "", "slope of log weights on the softmax of q.k: 1 behind a second softmax", false),
    FIELD(second.error, "second_error", "", "standard error of that slope", false),
    FIELD(second.r2, "second_r2", "", "share of the variance that it explains", false),
    FIELD(second.residual, "second_residual", "", "standard deviation of what it leaves", false),
    FIELD(swapped.slope, "swapped", "", "slope on k.q, where q.k does not explain weights or scores", false),
    FIELD(swapped.error, "swapped_error", "", "standard error of that slope", false),
    FIELD(swapped.r2, "swapped_r2", "", "share of the variance that it explains", false),
    FIELD(swapped.residual, "swapped_residual", "", "standard deviation of what it leaves", false),
    FIELD(negative, "negative", "", "weights below 0", true),
    FIELD(row_sum_mean, "row_sum_mean", "", "mean sum of a row of weights", false),
    FIELD(row_sum_error_max, "row_sum_error_max", "", "largest |sum - 1| of a row of weights", false),
    FIELD(rows_off, "rows_off", "rows", "rows of weights that do not sum to 1", true),
    FIELD(rows_without_weight, "rows_without_weight", "rows", "rows of nothing but 0 or NaN", true),
    FIELD(column_sum_error_max, "column_sum_error_max", "", "largest |sum - 1| of a column of weights", false),
    FIELD(heads_sum_error_max, "heads_sum_error_max", "", "largest |sum over heads - 1| of a pair's weights", false),
    FIELD(zero_share, "zero_share", "", "share of seen keys with a weight of exactly 0", false),
    FIELD(twice_lowest, "twice_lowest", "", "smallest p_j = ln w_j - mean ln w + 1/n", false),
    FIELD(twice_n_sum_p2, "twice_n_sum_p2", "", "mean over rows of n sum p_j^2", false),
    FIELD(masked_max, "masked_max", "", "largest weight of a masked key", false),
    FIELD(masked_share, "masked_share", "", "mean share of a row's weight on masked keys", false),
    FIELD(hidden_keys, "hidden_keys", "", "mean number a row of seen keys without weight, by no underflow", false),
    FIELD(hidden_share, "hidden_share", "", "mean share of the weight that q.k gives to these", false),
    FIELD(own_distance, "own_distance", "", "mean half sum of |weights - softmax of q.k|", false),
    FIELD(averaged_distance, "averaged_distance", "", "largest, from the mean of softmaxes over all heads", false),
    FIELD(rows, "rows", "rows", "rows of q.k looked at; of weights and scores all are", true),
    FIELD(rows_counting, "rows_counting", "rows", "rows with two keys or more and finite numbers", true),
    FIELD(rows_one_key, "rows_one_key", "rows", "rows that see one key: left out", true),
};

const struct av_evidence_field *av_evidence_fields(size_t *count)
{
    *count = sizeof fields / sizeof fields[0];
    return fields;
}

double av_evidence_get(const struct av_evidence_field *field, const struct av_evidence *evidence)
{
    return *(const double *)(const void *)((const char *)evidence + field->offset);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

static double mean_of(const struct av_moments *m)
{
    return m->count > 0 ? m->mean : (double)NAN;
}

static void sum_up_entries(struct av_evidence *v, const struct av_diagnoser *d)
{
    v->q_mean = mean_of(&d->entries[0]);
    v->q_std = av_moments_std(&d->entries[0]);
    v->k_mean = mean_of(&d->entries[1]);
    v->k_std = av_moments_std(&d->entries[1]);
    v->predicted_std = sqrt((double)d->at->d) * hypot(v->q_std, v->q_mean) * v->k_std;
}

static void sum_up_dots(struct av_evidence *v, const struct av_diagnoser *d)
{
    const struct av_dot_sums *s = &d->dot;
    bool there = av_diagnosis_has(d, AV_PART_Q) && av_diagnosis_has(d, AV_PART_K);
    double rows = (double)s->rows;
    v->dot_std = av_spread_std(&s->within);
    v->dot_max = there ? s->largest : (double)NAN;
    v->dot_beyond_float16 = there ? (double)s->beyond : (double)NAN;
    v->saturated_scaled = ratio((double)s->saturated_scaled, rows);
    v->saturated_bare = ratio((double)s->saturated_bare, rows);
    v->entropy_scaled = ratio(s->entropy_scaled, rows);
    v->entropy_bare = ratio(s->entropy_bare, rows);
    v->multiplier = av_slope_of(&d->slope);
    v->second = av_slope_of(&d->second);
    v->swapped = av_slope_of(&d->swapped);
    bool averaged = d->number == d->at->n_head && d->number > 0;
    v->own_distance = averaged ? d->own_distance / (double)av_diagnosis_averaged_rows(d) : (double)NAN;
    v->averaged_distance = averaged ? d->averaged_distance : (double)NAN;
}

static void sum_up_logits(struct av_evidence *v, struct av_diagnoser *d)
{
    struct av_logit_sums *s = &d->logit;
    double rows = (double)s->rows;
    v->logit_std = av_moments_std(&s->all);
    v->logit_row_std = av_spread_std(&s->within);
    v->freezing = ratio(s->freezing, rows);
    v->share_max_gt_0_9 = ratio((double)s->above, rows);
    v->share_fro_lt_1e_3 = ratio((double)s->dead, rows);
    v->entropy_norm_mean = ratio(s->entropy_norm, rows);
    v->jacobian_fro_median = av_median(s->fro, s->rows);
    v->rows = (double)d->rows;
    v->rows_counting = rows;
    v->rows_one_key = (double)s->one_key;
}

static double column_error(const struct av_diagnoser *d)
{
    double most = av_diagnosis_has(d, AV_PART_WEIGHTS) ? 0 : (double)NAN;
    for (size_t j = 0; !isnan(most) && j < d->at->n_k; j++) {
        most = fmax(most, fabs(d->weight.columns[j] - 1));
    }
    return most;
}

static void sum_up_weights(struct av_evidence *v, struct av_diagnoser *d)
{
    struct av_weight_sums *s = &d->weight;
    bool there = av_diagnosis_has(d, AV_PART_WEIGHTS), sums = s->row_sums.count > 0, masked = s->masked_rows > 0;
    v->negative = there ? (double)s->negative : (double)NAN;
    v->row_sum_mean = mean_of(&s->row_sums);
    v->row_sum_error_max = sums ? s->row_error : (double)NAN;
    v->rows_off = there ? (double)s->off : (double)NAN;
    v->rows_without_weight = there ? (double)(s->empty + s->empty_nan) : (double)NAN;
    v->column_sum_error_max = column_error(d);
    v->heads_sum_error_max = d->pairs > 0 ? d->heads_error : (double)NAN;
    v->zero_share = ratio((double)s->zeros, (double)s->seen);
    v->twice_lowest = isfinite(s->twice_lowest) ? s->twice_lowest : (double)NAN;
    v->twice_n_sum_p2 = ratio(s->twice_squares, (double)s->twice_rows);
    v->masked_max = masked ? s->masked_max : (double)NAN;
    v->masked_share = ratio(s->masked_share, (double)s->masked_rows);
    v->hidden_keys = ratio((double)d->hidden.keys, (double)d->hidden.rows);
    v->hidden_share = ratio(d->hidden.share, (double)d->hidden.rows);
}

void av_diagnosis_sum_up(struct av_diagnoser *d)
{
    struct av_evidence *v = &d->result.evidence;
    sum_up_entries(v, d);
    sum_up_dots(v, d);
    sum_up_logits(v, d);
    sum_up_weights(v, d);
}
