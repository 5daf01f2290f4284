/* attention.h - one attention head that can be trained: sizes, arrays, products.
 *
 *     q = x w_q   k = x w_k   v = x w_v    [tokens, d_k]
 *     p = softmax(alpha q k^T)             [seq_len, seq_len], of each sequence
 *     y = (p v) w_o                        [tokens, d_model]
 *     loss = mean of (y - target)^2 over the positions that count
 *
 * The sequences of a batch lie end to end: tokens = batch * seq_len. Arrays
 * whose name ends in _t are transposed, with tokens along their rows, so that
 * vectors run over the tokens of all sequences. The learned matrices lie one
 * above the other, each as [d_k, d_model]. So every product finds its second
 * factor row by row, as it wants it, and nothing large has to be turned. */
#ifndef ATTNVIZ_ATTENTION_H
#define ATTNVIZ_ATTENTION_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Of the rows of weights of a batch that have two keys or more, summed up. */
struct av_attention_rows {
    double count;
    double entropy;    /* over ln(number of keys), of |w| / sum |w| */
    double max_weight; /* the largest */
    double row_sum;
    double squares, freedom; /* of logits about the mean of their row; keys less one */
    double max_logit;        /* of all rows, no sum; -infinity: none */
};

/* What stands in the place of the softmax and of what it is told: from the
 * queries and keys of one sequence to its weights, and back. In double,
 * whatever the pass computes in; it knows no batch. The arrays are its own: the
 * pass fills in what goes in, and reads what comes out. */
struct av_attention_hook {
    double alpha;                  /* in: the multiplier */
    double extra;                  /* in: one scalar more, if the hook knows one */
    double *q, *k;                 /* in: [seq_len, d_k] */
    double *p;                     /* out of forward: [seq_len, seq_len], a row is a query */
    double *d_p;                   /* into backward: the gradient by p */
    double *d_q, *d_k;             /* out of backward: [seq_len, d_k] */
    double d_alpha;                /* backward adds to it; the pass sets both to 0 */
    double d_extra;                /* the same, of extra */
    struct av_attention_rows rows; /* forward adds to it */
    void (*forward)(struct av_attention_hook *h);
    void (*backward)(struct av_attention_hook *h); /* of q and k at hand, whatever forward was told last */
};

/* A pitch is the distance of two rows: an odd number of cache lines, so that
 * the entries of a column do not crowd into a few places of the cache, and
 * wide enough for a whole vector to be read from any column on. */
struct av_attention_sizes {
    size_t batch, seq_len, d_model, d_k;
    size_t tokens;                            /* batch * seq_len */
    size_t first;                             /* positions first .. seq_len - 1 of a sequence count in the loss */
    size_t model_pitch, token_pitch, k_pitch; /* of rows of d_model, tokens, d_k numbers */
};

/* Every array of a pass: ARRAY(type, name, rows, pitch); s: the sizes. */
#define AV_ATTENTION_ARRAYS(ARRAY, real)                                                                               \
    /* The batch: x and target are the caller's to fill in, x_t by transposing. */                                     \
    ARRAY(real, x, s->tokens, s->model_pitch)                                                                          \
    ARRAY(real, x_t, s->d_model, s->token_pitch)                                                                       \
    ARRAY(real, target, s->tokens, s->model_pitch)                                                                     \
    /* Forward. [seq_len, tokens] holds the matrix [seq_len, seq_len] of each */                                       \
    /* sequence beside that of the next. */                                                                            \
    ARRAY(real, qkv_t, 3 * s->d_k, s->token_pitch) /* [3 d_k, tokens]: q^T, k^T, v^T */                                \
    ARRAY(real, s_t, s->seq_len, s->token_pitch)   /* (q k^T)^T: a row is a key, a column a query */                   \
    ARRAY(real, p_t, s->seq_len, s->token_pitch)   /* weights, a row is a key */                                       \
    ARRAY(real, p, s->seq_len, s->token_pitch)     /* weights, a row is a query */                                     \
    ARRAY(real, a_t, s->d_k, s->token_pitch)       /* [d_k, tokens]: (p v)^T */                                        \
    ARRAY(real, y, s->tokens, s->model_pitch)      /* [tokens, d_model], and at once d_y */                            \
    /* Of every query: score and key of its largest logit; sums over the other */                                      \
    /* keys of exp(z), z exp(z), z, z^2, z being logits less the largest. */                                           \
    ARRAY(real, best, 1, s->token_pitch)                                                                               \
    ARRAY(real, argmax, 1, s->token_pitch)                                                                             \
    ARRAY(real, sum_e, 1, s->token_pitch)                                                                              \
    ARRAY(real, sum_ez, 1, s->token_pitch)                                                                             \
    ARRAY(real, sum_z, 1, s->token_pitch)                                                                              \
    ARRAY(real, sum_z2, 1, s->token_pitch)                                                                             \
    /* Backward: d_NAME is the gradient of the loss by NAME. */                                                        \
    ARRAY(real, w_o_t, s->d_model, s->k_pitch)       /* [d_model, d_k] */                                              \
    ARRAY(real, d_a, s->tokens, s->k_pitch)          /* [tokens, d_k] */                                               \
    ARRAY(real, d_p, s->seq_len, s->token_pitch)     /* by the weights, then by the scores; a row is a query */        \
    ARRAY(real, d_p_t, s->seq_len, s->token_pitch)   /* the same, a row is a key */                                    \
    ARRAY(real, d_best, 1, s->token_pitch)           /* d_p of the largest weight */                                   \
    ARRAY(real, d_mean, 1, s->token_pitch)           /* sum of p (d_p - d_best) */                                     \
    ARRAY(real, d_qkv_t, 3 * s->d_k, s->token_pitch) /* [3 d_k, tokens]: d_q^T, d_k^T, d_v^T */                        \
    ARRAY(real, d_w, 4 * s->d_k, s->model_pitch)     /* [4 d_k, d_model]: as w */                                      \
    /* Scratch of what is measured. */                                                                                 \
    ARRAY(double, norms, 1, s->token_pitch)

