/* density.h - the exact density of a score of independent normal entries.
 *
 * s = sum over d columns of q_c k_c, q_c and k_c ~ N(0, 1). Its characteristic
 * function is (1 + t^2)^(-d/2), its density
 *
 *   f(x) = |x|^nu K_nu(|x|) / (sqrt(pi) Gamma(d/2) 2^nu),  nu = (d - 1) / 2,
 *
 * K_nu the modified Bessel function of the second kind. Given q, the score is
 * N(0, |q|^2) and |q| is chi distributed with d degrees of freedom, so f and
 * its distribution function are also the positive integrals
 *
 *   f(x) = E phi(x / |q|) / |q|      P(s > x) = E erfc(x / (|q| sqrt 2)) / 2,
 *
 * phi the density of N(0, 1). These are what is computed. */
#ifndef ATTNVIZ_DENSITY_H
#define ATTNVIZ_DENSITY_H

#include <stddef.h>

/* f(x) for d >= 1 and finite x, to 1e-10 relatively. Infinite at d = 1, x = 0;
 * 0 where f is below the smallest double. */
double av_density_score(size_t d, double x);

/* Mean of f over each of `bins` equal bins of [lo, hi], lo < hi, for scores
 * multiplied by `factor` > 0: what a density-normalised histogram of
 * factor * s would show. out: [bins], each to 1e-9 relatively whatever the
 * width of the bins. Finite everywhere, d = 1 at 0 too. */
void av_density_bins(size_t d, double factor, double lo, double hi, size_t bins, double *out);

/* The same for a normal density of that mean and standard deviation >= 0.
 * std = 0: all mass in the bin that holds the mean, lower edge included (the
 * last bin holds its upper edge too). */
void av_density_normal_bins(double mean, double std, double lo, double hi, size_t bins, double *out);

#endif
