/* test_diagnosis_faults.c - heads made to have exactly one fault: it is found, and nothing else. */
#include "diagnosis_driver.h"

/* ---- Scale ------------------------------------------------------------------------------ */

struct scale_case {
    const char *code;
    double d, heads; /* powers of d_k and n_head */
};

static const struct scale_case scales[] = {
    { "scale_ok", -0.5, 0 },         { "scale_missing", 0, 0 },    { "scale_twice", -1, 0 },
    { "scale_d_model", -0.5, -0.5 }, { "scale_inverted", 0.5, 0 }, { "scale_other", -0.75, 0.3 },
};

static void check_scale(struct made *m, const struct scale_case *c, double multiplier)
{
    struct av_diagnosis r = diagnose(m);
    if (find(&r, "scale_unknown") != NULL) {
        /* Only where narrow types leave few different weights. */
        assert_true(m->dtype >= AV_DTYPE_BF16 && !(r.evidence.multiplier.residual >= 0x1p-8));
        return;
    }
    assert_only(m, &r, c->code);
    assert_null(find(&r, "weights_not_of_qk"));
    double error = m->dtype == AV_DTYPE_F64 ? 1e-6 : 0.02;
    assert_true(fabs(r.evidence.multiplier.slope / multiplier - 1) < error);
}

static void scale_of_weights(struct made *m)
{
    m->layer.n_head = m->layer.n_head_kv = 4 * m->d; /* d_model is far from d_k, and from d_k^2 */
    for (size_t i = 0; i < LENGTH(scales); i++) {
        double multiplier = pow((double)m->d, scales[i].d) * pow((double)m->layer.n_head, scales[i].heads);
        make_logits(m, multiplier);
        plain_weights(m);
        give_weights(m);
        check_scale(m, &scales[i], multiplier);
    }
}

static void the_multiplier_of_weights_is_named(void **state)
{
    (void)state;
    for_settings(scale_of_weights, 8);
}

static void scale_of_scores(struct made *m)
{
    m->layer.part[AV_PART_SCORES].there = true;
    m->layer.n_head = m->layer.n_head_kv = 4 * m->d;
    for (size_t i = 0; i < LENGTH(scales); i++) {
        double multiplier = pow((double)m->d, scales[i].d) * pow((double)m->layer.n_head, scales[i].heads);
        make_logits(m, multiplier);
        for (size_t at = 0; at < m->n_q * m->n_k; at++) {
            bool hidden = masked(m, at / m->n_k, at % m->n_k);
            m->part[AV_PART_SCORES][at] = hidden ? -(double)INFINITY : m->logits[at];
        }
        struct av_diagnosis r = diagnose(m);
        assert_only(m, &r, scales[i].code);
        assert_true(fabs(r.evidence.multiplier.slope / multiplier - 1) < 1e-9);
        assert_null(find(&r, "inf_input"));
    }
}

static void the_multiplier_of_scores_is_named(void **state)
{
    (void)state;
    for_settings(scale_of_scores, 8);
}

/* The number of a temperature is known; one of the same number is named. */
static void temperature_and_equal_multipliers(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 64, 64, true, 3);
    struct av_params p = params_of(&m);
    make_logits(&m, 0.125 / 1.7);
    plain_weights(&m);
    give_weights(&m);
    struct av_diagnosis r = diagnose_with(&m, &p);
    assert_only(&m, &r, "scale_other");
    p.temperature = 1.7;
    r = diagnose_with(&m, &p);
    assert_only(&m, &r, "scale_ok");
    assert_non_null(strstr(find(&r, "scale_ok")->text, "temperature 1.7"));
    p.temperature = 1;
    m.layer.n_head = m.layer.n_head_kv = 64;
    make_logits(&m, 1.0 / 64);
    plain_weights(&m);
    give_weights(&m);
    r = diagnose_with(&m, &p);
    assert_only(&m, &r, "scale_twice");
    assert_non_null(strstr(find(&r, "scale_twice")->text, "or 1/sqrt(d_model), the same number here: d_model"));
    made_free(&m);
}

static void weights_of_other_keys(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    plain_weights(m);
    give_weights(m);
    for (size_t i = 0; i < m->n_k * m->d; i++) {
        m->part[AV_PART_K][i] = (double)(float)normal(m);
    }
    struct av_diagnosis r = diagnose(m);
    assert_only(m, &r, "weights_not_of_qk");
    assert_null(find(&r, "scale_other"));
}

static void weights_of_other_queries_and_keys_are_not_explained(void **state)
{
    (void)state;
    for_settings(weights_of_other_keys, 8);
}

enum { HEADS = 4 };

/* state: a struct made for each head; the weights are those of the first. */
static enum av_status read_heads(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                 float *out_f32, double *out_f64, struct av_error *e)
{
    struct made *heads = state;
    return read_made(&heads[part == AV_PART_WEIGHTS ? 0 : head], layer, part, head, first, rows, out_f32, out_f64, e);
}

