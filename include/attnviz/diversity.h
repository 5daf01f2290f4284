/* diversity.h - what the study `diversity` finds: how far heads are from each other.
 *
 * Every head has queries and keys of its own, sampled or a file's, and turns
 * them into weights by the parameters' variant and dtype. What two heads differ
 * in is the Jensen-Shannon divergence (divergence.h) of their weights, row by
 * row, in nats: 0 where both give every key the same weight, ln 2 where they
 * share no key. A row counts for two heads if both give it weights and see two
 * keys in it or more; means are over these rows, then over pairs of heads. Of
 * weights that are no distribution |w| / sum |w| is taken.
 *
 * Heads become alike in two ways, and a curve goes each of them: flat logits
 * make all weights 1/n (the logits times less and less), and a key that wins
 * every row takes all (its logit raised more and more). Independent heads with
 * large logits do not: each row has its own winner in each head, and only where
 * two of them agree, 1 in n, is there no divergence, so that it nears
 * ln 2 (1 - 1/n). */
#ifndef ATTNVIZ_DIVERSITY_H
#define ATTNVIZ_DIVERSITY_H

#include "attnviz/params.h"

#include <stdbool.h>
#include <stddef.h>

#define AV_DIVERSITY_MOST 0.69314718055994530942 /* ln 2: no divergence is larger */

enum {
    AV_DIVERSITY_HEADS = 64, /* that are compared, at most: the first ones */
    AV_DIVERSITY_POINTS = 33 /* of a curve */
};

/* What the curves run over: a factor of all logits (as 1 / temperature is),
 * 0.01 .. 100; and what is added to the logit of the probed key, 0 .. 30, in
 * the place of the parameters' key_offset / temperature. */
enum av_diversity_over { AV_DIVERSITY_FACTOR, AV_DIVERSITY_RAISED, AV_DIVERSITY_OVERS };

/* Means over pairs, and over heads; NaN where no row counts. */
struct av_diversity_point {
    bool known; /* false: not measured yet, the rest but x is unset */
    double x;
    double divergence;
    double entropy_norm; /* entropy / ln(keys seen): 1 flat, 0 on one key */
};

struct av_diversity_head {
    size_t rows;    /* that count; 0: the means are NaN */
    double entropy; /* mean, nats */
    double entropy_norm;
    double max;        /* mean of the largest weight */
    double divergence; /* mean over the pairs that it is in */
};

struct av_diversity {
    struct av_params params; /* that it is of, sizes as they are */
    bool simplex;            /* weights are distributions as they are */
    size_t heads;            /* compared; 1: nothing is, and all below is unset */
    size_t rows, curve_rows; /* queries that are measured, for the present state and for a point of
                                the curves: all n_q, or evenly spaced ones */

    bool known;          /* the present state is measured; false: all down to the curves is unset */
    double divergence;   /* mean over the pairs */
    double entropy_norm; /* mean over the heads */
    double shared;       /* mean share of rows in which two heads give the largest weight to the same key */
    double chance;       /* what that would be if each gave it to any key that it sees: mean of 1/keys;
                          NaN for lsh, where heads see different keys */
    struct av_diversity_head of[AV_DIVERSITY_HEADS];
    double pair[AV_DIVERSITY_HEADS]
               [AV_DIVERSITY_HEADS]; /* [heads, heads], symmetric, 0 on the diagonal; NaN: no row counts */
    double pair_shared[AV_DIVERSITY_HEADS][AV_DIVERSITY_HEADS]; /* likewise, 1 on the diagonal */

    double at[AV_DIVERSITY_OVERS]; /* where the present state lies on the curves */
    struct av_diversity_point curves[AV_DIVERSITY_OVERS][AV_DIVERSITY_POINTS]; /* x ascending */
};

/* x of a curve's point, evenly spaced: logarithmically for the factor. */
double av_diversity_x(enum av_diversity_over over, size_t point);

/* What can be said of the present state, which is known, in a sentence. */
const char *av_diversity_words(const struct av_diversity *r);

#endif
