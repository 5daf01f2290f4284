/* precision_state.h - the inside of the study `precision`.
 *
 * Its work is a list of phases, each of some items, most of them a row of
 * queries each. Several items make a unit of work. */
#ifndef ATTNVIZ_PRECISION_STATE_H
#define ATTNVIZ_PRECISION_STATE_H

#include "attnviz/attend.h"
#include "attnviz/precision_study.h"

enum { AV_PRECISION_LANES = 16, AV_PRECISION_BLOCK = 64 }; /* keys side by side; columns of an item */

struct av_precision_buffers {
    size_t n_q, n_k, columns;
    bool sampled;
    float *q, *k, *draw;                  /* [n_q, columns], [n_k, columns], [columns]; sampled */
    float *panel;                         /* f16 keys, [groups of lanes, columns, lanes] */
    double *squares;                      /* [n_k], their |k|^2 */
    float *query;                         /* [columns], an f16 query */
    double *multiplier;                   /* [columns], d^-exponent at d = 1 .. */
    double *scores;                       /* [n_q, n_k] */
    double *logits, *weights;             /* [n_k] each: of a dtype */
    double *exact_logits, *exact_weights; /* of f64 */
    double *plain, *masked;               /* of a trial */
};

struct av_precision_state {
    const struct av_kernels *kernels;
    const struct av_source *source; /* NULL: entries are drawn */
    struct av_loaded_head loaded;   /* of it */
    void *scores_scratch;
    /* What computes f64, and dtypes whose keys take as much memory as others':
     * once begun with these sizes they need no more. */
    struct av_attend *exact, *narrow, *whole;
    bool reserved;
    struct av_attend *dtype; /* of the phase: one of the three */
    struct av_precision_buffers buffers;
    struct av_attend_head head;
    struct av_moments moments;
    double pairs, error_sum; /* of the cell in the making */
    size_t phase, item;      /* what is next */
    struct av_precision result;
};

/* One row of queries, or what the phase's items are: `begin` for what comes
 * before the first; false: it cannot be had. */
typedef bool av_precision_begin(struct av_precision_state *s, bool scale, enum av_dtype dtype);
typedef void av_precision_run(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t item);
typedef void av_precision_end(struct av_precision_state *s, bool scale, enum av_dtype dtype);

/* Begins that dtype's arithmetic for s->result.params but for these. */
bool av_precision_attend(struct av_precision_state *s, bool scale, enum av_dtype dtype, enum av_mask mask);

/* ---- precision_memory.c ------------------------------------------------------- */

/* Makes memory for the sizes in `sizes`, or keeps what fits. On failure the old
 * stands. */
enum av_status av_precision_buffers_make(struct av_precision_buffers *b, const struct av_precision_buffers *sizes,
                                         struct av_error *e);
void av_precision_buffers_free(struct av_precision_buffers *b);

/* ---- precision_compare.c: a dtype against f64 -------------------------------- */
av_precision_begin av_precision_compare_begin;
av_precision_run av_precision_compare;
av_precision_end av_precision_compare_end;

/* ---- precision_overflow.c: the first d_k that overflows f16 -------------------- */
av_precision_run av_precision_overflow_keys; /* item: a block of columns */
av_precision_run av_precision_overflow_row;
av_precision_end av_precision_overflow_end;

/* ---- precision_masks.c: numbers in the place of masks ------------------------- */
av_precision_begin av_precision_masks_begin;
av_precision_run av_precision_masks;
av_precision_end av_precision_masks_end;

#endif
