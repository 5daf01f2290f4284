/* test_saturation_work.c - how the study "saturation" is cut into units, and
 * what a change of parameters leaves standing. */
#include "counting_kernels.h"
#include "saturation_driver.h"

#include <math.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static size_t draws;

static void counting_draw(float *x, size_t first, size_t count, enum av_dist dist, struct av_stream stream)
{
    av_kernels_best()->draw(x, first, count, dist, stream);
    draws++;
}

static struct av_kernels counting(void)
{
    struct av_kernels k = counting_kernels();
    k.draw = counting_draw;
    return k;
}

static void assert_calls(size_t want_draws, size_t least_scores, size_t want_dq)
{
    assert_int_equal(draws, want_draws);
    assert_true(least_scores > 0 ? calls.scores >= least_scores : calls.scores == 0);
    assert_int_equal(calls.dq, want_dq);
    draws = 0;
    calls.scores = 0;
    calls.dq = 0;
}

/* Points: 24 d_k, two states, a block of 32 rows each. */
enum { POINTS = 24, STATES = 2 };

static void a_change_keeps_what_still_holds(void **unused)
{
    (void)unused;
    struct av_kernels kernels = counting();
    void *state = opened(&kernels);
    struct av_params p = WITH("d_k=64");
    assert_calls(0, 0, 0);
    const struct av_saturation *r = finished(state, p);
    assert_calls(64, 1, STATES * POINTS);
    finished(state, p);
    assert_calls(0, 0, 0);
    p.d_k = 1024; /* a column */
    finished(state, p);
    assert_calls(0, 0, 0);
    p.d_k = 100; /* none */
    r = finished(state, p);
    assert_true(r->at.known[0] && r->at.known[1]);
    assert_calls(0, 1, STATES);
    p.scale = 0;
    r = begun(state, p);
    assert_int_equal(r->plane[0].stride, 1);
    assert_int_equal(r->plane[1].stride, 1);
    assert_false(saturation()->step(state));
    assert_calls(0, 0, 0);
    p.temperature = 2; /* an axis of the planes */
    r = begun(state, p);
    assert_int_equal(r->plane[0].stride, 1);
    assert_int_equal(r->plane[1].stride, 1);
    finished(state, p);
    assert_calls(0, 1, STATES * (POINTS + 1));
    p.exponent = 0.7;
    r = begun(state, p);
    assert_true(r->points[8].known[0] && !r->points[8].known[1]);
    assert_int_equal(r->plane[0].stride, 1);
    assert_int_equal(r->plane[1].stride, 0);
    finished(state, p);
    assert_calls(0, 1, POINTS + 1);
    p.seed++;
    r = begun(state, p);
    assert_int_equal(r->plane[0].stride, 1); /* of theory, which knows no seed */
    assert_int_equal(r->plane[1].stride, 1);
    finished(state, p);
    assert_calls(64, 1, STATES * (POINTS + 1));
    p.mask = AV_MASK_CAUSAL;
    r = begun(state, p);
    assert_true(r->plane[0].stride > 1); /* theory's coarse picture at once */
    finished(state, p);
    assert_calls(0, 1, STATES * (POINTS + 1));
    saturation()->close(state);
}

static void measured_planes_are_kept_too(void **unused)
{
    (void)unused;
    struct av_kernels kernels = counting();
    void *state = opened(&kernels);
    struct av_params p = WITH("n_q=6", "n_k=9", "dist=laplace");
    finished(state, p);
    p.d_k = 8;
    p.temperature = 0.5;
    assert_int_equal(begun(state, p)->plane[0].stride, 1);
    p.seed++;
    assert_int_equal(begun(state, p)->plane[0].stride, 0);
    finished(state, p);
    p.dist = AV_DIST_NORMAL; /* measured no more */
    const struct av_saturation *r = begun(state, p);
    assert_true(r->plane[1].stride > 1);
    assert_int_equal(r->plane[0].stride, 0);
    saturation()->close(state);
}

/* ---- the same result, however it is cut -------------------------------------- */

static void assert_equal_results(const struct av_saturation *a, const struct av_saturation *b)
{
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += 4) {
        assert_memory_equal(a->points[i].value, b->points[i].value, sizeof a->points[i].value);
    }
    assert_memory_equal(a->at.value, b->at.value, sizeof a->at.value);
    assert_memory_equal(a->plane, b->plane, sizeof a->plane);
    assert_memory_equal(a->theory, b->theory, sizeof a->theory);
    assert_memory_equal(a->freezing_d, b->freezing_d, sizeof a->freezing_d);
}

