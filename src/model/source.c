/* source.c - sizes of a source, and one head of it, read whole. */
#include "attnviz/source.h"

#include "attnviz/mem.h"
#include "source_given.h"

#include <math.h>
#include <string.h>

size_t av_source_heads(const struct av_source *s)
{
    size_t heads = 0;
    for (size_t i = 0; i < s->layer_count; i++) {
        heads += s->layers[i].n_head;
    }
    return heads;
}

void av_source_place(const struct av_source *s, size_t i, size_t *layer, size_t *head)
{
    *layer = 0;
    while (i >= s->layers[*layer].n_head) {
        i -= s->layers[(*layer)++].n_head;
    }
    *head = i;
}

size_t av_source_index(const struct av_source *s, size_t layer, size_t head)
{
    size_t i = head;
    for (size_t l = 0; l < layer; l++) {
        i += s->layers[l].n_head;
    }
    return i;
}

size_t av_source_k_head(const struct av_source_layer *l, size_t head)
{
    return head / (l->n_head / l->n_head_kv);
}

void av_params_from_source(struct av_params *p, const struct av_source *s)
{
    int64_t last = (int64_t)s->layer_count - 1;
    p->layer_count = (int64_t)s->layer_count;
    p->layer = p->layer < 0 ? 0 : p->layer < last ? p->layer : last;
    const struct av_source_layer *l = &s->layers[p->layer];
    p->n_q = (int64_t)l->n_q;
    p->n_k = (int64_t)l->n_k;
    p->d_k = l->d > 0 ? (int64_t)l->d : p->d_k;
    p->n_head = (int64_t)l->n_head;
}

/* ---- A head --------------------------------------------------------------- */

/* Counts one more of its kind and, if it is the first, keeps its place. */
static void note(uint64_t *count, size_t first[2], size_t row, size_t column)
{
    if ((*count)++ == 0) {
        first[0] = row;
        first[1] = column;
    }
}

void av_source_count(struct av_not_finite *out, const struct av_entries *m, size_t rows, size_t d, bool masked)
{
    const float *f32 = m->f32;
    const double *f64 = m->f64;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; (f32 != NULL || f64 != NULL) && i < rows; i++) {
        for (size_t c = 0; c < d; c++) {
            size_t at = i * m->pitch + c;
            double x = f64 != NULL ? f64[at] : (double)f32[at];
            if (isnan(x)) {
                note(&out->nan_count, out->first_nan, i, c);
            } else if (isinf(x) && !(masked && x < 0)) {
                note(&out->inf_count, out->first_inf, i, c);
            }
        }
    }
}

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
    const bool wide = l->part[part].wide;
    float *f32 = wide ? NULL : (float *)(void *)at;
    double *f64 = wide ? (double *)(void *)at : NULL;
    *out = (struct av_entries){ f32, f64, l->d };
    return s->read(s->state, layer, part, head, 0, rows, f32, f64, e);
}

enum av_status av_source_load(struct av_loaded_head *out, const struct av_source *s, size_t layer, size_t head,
                              struct av_error *e)
{
    const struct av_source_layer *l = &s->layers[layer];
    *out = (struct av_loaded_head){ .layer = layer, .head = head, .n_q = l->n_q, .n_k = l->n_k, .d = l->d };
    if (l->d == 0) {
        return av_fail(e, AV_FAILED, "%s: layer %zu holds no queries and keys", s->name, l->number);
    }
    size_t q_bytes = part_bytes(l, AV_PART_Q, l->n_q);
    size_t bytes = q_bytes + part_bytes(l, AV_PART_K, l->n_k);
    out->k_head = av_source_k_head(l, head);
    if ((double)bytes > 0.8 * (double)av_mem_physical()) {
        return av_fail(e, AV_NOMEM, "%s: a head of layer %zu needs %.1f GiB, more than this machine's memory", s->name,
                       l->number, (double)bytes / 0x1p30);
    }
    out->memory = av_alloc(bytes, 1);
    if (out->memory == NULL) {
        return av_fail_nomem(e, "queries and keys of a head");
    }
    char *memory = out->memory;
    enum av_status status = read_part(&out->q, memory, s, layer, AV_PART_Q, head, l->n_q, e);
    if (status == AV_OK) {
        status = read_part(&out->k, memory + q_bytes, s, layer, AV_PART_K, out->k_head, l->n_k, e);
    }
    if (status == AV_OK) {
        av_source_count(&out->q_bad, &out->q, l->n_q, l->d, false);
        av_source_count(&out->k_bad, &out->k, l->n_k, l->d, false);
    }
    return status;
}

void av_loaded_head_free(struct av_loaded_head *h)
{
    av_free(h->memory);
    memset(h, 0, sizeof *h);
}
