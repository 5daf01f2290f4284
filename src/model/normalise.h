/* normalise.h - a row of numbers normalised, and the way back.
 *
 *   l2         y = x / max(|x|, 1e-12)
 *   rms        y = x / sqrt(mean x^2 + eps)
 *   layernorm  y = (x - mean x) / sqrt(var x + eps), var over n; no gain or bias
 *
 * With c what is divided (x, or x - mean x), r what it is divided by, u = c/|c|:
 * dy/dx = (P + f u u^T) / r, where P projects off u (off a common shift too in
 * layernorm) and f is 0 in l2, eps / r^2 in the others. Taken apart like this
 * nothing is lost where f is tiny and d_y nearly along u; with n = 1, P is 0
 * exactly.
 *
 * y may be x. All keep their precision for any finite x; where r is 0 (eps 0,
 * and nothing to divide) y and d_x are NaN. */
#ifndef ATTNVIZ_NORMALISE_H
#define ATTNVIZ_NORMALISE_H

#include <stdbool.h>
#include <stddef.h>

/* What a row's derivative is made of: one row x serves many d_y. */
struct av_tangent {
    double across, along; /* 1 / r, f / r */
    bool centred;         /* common shifts are projected off too */
};

struct av_normaliser {
    void (*forward)(double *y, const double *x, size_t n, double eps);

    /* The tangent at x, and u [n], which may be x; u is 0 where c is. */
    struct av_tangent (*tangent)(double *u, const double *x, size_t n, double eps);
};

extern const struct av_normaliser av_normalise_l2, av_normalise_rms, av_normalise_layernorm; /* l2 takes no eps */

/* d_x [n] from d_y [n], which may be d_x. */
void av_normalise_backward(double *d_x, const double *d_y, const struct av_tangent *t, const double *u, size_t n);

/* The same in place, of AV_NORMALISE_COLUMNS columns side by side: d [n,
 * AV_NORMALISE_COLUMNS], row-major. */
enum { AV_NORMALISE_COLUMNS = 16 };
void av_normalise_backward_columns(double *d, const struct av_tangent *t, const double *u, size_t n);

#endif
