/* train_optimizer.c - from a gradient to a step: Adam, or plain descent. */
#include "train_optimizer.h"

#include <math.h>

static const double BETA1 = 0.9, BETA2 = 0.999, EPS = 1e-8;

double av_clip_factor(double norm, double clip)
{
    return clip > 0 && norm > clip ? clip / norm : 1;
}

static void adam_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                      const float *d_w, double d_alpha, double factor, uint64_t step)
{
    const double rate = c->lr / (1 - pow(BETA1, (double)step));
    const double root_factor = 1 / sqrt(1 - pow(BETA2, (double)step));
    const struct av_adam_step s = {
        (float)rate, (float)root_factor, (float)BETA1, (float)BETA2, (float)EPS, (float)factor,
    };
    kernels->adam(l->w, d_w, l->mean, l->square, l->n, &s);
    if (c->learn_scale) {
        const double g = factor * d_alpha;
        l->alpha_mean = BETA1 * l->alpha_mean + (1 - BETA1) * g;
        l->alpha_square = BETA2 * l->alpha_square + (1 - BETA2) * g * g;
        l->alpha -= rate * l->alpha_mean / (sqrt(l->alpha_square) * root_factor + EPS);
    }
}

static void sgd_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                     const float *d_w, double d_alpha, double factor, uint64_t step)
{
    (void)kernels, (void)step;
    const float rate = (float)(c->lr * factor);
    for (size_t i = 0; i < l->n; i++) {
        l->w[i] -= rate * d_w[i];
    }
    if (c->learn_scale) {
        l->alpha -= c->lr * factor * d_alpha;
    }
}

void av_optimizer_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                       const float *d_w, double d_alpha, double factor, uint64_t step)
{
    static void (*const steps[AV_OPTIMIZER_COUNT])(struct av_learned *, const struct av_train_config *,
                                                   const struct av_kernels *, const float *, double, double,
                                                   uint64_t) = {
        [AV_OPTIMIZER_ADAM] = adam_step,
        [AV_OPTIMIZER_SGD] = sgd_step,
    };
    steps[c->optimizer](l, c, kernels, d_w, d_alpha, factor, step);
}
