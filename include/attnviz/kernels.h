/* kernels.h - the loops that decide the speed: sampling, scores, softmax, bends, dq, dot, training.
 *
 * Every kernel_*.c is compiled once per instruction set; a struct av_kernels
 * is one such set. All sets give the same bits for the same arguments, but for
 * 8-byte entries in `scores` and `dq`, whose products are not exact, and for
 * `product` and what uses it: sets with fused multiply-add (avx2, avx512) agree
 * with each other there, `base` differs in the last digits. */
#ifndef ATTNVIZ_KERNELS_H
#define ATTNVIZ_KERNELS_H

#include "attnviz/attention.h"
#include "attnviz/rowstats.h"

#include <stddef.h>
#include <stdint.h>

/* Distributions of the entries, each with mean 0 and variance 1. */
enum av_dist { AV_DIST_NORMAL, AV_DIST_UNIFORM, AV_DIST_RADEMACHER, AV_DIST_LAPLACE, AV_DIST_COUNT };

/* A matrix of rows of entries, row-major, `pitch` entries from row to row.
 * Exactly one of f32 and f64 is set. Does not own its memory. */
struct av_entries {
    const float *f32;
    const double *f64;
    size_t pitch;
};

/* Which part of a matrix of scores: queries [i0, i1), keys [j0, j1), summed
 * over columns [c0, c1). */
struct av_block {
    size_t i0, i1, j0, j1, c0, c1;
};

/* Which stream of random numbers: entries of the same (seed, tensor, row,
 * column) are the same number for ever. */
struct av_stream {
    uint64_t seed;
    uint32_t tensor;
    uint32_t row;
};

enum { AV_SCORES_SCRATCH = 3 << 20 }; /* bytes, at most, that `scores` wants */

/* A row of n weights whose largest is p[m]; keys of weight 0 may hold anything.
 * dq becomes sqrt(sum_j p_j^2 |k_j - kbar|^2), kbar = sum_j p_j k_j: |J K|_F,
 * the RMS size of the query's gradient per unit of white noise on the weights,
 * before alpha / T. */
struct av_dq_row {
    const double *p;
    size_t n, m;
    double dq;
};

enum { AV_DQ_ROWS = 64, AV_DQ_COLUMNS = 16 }; /* rows, and columns of keys, at a time */

#define AV_DQ_SCRATCH(n) ((AV_DQ_COLUMNS + 2 * AV_DQ_ROWS) * (n))

/* One step of Adam (Kingma and Ba 2015) after t steps: rate = lr / (1 - beta1^t),
 * root_factor = 1 / sqrt(1 - beta2^t); gradients are multiplied by
 * gradient_factor first (clipping; 1: as they are). */
struct av_adam_step {
    float rate, root_factor, beta1, beta2, eps, gradient_factor;
};

struct av_form; /* bend.h */
struct av_bend_row;
struct av_form_squares;

struct av_kernels {
    const char *name; /* "base", "avx2", "avx512" */

    /* x[0 .. count) = entries of columns [first, first + count) of one row:
     * mean 0, variance 1, distribution dist. */
    void (*draw)(float *x, size_t first, size_t count, enum av_dist dist, struct av_stream stream);

    /* For every query i and key j of the block: s[i * pitch + j] becomes the
     * sum over columns [c0, c1), ascending, of q_ic k_jc, continued from the
     * sum that stands there when c0 > 0 and from 0 when c0 == 0. scratch:
     * AV_SCORES_SCRATCH bytes, aligned to AV_ALIGN. */
    void (*scores)(double *s, size_t pitch, const struct av_entries *q, const struct av_entries *k,
                   const struct av_block *block, void *scratch);

    /* Softmax of one row of n >= 1 logits multiplier * s[j] and all its
     * statistics; multiplier > 0. A score of -infinity is a masked entry and
     * gets weight 0 (in the sums it does not exist); all others are finite,
     * and the differences to the largest are taken before they are multiplied,
     * so the logits themselves may be beyond the largest double (max_logit
     * then is infinite). p (n weights) may be NULL when only the statistics
     * are wanted. See rowstats.h. */
    void (*softmax)(double *p, const double *s, double multiplier, size_t n, struct av_rowstats *out);

