/* divergence.h - how far two distributions are from each other. */
#ifndef ATTNVIZ_DIVERGENCE_H
#define ATTNVIZ_DIVERGENCE_H

#include <stddef.h>

/* The Jensen-Shannon divergence of p and q [n], each >= 0 with sum 1, in nats
 * (Lin 1991): the entropy of their mean less the mean of their entropies. 0 for
 * equal ones, ln 2, the upper bound, for those that share no key, symmetric to
 * the last bit. Key by key, with m = (p + q) / 2 and x = (p - q) / (p + q),
 *
 *   JSD = sum m/2 g(x),   g(x) = (1 + x) ln(1 + x) + (1 - x) ln(1 - x)
 *                              = sum_{k >= 1} x^2k / (k (2k - 1))
 *
 * every term of which is positive: no difference of entropies is taken, and
 * nearly equal distributions have a divergence of full relative precision. NaN
 * when a number is. */
double av_js_divergence(const double *p, const double *q, size_t n);

#endif
