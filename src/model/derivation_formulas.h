/* derivation_formulas.h - the corrected formulas of the scores' moments, as the
 * lines of the chain say them.
 *
 * All are written with what the lines themselves name, and
 *   Cov = corr q_std k_std, the covariance of q_c and k_c where i = j. */
#ifndef ATTNVIZ_DERIVATION_FORMULAS_H
#define ATTNVIZ_DERIVATION_FORMULAS_H

#include "attnviz/derivation.h"
#include "score_theory.h"

/* Writes a text of a line; what exceeds AV_CHAIN_TEXT is cut. */
AV_PRINTF(2, 3) void av_chain_say(char out[AV_CHAIN_TEXT], const char *fmt, ...);

/* Each sets the step's `instead` and details for these parameters. */
void av_chain_explain_mean(struct av_chain_step *step, const struct av_params *p, const struct av_expected *e);
void av_chain_explain_var(struct av_chain_step *step, const struct av_params *p, const struct av_expected *e);

/* One product of a query's and a key's entry, independent, has the variance
 * V + A + B with V = Var[q]Var[k], A = Var[q]E[k]^2, B = Var[k]E[q]^2, and for
 * entries of excess kurtosis kappa the fourth cumulant
 *   ((3 + kappa)^2 - 3) V^2 + 6 (2 + kappa) V (A + B) + kappa (A^2 + B^2).
 * Cumulants of independent summands add: d_k times it, over Var[s]^2. With
 * correlation no formula is given: the scores are a mixture of two kinds. */
void av_chain_explain_kurtosis(struct av_chain_step *step, const struct av_params *p);

/* The variance of scores of variance var times a factor. */
void av_chain_explain_product(struct av_chain_step *step, double factor, double var);

#endif
