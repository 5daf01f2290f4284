/* test_depth.c - stacks of layers: gradients, noise, overflow, clipping. */
#include "../../src/model/depth_branch.h"
#include "depth_driver.h"
#include "depth_reference.h"

#include <math.h>
#include <stdio.h>

/* ---- Against PyTorch ----------------------------------------------------------- */

static void assert_near(double value, double expected, double relative, const char *settings, const char *what)
{
    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= relative * fabs(expected))) {
        fail_msg("%s: %s is %.17g, not %.17g", settings, what, value, expected);
    }
}

/* The reference has twelve digits; rounding in the shallow stacks costs less. */
static void stacks_are_those_of_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reference_stacks / sizeof *reference_stacks; i++) {
        const char *settings = reference_stacks[i].settings;
        for (int scale = 0; scale < 2; scale++) {
            struct av_depth_stack *s = depth_stack(settings, scale != 0, NULL);
            assert_int_equal(s->overflow, AV_DEPTH_NO_OVERFLOW);
            assert_near(s->norm, reference_stacks[i].norm[scale], 1e-10, settings, "norm");
            for (size_t l = 0; l < s->count; l++) {
                for (size_t f = 0; f < AV_DEPTH_FIELDS; f++) {
                    double expected = reference_stacks[i].layers[scale][l][f];
                    assert_near(s->layers[l].at[f], expected, 1e-9, settings, av_depth_fields[f].name);
                }
            }
            av_free(s);
        }
    }
}

/* ---- Against differences ---------------------------------------------------------- */

enum { N = 5, D = 6, D_K = 4, HIDDEN = 7 };

/* Any numbers of size 1. */
static void fill(double *x, size_t n, double seed)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = sin(seed + 12.9898 * (double)i + 0.3 * (double)(i * i));
    }
}

static struct av_depth_branch branch(void)
{
    struct av_depth_branch b = { .n = N, .d = D, .d_k = D_K, .hidden = HIDDEN, .alpha = 0.7 };
    assert_int_equal(av_depth_branch_new(&b, av_kernels_best(), NULL), AV_OK);
    for (enum av_depth_matrix i = 0; i < AV_DEPTH_MATRICES; i++) {
        fill(b.w[i], av_depth_rows(&b, i) * av_depth_columns(&b, i), 1 + (double)i);
    }
    fill(b.h, N * D, 20);
    fill(b.d_y, N * D, 30);
    return b;
}

/* L = sum of y d_y: what d_y is the gradient of. */
static double loss(struct av_depth_branch *b, bool mlp)
{
    double sum = 0;
    if (mlp) {
        av_depth_mlp_forward(b);
    } else {
        assert_true(av_depth_attention_forward(b));
    }
    for (size_t i = 0; i < N * D; i++) {
        sum += b->y[i] * b->d_y[i];
    }
    return sum;
}

/* Central differences over n entries of x, whose error is about 1e-10 here. */
static void assert_gradient(struct av_depth_branch *b, bool mlp, double *x, const double *d_x, size_t n)
{
    const double step = 1e-5;
    for (size_t i = 0; i < n; i++) {
        const double was = x[i];
        x[i] = was + step;
        const double above = loss(b, mlp);
        x[i] = was - step;
        const double below = loss(b, mlp);
        x[i] = was;
        const double expected = (above - below) / (2 * step);
        if (!(fabs(d_x[i] - expected) <= 1e-8 * (1 + fabs(expected)))) {
            fail_msg("%s, entry %zu: %.12g, by differences %.12g", mlp ? "mlp" : "attention", i, d_x[i], expected);
        }
    }
}

static void branches_agree_with_differences(void **state)
{
    (void)state;
    struct av_depth_branch b = branch();
    for (int mlp = 0; mlp < 2; mlp++) {
        loss(&b, mlp != 0);
        (mlp ? av_depth_mlp_backward : av_depth_attention_backward)(&b);
        assert_gradient(&b, mlp != 0, b.h, b.d_h, N * D);
        const enum av_depth_matrix first = mlp ? AV_W_1 : AV_W_Q;
        const enum av_depth_matrix end = mlp ? AV_DEPTH_MATRICES : AV_W_1;
        for (enum av_depth_matrix i = first; i < end; i++) {
            assert_gradient(&b, mlp != 0, b.w[i], b.d_w[i], av_depth_rows(&b, i) * av_depth_columns(&b, i));
        }
    }
    av_depth_branch_free(&b);
}

