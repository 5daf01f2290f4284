/* buffers.h - all memory of the model whose size follows the shape.
 *
 * One set is made whole before the old one is let go, so that a failed
 * allocation leaves the model as it was. */
#ifndef ATTNVIZ_BUFFERS_H
#define ATTNVIZ_BUFFERS_H

#include "attnviz/rowstats.h"
#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

struct av_shape {
    size_t n_q, n_k, d; /* d = 0: logits by hand, no queries and keys */
};

struct av_buffers {
    struct av_shape shape;
    size_t pitch;                          /* floats from row to row of q and k */
    float *q, *k;                          /* [n_q, pitch], [n_k, pitch]; NULL when entries are borrowed */
    double *scores, *logits, *weights;     /* [n_q, n_k] */
    struct av_rowstats *rows, *other_rows; /* [n_q] */
    bool *invalid;                         /* [n_q] */
    double *dq_rms;                        /* [n_q] */
    double *row;                           /* scratch, [n_k] */
    double *column;                        /* scratch, [n_q] */
    double *dq_scratch;
    float *draw_scratch; /* [pitch] */
};

/* old: the shape whose buffers are let go afterwards. entries: with memory for
 * q and k of their own? */
enum av_status av_buffers_make(struct av_buffers *b, struct av_shape shape, struct av_shape old, bool entries,
                               struct av_error *e);
void av_buffers_free(struct av_buffers *b); /* zeroes *b */

#endif
