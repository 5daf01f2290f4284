/* test_distributions.c - the study of scores at four d_k. */
#include "attnviz/density.h"
#include "attnviz/distributions.h"
#include "attnviz/stats.h"
#include "attnviz/study.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The default parameters with these settings, "name=value", NULL at the end. */
static struct av_params params_of(const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    return p;
}

#define PARAMS(...) params_of((const char *const[]){ __VA_ARGS__, NULL })

static struct av_studies *studies;

static const struct av_study *study(void)
{
    return av_study_find("distributions");
}

static int set_up(void **state)
{
    (void)state;
    return av_studies_new(&studies, NULL, NULL) == AV_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    av_studies_free(studies);
    return 0;
}

static const struct av_distributions *ask(struct av_studies *s, const struct av_params *p)
{
    assert_int_equal(av_studies_ask(s, study(), p, NULL), AV_OK);
    return av_studies_result(s, study());
}

static const struct av_distributions *finish(struct av_studies *s, const struct av_params *p)
{
    ask(s, p);
    while (av_studies_step(s, study())) {
    }
    assert_true(av_studies_progress(s, study()) == 1);
    return av_studies_result(s, study());
}

/* A finished study by other kernels and without a past, on the heap. */
static struct av_distributions *afresh(const char *kernels, const struct av_params *p)
{
    struct av_studies *s;
    struct av_distributions *copy = malloc(sizeof *copy);
    assert_int_equal(av_studies_new(&s, kernels == NULL ? NULL : av_kernels_named(kernels), NULL), AV_OK);
    memcpy(copy, finish(s, p), sizeof *copy);
    av_studies_free(s);
    return copy;
}

static void assert_same(const struct av_distributions *a, const struct av_params *p)
{
    struct av_distributions *b = afresh(NULL, p);
    assert_memory_equal(a, b, sizeof *a);
    free(b);
}

static void assert_close(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

/* ---- against the definition ---------------------------------------------- */

enum { PAIRS = 300, D = 100 };

/* Scores of d columns, by the sampler alone. */
static void plain_scores(double *scores, const struct av_params *p, size_t d)
{
    float q[D];
    float e[D];
    for (uint32_t r = 0; r < PAIRS; r++) {
        av_kernels_named("base")->draw(q, 0, d, (enum av_dist)p->dist, (struct av_stream){ p->seed, 0, r });
        av_kernels_named("base")->draw(e, 0, d, (enum av_dist)p->dist, (struct av_stream){ p->seed, 1, r });
        scores[r] = 0;
        for (size_t c = 0; c < d; c++) {
            double x = (double)q[c];
            double y = p->corr * x + sqrt(1 - p->corr * p->corr) * (double)e[c];
            scores[r] += (p->q_mean + p->q_std * x) * (p->k_mean + p->k_std * y);
        }
    }
}

static void moments_and_bins_of_plain_scores(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=300", "d_k_1=100", "d_k_2=3", "d_k_3=64", "d_k_4=3", "bins=20", "q_mean=0.5",
                                "k_mean=-0.25", "q_std=2", "k_std=0.5", "corr=0.5", "exponent=0.25", "seed=7");
    const struct av_distributions *r = finish(studies, &p);
    const size_t d_k[] = { 100, 3, 64, 3 };
    assert_int_equal(r->pairs, PAIRS);
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        const struct av_distribution_panel *panel = &r->panels[i];
        double scores[PAIRS];
        plain_scores(scores, &p, d_k[i]);
        struct av_moments m = AV_MOMENTS_INIT;
        av_moments_add(&m, scores, PAIRS);
        assert_int_equal(panel->d_k, d_k[i]);
        assert_close(panel->kurtosis.measured, av_moments_excess_kurtosis(&m), 1e-5);
        for (size_t on = 0; on < 2; on++) {
            const struct av_distribution *d = &panel->by_scale[on];
            double f = on ? pow((double)d_k[i], -0.25) : 1;
            uint32_t counts[AV_BINS_MAX] = { 0 };
            av_histogram_add(counts, r->bins, d->lo, d->hi, scores, PAIRS, f);
            assert_close(d->factor, f, 1e-15);
            assert_close(d->mean.measured, f * m.mean, 1e-5);
            assert_close(d->variance.measured, f * f * av_moments_var(&m), 1e-5 * av_moments_var(&m));
            double inside = 0;
            for (size_t b = 0; b < r->bins; b++) {
                double n = d->density[b] * PAIRS * (d->hi - d->lo) / (double)r->bins;
                assert_close(n, counts[b], 1e-9);
                inside += n;
            }
            assert_close(panel->beyond, 1 - inside / PAIRS, 1e-12);
        }
    }
    assert_memory_equal(&r->panels[1], &r->panels[3], sizeof r->panels[1]);
}

