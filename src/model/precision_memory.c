/* precision_memory.c - memory of the study `precision`. */
#include "attnviz/mem.h"
#include "precision_state.h"

#include <string.h>

void av_precision_buffers_free(struct av_precision_buffers *b)
{
    void *all[] = { b->q,      b->k,       b->draw,         b->panel,         b->query, b->multiplier, b->scores,
                    b->logits, b->weights, b->exact_logits, b->exact_weights, b->plain, b->masked,     b->squares };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(b, 0, sizeof *b);
}

/* Of b's sizes. False: out of memory, and nothing is kept. */
static bool fill(struct av_precision_buffers *b)
{
    size_t entry_rows = b->sampled ? 1 : 0;
    size_t groups = (b->n_k + AV_PRECISION_LANES - 1) / AV_PRECISION_LANES;
    double **rows_of[] = { &b->logits, &b->weights, &b->exact_logits, &b->exact_weights,
                           &b->plain,  &b->masked,  &b->squares };
    b->q = av_alloc(entry_rows * b->n_q, b->columns * sizeof *b->q);
    b->k = av_alloc(entry_rows * b->n_k, b->columns * sizeof *b->k);
    b->draw = av_alloc(b->columns, sizeof *b->draw);
    b->panel = av_alloc(groups, b->columns * AV_PRECISION_LANES * sizeof *b->panel);
    b->query = av_alloc(b->columns, sizeof *b->query);
    b->multiplier = av_alloc(b->columns, sizeof *b->multiplier);
    b->scores = av_alloc(b->n_q, b->n_k * sizeof *b->scores);
    bool whole = b->q != NULL && b->k != NULL && b->draw != NULL && b->panel != NULL && b->query != NULL &&
                 b->multiplier != NULL && b->scores != NULL;
    for (size_t i = 0; i < sizeof rows_of / sizeof rows_of[0]; i++) {
        *rows_of[i] = av_alloc(b->n_k, sizeof **rows_of[i]);
        whole = whole && *rows_of[i] != NULL;
    }
    if (!whole) {
        av_precision_buffers_free(b);
    }
    return whole;
}

enum av_status av_precision_buffers_make(struct av_precision_buffers *b, const struct av_precision_buffers *sizes,
                                         struct av_error *e)
{
    if (b->n_q == sizes->n_q && b->n_k == sizes->n_k && b->columns == sizes->columns && b->sampled == sizes->sampled) {
        return AV_OK;
    }
    struct av_precision_buffers fresh = *sizes;
    if (!fill(&fresh)) {
        return av_fail_nomem(e, "precision");
    }
    av_precision_buffers_free(b);
    *b = fresh;
    return AV_OK;
}
