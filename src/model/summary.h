/* summary.h - from the statistics of rows to the numbers of a whole state. */
#ifndef ATTNVIZ_SUMMARY_H
#define ATTNVIZ_SUMMARY_H

#include "attnviz/snapshot.h"

/* Sums up n_q rows; those with fewer than two keys or marked invalid stay out
 * of every mean, median and share. multiplier: alpha / temperature. dq_rms:
 * [n_q] or NULL. column: scratch, [n_q] doubles. `logits`, `scale` and
 * `alpha` of the summary are left to the caller. */
void av_summary_make(struct av_summary *s, const struct av_rowstats *rows, const bool *invalid, const double *dq_rms,
                     size_t n_q, double multiplier, double *column);

#endif
