/* source.c - one head of a source, read whole. */
#include "attnviz/source.h"

#include "attnviz/mem.h"

#include <string.h>

/* Bytes of a part, whose rows lie without gaps; a multiple of the alignment. */
static size_t part_bytes(const struct av_source_layer *l, enum av_part part, size_t rows)
{
    size_t bytes = rows * l->d * (l->part[part].wide ? sizeof(double) : sizeof(float));
    return (bytes + AV_ALIGN - 1) / AV_ALIGN * AV_ALIGN;
}

static enum av_status read_part(struct av_entries *out, char *at, const struct av_source *s, size_t layer,
                                enum av_part part, size_t head, size_t rows, struct av_error *e)
{
    const struct av_source_layer *l = &s->layers[layer];
    float *f32 = l->part[part].wide ? NULL : (float *)(void *)at;
    double *f64 = l->part[part].wide ? (double *)(void *)at : NULL;
    *out = (struct av_entries){ f32, f64, l->d };
    return s->read(s->state, layer, part, head, 0, rows, f32, f64, e);
}

enum av_status av_source_load(struct av_loaded_head *out, const struct av_source *s, size_t layer, size_t head,
                              struct av_error *e)
{
    const struct av_source_layer *l = &s->layers[layer];
    size_t q_bytes = part_bytes(l, AV_PART_Q, l->n_q);
    *out = (struct av_loaded_head){ .n_q = l->n_q, .n_k = l->n_k, .d = l->d };
    out->memory = av_alloc(q_bytes + part_bytes(l, AV_PART_K, l->n_k), 1);
    if (out->memory == NULL) {
        return av_fail_nomem(e, "queries and keys of a head");
    }
    char *memory = out->memory;
    enum av_status status = read_part(&out->q, memory, s, layer, AV_PART_Q, head, l->n_q, e);
    if (status == AV_OK) {
        size_t k_head = head / (l->n_head / l->n_head_kv);
        status = read_part(&out->k, memory + q_bytes, s, layer, AV_PART_K, k_head, l->n_k, e);
    }
    return status;
}

void av_loaded_head_free(struct av_loaded_head *h)
{
    av_free(h->memory);
    memset(h, 0, sizeof *h);
}
