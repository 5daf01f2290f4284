/* train_optimizer.h - from a gradient to a step: Adam, or plain descent. */
#ifndef ATTNVIZ_TRAIN_OPTIMIZER_H
#define ATTNVIZ_TRAIN_OPTIMIZER_H

#include "attnviz/train.h"

/* Learned parameters with the running means of their gradients. */
struct av_learned {
    float *w, *mean, *square; /* n each, n a multiple of 16 */
    size_t n;
    double alpha, alpha_mean, alpha_square; /* alpha moves only with learn_scale */
};

/* What the gradient is multiplied by so that its norm is at most clip. */
double av_clip_factor(double norm, double clip);

/* Step number `step` (1 the first) against d_w and d_alpha times factor. */
void av_optimizer_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                       const float *d_w, double d_alpha, double factor, uint64_t step);

#endif
