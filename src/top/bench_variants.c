/* bench_variants.c - what each variant costs beside plain softmax, and the study that compares them. */
#include "attnviz/attend.h"
#include "attnviz/mem.h"
#include "attnviz/stats.h"
#include "attnviz/study.h"
#include "attnviz/variant.h"
#include "attnviz/variant_study.h"
#include "bench.h"

#include <math.h>

enum { ROUNDS = 9, MILLISECONDS_MOST = 1500, RUNS_OF_STUDY = 3, D_K = 64, STUDY_N = 128, SOFTMAX = 0 };

static const size_t SIZES[] = { 128, 512 };
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static const struct av_bench_stage STAGES[2] = {
    { "rows", "weights and row statistics by a variant, from scores that are there" },
    { "rows_dq", "the same, and dq_rms of every row" },
};
static const struct av_bench_stage STUDY = { "variants", "the study of all variants, until its table is whole" };

/* Softmax, and the rows of the table that can be compared: entries that are no presets. */
static size_t variant_count(void)
{
    size_t presets;
    av_presets_table(&presets);
    return av_variant_entries() - presets;
}

size_t av_bench_variants_count(void)
{
    return SIZE_COUNT * 2 * variant_count() + 1;
}

/* ---- One size ------------------------------------------------------------------- */

struct rows {
    struct av_params p;
    size_t n;
    float *q, *k;   /* [n, D_K] */
    double *scores; /* [n, n] */
    double *weights, *dq;
    struct av_rowstats *stats;
    bool *invalid;
    void *scratch;
    struct av_moments moments;
    struct av_attend *attend;
};

static void free_rows(struct rows *r)
{
    void *all[] = { r->q, r->k, r->scores, r->weights, r->dq, r->stats, r->invalid, r->scratch };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    av_attend_free(r->attend);
}

static void fill(struct rows *r)
{
    const struct av_kernels *kernels = av_kernels_best();
    const struct av_entries q = { .f32 = r->q, .pitch = D_K }, k = { .f32 = r->k, .pitch = D_K };
    const struct av_block all = { 0, r->n, 0, r->n, 0, D_K };
    for (uint32_t i = 0; i < r->n; i++) {
        kernels->draw(r->q + i * D_K, 0, D_K, AV_DIST_NORMAL, (struct av_stream){ r->p.seed, 0, i });
        kernels->draw(r->k + i * D_K, 0, D_K, AV_DIST_NORMAL, (struct av_stream){ r->p.seed, 1, i });
    }
    kernels->scores(r->scores, r->n, &q, &k, &all, r->scratch);
    r->moments = (struct av_moments)AV_MOMENTS_INIT;
    av_moments_add(&r->moments, r->scores, r->n * r->n);
}

