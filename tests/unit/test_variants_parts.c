/* test_variants_parts.c - of the study "variants" a part alone can be computed,
 * and in the end the same as if all were computed at once. */
#include "variants_driver.h"

#include <stdlib.h>

static const char *const small[] = { "n_q=12",       "n_k=16", "d_k=8", "variants=softmax,sqrt,sparsemax,lsh",
                                     "compare=sqrt", NULL };

static void run(void *state)
{
    while (variants()->step(state)) {
        double part = variants()->progress(state);
        assert_true(part >= 0 && part <= 1);
    }
    assert_true(variants()->progress(state) == 1);
}

static size_t rows_measured(const struct av_variants *v, bool dq)
{
    size_t n = 0;
    for (size_t i = 0; i < v->table.count; i++) {
        const struct av_variant_row *row = &v->table.rows[i];
        n += row->state == AV_VARIANT_MEASURED && (!dq || row->measure.has_dq);
    }
    return n;
}

static size_t points_measured(const struct av_variants *v)
{
    size_t n = 0;
    for (size_t i = 0; i < v->curves.count; i++) {
        for (size_t j = 0; j < v->curves.points; j++) {
            n += v->curves.curves[i].state[j] == AV_VARIANT_MEASURED && v->curves.curves[i].points[j].has_dq;
        }
    }
    return n;
}

static void the_table_needs_no_curve(void **state)
{
    (void)state;
    void *s = opened();
    variants()->limit(s, AV_VARIANTS_TABLE);
    const struct av_variants *v = begun(s, with(small));
    run(s);
    assert_int_equal(rows_left(v), 0);
    assert_int_equal(rows_measured(v, true), 3); /* lsh wants as many queries as keys */
    assert_int_equal(v->pair.done[AV_VARIANT_NOW] + v->pair.done[AV_VARIANT_OTHER], 0);
    assert_int_equal(points_measured(v), 0);
    variants()->close(s);
}

static void a_pair_needs_its_two_rows(void **state)
{
    (void)state;
    void *s = opened();
    variants()->limit(s, AV_VARIANTS_PAIR);
    const struct av_variants *v = begun(s, with(small));
    run(s);
    assert_int_equal(v->pair.done[AV_VARIANT_NOW], 12);
    assert_int_equal(v->pair.done[AV_VARIANT_OTHER], 12);
    assert_int_equal(rows_measured(v, true), 2);
    assert_true(v->table.rows[v->table.now].measure.has_dq && v->table.rows[v->table.compare].measure.has_dq);
    assert_int_equal(points_measured(v), 0);
    variants()->close(s);
}

static void curves_need_no_table(void **state)
{
    (void)state;
    void *s = opened();
    variants()->limit(s, AV_VARIANTS_CURVES);
    const struct av_variants *v = begun(s, with(small));
    run(s);
    assert_int_equal(rows_measured(v, false), 0);
    assert_true(v->curves.count > 0 && points_measured(v) > 0);
    variants()->close(s);
}

/* Part after part, one of them left in the middle: to the bit what comes of all. */
static void parts_add_up_to_all(void **state)
{
    (void)state;
    static const unsigned order[] = { AV_VARIANTS_CURVES, AV_VARIANTS_PAIR, AV_VARIANTS_CURVES, AV_VARIANTS_TABLE };
    void *whole = opened();
    void *parts = opened();
    const struct av_variants *a = finished(whole, with(small));
    const struct av_variants *b = begun(parts, with(small));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        variants()->limit(parts, order[i]);
        for (int k = 0; k < 3 || i > 0; k++) {
            if (!variants()->step(parts)) {
                break;
            }
        }
    }
    variants()->limit(parts, AV_STUDY_ALL);
    assert_true(variants()->progress(parts) == 1);
    assert_false(variants()->step(parts));
    for (size_t i = 0; i < a->table.count; i++) {
        assert_int_equal(a->table.rows[i].state, b->table.rows[i].state);
        assert_memory_equal(a->table.rows[i].measure.at, b->table.rows[i].measure.at,
                            sizeof a->table.rows[i].measure.at);
    }
    assert_memory_equal(a->pair.weights[AV_VARIANT_OTHER], b->pair.weights[AV_VARIANT_OTHER], 12 * 16 * sizeof(float));
    assert_true(a->pair.largest == b->pair.largest);
    assert_int_equal(points_measured(a), points_measured(b));
    for (size_t i = 0; i < a->curves.count; i++) {
        for (size_t j = 0; j < a->curves.points; j++) {
            assert_memory_equal(a->curves.curves[i].points[j].at, b->curves.curves[i].points[j].at,
                                sizeof a->curves.curves[i].points[j].at);
        }
    }
    variants()->close(whole);
    variants()->close(parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_needs_no_curve),
        cmocka_unit_test(a_pair_needs_its_two_rows),
        cmocka_unit_test(curves_need_no_table),
        cmocka_unit_test(parts_add_up_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
