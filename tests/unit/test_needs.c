/* test_needs.c - what no one looks at is not computed: kernels that count. */
#include "attnviz/app.h"
#include "attnviz/keys.h"
#include "counting_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void the_model_computes_dq_when_asked(void **state)
{
    (void)state;
    struct av_kernels kernels = counting_kernels();
    struct av_model *m;
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    assert_int_equal(av_model_new(&m, &kernels, &e), AV_OK);
    calls.dq = 0;
    assert_int_equal(av_model_update(m, &p, AV_NEED_OTHER | AV_NEED_THEORY | AV_NEED_HISTOGRAM, &e), AV_OK);
    assert_int_equal(calls.dq, 0);
    assert_null(av_model_snapshot(m)->dq_rms);
    assert_int_equal(av_model_update(m, &p, AV_NEED_DQ, &e), AV_OK);
    assert_int_equal(calls.dq, 1);
    assert_non_null(av_model_snapshot(m)->dq_rms);
    assert_int_equal(av_model_update(m, &p, AV_NEED_DQ, &e), AV_OK); /* nothing has changed */
    assert_int_equal(calls.dq, 1);
    p.temperature = 2;
    assert_int_equal(av_model_update(m, &p, 0, &e), AV_OK); /* stale, and nobody asks */
    assert_int_equal(calls.dq, 1);
    assert_null(av_model_snapshot(m)->dq_rms);
    av_model_free(m);
}

static void only_the_view_that_shows_dq_has_it_computed(void **state)
{
    (void)state;
    struct av_kernels kernels = counting_kernels();
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t v = 0; v < count; v++) {
        struct av_app_config config = { .view = views[v]->name, .kernels = &kernels };
        struct av_app *app;
        av_params_default(&config.params);
        calls.dq = 0;
        assert_int_equal(av_app_new(&app, &config, NULL), AV_OK);
        static const char *const keys[] = { "s", "t", "o", "D", "N", "r", "s" };
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            size_t before = calls.dq;
            av_app_key(app, av_key_parse(keys[i]));
            av_app_draw(app);
            assert_int_equal(calls.dq > before, (views[v]->needs & AV_NEED_DQ) != 0);
        }
        av_app_free(app);
    }
}

static void keys_behind_the_scores_compute_none(void **state)
{
    (void)state;
    struct av_kernels kernels = counting_kernels();
    struct av_app_config config = { .kernels = &kernels };
    struct av_app *app;
    av_params_default(&config.params);
    assert_int_equal(av_app_new(&app, &config, NULL), AV_OK);
    av_app_draw(app);
    calls.scores = 0;
    static const char *const keys[] = { "s", "t", "T", "o", "O", "m", "c", "Tab", "?", "Esc" };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        av_app_key(app, av_key_parse(keys[i]));
        av_app_draw(app);
    }
    assert_int_equal(calls.scores, 0);
    av_app_key(app, av_key_parse("r"));
    av_app_draw(app);
    assert_true(calls.scores > 0);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_computes_dq_when_asked),
        cmocka_unit_test(only_the_view_that_shows_dq_has_it_computed),
        cmocka_unit_test(keys_behind_the_scores_compute_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
