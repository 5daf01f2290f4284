/* source_tail.c - the last queries of a source's long heads. */
#include "attnviz/mem.h"
#include "attnviz/source.h"

#include <string.h>

static enum av_status read_tail(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                float *out_f32, double *out_f64, struct av_error *e)
{
    const struct av_source_tail *t = state;
    size_t skipped = part == AV_PART_K ? 0 : t->layers[layer].left_out;
    return t->whole->read(t->whole->state, layer, part, head, skipped + first, rows, out_f32, out_f64, e);
}

static bool is_long(const struct av_source_layer *l, size_t pairs)
{
    return l->n_q > 1 && l->n_q > pairs / l->n_k;
}

static void cut(struct av_source_layer *l, size_t kept)
{
    size_t queries = kept / l->n_k > 0 ? kept / l->n_k : 1;
    l->left_out = l->n_q - queries;
    l->n_q = queries;
}

enum av_status av_source_tail_make(struct av_source_tail *out, const struct av_source *whole, size_t pairs, size_t kept,
                                   struct av_error *e)
{
    size_t first = 0;
    while (first < whole->layer_count && !is_long(&whole->layers[first], pairs)) {
        first++;
    }
    *out = (struct av_source_tail){ .source = *whole, .whole = whole };
    if (first == whole->layer_count) {
        return AV_OK;
    }
    out->layers = av_alloc(whole->layer_count, sizeof *out->layers);
    if (out->layers == NULL) {
        return av_fail_nomem(e, whole->name);
    }
    memcpy(out->layers, whole->layers, whole->layer_count * sizeof *out->layers);
    for (size_t i = first; i < whole->layer_count; i++) {
        if (is_long(&whole->layers[i], pairs)) {
            cut(&out->layers[i], kept);
        }
    }
    out->source.layers = out->layers;
    out->source.read = read_tail;
    out->source.state = out;
    return AV_OK;
}

void av_source_tail_free(struct av_source_tail *t)
{
    av_free(t->layers);
    memset(t, 0, sizeof *t);
}
