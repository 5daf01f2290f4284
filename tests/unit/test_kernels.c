/* test_kernels.c - the choice of a set of kernels. */
#include "attnviz/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void base_runs_everywhere(void **state)
{
    (void)state;
    assert_string_equal(av_kernels_names()[0], "base");
    assert_non_null(av_kernels_named("base"));
}

static void named_set_bears_its_name(void **state)
{
    (void)state;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *k = av_kernels_named(*name);
        if (k != NULL) {
            assert_string_equal(k->name, *name);
            assert_non_null(k->draw);
            assert_non_null(k->scores);
            assert_non_null(k->softmax);
            assert_non_null(k->dq);
            assert_non_null(k->dot);
            assert_non_null(k->product);
            assert_non_null(k->transpose);
            assert_non_null(k->forward);
            assert_non_null(k->backward);
            assert_non_null(k->observe);
            assert_non_null(k->sum_squares);
            assert_non_null(k->adam);
            assert_non_null(k->multiply_add);
        }
    }
}

static void best_is_the_last_that_runs(void **state)
{
    (void)state;
    const struct av_kernels *last = NULL;
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *k = av_kernels_named(*name);
        last = k != NULL ? k : last;
    }
    assert_ptr_equal(av_kernels_best(), last);
}

static void unknown_names_have_no_set(void **state)
{
    (void)state;
    assert_null(av_kernels_named("bas"));
    assert_null(av_kernels_named("base "));
    assert_null(av_kernels_named(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_runs_everywhere),
        cmocka_unit_test(named_set_bears_its_name),
        cmocka_unit_test(best_is_the_last_that_runs),
        cmocka_unit_test(unknown_names_have_no_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
