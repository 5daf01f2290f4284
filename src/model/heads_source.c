/* heads_source.c - sampled heads, as a source that draws them. */
#include "attnviz/mem.h"
#include "entries.h"
#include "heads_state.h"

static enum av_status draw(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                           float *out_f32, double *out_f64, struct av_error *e)
{
    struct av_heads_drawn *d = state;
    size_t columns = d->layer.d;
    (void)layer;
    (void)out_f64;
    (void)e;
    d->params.head = (int64_t)head;
    for (size_t r = 0; r < rows; r++) {
        if (part == AV_PART_Q) {
            av_entries_query(d->kernels, &d->params, first + r, 0, columns, out_f32 + r * columns);
        } else {
            av_entries_key(d->kernels, &d->params, first + r, 0, columns, out_f32 + r * columns, d->scratch);
        }
    }
    return AV_OK;
}

enum av_status av_heads_draw(struct av_heads_drawn *d, const struct av_kernels *kernels, const struct av_params *p,
                             struct av_error *e)
{
    size_t columns = (size_t)p->d_k;
    if (d->scratch == NULL || columns > d->room) {
        float *scratch = av_alloc(columns, sizeof *scratch);
        if (scratch == NULL) {
            return av_fail_nomem(e, "heads");
        }
        av_free(d->scratch);
        d->scratch = scratch;
        d->room = columns;
    }
    d->kernels = kernels;
    d->params = *p;
    d->layer = (struct av_source_layer){
        .n_head = (size_t)p->n_head,
        .n_head_kv = (size_t)p->n_head,
        .n_q = (size_t)p->n_q,
        .n_k = (size_t)p->n_k,
        .d = columns,
        .part = { [AV_PART_Q] = { .there = true }, [AV_PART_K] = { .there = true } },
    };
    d->source = (struct av_source){ .layers = &d->layer, .layer_count = 1, .read = draw, .state = d };
    return AV_OK;
}
