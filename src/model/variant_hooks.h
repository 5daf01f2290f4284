/* variant_hooks.h - what a row of the table of variants does.
 *
 * A hook that a row leaves NULL or 0 does nothing; most rows leave all but one
 * or two so. Hooks know the parameters and one row of weights; what runs them
 * knows queries, keys and memory. */
#ifndef ATTNVIZ_VARIANT_HOOKS_H
#define ATTNVIZ_VARIANT_HOOKS_H

#include "attnviz/bend.h"
#include "attnviz/variant.h"
#include "normalise.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a multiplier may depend on. */
struct av_scale_at {
    size_t d, n_k;    /* sizes of the head */
    size_t keys;      /* that the row sees */
    int64_t position; /* of its query */
};
typedef double av_multiplier(const struct av_params *p, const struct av_scale_at *at);

/* A row of weights, for what depends on places. */
struct av_pattern_row {
    size_t query;
    int64_t position;        /* of the query; that of key j is j */
    const uint16_t *buckets; /* [rounds, n_k], of lsh */
    size_t n_k;
};

/* add [len]: what is added to each logit before temperature; -infinity: not
 * seen, and it stays so. */
typedef void av_pattern(double *add, size_t len, const struct av_params *p, const struct av_pattern_row *row);

/* Which scores a score is normalised with. */
enum av_score_norm { AV_SCORES_RAW, AV_SCORES_BY_ROW, AV_SCORES_BY_HEAD };

struct av_variant_hooks {
    /* Takes the place of d_k^-exponent, that of the earliest group before all
     * others; with AV_VARIANT_MULTIPLIES, is multiplied by what stands there. */
    av_multiplier *multiplier;

    /* normalise */
    const struct av_normaliser *entries; /* of each query and key */
    enum av_score_norm scores;
    double (*eps)(const struct av_params *p);

    /* bend */
    av_bend *bend;
    void (*bend_params)(struct av_bend_params *out, const struct av_params *p, size_t keys);
    double (*subtracted)(const struct av_params *p); /* share of the weights that the second halves of q and k make */

    /* pattern */
    av_pattern *pattern;
    bool hides;                                    /* it may leave keys unseen */
    size_t (*averages)(const struct av_params *p); /* of neighbouring keys, which take the place of the keys */
    size_t (*buckets)(const struct av_params *p);  /* for unit queries, which take the place of the keys */
};

/* Of that row of a value; of none: hooks that do nothing. */
const struct av_variant_hooks *av_variant_hooks_of(av_variant_value value, enum av_variant_group group);

/* The hooks themselves: variant_scale.c, variant_normalise.c, variant_bend.c
 * and variant_pattern.c. */
av_multiplier av_scale_none, av_scale_sqrt, av_scale_mup, av_scale_fixed, av_scale_inverse_layer, av_scale_learned,
    av_scale_mixed, av_scale_logn, av_scale_ssmax, av_scale_yarn, av_scale_llama4, av_scale_qk_l2, av_scale_cosine,
    av_scale_swin2, av_scale_halves;

double av_eps_rms(const struct av_params *p);
double av_eps_layernorm(const struct av_params *p);
double av_eps_scores_by_row(const struct av_params *p);
double av_eps_scores_by_head(const struct av_params *p);

void av_bend_params_softcap(struct av_bend_params *out, const struct av_params *p, size_t keys);
void av_bend_params_softmax1(struct av_bend_params *out, const struct av_params *p, size_t keys);
void av_bend_params_sink(struct av_bend_params *out, const struct av_params *p, size_t keys);
void av_bend_params_sigmoid(struct av_bend_params *out, const struct av_params *p, size_t keys);
void av_bend_params_clipped(struct av_bend_params *out, const struct av_params *p, size_t keys);
void av_bend_params_softpick(struct av_bend_params *out, const struct av_params *p, size_t keys);
double av_subtracted_differential(const struct av_params *p);

av_pattern av_pattern_alibi, av_pattern_window, av_pattern_lsh;
size_t av_averages_linformer(const struct av_params *p);
size_t av_buckets_lsh(const struct av_params *p);

#endif
