/* panel_variant_detail.c - a variant in words, row by row of what it is joined from. */
#include "panels_variants.h"

#include <stdio.h>
#include <string.h>

/* ---- What flags mean ---------------------------------------------------------- */

static const struct {
    unsigned flag;
    const char *text;
} flag_texts[] = {
    { AV_VARIANT_NOT_SIMPLEX, "row sum is not 1: entropy of |w| / sum |w|" },
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

enum { TEXT_MAX = 400 };

/* Lines from the top, as long as there are some left; then an ellipsis. */
struct lines {
    struct av_canvas *c;
    struct av_rect left;
};

static void put(struct lines *l, enum av_role role, const char *text)
{
    if (text[0] == '\0') {
        return;
    }
    if (l->left.h == 0) {
        av_canvas_put(l->c, l->left.x + l->left.w - 1, l->left.y - 1, 0x2026, role);
        return;
    }
    int used = av_plot_wrap(l->c, l->left, role, text);
    l->left.y += used;
    l->left.h -= used;
}

/* Appends "; " and what there is, as far as it fits. */
static void append(char text[TEXT_MAX], const char *more)
{
    size_t len = strlen(text);
    if (more[0] != '\0') {
        snprintf(text + len, TEXT_MAX - len, "; %s", more);
    }
}

/* "softcap (bend): softmax(c tanh(z/c)); c 50", and what that comes to. */
static void put_formula(struct lines *l, const struct av_variant *row, const struct av_params *p)
{
    char text[TEXT_MAX], value[AV_PARAM_SHORT_MAX], part[AV_PARAM_SHORT_MAX + 40], here[AV_VARIANT_HERE_MAX];
    size_t count;
    const struct av_param *params = av_params_table(&count);
    snprintf(text, sizeof text, "%s (%s): %s", row->name, av_variant_group_names[row->group], row->formula);
    for (size_t i = 0; i < count; i++) {
        if ((params[i].flags & AV_PARAM_OWNED) != 0 && av_variant_owns(av_variant_with(0, row), params[i].name)) {
            snprintf(part, sizeof part, "%s %s", strchr(params[i].name, '.') + 1,
                     av_param_format_short(&params[i], p, value));
            append(text, part);
        }
    }
    append(text, av_variant_here(here, row, p));
    append(text, row->group == AV_GROUP_TRAINING ? "acts in training only" : "");
    put(l, AV_ROLE_TEXT, text);
}

/* What it is for, and its source. */
static void put_purpose(struct lines *l, const struct av_variant *row)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s; %s", row->text, row->source);
    put(l, AV_ROLE_DIM, text);
}

/* "gemma-2 (model): fixed+softcap". */
static void put_preset(struct lines *l, const struct av_preset *preset)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s (model): %s", preset->name, preset->variant);
    put(l, AV_ROLE_TEXT, text);
}

/* What all others are held against, and what is not among them. */
static void put_softmax(struct lines *l)
{
    char text[TEXT_MAX] = "";
    size_t count, len = 0;
    const struct av_variant *rows = av_variants_table(&count);
    put(l, AV_ROLE_TEXT, "softmax: e^z / sum e^z");
    put(l, AV_ROLE_DIM, "what all others are held against; Vaswani et al. 2017");
    for (size_t i = 0; i < count && len < sizeof text; i++) {
        if (rows[i].group == AV_GROUP_TRAINING) {
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? ", " : "", rows[i].name);
        }
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), ": act in training only, and have no line here");
    put(l, AV_ROLE_DIM, text);
}

/* What was measured and no column shows. */
static void put_findings(struct lines *l, const struct av_variant_table *t, size_t row)
{
    const struct av_variant_measure *m = &t->rows[row].measure;
    char text[TEXT_MAX], percent[AV_NUMBER_MAX];
    if (av_variant_is_softmax(t, row)) {
        put(l, AV_ROLE_TEXT, "= the same weights as softmax here");
    }
    if (t->rows[row].state == AV_VARIANT_MEASURED && m->without_weight > 0) {
        snprintf(text, sizeof text, "%s of rows have no weight at all: no entropy, and its means leave them out",
                 av_panel_percent(percent, (double)m->without_weight / (double)m->rows));
        put(l, AV_ROLE_WARN, text);
    }
}

void av_panel_variant_detail(struct av_canvas *c, struct av_rect r, const struct av_variants *v, size_t row)
{
    const struct av_variant_subject *of = &v->table.rows[row].of;
    const struct av_params p = av_variant_params_of(of, &v->params);
    if (r.h < AV_VARIANT_DETAIL_LEAST_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct lines l = { c, { r.x + 1, r.y, r.w - 2, r.h } };
    if (of->preset != NULL) {
        put_preset(&l, of->preset);
    }
    if (of->value == 0) {
        put_softmax(&l);
    }
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        if (av_variant_of(of->value, g) != NULL) {
            put_formula(&l, av_variant_of(of->value, g), &p);
        }
    }
    put_findings(&l, &v->table, row);
    put(&l, AV_ROLE_DIM, of->preset != NULL ? of->preset->text : "");
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        if (av_variant_of(of->value, g) != NULL) {
            put_purpose(&l, av_variant_of(of->value, g));
        }
    }
    char text[TEXT_MAX];
    flags_line(text, sizeof text, av_variant_flags(of->value));
    put(&l, AV_ROLE_DIM, text);
    av_canvas_clip(c, clip);
}
