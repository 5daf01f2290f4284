/* expected.h - what the parameters say of the scores before any is computed. */
#ifndef ATTNVIZ_EXPECTED_H
#define ATTNVIZ_EXPECTED_H

#include "attnviz/params.h"

struct av_expected {
    double mean, var;
    double kurtosis; /* excess; NaN unless means and correlation are 0 */

    /* The two kinds of pairs that it mixes: i = j, and all others. */
    double share;           /* of the unmasked pairs that have i = j */
    double shift;           /* how far their mean lies above that of the others */
    double apart, together; /* variance for i != j, for i = j */
};

/* Excess kurtosis of one entry of Q: that of the distribution. */
double av_expected_kappa(enum av_dist dist);

/* That of an entry of K, which mixes one of Q and one of its own: kappa (c^4 +
 * (1 - c^2)^2). */
double av_expected_kappa_key(const struct av_params *p);

/* Moments of the score of one unmasked pair (i, j) picked at random.
 *
 * With q = q_mean + q_std x, k = k_mean + k_std y, corr(x, y) = c for i = j
 * and 0 elsewhere, kappa the excess kurtosis of x, a score is a sum of d
 * independent products, each of
 *   mean  q_mean k_mean + c q_std k_std
 *   var   q_std^2 k_std^2 (1 + c^2 (1 + kappa)) + q_std^2 k_mean^2
 *         + k_std^2 q_mean^2 + 2 c q_std k_std q_mean k_mean,
 * and a random pair is a mixture of both kinds. With zero means and c = 0 the
 * product has the kurtosis (3 + kappa)^2 and the score an excess of
 * ((3 + kappa)^2 - 3) / d. */
struct av_expected av_expected_scores(const struct av_params *p);

#endif