static void the_mean_over_heads_is_found(void **state)
{
    (void)state;
    static const enum av_dtype dtypes[] = { AV_DTYPE_F64, AV_DTYPE_F32, AV_DTYPE_BF16, AV_DTYPE_F16 };
    for (uint64_t seed = 0; seed < 16; seed++) {
        struct made heads[HEADS];
        size_t n = (size_t)8 << seed % 4;
        for (size_t h = 0; h < HEADS; h++) {
            made_new(&heads[h], n, 16, seed % 2 == 1, HEADS * seed + h);
            heads[h].dtype = dtypes[seed / 4];
            make_logits(&heads[h], 0.25);
            plain_weights(&heads[h]);
        }
        for (size_t i = 0; i < n * n; i++) {
            double *at = &heads[0].part[AV_PART_WEIGHTS][i];
            for (size_t h = 1; h < HEADS; h++) {
                *at += heads[h].part[AV_PART_WEIGHTS][i];
            }
            *at /= HEADS;
        }
        give_weights(&heads[0]);
        heads[0].source.read = read_heads;
        struct av_diagnosis r = diagnose(&heads[0]);
        assert_only(&heads[0], &r, "averaged_over_heads");
        assert_null(find(&r, "weights_not_of_qk"));
        for (size_t i = 0; i < n * 16; i++) {
            heads[3].part[AV_PART_Q][i] = 0; /* not what the mean was made of */
        }
        r = diagnose(&heads[0]);
        assert_only(&heads[0], &r, "weights_not_of_qk");
        for (size_t h = 0; h < HEADS; h++) {
            made_free(&heads[h]);
        }
    }
}

/* ---- Weights that are no softmax's ------------------------------------------------------ */

/* With Q and K, and without. */
static void check_both(struct made *m, const char *code)
{
    struct av_diagnosis r = diagnose(m);
    assert_only(m, &r, code);
    no_entries(m);
    r = diagnose(m);
    assert_only(m, &r, code);
    has_entries(m);
}

static void wrong_axis(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    memcpy(m->part[AV_PART_WEIGHTS], m->logits, m->n_q * m->n_k * sizeof(double));
    softmax(m, m->part[AV_PART_WEIGHTS], 0);
    give_weights(m);
    check_both(m, "softmax_wrong_axis");
}

static void a_softmax_over_queries_is_found(void **state)
{
    (void)state;
    for_settings(wrong_axis, 8);
}

static void twice(struct made *m)
{
    /* Of many keys the first softmax's weights are below bfloat16's rounding. */
    bool small = m->dtype != AV_DTYPE_BF16 || m->n_k < 128;
    for (double power = small ? -0.5 : 0; power <= 0; power += 0.5) {
        make_logits(m, pow((double)m->d, power));
        plain_weights(m);
        softmax(m, m->part[AV_PART_WEIGHTS], 1);
        give_weights(m);
        check_both(m, "softmax_twice");
    }
}

static void a_softmax_of_a_softmax_is_found(void **state)
{
    (void)state;
    for_settings(twice, 33);
}

/* Logits as flat as a second softmax makes them, of several shapes. */
static void even_weights_are_not_taken_for_a_second_softmax(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct made m;
        made_new(&m, (size_t)8 << seed % 4, 8, seed / 4 % 2 == 1, seed);
        m.dtype = seed / 8 % 2 == 1 ? AV_DTYPE_F32 : AV_DTYPE_BF16;
        double size = exp(-1 - 6 * uniform(&m));
        for (size_t i = 0; i < m.n_q * m.n_k; i++) {
            double x = normal(&m);
            m.logits[i] = size * (seed % 3 == 0 ? x : seed % 3 == 1 ? uniform(&m) : fabs(x));
        }
        plain_weights(&m);
        give_weights(&m);
        no_entries(&m);
        struct av_diagnosis r = diagnose(&m);
        assert_only(&m, &r, NULL);
        made_free(&m);
    }
}

static double dropped_share;

static void dropout(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    double *w = plain_weights(m), p = dropped_share;
    for (size_t i = 0; i < m->n_q * m->n_k; i++) {
        w[i] = uniform(m) < p ? 0 : w[i] / (1 - p);
    }
    give_weights(m);
    check_both(m, "dropout");
    struct av_diagnosis r = diagnose(m);
    assert_non_null(find(&r, "scale_ok"));
    assert_true(fabs(r.evidence.zero_share - p) < 5 * sqrt(p / (double)(m->n_q * m->n_k)));
}

static void dropout_is_found_with_its_share(void **state)
{
    (void)state;
    static const double shares[] = { 0.1, 0.3, 0.5 };
    for (size_t i = 0; i < LENGTH(shares); i++) {
        dropped_share = shares[i];
        for_settings(dropout, 16);
    }
}

