/* theory.h - exact means for rows of independent Gaussian logits.
 *
 * For n logits z_j = sigma x_j, x_j ~ N(0, 1), and u = ln t in
 * 1 / S = integral of exp(-t S) dt, ln S / S = -integral of (ln t + gamma) exp(-t S) dt,
 * S = sum of exp(z_j), the means over all x are single integrals over u:
 *
 *   E trace   = E sum p (1 - p) = n (n - 1) * integral of G^(n-2) B^2 du
 *   E entropy = -E sum p ln p   = n (n - 1) * integral of G^(n-2) B C du
 *
 * with G, B, C the means over x of g, b, c at y = u + sigma x:
 *
 *   g(y) = exp(-e^y)   b(y) = -g'(y) = e^y g(y)   c(y) = (y + gamma) g(y) + E_1(e^y)
 *
 * (c is the bump whose derivative is -(y + gamma) b: the entropy after one
 * partial integration.) Nothing cancels: both keep full relative precision
 * however small they are. G, B and C do not depend on n: they are tabulated
 * once, after which a new n costs one pass over the table.
 *
 * For large sigma, trace -> n (n - 1) / sigma * integral of Phi(-w)^(n-2) phi(w)^2 dw
 * and entropy -> pi^2 / 6 times that. */
#ifndef ATTNVIZ_THEORY_H
#define ATTNVIZ_THEORY_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

struct av_theory; /* the tables, and the curves over sigma of the latest rows */

struct av_theory_means {
    double entropy;      /* nats */
    double sum_p2;       /* E sum p^2 */
    double trace;        /* 1 - sum_p2, with a relative precision of its own */
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

/* Makes the tables (a few milliseconds, 0.15 MiB). *t is the caller's to free;
 * it is untouched when this fails (AV_NOMEM). */
enum av_status av_theory_new(struct av_theory **t, struct av_error *e);
void av_theory_free(struct av_theory *t); /* NULL is fine */

/* The means for those rows at 0 <= sigma < infinity. For n_k up to 131072,
 * entropy and trace err by less than 1e-6 absolutely and 1e-5 relatively;
 * sigma = 0 gives ln n and 1 - 1/n to rounding. Remembers the latest n_q, n_k
 * and causal: a changed sigma or d costs microseconds. False, out untouched,
 * when no row has two keys. */
bool av_theory_means(struct av_theory *t, const struct av_theory_rows *rows, double sigma, struct av_theory_means *out);

/* The standard deviation beyond which the few largest logits keep a finite share
 * of the weight however large n: sqrt(2 ln n), 0 for n <= 1 (the freezing of
 * the random energy model, Derrida 1981). One key takes all only at several
 * times it. */
double av_theory_freezing(double n);

#endif
