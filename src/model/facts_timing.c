/* facts_timing.c - what the multiplication by the scale costs on this machine.
 *
 * Scores and softmax are timed against one more pass over the scores that
 * multiplies them, in turns, so that what slows the machine down for a while
 * slows down both. */
#include "facts_measures.h"
#include "trial.h"

#include <time.h>

enum { TURNS = 5, PASSES = 32 };

/* Processor time: what other programs take does not count. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads the multiplier from memory each time: every pass is made. */
static void multiply(double *out, const double *s, size_t n, const volatile double *multiplier)
{
    for (int pass = 0; pass < PASSES; pass++) {
        double m = *multiplier;
        for (size_t i = 0; i < n; i++) {
            out[i] = m * s[i];
        }
    }
}

static void scores_and_softmax(struct av_trial *t)
{
    struct av_entries q = { .f32 = t->q, .pitch = t->d_k };
    struct av_entries k = { .f32 = t->k, .pitch = t->d_k };
    struct av_block all = { 0, t->n_q, 0, t->n_k, 0, t->d_k };
    t->kernels->scores(t->scores, t->n_k, &q, &k, &all, t->scratch);
    for (size_t i = 0; i < t->n_q; i++) {
        t->kernels->softmax(t->weights + i * t->n_k, t->scores + i * t->n_k, 1, t->n_k, &t->rows[i]);
    }
}

double av_measure_overhead(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    double work[TURNS];
    double pass[TURNS];
    volatile double multiplier = av_trial_multiplier(at);
    av_trial_draw(t, at, seed);
    scores_and_softmax(t); /* warms the caches */
    for (int i = 0; i < TURNS; i++) {
        double start = now_s();
        scores_and_softmax(t);
        double middle = now_s();
        multiply(t->kept, t->scores, t->n_q * t->n_k, &multiplier);
        work[i] = middle - start;
        pass[i] = (now_s() - middle) / PASSES;
    }
    return 100 * av_median(pass, TURNS) / av_median(work, TURNS);
}
