/* test_diagnosis_leak.c - finite numbers for -infinity, set, added or multiplied; dropout in rows that are even or few.
 */
#include "diagnosis_driver.h"

/* Weights of logits that have `fill` behind their query; that added; or 0 times them. */
enum leak { SET, ADDED, TIMES_0 };

static void leaking(struct made *m, enum leak how, double fill)
{
    double *w = m->part[AV_PART_WEIGHTS];
    memcpy(w, m->logits, m->n_q * m->n_k * sizeof(double));
    for (size_t at = 0; at < m->n_q * m->n_k; at++) {
        if (at % m->n_k > at / m->n_k) {
            w[at] = how == SET ? fill : how == ADDED ? w[at] + fill : 0;
        }
    }
    m->causal = false;
    softmax(m, w, 1);
    m->causal = true;
    give_weights(m);
}

static void check_leak(enum leak how, double fill, enum av_severity severity, const char *text)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct made m;
        made_new(&m, 48, 16, true, seed);
        make_logits(&m, 0.25);
        leaking(&m, how, fill);
        struct av_diagnosis r = diagnose(&m);
        const struct av_verdict *v = find(&r, "mask_leak");
        assert_non_null(v);
        assert_int_equal(v->severity, severity);
        assert_non_null(strstr(v->text, text));
        assert_null(find(&r, "masked_weight"));
        assert_true(r.evidence.masked_share > 0);
        made_free(&m);
    }
}

static void the_number_is_named(void **state)
{
    (void)state;
    check_leak(SET, -10, AV_WARN, "the same in a row: a finite number, about -10, stands");
    check_leak(SET, -60, AV_INFO, "about -60, stands for -infinity");
    check_leak(ADDED, -10, AV_WARN, "as q.k has it less about 10: a finite number is added");
    check_leak(ADDED, -60, AV_INFO, "less about 60");
    check_leak(TIMES_0, 0, AV_BAD, "as a score of 0 has it: a mask was multiplied, not added");
}

/* Without a mask there is none that leaks. */
static void no_mask_is_no_leak(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 48, 16, true, 3);
    make_logits(&m, 0.25);
    leaking(&m, ADDED, 0);
    struct av_diagnosis r = diagnose(&m);
    assert_only(&m, &r, "masked_weight");
    made_free(&m);
}

static void check_dropout(size_t n_q, size_t n, double p, uint64_t seed)
{
    struct made m;
    made_new(&m, n, 8, false, seed);
    m.n_q = m.layer.n_q = n_q;
    make_logits(&m, 0.3);
    double *w = plain_weights(&m);
    for (size_t i = 0; i < n_q * n; i++) {
        w[i] = uniform(&m) < p ? 0 : w[i] / (1 - p);
    }
    give_weights(&m);
    struct av_diagnosis r = diagnose(&m);
    if (r.evidence.rows_off > 0) {
        assert_only(&m, &r, "dropout");
    }
    made_free(&m);
}

static void dropout_of_even_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_dropout(256, 256, 0.01, seed);
        check_dropout(64, 1024, 0.05, seed);
        check_dropout(64, 2000, 0.1, seed);
    }
    for (uint64_t seed = 1; seed <= 40; seed++) {
        check_dropout(1, 64, 0.1, seed);
    }
}

/* Weights that a mask took away behind the softmax, or rows that are too large. */
static void no_dropout(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        struct made m;
        made_new(&m, 64, 8, false, 5);
        make_logits(&m, 0.3);
        double *w = plain_weights(&m);
        for (size_t i = 0; i < m.n_q * m.n_k; i++) {
            bool taken = large ? i == 5 * m.n_k + 7 : i % m.n_k > i / m.n_k;
            w[i] = taken ? 0 : large && i < 2 * m.n_k ? 1.5 * w[i] : w[i];
        }
        give_weights(&m);
        struct av_diagnosis r = diagnose(&m);
        assert_non_null(find(&r, "rows_not_one"));
        assert_null(find(&r, "dropout"));
        made_free(&m);
    }
}

/* Scores alone: masks as -1e9 make no logits spread; -3 leaks; q.k itself is no mask. */
static void masks_in_scores(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 48, 16, true, 3);
    make_logits(&m, 0.25);
    m.layer.part[AV_PART_SCORES].there = true;
    no_entries(&m);
    for (int which = 0; which < 3; which++) {
        memcpy(m.part[AV_PART_SCORES], m.logits, m.n_q * m.n_k * sizeof(double));
        for (size_t i = 0; which > 0 && i < m.n_q * m.n_k; i++) {
            if (masked(&m, i / m.n_k, i % m.n_k)) {
                m.part[AV_PART_SCORES][i] = which == 1 ? -1e9 : -3;
            }
        }
        struct av_diagnosis r = diagnose(&m);
        assert_only(&m, &r, which == 0 ? NULL : which == 1 ? "mask_seen" : "mask_leak");
        assert_int_equal(av_diagnosis_replaces(&r, "saturated"), which == 1);
        assert_true(r.evidence.logit_row_std < 2);
        if (which == 1) {
            assert_non_null(strstr(find(&r, "mask_seen")->text, "1128 scores are masks written as finite numbers"));
        } else if (which == 2) {
            assert_non_null(strstr(find(&r, "mask_leak")->text, "masked keys have the score -3 in 47 rows"));
        }
    }
    made_free(&m);
}

static void a_wrong_sign_is_warned_of(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 48, 16, true, 3);
    make_logits(&m, -0.25);
    plain_weights(&m);
    give_weights(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_only(&m, &r, "scale_other");
    assert_int_equal(find(&r, "scale_other")->severity, AV_WARN);
    assert_non_null(strstr(find(&r, "scale_other")->text, "of the wrong sign"));
    made_free(&m);
}

/* One key above many even ones: as a second softmax would have it, and no fault. */
static void even_rows_are_not_warned_of(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 52, 8, false, 3);
    for (size_t i = 0; i < m.n_q * m.n_k; i++) {
        m.logits[i] = i % m.n_k == 0 ? 0.6 : 0;
    }
    plain_weights(&m);
    give_weights(&m);
    no_entries(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_non_null(find(&r, "softmax_twice"));
    assert_int_equal(find(&r, "softmax_twice")->severity, AV_INFO);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_is_named),
        cmocka_unit_test(no_mask_is_no_leak),
        cmocka_unit_test(dropout_of_even_rows),
        cmocka_unit_test(no_dropout),
        cmocka_unit_test(masks_in_scores),
        cmocka_unit_test(a_wrong_sign_is_warned_of),
        cmocka_unit_test(even_rows_are_not_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
