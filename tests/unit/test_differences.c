/* test_differences.c - every gradient against difference quotients of what it
 * is the gradient of, also where one key takes all. */
#include "attnviz/model.h"
#include "pair_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* f'(x) = [8 (f(x + h) - f(x - h)) - (f(x + 2h) - f(x - 2h))] / 12h + O(h^4). */
enum { STENCIL = 4 };
static const double offsets[STENCIL] = { 1, -1, 2, -2 };
static const double factors[STENCIL] = { 8, -8, -1, 1 };

#define STEP 0x1p-10

enum { KEYS = 12, COLUMNS = 7 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) * 0x1p-24;
}

static void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("%.17g is not %.17g to %g", got, want, relative);
    }
}

/* The length of the vector of all weights' derivatives, from rows of n weights
 * at the places of the stencil. The largest weight, whose own change is lost
 * in its digits when it is 1, changes by what the others do. */
static double change(const double *const p[STENCIL], size_t n, size_t largest)
{
    double length = 0, others = 0;
    for (size_t j = 0; j < n; j++) {
        double derivative = 0;
        for (int k = 0; k < STENCIL; k++) {
            derivative += factors[k] * p[k][j] / (12 * STEP);
        }
        if (j != largest) {
            length = hypot(length, derivative); /* whose square may be below the smallest double */
            others += derivative;
        }
    }
    return hypot(length, others);
}

/* jacobian_fro: dp_i / dz_j, column by column. */
static void jacobian_of_a_row(void **state)
{
    (void)state;
    static const double spreads[] = { 0, 0.1, 1, 4, 16, 100, 600 };
    const struct av_kernels *kernels = av_kernels_best();
    uint64_t seed = 1;
    for (size_t t = 0; t < 20 * sizeof spreads / sizeof spreads[0]; t++) {
        size_t n = 2 + t % (KEYS - 1);
        double z[KEYS], p[STENCIL][KEYS], norm = 0;
        struct av_rowstats row, moved;
        for (size_t j = 0; j < n; j++) {
            bool masked = j > 1 && uniform(&seed) < 0.1;
            z[j] = masked ? -HUGE_VAL : spreads[t / 20] * (uniform(&seed) - 0.5);
        }
        kernels->softmax(NULL, z, 1, n, &row);
        for (size_t j = 0; j < n; j++) {
            double at = z[j];
            for (int k = 0; k < STENCIL; k++) {
                z[j] = at + offsets[k] * STEP;
                kernels->softmax(p[k], z, 1, n, &moved);
            }
            z[j] = at;
            norm = hypot(norm, change((const double *const[]){ p[0], p[1], p[2], p[3] }, n, row.argmax));
        }
        assert_near(row.jacobian_fro, norm, 2e-10);
    }
}

static struct av_params params(const char *const *assignments)
{
    struct av_params p;
    struct av_error e = { "" };
    av_params_default(&p);
    for (size_t i = 0; assignments[i] != NULL; i++) {
        assert_int_equal(av_params_set_text(&p, assignments[i], &e), AV_OK);
    }
    return p;
}

static const struct av_snapshot *update(struct av_model *m, const struct av_params *p)
{
    struct av_error e = { "" };
    if (av_model_update(m, p, AV_NEED_DQ, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return av_model_snapshot(m);
}

static const char *const settings[][6] = {
    { "scale=on" },
    { "scale=off" },
    { "scale=off", "temperature=0.05" },
    { "temperature=7", "exponent=0.3" },
    { "scale=off", "offset=-3.5", "key=1", "key_offset=2" },
    { "exponent=1", "temperature=0.02", "offset=1000" },
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

/* d_scores_rms: dp_i / ds_j, score by score. What a score adds to its logit,
 * alpha ds, an offset of its key adds as well. */
static void gradient_of_the_scores(void **state)
{
    (void)state;
    struct av_model *m;
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    for (size_t i = 0; i < SETTINGS; i++) {
        struct av_params p = params(settings[i]);
        p.n_q = 1;
        p.n_k = KEYS;
        p.key_offset = 0; /* what moves here */
        const struct av_snapshot *s = update(m, &p);
        double d_scores = s->now.d_scores_rms_median, norm = 0;
        size_t largest = s->rows[0].argmax;
        for (p.key = 0; p.key < KEYS; p.key++) {
            double w[STENCIL][KEYS];
            for (int k = 0; k < STENCIL; k++) {
                p.key_offset = offsets[k] * STEP * p.temperature;
                memcpy(w[k], update(m, &p)->weights, sizeof w[k]);
            }
            norm = hypot(norm, change((const double *const[]){ w[0], w[1], w[2], w[3] }, KEYS, largest));
        }
        assert_near(d_scores, av_params_alpha(&p) / p.temperature * norm, 1e-9);
    }
    av_model_free(m);
}

/* dq_rms: dp_j / dq_c, entry by entry, |J K|_F alpha / T. The first query and
 * all those that it is moved to are the rows of one matrix. */
static void gradient_of_a_query(void **state)
{
    (void)state;
    enum { QUERIES = 1 + COLUMNS * STENCIL };
    static double q[QUERIES * COLUMNS], k[KEYS * COLUMNS];
    struct matrix tq = { .name = "q", .heads = 1, .n = QUERIES, .d = COLUMNS, .f64 = q };
    struct matrix tk = { .name = "k", .heads = 1, .n = KEYS, .d = COLUMNS, .f64 = k };
    static const double lengths[] = { 0.1, 1, 3 };
    uint64_t seed = 2;
    for (size_t t = 0; t < SETTINGS * 3; t++) {
        struct av_params p = params(settings[t / 3]);
        p.d_k = COLUMNS;
        double step = STEP * p.temperature / av_params_alpha(&p); /* moves the logits by about STEP */
        for (size_t c = 0; c < KEYS * COLUMNS; c++) {
            k[c] = 2 * uniform(&seed) - 1;
        }
        for (size_t c = 0; c < COLUMNS; c++) {
            q[c] = lengths[t % 3] * (2 * uniform(&seed) - 1);
        }
        for (size_t row = 1; row < QUERIES; row++) {
            memcpy(q + row * COLUMNS, q, COLUMNS * sizeof *q);
            q[row * COLUMNS + (row - 1) / STENCIL] += offsets[(row - 1) % STENCIL] * step;
        }
        struct av_model *m;
        assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
        struct pair_source pair;
        av_model_use_source(m, pair_source(&pair, &tq, &tk));
        av_params_from_source(&p, &pair.source);
        const struct av_snapshot *s = update(m, &p);
        double norm = 0;
        for (size_t c = 0; c < COLUMNS; c++) {
            const double *w = s->weights + (1 + c * STENCIL) * KEYS;
            norm = hypot(norm, change((const double *const[]){ w, w + KEYS, w + 2 * KEYS, w + 3 * KEYS }, KEYS,
                                      s->rows[0].argmax));
        }
        assert_near(s->dq_rms[0], norm * STEP / step, 1e-8);
        av_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobian_of_a_row),
        cmocka_unit_test(gradient_of_the_scores),
        cmocka_unit_test(gradient_of_a_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
