/* parts_source.h - a source in memory whose first layer has Q and K, scores and weights, none of
 * which follows from another; and layers that have one part of it alone. */
#ifndef PARTS_SOURCE_H
#define PARTS_SOURCE_H

#include "attnviz/source.h"

#include <math.h>
#include <string.h>

enum { PARTS_N = 9, PARTS_D = 3, PARTS_HEADS = 2 };

/* Layers by place: but for the first, by the value of `from` that stands for them. */
enum parts_layer { PARTS_ALL, PARTS_QK, PARTS_SCORES, PARTS_WEIGHTS, PARTS_LAYERS };

struct parts_source {
    struct av_source source;
    struct av_source_layer layers[PARTS_LAYERS];
};

static inline double parts_entry(enum av_part part, size_t head, size_t i, size_t j)
{
    const double q = sin((double)(5 * i + j + head)), k = cos((double)(3 * i + 2 * j + head));
    const double score = 2 * sin((double)(2 * i + 7 * j + head));
    double sum = 0;
    for (size_t at = 0; at < PARTS_N; at++) {
        sum += (double)((3 * i + 7 * at + head) % 5) + 1;
    }
    const double all[AV_PARTS] = { q, k, score, ((double)((3 * i + 7 * j + head) % 5) + 1) / sum };
    return all[part];
}

static inline enum av_status parts_read(void *state, size_t layer, enum av_part part, size_t head, size_t first,
                                        size_t rows, float *out_f32, double *out_f64, struct av_error *e)
{
    const struct parts_source *s = state;
    const size_t columns = part == AV_PART_Q || part == AV_PART_K ? PARTS_D : PARTS_N;
    if (!s->layers[layer].part[part].there) {
        return av_fail(e, AV_FAILED, "layer %zu has not that part", layer);
    }
    for (size_t at = 0; at < rows * columns; at++) {
        const double x = parts_entry(part, head, first + at / columns, at % columns);
        if (out_f32 != NULL) {
            out_f32[at] = (float)x;
        } else {
            out_f64[at] = x;
        }
    }
    return AV_OK;
}

/* It points into itself: it must stay where it is. */
static inline void parts_source(struct parts_source *s)
{
    static const struct av_source_tensor parts[AV_PARTS] = {
        { .name = "q", .type = "F32", .rank = 3, .there = true },
        { .name = "k", .type = "F32", .rank = 3, .there = true },
        { .name = "scores", .type = "F64", .rank = 3, .there = true, .wide = true },
        { .name = "weights", .type = "F32", .rank = 3, .there = true },
    };
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < PARTS_LAYERS; i++) {
        struct av_source_layer *l = &s->layers[i];
        const bool entries = i == PARTS_ALL || i == PARTS_QK;
        *l = (struct av_source_layer){
            .number = i, .n_head = PARTS_HEADS, .n_head_kv = PARTS_HEADS, .n_q = PARTS_N, .n_k = PARTS_N
        };
        l->d = entries ? PARTS_D : 0;
        for (size_t part = 0; part < AV_PARTS; part++) {
            const bool there = part == AV_PART_SCORES    ? i == PARTS_ALL || i == PARTS_SCORES
                               : part == AV_PART_WEIGHTS ? i == PARTS_ALL || i == PARTS_WEIGHTS
                                                         : entries;
            if (there) {
                l->part[part] = parts[part];
            }
        }
    }
    s->source = (struct av_source){
        .name = "parts", .layers = s->layers, .layer_count = PARTS_LAYERS, .read = parts_read, .state = s
    };
}

#endif
