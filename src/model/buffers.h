/* buffers.h - all memory of the model whose size follows the shape.
 *
 * One set is made whole before the old one is let go, so that a failed
 * allocation leaves the model as it was. */
#ifndef ATTNVIZ_BUFFERS_H
#define ATTNVIZ_BUFFERS_H

#include "attnviz/bend.h"
#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

struct av_shape {
    size_t n_q, n_k, d; /* d = 0: no queries and keys, but */
    bool given;         /* scores or weights of a file; else logits by hand */
};

struct av_buffers {
    struct av_shape shape;
    size_t pitch;                          /* floats from row to row of q and k */
    float *q, *k;                          /* [n_q, pitch], [n_k, pitch]; NULL when entries are borrowed */
    double *scores, *logits, *weights;     /* [n_q, n_k]; no scores where rows are given */
    struct av_rowstats *rows, *other_rows; /* [n_q] */
    /* [n_q]: of the scores; of the current state; with scale toggled */
    bool *invalid_scores, *invalid, *other_invalid;
    double *dq_rms, *nonzero, *d_scores; /* [n_q] */
    double *row;                         /* scratch, [n_k] */
    double *block;                       /* scratch, [AV_BLOCK_ROWS, n_k] */
    double *column;                      /* scratch, [n_q] */
    double *dq_scratch;
    float *draw_scratch; /* [pitch] */
    struct av_form form; /* without queries and keys: of a row */
    double *zeros;       /* [n_k], where rows are given */
};

enum { AV_BLOCK_ROWS = 16 };

/* old: the shape whose buffers are let go afterwards. entries: with memory for
 * q and k of their own? */
enum av_status av_buffers_make(struct av_buffers *b, struct av_shape shape, struct av_shape old, bool entries,
                               struct av_error *e);
void av_buffers_free(struct av_buffers *b); /* zeroes *b */

#endif
