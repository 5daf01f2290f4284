/* bench_fused.c - the statistics of a head's rows with its matrices in memory, and without. */
#include "attnviz/fused.h"
#include "attnviz/mem.h"
#include "bench.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 3 };

static const struct av_bench_stage MATERIALISED = {
    "materialised", "scores, their moments, weights and row statistics of a head, as whole matrices"
};
static const struct av_bench_stage FUSED = { "fused",
                                             "the same moments and statistics tile by tile, without matrices" };

static const struct {
    size_t n, d;
} SIZES[AV_BENCH_FUSED / 2] = { { 2048, 64 }, { 4096, 64 }, { 4096, 128 } };

/* Queries and keys in memory, as a file that is mapped has them, and what the
 * whole matrices need. */
struct head {
    struct av_params p;
    struct av_source_layer layer;
    struct av_source source;
    size_t n, d;
    float *entries[2]; /* Q, K: [n, d] */
    double *scores, *weights;
    struct av_rowstats *rows;
    void *scratch;
    struct av_moments moments;
    struct av_spread spread;
};

static enum av_status read_rows(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                float *f32, double *f64, struct av_error *e)
{
    const struct head *h = state;
    (void)layer, (void)head, (void)f64, (void)e;
    memcpy(f32, h->entries[part] + first * h->d, rows * h->d * sizeof *f32);
    return AV_OK;
}

static void free_head(struct head *h)
{
    void *all[] = { h->entries[0], h->entries[1], h->scores, h->weights, h->rows, h->scratch };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
}

static enum av_status make_head(struct head *h, size_t n, size_t d, struct av_error *e)
{
    *h = (struct head){ .n = n, .d = d };
    av_params_default(&h->p);
    h->p.d_k = (int64_t)d;
    h->layer = (struct av_source_layer){ .n_head = 1, .n_head_kv = 1, .n_q = n, .n_k = n, .d = d };
    h->source = (struct av_source){ .layers = &h->layer, .layer_count = 1, .read = read_rows, .state = h };
    h->entries[0] = av_alloc(n * d, sizeof(float));
    h->entries[1] = av_alloc(n * d, sizeof(float));
    h->scores = av_alloc(n * n, sizeof *h->scores);
    h->weights = av_alloc(n * n, sizeof *h->weights);
    h->rows = av_alloc(n, sizeof *h->rows);
    h->scratch = av_alloc(1, AV_SCORES_SCRATCH);
    if (h->entries[0] == NULL || h->entries[1] == NULL || h->scores == NULL || h->weights == NULL || h->rows == NULL ||
        h->scratch == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    for (uint32_t tensor = 0; tensor < 2; tensor++) {
        for (uint32_t i = 0; i < n; i++) {
            struct av_stream stream = { h->p.seed, tensor, i };
            av_kernels_best()->draw(h->entries[tensor] + i * d, 0, d, AV_DIST_NORMAL, stream);
        }
    }
    return AV_OK;
}

static void materialise(struct head *h)
{
    const struct av_kernels *kernels = av_kernels_best();
    const struct av_entries q = { .f32 = h->entries[0], .pitch = h->d }, k = { .f32 = h->entries[1], .pitch = h->d };
    const struct av_block all = { 0, h->n, 0, h->n, 0, h->d };
    kernels->scores(h->scores, h->n, &q, &k, &all, h->scratch);
    h->moments = (struct av_moments)AV_MOMENTS_INIT;
    h->spread = (struct av_spread){ 0, 0 };
    for (size_t i = 0; i < h->n; i++) {
        const double *s = h->scores + i * h->n;
        struct av_moments row = AV_MOMENTS_INIT;
        av_moments_add(&row, s, h->n);
        av_moments_merge(&h->moments, &row);
        av_spread_add(&h->spread, &row);
        kernels->softmax(h->weights + i * h->n, s, av_params_alpha(&h->p), h->n, &h->rows[i]);
    }
}

static enum av_status fuse(struct head *h, struct av_error *e)
{
    struct av_fused *f;
    enum av_status s = av_fused_begin(&f, &h->source, 0, 0, &h->p, 1, NULL, e);
    if (s == AV_OK) {
        s = av_fused_run(f, NULL, NULL, e);
    }
    av_fused_free(f);
    return s;
}

/* Both of them in turn in each round, after one that warms up. */
static enum av_status time_head(struct av_bench_result results[2], struct head *h, struct av_error *e)
{
    double times[2][ROUNDS + 1];
    enum av_status s = AV_OK;
    for (size_t round = 0; s == AV_OK && round <= ROUNDS; round++) {
        const double begun = av_bench_now();
        materialise(h);
        const double between = av_bench_now();
        s = fuse(h, e);
        times[0][round] = between - begun;
        times[1][round] = av_bench_now() - between;
    }
    const double matrices = 2 * (double)(h->n * h->n * sizeof(double)) + (double)(h->n * sizeof *h->rows);
    for (size_t i = 0; s == AV_OK && i < 2; i++) {
        results[i] = (struct av_bench_result){ .stage = i == 0 ? &MATERIALISED : &FUSED,
                                               .n_q = h->n,
                                               .n_k = h->n,
                                               .d = h->d,
                                               .runs = ROUNDS,
                                               .fastest = (double)INFINITY,
                                               .operations = 2 * (double)h->n * (double)h->n * (double)h->d,
                                               .bytes = i == 0 ? matrices + AV_SCORES_SCRATCH
                                                               : (double)av_fused_bytes(&h->source, 0, 1) };
        for (size_t round = 1; round <= ROUNDS; round++) {
            results[i].fastest = fmin(results[i].fastest, times[i][round]);
        }
        results[i].median = av_median(times[i] + 1, ROUNDS);
    }
    return s;
}

enum av_status av_bench_fused(struct av_bench_result *results, struct av_error *e)
{
    enum av_status s = AV_OK;
    for (size_t i = 0; s == AV_OK && i < AV_BENCH_FUSED / 2; i++) {
        struct head *h = av_alloc(1, sizeof *h);
        if (h == NULL) {
            return av_fail_nomem(e, "the benchmark");
        }
        s = make_head(h, SIZES[i].n, SIZES[i].d, e);
        if (s == AV_OK) {
            s = time_head(results + 2 * i, h, e);
        }
        free_head(h);
        av_free(h);
    }
    return s;
}
