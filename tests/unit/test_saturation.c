/* test_saturation.c - curves over d_k and the plane of d_k and temperature:
 * against the pipeline, the theory, and reference values. */
#include "attnviz/model.h"
#include "saturation_driver.h"

#include <math.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- against the pipeline ---------------------------------------------- */

static const struct av_snapshot *updated(struct av_model *m, const struct av_params *p, size_t d, bool scale,
                                         unsigned needs)
{
    struct av_params at = *p;
    at.d_k = (int64_t)d;
    at.scale = scale;
    assert_int_equal(av_model_update(m, &at, needs, NULL), AV_OK);
    return av_model_snapshot(m);
}

static void assert_same(double got, double want)
{
    if (!(got == want || (isnan(got) && isnan(want)))) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

static void assert_near(double got, double want, double most)
{
    if (!(fabs(got - want) <= most)) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

static void assert_as_summary(const double value[AV_SATURATION_QUANTITIES], const struct av_summary *sum)
{
    assert_same(value[AV_SATURATION_ENTROPY], sum->entropy_norm_mean);
    assert_same(value[AV_SATURATION_MAX_MEAN], sum->max_mean);
    assert_same(value[AV_SATURATION_MAX_MEDIAN], sum->max_median);
    assert_same(value[AV_SATURATION_REST_MEDIAN], sum->one_minus_max_median);
    assert_same(value[AV_SATURATION_LARGE], sum->share_max_gt_0_9);
    assert_same(value[AV_SATURATION_TRACE], sum->trace_mean);
    assert_same(value[AV_SATURATION_FRO_MEAN], sum->jacobian_fro_mean);
    assert_same(value[AV_SATURATION_FRO_MEDIAN], sum->jacobian_fro_median);
    assert_same(value[AV_SATURATION_DEAD], sum->share_fro_lt_1e_3);
    assert_same(value[AV_SATURATION_DQ_MEAN], sum->dq_rms_mean);
    assert_same(value[AV_SATURATION_DQ_MEDIAN], sum->dq_rms_median);
}

/* Points and, where they are measured, some cells of the plane, to the bit. */
static void assert_as_pipeline(struct av_params p)
{
    void *state = opened(NULL);
    const struct av_saturation *r = finished(state, p);
    struct av_model *m;
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    for (int scale = 0; scale < 2; scale++) {
        assert_int_equal(r->at.d, p.d_k);
        assert_true(r->at.known[scale]);
        assert_as_summary(r->at.value[scale], &updated(m, &p, r->at.d, scale, AV_NEED_DQ)->now);
        for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += 4) {
            assert_true(r->points[i].known[scale]);
            if (r->points[i].d <= 1024) {
                assert_as_summary(r->points[i].value[scale], &updated(m, &p, r->points[i].d, scale, AV_NEED_DQ)->now);
            }
        }
        for (size_t i = 3; i < AV_SATURATION_ROWS && !r->has_theory; i += 31) {
            struct av_params at = p;
            at.temperature = av_saturation_temperature(i);
            size_t d = av_saturation_d(96 - i);
            assert_same(r->plane[scale].value[i][96 - i], updated(m, &at, d, scale, 0)->now.entropy_norm_mean);
        }
    }
    av_model_free(m);
    saturation()->close(state);
}

static void the_pipeline_measures_the_same(void **unused)
{
    (void)unused;
    assert_as_pipeline(WITH("seed=7"));
    assert_as_pipeline(WITH("n_q=70", "n_k=33", "d_k=100", "temperature=0.3", "exponent=0.8"));
    assert_as_pipeline(WITH("n_q=20", "n_k=30", "mask=causal", "dist=laplace", "corr=0.3", "q_mean=0.5", "k_std=2"));
    assert_as_pipeline(WITH("n_q=30", "n_k=20", "mask=causal", "dist=rademacher", "scale=off", "d_k=4096"));
    assert_as_pipeline(WITH("n_k=2", "dist=uniform", "k_mean=3", "d_k=1"));
    assert_as_pipeline(WITH("n_q=1", "n_k=7", "temperature=0.01"));
    assert_as_pipeline(WITH("temperature=100", "q_std=0", "dist=uniform"));
}

static void theory_is_that_of_the_pipeline(void **unused)
{
    (void)unused;
    const struct av_params settings[] = {
        WITH("d_k=100"),
        WITH("n_q=40", "n_k=50", "mask=causal", "temperature=0.2", "exponent=0.3", "q_std=2", "k_mean=1"),
    };
    for (size_t k = 0; k < COUNT(settings); k++) {
        void *state = opened(NULL);
        const struct av_saturation *r = begun(state, settings[k]);
        struct av_model *m;
        assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
        assert_true(r->has_theory);
        for (int scale = 0; scale < 2; scale++) {
            const struct av_snapshot *s = updated(m, &settings[k], (size_t)settings[k].d_k, scale, AV_NEED_THEORY);
            assert_true(s->has_theory);
            assert_memory_equal(&r->at_theory[scale], &s->theory, sizeof s->theory);
            assert_same(r->at_std[scale], s->theory_std);
            assert_same(r->freezing_std, s->theory_freezing);
            s = updated(m, &settings[k], av_saturation_d(50), scale, AV_NEED_THEORY);
            assert_memory_equal(&r->theory[scale][50], &s->theory, sizeof s->theory);
        }
        av_model_free(m);
        saturation()->close(state);
    }
}

/* ---- against reference values ------------------------------------------- */

/* tests/reference/saturation_reference.py */
static const struct {
    size_t n, d;
    double temperature;
    struct {
        double entropy_norm, trace;
    } of[2];
} theory_table[] = {
    { 64, 64, 1, { { 0.140489174, 0.291383288 }, { 0.886224766, 0.960973349 } } },
    { 64, 4, 1, { { 0.675149422, 0.847578666 }, { 0.889792472, 0.958337355 } } },
    { 64, 1024, 1, { { 0.0303509245, 0.0732326162 }, { 0.886008585, 0.961181647 } } },
    { 32, 16, 3, { { 0.789052801, 0.885517942 }, { 0.984567718, 0.965214561 } } },
    { 512, 256, 0.5, { { 0.0268400451, 0.0953172573 }, { 0.704218861, 0.953374951 } } },
};

static void theory_is_right_along_the_curve(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    for (size_t k = 0; k < COUNT(theory_table); k++) {
        struct av_params p = WITH("n_q=8", "d_k=1");
        p.n_k = (int64_t)theory_table[k].n;
        p.temperature = theory_table[k].temperature;
        const struct av_saturation *r = begun(state, p);
        size_t i = (size_t)lround(8 * log2((double)theory_table[k].d));
        assert_int_equal(r->points[i].d, theory_table[k].d);
        for (int scale = 0; scale < 2; scale++) {
            assert_near(r->theory[scale][i].entropy_norm, theory_table[k].of[scale].entropy_norm, 1e-6);
            assert_near(r->theory[scale][i].trace, theory_table[k].of[scale].trace, 1e-6);
        }
    }
    saturation()->close(state);
}

/* Means over 20,000 rows and more that share no keys, in PyTorch. Here rows
 * share them: a seed is off by some percent, the mean over eight by less. */
static const struct {
    const char *n_k, *d_k;
    double rest_median, large, entropy, scaled_max, scaled_entropy;
} random_rows[] = {
    { "n_k=8", "d_k=64", 0.0374, 0.63, 0.151, 0.337, 0.823 },
    { "n_k=64", "d_k=64", 0.132, 0.45, 0.136, 0.097, 0.885 },
};

static void random_rows_saturate_as_measured_elsewhere(void **unused)
{
    (void)unused;
    enum { SEEDS = 8 };
    void *state = opened(NULL);
    for (size_t k = 0; k < COUNT(random_rows); k++) {
        double sum[2][AV_SATURATION_QUANTITIES] = { { 0 } };
        for (int seed = 0; seed < SEEDS; seed++) {
            struct av_params p = WITH("n_q=1024", random_rows[k].n_k, random_rows[k].d_k);
            p.seed = (uint64_t)seed;
            const struct av_saturation *r = present(state, p);
            for (int q = 0; q < 2 * AV_SATURATION_QUANTITIES; q++) {
                sum[q % 2][q / 2] += r->at.value[q % 2][q / 2] / SEEDS;
            }
        }
        assert_near(sum[0][AV_SATURATION_REST_MEDIAN], random_rows[k].rest_median, 0.2 * random_rows[k].rest_median);
        assert_near(sum[0][AV_SATURATION_LARGE], random_rows[k].large, 0.03);
        assert_near(sum[0][AV_SATURATION_ENTROPY], random_rows[k].entropy, 0.01);
        assert_near(sum[1][AV_SATURATION_MAX_MEDIAN], random_rows[k].scaled_max, 0.01);
        assert_near(sum[1][AV_SATURATION_ENTROPY], random_rows[k].scaled_entropy, 0.01);
    }
    saturation()->close(state);
}

/* ---- freezing ------------------------------------------------------------- */

static void freezing_is_where_the_spread_is(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_saturation *r = begun(state, WITH("d_k=64"));
    assert_near(r->freezing_std, sqrt(2 * log(32)), 1e-15);
    assert_near(r->freezing_d[0], 2 * log(32), 1e-12);
    assert_true(isnan(r->freezing_d[1])); /* the same spread at every d_k */
    assert_near(r->at_std[0], 8, 0);
    assert_near(r->at_std[1], 1, 1e-15);
    assert_near(av_saturation_contour(r, true, 7), av_saturation_contour(r, true, 3000), 1e-15);
    r = begun(state, WITH("q_std=0"));
    assert_true(isnan(r->freezing_d[0]) && isnan(r->freezing_d[1])); /* equal logits freeze nowhere */

    const struct av_params odd[] = {
        WITH("exponent=0.25", "temperature=2", "q_std=1.5", "k_std=0.7"),
        WITH("exponent=1", "temperature=0.1", "q_mean=-0.4", "n_k=500"),
        WITH("exponent=0", "mask=causal", "n_q=40", "n_k=20"),
    };
    for (size_t k = 0; k < COUNT(odd); k++) {
        r = begun(state, odd[k]);
        for (int scale = 0; scale < 2; scale++) {
            double std = av_saturation_std(&odd[k], scale, r->freezing_d[scale], odd[k].temperature);
            assert_near(std / r->freezing_std, 1, 1e-12);
            double t = av_saturation_contour(r, scale, 37.5);
            assert_near(av_saturation_std(&odd[k], scale, 37.5, t) / r->freezing_std, 1, 1e-12);
        }
    }
    assert_near(r->freezing_d[0], r->freezing_d[1], 0); /* exponent 0 is no scale */
    double sum = 0;
    for (int n = 2; n <= 20; n++) {
        sum += sqrt(2 * log(n));
    }
    assert_near(r->freezing_std, sum / 19, 1e-14);
    saturation()->close(state);
}

/* The spread of a row's scores is what av_saturation_std says, within four
 * standard errors of 2048 keys, which all rows share. */
static void the_spread_is_measured_too(void **unused)
{
    (void)unused;
    struct av_params p = WITH("n_q=64", "n_k=2048", "d_k=50", "q_mean=0.8", "k_std=0.6", "dist=uniform", "k_mean=2");
    struct av_model *m;
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    double measured = updated(m, &p, 50, true, 0)->now.row_std;
    assert_near(measured, av_saturation_std(&p, true, 50, 1), 4 / sqrt(2 * 2048) * measured);
    av_model_free(m);
}

/* ---- edges ------------------------------------------------------------------ */

static void no_row_counts_with_one_key(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_saturation *r = finished(state, WITH("n_k=1", "n_q=5"));
    assert_int_equal(r->rows, 5);
    assert_int_equal(r->rows_counting, 0);
    assert_false(r->has_theory);
    assert_true(isnan(r->freezing_std));
    for (int q = 0; q < AV_SATURATION_QUANTITIES; q++) {
        assert_true(isnan(r->points[48].value[0][q]));
        assert_true(isnan(r->at.value[1][q]));
    }
    assert_true(isnan(r->plane[1].value[40][40]));
    assert_near(saturation()->progress(state), 1, 0);
    r = finished(state, WITH("n_k=3", "n_q=3", "mask=causal"));
    assert_int_equal(r->rows_counting, 2);
    saturation()->close(state);
}

static void extremes_keep_their_precision(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_saturation *r = finished(state, WITH("temperature=0.01", "n_q=64"));
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += 4) {
        for (int q = 0; q < 2 * AV_SATURATION_QUANTITIES; q++) {
            assert_true(isfinite(r->points[i].value[q % 2][q / 2]));
        }
    }
    const double *value = r->points[56].value[0]; /* d_k 128 */
    assert_true(value[AV_SATURATION_FRO_MEDIAN] > 0 && value[AV_SATURATION_FRO_MEDIAN] < 1e-60);
    assert_true(value[AV_SATURATION_REST_MEDIAN] > 0 && value[AV_SATURATION_REST_MEDIAN] < 1e-60);
    r = finished(state, WITH("temperature=100", "n_q=64"));
    /* 1 - sigma^2 (n - 1) / (2 n ln n) for a small sigma, here 0.01 */
    double rest = 1e-4 * 31 / 32 / (2 * log(32));
    assert_near(1 - r->points[56].value[1][AV_SATURATION_ENTROPY], rest, 0.1 * rest);
    saturation()->close(state);
}

