/* test_logit_list.c - a row of logits edited by hand. */
#include "attnviz/logit_list.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void set(struct av_logit_list *l, size_t n, const double *z)
{
    assert_true(av_logit_list_take(l, z, n, 1));
}

#define SET(l, n, ...) set(l, n, (const double[]){ __VA_ARGS__ })

static void assert_is(const struct av_logit_list *l, size_t n, const double *z)
{
    assert_int_equal(l->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(l->at[i] == z[i]);
    }
}

#define ASSERT_IS(l, n, ...) assert_is(l, n, (const double[]){ __VA_ARGS__ })

static void keys_come_and_go(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 3, 1, 2, 3);
    assert_true(av_logit_list_insert(&l, 0, 7));
    ASSERT_IS(&l, 4, 1, 7, 2, 3);
    assert_true(av_logit_list_insert(&l, 3, 8));
    ASSERT_IS(&l, 5, 1, 7, 2, 3, 8);
    assert_true(av_logit_list_delete(&l, 0));
    assert_true(av_logit_list_delete(&l, 3));
    ASSERT_IS(&l, 3, 7, 2, 3);
    assert_true(av_logit_list_delete(&l, 1));
    assert_true(av_logit_list_delete(&l, 1));
    assert_false(av_logit_list_delete(&l, 0));
    ASSERT_IS(&l, 1, 7);
    assert_false(av_logit_list_insert(&l, 0, (double)INFINITY));
    ASSERT_IS(&l, 1, 7);
}

static void a_full_list_takes_no_more(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 1, 5);
    assert_true(av_logit_list_resize(&l, AV_LOGITS_MAX));
    assert_false(av_logit_list_insert(&l, 3, 1));
    assert_false(av_logit_list_resize(&l, AV_LOGITS_MAX + 1));
    assert_false(av_logit_list_resize(&l, AV_LOGITS_MAX));
    assert_int_equal(l.n, AV_LOGITS_MAX);
    assert_true(l.at[0] == 5 && l.at[AV_LOGITS_MAX - 1] == 0);
    assert_true(av_logit_list_delete(&l, AV_LOGITS_MAX - 1));
    assert_true(av_logit_list_insert(&l, AV_LOGITS_MAX - 2, 9));
    assert_true(l.at[AV_LOGITS_MAX - 1] == 9);
    assert_false(av_logit_list_resize(&l, 0));
}

static void a_longer_list_ends_in_zeros(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 4, 1, 2, 3, 4);
    assert_true(av_logit_list_resize(&l, 2));
    assert_true(av_logit_list_resize(&l, 4));
    ASSERT_IS(&l, 4, 1, 2, 0, 0);
}

/* Ten tenths are one, there and back. */
static void nudges_stay_decimal(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 2, 0.2, -0.5);
    assert_true(av_logit_list_nudge(&l, 0, 0.1));
    ASSERT_IS(&l, 2, 0.3, -0.5);
    for (int i = 0; i < 1000; i++) {
        assert_true(av_logit_list_nudge(&l, 1, 0.1));
    }
    ASSERT_IS(&l, 2, 0.3, 99.5);
    for (int i = 0; i < 1000; i++) {
        assert_true(av_logit_list_nudge(&l, 1, -0.1));
    }
    ASSERT_IS(&l, 2, 0.3, -0.5);
    assert_true(av_logit_list_add(&l, 9));
    ASSERT_IS(&l, 2, 9.3, 8.5);
    assert_true(av_logit_list_add(&l, -9));
    ASSERT_IS(&l, 2, 0.3, -0.5);
}

/* What has more than nine decimals keeps them: a shift keeps differences. */
static void longer_numbers_are_not_cut(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 2, 1.0 / 3, -2.718281828459045);
    assert_true(av_logit_list_add(&l, 9));
    ASSERT_IS(&l, 2, 1.0 / 3 + 9, -2.718281828459045 + 9);
    assert_true(av_logit_list_nudge(&l, 0, 0.1));
    assert_true(l.at[0] == 1.0 / 3 + 9 + 0.1);
}

static void even_lists_are_known(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 3, 5, 5, 5);
    assert_true(av_logit_list_even(&l));
    SET(&l, 3, 5, 5, 5.1);
    assert_false(av_logit_list_even(&l));
    SET(&l, 1, 5);
    assert_true(av_logit_list_even(&l));
}

