/* stage_scores.c - SAMPLE and SCORES: drawing entries and multiplying them. */
#include "entries.h"
#include "stages.h"

#include <string.h>

/* How much of the old entries and scores the new ones share. */
struct reuse {
    size_t n_q, n_k, d;
};

/* Would these parameters draw the same entries, sizes aside? */
static bool same_entries(const struct av_params *a, const struct av_params *b)
{
    struct av_params resized = *a;
    size_t count;
    const struct av_param *table = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        if ((table[i].flags & AV_PARAM_SIZE) != 0) {
            av_param_set(&table[i], &resized, av_param_get(&table[i], b));
        }
    }
    return av_params_stale(&resized, b) > AV_STAGE_SAMPLE;
}

/* Reuse, extend or rebuild: decided here. Entries are pure functions of their
 * place, so what two shapes have in common is kept. */
static struct reuse plan_reuse(const struct av_model *m, const struct av_params *p, struct av_shape shape)
{
    struct reuse none = { 0, 0, 0 };
    const struct av_shape *old = &m->buffers.shape;
    if (!m->ready || m->source != NULL || shape.d == 0 || old->d == 0 || !same_entries(&m->snapshot.params, p)) {
        return none;
    }
    struct reuse keep = { old->n_q < shape.n_q ? old->n_q : shape.n_q, old->n_k < shape.n_k ? old->n_k : shape.n_k,
                          old->d < shape.d ? old->d : shape.d };
    return keep;
}

static void copy_rows(float *to, size_t to_pitch, const float *from, size_t from_pitch, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++) {
        memcpy(to + i * to_pitch, from + i * from_pitch, columns * sizeof *to);
    }
}

static void draw_entries(struct av_model *m, const struct av_params *p, struct av_buffers *b, struct reuse keep)
{
    for (size_t i = 0; i < b->shape.n_q; i++) {
        size_t first = i < keep.n_q ? keep.d : 0;
        if (first < b->shape.d) {
            av_entries_query(m->kernels, p, i, first, b->shape.d, b->q + i * b->pitch);
        }
    }
    for (size_t j = 0; j < b->shape.n_k; j++) {
        size_t first = j < keep.n_k ? keep.d : 0;
        if (first < b->shape.d) {
            av_entries_key(m->kernels, p, j, first, b->shape.d, b->k + j * b->pitch, b->draw_scratch);
        }
    }
}

struct av_entries av_model_queries(const struct av_model *m)
{
    const struct av_buffers *b = &m->buffers;
    return m->source != NULL ? m->head.q : (struct av_entries){ .f32 = b->q, .pitch = b->pitch };
}

struct av_entries av_model_keys(const struct av_model *m)
{
    const struct av_buffers *b = &m->buffers;
    return m->source != NULL ? m->head.k : (struct av_entries){ .f32 = b->k, .pitch = b->pitch };
}

/* Runs SCORES: the shared block continues its sums, the rest starts anew. A
 * smaller d_k rebuilds: subtracting columns would not give the same bits. */
static void run_scores(struct av_model *m, struct reuse keep)
{
    struct av_buffers *b = &m->buffers;
    struct av_entries q = av_model_queries(m);
    struct av_entries k = av_model_keys(m);
    struct av_shape s = b->shape;
    const struct av_block blocks[] = {
        { 0, keep.n_q, 0, keep.n_k, keep.d, s.d },
        { 0, keep.n_q, keep.n_k, s.n_k, 0, s.d },
        { keep.n_q, s.n_q, 0, s.n_k, 0, s.d },
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        const struct av_block *at = &blocks[i];
        if (at->i0 < at->i1 && at->j0 < at->j1 && at->c0 < at->c1) {
            m->kernels->scores(b->scores, s.n_k, &q, &k, at, m->scores_scratch);
        }
    }
    m->snapshot.runs[AV_STAGE_SCORES]++;
}

enum av_status av_stage_load(struct av_model *m, const struct av_params *p, struct av_error *e)
{
    size_t layer = (size_t)p->layer;
    size_t head = (size_t)p->head;
    enum av_part from = av_source_from(&m->source->layers[layer], (enum av_from)p->from);
    struct av_loaded_head fresh;
    if (m->head.memory != NULL && m->head.layer == layer && m->head.head == head && m->head.from == from) {
        return AV_OK;
    }
    enum av_status status = av_source_load_from(&fresh, m->source, layer, head, from, e);
    if (status != AV_OK) {
        av_loaded_head_free(&fresh);
        return status;
    }
    m->spare_head = m->head;
    m->head = fresh;
    return AV_OK;
}

enum av_status av_stage_scores(struct av_model *m, const struct av_params *p, struct av_shape shape, struct av_error *e)
{
    struct av_buffers *old = &m->buffers;
    struct reuse keep = plan_reuse(m, p, shape);
    bool sampled = m->source == NULL && shape.d > 0;
    bool same_shape = old->shape.n_q == shape.n_q && old->shape.n_k == shape.n_k && old->shape.d == shape.d &&
                      old->shape.given == shape.given && old->rows != NULL;
    if (!same_shape) {
        struct av_buffers fresh;
        enum av_status status = av_buffers_make(&fresh, shape, old->shape, sampled, e);
        if (status != AV_OK) {
            return status;
        }
        copy_rows(fresh.q, fresh.pitch, old->q, old->pitch, keep.n_q, keep.d);
        copy_rows(fresh.k, fresh.pitch, old->k, old->pitch, keep.n_k, keep.d);
        for (size_t i = 0; i < keep.n_q; i++) {
            memcpy(fresh.scores + i * shape.n_k, old->scores + i * old->shape.n_k, keep.n_k * sizeof *fresh.scores);
        }
        bool shrunk = shape.d < old->shape.d;
        m->spare = *old;
        *old = fresh;
        if (sampled) {
            draw_entries(m, p, old, keep);
        }
        keep = shrunk ? (struct reuse){ 0, 0, 0 } : keep;
    } else if (sampled) {
        draw_entries(m, p, old, keep);
    }
    struct av_snapshot *s = &m->snapshot;
    s->n_q = shape.n_q;
    s->n_k = shape.n_k;
    s->d_k = shape.d;
    s->head = shape.d > 0 || shape.given ? (size_t)p->head : 0;
    s->k_head = m->source != NULL && shape.d > 0 ? m->head.k_head : s->head;
    if (shape.d > 0) {
        s->runs[AV_STAGE_SAMPLE]++;
        run_scores(m, keep);
    }
    return AV_OK;
}