/* Looks and wanders off between units; all the same. */
static void slicing_changes_nothing(void **unused)
{
    (void)unused;
    const struct av_params settings[] = { WITH("n_q=30", "n_k=70"),
                                          WITH("n_q=9", "n_k=12", "dist=rademacher", "mask=causal") };
    for (size_t k = 0; k < COUNT(settings); k++) {
        void *straight = opened(NULL);
        void *winding = opened(NULL);
        const struct av_saturation *want = finished(straight, settings[k]);
        struct av_params p = settings[k];
        const struct av_saturation *got = begun(winding, p);
        for (int i = 0; saturation()->step(winding); i++) {
            assert_ptr_equal(saturation()->result(winding), got);
            p.d_k = i % 3 == 0 ? 1 + i * 37 % 4096 : p.d_k;
            p.scale = i % 5 != 0;
            p.temperature = i == 7 ? 3 : 1;
            begun(winding, p);
        }
        got = finished(winding, settings[k]);
        assert_equal_results(got, want);
        saturation()->close(straight);
        saturation()->close(winding);
    }
}

static void kernels_change_nothing(void **unused)
{
    (void)unused;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        if (av_kernels_named(*name) != NULL) {
            void *best = opened(NULL);
            void *other = opened(av_kernels_named(*name));
            struct av_params p = WITH("dist=uniform", "n_q=6", "n_k=37", "corr=0.5");
            assert_equal_results(finished(other, p), finished(best, p));
            saturation()->close(best);
            saturation()->close(other);
        }
    }
}

static void progress_rises_to_one(void **unused)
{
    (void)unused;
    const struct av_params settings[] = { WITH("d_k=100"), WITH("n_q=20", "n_k=100", "dist=laplace") };
    for (size_t k = 0; k < COUNT(settings); k++) {
        void *state = opened(NULL);
        const struct av_saturation *r = begun(state, settings[k]);
        double before = saturation()->progress(state);
        assert_true(before >= 0 && before < 1);
        while (saturation()->step(state)) {
            double now = saturation()->progress(state);
            assert_true(now >= before && now <= 1);
            before = now;
        }
        assert_true(before >= 1);
        assert_int_equal(r->plane[0].stride, 1);
        assert_int_equal(r->plane[1].stride, 1);
        saturation()->close(state);
    }
}

/* ---- the plane ----------------------------------------------------------------- */

static bool full(const struct av_saturation_plane *plane)
{
    for (size_t j = 0; j < AV_SATURATION_ROWS; j++) {
        for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
            if (isnan(plane->value[j][i])) {
                return false;
            }
        }
    }
    return true;
}

/* From the first coarse picture on there are no holes, and what is computed
 * stays. */
static void the_plane_is_refined(void **unused)
{
    (void)unused;
    static struct av_saturation_plane first;
    const struct av_params settings[] = { WITH("scale=off"), WITH("scale=off", "n_q=6", "n_k=9", "dist=laplace") };
    for (size_t k = 0; k < COUNT(settings); k++) {
        void *state = opened(NULL);
        const struct av_saturation *r = begun(state, settings[k]);
        assert_true(k == 1 || r->plane[0].stride > 0);
        while (r->plane[0].stride == 0) {
            assert_true(saturation()->step(state));
        }
        first = r->plane[0];
        do {
            assert_true(full(&r->plane[0]));
        } while (saturation()->step(state));
        size_t stride = (size_t)first.stride;
        for (size_t j = 0; j < AV_SATURATION_ROWS; j += stride) {
            for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += stride) {
                assert_true(first.value[j][i] == r->plane[0].value[j][i]);
                assert_true(first.value[j][i + (i > 0 ? 0 : 1)] == first.value[j][i]); /* its neighbour's */
            }
        }
        saturation()->close(state);
    }
}

static void the_plane_of_theory_is_that_of_the_curves(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    struct av_params p = WITH("exponent=0.4", "mask=causal", "n_q=50", "n_k=60");
    const struct av_saturation *r = finished(state, p);
    for (size_t j = 0; j < AV_SATURATION_ROWS; j += 13) {
        p.temperature = av_saturation_temperature(j);
        void *curves = opened(NULL);
        const struct av_saturation *at = begun(curves, p);
        for (int scale = 0; scale < 2; scale++) {
            for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
                assert_true(r->plane[scale].value[j][i] == at->theory[scale][i].entropy_norm);
            }
        }
        saturation()->close(curves);
    }
    saturation()->close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_keeps_what_still_holds),
        cmocka_unit_test(measured_planes_are_kept_too),
        cmocka_unit_test(slicing_changes_nothing),
        cmocka_unit_test(kernels_change_nothing),
        cmocka_unit_test(progress_rises_to_one),
        cmocka_unit_test(the_plane_is_refined),
        cmocka_unit_test(the_plane_of_theory_is_that_of_the_curves),
    };
    return cmocka_run_group_tests_name("saturation: work", tests, NULL, NULL);
}
