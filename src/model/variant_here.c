/* variant_here.c - what the formulas of variants come to with the parameters and sizes at hand. */
#include "variant_hooks.h"

#include <math.h>
#include <stdio.h>

enum { MAX = AV_VARIANT_HERE_MAX };

/* Says it of a row, or nothing: then out stays "". */
typedef void say(char *out, const struct av_variant_hooks *hooks, const struct av_params *p);

static struct av_scale_at sizes(const struct av_params *p)
{
    return (struct av_scale_at){
        .d = (size_t)p->d_k, .n_k = (size_t)p->n_k, .keys = (size_t)p->n_k, .position = p->n_k - 1
    };
}

/* ---- Multipliers ----------------------------------------------------------------- */

static void replaces(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    const struct av_scale_at at = sizes(p);
    double m = hooks->multiplier(p, &at), softmax = av_params_multiplier(p, true);
    if (!p->scale) {
        snprintf(out, MAX, "scale is off: m = 1 in its place");
    } else if (fabs(m - softmax) <= 1e-15 * fabs(softmax)) {
        snprintf(out, MAX, "m = %.4g, as softmax has at d_k %lld", m, (long long)p->d_k);
    } else {
        snprintf(out, MAX, "m = %.4g, softmax has %.4g", m, softmax);
    }
}

/* The same of normalised queries and keys, unless a row of `scale` goes before it. */
static void gains(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    const struct av_scale_at at = sizes(p);
    const struct av_variant *scale = av_variant_of(p->variant, AV_GROUP_SCALE);
    if (!p->scale) {
        snprintf(out, MAX, "scale is off: factor 1");
    } else if (scale == NULL || (scale->flags & AV_VARIANT_MULTIPLIES) != 0) {
        snprintf(out, MAX, "factor %.4g", hooks->multiplier(p, &at));
    }
}

static void times(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    const struct av_scale_at at = sizes(p);
    snprintf(out, MAX, "factor %.4g", hooks->multiplier(p, &at));
}

static void by_keys(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    const struct av_scale_at at = sizes(p);
    snprintf(out, MAX, "factor %.4g where a row sees %zu keys", hooks->multiplier(p, &at), at.keys);
}

static void logn(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    if ((double)p->n_k <= p->of.logn_L) {
        snprintf(out, MAX, "factor 1: no row sees more than %lld keys", (long long)p->n_k);
    } else {
        by_keys(out, hooks, p);
    }
}

static void llama4(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    const struct av_scale_at at = sizes(p);
    double factor = hooks->multiplier(p, &at);
    int64_t end = p->of.llama4_start + at.position;
    long long last = end;
    if (factor > 1) {
        snprintf(out, MAX, "factor %.4g at the last position, %lld", factor, last);
    } else if (last + 1 < p->of.llama4_floor) {
        snprintf(out, MAX, "factor 1: positions end at %lld, below the floor", last);
    } else {
        snprintf(out, MAX, "factor 1");
    }
}

/* ---- Patterns -------------------------------------------------------------------- */

/* The farthest that a key may be from a query that sees it. */
static int64_t farthest(const struct av_params *p)
{
    return p->mask == AV_MASK_NONE && p->n_q > p->n_k ? p->n_q - 1 : p->n_k - 1;
}

static void alibi(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    double add[2] = { 0, 0 };
    hooks->pattern(add, 2, p, &(struct av_pattern_row){ .position = 0, .n_k = 2 });
    snprintf(out, MAX, "slope 1/%.4g at head %lld of %lld: the farthest key loses %.3g", -1 / add[1],
             (long long)p->head + 1, (long long)p->n_head, -add[1] * (double)farthest(p) / p->temperature);
}

static void window(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    (void)hooks;
    int64_t most = farthest(p);
    if (most < p->of.window_size) {
        snprintf(out, MAX, "all keys are seen: none is farther than %lld", (long long)most);
    }
}

static void linformer(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    size_t averages = hooks->averages(p);
    if (averages == (size_t)p->n_k) {
        snprintf(out, MAX, "as many averages as keys: each is of one");
    } else {
        snprintf(out, MAX, "%.4g keys to an average", (double)p->n_k / (double)averages);
    }
}

/* ---- Bends ----------------------------------------------------------------------- */

static void clipped(char *out, const struct av_variant_hooks *hooks, const struct av_params *p)
{
    struct av_bend_params b = { 0 };
    hooks->bend_params(&b, p, (size_t)p->n_k);
    snprintf(out, MAX, "of %lld keys gamma %.4g: no weight where p < %.3g", (long long)p->n_k, b.gamma,
             -b.gamma / (b.eta - b.gamma));
}

/* ---- All of them ------------------------------------------------------------------ */

static const struct {
    const char *name;
    say *say;
} table[] = {
    { "none", replaces },    { "sqrt", replaces },       { "mup", replaces },  { "fixed", replaces },
    { "learned", replaces }, { "mixed", replaces },      { "logn", logn },     { "inverse_layer", replaces },
    { "ssmax", by_keys },    { "yarn", times },          { "llama4", llama4 }, { "qk_l2", gains },
    { "cosine", gains },     { "swin2", gains },         { "alibi", alibi },   { "window", window },
    { "clipped", clipped },  { "linformer", linformer },
};

const char *av_variant_here(char out[AV_VARIANT_HERE_MAX], const struct av_variant *row, const struct av_params *p)
{
    out[0] = '\0';
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (av_variant_find(table[i].name) == row) {
            table[i].say(out, row->hooks, p);
        }
    }
    return out;
}
