/* pair_source.h - a source in memory: queries and keys of one layer. */
#ifndef PAIR_SOURCE_H
#define PAIR_SOURCE_H

#include "attnviz/source.h"

#include <string.h>

/* [heads, n, d], in one of the two precisions. */
struct matrix {
    const char *name;
    size_t heads, n, d;
    const float *f32;
    const double *f64;
};

struct pair_source {
    struct av_source source;
    struct av_source_layer layer;
    struct matrix q, k;
    size_t broken; /* head whose queries cannot be read; SIZE_MAX: none */
};

static inline enum av_status pair_read(void *state, size_t layer, enum av_part part, size_t head, size_t first,
                                       size_t rows, float *out_f32, double *out_f64, struct av_error *e)
{
    const struct pair_source *s = state;
    const struct matrix *m = part == AV_PART_Q ? &s->q : &s->k;
    size_t from = (head * m->n + first) * m->d;
    (void)layer;
    if (part == AV_PART_Q && head == s->broken) {
        return av_fail(e, AV_FAILED, "%s: head %zu is broken", m->name, head);
    }
    if (out_f32 != NULL) {
        memcpy(out_f32, m->f32 + from, rows * m->d * sizeof *out_f32);
    } else {
        memcpy(out_f64, m->f64 + from, rows * m->d * sizeof *out_f64);
    }
    return AV_OK;
}

static inline struct av_source_tensor pair_tensor(const struct matrix *m)
{
    struct av_source_tensor t = { .name = m->name, .type = m->f64 != NULL ? "<f8" : "<f4", .rank = 3, .there = true };
    t.shape[0] = m->heads;
    t.shape[1] = m->n;
    t.shape[2] = m->d;
    t.wide = m->f64 != NULL;
    return t;
}

/* s must stay where it is, and the entries as well. */
static inline const struct av_source *pair_source(struct pair_source *s, const struct matrix *q, const struct matrix *k)
{
    memset(s, 0, sizeof *s);
    s->q = *q;
    s->k = *k;
    s->broken = (size_t)-1;
    s->layer = (struct av_source_layer){ .n_head = q->heads, .n_head_kv = k->heads, .n_q = q->n, .n_k = k->n };
    s->layer.d = q->d;
    s->layer.part[AV_PART_Q] = pair_tensor(q);
    s->layer.part[AV_PART_K] = pair_tensor(k);
    s->source = (struct av_source){ .name = "made", .layers = &s->layer, .layer_count = 1, .read = pair_read };
    s->source.state = s;
    return &s->source;
}

#endif
