/* summary.c - means, medians and shares over rows. */
#include "summary.h"

#include <math.h>

/* A quantity of a row that is averaged. */
typedef double (*row_value)(const struct av_rowstats *row);

static double largest(const struct av_rowstats *row)
{
    return row->max;
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

static bool counts(const struct av_rowstats *row, bool invalid)
{
    return row->keys >= 2 && !invalid;
}

/* Gathers a quantity of the rows that count into column and returns their
 * number. */
static size_t gather(double *column, const struct av_rowstats *rows, const bool *invalid, size_t n_q, row_value get)
{
    size_t n = 0;
    for (size_t i = 0; i < n_q; i++) {
        if (counts(&rows[i], invalid[i])) {
            column[n++] = get(&rows[i]);
        }
    }
    return n;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return n > 0 ? sum / (double)n : (double)NAN;
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

/* dq_rms over the rows that count; column is scratch. */
static void sum_up_dq(struct av_summary *s, const struct av_rowstats *rows, const bool *invalid, const double *dq_rms,
                      size_t n_q, double *column)
{
    size_t n = 0;
    for (size_t i = 0; dq_rms != NULL && i < n_q; i++) {
        if (counts(&rows[i], invalid[i])) {
            column[n++] = dq_rms[i];
        }
    }
    s->dq_rms_mean = mean(column, n);
    s->dq_rms_median = av_median(column, n);
}

void av_summary_make(struct av_summary *s, const struct av_rowstats *rows, const bool *invalid, const double *dq_rms,
                     size_t n_q, double multiplier, double *column)
{
    s->rows_without_keys = 0;
    s->row_sum_error_max = (double)NAN;
    for (size_t i = 0; i < n_q; i++) {
        s->rows_without_keys += rows[i].keys == 0;
        if (rows[i].keys > 0 && !invalid[i]) {
            s->row_sum_error_max = fmax(s->row_sum_error_max, fabs(rows[i].row_sum - 1));
        }
    }
    size_t n = gather(column, rows, invalid, n_q, largest);
    s->rows = n;
    s->max_mean = mean(column, n);
    s->share_max_gt_0_9 = share_above(column, n, 0.9);
    s->share_max_gt_0_999 = share_above(column, n, 0.999);
    s->max_median = av_median(column, n);
    s->entropy_mean = mean(column, gather(column, rows, invalid, n_q, entropy));
    s->entropy_norm_mean = mean(column, gather(column, rows, invalid, n_q, entropy_norm));
    s->effective_keys_mean = mean(column, gather(column, rows, invalid, n_q, effective_keys));
    s->sum_p2_mean = mean(column, gather(column, rows, invalid, n_q, sum_p2));
    s->trace_mean = mean(column, gather(column, rows, invalid, n_q, trace));
    s->trace_median = av_median(column, n);
    s->jacobian_fro_mean = mean(column, gather(column, rows, invalid, n_q, jacobian_fro));
    s->share_fro_lt_1e_3 = share_below(column, n, 1e-3);
    s->jacobian_fro_median = av_median(column, n);
    /* d_scores_rms is the same positive multiple of jacobian_fro in every row. */
    s->d_scores_rms_median = multiplier * s->jacobian_fro_median;
    sum_up_dq(s, rows, invalid, dq_rms, n_q, column);
}
