/* variant_bend.c - what the bends are told, from the parameters of their rows. */
#include "variant_hooks.h"

#include <math.h>

void av_bend_params_softcap(struct av_bend_params *out, const struct av_params *p, size_t keys)
{
    (void)keys;
    out->c = p->of.softcap_c;
}

void av_bend_params_softmax1(struct av_bend_params *out, const struct av_params *p, size_t keys)
{
    (void)p, (void)keys;
    out->logit = 0;
}

void av_bend_params_sink(struct av_bend_params *out, const struct av_params *p, size_t keys)
{
    (void)keys;
    out->logit = p->of.sink_logit;
}

void av_bend_params_sigmoid(struct av_bend_params *out, const struct av_params *p, size_t keys)
{
    out->b = isnan(p->of.sigmoid_b) ? -log((double)keys) : p->of.sigmoid_b;
}

void av_bend_params_clipped(struct av_bend_params *out, const struct av_params *p, size_t keys)
{
    out->eta = p->of.clipped_eta;
    out->gamma = isnan(p->of.clipped_gamma) ? -12 / (double)keys : p->of.clipped_gamma;
}

void av_bend_params_softpick(struct av_bend_params *out, const struct av_params *p, size_t keys)
{
    (void)keys;
    out->eps = p->of.softpick_eps;
}

double av_subtracted_differential(const struct av_params *p)
{
    double by_depth = 0.8 - 0.6 * exp(-0.3 * (double)p->of.differential_depth);
    return isnan(p->of.differential_lambda) ? by_depth : p->of.differential_lambda;
}
