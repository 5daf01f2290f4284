/* train_optimizer.c - from a gradient to a step: Adam, or plain descent. */
#include "train_optimizer.h"

#include <math.h>

static const double BETA1 = 0.9, BETA2 = 0.999, EPS = 1e-8;

double av_clip_factor(double norm, double clip)
{
    return clip > 0 && norm > clip ? clip / norm : 1;
}

static void adam_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                      const struct av_learned_gradient *d, double factor, uint64_t step)
{
    const double rate = c->lr / (1 - pow(BETA1, (double)step));
    const double root_factor = 1 / sqrt(1 - pow(BETA2, (double)step));
    const struct av_adam_step s = {
        (float)rate, (float)root_factor, (float)BETA1, (float)BETA2, (float)EPS, (float)factor,
    };
    kernels->adam(l->w, d->w, l->mean, l->square, l->n, &s);
    for (enum av_train_scalar i = 0; i < AV_TRAIN_SCALARS; i++) {
        struct av_learned_scalar *x = &l->scalars[i];
        if (av_train_learns(c, i)) {
            const double g = factor * d->scalars[i];
            x->mean = BETA1 * x->mean + (1 - BETA1) * g;
            x->square = BETA2 * x->square + (1 - BETA2) * g * g;
            x->at -= rate * x->mean / (sqrt(x->square) * root_factor + EPS);
        }
    }
}

static void sgd_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                     const struct av_learned_gradient *d, double factor, uint64_t step)
{
    (void)kernels, (void)step;
    const float rate = (float)(c->lr * factor);
    for (size_t i = 0; i < l->n; i++) {
        l->w[i] -= rate * d->w[i];
    }
    for (enum av_train_scalar i = 0; i < AV_TRAIN_SCALARS; i++) {
        if (av_train_learns(c, i)) {
            l->scalars[i].at -= c->lr * factor * d->scalars[i];
        }
    }
}

void av_optimizer_step(struct av_learned *l, const struct av_train_config *c, const struct av_kernels *kernels,
                       const struct av_learned_gradient *d, double factor, uint64_t step)
{
    static void (*const steps[AV_OPTIMIZER_COUNT])(struct av_learned *, const struct av_train_config *,
                                                   const struct av_kernels *, const struct av_learned_gradient *,
                                                   double, uint64_t) = {
        [AV_OPTIMIZER_ADAM] = adam_step,
        [AV_OPTIMIZER_SGD] = sgd_step,
    };
    steps[c->optimizer](l, c, kernels, d, factor, step);
}
