/* test_diagnosis_untold.c - masks that nobody told, softmaxes over heads, queries and keys that are swapped. */
#include "diagnosis_driver.h"

#include "attnviz/verdict_table.h"

/* Every finding is in the table of codes, with its severity. */
static void check_table(const struct av_diagnosis *r)
{
    size_t count;
    const struct av_verdict_row *table = av_verdict_table(&count);
    for (size_t i = 0; i < r->finding_count; i++) {
        size_t at = av_verdict_place(r->findings[i].code);
        assert_true(at < count);
        assert_true(table[at].as[r->findings[i].severity]);
    }
}

static void check_says(const struct av_diagnosis *r, const char *code, const char *words)
{
    const struct av_verdict *v = find(r, code);
    if (v == NULL || strstr(v->text, words) == NULL) {
        fail_msg("%s: %s, not %s", code, v != NULL ? v->text : "not found", words);
    }
}

/* Weights of logits that, behind their query, have `fill`, or that added to them. */
static void weights_with(struct made *m, double fill, bool add)
{
    double *w = m->part[AV_PART_WEIGHTS];
    memcpy(w, m->logits, m->n_q * m->n_k * sizeof(double));
    for (size_t at = 0; at < m->n_q * m->n_k; at++) {
        if (at % m->n_k > at / m->n_k) {
            w[at] = add ? w[at] + fill : fill;
        }
    }
    softmax(m, w, 1);
    give_weights(m);
}

static struct av_diagnosis with_fill(struct made *m, double fill, bool add)
{
    weights_with(m, fill, add);
    struct av_diagnosis r = diagnose(m);
    check_table(&r);
    return r;
}

/* As with -s mask=causal, and told to be seen. */
static void check_leak(struct made *m, double fill, bool add, const char *code)
{
    struct av_diagnosis r = with_fill(m, fill, add);
    assert_only(m, &r, code);
    assert_non_null(find(&r, "scale_ok"));
    check_says(&r, code, "mask is none: causal by where weights follow q.k");
    struct av_params p = params_of(m);
    p.mask = AV_MASK_CAUSAL;
    struct av_diagnosis told = diagnose_with(m, &p);
    assert_int_equal(find(&told, code)->severity, find(&r, code)->severity);
    assert_true(told.evidence.masked_share == r.evidence.masked_share);
    assert_true(told.evidence.dot_std == r.evidence.dot_std);
    assert_true(told.evidence.entropy_norm_mean == r.evidence.entropy_norm_mean);
}

static void leaks_are_found_where_no_mask_is_told(void **state)
{
    (void)state;
    static const size_t sizes[][2] = { { 16, 16 }, { 48, 32 }, { 130, 64 } };
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        struct made m;
        made_new(&m, sizes[i][0], sizes[i][1], false, 70 + i);
        make_logits(&m, 1 / sqrt((double)m.d));
        check_leak(&m, -10, false, "mask_leak");
        check_leak(&m, -25, false, "mask_leak");
        check_leak(&m, -10, true, "mask_leak");
        struct av_diagnosis r = with_fill(&m, -1, true); /* a third of what it was is no mask */
        assert_only(&m, &r, NULL);
        assert_null(find(&r, "scale_ok"));
        r = with_fill(&m, 0, true);
        assert_only(&m, &r, "scale_ok");
        made_free(&m);
    }
}

/* A first token that takes nearly all, and padding that weighs a little: both make the
 * keys behind light, and neither is a mask of them. */
