/* depth_math.h - the operations that a stack of layers is made of, each with its way back.
 *
 * Matrices are of doubles, row-major and dense. Every result is rounded to
 * single precision where the arithmetic is single. */
#ifndef ATTNVIZ_DEPTH_MATH_H
#define ATTNVIZ_DEPTH_MATH_H

#include "attnviz/kernels.h"

#include <stdbool.h>
#include <stddef.h>

struct av_depth_math {
    const struct av_kernels *kernels;
    bool single;
    double *turned[2]; /* scratch: each has room for any matrix */
    void *scratch;     /* AV_SCORES_SCRATCH bytes */
};

/* Rounds n numbers where the arithmetic is single. */
void av_depth_round(const struct av_depth_math *m, double *x, size_t n);

/* out [width, height] = in [height, width] transposed. */
void av_depth_transpose(double *out, const double *in, size_t height, size_t width);

/* c [rows, columns] = a b^T, a b and a^T b: sums over `terms` ascending terms.
 * c overlaps neither a nor b. */
void av_depth_times_turned(const struct av_depth_math *m, double *c, const double *a, const double *b, size_t rows,
                           size_t columns, size_t terms); /* a [rows, terms], b [columns, terms] */
void av_depth_times(const struct av_depth_math *m, double *c, const double *a, const double *b, size_t rows,
                    size_t columns, size_t terms); /* a [rows, terms], b [terms, columns] */
void av_depth_turned_times(const struct av_depth_math *m, double *c, const double *a, const double *b, size_t rows,
                           size_t columns, size_t terms); /* a [terms, rows], b [terms, columns] */

/* x += factor y, n numbers. */
void av_depth_add(const struct av_depth_math *m, double *x, double factor, const double *y, size_t n);

/* LayerNorm of each of n rows of d numbers: y = (x - mean) / s, s = sqrt(var +
 * 1e-5); y may be x. s [n] is kept for the way back,
 * d_x = (d_y - mean(d_y) - y mean(d_y y)) / s; d_x may be d_y. */
void av_depth_norm_forward(const struct av_depth_math *m, double *y, double *s, const double *x, size_t n, size_t d);
void av_depth_norm_backward(const struct av_depth_math *m, double *d_x, const double *d_y, const double *y,
                            const double *s, size_t n, size_t d);

/* gelu(u) = u Phi(u), Phi the normal distribution function, phi its density:
 * d_u = d_g (Phi(u) + u phi(u)); d_u may be d_g. */
void av_depth_gelu_forward(const struct av_depth_math *m, double *g, const double *u, size_t n);
void av_depth_gelu_backward(const struct av_depth_math *m, double *d_u, const double *d_g, const double *u, size_t n);

/* The way back through the softmax of one row of n: d_z_j = p_j (d_p_j - sum_i
 * p_i d_p_i), from differences to the entry of the largest weight, so that it
 * keeps its precision where 1 - p is far below that of a double. */
void av_depth_softmax_backward(double *d_z, const double *d_p, const double *p, size_t n);

/* sqrt(sum x^2) without overflow on the way; NaN or infinite where an entry is. */
double av_depth_norm(const double *x, size_t n);

/* Mean cosine between two different rows of x [n, d]; NaN with one row. Rows of
 * zeros have cosine 0 with all. direction: scratch, d numbers. */
double av_depth_cosine(const double *x, size_t n, size_t d, double *direction);

#endif
