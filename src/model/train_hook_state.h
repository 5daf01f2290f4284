/* train_hook_state.h - the inside of a variant in training.
 *
 *   q^, k^ = normalise(q), normalise(k)    s = normalise(q^ k^T)
 *   z = alpha factor s + bias              w = bend(z)
 *
 * With `differential` there are two parts, the halves of the columns, which
 * have s, z and w each: the weights are w of the first less lambda times w of
 * the second. The way back begins with the way there: nothing is kept but the
 * scores of one sequence, whatever the batch. */
#ifndef ATTNVIZ_TRAIN_HOOK_STATE_H
#define ATTNVIZ_TRAIN_HOOK_STATE_H

#include "attnviz/attention.h"
#include "variant_hooks.h"

#include <math.h>

enum { AV_HOOK_PARTS = 2 };

struct av_train_hook {
    struct av_attention_hook hook; /* what the pass sees, first */
    const struct av_kernels *kernels;
    struct av_params p;
    const struct av_variant_hooks *normalise, *bend;
    size_t len, d;
    size_t parts, part_d;        /* columns of a part */
    double share[AV_HOOK_PARTS]; /* of a part's weights: 1 and -lambda */
    double eps;                  /* of normalise */

    /* The pairs: a row is a query. */
    double *bias;   /* [len, len], -infinity: not seen */
    double *factor; /* [len] */
    size_t *keys;   /* [len] that a row sees */

    /* Of the sequence at hand. */
    double *q, *k;                                 /* [len, d] normalised */
    double *k_t;                                   /* [d, len] */
    double *s[AV_HOOK_PARTS], *d_s[AV_HOOK_PARTS]; /* [len, len] scores, normalised, and the gradient by them */

    struct av_bend_row row[AV_HOOK_PARTS];
    double *z[AV_HOOK_PARTS];
    double *d_w, *d_z; /* [len] */
    double *x, *u;     /* [len, len] or [d], of what is normalised at once */
    double *memory;
};

/* Is the pair seen, a number in [0, len * len)? */
static inline bool av_train_pair_is_seen(const struct av_train_hook *h, size_t pair)
{
    return h->bias[pair] > -(double)INFINITY;
}

/* Both ways, as attention.h has it. */
void av_train_hook_forward(struct av_attention_hook *hook);
void av_train_hook_backward(struct av_attention_hook *hook);

#endif
