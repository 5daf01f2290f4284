/* heads_source.h - a source in memory, with heads whose patterns are known. */
#ifndef HEADS_SOURCE_H
#define HEADS_SOURCE_H

#include "attnviz/source.h"

#include <math.h>
#include <string.h>

enum { MADE_N = 32, MADE_HEADS = 6, MADE_LAYERS = 3 };

/* Queries that look at one key each, by a factor that decides how hard. */
struct made_head {
    const char *name; /* what it is called, "" by no name */
    double logit;     /* of that key, the others' is 0 */
    int times, plus;  /* key (times i + plus) mod n */
};

/* In the order of the heads. Sink: e^z / (e^z + 31) = 0.8. */
static const struct made_head made_heads[MADE_HEADS] = {
    { "previous", 40, 1, MADE_N - 1 },
    { "sink", 4.8202815656050371, 0, 0 },
    { "uniform", 0, 0, 0 },
    { "diagonal", 40, 1, 0 },
    { "peaked", 40, 7, 3 },
    { "", 2, 7, 3 },
};

static inline int made_key(const struct made_head *h, size_t i)
{
    return (h->times * (int)i + h->plus) % MADE_N;
}

static inline double made_weight(const struct made_head *h, size_t i, size_t j)
{
    double e = exp(h->logit);
    return (made_key(h, i) == (int)j ? e : 1) / (e + MADE_N - 1);
}

/* Layer 0: queries and one key head, unit vectors, in single precision; layer 1:
 * weights in double; layer 2: logits in double. The same heads three times. */
struct made_source {
    struct av_source source;
    struct av_source_layer layers[MADE_LAYERS];
    size_t broken; /* head of layer 0 that cannot be read; MADE_HEADS: none */
};

static inline double made_entry(size_t layer, enum av_part part, size_t head, size_t i, size_t j)
{
    (void)layer;
    const struct made_head *h = &made_heads[head];
    bool there = made_key(h, i) == (int)j;
    switch (part) {
    case AV_PART_Q:
        return there ? h->logit * sqrt(MADE_N) : 0;
    case AV_PART_K:
        return i == j;
    case AV_PART_SCORES:
        return there ? h->logit : 0;
    default:
        return made_weight(h, i, j);
    }
}

static inline enum av_status made_read(void *state, size_t layer, enum av_part part, size_t head, size_t first,
                                       size_t rows, float *out_f32, double *out_f64, struct av_error *e)
{
    const struct made_source *m = state;
    if (layer == 0 && part == AV_PART_Q && head == m->broken) {
        return av_fail(e, AV_FAILED, "head %zu has gone", head);
    }
    for (size_t at = 0; at < rows * MADE_N; at++) {
        double x = made_entry(layer, part, head, first + at / MADE_N, at % MADE_N);
        if (out_f32 != NULL) {
            out_f32[at] = (float)x;
        } else {
            out_f64[at] = x;
        }
    }
    return AV_OK;
}

static inline void made_source(struct made_source *m)
{
    memset(m, 0, sizeof *m);
    m->broken = MADE_HEADS;
    for (size_t i = 0; i < MADE_LAYERS; i++) {
        m->layers[i] = (struct av_source_layer){ .number = 10 + i,
                                                 .n_head = MADE_HEADS,
                                                 .n_head_kv = 1,
                                                 .n_q = MADE_N,
                                                 .n_k = MADE_N,
                                                 .d = i == 0 ? MADE_N : 0 };
    }
    m->layers[0].part[AV_PART_Q].there = m->layers[0].part[AV_PART_K].there = true;
    m->layers[1].part[AV_PART_WEIGHTS] = (struct av_source_tensor){ .there = true, .wide = true };
    m->layers[2].part[AV_PART_SCORES] = (struct av_source_tensor){ .there = true, .wide = true };
    m->source = (struct av_source){
        .name = "made", .layers = m->layers, .layer_count = MADE_LAYERS, .read = made_read, .state = m
    };
}

#endif
