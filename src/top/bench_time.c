/* bench_time.c - how long something takes. */
#include "attnviz/stats.h"
#include "bench.h"

#include <math.h>
#include <time.h>

enum { MILLISECONDS_MIN = 100, WARM_FROM = 5 };

double av_bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

void av_bench_time(struct av_bench_result *r, size_t runs, void (*run)(void *context), void *context)
{
    double times[AV_BENCH_RUNS_MAX];
    if (runs >= WARM_FROM) {
        run(context);
    }
    r->runs = 0;
    r->fastest = (double)INFINITY;
    double start = av_bench_now();
    double before = start;
    while (r->runs < AV_BENCH_RUNS_MAX && (r->runs < runs || before - start < MILLISECONDS_MIN)) {
        run(context);
        double after = av_bench_now();
        times[r->runs++] = after - before;
        r->fastest = fmin(r->fastest, after - before);
        before = after;
    }
    r->median = av_median(times, r->runs);
}

double av_bench_rate(const struct av_bench_result *r)
{
    return r->operations > 0 ? 1e-6 * r->operations / r->fastest : (double)NAN;
}