static void layer_norm_agrees_with_differences(void **state)
{
    (void)state;
    const struct av_depth_math m = { .single = false };
    const double step = 1e-5;
    double x[N * D], y[N * D], s[N], d_y[N * D], d_x[N * D], sums[2];
    fill(x, N * D, 1);
    fill(d_y, N * D, 2);
    av_depth_norm_forward(&m, y, s, x, N, D);
    av_depth_norm_backward(&m, d_x, d_y, y, s, N, D);
    for (size_t i = 0; i < N * D; i++) {
        for (int side = 0; side < 2; side++) {
            double moved[N * D];
            memcpy(moved, x, sizeof x);
            moved[i] += side ? step : -step;
            av_depth_norm_forward(&m, y, s, moved, N, D);
            sums[side] = 0;
            for (size_t k = 0; k < N * D; k++) {
                sums[side] += y[k] * d_y[k];
            }
        }
        assert_true(fabs(d_x[i] - (sums[1] - sums[0]) / (2 * step)) < 1e-8);
    }
}

/* ---- Saturation ------------------------------------------------------------------------ */

/* p = (1, e^-800): the gradient is that of the tail, not 0. */
static void saturated_rows_keep_their_gradient(void **state)
{
    (void)state;
    const double tiny = 0x1p-1000;
    const double p[3] = { tiny, 1, 0 };
    const double d_p[3] = { 3, 1, 5 };
    double d_z[3];
    av_depth_softmax_backward(d_z, d_p, p, 3);
    assert_true(fabs(d_z[0] / tiny - 2) < 1e-15);
    assert_true(fabs(d_z[1] / tiny + 2) < 1e-15);
    assert_true(fabs(d_z[2]) <= 0);
}

static void large_numbers_have_a_norm(void **state)
{
    (void)state;
    const double x[] = { 3e200, -4e200, 0 };
    const double small[] = { 3e-200, -4e-200 };
    const double zeros[2] = { 0, 0 };
    const double bad[2] = { 1, (double)NAN };
    assert_true(fabs(av_depth_norm(x, 3) / 5e200 - 1) < 1e-15);
    assert_true(fabs(av_depth_norm(small, 2) / 5e-200 - 1) < 1e-15);
    assert_true(fabs(av_depth_norm(zeros, 2)) <= 0);
    assert_true(isnan(av_depth_norm(bad, 2)));
}

static void cosines_are_of_pairs(void **state)
{
    (void)state;
    const double x[] = { 2, 0, 0, 3, 1, 0 }; /* two along each other, one across */
    double direction[2];
    assert_true(fabs(av_depth_cosine(x, 3, 2, direction) - 1.0 / 3) < 1e-15);
    assert_true(isnan(av_depth_cosine(x, 1, 2, direction)));
}

/* ---- Noise, zero, overflow ---------------------------------------------------------------- */

static enum av_depth_kind kind(const struct av_depth_stack *s, size_t layer)
{
    return av_depth_kind(&s->layers[layer], AV_DEPTH_GRAD_QK, s->single);
}

static void what_cancels_is_noise_in_both_arithmetics(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        const char *settings = single ? "init=unit depth_dtype=f32" : "init=unit depth_dtype=f64";
        struct av_depth_stack *s = depth_stack(settings, true, NULL);
        assert_int_equal(kind(s, 0), AV_DEPTH_NUMBER);
        for (size_t i = s->count / 2; i < s->count; i++) {
            assert_int_equal(kind(s, i), AV_DEPTH_NOISE);
            assert_int_equal(av_depth_kind(&s->layers[i], AV_DEPTH_GRAD_V, s->single), AV_DEPTH_NUMBER);
            assert_true(s->layers[i].at[AV_DEPTH_GRAD_V] > 1);
            assert_true(s->layers[i].at[AV_DEPTH_COSINE] > 0.999999);
        }
        av_free(s);
    }
}

