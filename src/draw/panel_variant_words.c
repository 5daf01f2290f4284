/* panel_variant_words.c - what the panels say of variants and dtypes. */
#include "panels.h"

#include "attnviz/variant.h"

#include <stdio.h>

const char *av_panel_bend(const struct av_snapshot *s)
{
    const struct av_variant *bend = av_variant_of(s->params.variant, AV_GROUP_BEND);
    return bend != NULL ? bend->name : "softmax";
}

bool av_panel_by_softmax(const struct av_snapshot *s)
{
    return !s->varied || (av_variant_of(s->params.variant, AV_GROUP_BEND) == NULL && s->params.dtype == AV_DTYPE_F64);
}

const char *av_panel_dtype(const struct av_snapshot *s)
{
    return av_param_find("dtype")->choices[s->params.dtype];
}

const char *av_panel_variant(char out[AV_PIECE_MAX], const struct av_snapshot *s)
{
    char name[AV_VARIANT_TEXT_MAX];
    bool exact = s->params.dtype == AV_DTYPE_F64;
    out[0] = '\0';
    if (s->varied) {
        av_variant_format(av_variant_without(s->params.variant, AV_GROUP_TRAINING), name);
        snprintf(out, AV_PIECE_MAX, exact ? "%s" : "%s in %s", name, av_panel_dtype(s));
    }
    return out;
}

bool av_panel_averages(const struct av_snapshot *s)
{
    const struct av_variant *pattern = av_variant_of(s->params.variant, AV_GROUP_PATTERN);
    return pattern != NULL && pattern == av_variant_find("linformer");
}

const char *av_panel_invalid(char out[AV_PIECE_MAX], const struct av_snapshot *s, size_t i)
{
    double most = av_dtype_max((enum av_dtype)s->params.dtype);
    char number[AV_NUMBER_MAX];
    if (s->invalid_scores[i] || s->params.dtype == AV_DTYPE_F64) {
        snprintf(out, AV_PIECE_MAX, "a NaN or an infinity");
    } else if (most > 0) {
        snprintf(out, AV_PIECE_MAX, "NaN in %s: beyond %s", av_panel_dtype(s), av_plot_short(number, most, 5));
    } else {
        snprintf(out, AV_PIECE_MAX, "NaN in %s", av_panel_dtype(s));
    }
    return out;
}
