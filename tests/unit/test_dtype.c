/* test_dtype.c - numbers rounded as narrower types hold them. */
#include "attnviz/dtype.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static void rounds(enum av_dtype dtype, double x, double want)
{
    double got = av_dtype_round(dtype, x);
    if (!same(got, want)) {
        fail_msg("dtype %d: %a becomes %a, not %a", (int)dtype, x, got, want);
    }
}

/* tests/reference/dtype_reference.py: x, and x as f32, bf16, f16. */
static const double table[][4] = {
    { 0x0.0p+0, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0 },
    { -0x0.0p+0, -0x0.0p+0, -0x0.0p+0, -0x0.0p+0 },
    { 0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x1.0000000000000p+0 },
    { -0x1.0000000000000p+0, -0x1.0000000000000p+0, -0x1.0000000000000p+0, -0x1.0000000000000p+0 },
    { 0x1.5555555555555p-2, 0x1.5555560000000p-2, 0x1.5600000000000p-2, 0x1.5540000000000p-2 },
    { 0x1.921fb54442d18p+1, 0x1.921fb60000000p+1, 0x1.9200000000000p+1, 0x1.9200000000000p+1 },
    { -0x1.0624dd2f1a9fcp-10, -0x1.0624de0000000p-10, -0x1.0600000000000p-10, -0x1.0640000000000p-10 },
    { 0x1.999999999999ap-4, 0x1.99999a0000000p-4, 0x1.9a00000000000p-4, 0x1.9980000000000p-4 },
    { 0x1.ffc0000000000p+15, 0x1.ffc0000000000p+15, 0x1.0000000000000p+16, 0x1.ffc0000000000p+15 },
    { 0x1.ffdffae147ae1p+15, 0x1.ffdffa0000000p+15, 0x1.0000000000000p+16, 0x1.ffc0000000000p+15 },
    { 0x1.ffe0000000000p+15, 0x1.ffe0000000000p+15, 0x1.0000000000000p+16, (double)INFINITY },
    { -0x1.ffe0000000000p+15, -0x1.ffe0000000000p+15, -0x1.0000000000000p+16, -(double)INFINITY },
    { 0x1.0000000000000p+16, 0x1.0000000000000p+16, 0x1.0000000000000p+16, (double)INFINITY },
    { 0x1.0020000000000p+11, 0x1.0020000000000p+11, 0x1.0000000000000p+11, 0x1.0000000000000p+11 },
    { 0x1.0060000000000p+11, 0x1.0060000000000p+11, 0x1.0000000000000p+11, 0x1.0080000000000p+11 },
    { 0x1.0020000035afep+11, 0x1.0020000000000p+11, 0x1.0000000000000p+11, 0x1.0040000000000p+11 },
    { 0x1.0000000000000p-14, 0x1.0000000000000p-14, 0x1.0000000000000p-14, 0x1.0000000000000p-14 },
    { 0x1.ffb480a5accd5p-15, 0x1.ffb4800000000p-15, 0x1.0000000000000p-14, 0x1.ff80000000000p-15 },
    { 0x1.0000000000000p-24, 0x1.0000000000000p-24, 0x1.0000000000000p-24, 0x1.0000000000000p-24 },
    { 0x1.0000000000000p-25, 0x1.0000000000000p-25, 0x1.0000000000000p-25, 0x0.0p+0 },
    { 0x1.0000000000001p-25, 0x1.0000000000000p-25, 0x1.0000000000000p-25, 0x1.0000000000000p-24 },
    { 0x1.8000000000000p-24, 0x1.8000000000000p-24, 0x1.8000000000000p-24, 0x1.0000000000000p-23 },
    { -0x1.5798ee2308c3ap-27, -0x1.5798ee0000000p-27, -0x1.5800000000000p-27, -0x0.0p+0 },
    { 0x1.0100000000000p+8, 0x1.0100000000000p+8, 0x1.0000000000000p+8, 0x1.0100000000000p+8 },
    { 0x1.0300000000000p+8, 0x1.0300000000000p+8, 0x1.0400000000000p+8, 0x1.0300000000000p+8 },
    { 0x1.0100000000001p+8, 0x1.0100000000000p+8, 0x1.0200000000000p+8, 0x1.0100000000000p+8 },
    { 0x1.0100000000000p+0, 0x1.0100000000000p+0, 0x1.0000000000000p+0, 0x1.0100000000000p+0 },
    { 0x1.0100000001000p+0, 0x1.0100000000000p+0, 0x1.0200000000000p+0, 0x1.0100000000000p+0 },
    { 0x1.0300000000000p+0, 0x1.0300000000000p+0, 0x1.0400000000000p+0, 0x1.0300000000000p+0 },
    { 0x1.fe00000000000p+127, 0x1.fe00000000000p+127, 0x1.fe00000000000p+127, (double)INFINITY },
    { 0x1.ff00000000000p+127, 0x1.ff00000000000p+127, (double)INFINITY, (double)INFINITY },
    { 0x1.fefffffffffffp+127, 0x1.ff00000000000p+127, 0x1.fe00000000000p+127, (double)INFINITY },
    { 0x1.fffffe0000000p+127, 0x1.fffffe0000000p+127, (double)INFINITY, (double)INFINITY },
    { 0x1.ffffff0000000p+127, (double)INFINITY, (double)INFINITY, (double)INFINITY },
    { 0x1.fffffefffffffp+127, 0x1.fffffe0000000p+127, (double)INFINITY, (double)INFINITY },
    { 0x1.0000010000000p+24, 0x1.0000000000000p+24, 0x1.0000000000000p+24, (double)INFINITY },
    { 0x1.0000030000000p+24, 0x1.0000040000000p+24, 0x1.0000000000000p+24, (double)INFINITY },
    { 0x1.0000000000000p-126, 0x1.0000000000000p-126, 0x1.0000000000000p-126, 0x0.0p+0 },
    { 0x1.fffffe0000000p-127, 0x1.0000000000000p-126, 0x1.0000000000000p-126, 0x0.0p+0 },
    { 0x1.0000000000000p-133, 0x1.0000000000000p-133, 0x1.0000000000000p-133, 0x0.0p+0 },
    { 0x1.0000000000000p-134, 0x1.0000000000000p-134, 0x0.0p+0, 0x0.0p+0 },
    { 0x1.0000000000001p-134, 0x1.0000000000000p-134, 0x1.0000000000000p-133, 0x0.0p+0 },
    { 0x1.0000000000000p-149, 0x1.0000000000000p-149, 0x0.0p+0, 0x0.0p+0 },
    { 0x1.0000000000000p-150, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0 },
    { 0x1.0000000000001p-150, 0x1.0000000000000p-149, 0x0.0p+0, 0x0.0p+0 },
    { 0x1.56e1fc2f8f359p-997, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0 },
    { 0x0.0000000000001p-1022, 0x0.0p+0, 0x0.0p+0, 0x0.0p+0 },
    { 0x1.7e43c8800759cp+996, (double)INFINITY, (double)INFINITY, (double)INFINITY },
    { (double)INFINITY, (double)INFINITY, (double)INFINITY, (double)INFINITY },
    { -(double)INFINITY, -(double)INFINITY, -(double)INFINITY, -(double)INFINITY },
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        rounds(AV_DTYPE_F64, table[i][0], table[i][0]);
        rounds(AV_DTYPE_F32, table[i][0], table[i][1]);
        rounds(AV_DTYPE_BF16, table[i][0], table[i][2]);
        rounds(AV_DTYPE_F16, table[i][0], table[i][3]);
        rounds(AV_DTYPE_INT8, table[i][0], table[i][0]);
    }
    for (int t = 0; t < AV_DTYPES; t++) {
        rounds((enum av_dtype)t, (double)NAN, (double)NAN);
    }
}

