/* stats.h - moments, medians and histograms of arrays of doubles. */
#ifndef ATTNVIZ_STATS_H
#define ATTNVIZ_STATS_H

#include <math.h>

#include <stddef.h>
#include <stdint.h>

/* Central moments that can be merged (Chan, Golub and LeVeque 1983; Pebay
 * 2008), so that a matrix is summed up row by row without loss. */
struct av_moments {
    uint64_t count;
    double mean;
    double m2; /* sum of (x - mean)^2 */
    double m3;
    double m4;
    double min; /* +infinity when count is 0 */
    double max; /* -infinity when count is 0 */
};

#define AV_MOMENTS_INIT                                                                                                \
    {                                                                                                                  \
        0, 0, 0, 0, 0, (double)INFINITY, -(double)INFINITY                                                             \
    }

/* Adds n numbers; all must be finite, and below 1e75 for m4 not to overflow.
 * Every 1024 numbers are centred on their own mean before they are squared
 * and merged: a mean far above the spread costs no more than its rounding. */
void av_moments_add(struct av_moments *m, const double *x, size_t n);
void av_moments_merge(struct av_moments *m, const struct av_moments *other);

/* Of the same numbers times factor >= 0, plus offset. */
void av_moments_stretch(struct av_moments *m, double factor, double offset);

/* Each NaN where it is not defined (too few numbers, no spread). */
double av_moments_var(const struct av_moments *m); /* over N - 1 */
double av_moments_std(const struct av_moments *m);
double av_moments_excess_kurtosis(const struct av_moments *m); /* N sum d^4 / (sum d^2)^2 - 3 */

/* Spread within groups, whatever the groups' own means are: the square root
 * of sum over groups of sum (x - mean of its group)^2, over the sum of
 * (size - 1). */
struct av_spread {
    double sum; /* of squares about the groups' means */
    uint64_t freedom;
};

void av_spread_add(struct av_spread *s, const struct av_moments *group);
void av_spread_merge(struct av_spread *s, const struct av_spread *other); /* the groups of both */
double av_spread_std(const struct av_spread *s);                          /* NaN without a group of two */

/* Median; of an even count the mean of the two middle values. Reorders x,
 * which must hold no NaN. NaN when n is 0. Linear time in any order of x. */
double av_median(double *x, size_t n);

/* Counts of factor * x in `bins` equal bins of [lo, hi): counts[b] grows; what
 * lies outside is left out. factor * x = hi counts in the last bin. No x is
 * NaN. */
void av_histogram_add(uint32_t *counts, size_t bins, double lo, double hi, const double *x, size_t n, double factor);

#endif
