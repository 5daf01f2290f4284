/* test_diagnosis.c - heads without a fault: nothing is found; and what is told of them. */
#include "diagnosis_driver.h"

enum { SEEDS = 300 };

/* ---- Healthy heads --------------------------------------------------------------------- */

/* What heads are like: as at the start, or looking at the previous token, at
 * the first one, at nothing much. */
static void shape_queries(struct made *m, int kind)
{
    double *q = m->part[AV_PART_Q], *k = m->part[AV_PART_K];
    double root = sqrt((double)m->d), flat = pow(10, -3 * uniform(m));
    for (size_t i = 0; i < m->n_q; i++) {
        const double *target = kind == 1 ? k + (i > 0 ? i - 1 : 0) * m->d : k;
        for (size_t c = 0; c < m->d; c++) {
            double *at = &q[i * m->d + c];
            *at = kind == 3 ? flat * *at : kind > 0 ? *at + 4 * target[c] / root : *at;
            *at = (double)(float)*at;
        }
    }
}

static void nothing_is_found_in_healthy_heads(void **state)
{
    (void)state;
    static const size_t sizes[] = { 8, 12, 16, 31, 48, 64, 100, 128 }, dims[] = { 8, 16, 32, 64, 128 };
    static const enum av_dtype dtypes[] = { AV_DTYPE_F64, AV_DTYPE_F32, AV_DTYPE_BF16, AV_DTYPE_F16 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct made m;
        made_new(&m, sizes[seed % LENGTH(sizes)], dims[seed / 3 % LENGTH(dims)], seed / 5 % 2 == 1, seed);
        m.dtype = dtypes[seed / 7 % LENGTH(dtypes)];
        shape_queries(&m, (int)(seed / 2 % 4));
        make_logits(&m, 1 / sqrt((double)m.d));
        plain_weights(&m);
        give_weights(&m);
        if (seed % 11 == 0) {
            no_entries(&m);
        }
        struct av_params p = params_of(&m);
        p.mask = seed % 3 == 0 ? AV_MASK_NONE : p.mask; /* nobody said which */
        struct av_diagnosis r = diagnose_with(&m, &p);
        assert_only(&m, &r, NULL);
        static const char *const never[] = { "scale_other", "weights_not_of_qk" };
        for (size_t i = 0; i < LENGTH(never); i++) {
            if (find(&r, never[i]) != NULL) {
                tell(&m, &r);
                fail_msg("%s in a healthy head", never[i]);
            }
        }
        made_free(&m);
    }
}

/* The numbers of saturation are those of weights as of Q and K; what the file's own
 * weights make true is found, and of either alone nothing that the pipeline finds. */
static void saturation_is_measured_alike_of_weights_and_entries(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct made m;
        made_new(&m, 64, 64, seed % 2 == 1, seed);
        m.dtype = AV_DTYPE_F64;
        struct av_params p = params_of(&m);
        p.scale = seed / 2 % 2;
        struct av_diagnosis entries = diagnose_with(&m, &p);
        make_logits(&m, p.scale ? 0.125 : 1);
        plain_weights(&m);
        give_weights(&m);
        no_entries(&m);
        struct av_diagnosis weights = diagnose_with(&m, &p);
        assert_null(find(&weights, "saturated"));
        has_entries(&m);
        struct av_diagnosis both = diagnose_with(&m, &p);
        const struct av_verdict *a = find(&entries, "saturated"), *b = find(&both, "saturated");
        assert_null(a);
        assert_int_equal(b != NULL, !p.scale);
        const struct av_evidence *x = &entries.evidence, *y = &weights.evidence;
        assert_true(x->share_max_gt_0_9 == y->share_max_gt_0_9);
        assert_true(fabs(x->jacobian_fro_median - y->jacobian_fro_median) < 1e-9);
        assert_true(fabs(x->logit_row_std - y->logit_row_std) < 1e-9);
        assert_true(fabs(x->entropy_norm_mean - y->entropy_norm_mean) < 1e-12);
        assert_true(x->rows_one_key == (m.causal ? 1 : 0));
        if (b != NULL) {
            assert_non_null(strstr(b->text, "weights of the file: "));
        }
        made_free(&m);
    }
}

/* ---- Of Q and K alone ------------------------------------------------------------------ */

static void entries_predict_the_spread_and_tell_no_scale(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 200, 50, false, 4);
    for (size_t i = 0; i < m.n_q * m.d; i++) {
        m.part[AV_PART_Q][i] = 1 + 2 * m.part[AV_PART_Q][i];
        m.part[AV_PART_K][i] = 3 + 0.5 * m.part[AV_PART_K][i];
    }
    struct av_diagnosis r = diagnose(&m);
    const struct av_evidence *v = &r.evidence;
    double expected = sqrt(50 * (1 + 4)) * 0.5; /* sqrt(d (sq^2 + mq^2)) sk */
    assert_true(fabs(v->q_mean - 1) < 0.1 && fabs(v->q_std - 2) < 0.1);
    assert_true(fabs(v->k_mean - 3) < 0.03 && fabs(v->k_std - 0.5) < 0.03);
    assert_true(fabs(v->predicted_std / expected - 1) < 0.03);
    assert_true(fabs(v->dot_std / expected - 1) < 0.05);
    assert_non_null(find(&r, "logit_std"));
    assert_non_null(find(&r, "scale_unknown"));
    assert_true(v->saturated_scaled < v->saturated_bare);
    assert_true(isnan(v->multiplier.slope));
    made_free(&m);
}

