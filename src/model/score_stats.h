/* score_stats.h - moments and histograms of the unmasked scores. */
#ifndef ATTNVIZ_SCORE_STATS_H
#define ATTNVIZ_SCORE_STATS_H

#include "attnviz/snapshot.h"

/* Densities per bin, owned by the model; struct av_score_histogram points
 * into it. */
struct av_histogram_store {
    double unscaled[AV_BINS_MAX], scaled[AV_BINS_MAX];
    double unscaled_curve[AV_BINS_MAX], scaled_curve[AV_BINS_MAX];
};

/* Are the first n numbers finite? */
bool av_all_finite(const double *x, size_t n);

/* Moments over the pairs that the mask leaves in the rows of `s` whose scores
 * are valid, and the spread within those rows; without scores of -infinity.
 * Returns whether there were any. */
bool av_score_moments(struct av_moments *m, struct av_spread *spread, const struct av_snapshot *s);

/* What the scores are multiplied by with scale on or off, variants apart: while
 * that state glides, by the multiplier of the moment. */
double av_score_factor(const struct av_snapshot *s, bool scale);

/* Histogram of scores times 1 and times d_k^-exponent on one axis, and the
 * curves of theory: exact for independent normal entries of mean 0, else
 * normal with the expected (with files: the measured) mean and variance.
 *
 * A whole axis reaches four standard deviations to either side of both. The
 * other kind stops where the wider one has grown to eight times the narrower:
 * while d_k grows further it stands still, so that the scaled scores are seen
 * to stay and the unscaled ones to spread and leave it. */
void av_score_histogram_make(struct av_score_histogram *h, struct av_histogram_store *store,
                             const struct av_snapshot *s, bool whole);

#endif