/* The points are the powers of two up to the largest d_k, and the panels'. */
static void points_ascend(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=100", "d_k_1=100", "d_k_2=3", "d_k_3=64", "d_k_4=3");
    const struct av_distributions *r = finish(studies, &p);
    const size_t want[] = { 1, 2, 3, 4, 8, 16, 32, 64, 100 };
    assert_int_equal(r->points, sizeof want / sizeof *want);
    for (size_t i = 0; i < r->points; i++) {
        assert_int_equal(r->point[i].d_k, want[i]);
    }
    p = PARAMS("samples=100", "d_k_1=4096", "d_k_2=4095", "d_k_3=4094", "d_k_4=4093");
    r = finish(studies, &p);
    assert_int_equal(r->points, 16);
    assert_int_equal(r->point[15].d_k, 4096);
}

/* ---- the same bits, however it came about ----------------------------------- */

static void all_kernels_find_the_same(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=1500", "corr=0.3", "dist=laplace", "d_k_3=77");
    const struct av_distributions *r = finish(studies, &p);
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        if (av_kernels_named(*name) != NULL) {
            struct av_distributions *other = afresh(*name, &p);
            assert_memory_equal(r, other, sizeof *r);
            free(other);
        }
    }
}

/* More samples go on, fewer begin again; other bins and exponents keep the
 * pairs: what stands in the end is what would have come at once. */
static void the_past_leaves_no_trace(void **state)
{
    (void)state;
    const struct av_params steps[] = {
        PARAMS("samples=1000", "bins=30"),
        PARAMS("samples=3000", "bins=30"),
        PARAMS("samples=3000", "bins=60"),
        PARAMS("samples=3000", "bins=60", "exponent=1"),
        PARAMS("samples=2000", "bins=60", "exponent=1"),
        PARAMS("samples=2000", "bins=60", "exponent=1", "seed=1"),
        PARAMS("samples=2000", "bins=60", "exponent=1", "seed=1", "d_k_4=512"),
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_same(finish(studies, &steps[i]), &steps[i]);
    }
}

/* Begun again in the middle of the work, for more bins and for other pairs. */
static void interrupted_work_is_no_matter(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=6000", "seed=3");
    ask(studies, &p);
    assert_true(av_studies_step(studies, study()));
    struct av_params q = PARAMS("samples=6000", "seed=3", "bins=77");
    ask(studies, &q);
    assert_true(av_studies_progress(studies, study()) < 1);
    assert_same(finish(studies, &q), &q);
    struct av_params other = PARAMS("samples=5000", "seed=4", "bins=77");
    assert_same(finish(studies, &other), &other);
}

static const char *const drawn_by[] = { "d_k_1=8", "d_k_2=8",    "d_k_3=8",    "d_k_4=900", "dist=uniform", "q_std=2",
                                        "k_std=2", "q_mean=0.1", "k_mean=0.1", "corr=0.1",  "seed=43" };

/* Every parameter that decides the pairs brings new ones. */
static void what_decides_the_pairs_is_heard(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof drawn_by / sizeof *drawn_by; i++) {
        struct av_params p = PARAMS("samples=200");
        finish(studies, &p);
        p = PARAMS("samples=200", drawn_by[i]);
        assert_same(finish(studies, &p), &p);
    }
}

/* ---- while it runs ------------------------------------------------------------ */

