/* bench_train.c - times training: a whole run with and without the scale, its products, the core's limit. */
#include "attnviz/mem.h"
#include "attnviz/train.h"
#include "bench.h"

enum { RUNS_OF_TRAINING = 3, RUNS_OF_PRODUCTS = 7, ROUNDS = 200000 };

const struct av_bench_stage av_bench_train_stages[AV_BENCH_TRAIN] = {
    { "train_on", "trains one run, reconstruct with its defaults, with the scale" },
    { "train_off", "the same without: saturated" },
    { "products", "the products of matrices of a step of that, without those of single sequences" },
    { "multiply_add", "multiply-adds on registers: the most that this core can do" },
};

/* One experiment, begun anew for each run. */
struct training {
    struct av_train_config config;
    enum av_status status;
    struct av_error error;
};

static void train(void *context)
{
    struct training *work = context;
    struct av_train *t;
    enum av_status s = av_train_new(&t, &work->config, NULL, &work->error);
    if (s != AV_OK) {
        work->status = s;
        return;
    }
    while (av_train_step(t)) {
    }
    av_train_free(t);
}

/* The arrays of a pass, any numbers in them. */
struct products {
    const struct av_kernels *kernels;
    struct av_attention a;
    float *w;
};

enum { STEP_PRODUCTS = 5 };

/* The large products of a step, as in attention_pass.h. */
static void list_products(struct av_product list[STEP_PRODUCTS], const struct products *p)
{
    const struct av_attention *a = &p->a;
    const struct av_attention_sizes *s = &a->sizes;
    const size_t n = s->tokens, d = s->d_k, model = s->model_pitch, token = s->token_pitch, k = s->k_pitch;
    float *w_o = p->w + 3 * d * model, *d_w_o = a->d_w + 3 * d * model;
    const struct av_product all[STEP_PRODUCTS] = {
        { a->qkv_t, token, p->w, model, false, a->x_t, token, 3 * d, n, s->d_model },
        { a->y, model, a->a_t, token, true, w_o, model, n, s->d_model, d },
        { d_w_o, model, a->a_t, token, false, a->x, model, d, s->d_model, n },
        { a->d_a, k, a->x, model, false, a->w_o_t, k, n, d, s->d_model },
        { a->d_w, model, a->d_qkv_t, token, false, a->x, model, 3 * d, s->d_model, n },
    };
    for (size_t i = 0; i < STEP_PRODUCTS; i++) {
        list[i] = all[i];
    }
}

static void multiply(void *context)
{
    const struct products *p = context;
    struct av_product list[STEP_PRODUCTS];
    list_products(list, p);
    for (size_t i = 0; i < STEP_PRODUCTS; i++) {
        p->kernels->product(&list[i]);
    }
}

static void multiply_add(void *context)
{
    float sum[2] = { 0.5F, 1 };
    *(size_t *)context = av_kernels_best()->multiply_add(ROUNDS, sum);
}

static enum av_status time_products(struct av_bench_result *r, const struct av_train_config *c, struct av_error *e)
{
    struct av_attention_sizes sizes = av_attention_sizes(c->batch, c->seq_len, c->d_model, c->d_k, 0);
    struct products p = { .kernels = av_kernels_best() };
    enum av_status s = av_attention_new(&p.a, &sizes, e);
    p.w = av_alloc(4 * sizes.d_k * sizes.model_pitch, sizeof *p.w);
    if (s == AV_OK && p.w == NULL) {
        s = av_fail_nomem(e, "the benchmark");
    }
    if (s == AV_OK) {
        struct av_product list[STEP_PRODUCTS];
        list_products(list, &p);
        for (size_t i = 0; i < STEP_PRODUCTS; i++) {
            r->operations += 2 * (double)list[i].m * (double)list[i].n * (double)list[i].k;
        }
        av_bench_time(r, RUNS_OF_PRODUCTS, multiply, &p);
    }
    av_free(p.w);
    av_attention_free(&p.a);
    return s;
}

enum av_status av_bench_train(struct av_bench_result *results, struct av_error *e)
{
    struct training work = { .status = AV_OK };
    struct av_params p;
    av_params_default(&p);
    enum av_status s = av_train_configure(&work.config, &p, e);
    for (size_t i = 0; i < AV_BENCH_TRAIN; i++) {
        const size_t n = work.config.seq_len;
        results[i] = (struct av_bench_result){ .stage = &av_bench_train_stages[i], .n_q = n, .n_k = n };
        results[i].d = work.config.d_k;
    }
    for (enum av_twin twin = 0; s == AV_OK && twin < AV_TWINS; twin++) {
        work.config.runs[AV_TWIN_SCALED] = twin == AV_TWIN_SCALED;
        work.config.runs[AV_TWIN_UNSCALED] = twin == AV_TWIN_UNSCALED;
        av_bench_time(&results[twin], RUNS_OF_TRAINING, train, &work);
        s = work.status == AV_OK ? AV_OK : av_fail(e, work.status, "%s", work.error.text);
    }
    if (s == AV_OK) {
        s = time_products(&results[2], &work.config, e);
    }
    size_t operations = 0;
    av_bench_time(&results[3], RUNS_OF_PRODUCTS, multiply_add, &operations);
    results[3].operations = (double)operations;
    results[3].n_q = results[3].n_k = results[3].d = 0;
    return s;
}
