/* test_normalise.c - rows normalised, and their way back against central differences. */
#include "../../src/model/normalise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 9 };

static const struct av_normaliser *const ALL[] = { &av_normalise_l2, &av_normalise_rms, &av_normalise_layernorm };
enum { COUNT = sizeof ALL / sizeof ALL[0] };

static const double ROW[N] = { 0.7, -1.3, 2.1, 0.05, -0.4, 1.9, -2.2, 0.3, 1.1 };
static const double D_Y[N] = { -0.2, 0.9, 1.4, -1.1, 0.6, -0.7, 0.8, 0.1, -1.6 };

/* The definitions, in long double. */
static void by_definition(long double *y, const long double *x, size_t n, size_t which, long double eps)
{
    long double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        mean += which == 2 ? x[i] / (long double)n : 0;
    }
    for (size_t i = 0; i < n; i++) {
        square += (x[i] - mean) * (x[i] - mean);
    }
    const long double by = which == 0 ? fmaxl(sqrtl(square), 1e-12L) : sqrtl(square / (long double)n + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = (x[i] - mean) / by;
    }
}

static void back(double *d_x, const double *d_y, const double *x, size_t n, size_t which, double eps)
{
    double u[N];
    const struct av_tangent t = ALL[which]->tangent(u, x, n, eps);
    av_normalise_backward(d_x, d_y, &t, u, n);
}

static void forward_as_defined(void **state)
{
    (void)state;
    const double eps[] = { 0, 1e-6, 0.3 };
    for (size_t which = 0; which < COUNT; which++) {
        for (size_t e = 0; e < 3; e++) {
            for (size_t n = 2; n <= N; n++) {
                long double x[N], want[N];
                double y[N];
                for (size_t i = 0; i < n; i++) {
                    x[i] = (long double)ROW[i];
                }
                by_definition(want, x, n, which, (long double)eps[e]);
                ALL[which]->forward(y, ROW, n, eps[e]);
                for (size_t i = 0; i < n; i++) {
                    assert_true(fabs(y[i] - (double)want[i]) <= 1e-15 * fmax(1, fabs((double)want[i])));
                }
            }
        }
    }
}

/* d_x_c = sum_i d_y_i dy_i/dx_c, by central differences in long double. */
static void backward_as_differences(void **state)
{
    (void)state;
    const double eps[] = { 0, 1e-6, 0.3 };
    const long double h = 1e-6L;
    for (size_t which = 0; which < COUNT; which++) {
        for (size_t e = 0; e < 3; e++) {
            for (size_t n = 2; n <= N; n++) {
                double d_x[N];
                back(d_x, D_Y, ROW, n, which, eps[e]);
                for (size_t c = 0; c < n; c++) {
                    long double x[N], up[N], down[N], want = 0;
                    for (size_t i = 0; i < n; i++) {
                        x[i] = (long double)ROW[i];
                    }
                    x[c] += h;
                    by_definition(up, x, n, which, (long double)eps[e]);
                    x[c] -= 2 * h;
                    by_definition(down, x, n, which, (long double)eps[e]);
                    for (size_t i = 0; i < n; i++) {
                        want += (long double)D_Y[i] * (up[i] - down[i]) / (2 * h);
                    }
                    assert_true(fabs(d_x[c] - (double)want) <= 3e-11);
                }
            }
        }
    }
}

/* Where it is a function of a sign alone, nothing comes back: not 1e-17. */
static void one_number_has_no_length_to_learn(void **state)
{
    (void)state;
    for (double x = -3; x < 4; x += 0.7) {
        double d_x;
        back(&d_x, &D_Y[1], &x, 1, 0, 0);
        assert_true(d_x == 0);
        back(&d_x, &D_Y[1], &x, 1, 2, 1e-6);
        assert_true(d_x == 0);
        back(&d_x, &D_Y[1], &x, 1, 1, 1e-6); /* x / sqrt(x^2 + eps): eps / (x^2 + eps)^1.5 */
        const double want = D_Y[1] * 1e-6 / pow(x * x + 1e-6, 1.5);
        assert_true(fabs(d_x - want) <= 1e-14 * fabs(want));
    }
}

/* Of two numbers layernorm leaves a sign, and what eps lets through. */
static void two_numbers_are_a_sign(void **state)
{
    (void)state;
    const double x[] = { 5.3, 2.9 }, half = (x[0] - x[1]) / 2, eps = 1e-9;
    double d_x[2];
    back(d_x, D_Y, x, 2, 2, eps);
    const double want = (D_Y[0] - D_Y[1]) / 2 * eps / pow(half * half + eps, 1.5);
    assert_true(fabs(d_x[0] - want) <= 1e-14 * fabs(want));
    assert_true(fabs(d_x[1] + want) <= 1e-14 * fabs(want));
}

