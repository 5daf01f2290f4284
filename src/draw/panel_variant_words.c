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
    if (s->from == AV_PART_WEIGHTS) {
        return false;
    }
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

/* ---- Views that go their own way ------------------------------------------------- */

enum { UNUSED_FROM_H = 4 };

static bool drops_variant(const struct av_snapshot *s, bool uses_variant)
{
    return !uses_variant && av_variant_without(s->params.variant, AV_GROUP_TRAINING) != 0;
}

struct av_rect av_panel_used(struct av_rect r, const struct av_snapshot *s, bool uses_variant)
{
    bool told = drops_variant(s, uses_variant) || s->params.dtype != AV_DTYPE_F64;
    r.h -= told && r.h >= UNUSED_FROM_H;
    return r;
}

struct av_rect av_panel_unused(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s, const char *instead,
                               bool uses_variant)
{
    struct av_rect rest = av_panel_used(r, s, uses_variant);
    char name[AV_VARIANT_TEXT_MAX];
    char text[2 * AV_PIECE_MAX];
    const char *dtype = av_panel_dtype(s);
    av_variant_format(av_variant_without(s->params.variant, AV_GROUP_TRAINING), name);
    if (!drops_variant(s, uses_variant)) {
        snprintf(text, sizeof text, "%s: dtype %s is not used here", instead, dtype);
    } else if (s->params.dtype == AV_DTYPE_F64) {
        snprintf(text, sizeof text, "%s: variant %s is not used here", instead, name);
    } else {
        snprintf(text, sizeof text, "%s: %s and %s are not used here", instead, name, dtype);
    }
    if (rest.h < r.h) {
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y + rest.h, r.w - 1, 1 }, AV_ROLE_WARN, text);
    }
    return rest;
}

size_t av_panel_columns(const struct av_snapshot *s, enum av_heat_quantity quantity)
{
    return av_panel_averages(s) && quantity != AV_HEAT_SCORES ? (size_t)s->params.of.linformer_k : s->n_k;
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
