/* depth_branch.h - the two kinds of branches of a layer: attention and MLP.
 *
 * Forward: y = f(h). Backward, with the arrays as forward has left them: d_h and
 * the gradients of the learned matrices from d_y. */
#ifndef ATTNVIZ_DEPTH_BRANCH_H
#define ATTNVIZ_DEPTH_BRANCH_H

#include "attnviz/depth.h"
#include "depth_math.h"

/* Learned matrices, [rows, columns] as the formulas have them. */
enum av_depth_matrix { AV_W_Q, AV_W_K, AV_W_V, AV_W_O, AV_W_1, AV_W_2, AV_DEPTH_MATRICES };

struct av_depth_branch {
    struct av_depth_math math;
    size_t n, d, d_k, hidden; /* tokens, d_model, d_k, width of the MLP: 0 without */
    double alpha;

    double *w[AV_DEPTH_MATRICES];   /* w_q w_k w_v [d, d_k], w_o [d_k, d]; w_1 [d, hidden], w_2 [hidden, d] */
    double *d_w[AV_DEPTH_MATRICES]; /* likewise */
    double *h, *y, *d_h, *d_y;      /* [n, d] */
    double *sum;                    /* [n, d], scratch */

    double *q, *k, *v, *a;          /* [n, d_k]; a = p v */
    double *d_q, *d_k_, *d_v, *d_a; /* [n, d_k] */
    double *s, *p, *d_p, *d_s;      /* [n, n]: scores, weights; d_s is dL/ds */
    double logit_std, entropy_norm;
    bool one_hot;                        /* every weight is 0 or 1 */
    double uncancelled[AV_DEPTH_CANCEL]; /* see depth.h */

    double *u, *g, *d_g; /* [n, hidden]: before and behind the curve */

    double *memory; /* all of the arrays */
};

/* Makes room; matrices and hidden arrays of the MLP with hidden > 0. The
 * kernels are borrowed. Frees with _free, also after a failure. */
enum av_status av_depth_branch_new(struct av_depth_branch *b, const struct av_kernels *kernels, struct av_error *e);
void av_depth_branch_free(struct av_depth_branch *b);

/* Bytes that it will take. */
double av_depth_branch_bytes(const struct av_depth_branch *b);

/* Rows and columns of a matrix. */
size_t av_depth_rows(const struct av_depth_branch *b, enum av_depth_matrix which);
size_t av_depth_columns(const struct av_depth_branch *b, enum av_depth_matrix which);

/* False where a score is no finite number: there are no weights then. */
bool av_depth_attention_forward(struct av_depth_branch *b);
void av_depth_attention_backward(struct av_depth_branch *b);

void av_depth_mlp_forward(struct av_depth_branch *b);
void av_depth_mlp_backward(struct av_depth_branch *b);

#endif
