/* lanes.h - eight doubles side by side, whatever the machine's vectors hold.
 *
 * Sums that run in eight lanes and are folded in one fixed order have the
 * same bits on every instruction set. */
#ifndef ATTNVIZ_LANES_H
#define ATTNVIZ_LANES_H

#include "vec.h"

#include <stddef.h>

enum { AV_LANES = 8, AV_LANE_PARTS = AV_LANES / AV_LANES_D };

struct lanes {
    vd part[AV_LANE_PARTS];
};

static inline struct lanes lanes_load(const double *x)
{
    struct lanes v;
    for (size_t u = 0; u < AV_LANE_PARTS; u++)
        v.part[u] = vd_load(x + u * AV_LANES_D);
    return v;
}

static inline void lanes_store(double *x, struct lanes v)
{
    for (size_t u = 0; u < AV_LANE_PARTS; u++)
        vd_store(x + u * AV_LANES_D, v.part[u]);
}

/* Up to eight numbers, `fill` for those from n on, which are not read. */
static inline struct lanes lanes_load_part(const double *x, size_t n, double fill)
{
    double all[AV_LANES];
    for (size_t l = 0; l < AV_LANES; l++)
        all[l] = l < n ? x[l] : fill;
    return lanes_load(all);
}

static inline void lanes_store_part(double *x, size_t n, struct lanes v)
{
    double all[AV_LANES];
    lanes_store(all, v);
    for (size_t l = 0; l < AV_LANES; l++)
        if (l < n)
            x[l] = all[l];
}

static inline struct lanes lanes_splat(double x)
{
    struct lanes v;
    for (size_t u = 0; u < AV_LANE_PARTS; u++)
        v.part[u] = vd_splat(x);
    return v;
}

/* The larger (smaller) of each pair; a where x > y and b elsewhere. Compilers
 * make one instruction of such a loop, and two or more of masks. */
static inline vd vd_max(vd a, vd b)
{
    vd r;
    for (size_t l = 0; l < AV_LANES_D; l++)
        r[l] = a[l] > b[l] ? a[l] : b[l];
    return r;
}

static inline vd vd_min(vd a, vd b)
{
    vd r;
    for (size_t l = 0; l < AV_LANES_D; l++)
        r[l] = a[l] < b[l] ? a[l] : b[l];
    return r;
}

static inline vd vd_where_greater(vd x, vd y, vd a, vd b)
{
    vd r;
    for (size_t l = 0; l < AV_LANES_D; l++)
        r[l] = x[l] > y[l] ? a[l] : b[l];
    return r;
}

/* The upper half is added to the lower half until one is left. */
static inline double lanes_sum(struct lanes v)
{
    for (size_t half = AV_LANE_PARTS / 2; half > 0; half /= 2)
        for (size_t u = 0; u < half; u++)
            v.part[u] += v.part[u + half];
    vd x = v.part[0];
    for (size_t half = AV_LANES_D / 2; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            x[l] += x[l + half];
    return x[0];
}

#endif
