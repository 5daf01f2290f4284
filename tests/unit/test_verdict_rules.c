/* test_verdict_rules.c - when a head is called saturated, and what the text says of why. */
#include "attnviz/verdict_rules.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct saturation_case {
    struct av_judged_rows rows;
    enum av_saturated why;
    enum av_severity severity;
    const char *says; /* in its text; NULL: no verdict */
};

static const struct saturation_case cases[] = {
    { { 0.25, 3, 3, 3, false, false }, AV_SATURATED_NOT, AV_INFO, NULL },
    { { 0.1, 3.01, 3.01, 3, true, false },
      AV_SATURATED_SPREAD,
      AV_WARN,
      "3.01 within a row is above mean sqrt(2 ln n) = 3, which alone does not mean saturation: a "
      "trained model's logits are not N(0, 1), and 10% of rows give more than 0.9 to one key" },
    { { 0.1, 4, 2, 3, false, false }, AV_SATURATED_SPREAD, AV_WARN, "shifts of whole rows" },
    { { 0, (double)INFINITY, (double)NAN, 3, false, false },
      AV_SATURATED_SPREAD,
      AV_WARN,
      "logit std inf within a row is above" },
    { { 0, (double)NAN, (double)NAN, 3, false, false },
      AV_SATURATED_SPREAD,
      AV_WARN,
      "logit std inf within a row is above" },
    { { 0.26, 1, 1, 3, false, false },
      AV_SATURATED_ROWS,
      AV_WARN,
      "26% of rows give more than 0.9 to one key; logit std 1" },
    { { 0.5, 9, 9, 3, false, false }, AV_SATURATED_ROWS, AV_WARN, "above sqrt(2 ln n) = 3" },
    { { 0.51, 1, 1, 3, false, false }, AV_SATURATED_FROZEN, AV_BAD, "51% of rows" },
    { { 0.51, 1, 1, (double)NAN, false, false }, AV_SATURATED_FROZEN, AV_BAD, "logit std 1 within a row" },
    { { 0.2, 9, 9, (double)NAN, false, false }, AV_SATURATED_NOT, AV_INFO, NULL },
    { { 0.2, (double)NAN, (double)NAN, 3, false, true }, AV_SATURATED_NOT, AV_INFO, NULL },
    { { 0.3, (double)NAN, (double)NAN, 3, false, true },
      AV_SATURATED_ROWS,
      AV_WARN,
      "30% of rows give more than 0.9 to one key" },
};

static void saturation_tells_which_condition_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct saturation_case *c = &cases[i];
        struct av_verdict v;
        assert_int_equal(av_verdict_saturation(&c->rows), c->why);
        assert_int_equal(av_verdict_saturated(&v, &c->rows), c->says != NULL);
        if (c->says != NULL) {
            assert_string_equal(v.code, "saturated");
            assert_int_equal(v.severity, c->severity);
            if (strstr(v.text, c->says) == NULL) {
                fail_msg("case %zu: %s", i, v.text);
            }
            /* Only the spread alone says that it is not enough. */
            assert_int_equal(strstr(v.text, "alone does not mean") != NULL || strstr(v.text, "shifts of") != NULL,
                             c->why == AV_SATURATED_SPREAD);
        }
    }
}

static void dead_gradients_go_by_share_and_median(void **state)
{
    (void)state;
    struct av_verdict v;
    assert_false(av_verdict_dead(&v, 0.25, 1e-3, "softmax"));
    assert_false(av_verdict_dead(&v, (double)NAN, (double)NAN, "softmax"));
    assert_true(av_verdict_dead(&v, 0.26, 1e-3, "softmax"));
    assert_int_equal(v.severity, AV_WARN);
    assert_true(av_verdict_dead(&v, 0.6, 9e-4, "sparsemax"));
    assert_int_equal(v.severity, AV_BAD);
    assert_non_null(strstr(v.text, "60% of rows have a sparsemax Jacobian below 1e-3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saturation_tells_which_condition_it_is),
        cmocka_unit_test(dead_gradients_go_by_share_and_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
