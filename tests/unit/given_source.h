/* given_source.h - a source in memory with layers that have Q and K, weights, or scores. */
#ifndef GIVEN_SOURCE_H
#define GIVEN_SOURCE_H

#include "attnviz/source.h"

#include <math.h>
#include <string.h>

enum { GIVEN_N = 12, GIVEN_D = 4, GIVEN_HEADS = 2 };

/* Layers by place. */
enum given_layer { GIVEN_ENTRIES, GIVEN_WEIGHTS, GIVEN_SCORES, GIVEN_SMALL, GIVEN_LAYERS };

/* [n, n] of layers WEIGHTS (in single precision) and SCORES; SMALL is [5, 9]
 * of weights 1/9. Both heads are the same, but that one may be broken. */
struct given_source {
    struct av_source source;
    struct av_source_layer layers[GIVEN_LAYERS];
    double weights[GIVEN_N * GIVEN_N], scores[GIVEN_N * GIVEN_N];
    size_t broken_layer, broken_head; /* cannot be read; GIVEN_LAYERS: all can be */
};

static inline double given_entry(const struct given_source *g, size_t layer, size_t i, size_t j)
{
    return layer == GIVEN_WEIGHTS  ? g->weights[i * GIVEN_N + j]
           : layer == GIVEN_SCORES ? g->scores[i * GIVEN_N + j]
           : layer == GIVEN_SMALL  ? 1.0 / 9
                                   : cos((double)(3 * i + j));
}

static inline enum av_status given_read(void *state, size_t layer, enum av_part part, size_t head, size_t first,
                                        size_t rows, float *out_f32, double *out_f64, struct av_error *e)
{
    const struct given_source *g = state;
    const struct av_source_layer *l = &g->layers[layer];
    size_t columns = part == AV_PART_Q || part == AV_PART_K ? l->d : l->n_k;
    if (layer == g->broken_layer && head == g->broken_head && first + rows == l->n_q) {
        return av_fail(e, AV_FAILED, "layer %zu, head %zu has gone", layer, head);
    }
    for (size_t at = 0; at < rows * columns; at++) {
        double x = given_entry(g, layer, first + at / columns, at % columns);
        if (out_f32 != NULL) {
            out_f32[at] = (float)x;
        } else {
            out_f64[at] = x;
        }
    }
    return AV_OK;
}

static inline struct av_source_layer given_layer(size_t number, size_t n_q, size_t n_k, size_t d)
{
    return (struct av_source_layer){
        .number = number, .n_head = GIVEN_HEADS, .n_head_kv = GIVEN_HEADS, .n_q = n_q, .n_k = n_k, .d = d
    };
}

/* The scores of tests/reference/given_reference.py, and their softmax. g must
 * stay where it is. */
static inline void given_source(struct given_source *g)
{
    static const char *const names[GIVEN_LAYERS] = { "q", "w", "s", "small" };
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < GIVEN_N; i++) {
        double sum = 0;
        for (size_t j = 0; j < GIVEN_N; j++) {
            double score = ((double)((7 * i + 5 * j) % 11) - 5) / 2 + (i == j);
            g->scores[i * GIVEN_N + j] = score;
            sum += exp(score);
        }
        for (size_t j = 0; j < GIVEN_N; j++) {
            g->weights[i * GIVEN_N + j] = exp(g->scores[i * GIVEN_N + j]) / sum;
        }
    }
    g->broken_layer = GIVEN_LAYERS;
    for (size_t l = 0; l < GIVEN_LAYERS; l++) {
        g->layers[l] = l == GIVEN_SMALL ? given_layer(l, 5, 9, 0)
                                        : given_layer(l, GIVEN_N, GIVEN_N, l == GIVEN_ENTRIES ? GIVEN_D : 0);
    }
    const struct av_source_tensor narrow = { .type = "F32", .rank = 3, .there = true };
    const struct av_source_tensor wide = { .type = "F64", .rank = 3, .there = true, .wide = true };
    g->layers[GIVEN_ENTRIES].part[AV_PART_Q] = g->layers[GIVEN_ENTRIES].part[AV_PART_K] = narrow;
    g->layers[GIVEN_WEIGHTS].part[AV_PART_WEIGHTS] = narrow;
    g->layers[GIVEN_SCORES].part[AV_PART_SCORES] = wide;
    g->layers[GIVEN_SMALL].part[AV_PART_WEIGHTS] = wide;
    for (size_t l = 0; l < GIVEN_LAYERS; l++) {
        for (size_t p = 0; p < AV_PARTS; p++) {
            g->layers[l].part[p].name = names[l];
        }
    }
    g->source = (struct av_source){
        .name = "given", .layers = g->layers, .layer_count = GIVEN_LAYERS, .read = given_read, .state = g
    };
}

#endif
