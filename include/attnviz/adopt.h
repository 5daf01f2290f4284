/* adopt.h - the settings that weights or scores beside queries and keys were made with.
 *
 * A file that holds weights as well as Q and K tells how one was made of the
 * other. Numbers of Q and K under other settings would be those of a softmax that
 * the model never computes, so what can be set is set as the file has it. */
#ifndef ATTNVIZ_ADOPT_H
#define ATTNVIZ_ADOPT_H

#include "attnviz/diagnosis.h"

/* What may be taken over: what the user has said stays. */
struct av_adoption {
    bool multiplier; /* scale and exponent */
    bool mask;
};

enum { AV_ADOPTED_MAX = 96 };

/* Takes over into p what the findings of a head of layer l, made with p as it
 * is, say for certain; without Q and K of the mask alone: scale_missing (scale off), scale_twice (exponent
 * 1), scale_d_model (d_k^-exponent = 1/sqrt(n_head d_k)), scale_inverted (temperature
 * 1/d_k, where that is in range), and that a causal mask was seen.
 * Everything else, scale_ok too, leaves p alone. Writes to `words` what was taken,
 * "scale off, mask causal", or "". */
void av_params_adopt(struct av_params *p, const struct av_diagnosis *d, const struct av_source_layer *l,
                     struct av_adoption allowed, char words[AV_ADOPTED_MAX]);

#endif
