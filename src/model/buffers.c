/* buffers.c - memory of one shape. */
#include "buffers.h"

#include "attnviz/kernels.h"
#include "attnviz/mem.h"

#include <string.h>

static double pairs_bytes(struct av_shape s)
{
    return (double)s.n_q * (double)s.n_k * 3 * sizeof(double) +
           ((double)s.n_q + (double)s.n_k) * (double)s.d * sizeof(float);
}

/* Refuses shapes that this machine could only swap: an allocator that
 * overcommits would say yes and the program would be killed later. The old
 * set stands until the new one is whole. */
static enum av_status check_fits(struct av_shape s, struct av_shape old, struct av_error *e)
{
    double bytes = pairs_bytes(s) + pairs_bytes(old);
    if (bytes > 0.8 * (double)av_mem_physical()) {
        return av_fail(e, AV_NOMEM, "%zu queries x %zu keys need %.1f GiB, more than this machine's memory", s.n_q,
                       s.n_k, bytes / 0x1p30);
    }
    return AV_OK;
}

enum av_status av_buffers_make(struct av_buffers *b, struct av_shape shape, struct av_shape old, bool entries,
                               struct av_error *e)
{
    enum av_status status = check_fits(shape, old, e);
    if (status != AV_OK) {
        return status;
    }
    size_t pairs = shape.n_q * shape.n_k;
    *b = (struct av_buffers){ .shape = shape, .pitch = (shape.d + 15) / 16 * 16 };
    b->scores = av_alloc(pairs, sizeof *b->scores);
    b->logits = av_alloc(pairs, sizeof *b->logits);
    b->weights = av_alloc(pairs, sizeof *b->weights);
    b->rows = av_alloc(shape.n_q, sizeof *b->rows);
    b->other_rows = av_alloc(shape.n_q, sizeof *b->other_rows);
    b->invalid = av_alloc(shape.n_q, sizeof *b->invalid);
    b->dq_rms = av_alloc(shape.n_q, sizeof *b->dq_rms);
    b->row = av_alloc(shape.n_k, sizeof *b->row);
    b->column = av_alloc(shape.n_q, sizeof *b->column);
    b->dq_scratch = av_alloc(AV_DQ_SCRATCH(shape.n_k), sizeof *b->dq_scratch);
    b->draw_scratch = av_alloc(b->pitch, sizeof *b->draw_scratch);
    bool all = b->scores != NULL && b->logits != NULL && b->weights != NULL && b->rows != NULL &&
               b->other_rows != NULL && b->invalid != NULL && b->dq_rms != NULL && b->row != NULL &&
               b->column != NULL && b->dq_scratch != NULL && b->draw_scratch != NULL;
    if (entries) {
        b->q = av_alloc(shape.n_q * b->pitch, sizeof *b->q);
        b->k = av_alloc(shape.n_k * b->pitch, sizeof *b->k);
        all = all && b->q != NULL && b->k != NULL;
    }
    if (!all) {
        av_buffers_free(b);
        return av_fail(e, AV_NOMEM, "%zu queries x %zu keys, d_k %zu: out of memory", shape.n_q, shape.n_k, shape.d);
    }
    return AV_OK;
}

void av_buffers_free(struct av_buffers *b)
{
    void *all[] = { b->q,       b->k,      b->scores, b->logits, b->weights,    b->rows,        b->other_rows,
                    b->invalid, b->dq_rms, b->row,    b->column, b->dq_scratch, b->draw_scratch };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(b, 0, sizeof *b);
}
