/* test_slow.c - what an update costs is known before, and long ones are told of. */
#include "attnviz/app.h"
#include "attnviz/keys.h"
#include "counting_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void a_cost_is_foretold_where_products_follow(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        unsigned needs;
    } steps[] = {
        { "seed=1", 0 },
        { "seed=1", AV_NEED_DQ },
        { "temperature=2", 0 },
        { "temperature=2", AV_NEED_DQ },
        { "temperature=2", AV_NEED_DQ },
        { "bins=7", AV_NEED_DQ | AV_NEED_HISTOGRAM },
        { "mask=causal", AV_NEED_OTHER | AV_NEED_THEORY },
        { "d_k=65", AV_NEED_DQ },
        { "n_q=33", 0 },
        { "scale=off", AV_NEED_DQ },
        { "key=2", AV_NEED_DQ },
    };
    struct av_kernels kernels = counting_kernels();
    struct av_model *m;
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    assert_int_equal(av_model_new(&m, &kernels, &e), AV_OK);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(av_params_set_text(&p, steps[i].set, &e), AV_OK);
        double cost = av_model_cost(m, &p, steps[i].needs);
        calls.scores = calls.dq = 0;
        assert_int_equal(av_model_update(m, &p, steps[i].needs, &e), AV_OK);
        size_t products = calls.scores + calls.dq;
        if ((cost > 0) != (products > 0)) {
            fail_msg("step %zu, %s: cost %g, %zu products", i, steps[i].set, cost, products);
        }
    }
    /* A frame of a glide makes dq stale, the one after it too. */
    double alpha = av_model_snapshot(m)->alpha;
    assert_int_equal(av_model_glide(m, &p, AV_NEED_DQ, alpha / 2, &e), AV_OK);
    assert_true(av_model_cost(m, &p, AV_NEED_DQ) > 0);
    assert_false(av_model_cost(m, &p, 0) > 0);
    av_model_free(m);
}

static void a_cost_is_in_multiply_adds(void **state)
{
    (void)state;
    struct av_kernels kernels = counting_kernels();
    struct av_model *m;
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    p.n_q = 3, p.n_k = 5, p.d_k = 7;
    assert_int_equal(av_model_new(&m, &kernels, &e), AV_OK);
    assert_true(av_model_cost(m, &p, 0) == 3 * 5 * 7);
    assert_true(av_model_cost(m, &p, AV_NEED_DQ) == 7 * 3 * 5 * 7);
    assert_int_equal(av_model_update(m, &p, 0, &e), AV_OK);
    assert_true(av_model_cost(m, &p, AV_NEED_DQ) == 6 * 3 * 5 * 7);
    assert_int_equal(av_params_set_text(&p, "logits=1,2", &e), AV_OK);
    assert_true(av_model_cost(m, &p, AV_NEED_DQ) == 0);
    av_model_free(m);
}

/* ---- The app tells ----------------------------------------------------------- */

static void count_call(void *context)
{
    ++*(int *)context;
}

/* Presses the key, draws, and returns how often it was told of. */
static int told(struct av_app *app, int *times, const char *key)
{
    *times = 0;
    av_app_key(app, av_key_parse(key));
    av_app_draw(app);
    return *times;
}

static void only_long_updates_are_told(void **state)
{
    (void)state;
    struct av_kernels kernels = counting_kernels();
    struct av_app_config config = { .kernels = &kernels };
    struct av_app *app;
    struct av_error e;
    int times = 0;
    av_params_default(&config.params);
    config.params.n_q = config.params.n_k = 2048;
    config.params.d_k = 256;
    assert_int_equal(av_app_new(&app, &config, &e), AV_OK);
    av_app_on_slow(app, count_call, &times);
    assert_int_equal(told(app, &times, "t"), 0); /* no product */
    assert_int_equal(told(app, &times, "r"), 0); /* 1e9 multiply-adds */
    assert_int_equal(told(app, &times, "D"), 1); /* 2e9 */
    assert_int_equal(told(app, &times, "d"), 0);
    assert_int_equal(told(app, &times, "4"), 1); /* this view needs dq */
    assert_int_equal(told(app, &times, "t"), 1);
    assert_int_equal(told(app, &times, "?"), 0);
    av_app_on_slow(app, NULL, NULL);
    assert_int_equal(told(app, &times, "T"), 0);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_is_foretold_where_products_follow),
        cmocka_unit_test(a_cost_is_in_multiply_adds),
        cmocka_unit_test(only_long_updates_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