/* The value of 16 bits, from what they mean. */
static double value_of(uint32_t bits, int fraction_bits, int bias)
{
    uint32_t magnitude = bits & 0x7fff;
    int exponent = (int)(magnitude >> fraction_bits);
    double fraction = (double)(magnitude & ((1U << fraction_bits) - 1));
    double value = exponent == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                                 : ldexp(ldexp(1, fraction_bits) + fraction, exponent - bias - fraction_bits);
    return bits >> 15 ? -value : value;
}

/* Every number of 16 bits is itself, and so are numbers less than half way to
 * the next; from half way numbers go to the next, from half way itself only if
 * that is even. */
static void every_number(enum av_dtype dtype, int fraction_bits, int bias)
{
    uint32_t infinity = 0x7fffU >> fraction_bits << fraction_bits;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        if ((bits & 0x7fff) >= infinity) {
            continue;
        }
        double x = value_of(bits, fraction_bits, bias);
        double next = value_of(bits + 1, fraction_bits, bias); /* beyond the largest: what it would be */
        double beyond = (bits & 0x7fff) + 1 == infinity ? copysign((double)INFINITY, x) : next;
        double half = (x + next) / 2;
        rounds(dtype, x, x);
        rounds(dtype, half, bits % 2 == 0 ? x : beyond);
        rounds(dtype, nextafter(half, x), x);
        rounds(dtype, nextafter(half, 2 * next), beyond);
    }
}

static void test_every_f16(void **state)
{
    (void)state;
    every_number(AV_DTYPE_F16, 10, 15);
}

static void test_every_bf16(void **state)
{
    (void)state;
    every_number(AV_DTYPE_BF16, 7, 127);
}

/* The processor rounds doubles to floats itself. All exponents, random signs
 * and fractions. */
