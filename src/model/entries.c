/* entries.c - drawing the entries of Q and K. */
#include "entries.h"

#include <math.h>

enum { TENSOR_Q = 0, TENSOR_K = 1 };

/* x becomes mean + std x, in single precision: what a model would hold. */
static void stretch(float *x, size_t n, double mean, double std)
{
    float m = (float)mean;
    float s = (float)std;
    if (m == 0 && s == 1) {
        return; /* the default; a pass over the entries would cost half as much as drawing them */
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = m + s * x[i];
    }
}

void av_entries_query(const struct av_kernels *kernels, const struct av_params *p, size_t i, size_t first, size_t d,
                      float *row)
{
    struct av_stream stream = { p->seed, TENSOR_Q, (uint32_t)i };
    kernels->draw(row + first, first, d - first, (enum av_dist)p->dist, stream);
    stretch(row + first, d - first, p->q_mean, p->q_std);
}

void av_entries_key(const struct av_kernels *kernels, const struct av_params *p, size_t j, size_t first, size_t d,
                    float *row, float *scratch)
{
    struct av_stream stream = { p->seed, TENSOR_K, (uint32_t)j };
    size_t n = d - first;
    kernels->draw(row + first, first, n, (enum av_dist)p->dist, stream);
    if (p->corr != 0) {
        stream.tensor = TENSOR_Q;
        kernels->draw(scratch, first, n, (enum av_dist)p->dist, stream);
        float c = (float)p->corr;
        float rest = (float)sqrt(1 - p->corr * p->corr);
        for (size_t i = 0; i < n; i++) {
            row[first + i] = c * scratch[i] + rest * row[first + i];
        }
    }
    stretch(row + first, n, p->k_mean, p->k_std);
}