static void rows_off(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    double *w = plain_weights(m);
    for (size_t j = 0; j < m->n_k; j++) {
        w[3 * m->n_k + j] *= 1.05;
    }
    give_weights(m);
    check_both(m, "rows_not_one");
    struct av_diagnosis r = diagnose(m);
    assert_true(r.evidence.rows_off == 1);
    assert_non_null(strstr(find(&r, "rows_not_one")->text, "the first row 3"));
}

static void rows_that_do_not_sum_to_1_are_found(void **state)
{
    (void)state;
    for_settings(rows_off, 8);
}

static void negative(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    memcpy(m->part[AV_PART_WEIGHTS], m->logits, m->n_q * m->n_k * sizeof(double));
    give_weights(m);
    check_both(m, "weights_negative");
}

static void logits_given_as_weights_are_found(void **state)
{
    (void)state;
    for_settings(negative, 8);
}

static void empty_rows(struct made *m)
{
    make_logits(m, 1 / sqrt((double)m->d));
    double *w = plain_weights(m);
    for (size_t j = 0; j < m->n_k; j++) {
        w[5 * m->n_k + j] = 0;
    }
    give_weights(m);
    check_both(m, "rows_without_weight");
    for (size_t j = 0; j < m->n_k; j++) {
        w[5 * m->n_k + j] = (double)NAN;
    }
    struct av_diagnosis r = diagnose(m);
    assert_non_null(find(&r, "rows_without_weight"));
    assert_non_null(strstr(find(&r, "nan_input")->text, "head 1, the first at row 5, column 0"));
    assert_null(find(&r, "rows_not_one"));
}

static void rows_without_weight_are_found(void **state)
{
    (void)state;
    for_settings(empty_rows, 8);
}

/* ---- Masks ------------------------------------------------------------------------------- */

/* What is masked is set to fill, or with it added, before a softmax over all keys. */
static void weights_behind(struct made *m, double fill, bool add)
{
    make_logits(m, 1 / sqrt((double)m->d));
    for (size_t i = 0; i < m->n_q * m->n_k; i++) {
        if (masked(m, i / m->n_k, i % m->n_k)) {
            m->logits[i] = add ? m->logits[i] + fill : fill;
        }
    }
    m->causal = false;
    plain_weights(m);
    m->causal = true;
    give_weights(m);
}

static void leak(struct made *m)
{
    m->causal = true;
    weights_behind(m, -12, false);
    check_both(m, "mask_leak");
    struct av_diagnosis r = diagnose(m);
    assert_int_equal(find(&r, "mask_leak")->severity, AV_WARN);
    weights_behind(m, -5, false);
    r = diagnose(m);
    assert_only(m, &r, "mask_leak");
    weights_behind(m, -5, true);
    r = diagnose(m);
    assert_only(m, &r, "mask_leak");
    no_entries(m); /* q.k alone tells what was added */
    r = diagnose(m);
    assert_only(m, &r, "masked_weight");
    has_entries(m);
    weights_behind(m, -1e4, false);
    r = diagnose(m);
    assert_only(m, &r, NULL);
    assert_true(r.evidence.masked_max == 0 && r.evidence.masked_share == 0);
}

static void finite_masks_that_leak_are_found(void **state)
{
    (void)state;
    for_settings(leak, 8);
}

static void no_mask(struct made *m)
{
    struct av_params p = params_of(m);
    p.mask = m->causal ? AV_MASK_NONE : AV_MASK_CAUSAL;
    make_logits(m, 1 / sqrt((double)m->d));
    plain_weights(m);
    give_weights(m);
    struct av_diagnosis r = diagnose_with(m, &p);
    assert_only(m, &r, m->causal ? "mask_seen" : "masked_weight");
    if (!m->causal) {
        assert_int_equal(find(&r, "masked_weight")->severity, AV_BAD);
    }
}

static void a_mask_that_is_not_as_said_is_found(void **state)
{
    (void)state;
    for_settings(no_mask, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_multiplier_of_weights_is_named),
        cmocka_unit_test(the_multiplier_of_scores_is_named),
        cmocka_unit_test(temperature_and_equal_multipliers),
        cmocka_unit_test(weights_of_other_queries_and_keys_are_not_explained),
        cmocka_unit_test(the_mean_over_heads_is_found),
        cmocka_unit_test(a_softmax_over_queries_is_found),
        cmocka_unit_test(a_softmax_of_a_softmax_is_found),
        cmocka_unit_test(even_weights_are_not_taken_for_a_second_softmax),
        cmocka_unit_test(dropout_is_found_with_its_share),
        cmocka_unit_test(rows_that_do_not_sum_to_1_are_found),
        cmocka_unit_test(logits_given_as_weights_are_found),
        cmocka_unit_test(rows_without_weight_are_found),
        cmocka_unit_test(finite_masks_that_leak_are_found),
        cmocka_unit_test(a_mask_that_is_not_as_said_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
