/* lanes_size.h - the size of the largest number of an array, and where it stands. */
#ifndef ATTNVIZ_LANES_SIZE_H
#define ATTNVIZ_LANES_SIZE_H

#include "lanes.h"

static inline vd vd_abs(vd x)
{
    return (vd)((vi64)x & INT64_MAX);
}

/* The largest of eight. */
static inline double lanes_largest(struct lanes v)
{
    for (size_t half = AV_LANE_PARTS / 2; half > 0; half /= 2)
        for (size_t u = 0; u < half; u++)
            v.part[u] = vd_max(v.part[u], v.part[u + half]);
    vd x = v.part[0];
    for (size_t half = AV_LANES_D / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            x[l] = x[l] > x[l + half] ? x[l] : x[l + half];
    return x[0];
}

/* Eight numbers of x from j on, 0 for those from n on. */
static inline struct lanes lanes_load_to(const double *x, size_t j, size_t n)
{
    return n - j >= AV_LANES ? lanes_load(x + j) : lanes_load_part(x + j, n - j, 0);
}

static inline double largest_size(const double *x, size_t n)
{
    struct lanes largest = lanes_splat(0);
    for (size_t j = 0; j < n; j += AV_LANES) {
        const struct lanes v = lanes_load_to(x, j, n);
        for (size_t u = 0; u < AV_LANE_PARTS; u++)
            largest.part[u] = vd_max(vd_abs(v.part[u]), largest.part[u]);
    }
    return lanes_largest(largest);
}

/* Where a number of at least that size stands first; 0 where none does. */
static inline size_t find_size(const double *x, size_t n, double size)
{
    for (size_t j = 0; j < n; j++)
        if (x[j] >= size || x[j] <= -size)
            return j;
    return 0;
}

#endif
