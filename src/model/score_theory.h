/* score_theory.h - what the parameters say of the moments of a matrix of scores,
 * and how far a measurement may stray from it.
 *
 * Scores that share a query or a key are not independent, so a mean over N
 * pairs is not sqrt(N) times as sharp as one pair. With x, y the entries at
 * mean 0 and variance 1, X_i and Y_j their sums over d_k columns, and
 *
 *   a = q_std k_mean   b = k_std q_mean   g = q_std k_std,
 *
 * a score is d_k q_mean k_mean + a X_i + b Y_j + g x_i.y_j. Let r_i, c_j be the
 * numbers of unmasked pairs in row i and column j, P that of all, kappa the
 * excess kurtosis of x, kappa_k = kappa (c^4 + (1 - c^2)^2) that of y.
 *
 * Their sum has, exactly, the variance
 *   d_k [ a^2 sum r_i^2 + b^2 sum c_j^2 + 2 c a b sum r_i c_i
 *         + g^2 (P + c^2 (1 + kappa) D + c^2 R) ],
 * D pairs having i = j, and R having their mirror image (j, i) among the
 * unmasked ones too.
 *
 * The squares about the mean, u = (s - mean)^2, have (Hoeffding 1948) a part
 * that the query alone decides, one of the key alone, and a rest:
 *   A = 2 b g X + g^2 |x|^2 + a^2 X^2     B = 2 a g Y + g^2 |y|^2 + b^2 Y^2
 *   Var A = d_k [ 4 b^2 g^2 + (2 + kappa) g^4 + a^4 (2 d_k + kappa) + 2 (2 + kappa) a^2 g^2 ]
 * and likewise B; for c = 0 the sum of all u then has, exactly, the variance
 *   sum r_i^2 Var A + sum c_j^2 Var B + P (Var u - Var A - Var B),
 *   Var u = 2 V^2 + d_k K4,   V = d_k (a^2 + b^2 + g^2),
 * K4 the fourth cumulant of one column's product. What correlation adds is
 * bounded from above. Within rows k_mean shifts all scores together, so there
 * the same holds with a = 0, and the spread of the means of the rows adds to it. */
#ifndef ATTNVIZ_SCORE_THEORY_H
#define ATTNVIZ_SCORE_THEORY_H

#include "expected.h"

/* A quantity as the parameters have it, and one standard error of its
 * measurement over the unmasked pairs; NaN where not known. */
struct av_score_value {
    double value, error;
};

struct av_score_theory {
    struct av_expected expected;
    struct av_score_value mean;     /* of all scores */
    struct av_score_value var;      /* of all scores */
    struct av_score_value row_var;  /* within rows, pooled by their degrees of freedom */
    struct av_score_value kurtosis; /* excess; NaN with correlation, where it is a mixture's */
};

/* For parameters of sampled queries and keys; key_offset plays no part. Takes
 * time in proportion to n_q + n_k. */
struct av_score_theory av_score_theory(const struct av_params *p);

#endif
