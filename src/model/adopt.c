/* adopt.c - from findings about a file's weights to the settings that they were made with. */
#include "attnviz/adopt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool found(const struct av_diagnosis *d, const char *code)
{
    for (size_t i = 0; i < d->finding_count; i++) {
        if (strcmp(d->findings[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

/* The exponent e with d_k^-e = 1/sqrt(n_head d_k). */
static double exponent_of_d_model(const struct av_source_layer *l)
{
    return (1 + log((double)l->n_head) / log((double)l->d)) / 2;
}

static void adopt_exponent(struct av_params *p, double exponent, char words[AV_ADOPTED_MAX])
{
    p->scale = 1;
    p->exponent = exponent;
    snprintf(words, AV_ADOPTED_MAX, "exponent %.4g", exponent);
}

static void adopt_multiplier(struct av_params *p, const struct av_diagnosis *d, const struct av_source_layer *l,
                             char words[AV_ADOPTED_MAX])
{
    if (found(d, "scale_missing")) {
        p->scale = 0;
        snprintf(words, AV_ADOPTED_MAX, "scale off");
    } else if (found(d, "scale_twice")) {
        adopt_exponent(p, 1, words);
    } else if (found(d, "scale_d_model") && l->n_head <= l->d) { /* beyond, it would exceed 1 */
        adopt_exponent(p, exponent_of_d_model(l), words);
    } else if (found(d, "scale_inverted") && 1 / (double)l->d >= av_param_find("temperature")->min) {
        p->temperature = 1 / (double)l->d;
        snprintf(words, AV_ADOPTED_MAX, "temperature 1/%zu", l->d);
    }
}

void av_params_adopt(struct av_params *p, const struct av_diagnosis *d, const struct av_source_layer *l,
                     struct av_adoption allowed, char words[AV_ADOPTED_MAX])
{
    words[0] = '\0';
    if (allowed.multiplier) {
        adopt_multiplier(p, d, l, words);
    }
    if (allowed.mask && d->causal) {
        size_t len = strlen(words);
        p->mask = AV_MASK_CAUSAL;
        snprintf(words + len, AV_ADOPTED_MAX - len, "%smask causal", len > 0 ? ", " : "");
    }
}
