/* origin.h - where the variance of the scores comes from: the result of the
 * study `origin`.
 *
 * Two questions in one. First, what the entries of Q and K at hand are like:
 * their moments, over the entries that the pipeline draws. Second, what the
 * entries would be like if they came from a layer: T tokens x [T, d_model] with
 * independent entries N(input_mean, input_std^2), with or without LayerNorm
 * (eps 1e-5, no gain, no bias), learned matrices w [d_model, d_k] drawn by each
 * of the four kinds of init, q = x w_q, k = x w_k, s = q k^T.
 *
 * Over random x and w, with v = Var w (their mean is 0) and m = E[x^2]:
 *
 *   E q = 0, Var q = Var k = d_model v m
 *   E s = 0, Var s = d_k Var q Var k              for i != j
 *   within a row of s: d_k Var q (d_model v Var' x)
 *   with q and k brought to |q|^2 = |k|^2 = d_k:  Var s = d_k
 *
 * exactly: w_q and w_k are independent of each other and of x, and the entries
 * of w of each other, so all mixed terms have mean 0. Var' x is the variance of
 * an entry from token to token, input_std^2: a mean that all tokens share
 * shifts a whole row of scores. LayerNorm makes sum x^2 = d_model V/(V + eps),
 * V the variance of a token's own entries, input_std^2 chi^2 / d_model with
 * d_model - 1 degrees of freedom, so m = Var' x = E[V/(V + eps)].
 *
 * Measured are means over pairs of one drawing of x and w, and their means
 * over drawings: what shares x and w is not independent, drawings are, so a
 * standard error is that over drawings. */
#ifndef ATTNVIZ_ORIGIN_H
#define ATTNVIZ_ORIGIN_H

#include "attnviz/estimate.h"
#include "attnviz/params.h"
#include "attnviz/stats.h"

#include <stdbool.h>

/* Tokens of one drawing. */
enum { AV_ORIGIN_TOKENS = 16 };

/* The entries of Q and K that the pipeline has for these parameters. */
struct av_entry_moments {
    struct av_moments q, k;
    /* Over the entries of pairs i = j: (q - q_mean) (k - k_mean) / (q_std k_std),
     * whose mean is corr; empty when a std is 0. */
    struct av_moments product;
    bool whole; /* all entries have been seen */
};

enum av_origin_quantity {
    AV_ORIGIN_W,      /* mean square of the entries of w_q and w_k */
    AV_ORIGIN_X,      /* of x, after LayerNorm where it is on */
    AV_ORIGIN_Q,      /* of q */
    AV_ORIGIN_K,      /* of k */
    AV_ORIGIN_S,      /* of s, i != j */
    AV_ORIGIN_ROW,    /* variance of s within a row, j != i: all that a softmax sees */
    AV_ORIGIN_NORMED, /* of s after QK-norm: q and k divided by their root mean square */
    AV_ORIGIN_QUANTITIES
};

struct av_origin {
    struct av_entry_moments entries;
    int drawings, planned; /* drawing r has the seed of the parameters + r */
    double limit;          /* measured agrees within so many standard errors, see av_origin_limit */
    /* [init][layer_norm]: means over drawings, with errors from the second one on;
     * the inputs of a drawing are the same for all. */
    struct av_estimate at[AV_INIT_COUNT][2][AV_ORIGIN_QUANTITIES];
};

/* Variance of the entries of w [d_model, d_k]: 1/(3 d_model), 1/d_model,
 * 2/(d_model + d_k), 2/d_model for pytorch, unit, xavier, kaiming. */
double av_origin_weight_var(enum av_init init, const struct av_params *p);

/* The predictions above into at[][].theory. */
void av_origin_predict(struct av_origin *o, const struct av_params *p);

/* How many drawings the study makes: 64 while that means few entries of w,
 * fewer for large d_model d_k, never below 6. */
int av_origin_drawings(const struct av_params *p);

/* How many standard errors a mean of n drawings may lie off: what a Student t
 * with n - 1 degrees of freedom exceeds as rarely as a normal variable 4.5,
 * once in 150,000 (Wallace 1959). NaN for n < 2. Of 20,000 judgements by
 * av_estimate_judge at d_model and d_k of 64 and more none was wrong; at d_model
 * 1 and 2, where the tails are longest, 9 of 6,000. */
double av_origin_limit(int n);

/* ---- What keeps the variance of the logits at 1 -------------------------- */

/* A remedy, where it acts, what it controls, and the variance of the logits
 * when it alone is missing from LayerNorm, init unit and scale 1/sqrt(d_k);
 * then the same with QK-norm added. */
struct av_remedy {
    const char *name, *acts, *controls;
    struct av_estimate missing, with_qk_norm;
};

enum { AV_REMEDIES = 5 };

/* The row of nothing missing, those of scale, LayerNorm and init (missing: w of
 * variance 1), and that of the parameters as they are. From the result of the
 * study; the variances of w and s are scaled, which is exact. */
void av_origin_remedies(struct av_remedy out[AV_REMEDIES], const struct av_origin *o, const struct av_params *p);

#endif
