/* train_scalars.c - what a run may learn beside its matrices, and what that means. */
#include "train_scalars.h"

#include "train_multiplier.h"

#include <math.h>
#include <string.h>

#define SWIN2_MOST 4.605170185988091 /* ln 100: swin2's multiplier ends there */

static bool has(const struct av_train_config *c, enum av_variant_group group, const char *name)
{
    const struct av_variant *row = av_variant_of(c->attention.variant, group);
    return row != NULL && strcmp(row->name, name) == 0;
}

bool av_train_clips(const struct av_train_config *c)
{
    return has(c, AV_GROUP_TRAINING, "qk_clip");
}

static const char *alpha_name(const struct av_train_config *c)
{
    if (c->alpha_is_exp) {
        return "swin2.tau";
    }
    if (has(c, AV_GROUP_SCALE, "learned")) {
        return "learned.gain";
    }
    return has(c, AV_GROUP_SCALE, "ssmax") && !av_train_rows_differ(c) ? "ssmax.sigma" : "alpha";
}

const char *av_train_scalar_name(const struct av_train_config *c, enum av_train_scalar scalar)
{
    static const char *const names[AV_TRAIN_SCALARS] = {
        [AV_SCALAR_SINK] = "sink.logit",        [AV_SCALAR_GAMMA] = "gamma of w_q",
        [AV_SCALAR_GAMMA + 1] = "gamma of w_k", [AV_SCALAR_GAMMA + 2] = "gamma of w_v",
        [AV_SCALAR_GAMMA + 3] = "gamma of w_o",
    };
    return scalar == AV_SCALAR_ALPHA ? alpha_name(c) : names[scalar];
}

bool av_train_learns(const struct av_train_config *c, enum av_train_scalar scalar)
{
    switch (scalar) {
    case AV_SCALAR_ALPHA:
        return c->learn_scale;
    case AV_SCALAR_SINK:
        return c->learn_sink;
    default:
        return has(c, AV_GROUP_TRAINING, "sigma_reparam");
    }
}

/* Of swin2 tau itself, which may be beyond where the multiplier ends. */
static double tau_at_start(const struct av_train_config *c, enum av_twin twin, double alpha)
{
    const double tau = c->attention.of.swin2_tau;
    return twin == AV_TWIN_SCALED && !isnan(tau) ? tau : log(alpha);
}

void av_train_scalars_begin(double scalars[AV_TRAIN_SCALARS], const struct av_train_config *c, enum av_twin twin)
{
    const double unit = c->alpha_unit[twin];
    const double x = unit != 0 ? c->alpha[twin] / unit : 0;
    scalars[AV_SCALAR_ALPHA] = c->alpha_is_exp ? tau_at_start(c, twin, x) : x;
    scalars[AV_SCALAR_SINK] = c->attention.of.sink_logit;
    for (size_t i = AV_SCALAR_GAMMA; i < AV_TRAIN_SCALARS; i++) {
        scalars[i] = c->attention.of.sigma_reparam_gamma;
    }
}

double av_train_alpha(const struct av_train_config *c, enum av_twin twin, double x)
{
    if (!c->learn_scale) {
        return c->alpha[twin];
    }
    return c->alpha_unit[twin] * (c->alpha_is_exp ? exp(fmin(x, SWIN2_MOST)) : x);
}

double av_train_alpha_slope(const struct av_train_config *c, enum av_twin twin, double x)
{
    const double slope = !c->alpha_is_exp ? 1 : x > SWIN2_MOST ? 0 : exp(x);
    return c->alpha_unit[twin] * slope;
}
