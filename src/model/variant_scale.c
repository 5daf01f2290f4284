/* variant_scale.c - the multipliers of the rows that have one. */
#include "variant_hooks.h"

#include <math.h>

/* ---- In the place of d_k^-exponent -------------------------------------------- */

double av_scale_none(const struct av_params *p, const struct av_scale_at *at)
{
    (void)p, (void)at;
    return 1;
}

double av_scale_sqrt(const struct av_params *p, const struct av_scale_at *at)
{
    (void)p;
    return 1 / sqrt((double)at->d);
}

/* differential: each half of the columns is a head of its own */
double av_scale_halves(const struct av_params *p, const struct av_scale_at *at)
{
    (void)p;
    return 1 / sqrt((double)at->d / 2);
}

double av_scale_mup(const struct av_params *p, const struct av_scale_at *at)
{
    return p->of.mup_factor / (double)at->d;
}

double av_scale_fixed(const struct av_params *p, const struct av_scale_at *at)
{
    (void)at;
    return 1 / sqrt(p->of.fixed_scalar);
}

double av_scale_inverse_layer(const struct av_params *p, const struct av_scale_at *at)
{
    return av_scale_sqrt(p, at) / (double)p->of.inverse_layer_layer;
}

/* What the present head has, when the first one has a, the last one b and
 * those between lie evenly. */
static double of_head(const struct av_params *p, double a, double b)
{
    double share = p->n_head > 1 ? (double)p->head / (double)(p->n_head - 1) : 0;
    return (1 - share) * a + share * b;
}

double av_scale_learned(const struct av_params *p, const struct av_scale_at *at)
{
    return av_scale_sqrt(p, at) * of_head(p, p->of.learned_gain, p->of.learned_gain_last);
}

double av_scale_mixed(const struct av_params *p, const struct av_scale_at *at)
{
    double exponent = of_head(p, p->of.mixed_exponent, p->of.mixed_exponent_last);
    double temperature = exp(of_head(p, log(p->of.mixed_temperature), log(p->of.mixed_temperature_last)));
    return pow((double)at->d, -exponent) / temperature;
}

/* ---- The same, for queries and keys that are normalised -------------------------- */

double av_scale_qk_l2(const struct av_params *p, const struct av_scale_at *at)
{
    double length = isnan(p->of.qk_l2_L) ? (double)at->n_k : p->of.qk_l2_L;
    double g = length < 3 ? 1 : log2(length) + log2(length - 1);
    return isnan(p->of.qk_l2_g) ? g : p->of.qk_l2_g;
}

double av_scale_cosine(const struct av_params *p, const struct av_scale_at *at)
{
    (void)at;
    return p->of.cosine_g;
}

double av_scale_swin2(const struct av_params *p, const struct av_scale_at *at)
{
    (void)at;
    const double auto_gain = 10, max_gain = 100;
    return isnan(p->of.swin2_tau) ? auto_gain : fmin(exp(p->of.swin2_tau), max_gain);
}

/* ---- Times what stands there ----------------------------------------------------- */

double av_scale_logn(const struct av_params *p, const struct av_scale_at *at)
{
    return fmax(1, log((double)at->keys) / log(p->of.logn_L));
}

double av_scale_ssmax(const struct av_params *p, const struct av_scale_at *at)
{
    return p->of.ssmax_sigma * log((double)at->keys);
}

double av_scale_yarn(const struct av_params *p, const struct av_scale_at *at)
{
    (void)at;
    double m = 0.1 * log(p->of.yarn_S) + 1;
    return m * m;
}

/* A negative position counts as 0. */
double av_scale_llama4(const struct av_params *p, const struct av_scale_at *at)
{
    const int64_t position = p->of.llama4_start + at->position;
    double floors = floor((double)((position > 0 ? position : 0) + 1) / (double)p->of.llama4_floor);
    return 1 + p->of.llama4_scale * log1p(floors);
}
