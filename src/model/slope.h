/* slope.h - least squares of y on x within rows, summed up row by row. */
#ifndef ATTNVIZ_SLOPE_H
#define ATTNVIZ_SLOPE_H

#include "attnviz/diagnosis.h"

#include <stdint.h>

struct av_slope_sums {
    double xx, xy, yy; /* of products of deviations from the rows' means, times h */
    double h;          /* sum of the weights */
    uint64_t freedom;  /* points less rows */
};

/* Adds a row of n points, each of the weight h, 0 < h <= 1; NULL: 1. */
void av_slope_add(struct av_slope_sums *s, const double *x, const double *y, const double *h, size_t n);

/* All NaN where x has no spread, or fewer than AV_SLOPE_FREEDOM points are more
 * than rows: some are on a line by chance. error is an upper bound for h < 1. */
enum { AV_SLOPE_FREEDOM = 8 };
struct av_slope av_slope_of(const struct av_slope_sums *s);

#endif
