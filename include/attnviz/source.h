/* source.h - queries, keys, scores and weights that come from outside the program.
 *
 * A source is what the model, the studies and the report see of files: layers of
 * heads, read head by head and rows by rows, so that no more is in memory than is
 * looked at. io/files.h makes one of files; tests make their own. It is read by
 * one thread at a time. */
#ifndef ATTNVIZ_SOURCE_H
#define ATTNVIZ_SOURCE_H

#include "attnviz/kernels.h"
#include "attnviz/params.h"
#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum av_part { AV_PART_Q, AV_PART_K, AV_PART_SCORES, AV_PART_WEIGHTS, AV_PARTS };

enum { AV_SOURCE_RANK_MAX = 8 };

/* A tensor as its file has it. */
struct av_source_tensor {
    const char *name, *type; /* printable; "F32", "<f4" */
    size_t rank, shape[AV_SOURCE_RANK_MAX];
    bool there;
    bool wide; /* single precision does not hold every value */
};

/* A layer holds Q and K, or scores, or weights, or several of these; of the same
 * sizes. n_head is a multiple of n_head_kv: query head h is served by key head
 * h / (n_head / n_head_kv). Scores and weights have n_head heads [n_q, n_k]. */
struct av_source_layer {
    size_t number; /* as the file counts it */
    size_t n_head, n_head_kv, n_q, n_k;
    size_t d;        /* 0 without Q and K */
    size_t left_out; /* queries before the first of the n_q, see av_source_tail */
    struct av_source_tensor part[AV_PARTS];
};

struct av_source {
    const char *name; /* for the screen: a file's, or two with " × " between */
    const struct av_source_layer *layers;
    size_t layer_count; /* >= 1 */
    bool masked;        /* the file says which mask it was made with: */
    enum av_mask mask;
    const char *const *tokens; /* labels of positions, printable; NULL: none */
    size_t token_count;
    size_t sequence, sequences; /* of a batch, which one is read, and of how many; 0 and 0 or 1: no batch */
    bool guessed;               /* how heads lie in the tensors was guessed */
    const char *reading;        /* as what, and as what else they can be read; NULL: not guessed */
    const char *unused;         /* a tensor that is named like weights or scores, and why it is not used; NULL */
    bool streamed;              /* rows before those read last cost reading again from the beginning */

    /* Rows [first, first + rows) of one head of a part, row after row without
     * gaps: to out_f32, or, of a part that is wide, to out_f64 (the other is
     * NULL). For AV_PART_K head counts key heads. AV_FAILED when the file does not
     * give them (any more). */
    enum av_status (*read)(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                           float *out_f32, double *out_f64, struct av_error *e);
    void *state;
};

/* A source as what has to hold whole matrices of a head sees it: of layers with
 * more than `pairs` pairs n_q n_k the last queries alone, as many as `kept` pairs
 * allow, one at least. The last ones: they see most, and the masks' rule, that
 * the last query sees every key, holds for them as for all. A source without such
 * layers is its own tail. It borrows `whole`, and is freed by the caller with
 * av_source_tail_free (a zeroed one is fine). AV_NOMEM. */
struct av_source_tail {
    struct av_source source;
    const struct av_source *whole;
    struct av_source_layer *layers; /* NULL: those of `whole` */
};
enum av_status av_source_tail_make(struct av_source_tail *out, const struct av_source *whole, size_t pairs, size_t kept,
                                   struct av_error *e);
void av_source_tail_free(struct av_source_tail *t);

/* Heads of all layers, and of them all the i-th: i < the number of them. */
size_t av_source_heads(const struct av_source *s);
void av_source_place(const struct av_source *s, size_t i, size_t *layer, size_t *head);
size_t av_source_index(const struct av_source *s, size_t layer, size_t head); /* i of that place */

/* The head of the keys that serves a query head. */
size_t av_source_k_head(const struct av_source_layer *l, size_t head);

/* Writes the sizes of layer p->layer, which is moved into range, into n_q, n_k,
 * d_k and n_head of p, so that the ranges of query, key and head are those of
 * the layer, and the number of layers. */
void av_params_from_source(struct av_params *p, const struct av_source *s);

/* What is not a number, or infinite, in a head's queries or keys; the first
 * row and column of each, where there is one. */
struct av_not_finite {
    uint64_t nan_count, inf_count;
    size_t first_nan[2], first_inf[2];
};

/* What a head of the layer is made of: the part that `from` asks for, AV_PART_Q
 * standing for queries and keys, both. By AV_FROM_AUTO, and where that part is not
 * there: queries and keys, else weights, else scores. */
enum av_part av_source_from(const struct av_source_layer *l, enum av_from from);

/* Has the layer what `from` asks for? AV_FROM_AUTO asks for nothing: true. */
bool av_source_has(const struct av_source_layer *l, enum av_from from);

/* Can `from` choose: has the layer more than one of queries and keys, scores, weights? */
bool av_source_has_choice(const struct av_source_layer *l);

/* Does the parameter act on a head that is made of this? Of weights nothing but
 * the mask changes a number; what selects acts on all. */
bool av_source_acts(enum av_part from, const struct av_param *row);

/* Takes from p what cannot act on what p->from makes a head of the layer of: of
 * scores every row of the variant that does not act on logits, of weights variant
 * and dtype. */
void av_source_limit(struct av_params *p, const struct av_source_layer *l);

/* Do variant and dtype of p act, all of them, on one of these layers? AV_USAGE
 * says what does not. */
enum av_status av_source_check(const struct av_source_layer *layers, size_t count, const struct av_params *p,
                               struct av_error *e);

/* A head in memory of its own: queries and keys, or what is given in their place. */
struct av_loaded_head {
    size_t layer, head, k_head;
    size_t n_q, n_k, d;
    enum av_part from;      /* AV_PART_Q, AV_PART_SCORES or AV_PART_WEIGHTS */
    struct av_entries q, k; /* of AV_PART_Q, into memory: */
    const double *given;    /* [n_q, n_k] scores or weights, likewise; NULL: Q and K */
    void *memory;
    struct av_not_finite q_bad, k_bad;
    struct av_not_finite given_bad; /* -infinity is no finding in scores: masks are written so */
};

/* Reads them whole; the caller frees the memory with av_loaded_head_free, also
 * after a failure. AV_NOMEM; AV_FAILED, also for a layer without Q and K. */
enum av_status av_source_load(struct av_loaded_head *out, const struct av_source *s, size_t layer, size_t head,
                              struct av_error *e);

/* The same of what av_source_from has answered: queries and keys, scores, or weights. */
enum av_status av_source_load_from(struct av_loaded_head *out, const struct av_source *s, size_t layer, size_t head,
                                   enum av_part from, struct av_error *e);
void av_loaded_head_free(struct av_loaded_head *h); /* zeroes *h; a zeroed one is fine */

#endif
