/* diagnosis_driver.h - heads in memory, made to have a fault or none. */
#ifndef DIAGNOSIS_DRIVER_H
#define DIAGNOSIS_DRIVER_H

#include "attnviz/diagnosis.h"
#include "attnviz/dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* One head; all heads of its layer are the same. */
struct made {
    size_t n_q, n_k, d;
    bool causal;
    enum av_dtype dtype; /* of the weights */
    uint64_t random;     /* state of the generator */
    double *part[AV_PARTS];
    double *logits; /* [n_q, n_k], before the mask */
    struct av_source_layer layer;
    struct av_source source;
};

/* splitmix64 (Steele, Lea and Flood 2014), as a number of [0, 1). */
static inline double uniform(struct made *m)
{
    uint64_t x = m->random += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static inline double normal(struct made *m)
{
    return sqrt(-2 * log(1 - uniform(m))) * cos(6.283185307179586 * uniform(m));
}

static inline size_t columns_of(const struct made *m, enum av_part part)
{
    return part == AV_PART_Q || part == AV_PART_K ? m->d : m->n_k;
}

static inline enum av_status read_made(void *state, size_t layer, enum av_part part, size_t head, size_t first,
                                       size_t rows, float *out_f32, double *out_f64, struct av_error *e)
{
    const struct made *m = state;
    (void)layer;
    (void)head;
    (void)e;
    size_t n = columns_of(m, part);
    for (size_t i = 0; i < rows * n; i++) {
        double x = m->part[part][first * n + i];
        if (out_f32 != NULL) {
            out_f32[i] = (float)x;
        } else {
            out_f64[i] = x;
        }
    }
    return AV_OK;
}

/* Q and K of N(0, 1); the caller calls made_free. */
static inline void made_new(struct made *m, size_t n, size_t d, bool causal, uint64_t seed)
{
    *m = (struct made){ .n_q = n, .n_k = n, .d = d, .causal = causal, .dtype = AV_DTYPE_F32, .random = seed };
    for (size_t part = 0; part < AV_PARTS; part++) {
        m->part[part] = calloc(n * (d > n ? d : n), sizeof(double));
        assert_non_null(m->part[part]);
    }
    m->logits = calloc(n * n, sizeof(double));
    assert_non_null(m->logits);
    for (size_t i = 0; i < n * d; i++) {
        m->part[AV_PART_Q][i] = (double)(float)normal(m);
        m->part[AV_PART_K][i] = (double)(float)normal(m);
    }
    m->layer = (struct av_source_layer){ .n_head = 4, .n_head_kv = 4, .n_q = n, .n_k = n, .d = d };
    m->layer.part[AV_PART_Q] = (struct av_source_tensor){ .name = "q", .type = "F32", .there = true };
    m->layer.part[AV_PART_K] = (struct av_source_tensor){ .name = "k", .type = "F32", .there = true };
    m->layer.part[AV_PART_SCORES] = (struct av_source_tensor){ .name = "s", .type = "F64", .wide = true };
    m->layer.part[AV_PART_WEIGHTS] = (struct av_source_tensor){ .name = "w", .type = "F32" };
    m->source = (struct av_source){ .name = "made", .layer_count = 1, .read = read_made };
}

static inline void made_free(struct made *m)
{
    for (size_t part = 0; part < AV_PARTS; part++) {
        free(m->part[part]);
    }
    free(m->logits);
}

static inline bool masked(const struct made *m, size_t i, size_t j)
{
    return m->causal && j > i + m->n_k - m->n_q;
}

/* logits = multiplier q.k */
static inline void make_logits(struct made *m, double multiplier)
{
    for (size_t i = 0; i < m->n_q; i++) {
        for (size_t j = 0; j < m->n_k; j++) {
            double sum = 0;
            for (size_t c = 0; c < m->d; c++) {
                sum += m->part[AV_PART_Q][i * m->d + c] * m->part[AV_PART_K][j * m->d + c];
            }
            m->logits[i * m->n_k + j] = multiplier * sum;
        }
    }
}

/* In place, of what is not masked; the rest becomes 0. `axis` 1: over keys. */
static inline void softmax(struct made *m, double *x, int axis)
{
    size_t outer = axis == 1 ? m->n_q : m->n_k, inner = axis == 1 ? m->n_k : m->n_q;
    for (size_t a = 0; a < outer; a++) {
        double most = -(double)INFINITY, sum = 0;
        for (size_t pass = 0; pass < 3; pass++) {
            for (size_t b = 0; b < inner; b++) {
                size_t i = axis == 1 ? a : b, j = axis == 1 ? b : a;
                double *at = &x[i * m->n_k + j];
                if (masked(m, i, j)) {
                    *at = 0;
                } else if (pass == 0) {
                    most = fmax(most, *at);
                } else if (pass == 1) {
                    sum += *at = exp(*at - most);
                } else {
                    *at /= sum;
                }
            }
        }
    }
}

/* Gives the source weights: what stands in part[AV_PART_WEIGHTS], rounded. */
static inline void give_weights(struct made *m)
{
    av_dtype_round_all(m->dtype, m->part[AV_PART_WEIGHTS], m->n_q * m->n_k);
    m->layer.part[AV_PART_WEIGHTS].there = true;
    m->layer.part[AV_PART_WEIGHTS].wide = m->dtype == AV_DTYPE_F64;
}

/* Weights of the logits, by a softmax as it should be, not yet given. */
static inline double *plain_weights(struct made *m)
{
    memcpy(m->part[AV_PART_WEIGHTS], m->logits, m->n_q * m->n_k * sizeof(double));
    softmax(m, m->part[AV_PART_WEIGHTS], 1);
    return m->part[AV_PART_WEIGHTS];
}

static inline void no_entries(struct made *m)
{
    m->layer.part[AV_PART_Q].there = m->layer.part[AV_PART_K].there = false;
    m->layer.d = 0;
}

static inline void has_entries(struct made *m)
{
    m->layer.part[AV_PART_Q].there = m->layer.part[AV_PART_K].there = true;
    m->layer.d = m->d;
}

static inline struct av_params params_of(const struct made *m)
{
    struct av_params p;
    av_params_default(&p);
    p.mask = m->causal ? AV_MASK_CAUSAL : AV_MASK_NONE;
    return p;
}

static inline struct av_diagnosis diagnose_with(struct made *m, const struct av_params *p)
{
    struct av_diagnosis r;
    struct av_error e = { "" };
    m->source.layers = &m->layer;
    m->source.state = m;
    if (av_diagnose_head(&r, &m->source, 0, 1, p, NULL, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return r;
}

static inline struct av_diagnosis diagnose(struct made *m)
{
    struct av_params p = params_of(m);
    return diagnose_with(m, &p);
}

static inline const struct av_verdict *find(const struct av_diagnosis *r, const char *code)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        if (strcmp(r->findings[i].code, code) == 0) {
            return &r->findings[i];
        }
    }
    return NULL;
}

static inline void tell(const struct made *m, const struct av_diagnosis *r)
{
    print_message("n %zu, d %zu, causal %d, dtype %d:\n", m->n_k, m->d, m->causal, (int)m->dtype);
    for (size_t i = 0; i < r->finding_count; i++) {
        print_message("  %d %s: %s\n", (int)r->findings[i].severity, r->findings[i].code, r->findings[i].text);
    }
}

/* There is `code` (NULL: nothing), and no other warning but saturated rows and
 * dead gradients. */
static inline void assert_only(const struct made *m, const struct av_diagnosis *r, const char *code)
{
    bool found = code == NULL;
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct av_verdict *v = &r->findings[i];
        bool this = code != NULL && strcmp(v->code, code) == 0;
        bool spread = strcmp(v->code, "saturated") == 0 || strcmp(v->code, "gradient_dead") == 0;
        found = found || this;
        if (!this && !spread && v->severity != AV_INFO) {
            tell(m, r);
            fail_msg("%s was not made", v->code);
        }
    }
    if (!found) {
        tell(m, r);
        fail_msg("%s was not found", code);
    }
}

/* Calls test for heads of several sizes (n from `smallest` on), masks and types of
 * weights. */

static inline void for_settings(void (*test)(struct made *m), size_t smallest)
{
    static const size_t sizes[][2] = { { 8, 8 }, { 16, 64 }, { 33, 16 }, { 64, 64 }, { 128, 32 }, { 256, 128 } };
    static const enum av_dtype dtypes[] = { AV_DTYPE_F64, AV_DTYPE_F32, AV_DTYPE_BF16, AV_DTYPE_F16 };
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        for (size_t round = 0; sizes[i][0] >= smallest && round < 2 * LENGTH(dtypes); round++) {
            if (sizes[i][0] > 64 && round % 3 != 0) {
                continue;
            }
            struct made m;
            made_new(&m, sizes[i][0], sizes[i][1], round % 2 == 1, 1000 * i + round);
            m.dtype = dtypes[round / 2];
            test(&m);
            made_free(&m);
        }
    }
}

#endif
