/* test_diagnosis_rules.c - the rules that decide where others cannot, each at its edge. */
#include "diagnosis_driver.h"

static void soft(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    plain_weights(m);
}

/* ---- A softmax of a softmax ------------------------------------------------------------- */

/* Too even for its weights to tell: q.k does. */
static void a_flat_second_softmax_is_told_by_q_and_k(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct made m;
        made_new(&m, 64, 16, seed % 2 == 1, seed);
        m.dtype = seed % 3 == 0 ? AV_DTYPE_F64 : AV_DTYPE_F32;
        for (size_t i = 0; i < m.n_q * m.d; i++) {
            m.part[AV_PART_Q][i] = (double)(float)(0.3 * m.part[AV_PART_Q][i]);
        }
        soft(&m);
        softmax(&m, m.part[AV_PART_WEIGHTS], 1);
        give_weights(&m);
        struct av_diagnosis r = diagnose(&m);
        assert_only(&m, &r, "softmax_twice");
        assert_true(fabs(r.evidence.second.slope - 1) < 1e-3 && r.evidence.twice_n_sum_p2 < 1.5);
        struct av_params p = params_of(&m);
        p.mask = AV_MASK_NONE; /* the mask that the weights show counts as well */
        r = diagnose_with(&m, &p);
        assert_only(&m, &r, "softmax_twice");
        no_entries(&m);
        r = diagnose(&m);
        assert_only(&m, &r, NULL);
        made_free(&m);
    }
}

static void even(struct made *m)
{
    m->causal = true;
    soft(m);
    m->causal = false;
    softmax(m, m->part[AV_PART_WEIGHTS], 1);
    m->causal = true;
    give_weights(m);
    for (int with = 1; with >= 0; with--) {
        struct av_diagnosis r = diagnose(m);
        assert_only(m, &r, "softmax_twice");
        assert_null(find(&r, "mask_leak"));
        no_entries(m);
    }
    has_entries(m);
}

static void a_second_softmax_without_the_mask_is_no_leak(void **state)
{
    (void)state;
    for_settings(even, 16);
}

/* ---- Rows without a key ----------------------------------------------------------------- */

/* The first quarter of the rows saw no key. */
static void without_key(struct made *m, double weight)
{
    m->causal = true;
    soft(m);
    for (size_t i = 0; i < m->n_q / 4 * m->n_k; i++) {
        m->part[AV_PART_WEIGHTS][i] = weight;
    }
    give_weights(m);
}

static void keyless(struct made *m)
{
    struct av_params p = params_of(m);
    p.mask = AV_MASK_CAUSAL;
    without_key(m, 1 / (double)m->n_k);
    struct av_diagnosis r = diagnose_with(m, &p);
    assert_only(m, &r, "rows_without_key");
    assert_non_null(strstr(find(&r, "rows_without_key")->text, "the first row 0"));
    assert_null(find(&r, "weights_not_of_qk"));
    p.mask = AV_MASK_NONE; /* nobody said which: the other rows tell */
    r = diagnose_with(m, &p);
    assert_only(m, &r, "rows_without_key");
    assert_non_null(find(&r, "mask_seen"));
    without_key(m, (double)NAN);
    r = diagnose_with(m, &p);
    assert_non_null(find(&r, "mask_seen"));
    assert_non_null(find(&r, "nan_input"));
    assert_non_null(strstr(find(&r, "rows_without_weight")->text, "masked keys alone"));
}

static void rows_without_a_key_are_told_from_a_leak(void **state)
{
    (void)state;
    for_settings(keyless, 16);
}

/* All rows even, masked keys too: no mask was applied. */
static void even_rows_everywhere_are_no_mask(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 32, 8, true, 1);
    for (size_t i = 0; i < m.n_q * m.n_k; i++) {
        m.part[AV_PART_WEIGHTS][i] = 1 / (double)m.n_k;
    }
    give_weights(&m);
    no_entries(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_only(&m, &r, "masked_weight");
    assert_int_equal(find(&r, "masked_weight")->severity, AV_BAD);
    made_free(&m);
}

/* A NaN among the queries is the reason of a row of NaN. */
static void nan_that_follows_is_not_blamed(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 32, 8, true, 2);
    soft(&m);
    for (size_t j = 0; j < m.n_k; j++) {
        m.part[AV_PART_WEIGHTS][7 * m.n_k + j] = (double)NAN;
    }
    give_weights(&m);
    m.part[AV_PART_Q][7 * m.d + 3] = (double)NAN;
    struct av_diagnosis r = diagnose(&m);
    assert_only(&m, &r, "nan_input");
    assert_non_null(
        strstr(find(&r, "nan_input")->text, "q holds 1 NaN in layer 0, head 1, the first at row 7, column 3"));
    made_free(&m);
}

