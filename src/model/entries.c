/* entries.c - drawing the entries of Q and K. */
#include "entries.h"

#include <math.h>

/* Streams of random numbers: of the first head, and from where those of the
 * others lie, beyond all that anything else takes. */
enum { TENSOR_Q = 0, TENSOR_K = 1, TENSORS, TENSOR_HEADS = 1 << 20 };

static struct av_stream stream_of(const struct av_params *p, uint32_t tensor, size_t row)
{
    uint32_t head = (uint32_t)p->head;
    return (struct av_stream){ p->seed, head == 0 ? tensor : TENSOR_HEADS + TENSORS * head + tensor, (uint32_t)row };
}

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
    kernels->draw(row + first, first, d - first, (enum av_dist)p->dist, stream_of(p, TENSOR_Q, i));
    stretch(row + first, d - first, p->q_mean, p->q_std);
}

void av_entries_key(const struct av_kernels *kernels, const struct av_params *p, size_t j, size_t first, size_t d,
                    float *row, float *scratch)
{
    size_t n = d - first;
    kernels->draw(row + first, first, n, (enum av_dist)p->dist, stream_of(p, TENSOR_K, j));
    if (p->corr != 0) {
        kernels->draw(scratch, first, n, (enum av_dist)p->dist, stream_of(p, TENSOR_Q, j));
        float c = (float)p->corr;
        float rest = (float)sqrt(1 - p->corr * p->corr);
        for (size_t i = 0; i < n; i++) {
            row[first + i] = c * scratch[i] + rest * row[first + i];
        }
    }
    stretch(row + first, n, p->k_mean, p->k_std);
}
