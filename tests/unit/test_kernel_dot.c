/* test_kernel_dot.c - one pair's scores against their definition, bit for bit. */
#include "attnviz/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { D = 700, LANES = 8 };

static float q[D], k[D];

static int set_up(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (size_t c = 0; c < D; c++) {
        random = random * 1664525u + 1013904223u;
        q[c] = (float)(int32_t)random * 0x1p-30f;
        random = random * 1664525u + 1013904223u;
        k[c] = (float)(int32_t)random * 0x1p-30f;
    }
    return 0;
}

/* kernels.h as it reads. */
static double by_definition(size_t end)
{
    double sums[LANES] = { 0 };
    for (size_t c = 0; c < end; c++) {
        sums[c % LANES] += (double)q[c] * (double)k[c];
    }
    for (size_t half = LANES / 2; half > 0; half /= 2) {
        for (size_t l = 0; l < half; l++) {
            sums[l] += sums[l + half];
        }
    }
    return sums[0];
}

/* Every end, alone and between others, in every set. */
static void every_end_is_the_definition(void **state)
{
    (void)state;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *set = av_kernels_named(*name);
        for (size_t end = 1; set != NULL && end <= D; end++) {
            const size_t ends[] = { (end + 1) / 2, end, end, D };
            double alone;
            double s[4];
            set->dot(&alone, q, k, &end, 1);
            set->dot(s, q, k, ends, 4);
            const double want[] = { by_definition(ends[0]), by_definition(end), by_definition(end), by_definition(D) };
            assert_memory_equal(&alone, &want[1], sizeof alone);
            assert_memory_equal(s, want, sizeof s);
        }
    }
}

/* Entries behind the last end are not read. */
static void nothing_is_read_behind_the_end(void **state)
{
    (void)state;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *set = av_kernels_named(*name);
        for (size_t end = 1; set != NULL && end < 40; end++) {
            float kept = q[end];
            double s;
            q[end] = NAN;
            set->dot(&s, q, k, &end, 1);
            q[end] = kept;
            assert_true(s == by_definition(end));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_is_the_definition),
        cmocka_unit_test(nothing_is_read_behind_the_end),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