/* After any unit the result is that of a study of so many samples. */
static void partial_results_are_results(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=1000000", "d_k_4=4096", "corr=0.2");
    const struct av_distributions *r = ask(studies, &p);
    double before = 0;
    for (int k = 0; k < 3; k++) {
        double progress = av_studies_progress(studies, study());
        assert_true(progress > before && progress < 1);
        assert_true(r->pairs >= 2 * AV_PAIR_GROUPS);
        assert_int_equal(r->counted, r->pairs);
        assert_close(progress, (double)r->pairs / 1e6, 1e-15);
        struct av_params few = p;
        few.samples = (int64_t)r->pairs;
        struct av_distributions *whole = afresh(NULL, &few);
        whole->samples = r->samples;
        assert_memory_equal(r, whole, sizeof *r);
        free(whole);
        before = progress;
        assert_true(av_studies_step(studies, study()));
    }
}

/* ---- against theory -------------------------------------------------------------- */

static void assert_expected(const struct av_estimate *e, const char *what, const char *setting)
{
    if (!(isnan(e->theory) || fabs(av_estimate_deviation(e)) < 4)) {
        fail_msg("%s of %s: %g +- %g, theory %g", what, setting, e->measured, e->error, e->theory);
    }
}

static void theory_holds(void **state)
{
    (void)state;
    static const char *const settings[][4] = {
        { "seed=1" },
        { "dist=uniform" },
        { "dist=rademacher" },
        { "dist=laplace", "corr=0.5" },
        { "corr=0.3", "q_mean=0.5" },
        { "corr=-1", "k_std=3" },
        { "q_mean=2", "k_mean=-1", "q_std=0.5" },
        { "dist=uniform", "corr=0.8", "k_mean=0.2", "exponent=1" },
    };
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        struct av_params p = PARAMS("d_k_1=2", "d_k_2=16", "d_k_3=33", "d_k_4=128");
        for (size_t i = 0; i < 4 && settings[k][i] != NULL; i++) {
            assert_int_equal(av_params_set_text(&p, settings[k][i], NULL), AV_OK);
        }
        const struct av_distributions *r = finish(studies, &p);
        for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
            assert_expected(&r->panels[i].kurtosis, "kurtosis", settings[k][0]);
            for (size_t on = 0; on < 2; on++) {
                assert_expected(&r->panels[i].by_scale[on].mean, "mean", settings[k][0]);
                assert_expected(&r->panels[i].by_scale[on].variance, "variance", settings[k][0]);
                assert_expected(&r->slope[on], "slope", settings[k][0]);
            }
        }
    }
}

/* Variances that others measured over 10000 pairs, within the error of both. */
static void variances_of_the_default_panels(void **state)
{
    (void)state;
    struct av_params p = PARAMS("seed=42");
    const struct av_distributions *r = finish(studies, &p);
    const double elsewhere[] = { 16.2, 64.1, 258.7, 1021.7 };
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        const struct av_estimate *e = &r->panels[i].by_scale[0].variance;
        assert_close(e->measured, elsewhere[i], 4 * sqrt(2) * e->error);
        assert_close(e->error, e->theory * sqrt((2 + 6 / e->theory) / 1e4), 0.4 * e->error);
    }
    assert_close(r->slope[0].measured, 1, 4 * r->slope[0].error);
    assert_close(r->slope[1].measured, 0, 4 * r->slope[1].error);
    assert_true(r->slope[0].error > 0.002 && r->slope[0].error < 0.02);
}

/* Pearson's statistic of the bins that expect ten pairs or more, per bin. */
static double misfit(const struct av_distribution *d, const double *density, const struct av_distributions *r)
{
    double unit = (double)r->pairs * (d->hi - d->lo) / (double)r->bins;
    double sum = 0;
    double bins = 0;
    for (size_t b = 0; b < r->bins; b++) {
        double want = unit * density[b];
        if (want >= 10) {
            sum += (unit * d->density[b] - want) * (unit * d->density[b] - want) / want;
            bins++;
        }
    }
    return sum / bins;
}

