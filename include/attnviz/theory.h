/* theory.h - exact means for rows of independent Gaussian logits.
 *
 * For n logits sigma x_j, x_j ~ N(0, 1), and L(sigma) = E ln sum_j exp(sigma x_j),
 * Stein's identity (E x f(x) = E f'(x)) gives
 *
 *   E sum p^2 = 1 - L'(sigma) / sigma     E trace = L'(sigma) / sigma
 *   E entropy = L - sigma L'(sigma)
 *
 * and L is one integral over u (from ln a = integral of (exp(-t) - exp(-a t)) / t dt, t = e^u):
 *
 *   L = integral of exp(-e^u) - phi(e^u)^n du,   phi(t) = E exp(-t exp(sigma x)).
 *
 * phi does not depend on n: a table of ln phi and its sigma derivative over
 * (sigma, u) is made once, after which a new n costs one pass over it. */
#ifndef ATTNVIZ_THEORY_H
#define ATTNVIZ_THEORY_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

struct av_theory; /* the tables */

struct av_theory_means {
    double entropy; /* nats */
    double sum_p2;
    double trace;
    double entropy_norm; /* entropy / ln n, averaged over row lengths */
};

/* Which rows: n_q queries against n_k keys, all unmasked or causal (key
 * j > i + n_k - n_q masked; rows with fewer than two keys left out). Logits
 * of row i are Gaussian with standard deviation sigma |x| / sqrt(d),
 * x ~ N(0, I_d): sigma is the standard deviation of the logits of all rows,
 * alpha sqrt(d_k) q_std k_std / temperature. d = 0: exactly sigma in every row. */
struct av_theory_rows {
    size_t n_q, n_k, d;
    bool causal;
};

enum av_status av_theory_new(struct av_theory **t, struct av_error *e);
void av_theory_free(struct av_theory *t);

/* The means for those rows at sigma >= 0, to 1e-5 absolutely and 1e-4
 * relatively. Caches per rows: a changed sigma alone costs microseconds.
 * False when no row has two keys. */
bool av_theory_means(struct av_theory *t, const struct av_theory_rows *rows, double sigma, struct av_theory_means *out);

/* The standard deviation beyond which one key takes all: sqrt(2 ln n). */
double av_theory_freezing(double n);

#endif
