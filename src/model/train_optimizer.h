/* train_optimizer.h - from a gradient to a step: Adam, or plain descent. */
#ifndef ATTNVIZ_TRAIN_OPTIMIZER_H
#define ATTNVIZ_TRAIN_OPTIMIZER_H

#include "attnviz/train.h"

/* A scalar that may be learned, with the running means of its gradient. */
struct av_learned_scalar {
    double at, mean, square;
};

/* Learned parameters with the running means of their gradients. */
struct av_learned {
    float *w, *mean, *square; /* n each, n a multiple of 16 */
    size_t n;
    struct av_learned_scalar scalars[AV_TRAIN_SCALARS]; /* those of av_train_learns move */
};

/* The loss by all of them. */
struct av_learned_gradient {
    const float *w;
    double scalars[AV_TRAIN_SCALARS];
};

/* What the gradient is multiplied by so that its norm is at most clip. */
double av_clip_factor(double norm, double clip);

/* Step number `step` (1 the first) against the gradient times factor. */
void av_optimizer_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                       const struct av_learned_gradient *d, double factor, uint64_t step);

#endif