static void test_f32(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        uint64_t bits = random;
        double x;
        memcpy(&x, &bits, sizeof x);
        int exponent;
        double near = ldexp(frexp(x, &exponent), i % 280 - 150);
        rounds(AV_DTYPE_F32, x, (double)(float)x);
        rounds(AV_DTYPE_F32, near, (double)(float)near);
    }
}

static void test_all(void **state)
{
    (void)state;
    for (int t = 0; t < AV_DTYPES; t++) {
        double x[7] = { 1.0 / 3, -70000, 1e-9, -0.0, 4097, (double)NAN, 7 };
        double want[7];
        for (size_t i = 0; i < 6; i++) {
            want[i] = av_dtype_round((enum av_dtype)t, x[i]);
        }
        want[6] = 7; /* not among the six */
        x[6] = 7;
        av_dtype_round_all((enum av_dtype)t, x, 6);
        for (size_t i = 0; i < 7; i++) {
            assert_true(same(x[i], want[i]));
        }
    }
}

static void test_limits(void **state)
{
    (void)state;
    assert_true(av_dtype_max(AV_DTYPE_F64) == DBL_MAX && av_dtype_tiny(AV_DTYPE_F64) == DBL_TRUE_MIN);
    assert_true(av_dtype_max(AV_DTYPE_F32) == (double)FLT_MAX && av_dtype_tiny(AV_DTYPE_F32) == (double)FLT_TRUE_MIN);
    assert_true(av_dtype_max(AV_DTYPE_F16) == 65504);
    assert_true(isnan(av_dtype_max(AV_DTYPE_INT8)) && isnan(av_dtype_tiny(AV_DTYPE_INT8)));
    for (int t = AV_DTYPE_F32; t <= AV_DTYPE_F16; t++) {
        double max = av_dtype_max((enum av_dtype)t);
        double tiny = av_dtype_tiny((enum av_dtype)t);
        rounds((enum av_dtype)t, max, max);
        rounds((enum av_dtype)t, nextafter(max, (double)INFINITY), max);
        rounds((enum av_dtype)t, 1.01 * max, (double)INFINITY);
        rounds((enum av_dtype)t, tiny, tiny);
        rounds((enum av_dtype)t, 0.51 * tiny, tiny);
        rounds((enum av_dtype)t, 0.5 * tiny, 0);
    }
}

/* ---- int8 -------------------------------------------------------------------- */

static void test_quantise(void **state)
{
    (void)state;
    const double x[6] = { -254, 127, 3, -1, 1.0001, 0 }; /* scale 2: ties at 63.5, 1.5 and -0.5 go to even */
    const double want[6] = { -127, 64, 2, 0, 1, 0 };
    double q[6];
    assert_true(av_quantise(q, x, 6) == 2);
    for (size_t c = 0; c < 6; c++) {
        assert_true(q[c] == want[c]);
    }
    memcpy(q, x, sizeof q);
    assert_true(av_quantise(q, q, 6) == 2);
    assert_memory_equal(&q[1], &want[1], 2 * sizeof *q);
}

/* No entry is further from scale * q than half of scale, none beyond 127. */
static void test_quantise_error(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 1000; round++) {
        double x[16], q[16];
        for (size_t c = 0; c < 16; c++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            x[c] = ldexp((double)(int64_t)random, round - 400);
        }
        double scale = av_quantise(q, x, 16);
        double largest = 0;
        for (size_t c = 0; c < 16; c++) {
            assert_true(q[c] == rint(q[c]) && fabs(q[c]) <= 127);
            assert_true(fabs(x[c] - scale * q[c]) <= 0.5000001 * scale);
            largest = fmax(largest, fabs(q[c]));
        }
        assert_true(largest == 127);
    }
}

static void test_quantise_odd(void **state)
{
    (void)state;
    double q[3] = { 5, 5, 5 };
    const double zeros[3] = { 0, -0.0, 0 };
    const double small[3] = { 5e-324, -1e-310, 0 };
    const double with_nan[3] = { 1, (double)NAN, 3 };
    const double with_inf[3] = { 1, -(double)INFINITY, 3 };
    assert_true(av_quantise(q, zeros, 3) == 0 && q[0] == 0 && q[2] == 0);
    q[1] = 5;
    assert_true(av_quantise(q, small, 3) == 0 && q[1] == 0);
    assert_true(isnan(av_quantise(q, with_nan, 3)));
    q[2] = 5;
    assert_true(isnan(av_quantise(q, with_inf, 3)) && q[2] == 0);
    assert_true(av_quantise(q, zeros, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),        cmocka_unit_test(test_every_f16),
        cmocka_unit_test(test_every_bf16),   cmocka_unit_test(test_f32),
        cmocka_unit_test(test_all),          cmocka_unit_test(test_limits),
        cmocka_unit_test(test_quantise),     cmocka_unit_test(test_quantise_error),
        cmocka_unit_test(test_quantise_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
