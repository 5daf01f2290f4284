/* jacobian.h - the Jacobian of the softmax of one row: J = diag(p) - p p^T.
 *
 * From p_i = exp(z_i) / sum_j exp(z_j) follows
 *
 *   J_ij = dp_i / dz_j = p_i ([i = j] - p_j)
 *
 * symmetric, positive on the diagonal, negative elsewhere, each row summing to
 * 0, no entry beyond 1/4 in size. All functions keep full relative precision
 * in saturation too: 1 - p is never a difference from a p above 1/2, and
 * logarithms hold where the values underflow.
 *
 * With fewer than two unmasked keys, and at masked keys, J is exactly 0 and
 * its logarithm -infinity.
 *
 * A relative of the softmax (bend.h) has a form instead: then entries are what
 * it says, need not be symmetric, and logarithms are those of doubles. */
#ifndef ATTNVIZ_JACOBIAN_H
#define ATTNVIZ_JACOBIAN_H

#include "attnviz/bend.h"
#include "attnviz/rowstats.h"

#include <stdbool.h>

#define AV_JACOBIAN_LARGEST 0.25 /* p (1 - p) at p = 1/2 */

/* A row of n keys and what the softmax made of it; nothing is owned. */
struct av_softmax_row {
    const double *z; /* [n] logits, -infinity where masked */
    const double *p; /* [n] weights */
    size_t n;
    const struct av_rowstats *stats;
    const struct av_form *form; /* NULL: the softmax */
};

/* log10 p_i, with a form of the size of p_i: of the weight itself while it is an ordinary double, else
 * (z_i - max z) / ln 10 + log10 max p. */
double av_softmax_log10_weight(const struct av_softmax_row *row, size_t i);

/* J_ij, and log10 |J_ij|; 0 <= i, j < n. */
double av_jacobian_entry(const struct av_softmax_row *row, size_t i, size_t j);
double av_jacobian_log10_entry(const struct av_softmax_row *row, size_t i, size_t j);

/* The entry of greatest size in rows [row, row + rows), columns [col, col +
 * cols) of J; rows, cols >= 1. Takes time in rows + cols, not in their
 * product: sizes of entries off the diagonal grow with both weights, and those
 * on it, p (1 - p), have the order of the weights: all but the largest lie
 * below 1/2, and the largest, with 1 - p the sum of the others, beats them. */
struct av_jacobian_block {
    size_t row, rows, col, cols;
};
struct av_jacobian_place {
    size_t row, col;
};
struct av_jacobian_place av_jacobian_largest(const struct av_softmax_row *row, struct av_jacobian_block block);

/* A norm and its log10. */
struct av_jacobian_norm {
    double value, log10;
};

/* |J|_1 = |J|_inf, the largest sum of sizes in a column. That of column j is
 * p_j (1 - p_j) + sum_{i != j} p_i p_j = 2 p_j (1 - p_j), largest where p is. */
struct av_jacobian_norm av_jacobian_norm_1(const struct av_rowstats *stats);

/* |J|_inf, the largest sum of sizes in a row, which is norm_1 of the softmax. */
struct av_jacobian_norm av_jacobian_norm_inf(const struct av_softmax_row *row);

/* |J|_2, the largest eigenvalue. An eigenvalue that is no weight satisfies
 * sum_j p_j^2 / (p_j - x) = 1, which with sum p = 1 is
 *
 *   x sum_j p_j / (p_j - x) = 0
 *
 * The largest lies between the two largest weights p_a >= p_b. In units of
 * p_b, with w_j = p_j / p_b, W = sum_{j != a} w_j and g = p_b / p_a:
 *
 *   (1 - g y) sum_{j != a} w_j / (y - w_j) = 1,   1 < y < min(1 / g, 2 p_a W)
 *
 * whose left side falls, so that bisection finds y; then |J|_2 = p_b y, and
 * p_b = (1 - p_a) / W without any cancellation. When p_a = p_b it is p_a. */
struct av_jacobian_norm av_jacobian_norm_2(const struct av_softmax_row *row); /* of the softmax alone */

#endif
