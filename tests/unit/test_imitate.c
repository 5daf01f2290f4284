/* test_imitate.c - scores, logits and softmax in narrower arithmetic. */
#include "attnviz/imitate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "imitate_reference.h"

static struct av_entries of(const float *x, size_t pitch)
{
    return (struct av_entries){ .f32 = x, .pitch = pitch };
}

static double entry(uint64_t i)
{
    return (double)(float)((double)((i * 2654435761U + 12345) & 0xffffffffU) / 0x1p31 - 1);
}

static void make_entries(double *q, double *k, double std, double mean)
{
    for (size_t c = 0; c < D; c++) {
        q[c] = std * entry(c) + mean;
    }
    for (size_t i = 0; i < (size_t)N * D; i++) {
        k[i] = std * entry(D + i) + mean;
    }
}

static struct av_imitation *new_imitation(void)
{
    struct av_imitation *m;
    assert_int_equal(av_imitation_new(&m, NULL), AV_OK);
    return m;
}

static struct av_params setting(enum av_dtype dtype)
{
    struct av_params p;
    memset(&p, 0, sizeof p);
    p.dtype = (int64_t)dtype;
    return p;
}

/* ---- against NumPy ------------------------------------------------------------ */

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void check_case(struct av_imitation *m, const struct expected *x)
{
    struct av_params p = setting(x->dtype);
    p.scale_order = (int64_t)x->order;
    p.softmax_f32 = x->softmax_f32;
    p.smooth_k = x->smooth_k;
    double q[D], k[N * D], add[N], z[N], w[N];
    make_entries(q, k, x->std, x->mean);
    for (size_t j = 0; j < N; j++) {
        add[j] = x->offset;
    }
    struct av_entries queries = { .f64 = q, .pitch = D }, keys = { .f64 = k, .pitch = D };
    assert_int_equal(av_imitation_begin(m, &p, &keys, N, D, NULL), AV_OK);
    av_imitation_logits(m, z, &queries, 0, N, x->multiplier, x->temperature, x->offset != 0 ? add : NULL);
    av_imitation_softmax(m, w, z, N);
    double slack = x->dtype == AV_DTYPE_F64 ? 1e-14 : 0; /* two kinds of exp */
    for (size_t j = 0; j < N; j++) {
        if (!same(z[j], x->row[j][0]) || !(same(w[j], x->row[j][1]) || fabs(w[j] - x->row[j][1]) <= slack * w[j])) {
            fail_msg("case %d, key %zu: logit %a, weight %a, not %a, %a", (int)(x - expected), j, z[j], w[j],
                     x->row[j][0], x->row[j][1]);
        }
    }
}

static void test_reference(void **state)
{
    (void)state;
    struct av_imitation *m = new_imitation();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        check_case(m, &expected[i]);
    }
    av_imitation_free(m);
}

/* ---- what must hold ------------------------------------------------------------ */

/* Doubles and floats of the same values; rows of a wider matrix; other numbers
 * of keys and columns, before and after. */
static void test_entries(void **state)
{
    (void)state;
    static float q[2 * 40], k[33 * 40];
    static double q64[2 * 40], k64[33 * 40];
    for (size_t i = 0; i < 33 * 40; i++) {
        k[i] = (float)entry(i + 77);
        k64[i] = (double)k[i];
        q[i % 80] = (float)entry(i);
        q64[i % 80] = (double)q[i % 80];
    }
    struct av_imitation *m = new_imitation();
    static const size_t shapes[][2] = { { 33, 40 }, { 1, 1 }, { 16, 7 }, { 17, 40 } };
    for (int t = 0; t < AV_DTYPES; t++) {
        for (size_t s = 0; s < 4; s++) {
            struct av_params p = setting((enum av_dtype)t);
            size_t n = shapes[s][0], d = shapes[s][1];
            double a[33], b[33], part[33];
            struct av_entries f32[2] = { { .f32 = q, .pitch = 40 }, { .f32 = k, .pitch = 40 } };
            struct av_entries f64[2] = { { .f64 = q64, .pitch = 40 }, { .f64 = k64, .pitch = 40 } };
            assert_int_equal(av_imitation_begin(m, &p, &f32[1], n, d, NULL), AV_OK);
            av_imitation_logits(m, a, &f32[0], 1, n, 0.3, 1.1, NULL);
            assert_int_equal(av_imitation_begin(m, &p, &f64[1], n, d, NULL), AV_OK);
            av_imitation_logits(m, b, &f64[0], 1, n, 0.3, 1.1, NULL);
            av_imitation_logits(m, part, &f64[0], 1, (n + 1) / 2, 0.3, 1.1, NULL);
            assert_memory_equal(a, b, n * sizeof *a);
            assert_memory_equal(a, part, (n + 1) / 2 * sizeof *a);
        }
    }
    av_imitation_free(m);
}

/* Numbers that the dtype holds, and results too: nothing is lost. */
static void test_exact(void **state)
{
    (void)state;
    const float q[2] = { 3, -1 };
    const float k[3 * 2] = { 1, 2, 2, -1, 0, 4 };
    const double want[3] = { 0.5 * 1 + 1, 0.5 * 7 + 1, 0.5 * -4 + 1 };
    const double add[3] = { 4, 4, 4 };
    struct av_imitation *m = new_imitation();
    for (int t = 0; t < AV_DTYPE_INT8; t++) {
        for (int order = 0; order < AV_SCALE_ORDERS; order++) {
            struct av_params p = setting((enum av_dtype)t);
            p.scale_order = order;
            struct av_entries queries = of(q, 2), keys = of(k, 2);
            double z[3];
            assert_int_equal(av_imitation_begin(m, &p, &keys, 3, 2, NULL), AV_OK);
            av_imitation_logits(m, z, &queries, 0, 3, 2, 4, add);
            assert_memory_equal(z, want, sizeof z);
        }
    }
    av_imitation_free(m);
}