/* Logits of 1e20 leave one key: what the others get is below any double. */
static void frozen_rows_are_zero_not_noise(void **state)
{
    (void)state;
    struct av_depth_stack *s = depth_stack("init=unit residual=on layers=64", true, NULL);
    assert_int_equal(kind(s, 0), AV_DEPTH_NUMBER);
    assert_int_equal(kind(s, 63), AV_DEPTH_ZERO);
    assert_true(s->layers[63].one_hot && !s->layers[0].one_hot);
    assert_string_equal(av_depth_kind_name(AV_DEPTH_ZERO), "zero");
    av_free(s);
}

static void overflow_names_its_layer(void **state)
{
    (void)state;
    /* kaiming doubles the variance in each matrix: the signal outgrows a float */
    static const char wild[] = "init=kaiming residual=on layers=64 d_k=16 depth_dtype=f32";
    struct av_depth_stack *s = depth_stack(wild, true, NULL);
    assert_int_equal(s->overflow, AV_DEPTH_FORWARD);
    assert_in_range(s->overflow_layer, 1, 63);
    assert_true(isnan(s->norm));
    assert_true(isfinite(s->layers[s->overflow_layer - 1].at[AV_DEPTH_SIZE]));
    assert_true(isnan(s->layers[s->overflow_layer].at[AV_DEPTH_SIZE]));
    assert_int_equal(kind(s, 0), AV_DEPTH_UNKNOWN);
    av_free(s);
    /* the gradient does so earlier, in the same layer range */
    s = depth_stack("init=unit residual=on layers=64 depth_dtype=f32", true, NULL);
    assert_int_equal(s->overflow, AV_DEPTH_BACKWARD);
    assert_true(isfinite(s->layers[63].at[AV_DEPTH_SIZE]));
    assert_true(isfinite(s->layers[s->overflow_layer + 1].at[AV_DEPTH_GRAD_X]));
    assert_true(isnan(s->layers[s->overflow_layer].at[AV_DEPTH_GRAD_QK]));
    av_free(s);
    /* and a double holds both */
    s = depth_stack("init=unit residual=on layers=64", true, NULL);
    assert_int_equal(s->overflow, AV_DEPTH_NO_OVERFLOW);
    av_free(s);
}

/* ---- Clipping -------------------------------------------------------------------------------- */

static void clipping_bounds_the_norm_and_revives_nothing(void **state)
{
    (void)state;
    struct av_depth_stack *plain = depth_stack("init=unit", true, NULL);
    struct av_depth_stack *clipped = depth_stack("init=unit clip=0.25", true, NULL);
    double squares = 0;
    assert_true(plain->norm > 100);
    assert_memory_equal(&plain->norm, &clipped->norm, sizeof plain->norm);
    for (size_t i = 0; i < plain->count; i++) {
        static const enum av_depth_field parts[] = { AV_DEPTH_GRAD_QK, AV_DEPTH_GRAD_V, AV_DEPTH_GRAD_O };
        for (size_t f = 0; f < 3; f++) {
            squares += pow(clipped->layers[i].at[parts[f]], 2);
        }
        assert_int_equal(kind(plain, i), kind(clipped, i));
        assert_memory_equal(&plain->layers[i].at[AV_DEPTH_GRAD_X], &clipped->layers[i].at[AV_DEPTH_GRAD_X],
                            sizeof(double));
    }
    assert_true(fabs(sqrt(squares) - 0.25) < 1e-12);
    assert_true(fabs(clipped->clipped * plain->norm - 0.25) < 1e-12);
    av_free(plain);
    av_free(clipped);
}

/* ---- Edges -------------------------------------------------------------------------------------- */

