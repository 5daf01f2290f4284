/* test_monte_carlo.c - theory against sampled rows of queries and keys.
 *
 * Every row has keys of its own: rows that share keys are not independent, and
 * the error of their mean is not what the spread over rows says. */
#include "attnviz/kernels.h"
#include "attnviz/mem.h"
#include "attnviz/theory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS_MAX = 512, DIM_MAX = 256 };

/* The standard deviation of the logits is sqrt(d_k) q_std k_std alpha / T. */
static const struct setting {
    size_t n_q, n_k, d_k;
    double q_std, k_std, temperature;
    bool scale, causal;
    int rows;
} settings[] = {
    { 1, 2, 1, 1, 1, 1, false, false, 60000 },     { 1, 2, 64, 1, 1, 1, true, false, 30000 },
    { 1, 3, 4, 2, 1, 1, true, false, 40000 },      { 1, 8, 1, 1, 1, 1, true, false, 40000 },
    { 1, 8, 64, 1, 1, 1, false, false, 10000 },    { 1, 8, 64, 1, 1, 1, true, false, 10000 },
    { 1, 8, 256, 1, 0.1, 1, false, false, 3000 },  { 1, 17, 16, 0.5, 3, 2, true, false, 10000 },
    { 1, 32, 64, 1, 1, 1, false, false, 4000 },    { 1, 32, 64, 1, 1, 0.1, true, false, 4000 },
    { 1, 32, 64, 1, 1, 10, true, false, 4000 },    { 1, 64, 2, 1, 1, 1, false, false, 8000 },
    { 1, 64, 64, 1, 0.25, 1, false, false, 3000 }, { 1, 128, 32, 1.5, 1, 0.7, true, false, 2000 },
    { 1, 512, 16, 1, 1, 1, false, false, 1000 },   { 16, 16, 8, 1, 1, 1, false, true, 15000 },
    { 32, 32, 16, 1, 1, 1, true, true, 9300 },     { 5, 20, 64, 1, 1, 0.5, true, true, 6000 },
    { 40, 12, 4, 2, 2, 1, false, true, 22000 },    { 64, 64, 8, 1, 1, 1, false, true, 6300 },
};

struct room {
    float q[DIM_MAX], k[KEYS_MAX * DIM_MAX];
    double scores[KEYS_MAX], scratch[AV_SCORES_SCRATCH / sizeof(double)];
};

/* A query and n keys of its own, and what the softmax makes of them. */
static struct av_rowstats draw_row(struct room *r, const struct setting *at, size_t n, uint32_t row)
{
    const struct av_kernels *kernels = av_kernels_best();
    const uint64_t seed = 1;
    const struct av_entries q = { .f32 = r->q, .pitch = at->d_k };
    const struct av_entries k = { .f32 = r->k, .pitch = at->d_k };
    const struct av_block all = { 0, 1, 0, n, 0, at->d_k };
    struct av_rowstats stats;
    kernels->draw(r->q, 0, at->d_k, AV_DIST_NORMAL, (struct av_stream){ seed, 0, row });
    for (size_t j = 0; j < n; j++) {
        struct av_stream stream = { seed, 1, row * KEYS_MAX + (uint32_t)j };
        kernels->draw(r->k + j * at->d_k, 0, at->d_k, AV_DIST_NORMAL, stream);
    }
    kernels->scores(r->scores, n, &q, &k, &all, r->scratch);
    double alpha = at->scale ? 1 / sqrt((double)at->d_k) : 1;
    kernels->softmax(NULL, r->scores, at->q_std * at->k_std * alpha / at->temperature, n, &stats);
    return stats;
}

/* Sums over rows of one quantity. */
struct mean {
    double sum, squares;
};

static void add(struct mean *m, double x)
{
    m->sum += x;
    m->squares += x * x;
}

static void assert_within_4_errors(size_t setting, const char *what, const struct mean *m, double rows, double theory)
{
    double mean = m->sum / rows;
    double error = sqrt((m->squares / rows - mean * mean) / (rows - 1));
    if (!(fabs(mean - theory) <= 4 * error)) {
        fail_msg("setting %zu: %s is %g +- %g, not %g", setting, what, mean, error, theory);
    }
}

static void means_are_those_of_theory(void **state)
{
    (void)state;
    struct av_theory *theory;
    struct room *room = av_alloc(1, sizeof *room);
    assert_non_null(room);
    assert_int_equal(av_theory_new(&theory, NULL), AV_OK);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const struct setting *at = &settings[i];
        struct mean entropy = { 0, 0 }, norm = { 0, 0 }, trace = { 0, 0 }, p2 = { 0, 0 };
        /* Lengths of causal rows with two keys or more, each as often. */
        size_t longest = at->n_k;
        size_t shortest = !at->causal ? longest : at->n_q < longest ? longest - at->n_q + 1 : 2;
        shortest = shortest < 2 ? 2 : shortest;
        assert_int_equal((size_t)at->rows % (longest - shortest + 1), 0);
        for (int row = 0; row < at->rows; row++) {
            size_t n = shortest + (size_t)row % (longest - shortest + 1);
            struct av_rowstats s = draw_row(room, at, n, (uint32_t)row);
            add(&entropy, s.entropy);
            add(&norm, s.entropy / log((double)n));
            add(&trace, s.trace);
            add(&p2, s.sum_p2);
        }
        struct av_theory_rows rows = { at->n_q, at->n_k, at->d_k, at->causal };
        double sigma = sqrt((double)at->d_k) * at->q_std * at->k_std / at->temperature;
        struct av_theory_means want;
        assert_true(av_theory_means(theory, &rows, at->scale ? sigma / sqrt((double)at->d_k) : sigma, &want));
        assert_within_4_errors(i, "entropy", &entropy, at->rows, want.entropy);
        assert_within_4_errors(i, "entropy / ln n", &norm, at->rows, want.entropy_norm);
        assert_within_4_errors(i, "trace", &trace, at->rows, want.trace);
        assert_within_4_errors(i, "sum p^2", &p2, at->rows, want.sum_p2);
    }
    av_theory_free(theory);
    av_free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_those_of_theory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
