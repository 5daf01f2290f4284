/* bench.h - timing, and the parts of `attnviz bench`. */
#ifndef ATTNVIZ_BENCH_H
#define ATTNVIZ_BENCH_H

#include "attnviz/report_io.h"

#include <stddef.h>

/* What a stage is called, and what it does. */
struct av_bench_stage {
    const char *name, *text;
};

struct av_bench_result {
    const struct av_bench_stage *stage;
    size_t n_q, n_k, d; /* as the stage understands them; 0: it has none */
    size_t runs;
    double median, fastest; /* ms of one run */
    double operations;      /* floating-point operations of one run that are worth a rate; 0: none */
    double bytes;           /* of memory that one run takes, beside its input; 0: not told */
    const char *variant;    /* whose rows are timed; NULL: no variant's */
    double ratio;           /* to the time of plain softmax, median of the rounds; set with a variant */
};

enum { AV_BENCH_RUNS_MAX = 1000 };

/* Processor time since some moment, ms. */
double av_bench_now(void);

/* Times run(context) until it has run `runs` times and 100 ms, or
 * AV_BENCH_RUNS_MAX times; one more, before, warms the caches unless runs is
 * below 5. Fills in runs, median and fastest. Processor time: what other
 * programs take does not count. */
void av_bench_time(struct av_bench_result *r, size_t runs, void (*run)(void *context), void *context);

/* Operations of the fastest run in 10^9 a second; NaN where there is no rate. */
double av_bench_rate(const struct av_bench_result *r);

/* Appends the results, in ms, and what each stage is. */
void av_bench_write(struct av_str *out, enum av_format format, const struct av_bench_result *results, size_t count);

/* The stages of training. results: room for AV_BENCH_TRAIN. */
enum { AV_BENCH_TRAIN = 4 };
extern const struct av_bench_stage av_bench_train_stages[AV_BENCH_TRAIN];
enum av_status av_bench_train(struct av_bench_result *results, struct av_error *e);

/* The statistics of a head's rows as whole matrices and fused, in turn at each
 * size. results: room for AV_BENCH_FUSED. */
enum { AV_BENCH_FUSED = 6 };
enum av_status av_bench_fused(struct av_bench_result *results, struct av_error *e);

/* Rows of attention by every variant of the table, without and with dq, all of
 * them in turn in each round, so that a slow moment meets them all; and the
 * study that compares them. results: room for av_bench_variants_count(). */
size_t av_bench_variants_count(void);
enum av_status av_bench_variants(struct av_bench_result *results, struct av_error *e);

#endif
