/* kernel_adam.c - one step of an optimiser over an array of parameters, and the size of a gradient. */
#include "kernel_sets.h"
#include "lanes.h"

#include <math.h>

typedef float vf_half __attribute__((vector_size(AV_VEC_BYTES / 2)));

static inline vd widened(const float *x)
{
    vf_half v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, vd);
}

double AV_KERNEL(sum_squares)(const float *x, size_t n)
{
    struct lanes sum = { 0 };
    for (size_t i = 0; i < n; i += AV_LANES) {
        for (size_t u = 0; u < AV_LANE_PARTS; u++) {
            const vd v = widened(x + i + u * AV_LANES_D);
            sum.part[u] += v * v;
        }
    }
    return lanes_sum(sum);
}

/* x, but 0 where it is smaller than limit. */
static inline vf unless_tiny(vf x, float limit)
{
    const vf size = (vf)((vu32)x & 0x7fffffffu);
    return (vf)((vi32)x & ~(size < vf_splat(limit)));
}

/* The square root has no vector form in C but a loop of its own, which
 * compilers know. */
static inline vf square_root(vf x)
{
    for (int l = 0; l < AV_LANES_F; l++) {
        x[l] = sqrtf(x[l]);
    }
    return x;
}

/* A gradient below 2^-56 moves no parameter beside eps = 1e-8, and its square
 * might be denormal, and slow; the averages, which fade by a factor a step,
 * end before they would be. */
void AV_KERNEL(adam)(float *w, const float *d_w, float *mean, float *square, size_t n, const struct av_adam_step *step)
{
    const struct av_adam_step s = *step;
    for (size_t i = 0; i < n; i += AV_LANES_F) {
        const vf g = unless_tiny(s.gradient_factor * vf_load(d_w + i), 0x1p-56f);
        const vf m = unless_tiny(s.beta1 * vf_load(mean + i) + (1 - s.beta1) * g, 0x1p-100f);
        const vf v = unless_tiny(s.beta2 * vf_load(square + i) + (1 - s.beta2) * (g * g), 0x1p-124f);
        vf_store(mean + i, m);
        vf_store(square + i, v);
        vf_store(w + i, vf_load(w + i) - s.rate * (m / (square_root(v) * s.root_factor + s.eps)));
    }
}
