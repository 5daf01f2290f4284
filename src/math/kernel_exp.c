/* kernel_exp.c - exponentials of an array, as precise beside 1 as beside 0. */
#include "kernel_sets.h"
#include "lanes_exp.h"

/* 1 - exp(x), x <= 0, with e = exp(x): near 0 by exp's own polynomial. */
static inline vd one_minus_exp(vd x, vd e)
{
    const vi64 near = x > vd_splat(-0x1.6p-2); /* within ln(2) / 2 */
    const vd r = (vd)(near & (vi64)x), r2 = r * r;
    const vd by_series = -(r + r2 * exp_remainder(r, r2));
    return (vd)((near & (vi64)by_series) | (~near & (vi64)(1 - e)));
}

static inline void store(double *x, size_t count, struct lanes v)
{
    if (count == AV_LANES)
        lanes_store(x, v);
    else
        lanes_store_part(x, count, v);
}

void AV_KERNEL(exp)(double *e, double *less, const double *x, size_t n)
{
    for (size_t j = 0; j < n; j += AV_LANES) {
        const size_t count = n - j < AV_LANES ? n - j : AV_LANES;
        struct lanes v = count == AV_LANES ? lanes_load(x + j) : lanes_load_part(x + j, count, 0), rest;
        for (size_t u = 0; u < AV_LANE_PARTS; u++) {
            const vd a = (vd)((vi64)v.part[u] | INT64_MIN); /* -|x| */
            v.part[u] = vd_exp_neg(a);
            rest.part[u] = less != NULL ? one_minus_exp(a, v.part[u]) : a;
        }
        store(e + j, count, v);
        if (less != NULL)
            store(less + j, count, rest);
    }
}