static enum av_status make_rows(struct rows *r, size_t n, struct av_error *e)
{
    *r = (struct rows){ .n = n };
    av_params_default(&r->p);
    r->p.n_q = r->p.n_k = (int64_t)n;
    r->p.d_k = D_K;
    r->q = av_alloc(n * D_K, sizeof *r->q);
    r->k = av_alloc(n * D_K, sizeof *r->k);
    r->scores = av_alloc(n * n, sizeof *r->scores);
    r->weights = av_alloc(n * n, sizeof *r->weights);
    r->dq = av_alloc(n, sizeof *r->dq);
    r->stats = av_alloc(n, sizeof *r->stats);
    r->invalid = av_alloc(n, sizeof *r->invalid);
    r->scratch = av_alloc(1, AV_SCORES_SCRATCH);
    if (r->q == NULL || r->k == NULL || r->scores == NULL || r->weights == NULL || r->dq == NULL || r->stats == NULL ||
        r->invalid == NULL || r->scratch == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    fill(r);
    return av_attend_new(&r->attend, NULL, e);
}

/* All rows by one variant, with what it prepares; in ms. */
static enum av_status time_once(double *ms, struct rows *r, av_variant_value variant, bool dq, struct av_error *e)
{
    const struct av_attend_head head = { .q = { .f32 = r->q, .pitch = D_K },
                                         .k = { .f32 = r->k, .pitch = D_K },
                                         .n_q = r->n,
                                         .n_k = r->n,
                                         .d = D_K,
                                         .scores = r->scores,
                                         .score_moments = &r->moments };
    const struct av_attend_rows all = {
        .from = 0, .to = r->n, .weights = r->weights, .rows = r->stats, .invalid = r->invalid, .dq = dq ? r->dq : NULL
    };
    const double before = av_bench_now();
    r->p.variant = variant;
    enum av_status s = av_attend_begin(r->attend, &r->p, &head, (double)NAN, e);
    if (s == AV_OK) {
        av_attend_run(r->attend, &all);
    }
    *ms = av_bench_now() - before;
    return s;
}

/* Results of all variants at that size: a round to warm up, then one at least,
 * and more while there is time. */
static enum av_status time_variants(struct av_bench_result *results, struct rows *r, bool dq, struct av_error *e)
{
    const size_t count = variant_count();
    double(*times)[ROUNDS] = av_alloc(count, sizeof *times);
    if (times == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    enum av_status s = AV_OK;
    const double end = av_bench_now() + MILLISECONDS_MOST;
    size_t rounds = 0;
    for (bool warm = false; s == AV_OK && (rounds == 0 || (rounds < ROUNDS && av_bench_now() < end)); warm = true) {
        for (size_t i = 0; s == AV_OK && i < count; i++) {
            s = time_once(&times[i][rounds], r, av_variant_entry(i).value, dq, e);
        }
        rounds += warm;
    }
    for (size_t i = count; s == AV_OK && i-- > 0;) { /* softmax last: the others' ratios need its times in order */
        double ratios[ROUNDS];
        results[i] = (struct av_bench_result){ .stage = &STAGES[dq],
                                               .n_q = r->n,
                                               .n_k = r->n,
                                               .d = D_K,
                                               .runs = rounds,
                                               .fastest = (double)INFINITY,
                                               .variant = av_variant_entry(i).name };
        for (size_t round = 0; round < rounds; round++) {
            ratios[round] = times[i][round] / times[SOFTMAX][round];
            results[i].fastest = fmin(results[i].fastest, times[i][round]);
        }
        results[i].ratio = av_median(ratios, rounds);
        results[i].median = av_median(times[i], rounds);
    }
    av_free(times);
    return s;
}

/* ---- The study --------------------------------------------------------------------- */

struct work {
    struct av_studies *studies;
    struct av_params p;
    enum av_status status;
    struct av_error error;
};

static bool waits(const struct av_variants *v)
{
    for (size_t i = 0; i < v->table.count; i++) {
        if (v->table.rows[i].state == AV_VARIANT_WAITING) {
            return true;
        }
    }
    return false;
}

static void run_study(void *context)
{
    struct work *work = context;
    const struct av_study *study = av_study_find("variants");
    work->p.seed++;
    work->status = av_studies_ask(work->studies, study, &work->p, &work->error);
    while (work->status == AV_OK && waits(av_studies_result(work->studies, study)) &&
           av_studies_step(work->studies, study)) {
    }
}

static enum av_status time_study(struct av_bench_result *result, struct av_error *e)
{
    struct work work = { .status = AV_OK };
    *result = (struct av_bench_result){ .stage = &STUDY, .n_q = STUDY_N, .n_k = STUDY_N, .d = D_K };
    av_params_default(&work.p);
    work.p.n_q = work.p.n_k = STUDY_N;
    work.p.d_k = D_K;
    enum av_status s = av_studies_new(&work.studies, NULL, e);
    if (s == AV_OK) {
        av_bench_time(result, RUNS_OF_STUDY, run_study, &work);
        s = work.status == AV_OK ? AV_OK : av_fail(e, work.status, "%s", work.error.text);
    }
    av_studies_free(work.studies);
    return s;
}

enum av_status av_bench_variants(struct av_bench_result *results, struct av_error *e)
{
    enum av_status s = time_study(results++, e);
    for (size_t i = 0; s == AV_OK && i < SIZE_COUNT; i++) {
        struct rows rows;
        s = make_rows(&rows, SIZES[i], e);
        for (int dq = 0; s == AV_OK && dq < 2; dq++) {
            s = time_variants(results, &rows, dq != 0, e);
            results += variant_count();
        }
        free_rows(&rows);
    }
    return s;
}
