/* train_init.c - the learned matrices before the first step. */
#include "train_tasks.h"

#include <math.h>

enum { TENSOR_MATRIX = 33 /* and which of the four */ };

/* Standard deviation of the entries; all but `unit` are uniform on [-a, a],
 * a being sqrt 3 times that. */
static double spread(enum av_init init, double fan_in, double fan_out)
{
    switch (init) {
    case AV_INIT_UNIT:
        return 1 / sqrt(fan_in);
    case AV_INIT_XAVIER:
        return sqrt(2 / (fan_in + fan_out));
    case AV_INIT_KAIMING:
        return sqrt(2 / fan_in);
    default: /* pytorch: a = 1 / sqrt(fan_in) */
        return 1 / sqrt(3 * fan_in);
    }
}

void av_train_draw_matrices(const struct av_train_config *c, const struct av_kernels *kernels, float *w, size_t pitch,
                            float *scratch)
{
    const enum av_dist dist = c->init == AV_INIT_UNIT ? AV_DIST_NORMAL : AV_DIST_UNIFORM;
    const float std = (float)spread(c->init, (double)c->d_model, (double)c->d_k);
    const float std_o = (float)spread(c->init, (double)c->d_k, (double)c->d_model);
    /* w_q, w_k, w_v [d_model, d_k] lie transposed. */
    for (uint32_t m = 0; m < 3; m++) {
        for (size_t i = 0; i < c->d_model; i++) {
            struct av_stream stream = { c->seed, TENSOR_MATRIX + m, (uint32_t)i };
            kernels->draw(scratch, 0, c->d_k, dist, stream);
            for (size_t j = 0; j < c->d_k; j++) {
                w[(m * c->d_k + j) * pitch + i] = std * scratch[j];
            }
        }
    }
    for (size_t i = 0; i < c->d_k; i++) {
        float *row = w + (3 * c->d_k + i) * pitch;
        struct av_stream stream = { c->seed, TENSOR_MATRIX + 3, (uint32_t)i };
        kernels->draw(row, 0, c->d_model, dist, stream);
        for (size_t j = 0; j < c->d_model; j++) {
            row[j] *= std_o;
        }
    }
}