static void the_smallest_stacks_behave(void **state)
{
    (void)state;
    static const char *const settings[] = { "layers=1 tokens=1 d_model=1 d_k=1", "layers=1 tokens=1 norm=pre mlp=on",
                                            "layers=64 tokens=2 d_model=1 d_k=1 norm=post residual=on mlp=on" };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct av_depth_stack *s = depth_stack(settings[i], true, NULL);
        assert_int_equal(s->overflow, AV_DEPTH_NO_OVERFLOW);
        assert_true(isfinite(s->norm));
        av_free(s);
    }
    /* one token attends to itself whatever its logit */
    struct av_depth_stack *s = depth_stack(settings[1], true, NULL);
    assert_int_equal(kind(s, 0), AV_DEPTH_ZERO);
    assert_true(isnan(s->layers[0].at[AV_DEPTH_COSINE]) && isnan(s->layers[0].at[AV_DEPTH_ENTROPY_NORM]));
    av_free(s);
}

static void what_is_too_large_is_refused(void **state)
{
    (void)state;
    struct av_params p = depth_params("d_model=4096 d_k=4096");
    struct av_depth_config c;
    struct av_depth_run *d = NULL;
    struct av_error e;
    assert_int_equal(av_depth_configure(&c, &p, true, &e), AV_USAGE);
    assert_non_null(strstr(e.text, "million multiplications"));
    c = depth_config("layers=64 tokens=256 d_model=512 d_k=16 mlp=off", true);
    assert_int_equal(av_depth_new(&d, &c, NULL, &e), AV_USAGE);
    assert_non_null(strstr(e.text, "MiB"));
    assert_null(d);
}

/* Whatever was computed before, and with room for more. */
static void a_stack_begun_anew_is_the_same(void **state)
{
    (void)state;
    struct av_depth_config large = depth_config("layers=9 d_model=24 d_k=5 mlp=on norm=pre", true);
    struct av_depth_stack *expected = depth_stack("layers=4 d_model=24 d_k=5 init=unit seed=7", false, NULL);
    struct av_depth_config small = depth_config("layers=4 d_model=24 d_k=5 init=unit seed=7", false);
    struct av_depth_run *d = NULL;
    double last = -1;
    assert_int_equal(av_depth_new(&d, &large, NULL, NULL), AV_OK);
    for (int i = 0; i < 25; i++) {
        assert_true(av_depth_step(d));
    }
    av_depth_begin(d, &small);
    do {
        assert_true(av_depth_progress(d) > last);
        last = av_depth_progress(d);
    } while (av_depth_step(d) && last < 1);
    assert_true(last >= 1 && !av_depth_step(d));
    assert_memory_equal(expected->layers, av_depth_stack(d)->layers, expected->count * sizeof *expected->layers);
    av_depth_free(d);
    av_free(expected);
}

/* The same numbers up to the order in which sums are rounded. */
static void every_set_of_kernels_agrees(void **state)
{
    (void)state;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        if (kernels == NULL) {
            continue;
        }
        struct av_depth_stack *best = depth_stack("init=unit norm=pre residual=on", true, NULL);
        struct av_depth_stack *other = depth_stack("init=unit norm=pre residual=on", true, kernels);
        for (size_t i = 0; i < best->count; i++) {
            assert_near(other->layers[i].at[AV_DEPTH_GRAD_QK], best->layers[i].at[AV_DEPTH_GRAD_QK], 1e-10, *name,
                        "grad_qk_norm");
        }
        av_free(best);
        av_free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_those_of_pytorch),
        cmocka_unit_test(branches_agree_with_differences),
        cmocka_unit_test(layer_norm_agrees_with_differences),
        cmocka_unit_test(saturated_rows_keep_their_gradient),
        cmocka_unit_test(large_numbers_have_a_norm),
        cmocka_unit_test(cosines_are_of_pairs),
        cmocka_unit_test(what_cancels_is_noise_in_both_arithmetics),
        cmocka_unit_test(frozen_rows_are_zero_not_noise),
        cmocka_unit_test(overflow_names_its_layer),
        cmocka_unit_test(clipping_bounds_the_norm_and_revives_nothing),
        cmocka_unit_test(the_smallest_stacks_behave),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(a_stack_begun_anew_is_the_same),
        cmocka_unit_test(every_set_of_kernels_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
