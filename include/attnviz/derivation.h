/* derivation.h - the chain from the entries of Q and K to the gradient, line by
 * line: what the textbook says, what is true for these parameters, what is
 * measured.
 *
 *   E q = E k = 0, Var q = Var k = 1, independent      (assumed)
 *   E s = d_k E q E k = 0
 *   Var s = d_k Var q Var k = d_k                      (needs zero means too)
 *   excess kurtosis of s = 6 / d_k                     (needs normal entries)
 *   Var alpha s = 1 for alpha = 1 / sqrt(d_k)
 *   Var_j z_ij = (alpha / T)^2 d_k = 1 within a row    (what a softmax sees)
 *   std z < sqrt(2 ln n)                               (no few keys take all)
 *   p = softmax z spreads over many keys
 *   J = diag(p) - p p^T passes a gradient on
 *   dL/ds = (alpha / T) J dL/dp
 *
 * A line is broken when its textbook value is not the true one for these
 * parameters: that is computed, not measured, and never wrong. Apart from
 * that the measurement is held against the true value (expected.h,
 * score_theory.h): it agrees when it lies within AV_CHAIN_LIMIT standard
 * errors, and is not judged where these exceed a fifth of a variance, for then
 * the tails are too long. A normal variable leaves the limit once in 150,000;
 * of 400,000 judgements (the 24 settings of test_derivation.c, 2000 seeds each)
 * 5 did. Lines about saturation and gradient have the limits of snapshot.h
 * instead.
 *
 * With files the truth is not known: then the measurement is held against the
 * textbook, with the standard error that independent normal entries would
 * have, and a line that it does not agree with is broken. */
#ifndef ATTNVIZ_DERIVATION_H
#define ATTNVIZ_DERIVATION_H

#include "attnviz/origin.h"
#include "attnviz/snapshot.h"

#define AV_CHAIN_LIMIT 4.5

enum av_chain_state {
    AV_CHAIN_HOLDS,
    AV_CHAIN_BROKEN,
    AV_CHAIN_UNKNOWN /* nothing to hold it against */
};

enum av_chain_measured { AV_CHAIN_UNJUDGED, AV_CHAIN_AGREES, AV_CHAIN_OFF };

enum av_chain_group { AV_CHAIN_ENTRIES, AV_CHAIN_SCORES, AV_CHAIN_SCALE, AV_CHAIN_SOFTMAX };

enum { AV_CHAIN_TEXT = 112, AV_CHAIN_DETAILS = 3, AV_CHAIN_STEPS = 15 };

/* One line. Numbers are NaN where there are none, texts empty. */
struct av_chain_step {
    enum av_chain_group group;
    enum av_chain_state state;
    enum av_chain_measured measured_agrees;
    char relation; /* of a measured value to the textbook's: '=', '<' or '>' */
    double textbook, corrected, measured;
    double error;                                 /* one standard error of measured */
    char formula[AV_CHAIN_TEXT];                  /* "E[s] = d_k E[q]E[k]" */
    char values[AV_CHAIN_TEXT];                   /* to go on with while it holds: " = 64×0×0" */
    char instead[AV_CHAIN_TEXT];                  /* when it is broken, in place of the values: "64×0.5×0.5" */
    char detail[AV_CHAIN_DETAILS][AV_CHAIN_TEXT]; /* when it is broken, the rest of the corrected formula */
    const char *needs;                            /* what the textbook's value assumes */
};

struct av_chain {
    size_t count, broken;
    struct av_chain_step steps[AV_CHAIN_STEPS];
};

/* The chain of a snapshot with AV_NEED_OTHER and AV_NEED_THEORY; with logits
 * given by hand, of its last lines alone. entries: of sampled queries
 * and keys, NULL while they have not been measured; those of files are measured
 * here, over 65,536 entries of each at most. Pure; its time is theirs, and in
 * proportion to n_q + n_k. */
void av_chain_make(struct av_chain *out, const struct av_snapshot *s, const struct av_entry_moments *entries);

#endif