static void products_beyond_float16_are_told(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 32, 16, true, 9);
    memset(m.part[AV_PART_Q], 0, m.n_q * m.d * sizeof(double));
    m.part[AV_PART_Q][20 * 16] = 300;
    m.part[AV_PART_K][7 * 16] = -218.34; /* 65502 */
    struct av_diagnosis r = diagnose(&m);
    assert_null(find(&r, "float16_overflow"));
    m.part[AV_PART_K][7 * 16] = -218.36; /* 65508 */
    m.part[AV_PART_K][21 * 16] = 1e6;    /* masked */
    r = diagnose(&m);
    assert_only(&m, &r, "float16_overflow");
    assert_true(r.evidence.dot_beyond_float16 == 1);
    assert_non_null(strstr(find(&r, "float16_overflow")->text, "row 20, column 7"));
    made_free(&m);
}

static void what_is_not_finite_is_told_with_its_place(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 32, 16, true, 9);
    m.part[AV_PART_K][5 * 16 + 3] = (double)NAN;
    m.part[AV_PART_K][9 * 16 + 1] = (double)NAN;
    m.part[AV_PART_Q][31 * 16 + 15] = -(double)INFINITY;
    struct av_diagnosis r = diagnose(&m);
    assert_string_equal(find(&r, "nan_input")->text, "k holds 2 NaN in layer 0, head 1, the first at row 5, column 3");
    assert_string_equal(find(&r, "inf_input")->text,
                        "q holds 1 infinities in layer 0, head 1, the first at row 31, column 15");
    assert_int_equal(find(&r, "nan_input")->severity, AV_BAD);
    assert_true(r.evidence.rows_counting == 4); /* those before key 5, less that of one key */
    made_free(&m);
}

/* ---- How it runs ---------------------------------------------------------------------- */

static void any_kernels_and_any_source_type_find_the_same(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 70, 24, true, 5);
    struct av_params p = params_of(&m);
    struct av_diagnosis narrow = diagnose(&m), wide;
    m.layer.part[AV_PART_Q].wide = m.layer.part[AV_PART_K].wide = true;
    wide = diagnose(&m);
    assert_int_equal(narrow.finding_count, wide.finding_count);
    for (size_t i = 0; i < narrow.finding_count; i++) {
        assert_string_equal(narrow.findings[i].text, wide.findings[i].text);
    }
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        struct av_error e;
        struct av_diagnosis r;
        if (av_kernels_named(*name) != NULL) {
            assert_int_equal(av_diagnose_head(&r, &m.source, 0, 1, &p, av_kernels_named(*name), &e), AV_OK);
            assert_true(r.evidence.dot_std == wide.evidence.dot_std ||
                        fabs(r.evidence.dot_std - wide.evidence.dot_std) < 1e-12);
        }
    }
    made_free(&m);
}

/* Many keys: rows are looked at evenly, and it is said. */
static void long_heads_are_sampled(void **state)
{
    (void)state;
    struct made m;
    made_new(&m, 2100, 8, false, 6);
    struct av_diagnoser *d;
    struct av_error e;
    struct av_params p = params_of(&m);
    m.source.layers = &m.layer;
    m.source.state = &m;
    assert_int_equal(av_diagnoser_new(&d, NULL, &e), AV_OK);
    assert_null(av_diagnoser_result(d));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(av_diagnoser_begin(d, &m.source, 0, 1, &p, &e), AV_OK);
        double progress = 0;
        for (bool more = true; more;) {
            assert_null(av_diagnoser_result(d));
            assert_int_equal(av_diagnoser_step(d, &more, &e), AV_OK);
            assert_true(av_diagnoser_progress(d) >= progress);
            progress = av_diagnoser_progress(d);
        }
        assert_true(progress == 1);
        const struct av_diagnosis *r = av_diagnoser_result(d);
        assert_true(r->sampled && r->evidence.rows == AV_DIAGNOSIS_PAIRS / 2100);
        assert_true(fabs(r->evidence.dot_std / sqrt(8) - 1) < 0.02);
        assert_true(isnan(r->evidence.column_sum_error_max));
    }
    av_diagnoser_free(d);
    made_free(&m);
}

static enum av_status read_nothing(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                   float *out_f32, double *out_f64, struct av_error *e)
{
    (void)state;
    (void)layer;
    (void)part;
    (void)head;
    (void)first;
    (void)rows;
    (void)out_f32;
    (void)out_f64;
    return av_fail(e, AV_FAILED, "gone");
}

static void a_source_that_fails_ends_it(void **state)
{
    (void)state;
    struct made m;
    struct av_diagnosis r;
    struct av_error e = { "" };
    made_new(&m, 16, 8, false, 6);
    struct av_params p = params_of(&m);
    m.source.layers = &m.layer;
    m.source.read = read_nothing;
    assert_int_equal(av_diagnose_head(&r, &m.source, 0, 1, &p, NULL, &e), AV_FAILED);
    assert_string_equal(e.text, "gone");
    made_free(&m);
}

static void every_number_has_a_name_of_its_own(void **state)
{
    (void)state;
    size_t count;
    const struct av_evidence_field *f = av_evidence_fields(&count);
    assert_int_equal(count * sizeof(double), sizeof(struct av_evidence));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(f[i].name, f[j].name);
            assert_int_not_equal(f[i].offset, f[j].offset);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_in_healthy_heads),
        cmocka_unit_test(saturation_is_measured_alike_of_weights_and_entries),
        cmocka_unit_test(entries_predict_the_spread_and_tell_no_scale),
        cmocka_unit_test(products_beyond_float16_are_told),
        cmocka_unit_test(what_is_not_finite_is_told_with_its_place),
        cmocka_unit_test(any_kernels_and_any_source_type_find_the_same),
        cmocka_unit_test(long_heads_are_sampled),
        cmocka_unit_test(a_source_that_fails_ends_it),
        cmocka_unit_test(every_number_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