static void any_size_of_entries(void **state)
{
    (void)state;
    const double sizes[] = { 1e-300, 1e-150, 1e150, 1e300 };
    for (size_t which = 0; which < COUNT; which++) {
        for (size_t s = 0; s < 4; s++) {
            double x[N], y[N], want[N], d_x[N], want_d[N];
            const bool tiny = which == 0 && sizes[s] < 1; /* l2 divides by 1e-12 there */
            for (size_t i = 0; i < N; i++) {
                x[i] = ROW[i] * sizes[s];
            }
            ALL[which]->forward(y, x, N, 0);
            ALL[which]->forward(want, ROW, N, 0);
            back(d_x, D_Y, x, N, which, 0);
            back(want_d, D_Y, ROW, N, which, 0);
            for (size_t i = 0; i < N; i++) {
                const double expected = tiny ? x[i] * 1e12 : want[i];
                const double expected_d = tiny ? D_Y[i] * 1e12 : want_d[i] / sizes[s];
                assert_true(fabs(y[i] - expected) <= 4e-15 * fabs(expected) + 4e-15 * (tiny ? 0 : 1));
                assert_true(fabs(d_x[i] - expected_d) <= 4e-14 * fabs(expected_d) + 1e-14 * (tiny ? 0 : 1 / sizes[s]));
            }
        }
    }
}

static void nothing_to_divide_by(void **state)
{
    (void)state;
    const double zero[N] = { 0 };
    double y[N], d_x[N];
    av_normalise_l2.forward(y, zero, N, 0);
    assert_memory_equal(y, zero, sizeof y);
    av_normalise_rms.forward(y, zero, N, 1e-6);
    assert_memory_equal(y, zero, sizeof y);
    back(d_x, D_Y, zero, N, 1, 1e-6); /* x / 1e-3 near 0 */
    for (size_t i = 0; i < N; i++) {
        assert_true(fabs(d_x[i] - D_Y[i] * 1e3) <= 1e-12 * fabs(d_x[i]));
    }
    av_normalise_rms.forward(y, zero, N, 0);
    assert_true(isnan(y[0]));
}

/* Results may take the place of what they are made of. */
static void in_place(void **state)
{
    (void)state;
    for (size_t which = 0; which < COUNT; which++) {
        double apart[N], y[N], u[N], v[N];
        memcpy(y, ROW, sizeof y);
        ALL[which]->forward(apart, ROW, N, 1e-6);
        ALL[which]->forward(y, y, N, 1e-6);
        assert_memory_equal(apart, y, sizeof y);
        memcpy(v, ROW, sizeof v);
        const struct av_tangent t = ALL[which]->tangent(u, ROW, N, 1e-6);
        ALL[which]->tangent(v, v, N, 1e-6);
        assert_memory_equal(u, v, sizeof v);
        memcpy(y, D_Y, sizeof y);
        av_normalise_backward(apart, D_Y, &t, u, N);
        av_normalise_backward(y, y, &t, u, N);
        assert_memory_equal(apart, y, sizeof y);
    }
}

/* Columns side by side, each as it is alone. */
static void many_columns(void **state)
{
    (void)state;
    enum { COLUMNS = AV_NORMALISE_COLUMNS };
    for (size_t which = 0; which < COUNT; which++) {
        double d[N * COLUMNS], u[N];
        for (size_t i = 0; i < N * COLUMNS; i++) {
            d[i] = D_Y[i % N] + 0.1 * ROW[i % 7];
        }
        double alone[COLUMNS][N];
        const struct av_tangent t = ALL[which]->tangent(u, ROW, N, 0.01);
        for (size_t c = 0; c < COLUMNS; c++) {
            for (size_t i = 0; i < N; i++) {
                alone[c][i] = d[i * COLUMNS + c];
            }
            av_normalise_backward(alone[c], alone[c], &t, u, N);
        }
        av_normalise_backward_columns(d, &t, u, N);
        for (size_t i = 0; i < N * COLUMNS; i++) {
            assert_true(d[i] == alone[i % COLUMNS][i / COLUMNS]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_as_defined),
        cmocka_unit_test(backward_as_differences),
        cmocka_unit_test(one_number_has_no_length_to_learn),
        cmocka_unit_test(two_numbers_are_a_sign),
        cmocka_unit_test(any_size_of_entries),
        cmocka_unit_test(nothing_to_divide_by),
        cmocka_unit_test(in_place),
        cmocka_unit_test(many_columns),
    };
    return cmocka_run_group_tests_name("normalise", tests, NULL, NULL);
}
