/* kernel_rate.c - multiply-adds and nothing else: what a core can do at most. */
#include "kernel_sets.h"
#include "vec.h"

/* Sums that do not wait for each other: more than a processor's latency times
 * what it begins at once, and few enough to stay in registers. */
enum { SUMS = 12 };

size_t AV_KERNEL(multiply_add)(size_t rounds, float *sum)
{
    const vf factor = vf_splat(sum[0]), term = vf_splat(sum[1]);
    vf x[SUMS];
    for (int i = 0; i < SUMS; i++) {
        x[i] = vf_splat((float)i);
    }
    for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < SUMS; i++) {
            x[i] = x[i] * factor + term;
        }
    }
    for (int i = 1; i < SUMS; i++) {
        x[0] += x[i];
    }
    sum[0] = x[0][0];
    return 2 * SUMS * AV_LANES_F * rounds;
}