/* Steps below a unit in the last place change nothing, and that is told. */
static void what_cannot_change_is_refused(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 2, 1e30, -1e30);
    assert_false(av_logit_list_nudge(&l, 0, 1));
    assert_false(av_logit_list_add(&l, 9));
    ASSERT_IS(&l, 2, 1e30, -1e30);
    SET(&l, 2, 1e15, 1);
    assert_true(av_logit_list_nudge(&l, 0, 1));
    ASSERT_IS(&l, 2, 1e15 + 1, 1);
    SET(&l, 2, 0, 0);
    assert_false(av_logit_list_scale(&l, 2));
}

/* All or nothing: a number that would overflow keeps the others too. */
static void overflow_leaves_the_list_as_it_was(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 3, 1, DBL_MAX, 3);
    assert_false(av_logit_list_scale(&l, 2));
    ASSERT_IS(&l, 3, 1, DBL_MAX, 3);
    const double big[] = { 1, 1e300 };
    assert_false(av_logit_list_take(&l, big, 2, 1e300));
    assert_false(av_logit_list_take(&l, big, 0, 1));
    ASSERT_IS(&l, 3, 1, DBL_MAX, 3);
    static double many[AV_LOGITS_MAX + 1];
    assert_false(av_logit_list_take(&l, many, AV_LOGITS_MAX + 1, 1));
    assert_int_equal(l.n, 3);
}

static void factors_of_two_are_exact(void **state)
{
    (void)state;
    struct av_logit_list l = { 0, { 0 } };
    SET(&l, 3, 0.1, -7.3, 1e-9);
    for (int i = 0; i < 50; i++) {
        assert_true(av_logit_list_scale(&l, 2));
    }
    for (int i = 0; i < 50; i++) {
        assert_true(av_logit_list_scale(&l, 0.5));
    }
    ASSERT_IS(&l, 3, 0.1, -7.3, 1e-9);
}

static void presets_are_told_apart(void **state)
{
    (void)state;
    size_t count;
    const struct av_logit_preset *all = av_logit_presets(&count);
    assert_true(count >= 8);
    static struct av_logit_list l;
    for (size_t i = 0; i < count; i++) {
        av_logit_list_preset(&l, &all[i]);
        assert_int_equal(l.n, all[i].n);
        assert_true(l.n >= 1 && l.n <= AV_LOGITS_MAX);
        assert_ptr_equal(av_logit_preset_of(&l), &all[i]);
        assert_true(all[i].say[0] != '\0');
        l.at[l.n - 1] += 0.5;
        assert_null(av_logit_preset_of(&l));
    }
    av_logit_list_preset(&l, &all[0]);
    ASSERT_IS(&l, 3, 1, 0.5, -0.5);
    av_logit_list_preset(&l, &all[2]);
    ASSERT_IS(&l, 3, 100, 99.5, 98.5);
}

/* What is seen, with temperature and offsets taken back, which come again. */
static void logits_are_taken_where_they_are_seen(void **state)
{
    (void)state;
    const double none = -(double)INFINITY;
    const double z[] = { none, 2, none, -1, 4, none };
    struct av_logit_list l = { .n = 1 };
    struct av_params p;
    av_params_default(&p);
    p.temperature = 2;
    p.offset = 1;
    p.key = 4;
    p.key_offset = 0.5;
    assert_true(av_logit_list_take_seen(&l, z, 6, &p));
    assert_true(l.n == 3 && l.at[0] == 3 && l.at[1] == -3 && l.at[2] == 6.5);
    assert_false(av_logit_list_take_seen(&l, z, 1, &p));
    assert_false(av_logit_list_take_seen(&l, (const double[]){ 1, (double)NAN }, 2, &p));
    assert_true(l.n == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_and_go),
        cmocka_unit_test(a_full_list_takes_no_more),
        cmocka_unit_test(a_longer_list_ends_in_zeros),
        cmocka_unit_test(nudges_stay_decimal),
        cmocka_unit_test(longer_numbers_are_not_cut),
        cmocka_unit_test(even_lists_are_known),
        cmocka_unit_test(what_cannot_change_is_refused),
        cmocka_unit_test(overflow_leaves_the_list_as_it_was),
        cmocka_unit_test(factors_of_two_are_exact),
        cmocka_unit_test(presets_are_told_apart),
        cmocka_unit_test(logits_are_taken_where_they_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