/* ---- Scores and dropout ----------------------------------------------------------------- */

static void finite_masks_in_scores_are_no_scores(void **state)
{
    (void)state;
    static const double fills[] = { -1e4, -65504, -3.4028234663852886e38 };
    for (size_t f = 0; f < LENGTH(fills); f++) {
        struct made m;
        made_new(&m, 32, 8, true, f);
        make_logits(&m, 1 / sqrt(8));
        for (size_t i = 0; i < m.n_q * m.n_k; i++) {
            m.part[AV_PART_SCORES][i] = masked(&m, i / m.n_k, i % m.n_k) ? fills[f] : m.logits[i];
        }
        m.layer.part[AV_PART_SCORES].there = true;
        struct av_params p = params_of(&m);
        p.mask = AV_MASK_NONE; /* nobody said which */
        struct av_diagnosis r = diagnose_with(&m, &p);
        assert_only(&m, &r, "scale_ok");
        assert_true(r.evidence.logit_row_std < 3 && r.evidence.rows_one_key == 1);
        m.part[AV_PART_SCORES][5 * m.n_k + 2] = -600; /* of an odd key, but a score */
        r = diagnose_with(&m, &p);
        assert_true(r.evidence.logit_row_std > 20);
        made_free(&m);
    }
}

/* Saturated rows lose their one key, in a type where the others are 0. */
static void dropout_of_saturated_rows_has_its_share(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct made m;
        made_new(&m, (size_t)32 << seed % 3, 16, seed % 2 == 1, seed);
        m.dtype = seed / 2 % 2 == 1 ? AV_DTYPE_F16 : AV_DTYPE_F32;
        make_logits(&m, 2);
        plain_weights(&m);
        for (size_t i = 0; i < m.n_q * m.n_k; i++) {
            m.part[AV_PART_WEIGHTS][i] *= uniform(&m) < 0.1 ? 0 : 1 / 0.9;
        }
        give_weights(&m);
        struct av_diagnosis r = diagnose(&m);
        assert_only(&m, &r, "dropout");
        const char *p = strstr(find(&r, "dropout")->text, "p about ");
        assert_non_null(p);
        assert_true(fabs(strtod(p + 8, NULL) - 0.1) < 0.03);
        made_free(&m);
    }
}

/* ---- Long heads ------------------------------------------------------------------------- */

/* All rows and columns are summed, however many there are. */
static void a_wrong_axis_is_found_in_long_heads(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 2100, 8, false, 3);
    for (size_t i = 0; i < m.n_q * m.n_k; i++) {
        m.part[AV_PART_WEIGHTS][i] = 0.1 + uniform(&m);
    }
    for (size_t j = 0; j < m.n_k; j++) {
        double sum = 0;
        for (size_t i = 0; i < m.n_q; i++) {
            sum += m.part[AV_PART_WEIGHTS][i * m.n_k + j];
        }
        for (size_t i = 0; i < m.n_q; i++) {
            m.part[AV_PART_WEIGHTS][i * m.n_k + j] /= sum;
        }
    }
    give_weights(&m);
    no_entries(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_false(r.sampled); /* all rows of weights are read */
    assert_only(&m, &r, "softmax_wrong_axis");
    assert_true(r.evidence.column_sum_error_max < 1e-4);
    made_free(&m);
}

/* One head: d_model is d_k, and the scale is right. */
static void one_head_has_one_right_scale(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 32, 8, true, 4);
    m.layer.n_head = m.layer.n_head_kv = 2;
    soft(&m);
    give_weights(&m);
    struct av_diagnosis r = diagnose(&m);
    assert_only(&m, &r, "scale_ok");
    m.layer.n_head = m.layer.n_head_kv = 1;
    struct av_params p = params_of(&m);
    struct av_error e = { "" };
    assert_int_equal(av_diagnose_head(&r, &m.source, 0, 0, &p, NULL, &e), AV_OK);
    assert_only(&m, &r, "scale_ok");
    assert_null(strstr(find(&r, "scale_ok")->text, "d_model"));
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_second_softmax_is_told_by_q_and_k),
        cmocka_unit_test(a_second_softmax_without_the_mask_is_no_leak),
        cmocka_unit_test(rows_without_a_key_are_told_from_a_leak),
        cmocka_unit_test(even_rows_everywhere_are_no_mask),
        cmocka_unit_test(nan_that_follows_is_not_blamed),
        cmocka_unit_test(finite_masks_in_scores_are_no_scores),
        cmocka_unit_test(dropout_of_saturated_rows_has_its_share),
        cmocka_unit_test(a_wrong_axis_is_found_in_long_heads),
        cmocka_unit_test(one_head_has_one_right_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
