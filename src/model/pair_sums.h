/* pair_sums.h - moments at several d_k at once, and how far they can be trusted.
 *
 * The scores of a pair at different d_k share their entries, so errors of what
 * is fitted across d_k do not follow from the errors of the points. Sums are
 * kept by groups of pairs; leaving out one group at a time tells how much any
 * result owes to chance (delete-a-group jackknife: Efron and Tibshirani 1993,
 * ch. 11; Kott 2001), whatever it is computed of. */
#ifndef ATTNVIZ_PAIR_SUMS_H
#define ATTNVIZ_PAIR_SUMS_H

#include "attnviz/distributions.h"

enum { AV_POWERS = 4 };

struct av_power_sums {
    double of[AV_POWERS][AV_VARIANCE_POINTS];
};

/* Sums of the first four powers of score - pivot, the pivot being the first
 * score of its d_k: as good as the mean for keeping digits, and scores that
 * are all the same have a variance of exactly 0. Pairs are added one by one,
 * so the bits do not depend on how the work was cut. */
struct av_pair_sums {
    size_t points; /* d_k at once, at most AV_VARIANCE_POINTS */
    size_t pairs;
    double pivot[AV_VARIANCE_POINTS];
    struct av_power_sums groups[AV_PAIR_GROUPS];
};

void av_pair_sums_clear(struct av_pair_sums *s, size_t points);
void av_pair_sums_add(struct av_pair_sums *s, const double *scores); /* [points] */

/* Measured values and standard errors; theory is left alone. */
struct av_pair_estimates {
    struct av_estimate mean[AV_VARIANCE_POINTS];
    struct av_estimate variance[AV_VARIANCE_POINTS]; /* over N - 1 */
    struct av_estimate kurtosis[AV_VARIANCE_POINTS]; /* excess, N sum d^4 / (sum d^2)^2 - 3 */
    struct av_estimate slope;                        /* of ln variance over x, least squares */
};

/* x: [points]. One pair or more. */
void av_pair_sums_estimate(const struct av_pair_sums *s, const double *x, struct av_pair_estimates *out);

#endif
