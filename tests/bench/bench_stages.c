/* bench_stages.c - processor time of what the program computes, one thread.
 *
 *   bench_stages [ROUNDS]
 *
 * prints a line per piece of work: name, shortest and median time in ns,
 * parted by tabs. Each round runs every piece once, so that a slow moment of
 * the machine meets all of them. bench.py sets the figures against others. */
#include "attnviz/mem.h"
#include "attnviz/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLE_ROWS = 10000, SAMPLE_COLUMNS = 1024, N_MAX = 512, D_MAX = 1024, ROUNDS_MAX = 1000 };

struct bench {
    const struct av_kernels *kernels;
    float *entries; /* [2, SAMPLE_ROWS, SAMPLE_COLUMNS], also Q and K */
    double *scores; /* [N_MAX, N_MAX] */
    double *weights;
    struct av_rowstats rows[N_MAX];
    void *scratch;
    struct av_model *model;
    struct av_params params;
};

static void draw(struct bench *b, size_t n, size_t d)
{
    for (uint32_t tensor = 0; tensor < 2; tensor++) {
        for (uint32_t row = 0; row < n; row++) {
            float *x = b->entries + (tensor * n + row) * d;
            b->kernels->draw(x, 0, d, AV_DIST_NORMAL, (struct av_stream){ 42, tensor, row });
        }
    }
}

/* Scores, logits, weights and all statistics of the rows but dq_rms. */
static void attend(struct bench *b, size_t n, size_t d)
{
    const struct av_entries q = { .f32 = b->entries, .pitch = d };
    const struct av_entries k = { .f32 = b->entries + n * d, .pitch = d };
    const struct av_block all = { 0, n, 0, n, 0, d };
    const double alpha = 1.0 / sqrt((double)d);
    b->kernels->scores(b->scores, n, &q, &k, &all, b->scratch);
    for (size_t i = 0; i < n; i++) {
        b->kernels->softmax(b->weights + i * n, b->scores + i * n, alpha, n, &b->rows[i]);
    }
}

static void update(struct bench *b)
{
    struct av_error e;
    if (av_model_update(b->model, &b->params, 0, &e) != AV_OK) {
        fprintf(stderr, "bench_stages: %s\n", e.text);
        exit(1);
    }
}

/* All stages, as for a new seed. */
static void compute(struct bench *b, size_t n, size_t d)
{
    b->params.n_q = b->params.n_k = (int64_t)n;
    b->params.d_k = (int64_t)d;
    b->params.seed++;
    update(b);
}

/* What a key press runs again; follows `compute` of the same size. */
static void change_temperature(struct bench *b, size_t n, size_t d)
{
    (void)n;
    (void)d;
    b->params.temperature = b->params.temperature > 1.0 ? 1.0 : 1.05;
    update(b);
}

static const struct work {
    const char *name;
    void (*run)(struct bench *b, size_t n, size_t d);
    size_t n, d;
    int times; /* in a row, for one figure */
} works[] = {
    { "draw", draw, SAMPLE_ROWS, SAMPLE_COLUMNS, 1 }, { "attend 64 64", attend, 64, 64, 100 },
    { "attend 256 256", attend, 256, 256, 4 },        { "attend 512 1024", attend, N_MAX, D_MAX, 1 },
    { "compute 512 1024", compute, N_MAX, D_MAX, 1 }, { "temperature 512 1024", change_temperature, N_MAX, D_MAX, 1 },
};

enum { WORKS = sizeof works / sizeof works[0] };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double time_once(struct bench *b, const struct work *w)
{
    const double start = now();
    for (int i = 0; i < w->times; i++) {
        w->run(b, w->n, w->d);
    }
    return (now() - start) / w->times;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double times[WORKS][ROUNDS_MAX];
    static struct bench b;
    struct av_error e = { 0 };
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    b.kernels = av_kernels_best();
    b.entries = av_alloc(2 * SAMPLE_ROWS * SAMPLE_COLUMNS, sizeof *b.entries);
    b.scores = av_alloc(N_MAX * N_MAX, sizeof *b.scores);
    b.weights = av_alloc(N_MAX * N_MAX, sizeof *b.weights);
    b.scratch = av_alloc(AV_SCORES_SCRATCH, 1);
    av_params_default(&b.params);
    if (rounds < 1 || rounds > ROUNDS_MAX || b.entries == NULL || b.scores == NULL || b.weights == NULL ||
        b.scratch == NULL || av_model_new(&b.model, NULL, &e) != AV_OK) {
        fprintf(stderr, "bench_stages: no memory, or not 1 .. %d rounds\n", ROUNDS_MAX);
        return 1;
    }
    for (int round = -1; round < rounds; round++) { /* the first warms up */
        for (size_t i = 0; i < WORKS; i++) {
            times[i][round < 0 ? 0 : round] = time_once(&b, &works[i]);
        }
    }
    printf("kernels\t%s\n", b.kernels->name);
    for (size_t i = 0; i < WORKS; i++) {
        qsort(times[i], (size_t)rounds, sizeof times[i][0], by_size);
        printf("%s\t%.0f\t%.0f\n", works[i].name, times[i][0], times[i][rounds / 2]);
    }
    av_model_free(b.model);
    av_free(b.scratch);
    av_free(b.weights);
    av_free(b.scores);
    av_free(b.entries);
    return 0;
}
