/* kernel_dot.c - the score of one query and one key, at several d_k in one go. */
#include "kernel_sets.h"
#include "lanes.h"

/* As many floats as a vector holds doubles. */
typedef float vf_half __attribute__((vector_size(AV_VEC_BYTES / 2)));

static inline vd widened(const float *x)
{
    vf_half v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, vd);
}

/* Continues the sums by columns [from, to), to - from < AV_LANES of them. */
static struct lanes add_columns(struct lanes sum, const float *q, const float *k, size_t from, size_t to)
{
    double sums[AV_LANES];
    lanes_store(sums, sum);
    for (size_t c = from; c < to; c++) {
        sums[c % AV_LANES] += (double)q[c] * (double)k[c];
    }
    return lanes_load(sums);
}

void AV_KERNEL(dot)(double *s, const float *q, const float *k, const size_t *ends, size_t count)
{
    struct lanes sum = { 0 }; /* of the columns before c, a multiple of AV_LANES */
    size_t c = 0;
    for (size_t e = 0; e < count; e++) {
        for (; c + AV_LANES <= ends[e]; c += AV_LANES) {
            for (size_t u = 0; u < AV_LANE_PARTS; u++) {
                size_t at = c + u * AV_LANES_D;
                sum.part[u] += widened(q + at) * widened(k + at);
            }
        }
        s[e] = lanes_sum(c < ends[e] ? add_columns(sum, q, k, c, ends[e]) : sum);
    }
}
