/* test_fused_memory.c - a long head takes the memory that is said, and no more. */
#include "attnviz/fused.h"
#include "drawn_source.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };

/* Physical memory, at most until now, in bytes. */
static double resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#if defined __APPLE__
    return (double)usage.ru_maxrss;
#else
    return 1024 * (double)usage.ru_maxrss;
#endif
}

static void long_contexts_stay_below_64_mib(void **state)
{
    (void)state;
    struct drawn_source s;
    for (int wide = 0; wide < 2; wide++) {
        drawn_source(&s, 131072, 131072, 128, wide);
        assert_true(av_fused_bytes(&s.source, 0, 2) < 64 * MIB);
        drawn_source(&s, 32768, 32768, 4096, wide);
        assert_true(av_fused_bytes(&s.source, 0, 2) < 64 * MIB);
    }
}

/* The matrix of scores alone would be 3.2 GB, the keys as floats 82 MB. */
static void a_long_head_takes_what_is_said(void **state)
{
    (void)state;
    const size_t n = 20000, d = 1024;
    struct drawn_source s;
    drawn_source(&s, n, n, d, false);
    struct av_params p;
    av_params_default(&p);
    p.mask = AV_MASK_NONE;
    double before = resident();
    struct av_fused *f;
    assert_int_equal(av_fused_begin(&f, &s.source, 0, 0, &p, 2, NULL, NULL), AV_OK);
    while (!(av_fused_progress(f) > 0.002)) {
        assert_int_equal(av_fused_step(f, NULL), AV_OK);
    }
    assert_true(s.rows_most <= 512);
    if (!SANITIZED) {
        assert_true(resident() - before < (double)av_fused_bytes(&s.source, 0, 2) + MIB);
    }
    av_fused_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_contexts_stay_below_64_mib),
        cmocka_unit_test(a_long_head_takes_what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
