/* cmd_bench.c - `attnviz bench`: times the stages on this machine, one thread. */
#include "attnviz/mem.h"
#include "attnviz/model.h"
#include "attnviz/outfile.h"
#include "attnviz/report_io.h"
#include "attnviz/study.h"
#include "bench.h"
#include "commands.h"
#include "inputs.h"

#include <string.h>

enum { RUNS_MIN = 7 }; /* of a stage */

/* ---- What is timed -------------------------------------------------------- */

/* The arrays of one size, and a model of it. */
struct bench {
    const struct av_kernels *kernels;
    struct av_params params;
    size_t n_q, n_k, d;
    float *q, *k;             /* [n_q, d], [n_k, d] */
    double *scores, *weights; /* [n_q, n_k] */
    struct av_rowstats *rows; /* [n_q] */
    void *scores_scratch;
    double *dq_scratch;
    struct av_model *model;
    struct av_studies *studies;
    struct av_error error; /* of the model or the study */
    enum av_status status;
};

static void run_sample(struct bench *b)
{
    b->params.seed++;
    for (size_t tensor = 0; tensor < 2; tensor++) {
        float *x = tensor == 0 ? b->q : b->k;
        for (size_t i = 0; i < (tensor == 0 ? b->n_q : b->n_k); i++) {
            struct av_stream stream = { b->params.seed, (uint32_t)tensor, (uint32_t)i };
            b->kernels->draw(x + i * b->d, 0, b->d, (enum av_dist)b->params.dist, stream);
        }
    }
}

/* As many pairs as queries, at d and at a fourth, a sixteenth ... of it. */
static void run_distributions(struct bench *b)
{
    const struct av_study *study = av_study_find("distributions");
    struct av_params p = b->params;
    p.seed = ++b->params.seed;
    p.samples = (int64_t)b->n_q;
    p.d_k_4 = p.d_k;
    p.d_k_3 = (p.d_k + 3) / 4;
    p.d_k_2 = (p.d_k + 15) / 16;
    p.d_k_1 = (p.d_k + 63) / 64;
    b->status = av_studies_ask(b->studies, study, &p, &b->error);
    while (av_studies_step(b->studies, study)) {
    }
}

static void run_scores(struct bench *b)
{
    struct av_entries q = { b->q, NULL, b->d };
    struct av_entries k = { b->k, NULL, b->d };
    struct av_block all = { 0, b->n_q, 0, b->n_k, 0, b->d };
    b->kernels->scores(b->scores, b->n_k, &q, &k, &all, b->scores_scratch);
}

static void run_softmax(struct bench *b)
{
    for (size_t i = 0; i < b->n_q; i++) {
        b->kernels->softmax(b->weights + i * b->n_k, b->scores + i * b->n_k, av_params_alpha(&b->params), b->n_k,
                            &b->rows[i]);
    }
}

/* As one call of other programs does it. */
static void run_attend(struct bench *b)
{
    run_scores(b);
    run_softmax(b);
}

static void run_dq(struct bench *b)
{
    struct av_entries k = { b->k, NULL, b->d };
    struct av_dq_row rows[AV_DQ_ROWS];
    size_t count = 0;
    for (size_t i = 0; i < b->n_q; i++) {
        rows[count++] = (struct av_dq_row){ b->weights + i * b->n_k, b->n_k, b->rows[i].argmax, 0 };
        if (count == AV_DQ_ROWS || i + 1 == b->n_q) {
            b->kernels->dq(rows, count, &k, b->d, b->dq_scratch);
            count = 0;
        }
    }
}

static void update(struct bench *b)
{
    enum av_status s = av_model_update(b->model, &b->params, 0, &b->error);
    b->status = s != AV_OK ? s : b->status;
}

static void run_seed(struct bench *b)
{
    b->params.seed++;
    update(b);
}

static void run_temperature(struct bench *b)
{
    b->params.temperature = b->params.temperature > 1.5 ? 1 : 2;
    update(b);
}

static void run_scale(struct bench *b)
{
    b->params.scale = !b->params.scale;
    update(b);
}

static const struct stage {
    struct av_bench_stage shown;
    void (*run)(struct bench *b);
} STAGES[] = {
    { { "sample", "draws the entries of Q and K" }, run_sample },
    { { "distributions", "the study of n_q pairs at four d_k, drawing them included" }, run_distributions },
    { { "scores", "Q K^T" }, run_scores },
    { { "softmax", "weights and all row statistics but dq_rms" }, run_softmax },
    { { "attend", "scores and softmax in a row" }, run_attend },
    { { "dq", "dq_rms of every row" }, run_dq },
    { { "seed", "all stages, for a new seed" }, run_seed },
    { { "temperature", "what a change of temperature runs again" }, run_temperature },
    { { "scale", "what a toggle of scale runs again" }, run_scale },
};

enum { STAGE_COUNT = sizeof STAGES / sizeof STAGES[0] };

enum { SAMPLING = 2 }; /* the first stages, which need no scores */

/* n queries and n keys of d entries, and how many stages, from the first on, are timed. */
static const struct size {
    int64_t n, d;
    size_t stages;
} SIZES[] = {
    { 64, 64, STAGE_COUNT },
    { 256, 256, STAGE_COUNT },
    { 512, 1024, STAGE_COUNT },
    { 10000, 1024, SAMPLING },
};

enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* ---- Making room ---------------------------------------------------------- */

static void bench_free(struct bench *b)
{
    av_free(b->q);
    av_free(b->k);
    av_free(b->scores);
    av_free(b->weights);
    av_free(b->rows);
    av_free(b->scores_scratch);
    av_free(b->dq_scratch);
    av_model_free(b->model);
    av_studies_free(b->studies);
}

/* What the stages behind the first two need; every one has what those before it
 * leave. */
static enum av_status make_scores(struct bench *b, struct av_error *e)
{
    b->scores = av_alloc(b->n_q * b->n_k, sizeof *b->scores);
    b->weights = av_alloc(b->n_q * b->n_k, sizeof *b->weights);
    b->rows = av_alloc(b->n_q, sizeof *b->rows);
    b->scores_scratch = av_alloc(AV_SCORES_SCRATCH, 1);
    b->dq_scratch = av_alloc(AV_DQ_SCRATCH(b->n_k), sizeof *b->dq_scratch);
    if (b->scores == NULL || b->weights == NULL || b->rows == NULL || b->scores_scratch == NULL ||
        b->dq_scratch == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    run_attend(b);
    enum av_status s = av_model_new(&b->model, NULL, e);
    return s == AV_OK ? av_model_update(b->model, &b->params, 0, e) : s;
}

static enum av_status bench_new(struct bench *b, const struct av_params *p, size_t stages, struct av_error *e)
{
    memset(b, 0, sizeof *b);
    b->kernels = av_kernels_best();
    b->params = *p;
    b->n_q = (size_t)p->n_q;
    b->n_k = (size_t)p->n_k;
    b->d = (size_t)p->d_k;
    b->q = av_alloc(b->n_q * b->d, sizeof *b->q);
    b->k = av_alloc(b->n_k * b->d, sizeof *b->k);
    if (b->q == NULL || b->k == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    run_sample(b);
    enum av_status s = av_studies_new(&b->studies, NULL, e);
    return s == AV_OK && stages > SAMPLING ? make_scores(b, e) : s;
}

/* ---- Timing --------------------------------------------------------------- */

struct timed {
    struct bench *bench;
    const struct stage *stage;
};

static void run_stage(void *context)
{
    const struct timed *timed = context;
    timed->stage->run(timed->bench);
}

static struct av_bench_result time_stage(struct bench *b, const struct stage *stage)
{
    struct timed timed = { b, stage };
    struct av_bench_result r = { .stage = &stage->shown, .n_q = b->n_q, .n_k = b->n_k, .d = b->d };
    av_bench_time(&r, RUNS_MIN, run_stage, &timed);
    return r;
}

/* Times the first stages at one size, each into its result. */
static enum av_status time_size(struct av_bench_result *results, const struct av_params *p, size_t stages,
                                struct av_error *e)
{
    struct bench *b = av_alloc(1, sizeof *b);
    if (b == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    enum av_status s = bench_new(b, p, stages, e);
    for (size_t i = 0; s == AV_OK && i < stages; i++) {
        results[i] = time_stage(b, &STAGES[i]);
        if (b->status != AV_OK) {
            s = av_fail(e, b->status, "%s", b->error.text);
        }
    }
    bench_free(b);
    av_free(b);
    return s;
}

/* Times the usual sizes, training, long heads and variants, or the stages at
 * the one size that --set gives. */
enum av_status av_cmd_bench(const struct av_options *o, struct av_error *e)
{
    const size_t most = SIZE_COUNT * STAGE_COUNT + AV_BENCH_TRAIN + AV_BENCH_FUSED + av_bench_variants_count();
    struct av_bench_result *results = av_alloc(most, sizeof *results);
    size_t count = 0;
    size_t sizes = o->size_set != NULL ? 1 : SIZE_COUNT;
    struct av_inputs in;
    if (results == NULL) {
        return av_fail_nomem(e, "the benchmark");
    }
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_press(&in, o, e);
    }
    for (size_t i = 0; s == AV_OK && i < sizes; i++) {
        size_t stages = STAGE_COUNT;
        if (o->size_set == NULL) {
            in.params.n_q = in.params.n_k = SIZES[i].n;
            in.params.d_k = SIZES[i].d;
            stages = SIZES[i].stages;
        }
        s = time_size(results + count, &in.params, stages, e);
        count += stages;
    }
    if (s == AV_OK && o->size_set == NULL) {
        s = av_bench_train(results + count, e);
        count += AV_BENCH_TRAIN;
    }
    if (s == AV_OK && o->size_set == NULL) {
        s = av_bench_fused(results + count, e);
        count += AV_BENCH_FUSED;
    }
    if (s == AV_OK && o->size_set == NULL) {
        s = av_bench_variants(results + count, e);
        count += av_bench_variants_count();
    }
    struct av_str out = AV_STR_INIT;
    if (s == AV_OK) {
        av_bench_write(&out, (enum av_format)o->format, results, count);
        s = out.failed ? av_fail_nomem(e, "the table") : av_outfile_write(o->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    av_free(results);
    av_inputs_free(&in);
    return s;
}
