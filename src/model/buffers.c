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

/* Room for n things; when there is no memory for them, `whole` turns false. */
static void *room(size_t n, size_t size, bool *whole)
{
    void *at = av_alloc(n, size);
    *whole = *whole && at != NULL;
    return at;
}

/* What every row has. */
static void make_rows(struct av_buffers *b, size_t n_q, bool *whole)
{
    b->rows = room(n_q, sizeof *b->rows, whole);
    b->other_rows = room(n_q, sizeof *b->other_rows, whole);
    b->invalid_scores = room(n_q, sizeof *b->invalid_scores, whole);
    b->invalid = room(n_q, sizeof *b->invalid, whole);
    b->other_invalid = room(n_q, sizeof *b->other_invalid, whole);
    b->dq_rms = room(n_q, sizeof *b->dq_rms, whole);
    b->nonzero = room(n_q, sizeof *b->nonzero, whole);
    b->d_scores = room(n_q, sizeof *b->d_scores, whole);
    b->column = room(n_q, sizeof *b->column, whole);
}

static void make_form(struct av_form *f, size_t n_k, bool *whole)
{
    f->diag = room(n_k, sizeof *f->diag, whole);
    f->u = room(n_k, sizeof *f->u, whole);
    f->v = room(n_k, sizeof *f->v, whole);
    f->rest = room(n_k, sizeof *f->rest, whole);
}

enum av_status av_buffers_make(struct av_buffers *b, struct av_shape shape, struct av_shape old, bool entries,
                               struct av_error *e)
{
    enum av_status status = check_fits(shape, old, e);
    if (status != AV_OK) {
        return status;
    }
    size_t pairs = shape.n_q * shape.n_k;
    bool whole = true;
    *b = (struct av_buffers){ .shape = shape, .pitch = (shape.d + 15) / 16 * 16 };
    if (!shape.given) {
        b->scores = room(pairs, sizeof *b->scores, &whole);
    } else {
        b->zeros = room(shape.n_k, sizeof *b->zeros, &whole);
    }
    b->logits = room(pairs, sizeof *b->logits, &whole);
    b->weights = room(pairs, sizeof *b->weights, &whole);
    make_rows(b, shape.n_q, &whole);
    b->row = room(shape.n_k, sizeof *b->row, &whole);
    b->block = room(AV_BLOCK_ROWS * shape.n_k, sizeof *b->block, &whole);
    b->dq_scratch = room(AV_DQ_SCRATCH(shape.n_k), sizeof *b->dq_scratch, &whole);
    b->draw_scratch = room(b->pitch, sizeof *b->draw_scratch, &whole);
    if (shape.d == 0) {
        make_form(&b->form, shape.n_k, &whole);
    }
    if (entries) {
        b->q = room(shape.n_q * b->pitch, sizeof *b->q, &whole);
        b->k = room(shape.n_k * b->pitch, sizeof *b->k, &whole);
    }
    if (!whole) {
        av_buffers_free(b);
        return av_fail(e, AV_NOMEM, "%zu queries x %zu keys, d_k %zu: out of memory", shape.n_q, shape.n_k, shape.d);
    }
    return AV_OK;
}

void av_buffers_free(struct av_buffers *b)
{
    void *all[] = { b->q,      b->k,          b->scores,         b->logits,    b->weights,
                    b->rows,   b->other_rows, b->invalid_scores, b->invalid,   b->other_invalid,
                    b->dq_rms, b->nonzero,    b->d_scores,       b->row,       b->block,
                    b->column, b->dq_scratch, b->draw_scratch,   b->form.diag, b->form.u,
                    b->form.v, b->form.rest,  b->zeros };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(b, 0, sizeof *b);
}
