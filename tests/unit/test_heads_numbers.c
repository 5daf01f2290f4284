/* test_heads_numbers.c - the numbers of heads as columns show them. */
#include "../../src/draw/panels_heads.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* In a column numbers below 10 have the same decimals. */
static void numbers_of_a_column_are_alike(void **unused)
{
    (void)unused;
    static const struct {
        double v;
        const char *in_4, *in_6;
    } expected[] = {
        { 0.1, "0.10", "0.100" },
        { 0.1234, "0.12", "0.123" },
        { 0.097, "0.10", "0.097" },
        { 0.996, "1.00", "0.996" },
        { 1, "1.00", "1.000" },
        { 9.994, "9.99", "9.994" },
        { 9.996, "10.0", "9.996" },
        { 12.34, "12.3", "12.340" },
        { 123.4, "123", "123.40" },
        { 1234.4, "1234", "1234.4" },
        { 0.005, "5e-3", "0.005" },
        { 2e-15, "<.01", "2e-15" },
        { 0, "0", "0" },
        { (double)NAN, "n/a", "n/a" },
    };
    char text[AV_NUMBER_MAX];
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct av_head head = { .state = AV_HEAD_MEASURED };
        head.at[AV_HEAD_ENTROPY] = expected[i].v;
        assert_string_equal(av_heads_number(text, &head, AV_HEAD_ENTROPY, 4), expected[i].in_4);
        assert_string_equal(av_heads_number(text, &head, AV_HEAD_ENTROPY, 6), expected[i].in_6);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_a_column_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
