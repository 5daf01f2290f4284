/* test_train_reference.c - training against PyTorch, with and without variants: one step, ten, and 1600.
 *
 * The reference is in double, training in single precision, whose numbers are
 * rounded by 6e-8 of their size. A quantity of the first step has gone through
 * three products, and where rows are saturated its logits, of size 30, were
 * rounded as such: 3e-6 is the worst. From then on Adam, which divides a
 * gradient by its own root mean square, gives the rounding of the smallest
 * gradients the weight of the largest: 4e-5 after ten steps. It does not pile
 * up: over 1600 steps means of epochs agree to 2e-5. */
#include "sanitized.h"
#include "train_driver.h"
#include "train_reference.h"
#include "train_variants_reference.h"

#include <math.h>

/* The size of a field's own numbers, beside which it is rounded: means of
 * entries are small differences, as the spread of the entries tells. */
static double size_of(const double *want, size_t field)
{
    switch (field) {
    case AV_TRAIN_Q_MEAN:
        return sqrt(want[AV_TRAIN_Q_VAR]);
    case AV_TRAIN_K_MEAN:
        return sqrt(want[AV_TRAIN_K_VAR]);
    case AV_TRAIN_D_Q_MEDIAN:
        return want[AV_TRAIN_D_Q_MEAN];
    case AV_TRAIN_D_K_MEDIAN:
        return want[AV_TRAIN_D_K_MEAN];
    default:
        return fabs(want[field]);
    }
}

static void assert_fields(const char *what, size_t step, const double *got, const double *want, size_t fields,
                          double tolerance)
{
    for (size_t f = 0; f < fields; f++) {
        double off = fabs(got[f] - want[f]) / size_of(want, f);
        if (!(off <= tolerance)) {
            fail_msg("%s: step %zu, %s: %.9g, PyTorch %.9g", what, step, av_train_fields[f].name, got[f], want[f]);
        }
    }
}

static void assert_record(const char *what, size_t step, const double *got, const double *want, double tolerance)
{
    assert_true(got[AV_TRAIN_ROW_SUM] == 1);
    assert_fields(what, step, got, want, AV_TRAIN_ROW_SUM, tolerance);
}

static void assert_matrices(const char *what, const struct av_train *t, const double want[AV_TWINS][4])
{
    const struct av_train_config *c = av_train_config(t);
    for (int m = 0; m < 4; m++) {
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            float matrix[16 * 8];
            av_train_matrix(t, twin, m, matrix);
            assert_true(c->d_model * c->d_k <= sizeof matrix / sizeof matrix[0]);
            if (!(fabs((double)matrix[0] - want[twin][m]) <= 1e-5)) {
                fail_msg("%s: matrix %d begins with %.9g, PyTorch %.9g", what, m, (double)matrix[0], want[twin][m]);
            }
        }
    }
}

static void every_set(void (*check)(const struct av_kernels *kernels))
{
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        if (kernels != NULL) {
            check(kernels);
        }
    }
}

static void check_steps(const struct av_kernels *kernels)
{
    for (size_t i = 0; i < sizeof reference_steps / sizeof reference_steps[0]; i++) {
        struct av_train *t = train_of(reference_steps[i].settings, kernels);
        for (size_t n = 0; n < REFERENCE_STEPS; n++) {
            assert_true(av_train_step(t));
            for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
                const struct av_train_run *run = av_train_run(t, twin);
                assert_int_equal(run->state, AV_TRAIN_RUNNING);
                assert_record(reference_steps[i].settings, n + 1, run->last.at, reference_steps[i].steps[twin][n],
                              n == 0 ? 5e-6 : 1e-4);
            }
        }
        assert_matrices(reference_steps[i].settings, t, reference_steps[i].matrices);
        av_train_free(t);
    }
}

static void one_step_and_ten(void **state)
{
    (void)state;
    every_set(check_steps);
}

/* Both runs' first step and their tenth. */
static void check_variants(const struct av_kernels *kernels)
{
    for (size_t i = 0; i < sizeof variant_steps / sizeof variant_steps[0]; i++) {
        const char *what = variant_steps[i].settings;
        struct av_train *t = train_of(what, kernels);
        for (size_t n = 1; n <= REFERENCE_STEPS; n++) {
            assert_true(av_train_step(t));
            for (enum av_twin twin = 0; twin < AV_TWINS && (n == 1 || n == REFERENCE_STEPS); twin++) {
                assert_fields(what, n, av_train_run(t, twin)->last.at, variant_steps[i].steps[twin][n > 1],
                              AV_TRAIN_FIELDS, n == 1 ? 5e-6 : 1e-4);
            }
        }
        assert_matrices(what, t, variant_steps[i].matrices);
        av_train_free(t);
    }
}

static void variants_after_one_step_and_ten(void **state)
{
    (void)state;
    every_set(check_variants);
}

static void check_long(const struct av_kernels *kernels)
{
    struct av_train *t = trained(reference_long_settings, kernels);
    assert_int_equal(av_train_steps(t), 1600);
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_train_run *run = av_train_run(t, twin);
        assert_int_equal(run->state, AV_TRAIN_DONE);
        assert_int_equal(run->epoch_count, 100);
        for (size_t i = 0; i < sizeof reference_long / sizeof reference_long[0]; i++) {
            assert_record("1600 steps", reference_long[i].epoch, run->epochs[reference_long[i].epoch - 1].at,
                          reference_long[i].means[twin], 1e-4);
        }
    }
    av_train_free(t);
}

static void a_thousand_and_six_hundred(void **state)
{
    (void)state;
    if (SANITIZED) {
        check_long(av_kernels_best()); /* ten times slower */
    } else {
        every_set(check_long);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_and_ten),
        cmocka_unit_test(variants_after_one_step_and_ten),
        cmocka_unit_test(a_thousand_and_six_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
