/* train_multiplier.c - alpha of the twin runs, as their variant has it. */
#include "train_multiplier.h"

#include "attnviz/attend.h"
#include "variant_hooks.h"

#include <string.h>

static const struct av_variant *scale_row(const struct av_train_config *c)
{
    return av_variant_of(c->attention.variant, AV_GROUP_SCALE);
}

static bool multiplies(const struct av_train_config *c)
{
    const struct av_variant *row = scale_row(c);
    return row != NULL && (row->flags & AV_VARIANT_MULTIPLIES) != 0;
}

bool av_train_rows_differ(const struct av_train_config *c)
{
    double common;
    return !av_attend_factor(&common, &c->attention, c->seq_len, c->seq_len);
}

double av_train_row_factor(const struct av_train_config *c, size_t keys, size_t position)
{
    const struct av_scale_at at = { c->d_k, c->seq_len, keys, (int64_t)position };
    return av_train_rows_differ(c)
               ? av_variant_hooks_of(c->attention.variant, AV_GROUP_SCALE)->multiplier(&c->attention, &at)
               : 1;
}

static void set_alphas(double alpha[AV_TWINS], const struct av_train_config *c)
{
    double common;
    av_attend_factor(&common, &c->attention, c->seq_len, c->seq_len);
    struct av_params on = c->attention;
    on.scale = 1;
    alpha[AV_TWIN_SCALED] = av_attend_alpha(&on, c->d_k, c->seq_len) * common;
    alpha[AV_TWIN_UNSCALED] = common;
}

static bool has(const struct av_train_config *c, enum av_variant_group group, const char *name)
{
    const struct av_variant *row = av_variant_of(c->attention.variant, group);
    return row != NULL && strcmp(row->name, name) == 0;
}

/* Units: alpha with 1 in the place of what is learned. */
static void set_units(struct av_train_config *c)
{
    struct av_train_config one = *c;
    one.attention.of.learned_gain = one.attention.of.ssmax_sigma = 1;
    set_alphas(c->alpha_unit, &one);
    if (has(c, AV_GROUP_SCALE, "learned") || c->alpha_is_exp) {
        const enum av_twin from = c->alpha_is_exp ? AV_TWIN_UNSCALED : AV_TWIN_SCALED;
        c->alpha_unit[AV_TWIN_SCALED] = c->alpha_unit[AV_TWIN_UNSCALED] = c->alpha_unit[from];
    } else if (!has(c, AV_GROUP_SCALE, "ssmax") || av_train_rows_differ(c)) {
        c->alpha_unit[AV_TWIN_SCALED] = c->alpha_unit[AV_TWIN_UNSCALED] = 1;
    }
}

void av_train_multipliers(struct av_train_config *c)
{
    c->alpha_is_exp = has(c, AV_GROUP_NORMALISE, "swin2") && (scale_row(c) == NULL || multiplies(c));
    set_alphas(c->alpha, c);
    set_units(c);
}
