/* drawn_source.h - a source of any size that holds nothing: entries are drawn as
 * they are read, the same ones that a model draws for its head 0. */
#ifndef DRAWN_SOURCE_H
#define DRAWN_SOURCE_H

#include "attnviz/source.h"

#include <string.h>

struct drawn_source {
    struct av_source source;
    struct av_source_layer layer;
    uint64_t seed;
    size_t reads, rows_read, rows_most; /* counted; the last: of one call */
    size_t next[AV_PARTS], went_back;   /* the row behind those read last; reads of earlier ones */
    size_t fail_after;                  /* so many reads; 0: never */
    size_t not_finite;                  /* this query's last entry is NaN; 0: none */
};

enum { DRAWN_COLUMNS_MAX = 4096 };

static inline enum av_status drawn_read(void *state, size_t layer, enum av_part part, size_t head, size_t first,
                                        size_t rows, float *f32, double *f64, struct av_error *e)
{
    struct drawn_source *s = state;
    size_t d = s->layer.d;
    (void)layer, (void)head;
    s->reads++;
    s->rows_read += rows;
    s->rows_most = rows > s->rows_most ? rows : s->rows_most;
    s->went_back += first < s->next[part];
    s->next[part] = first + rows;
    if (s->fail_after > 0 && s->reads > s->fail_after) {
        return av_fail(e, AV_FAILED, "the file has shrunk");
    }
    for (size_t r = 0; r < rows; r++) {
        float x[DRAWN_COLUMNS_MAX];
        struct av_stream stream = { s->seed, part == AV_PART_K, (uint32_t)(first + r) };
        av_kernels_best()->draw(x, 0, d, AV_DIST_NORMAL, stream);
        if (part == AV_PART_Q && s->not_finite > 0 && first + r == s->not_finite) {
            x[d - 1] = (float)NAN;
        }
        for (size_t c = 0; f64 != NULL && c < d; c++) {
            f64[r * d + c] = (double)x[c];
        }
        if (f32 != NULL) {
            memcpy(f32 + r * d, x, d * sizeof *x);
        }
    }
    return AV_OK;
}

/* s must stay where it is. */
static inline void drawn_source(struct drawn_source *s, size_t n_q, size_t n_k, size_t d, bool wide)
{
    *s = (struct drawn_source){ .seed = 0 };
    s->layer = (struct av_source_layer){ .n_head = 4, .n_head_kv = 2, .n_q = n_q, .n_k = n_k, .d = d };
    s->layer.part[AV_PART_Q] =
        (struct av_source_tensor){ .name = "q", .type = wide ? "F64" : "F32", .there = true, .wide = wide };
    s->layer.part[AV_PART_K] =
        (struct av_source_tensor){ .name = "k", .type = wide ? "F64" : "F32", .there = true, .wide = wide };
    s->source =
        (struct av_source){ .name = "drawn", .layers = &s->layer, .layer_count = 1, .read = drawn_read, .state = s };
}

#endif
