/* panel_variant_detail.c - a variant in words, row by row of what it is joined from. */
#include "panels_variants.h"

#include <stdio.h>
#include <string.h>

/* ---- What flags mean ---------------------------------------------------------- */

static const struct {
    unsigned flag;
    const char *text;
} flag_texts[] = {
    { AV_VARIANT_NOT_SIMPLEX, "row sum is not 1" },
    { AV_VARIANT_SHIFTS, "a constant added to all logits changes the weights" },
    { AV_VARIANT_Q_INVARIANT, "the length of q changes nothing" },
    { AV_VARIANT_POSITIONAL, "depends on positions" },
    { AV_VARIANT_PER_HEAD, "differs from head to head" },
    { AV_VARIANT_SQUARE, "needs n_q = n_k" },
    { AV_VARIANT_EVEN_D, "needs an even d_k" },
    { AV_VARIANT_FIXED_D, "more columns change every score" },
    { AV_VARIANT_NOT_TRAINED, "not in training" },
};

static void flags_line(char *out, size_t size, unsigned flags)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof flag_texts / sizeof flag_texts[0]; i++) {
        if ((flags & flag_texts[i].flag) != 0) {
            int more = snprintf(out + len, size - len, "%s%s", len > 0 ? "; " : "", flag_texts[i].text);
            len = len + (size_t)more < size ? len + (size_t)more : size - 1;
        }
    }
}

/* ---- Lines ------------------------------------------------------------------------ */

/* Lines from the top, as long as there are some left. */
struct lines {
    struct av_canvas *c;
    struct av_rect left;
};

static void put(struct lines *l, enum av_role role, const char *text)
{
    if (text[0] != '\0' && l->left.h > 0) {
        int used = av_plot_wrap(l->c, l->left, role, text);
        l->left.y += used;
        l->left.h -= used;
    }
}

/* "softcap (bend): c tanh(z / c)", then what it is for and its source. */
static void put_row(struct lines *l, const struct av_variant *row)
{
    char text[256];
    snprintf(text, sizeof text, "%s (%s): %s", row->name, av_variant_group_names[row->group], row->formula);
    put(l, AV_ROLE_TEXT, text);
    snprintf(text, sizeof text, "%s; %s", row->text, row->source);
    put(l, AV_ROLE_DIM, text);
}

/* "gemma-2: fixed+softcap, fixed.scalar=256 softcap.c=50", then the model. */
static void put_preset(struct lines *l, const struct av_preset *preset)
{
    char text[256];
    size_t len = (size_t)snprintf(text, sizeof text, "%s (model): %s,", preset->name, preset->variant);
    for (const char *const *a = preset->assignments; *a != NULL && len < sizeof text; a++) {
        len += (size_t)snprintf(text + len, sizeof text - len, " %s", *a);
    }
    put(l, AV_ROLE_TEXT, text);
    put(l, AV_ROLE_DIM, preset->text);
}

void av_panel_variant_detail(struct av_canvas *c, struct av_rect r, const struct av_variant_row *row)
{
    if (r.h < AV_VARIANT_DETAIL_LEAST_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct lines l = { c, { r.x + 1, r.y, r.w - 2, r.h } };
    if (row->of.preset != NULL) {
        put_preset(&l, row->of.preset);
    }
    if (row->of.value == 0) {
        put(&l, AV_ROLE_TEXT, "softmax: e^z / sum e^z");
        put(&l, AV_ROLE_DIM, "what all others are held against; Vaswani et al. 2017");
    }
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *of = av_variant_of(row->of.value, g);
        if (of != NULL) {
            put_row(&l, of);
        }
    }
    char text[400];
    flags_line(text, sizeof text, av_variant_flags(row->of.value));
    put(&l, AV_ROLE_DIM, text);
    av_canvas_clip(c, clip);
}