#define AV_ATTENTION_MEMBER(type, name, rows, pitch) type *name;
#define AV_ATTENTION_STRUCT(real)                                                                                      \
    {                                                                                                                  \
        struct av_attention_sizes sizes;                                                                               \
        AV_ATTENTION_ARRAYS(AV_ATTENTION_MEMBER, real)                                                                 \
        /* [4 d_k, d_model]: w_q^T, w_k^T, w_v^T, w_o; the caller's */                                                 \
        AV_ATTENTION_MEMBER(real, w, 4 * d_k, model_pitch)                                                             \
        real alpha;                     /* of any sign */                                                              \
        struct av_attention_hook *hook; /* NULL: the softmax of alpha q k^T; borrowed */                               \
        double loss;                    /* of forward */                                                               \
        double d_alpha;                 /* of backward */                                                              \
        void *memory;                   /* of all arrays */                                                            \
    }

struct av_attention AV_ATTENTION_STRUCT(float);

/* Means over the batch. Of rows with two keys or more: NaN with seq_len 1. */
struct av_attention_observed {
    double entropy_norm; /* H / ln(keys of the row), seq_len but for masks; of |w| / sum |w| */
    double max_weight;
    double row_sum;       /* sum of the weights; 1 but for a hook */
    double logit_std;     /* within rows; over N - 1 of each */
    double max_logit;     /* no mean: the largest of the batch */
    double q_mean, q_var; /* of all entries; variance over N - 1 */
    double k_mean, k_var; /* the same of k */
    /* Over the tokens, of |d_q| and of |d_k| of each; of d_q over those that
     * count in the loss: to all others the query makes no difference. */
    double d_q_mean, d_q_median;
    double d_k_mean, d_k_median;
};

/* A product of matrices c = a b, [m, n] = [m, k] [k, n]. Pitches are in
 * numbers. Whole vectors of b are read, up to 15 numbers behind its row; of c
 * no more than n are written. */
struct av_product {
    float *c;
    size_t c_pitch;
    const float *a; /* [m, k], or [k, m] if a_turned */
    size_t a_pitch;
    bool a_turned;
    const float *b;
    size_t b_pitch;
    size_t m, n, k;
};

/* The sizes with tokens and pitches filled in. */
struct av_attention_sizes av_attention_sizes(size_t batch, size_t seq_len, size_t d_model, size_t d_k, size_t first);

/* Bytes that av_attention_new takes. */
double av_attention_bytes(const struct av_attention_sizes *s);

/* Makes all arrays, zeroed, for these sizes. AV_NOMEM leaves *a without memory.
 * The caller frees it. A batch of fewer sequences fits in: lower sizes.batch
 * and sizes.tokens, never the pitches. */
enum av_status av_attention_new(struct av_attention *a, const struct av_attention_sizes *s, struct av_error *e);
void av_attention_free(struct av_attention *a);

#endif
