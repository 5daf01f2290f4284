/* test_diagnosis_long.c - heads whose q.k is looked at in some rows: what the others hide is found. */
#include "diagnosis_driver.h"

#include "attnviz/stats.h"

enum { N = 2100, SKIPPED = 99 };

/* Row SKIPPED is not among those of q.k that are looked at. */
static void make_long(struct made *m)
{
    made_new(m, N, 4, true, 7);
    make_logits(m, 0.5);
}

static double *skipped_row(struct made *m, enum av_part part)
{
    return m->part[part] + (size_t)SKIPPED * N;
}

static void healthy_first(struct made *m)
{
    plain_weights(m);
    give_weights(m);
    struct av_diagnosis r = diagnose(m);
    assert_true(r.sampled);
    assert_true(r.evidence.rows < N);
    assert_only(m, &r, "scale_ok");
}

static void check_weights_of(struct made *m, double value, const char *code, const char *text)
{
    double *w = skipped_row(m, AV_PART_WEIGHTS), kept[N];
    memcpy(kept, w, sizeof kept);
    for (size_t j = 0; j < N; j++) {
        w[j] = value;
    }
    struct av_diagnosis r = diagnose(m);
    assert_non_null(find(&r, code));
    assert_int_equal(find(&r, code)->severity, AV_BAD);
    assert_non_null(strstr(find(&r, code)->text, text));
    memcpy(w, kept, sizeof kept);
}

static void every_row_of_weights_is_read(void **state)
{
    (void)state;
    struct made m;
    make_long(&m);
    healthy_first(&m);
    check_weights_of(&m, (double)NAN, "nan_input", "2100 NaN in layer 0, head 1, the first at row 99, column 0");
    check_weights_of(&m, 0, "rows_without_weight", "1 of 2100 rows");
    check_weights_of(&m, -1, "weights_negative", "2100 weights are below 0, the first at row 99, column 0");
    made_free(&m);
}

static void every_row_of_scores_is_read(void **state)
{
    (void)state;
    struct made m;
    make_long(&m);
    memcpy(m.part[AV_PART_SCORES], m.logits, (size_t)N * N * sizeof(double));
    m.layer.part[AV_PART_SCORES].there = true;
    skipped_row(&m, AV_PART_SCORES)[3] = (double)NAN;
    struct av_diagnosis r = diagnose(&m);
    assert_true(r.sampled);
    assert_only(&m, &r, "nan_input");
    assert_non_null(strstr(find(&r, "nan_input")->text, "1 NaN in layer 0, head 1, the first at row 99, column 3"));
    made_free(&m);
}

/* What the pass over all pairs found is taken over, and only by those that are sampled. */
static void the_largest_of_all_pairs(void **state)
{
    (void)state;
    struct made m;
    make_long(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_null(find(&r, "float16_overflow"));
    struct av_snapshot s = { .d_k = 4, .from = AV_PART_Q, .score_moments = AV_MOMENTS_INIT };
    av_moments_add(&s.score_moments, (double[]){ -70000, 1 }, 2);
    struct av_diagnosis whole = r;
    whole.sampled = false;
    av_diagnosis_complete(&whole, &s);
    assert_null(find(&whole, "float16_overflow"));
    av_diagnosis_complete(&r, &s);
    assert_true(r.evidence.dot_max == 70000);
    assert_int_equal(r.findings[0].severity, AV_WARN);
    assert_string_equal(r.findings[0].code, "float16_overflow");
    assert_non_null(strstr(r.findings[0].text, "is 70000, beyond 65504, the largest float16: 35000 over sqrt(d_k)"));
    made_free(&m);
}

/* Rows that a NaN has spoilt are no overflow. */
static void a_hole_is_no_overflow(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 16, 8, false, 7);
    struct av_diagnosis r = diagnose(&m);
    assert_false(av_diagnosis_replaces(&r, "score_overflow"));
    m.part[AV_PART_Q][5] = (double)NAN;
    r = diagnose(&m);
    assert_true(av_diagnosis_replaces(&r, "score_overflow"));
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_weights_is_read),
        cmocka_unit_test(every_row_of_scores_is_read),
        cmocka_unit_test(the_largest_of_all_pairs),
        cmocka_unit_test(a_hole_is_no_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