    /* The same statistics of a row whose keys come part by part: running_add
     * takes the next n >= 1 scores, all finite, after row->keys others. Bits
     * depend on where the row was cut, by rounding alone. row_sum becomes max
     * + one_minus_max, for no weight is stored. Rows without keys allowed. */
    void (*running_add)(struct av_running_row *row, const double *s, double multiplier, size_t n);
    void (*running_stats)(struct av_rowstats *out, const struct av_running_row *row, double multiplier);

    /* dq of up to AV_DQ_ROWS rows, over columns [0, d): see av_dq_row. From
     * differences to k_m, so that it keeps its relative precision in
     * saturation; 0 with one key. scratch: AV_DQ_SCRATCH(largest n) doubles,
     * aligned to AV_ALIGN. */
    void (*dq)(struct av_dq_row *rows, size_t count, const struct av_entries *k, size_t d, void *scratch);

    /* e_j = exp(-|x_j|) and less_j = 1 - e_j, both to about a unit in the last
     * place; infinities allowed. less may be NULL; x may be one of the two. */
    void (*exp)(double *e, double *less, const double *x, size_t n);

    /* |J|_F by its form, and the statistics of a row's weights: bend.h. */
    double (*form_fro)(const struct av_form *f, size_t n);
    void (*form_stats)(struct av_rowstats *out, const struct av_bend_row *row);

    /* Adds to sum the squares of J x, x [n, 16] row-major: 16 columns of keys, J
     * by its form. From differences to the key of the largest |v|, so that
     * saturation costs no digits; keys whose form is 0 may hold anything. */
    void (*form_columns)(struct av_form_squares *sum, const struct av_form *f, const double *x, size_t n);

    /* One query and one key, of at least ends[count - 1] entries: s[e] becomes
     * the sum over columns [0, ends[e]) of q_c k_c. ends: ascending, equal ones
     * allowed. Eight partial sums over ascending columns, column c in number
     * c mod 8, are added up at each end, the upper half to the lower half until
     * one is left: other ends do not change what stands at one. */
    void (*dot)(double *s, const float *q, const float *k, const size_t *ends, size_t count);

    /* c = a b: each c_ij is one sum over ascending terms, with fused
     * multiply-add where the set has it. c overlaps neither a nor b. */
    void (*product)(const struct av_product *product);

    /* out [columns, rows] = in [rows, columns] transposed. */
    void (*transpose)(float *out, size_t out_pitch, const float *in, size_t in_pitch, size_t rows, size_t columns);

    /* attention.h: x, x_t, target, w and alpha to weights and loss (y becomes
     * d_y); after that the gradients d_w and d_alpha; after both what is
     * measured. Weights below e^-60 of the largest become 0. Numbers too large
     * for a float end as infinite or NaN loss or gradients. */
    void (*forward)(struct av_attention *a);
    void (*backward)(struct av_attention *a);
    void (*observe)(const struct av_attention *a, struct av_attention_observed *o);

    /* Sum of the squares of n numbers, n a multiple of 16. */
    double (*sum_squares)(const float *x, size_t n);

    /* One step over n parameters w, a multiple of 16, with gradients d_w, the
     * running means of
     * the gradients and of their squares. */
    void (*adam)(float *w, const float *d_w, float *mean, float *square, size_t n, const struct av_adam_step *step);

    /* To measure a core's limit: x = sum[0] x + sum[1] on a few vectors x in
     * registers, `rounds` times. Leaves a result in sum[0], so that no compiler
     * leaves the work out, and returns how many operations there were, a
     * multiplication and an addition being two. */
    size_t (*multiply_add)(size_t rounds, float *sum);
};

/* The fastest set this processor can run. */
const struct av_kernels *av_kernels_best(void);

/* The set of that name, or NULL when it is not built in or this processor
 * cannot run it. */
const struct av_kernels *av_kernels_named(const char *name);

/* Names of all sets built in, NULL-terminated, slowest first. */
const char *const *av_kernels_names(void);

#endif
