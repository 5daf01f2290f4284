/* test_model_variants.c - the pipeline under variants and dtypes: values,
 * validity, logits by hand, files. */
#include "attnviz/files.h"
#include "attnviz/report.h"
#include "attnviz/variant.h"
#include "model_driver.h"
#include "pair_source.h"

#include <stdlib.h>
#include <unistd.h>

static bool has_verdict(const struct av_snapshot *s, const char *code)
{
    for (size_t i = 0; i < s->verdict_count; i++) {
        if (strcmp(s->verdicts[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Values ---------------------------------------------------------------------- */

enum { N_Q = 7, N_K = 9, D = 6 };

/* The queries and keys of tests/reference/model_variants_reference.py. */
struct sines {
    double q[N_Q * D], k[N_K * D];
    struct pair_source pair;
};

static void make_sines(struct sines *s)
{
    const struct matrix q = { .name = "q", .heads = 1, .n = N_Q, .d = D, .f64 = s->q };
    const struct matrix k = { .name = "k", .heads = 1, .n = N_K, .d = D, .f64 = s->k };
    for (int c = 0; c < D; c++) {
        for (int i = 0; i < N_Q; i++) {
            s->q[i * D + c] = 1.5 * sin(0.7 * i + 1.3 * c + 0.1 * i * c);
        }
        for (int j = 0; j < N_K; j++) {
            s->k[j * D + c] = cos(0.9 * j + 0.4 * c + 0.17 * j * c);
        }
    }
    pair_source(&s->pair, &q, &k);
}

/* Values of automatic differentiation in double: see the reference. */
static const struct {
    const char *settings[4];
    double values[9];
} references[] = {
    { { "variant=qk_rms+softcap", "softcap.c=2", NULL },
      { 1, 1, 0.863327942745725, 0.358847517958626, 0.28742161461968, 0.14667422851356, 0.350813907065871,
        0.192083126632795, 1.1653206766087 } },
    { { "variant=ssmax+sink", "sink.logit=0.5", NULL },
      { 0.839119375102813, 1, 0.923529341985758, 0.279920231489447, 0.330448633508062, 0.128487709016039,
        0.246493828992405, 0.239797897817072, 0.711570441913578 } },
    { { "variant=mup+sigmoid", "mup.factor=3", NULL },
      { 1.26665919195123, 1, 0.893447404375023, 0.433003833799888, 0.397086496783828, 0.248179060489892,
        0.425820873203341, 0.200239905875277, 1.05921956540421 } },
    { { "variant=cosine+sparsemax", "cosine.g=1", NULL },
      { 1, 0.626473922902494, 0.621329042324556, 0.582838987109757, 1.73205080756888, 2.1650635094611,
        0.900182775286943, 0.300324395685254, 0.475740874420305 } },
    { { "variant=entmax15+window", "window.size=4", NULL },
      { 1, 0.678571428571429, 0.553652747845946, 0.680346724220563, 0.703328027454522, 0.358915581054537,
        0.552411536558579, 0.172312292175307, 1.05668341594307 } },
    { { "variant=score_layernorm+clipped", "clipped.eta=1.1", "clipped.gamma=-0.4", NULL },
      { 0.319859833403569, 0.273185941043084, 0.144686321587429, 0.289663904036898, 0.415327614497277,
        0.286962353325854, 0.375009327115954, 0.375, 1.26514955006652 } },
    { { "variant=softpick+alibi", NULL },
      { 0.85020699593186, 0.703854875283447, 0.656853576568683, 0.471137456537559, 0.677715995429583, 0.345845495692678,
        0.555094875660892, 0.218474345247889, 0.861300137917149 } },
    { { "variant=logn", "logn.L=3", NULL },
      { 1, 1, 0.76796949110842, 0.520116724448864, 0.398990954685922, 0.334088550881792, 0.540686991666734,
        0.0887994024899741, 1.50627750869287 } },
};

static void reports_are_those_of_the_formulas(void **state)
{
    (void)state;
    static const char *const fields[9][2] = {
        { "weights", "row_sum_mean" },
        { "weights", "nonzero_share_mean" },
        { "weights", "entropy_norm_mean" },
        { "weights", "max_median" },
        { "gradient", "jacobian_fro_median" },
        { "gradient", "d_scores_rms_median" },
        { "gradient", "dq_rms_median" },
        { "logits", "mean" },
        { "logits", "std" },
    };
    struct sines sines;
    make_sines(&sines);
    struct av_model *m = fresh();
    av_model_use_source(m, &sines.pair.source);
    for (size_t c = 0; c < sizeof references / sizeof *references; c++) {
        struct av_params p = PARAMS("mask=causal", "temperature=0.8", "offset=0.3");
        set(&p, references[c].settings);
        const struct av_snapshot *s = update(m, &p, AV_REPORT_NEEDS);
        assert_int_equal(s->now.rows, N_Q);
        for (size_t f = 0; f < 9; f++) {
            double value = av_report_field(fields[f][0], fields[f][1])->get(s);
            if (!(fabs(value - references[c].values[f]) <= 1e-11)) {
                fail_msg("%s: %s is %.17g, not %.17g", references[c].settings[0], fields[f][1], value,
                         references[c].values[f]);
            }
        }
        assert_int_equal(isnan(s->now.row_sum_error_max), !s->simplex);
        assert_int_equal(has_verdict(s, "not_simplex"), !s->simplex);
        assert_false(s->has_theory);
    }
    av_model_free(m);
}

/* The two halves cancel in part: some weights are negative, sums are 1 - lambda. */
static void differential_attention_has_negative_weights(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("variant=differential", "differential.lambda=0.75");
    const struct av_snapshot *s = update(m, &p, 0);
    size_t negative = 0;
    for (size_t i = 0; i < s->n_q * s->n_k; i++) {
        negative += s->weights[i] < 0;
    }
    assert_true(negative > 50);
    assert_near(s->now.row_sum_mean, 0.25, 1e-14);
    assert_true(isnan(s->theory_freezing));
    av_model_free(m);
}

/* Weights that underflow are 0 as they are stored. */
static void weights_of_the_softmax_that_are_0_are_counted(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("scale=off", "d_k=1024", "q_std=20", "mask=causal");
    const struct av_snapshot *s = update(m, &p, AV_NEED_NONZERO);
    double sum = 0;
    for (size_t i = 1; i < 32; i++) {
        double n = 0;
        for (size_t j = 0; j <= i; j++) {
            n += s->weights[i * 32 + j] > 0;
        }
        sum += n / (double)(i + 1);
    }
    assert_true(sum / 31 > 0.1 && sum / 31 < 0.9);
    assert_near(s->now.nonzero_share_mean, sum / 31, 1e-14);
    p.scale = 1;
    assert_true(isnan(update(m, &p, 0)->now.nonzero_share_mean)); /* not asked for */
    assert_true(update(m, &p, AV_NEED_NONZERO)->now.nonzero_share_mean == 1);
    av_model_free(m);
}

/* What is not seen is -infinity among the logits; scores stay as they are. */
static void patterns_hide_logits_and_leave_scores(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("d_k=16");
    struct av_moments scores = update(m, &p, 0)->score_moments;
    set(&p, (const char *const[]){ "variant=window", "window.size=2", NULL });
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    assert_memory_equal(&scores, &s->score_moments, sizeof scores);
    for (size_t i = 0; i < 32; i++) {
        assert_int_equal(s->rows[i].keys, i == 0 || i == 31 ? 2 : 3);
        for (size_t j = 0; j < 32; j++) {
            bool seen = (i > j ? i - j : j - i) < 2;
            assert_int_equal(s->logits[i * 32 + j] > -(double)INFINITY, seen);
            assert_int_equal(s->weights[i * 32 + j] > 0, seen);
        }
    }
    assert_int_equal(s->now.logits.count, 30 * 3 + 2 * 2);
    assert_near(s->theory_freezing, (30 * sqrt(2 * log(3)) + 2 * sqrt(2 * log(2))) / 32, 1e-14);
    set(&p, (const char *const[]){ "window.size=1", NULL });
    assert_int_equal(update(m, &p, ALL_NEEDS)->now.rows, 0); /* one key is no choice */
    av_model_free(m);
}

/* ---- Validity -------------------------------------------------------------------- */

/* Of scores in f16 those beyond 65504 are infinite before they are scaled, and
 * one of +infinity leaves a row no weights; those of a scaled query are not. */
static void rows_that_overflow_in_f16_leave_the_scores_valid(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("q_std=900", "d_k=1024", "scale=off");
    struct av_moments scores = update(m, &p, 0)->score_moments;
    p.dtype = AV_DTYPE_F16;
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    size_t lost = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        double most = 0;
        for (size_t j = 0; j < s->n_k; j++) {
            most = fmax(most, s->scores[i * s->n_k + j]);
            assert_true(fabs(fabs(s->scores[i * s->n_k + j]) - 65520) > 50); /* or rounded entries decide */
        }
        assert_false(s->invalid_scores[i]);
        assert_int_equal(s->invalid[i], most > 65520);
        assert_int_equal(s->other_invalid[i], s->invalid[i]);
        assert_int_equal(isnan(s->weights[i * s->n_k]), s->invalid[i]);
        assert_int_equal(av_row_counts(s, s->rows, i), !s->invalid[i]);
        lost += s->invalid[i];
    }
    assert_in_range(lost, 1, 31);
    assert_int_equal(s->now.rows, 32 - lost);
    assert_memory_equal(&scores, &s->score_moments, sizeof scores);
    assert_true(has_verdict(s, "dtype_nan"));
    assert_false(has_verdict(s, "score_overflow"));
    p.scale_order = AV_SCALE_QUERY;
    s = update(m, &p, ALL_NEEDS);
    assert_int_equal(s->now.rows, 32 - lost);
    assert_int_equal(s->other.rows, 32);
    assert_true(av_row_counts(s, s->other_rows, 0) && av_row_counts(s, s->other_rows, 31));
    av_model_free(m);
}

/* What report and header show: with the factor that all rows share. */
static void alpha_has_what_all_rows_share(void **state)
{
    (void)state;
    static const struct {
        const char *variant, *mask;
        double alpha;
        bool by_row;
    } cases[] = {
        { "variant=softmax", "mask=causal", 0.125, false },
        { "variant=ssmax", "mask=none", 0.18628330477548532, false }, /* 0.43 ln 32 / 8 */
        { "variant=ssmax", "mask=causal", 0.125, true },
        { "variant=yarn", "mask=causal", 0.16205962409758829, false }, /* (0.1 ln 4 + 1)^2 / 8 */
        { "variant=cosine", "mask=none", 10, false },
    };
    struct av_model *m = fresh();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct av_params p = PARAMS(cases[c].variant, cases[c].mask);
        const struct av_snapshot *s = update(m, &p, 0);
        assert_near(s->alpha, cases[c].alpha, 1e-15);
        assert_int_equal(s->by_row, cases[c].by_row);
    }
    av_model_free(m);
}

/* What has no effect here is told. */
static void notes_tell_what_has_no_effect(void **state)
{
    (void)state;
    static const struct {
        const char *variant;
        bool training, cancelled;
    } cases[] = {
        { "variant=softmax", false, false },
        { "variant=sigma_reparam", true, false },
        { "variant=softcap+qk_clip", true, false },
        { "variant=score_layernorm", false, true },
        { "variant=score_batchnorm", false, true },
        { "variant=mup+score_layernorm", false, false },
        { "variant=logn+score_layernorm", false, true },
    };
    struct av_model *m = fresh();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct av_params p = PARAMS(cases[c].variant, "seed=3");
        const struct av_snapshot *s = update(m, &p, AV_NEED_OTHER);
        assert_int_equal(has_verdict(s, "training_only"), cases[c].training);
        assert_int_equal(has_verdict(s, "scale_cancelled"), cases[c].cancelled);
        bool same = !(s->now.entropy_mean < s->other.entropy_mean || s->now.entropy_mean > s->other.entropy_mean);
        assert_int_equal(same, cases[c].cancelled);
    }
    av_model_free(m);
}

/* ---- Logits by hand -------------------------------------------------------------- */

static void bends_weigh_logits_that_are_given(void **state)
{
    (void)state;
    static const struct {
        const char *variant;
        double weights[3];
        double tolerance;
    } cases[] = {
        { "variant=sparsemax", { 0, 0.25, 0.75 }, 1e-15 },
        { "variant=entmax15", { 0, 0.326, 0.674 }, 1e-3 },
        { "variant=qk_rms+sparsemax+window", { 0, 0.25, 0.75 }, 1e-15 }, /* what does not act is left out */
        { "variant=mup+qk_l2", { 0.0486, 0.3592, 0.5922 }, 1e-3 },
    };
    struct av_model *m = fresh();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct av_params p = PARAMS("logits=-2,0,0.5", cases[c].variant);
        const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
        assert_int_equal(s->n_k, 3);
        for (size_t j = 0; j < 3; j++) {
            assert_true(fabs(s->weights[j] - cases[c].weights[j]) <= cases[c].tolerance);
        }
        bool bent = av_variant_of(s->params.variant, AV_GROUP_BEND) != NULL;
        assert_int_equal(s->form != NULL, bent);
        const struct av_form *form = s->form;
        assert_ptr_equal(update(m, &p, 0)->form, form); /* nothing has changed */
        assert_true(s->varied == bent && s->dq_rms == NULL && s->other_rows == NULL);
    }
    /* The form is that of the row: on the support of two, 1/2 on the diagonal. */
    struct av_params p = PARAMS("logits=-2,0,0.5", "variant=sparsemax");
    const struct av_form *f = update(m, &p, 0)->form;
    assert_near(f->diag[1], 0.5, 1e-15);
    assert_near(-f->u[1] * f->v[2], -0.5, 1e-15);
    assert_true(f->diag[0] == 0);
    av_model_free(m);
}

/* ---- Files ----------------------------------------------------------------------- */

#define Q_FILE "../shared/data/stories260k-l2-q.npy"
#define K_FILE "../shared/data/stories260k-l2-k.npy"

/* A window of all keys changes nothing; RMS norms do, and are the same for
 * every multiple of the entries. */
static void queries_and_keys_of_files_take_variants(void **state)
{
    (void)state;
    struct av_error e = { "" };
    struct av_files *files;
    if (access(Q_FILE, R_OK) != 0 || access(K_FILE, R_OK) != 0) {
        print_message("no " Q_FILE " and " K_FILE "\n");
        skip();
    }
    const struct av_files_options options = { .batch = 0 };
    assert_int_equal(av_files_open(&files, (const char *const[]){ Q_FILE, K_FILE }, 2, &options, &e), AV_OK);
    struct av_model *m = fresh();
    av_model_use_source(m, av_files_source(files));
    struct av_params p = PARAMS("mask=causal");
    av_params_from_source(&p, av_files_source(files));
    struct av_summary plain = update(m, &p, ALL_NEEDS)->now;
    set(&p, (const char *const[]){ "variant=window", "window.size=128", NULL });
    struct av_summary wide = update(m, &p, ALL_NEEDS)->now;
    assert_int_equal(wide.rows, plain.rows);
    assert_near(wide.entropy_mean, plain.entropy_mean, 1e-13);
    assert_near(wide.dq_rms_median, plain.dq_rms_median, 1e-12);
    set(&p, (const char *const[]){ "variant=qk_rms", "qk_rms.eps=0", NULL });
    struct av_summary rms = update(m, &p, ALL_NEEDS)->now;
    assert_true(rms.entropy_mean > 1.05 * plain.entropy_mean || rms.entropy_mean < 0.95 * plain.entropy_mean);
    struct av_loaded_head head;
    struct pair_source large;
    assert_int_equal(av_source_load(&head, av_files_source(files), 0, 0, &e), AV_OK);
    float *entries = calloc(head.n_q * head.d, sizeof *entries);
    for (size_t i = 0; i < head.n_q * head.d; i++) {
        entries[i] = 4 * head.q.f32[i];
    }
    const struct matrix q = { .name = "q", .heads = 1, .n = head.n_q, .d = head.d, .f32 = entries };
    const struct matrix k = { .name = "k", .heads = 1, .n = head.n_k, .d = head.d, .f32 = head.k.f32 };
    av_model_use_source(m, pair_source(&large, &q, &k));
    assert_near(update(m, &p, ALL_NEEDS)->now.entropy_mean, rms.entropy_mean, 1e-13);
    set(&p, (const char *const[]){ "variant=lsh", NULL });
    assert_int_equal(update(m, &p, ALL_NEEDS)->now.rows_without_keys, 0); /* each sees itself at least */
    av_model_free(m);
    free(entries);
    av_loaded_head_free(&head);
    av_files_close(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_those_of_the_formulas),
        cmocka_unit_test(differential_attention_has_negative_weights),
        cmocka_unit_test(weights_of_the_softmax_that_are_0_are_counted),
        cmocka_unit_test(patterns_hide_logits_and_leave_scores),
        cmocka_unit_test(rows_that_overflow_in_f16_leave_the_scores_valid),
        cmocka_unit_test(bends_weigh_logits_that_are_given),
        cmocka_unit_test(notes_tell_what_has_no_effect),
        cmocka_unit_test(alpha_has_what_all_rows_share),
        cmocka_unit_test(queries_and_keys_of_files_take_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
