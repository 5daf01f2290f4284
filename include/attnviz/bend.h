/* bend.h - from a row of logits to a row of weights, by the softmax and its relatives.
 *
 * Every one of them has a Jacobian J_jl = dw_j / dz_l that is a diagonal
 * matrix plus one of rank one,
 *
 *   J_jl = [j = l] (diag_j + u_j v_l) - u_j v_l
 *
 * so that a struct av_form of a few numbers a key is all of it: diag_j = J_jj
 * itself, J_jl = -u_j v_l off the diagonal, and rest_j = sum_l J_jl, the sum of
 * a row, which is 0 where a common shift of the logits changes no weight. All
 * are computed without differences of nearly equal numbers: in the softmax
 * diag_j = p_j (1 - p_j) with 1 - p_j of the largest the sum of the others. */
#ifndef ATTNVIZ_BEND_H
#define ATTNVIZ_BEND_H

#include "attnviz/kernels.h"
#include "attnviz/rowstats.h"

#include <stdbool.h>
#include <stddef.h>

struct av_form {
    double *diag, *u, *v, *rest; /* [n] each; 0 at masked keys */
};

/* What a bend may be told; each takes what is its own. */
struct av_bend_params {
    double c;          /* softcap, > 0 */
    double logit;      /* of the sink; -infinity: none */
    double b;          /* of sigmoid */
    double eta, gamma; /* of clipped */
    double eps;        /* of softpick */
};

/* A row. The caller owns all memory. */
struct av_bend_row {
    size_t n;            /* keys, >= 1 */
    const double *z;     /* [n] logits, finite, or -infinity: masked */
    double *w;           /* [n] out: weights, 0 where masked */
    struct av_form form; /* out */
    double *scratch;     /* [AV_BEND_SCRATCH(n)] */
};
#define AV_BEND_SCRATCH(n) (4 * ((n) + 8))

/* Weights, the form, and statistics of the row:
 *   keys           unmasked keys
 *   argmax, max    the largest weight (signed), the first of equals
 *   one_minus_max  1 - max, without cancellation where the formula allows it
 *   entropy        of |w| / sum |w|, in nats; 0 where all weights are 0
 *   sum_p2         sum w^2
 *   trace          sum_j J_jj
 *   jacobian_fro   |J|_F
 *   row_sum        sum w
 *   max_logit      the largest logit
 * The logarithms of rowstats.h hold beyond the smallest double where all falls
 * with the gap of a softmax inside: softmax, softcap, sink unless it has nearly
 * all (of the entropy, unless it has 1e300 times what the lesser keys have),
 * clipped with eta = 1. Elsewhere they are those of the values. A row with one
 * unmasked key counts like any other here (softmax: J = 0; sigmoid: not); with
 * none all is 0. */
typedef void av_bend(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                     struct av_rowstats *out);

av_bend av_bend_softmax;   /* e^z / sum e^z */
av_bend av_bend_softcap;   /* softmax(c tanh(z / c)) */
av_bend av_bend_sink;      /* e^z / (e^logit + sum e^z): softmax1 is logit 0 */
av_bend av_bend_sparsemax; /* the projection on the simplex: max(z - tau, 0) */
av_bend av_bend_entmax15;  /* max(z / 2 - tau, 0)^2 */
av_bend av_bend_sigmoid;   /* 1 / (1 + e^-(z + b)) */
av_bend av_bend_clipped;   /* clip((eta - gamma) p + gamma, 0, 1), p the softmax */
/* max(e^z - 1, 0) / (sum |e^z - 1| + eps). At z = 0, where it has two slopes, J
 * is that of z just below. */
av_bend av_bend_softpick;

/* Statistics of weights that come from elsewhere (rounded ones, differences),
 * from w, z and the form as they are. */
void av_form_stats(struct av_rowstats *out, const struct av_bend_row *row);

/* |J|_F, with all its digits down to the smallest double. */
double av_form_fro(const struct av_form *f, size_t n);

/* The form of the softmax at weights p as they stand, rounded or not: diag_j =
 * p_j (1 - p_j), u = v = p, rest_j = p_j (1 - sum p). */
void av_form_of_weights(struct av_form *f, const double *p, size_t n);

/* d_z [n] = J^T d_w: the way back through the bend, over the logits. */
void av_form_backward(double *d_z, const double *d_w, const struct av_form *f, size_t n);

/* |J K|_F, added up over portions of AV_FORM_COLUMNS columns of the keys K by
 * kernels->form_columns: sums of squares of what is at least AV_FORM_LARGE, and
 * of what may be smaller, times AV_FORM_LIFT, so that nothing underflows.
 * Begins as { 0 }. */
#define AV_FORM_LARGE 0x1p-500
#define AV_FORM_LIFT 0x1p600
enum { AV_FORM_COLUMNS = 16 };
struct av_form_squares {
    double large, small;
};
double av_form_squares_root(const struct av_form_squares *sum);

#endif
