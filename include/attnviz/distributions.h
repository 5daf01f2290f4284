/* distributions.h - what the study `distributions` finds: the scores of
 * independent pairs at four d_k, and how their variance grows with d_k.
 *
 * Pair r is query r and key r of the sampler, r = 0 .. samples - 1, so with
 * corr its two are correlated. Its score at a smaller d_k is the sum over the
 * first d_k of the same entries: points of different d_k share their pairs.
 *
 * Arrays of two, [off, on], are of the scores as they are and of the scores
 * times d_k^-exponent.
 *
 * Standard errors are those of the jackknife which leaves out one of
 * AV_PAIR_GROUPS groups at a time, pair r being in group r mod AV_PAIR_GROUPS:
 * themselves good to about a tenth of their value, and NaN while there are
 * fewer than two pairs a group. */
#ifndef ATTNVIZ_DISTRIBUTIONS_H
#define ATTNVIZ_DISTRIBUTIONS_H

#include "attnviz/estimate.h"
#include "attnviz/params.h"

enum {
    AV_DISTRIBUTIONS = 4,                       /* panels */
    AV_VARIANCE_POINTS = 13 + AV_DISTRIBUTIONS, /* powers of two up to AV_DIM_MAX, and the panels' d_k */
    AV_PAIR_GROUPS = 50
};

/* The scores of one panel with scale off or on. The bins are the panel's own
 * `bins` equal ones over [lo, hi], four standard deviations to either side of
 * the mean, both as theory has them. */
struct av_distribution {
    double factor; /* what the scores are multiplied by */
    double lo, hi;
    double density[AV_BINS_MAX]; /* per bin: counts / (all pairs * width) */
    double exact[AV_BINS_MAX];   /* mean over the bin of the exact density, when has_exact */
    double normal[AV_BINS_MAX];  /* the same of the normal density of the mean and variance of theory */
    double peak;                 /* largest of `density` */
    struct av_estimate mean, variance;
};

struct av_distribution_panel {
    size_t d_k;
    struct av_distribution by_scale[2];
    struct av_estimate kurtosis; /* excess; a multiplier does not change it */
    double beyond;               /* share of the pairs outside of the bins */
};

struct av_variance_point {
    size_t d_k;
    struct av_estimate variance[2];
};

struct av_distributions {
    size_t samples; /* asked for */
    size_t pairs;   /* drawn so far: what the estimates are of */
    size_t counted; /* of these, the first that are in the histograms */
    size_t bins;
    bool has_exact;                                        /* normal entries of mean 0 and corr 0 */
    struct av_distribution_panel panels[AV_DISTRIBUTIONS]; /* in the order of the parameters d_k_1 .. d_k_4 */

    /* Variance at every power of two up to the largest d_k and at the panels'
     * d_k, ascending, and the slope of ln variance over ln d_k by least
     * squares; NaN with a single point or without variance. */
    size_t points;
    struct av_variance_point point[AV_VARIANCE_POINTS];
    struct av_estimate slope[2];
};

#endif
