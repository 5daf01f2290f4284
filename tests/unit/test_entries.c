/* test_entries.c - entries of several heads: what they share, and what follows them. */
#include "../../src/model/entries.h"
#include "attnviz/model.h"
#include "attnviz/study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { D = 256, ROWS = 64 };

static struct av_params params(const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    assert_int_equal(av_params_check(&p, false, NULL), AV_OK);
    return p;
}

#define PARAMS(...) params((const char *const[]){ __VA_ARGS__, NULL })

/* Both rows number `row`, of queries and of keys. */
struct rows {
    float q[D], k[D];
};

static struct rows drawn(const struct av_params *p, size_t row)
{
    struct rows r;
    float scratch[D];
    av_entries_query(av_kernels_best(), p, row, 0, D, r.q);
    av_entries_key(av_kernels_best(), p, row, 0, D, r.k, scratch);
    return r;
}

/* What one head has always been: tensors 0 and 1. */
static void the_first_head_is_the_only_one(void **unused)
{
    (void)unused;
    struct av_params p = PARAMS("n_head=16");
    for (uint32_t row = 0; row < ROWS; row++) {
        const struct rows r = drawn(&p, row);
        float x[D];
        av_kernels_best()->draw(x, 0, D, AV_DIST_NORMAL, (struct av_stream){ p.seed, 0, row });
        assert_memory_equal(r.q, x, sizeof x);
        av_kernels_best()->draw(x, 0, D, AV_DIST_NORMAL, (struct av_stream){ p.seed, 1, row });
        assert_memory_equal(r.k, x, sizeof x);
    }
}

static void more_heads_leave_a_head_alone(void **unused)
{
    (void)unused;
    for (int64_t head = 0; head < 2; head++) {
        struct av_params p = PARAMS("n_head=2", "q_std=3", "k_mean=-1");
        p.head = head;
        const struct rows few = drawn(&p, 5);
        p.n_head = 16;
        const struct rows many = drawn(&p, 5);
        assert_memory_equal(&few, &many, sizeof few);
    }
}

static double correlation(const float *x, const float *y)
{
    double sum = 0;
    for (size_t c = 0; c < D; c++) {
        sum += (double)x[c] * (double)y[c];
    }
    return sum / D;
}

/* Queries and keys of all heads, row by row: within 4.5 standard errors, for a
 * fixed seed, of what independent ones have. */
static void heads_are_independent(void **unused)
{
    (void)unused;
    struct av_params p = PARAMS("n_head=16");
    static float all[2 * AV_HEADS_MAX][D];
    for (int64_t head = 0; head < AV_HEADS_MAX; head++) {
        p.head = head;
        const struct rows r = drawn(&p, 3);
        memcpy(all[2 * head], r.q, sizeof r.q);
        memcpy(all[2 * head + 1], r.k, sizeof r.k);
    }
    for (size_t i = 0; i < 2 * (size_t)AV_HEADS_MAX; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(fabs(correlation(all[i], all[j])) < 4.5 / sqrt(D));
        }
    }
}

/* corr is of a key with the query of its own head. */
static void correlated_keys_are_of_their_head(void **unused)
{
    (void)unused;
    struct av_params p = PARAMS("n_head=3", "corr=1");
    for (p.head = 0; p.head < 3; p.head++) {
        const struct rows r = drawn(&p, 7);
        assert_memory_equal(r.q, r.k, sizeof r.q);
    }
}

/* ---- What is made of entries --------------------------------------------------- */

/* The first score, when the model comes to this head from head 0. */
static double score_of_head(int64_t head)
{
    struct av_params p = PARAMS("n_head=4");
    struct av_model *m;
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    assert_int_equal(av_model_update(m, &p, 0, NULL), AV_OK);
    p.head = head;
    assert_int_equal(av_model_update(m, &p, 0, NULL), AV_OK);
    const double score = av_model_snapshot(m)->scores[0];
    av_model_free(m);
    return score;
}

static void the_pipeline_follows_the_head(void **unused)
{
    (void)unused;
    struct av_params p = PARAMS("n_head=4");
    const struct av_kernels *kernels = av_kernels_best();
    for (p.head = 0; p.head < p.n_head; p.head++) {
        float q[64], k[64], scratch[64];
        double score = 0;
        av_entries_query(kernels, &p, 0, 0, 64, q);
        av_entries_key(kernels, &p, 0, 0, 64, k, scratch);
        for (size_t c = 0; c < 64; c++) {
            score += (double)q[c] * (double)k[c];
        }
        assert_true(score_of_head(p.head) == score);
    }
}

/* Extending the head in sight comes to the same bits as beginning with it. */
static void a_head_grows_like_the_first(void **unused)
{
    (void)unused;
    struct av_params p = PARAMS("n_head=2", "head=1", "n_q=8", "n_k=8", "d_k=16");
    struct av_model *grown, *fresh;
    assert_int_equal(av_model_new(&grown, NULL, NULL), AV_OK);
    assert_int_equal(av_model_new(&fresh, NULL, NULL), AV_OK);
    assert_int_equal(av_model_update(grown, &p, 0, NULL), AV_OK);
    p.n_head = 8;
    p.n_q = p.n_k = 12;
    p.d_k = 80;
    assert_int_equal(av_model_update(grown, &p, 0, NULL), AV_OK);
    assert_int_equal(av_model_update(fresh, &p, 0, NULL), AV_OK);
    assert_memory_equal(av_model_snapshot(grown)->scores, av_model_snapshot(fresh)->scores, 144 * sizeof(double));
    av_model_free(grown);
    av_model_free(fresh);
}

/* Studies of entries are of the head in sight, and say so by what they listen to. */
static void studies_listen_to_the_head(void **unused)
{
    (void)unused;
    static const char *const names[] = { "saturation", "origin" };
    const struct av_params first = PARAMS("n_head=2");
    const struct av_params second = PARAMS("n_head=2", "head=1");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(av_params_differ(av_study_find(names[i])->listens, &first, &second));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_head_is_the_only_one), cmocka_unit_test(more_heads_leave_a_head_alone),
        cmocka_unit_test(heads_are_independent),          cmocka_unit_test(correlated_keys_are_of_their_head),
        cmocka_unit_test(the_pipeline_follows_the_head),  cmocka_unit_test(a_head_grows_like_the_first),
        cmocka_unit_test(studies_listen_to_the_head),
    };
    return cmocka_run_group_tests_name("entries", tests, NULL, NULL);
}