/* Of 2048 x 2048 pairs an eighth of an eighth is measured: the rows in the
 * middles of groups of sixteen. */
static void of_many_rows_some_are_measured(void **unused)
{
    (void)unused;
    struct av_params p = WITH("n_q=2048", "n_k=2048", "d_k=1", "mask=causal", "temperature=0.5");
    void *state = opened(NULL);
    const struct av_saturation *r = present(state, p);
    struct av_model *m;
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    const struct av_snapshot *s = updated(m, &p, 1, true, 0);
    assert_int_equal(r->rows, 128);
    assert_int_equal(r->rows_counting, 128);
    double entropy = 0;
    double largest = 0;
    for (size_t i = 7; i < 2048; i += 16) {
        entropy += s->rows[i].entropy / log((double)(i + 1));
        largest += s->rows[i].max;
    }
    assert_same(r->at.value[1][AV_SATURATION_ENTROPY], entropy / 128);
    assert_same(r->at.value[1][AV_SATURATION_MAX_MEAN], largest / 128);
    av_model_free(m);
    saturation()->close(state);
}

/* Files may be larger than any sample: their sizes are cut to the ranges. */
static void sizes_stay_in_range(void **unused)
{
    (void)unused;
    struct av_params p = WITH("n_q=3");
    p.d_k = AV_DIM_MAX + 1000;
    p.n_k = 3000000;
    void *state = opened(NULL);
    const struct av_saturation *r = present(state, p);
    assert_int_equal(r->at.d, AV_DIM_MAX);
    assert_int_equal(r->params.n_k, AV_KEYS_MAX);
    assert_int_equal(r->rows, 3);
    saturation()->close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pipeline_measures_the_same),  cmocka_unit_test(theory_is_that_of_the_pipeline),
        cmocka_unit_test(theory_is_right_along_the_curve), cmocka_unit_test(random_rows_saturate_as_measured_elsewhere),
        cmocka_unit_test(freezing_is_where_the_spread_is), cmocka_unit_test(the_spread_is_measured_too),
        cmocka_unit_test(no_row_counts_with_one_key),      cmocka_unit_test(extremes_keep_their_precision),
        cmocka_unit_test(of_many_rows_some_are_measured),  cmocka_unit_test(sizes_stay_in_range),
    };
    return cmocka_run_group_tests_name("saturation", tests, NULL, NULL);
}
