/* find.h - which tensors of a file are queries and keys, scores and weights, and how
 * heads lie in them.
 *
 * Names of queries and keys. A name is cut into words at everything but letters and
 * digits, between letters and digits, and before a capital that follows a small
 * letter. One of the words q, query, queries, Qcur makes it queries, k, key, keys,
 * Kcur makes it keys; of several the last counts. Two such names that are alike but
 * for that word, q and k in the same form, are a layer: layers.3.q and layers.3.k,
 * blk.0.attn_q and blk.0.attn_k, query_states and key_states, q0 and k0. The word
 * qkv, a name with words for both, or one that ends in c_attn, is all three fused.
 * What ends in weight, weights, bias or kernel is a learned matrix and no candidate.
 * The layer's number is the first behind a word such as layer or block, else the first
 * that stands by itself, else the first glued to letters; of the only tensor of a
 * file, which may bear the file's name, the first alone, or 0.
 *
 * Names of weights and scores, when they have no word for queries and keys. The last
 * word, numbers aside, makes it weights: weights, probs, prob, probabilities, softmax
 * (soft_max), attn, attns, att, attention, attentions, attn_weight (attn.weight is a
 * learned matrix), attention_weight; or scores: scores, logits,
 * energy, dots, qk, kq. Words that modules bear too, so shapes must agree: beside Q and
 * K the last two axes are as many queries and keys, heads and sequences those of the
 * queries, or one; names have the layer's number, or the layer is the only one. Of
 * several of a layer that is taken whose name has the most in common with the queries'
 * from the start on, of equals the first. Those with a number that no layer of Q and K has are a
 * layer of their own, when their last two axes are alike and scores and weights of
 * a layer are of the same sizes; of several the first is taken. In a file without Q and
 * K the last two axes must be alike, and several of a layer cannot be decided.
 *
 * Names that are given are taken as they are; a * in them stands for a number, the
 * layer's. Weights and scores so named may be a layer of their own likewise, and need
 * not be square; without a number they are that of Q and K, if there is just one.
 *
 * Layouts of queries and keys, row-major, a letter an axis:
 *
 *   b batch    h heads    n tokens    d entries of a head
 *   c heads side by side, h * d entries    f queries, keys, values side by side
 *
 * nd, nc, nf; hnd, nhd, bnc, bnf, nbc, nbf; bhnd, bnhd, nbhd. A layout that is not given
 * follows from the rank and, where they are known, the number of heads and d_k; c and f
 * need the number of heads. A layout must fit the keys too, whose heads divide those of
 * the queries, and the weights or scores that are found beside them: those of the
 * layer's number, else those whose name has the most in common with the queries'. Where
 * nothing says the number of heads, these do when they have an axis of them. Where no
 * layout fits them, they decide nothing; `unused` tells of such.
 *
 * Of several that fit, c goes first when the queries' last word is proj (what a projection
 * puts out has heads side by side), and nothing is guessed then. Of the rest one of more
 * than one token goes first, then one with as many keys as queries, then of four axes that
 * in which the longer one is the tokens', then the order above; `guessed` is set, and
 * the others are told. Tokens before sequences, nb, are only looked at where they are
 * given, weights or scores fit, or there are more tokens than sequences then. One head of
 * keys may lack its axis. In f each of the three is whole: where they alternate head by
 * head (GPT-NeoX, BLOOM), they must be taken apart before.
 *
 * Weights and scores are [n, m], [h, n, m] or [b, h, n, m]; beside queries of several
 * sequences also [b, n, m], one for all heads, and [b h, n, m]. */
#ifndef ATTNVIZ_FIND_H
#define ATTNVIZ_FIND_H

#include "attnviz/dump.h"

/* What the user has said; NULL and 0: nothing. */
struct av_find_options {
    const char *q, *k;            /* names, both or neither; both the same: fused */
    const char *weights, *scores; /* names */
    const char *layout;           /* of q and k */
    size_t n_head, n_head_kv, d_k;
};

/* What a file says: its tensors, and its metadata n_head, n_head_kv and d_k. */
struct av_find_file {
    const char *path;                     /* printable */
    const struct av_dump_tensor *tensors; /* in the order of a dump's */
    size_t count;
    size_t n_head, n_head_kv, d_k; /* 0: not said */
};

/* Rows of heads in a tensor: row i of head h of sequence b are the d entries from
 * first + b * batch_stride + h * head_stride + i * row_stride on. Of weights and
 * scores a row is a query's, and d the number of keys. */
struct av_find_rows {
    size_t tensor; /* its index; AV_FIND_NONE: there is none, and the rest is 0 */
    size_t batches, heads, n, d;
    size_t first, batch_stride, head_stride, row_stride;
};

#define AV_FIND_NONE ((size_t)-1)

struct av_find_layer {
    size_t number;            /* as in the names, or counted from 0 */
    struct av_find_rows q, k; /* both or neither; q.heads is a multiple of k.heads */
    struct av_find_rows weights, scores;
};

/* A way to read queries: a number of sequences, of heads in each, of rows in each. */
struct av_find_reading {
    const char *layout;
    size_t batches, heads, n;
};

enum { AV_FIND_OTHERS = 3 };

struct av_find {
    struct av_find_layer *layers; /* at least one; in the order of the names, or, when some are of scores or */
                                  /* weights alone beside others of Q and K, of the numbers */
    size_t count;
    bool guessed;                                      /* a layout was chosen among several that fit: */
    struct av_find_reading as, others[AV_FIND_OTHERS]; /* that of the first layer so read, and what fits as well */
    size_t other_count; /* 0, though guessed: it is weights or scores that can be read otherwise */
    size_t unused;      /* the first tensor that is weights or scores by name and fits no layer; AV_FIND_NONE */
};

/* AV_USAGE: the options contradict each other or the file; AV_FAILED: it cannot be
 * decided, and the message lists what there is and which options decide it;
 * AV_NOMEM. out is zeroed then. The caller frees it with av_find_free. */
enum av_status av_find(struct av_find *out, const struct av_find_file *file, const struct av_find_options *options,
                       struct av_error *e);
void av_find_free(struct av_find *found); /* a zeroed one is fine */

/* The same in a dump. Metadata are safetensors' strings, in an .npz file arrays of
 * one number. */
enum av_status av_find_in_dump(struct av_find *out, struct av_dump *d, const struct av_find_options *options,
                               struct av_error *e);

/* The run that reads `count` rows from row `first` on. */
struct av_dump_run av_find_run(const struct av_find_rows *rows, size_t batch, size_t head, size_t first, size_t count);

#endif
