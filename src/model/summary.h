/* summary.h - from the statistics of rows to the numbers of a whole state. */
#ifndef ATTNVIZ_SUMMARY_H
#define ATTNVIZ_SUMMARY_H

#include "attnviz/snapshot.h"

/* Are all weights of a row 0? Then there is no distribution, and no entropy. */
bool av_row_without_weight(const struct av_rowstats *row);

/* Sums up `rows`, s->rows or s->other_rows, over those that count. out->alpha
 * is given by the caller; `scale`, `logits` and `row_std` are left to it, dq_* are NaN
 * until av_summary_dq, nonzero_share_mean until av_summary_nonzero.
 * d_scores_rms is alpha / T times jacobian_fro, which av_summary_d_scores
 * replaces. column: scratch, [n_q] doubles. */
void av_summary_make(struct av_summary *out, const struct av_snapshot *s, const struct av_rowstats *rows,
                     double *column);

/* Adds what is known of each row by itself, [n_q]: the share of the seen keys
 * with a weight that is not 0; |dw/ds|_F. */
void av_summary_nonzero(struct av_summary *out, const struct av_snapshot *s, const struct av_rowstats *rows,
                        const double *nonzero, double *column);
void av_summary_d_scores(struct av_summary *out, const struct av_snapshot *s, const struct av_rowstats *rows,
                         const double *d_scores, double *column);

/* Adds dq_rms_mean and dq_rms_median of s->dq_rms over the rows that count. */
void av_summary_dq(struct av_summary *out, const struct av_snapshot *s, double *column);

#endif