/* A mean common to all keys costs int8 nearly all of its steps; without it the
 * exact weights are the same, and those of int8 far closer to them. */
static void test_smooth_k(void **state)
{
    (void)state;
    double q[D], k[N * D], w[3][N];
    make_entries(q, k, 1, 0);
    for (size_t i = 0; i < (size_t)N * D; i++) {
        k[i] += 50;
    }
    struct av_entries queries = { .f64 = q, .pitch = D }, keys = { .f64 = k, .pitch = D };
    struct av_imitation *m = new_imitation();
    for (int i = 0; i < 3; i++) {
        struct av_params p = setting(i == 0 ? AV_DTYPE_F64 : AV_DTYPE_INT8);
        p.smooth_k = i == 2;
        double z[N];
        assert_int_equal(av_imitation_begin(m, &p, &keys, N, D, NULL), AV_OK);
        av_imitation_logits(m, z, &queries, 0, N, 1, 1, NULL);
        av_imitation_softmax(m, w[i], z, N);
    }
    av_imitation_free(m);
    double error[3] = { 0 };
    for (size_t j = 0; j < N; j++) {
        for (int i = 1; i < 3; i++) {
            error[i] = fmax(error[i], fabs(w[i][j] - w[0][j]));
        }
    }
    assert_true(error[1] > 0.03 && error[2] < 0.001);
}

static const double INF = (double)INFINITY;

static void softmax(enum av_dtype dtype, bool f32, double *w, const double *z, size_t n)
{
    struct av_params p = setting(dtype);
    p.softmax_f32 = f32;
    const float key = 1;
    struct av_entries keys = of(&key, 1);
    struct av_imitation *m = new_imitation();
    assert_int_equal(av_imitation_begin(m, &p, &keys, 1, 1, NULL), AV_OK);
    av_imitation_softmax(m, w, z, n);
    av_imitation_free(m);
}

static void test_infinities(void **state)
{
    (void)state;
    const double up[3] = { 1, INF, -INF }, down[3] = { 1, -INF, 1 }, all[2] = { -INF, -INF };
    const double not_a_number[3] = { (double)NAN, 0, 1 };
    for (int t = 0; t < AV_DTYPES; t++) {
        double w[3];
        softmax((enum av_dtype)t, false, w, up, 3);
        assert_true(isnan(w[0]) && isnan(w[1]) && isnan(w[2]));
        softmax((enum av_dtype)t, false, w, not_a_number, 3);
        assert_true(isnan(w[0]) && isnan(w[1]) && isnan(w[2]));
        softmax((enum av_dtype)t, false, w, down, 3);
        assert_true(w[0] == 0.5 && w[1] == 0 && w[2] == 0.5);
        softmax((enum av_dtype)t, false, w, all, 2);
        assert_true(isnan(w[0]) && isnan(w[1]));
    }
}

/* In f16 adding ones stops at 2048, in bf16 at 256; a sum in f32 does not. */
static void test_sum_stands_still(void **state)
{
    (void)state;
    enum { KEYS = 4096 };
    static double z[KEYS], w[KEYS];
    memset(z, 0, sizeof z);
    softmax(AV_DTYPE_F16, false, w, z, KEYS);
    assert_true(w[0] == 1.0 / 2048);
    softmax(AV_DTYPE_BF16, false, w, z, KEYS);
    assert_true(w[0] == 1.0 / 256);
    softmax(AV_DTYPE_BF16, true, w, z, KEYS);
    assert_true(w[KEYS - 1] == 1.0 / KEYS);
}

/* The scale that comes after an overflow is too late; to the query it is in time. */
static void test_scale_order(void **state)
{
    (void)state;
    float q[64], k[2 * 64];
    for (size_t c = 0; c < 64; c++) {
        q[c] = 40;
        k[c] = 30;
        k[64 + c] = -30;
    }
    struct av_entries queries = of(q, 64), keys = of(k, 64);
    struct av_imitation *m = new_imitation();
    double z[2];
    const double mask[2] = { 0, -INF };
    struct av_params p = setting(AV_DTYPE_F16);
    assert_int_equal(av_imitation_begin(m, &p, &keys, 2, 64, NULL), AV_OK);
    av_imitation_logits(m, z, &queries, 0, 2, 0.125, 1, NULL);
    assert_true(z[0] == INF && z[1] == -INF);
    p.scale_order = AV_SCALE_QUERY;
    assert_int_equal(av_imitation_begin(m, &p, &keys, 2, 64, NULL), AV_OK);
    av_imitation_logits(m, z, &queries, 0, 2, 0.125, 1, mask);
    assert_true(z[0] == 9600 && z[1] == -INF);
    av_imitation_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),   cmocka_unit_test(test_entries),    cmocka_unit_test(test_exact),
        cmocka_unit_test(test_smooth_k),    cmocka_unit_test(test_infinities), cmocka_unit_test(test_sum_stands_still),
        cmocka_unit_test(test_scale_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
