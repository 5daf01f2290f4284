/* summary.c - means, medians and shares over rows. */
#include "summary.h"

#include "attnviz/variant.h"

#include <math.h>

/* A quantity of a row that is averaged. */
typedef double (*row_value)(const struct av_rowstats *row);

static double largest(const struct av_rowstats *row)
{
    return row->max;
}

static double one_minus_max(const struct av_rowstats *row)
{
    return row->one_minus_max;
}

static double entropy(const struct av_rowstats *row)
{
    return row->entropy;
}

static double entropy_norm(const struct av_rowstats *row)
{
    return row->entropy / log((double)row->keys);
}

static double effective_keys(const struct av_rowstats *row)
{
    return exp(row->entropy);
}

static double sum_p2(const struct av_rowstats *row)
{
    return row->sum_p2;
}

static double trace(const struct av_rowstats *row)
{
    return row->trace;
}

static double jacobian_fro(const struct av_rowstats *row)
{
    return row->jacobian_fro;
}

static double row_sum(const struct av_rowstats *row)
{
    return row->row_sum;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

/* Gathers a quantity of the rows that count into column and returns their
 * number. */
static size_t gather(double *column, const struct av_snapshot *s, const struct av_rowstats *rows, row_value get)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        if (av_row_counts(s, rows, i)) {
            column[n++] = get(&rows[i]);
        }
    }
    return n;
}

bool av_row_without_weight(const struct av_rowstats *row)
{
    return row->max == 0 && row->row_sum == 0; /* none is above 0, and none below */
}

/* The mean over the rows that have weight. */
static double mean_of_weights(double *column, const struct av_snapshot *s, const struct av_rowstats *rows,
                              row_value get)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        if (av_row_counts(s, rows, i) && !av_row_without_weight(&rows[i])) {
            column[n++] = get(&rows[i]);
        }
    }
    return mean(column, n);
}

/* Gathers a quantity that is kept beside the rows. */
static size_t gather_values(double *column, const struct av_snapshot *s, const struct av_rowstats *rows,
                            const double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        if (av_row_counts(s, rows, i)) {
            column[n++] = values[i];
        }
    }
    return n;
}

static double share_above(const double *x, size_t n, double limit)
{
    size_t above = 0;
    for (size_t i = 0; i < n; i++) {
        above += x[i] > limit;
    }
    return n > 0 ? (double)above / (double)n : (double)NAN;
}

static double share_below(const double *x, size_t n, double limit)
{
    size_t below = 0;
    for (size_t i = 0; i < n; i++) {
        below += x[i] < limit;
    }
    return n > 0 ? (double)below / (double)n : (double)NAN;
}

/* Of all valid rows that see a key, NaN when there is none. */
static double row_sum_error(const struct av_snapshot *s, const struct av_rowstats *rows)
{
    const bool *invalid = rows == s->other_rows ? s->other_invalid : s->invalid;
    double most = (double)NAN;
    for (size_t i = 0; i < s->n_q; i++) {
        if (rows[i].keys > 0 && !invalid[i]) {
            most = fmax(most, fabs(rows[i].row_sum - 1));
        }
    }
    return most;
}

void av_summary_make(struct av_summary *out, const struct av_snapshot *s, const struct av_rowstats *rows,
                     double *column)
{
    bool sparse = (av_variant_flags(s->params.variant) & AV_VARIANT_SPARSE) != 0;
    out->exact_zeros = sparse || s->params.dtype != AV_DTYPE_F64 || s->from == AV_PART_WEIGHTS;
    out->rows_without_keys = 0;
    out->rows_without_weight = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        out->rows_without_keys += rows[i].keys == 0;
        out->rows_without_weight += av_row_counts(s, rows, i) && av_row_without_weight(&rows[i]);
    }
    out->row_sum_error_max = row_sum_error(s, rows);
    size_t n = gather(column, s, rows, largest);
    out->rows = n;
    out->max_mean = mean(column, n);
    out->share_max_gt_0_9 = share_above(column, n, AV_LARGEST_ALARM);
    out->share_max_gt_0_999 = share_above(column, n, 0.999);
    out->max_median = av_median(column, n);
    out->one_minus_max_median = av_median(column, gather(column, s, rows, one_minus_max));
    out->entropy_mean = mean_of_weights(column, s, rows, entropy);
    out->entropy_norm_mean = mean_of_weights(column, s, rows, entropy_norm);
    out->effective_keys_mean = mean_of_weights(column, s, rows, effective_keys);
    out->sum_p2_mean = mean(column, gather(column, s, rows, sum_p2));
    out->row_sum_mean = mean(column, gather(column, s, rows, row_sum));
    out->trace_mean = mean(column, gather(column, s, rows, trace));
    out->trace_median = av_median(column, n);
    out->jacobian_fro_mean = mean(column, gather(column, s, rows, jacobian_fro));
    out->share_fro_lt_1e_3 = share_below(column, n, AV_DEAD_FRO);
    out->jacobian_fro_median = av_median(column, n);
    /* Of the softmax it is the same positive multiple of jacobian_fro in every row. */
    out->d_scores_rms_median = out->alpha / s->params.temperature * out->jacobian_fro_median;
    out->nonzero_share_mean = (double)NAN;
    out->dq_rms_mean = (double)NAN;
    out->dq_rms_median = (double)NAN;
}

void av_summary_nonzero(struct av_summary *out, const struct av_snapshot *s, const struct av_rowstats *rows,
                        const double *nonzero, double *column)
{
    out->nonzero_share_mean = mean(column, gather_values(column, s, rows, nonzero));
}

void av_summary_d_scores(struct av_summary *out, const struct av_snapshot *s, const struct av_rowstats *rows,
                         const double *d_scores, double *column)
{
    out->d_scores_rms_median = av_median(column, gather_values(column, s, rows, d_scores));
}

void av_summary_dq(struct av_summary *out, const struct av_snapshot *s, double *column)
{
    size_t n = gather_values(column, s, s->rows, s->dq_rms);
    out->dq_rms_mean = mean(column, n);
    out->dq_rms_median = av_median(column, n);
}

bool av_summary_dead(const struct av_summary *s)
{
    return s->jacobian_fro_median < AV_DEAD_FRO || s->share_fro_lt_1e_3 > AV_DEAD_SHARE;
}