static void light_keys_are_no_mask(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 48, 32, false, 75);
    for (size_t i = 0; i < 48 * 32; i += 32) {
        m.part[AV_PART_Q][i] = 6;
        m.part[AV_PART_K][i] = i == 0 ? 6 : 0;
    }
    make_logits(&m, 1 / sqrt(32.0));
    plain_weights(&m);
    give_weights(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_only(&m, &r, "scale_ok");
    made_free(&m);
    made_new(&m, 48, 32, false, 76);
    make_logits(&m, 1 / sqrt(32.0));
    for (size_t at = 0; at < 48 * 48; at++) {
        m.logits[at] = at % 48 >= 36 ? -15 : m.logits[at];
    }
    plain_weights(&m);
    give_weights(&m);
    r = diagnose(&m);
    assert_only(&m, &r, NULL);
    assert_true(isnan(r.evidence.masked_max));
    made_free(&m);
}

/* The heads of made sources are alike: a softmax over four gives each a quarter. */
static void a_softmax_over_heads_is_told(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 24, 16, false, 77);
    for (size_t round = 0; round < 2; round++) {
        for (size_t at = 0; at < 24 * 24; at++) {
            m.part[AV_PART_WEIGHTS][at] = round == 0 ? 0.25 : 0.25 + 0.01 * (double)(at % 3);
        }
        give_weights(&m);
        struct av_diagnosis r = diagnose(&m);
        check_table(&r);
        assert_non_null(find(&r, round == 0 ? "softmax_wrong_axis" : "rows_not_one"));
        assert_null(find(&r, round == 0 ? "rows_not_one" : "softmax_wrong_axis"));
        assert_true(fabs(r.evidence.heads_sum_error_max - (round == 0 ? 0 : 0.08)) < 1e-6);
    }
    made_free(&m);
}

static void swapped_queries_and_keys_are_told(void **state)
{
    (void)state;
    for (size_t scores = 0; scores < 2; scores++) {
        struct made m;
        made_new(&m, 40, 32, scores == 1, 78);
        make_logits(&m, 1 / sqrt(32.0));
        plain_weights(&m);
        if (scores == 0) {
            give_weights(&m);
        } else {
            m.layer.part[AV_PART_SCORES].there = true;
            memcpy(m.part[AV_PART_SCORES], m.logits, sizeof(double) * 40 * 40);
        }
        double *q = m.part[AV_PART_Q];
        m.part[AV_PART_Q] = m.part[AV_PART_K];
        m.part[AV_PART_K] = q;
        struct av_diagnosis r = diagnose(&m);
        check_table(&r);
        assert_only(&m, &r, "weights_not_of_qk");
        assert_int_equal(find(&r, "weights_not_of_qk")->severity, AV_WARN);
        check_says(&r, "weights_not_of_qk", "queries and keys are swapped");
        assert_true(fabs(r.evidence.swapped.slope * sqrt(32.0) - 1) < 1e-5);
        made_free(&m);
    }
}

/* Rows that give every key the same: all keys masked by a number. Where q.k is level as
 * well it is no wonder, and where all rows are so nothing is masked. */
static void rows_that_see_no_key_are_told(void **state)
{
    (void)state;
    for (size_t round = 0; round < 3; round++) {
        struct made m;
        size_t first = round == 2 ? 0 : 18;
        made_new(&m, 24, 16, false, 79);
        for (size_t at = first * 16; round == 1 && at < 24 * 16; at++) {
            m.part[AV_PART_Q][at] = 0;
        }
        make_logits(&m, 0.25);
        for (size_t at = first * 24; at < 24 * 24; at++) {
            m.logits[at] = 0;
        }
        plain_weights(&m);
        give_weights(&m);
        struct av_diagnosis r = diagnose(&m);
        check_table(&r);
        assert_only(&m, &r, round == 0 ? "rows_without_key" : NULL);
        if (round == 0) {
            check_says(&r, "rows_without_key", "6 of 24 rows");
        } else {
            assert_null(find(&r, "rows_without_key"));
        }
        made_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaks_are_found_where_no_mask_is_told), cmocka_unit_test(light_keys_are_no_mask),
        cmocka_unit_test(a_softmax_over_heads_is_told),          cmocka_unit_test(swapped_queries_and_keys_are_told),
        cmocka_unit_test(rows_that_see_no_key_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