/* The exact density fits at every d_k, the normal one only at a large one. */
static void the_exact_density_fits(void **state)
{
    (void)state;
    struct av_params p = PARAMS("d_k_1=1", "d_k_2=4", "d_k_3=16", "d_k_4=512", "q_std=3", "k_std=0.2");
    const struct av_distributions *r = finish(studies, &p);
    assert_true(r->has_exact);
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        for (size_t on = 0; on < 2; on++) {
            const struct av_distribution *d = &r->panels[i].by_scale[on];
            assert_true(misfit(d, d->exact, r) < 1.8); /* some 30 bins: beyond 3 standard deviations */
            assert_true(i != 3 || misfit(d, d->normal, r) < 1.8);
            assert_true(i > 1 || misfit(d, d->normal, r) > 10);
        }
    }
    double exact[50];
    const struct av_distribution *scaled = &r->panels[2].by_scale[1];
    av_density_bins(16, 0.6 / 4, scaled->lo, scaled->hi, 50, exact);
    for (size_t b = 0; b < 50; b++) {
        assert_close(scaled->exact[b], exact[b], 1e-9 * exact[b]);
    }
    const char *const inexact[] = { "dist=uniform", "corr=0.1", "q_mean=1", "k_mean=1", "q_std=0" };
    for (size_t i = 0; i < sizeof inexact / sizeof *inexact; i++) {
        p = PARAMS("samples=100", inexact[i]);
        assert_false(finish(studies, &p)->has_exact);
    }
}

/* ---- the ends ------------------------------------------------------------------------ */

/* Nothing varies: all scores in one bin, no slope, and no number is infinite. */
static void no_variance(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=100", "q_std=0", "k_std=0", "q_mean=1000", "k_mean=-1000");
    const struct av_distributions *r = finish(studies, &p);
    assert_true(isnan(r->slope[0].measured));
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        const struct av_distribution *d = &r->panels[i].by_scale[0];
        assert_true(d->mean.measured == -1e6 * (double)r->panels[i].d_k);
        assert_true(d->variance.measured == 0);
        assert_true(r->panels[i].beyond == 0);
        assert_true(isfinite(d->peak) && d->peak > 0);
        assert_true(d->lo < d->mean.measured && d->mean.measured < d->hi);
    }
}

static void one_column(void **state)
{
    (void)state;
    struct av_params p = PARAMS("samples=500", "d_k_1=1", "d_k_2=1", "d_k_3=1", "d_k_4=1", "dist=rademacher", "bins=5");
    const struct av_distributions *r = finish(studies, &p);
    assert_int_equal(r->points, 1);
    assert_true(isnan(r->slope[0].measured));
    assert_close(r->panels[0].kurtosis.measured, -2, 0.02);
    assert_true(r->panels[0].kurtosis.theory == -2);
}

/* In a child, which the limit dies with: 0 is success. */
static int check_without_memory(void)
{
    struct rlimit limit = { 1 << 25, 1 << 25 };
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    p.samples = 1000;
    setrlimit(RLIMIT_AS, &limit);
    if (av_studies_ask(studies, study(), &p, &e) != AV_OK) {
        return 1;
    }
    p.samples = 1000000; /* 32 megabytes */
    if (av_studies_ask(studies, study(), &p, &e) != AV_NOMEM || strstr(e.text, "memory") == NULL) {
        return 2;
    }
    if (av_studies_result(studies, study()) != NULL || av_studies_step(studies, study())) {
        return 3;
    }
    p.samples = 1000;
    if (av_studies_ask(studies, study(), &p, &e) != AV_OK) {
        return 4;
    }
    const struct av_distributions *r = av_studies_result(studies, study());
    return r->panels[3].by_scale[0].variance.measured > 800 ? 0 : 5;
}

static void without_memory_it_may_be_begun_again(void **state)
{
    (void)state;
    if (SANITIZED) {
        skip(); /* its own memory breaks the limit */
    }
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(check_without_memory());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_it_may_be_begun_again), /* first: others leave room behind */
        cmocka_unit_test(moments_and_bins_of_plain_scores),
        cmocka_unit_test(points_ascend),
        cmocka_unit_test(all_kernels_find_the_same),
        cmocka_unit_test(the_past_leaves_no_trace),
        cmocka_unit_test(interrupted_work_is_no_matter),
        cmocka_unit_test(what_decides_the_pairs_is_heard),
        cmocka_unit_test(partial_results_are_results),
        cmocka_unit_test(theory_holds),
        cmocka_unit_test(variances_of_the_default_panels),
        cmocka_unit_test(the_exact_density_fits),
        cmocka_unit_test(no_variance),
        cmocka_unit_test(one_column),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
