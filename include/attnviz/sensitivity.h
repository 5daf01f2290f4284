/* sensitivity.h - one key's weight as its logit moves and the others stay.
 *
 * Against the others the softmax of a row is a logistic curve: with
 * l = ln sum_{j != key} exp(z_j) and t = z - l,
 *
 *   p(z)        = exp(z) / (exp(z) + exp(l)) = 1 / (1 + exp(-t))
 *   1 - p       = 1 / (1 + exp(t))              = d ln p / dz
 *   dp / dz     = p (1 - p) = e / (1 + e)^2,  e = exp(-|t|)
 *
 * so the slope is greatest, exactly 1/4, where the key weighs as much as all
 * the others together: at z = l, which is ln(n - 1) when those are all 0. */
#ifndef ATTNVIZ_SENSITIVITY_H
#define ATTNVIZ_SENSITIVITY_H

#include <stdbool.h>
#include <stddef.h>

/* The others: l = top + log_sum, kept apart, for top may be 1e30. */
struct av_sensitivity {
    size_t others;  /* unmasked; 0: p is 1 at every z, and nothing below holds */
    double top;     /* the largest of their logits */
    double log_sum; /* ln sum exp(z_j - top), 0 .. ln(others) */
    bool equal;     /* all the same */
};

/* Of key `key` in a row of n logits, -infinity where masked, key < n. */
struct av_sensitivity av_sensitivity_make(const double *z, size_t n, size_t key);

/* Where the slope is greatest: l. */
double av_sensitivity_peak(const struct av_sensitivity *s);

/* The curves at z, each with its full relative precision, and log10 where it
 * underflows. z and top finite. */
struct av_sensitivity_point {
    double p, one_minus_p, slope;
    double log10_p, log10_one_minus_p, log10_slope;
};
struct av_sensitivity_point av_sensitivity_at(const struct av_sensitivity *s, double z);

/* The greatest slope for z in [from, to]: a column of a plot may hold the peak
 * between its ends. */
double av_sensitivity_steepest(const struct av_sensitivity *s, double from, double to);

#endif
