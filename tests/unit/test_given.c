/* test_given.c - heads whose scores or weights are given in the place of queries and keys. */
#include "attnviz/heads_study.h"
#include "attnviz/mem.h"
#include "attnviz/report.h"
#include "attnviz/study.h"
#include "attnviz/variant.h"
#include "given_reference.h"
#include "given_source.h"
#include "model_driver.h"

/* ---- Against NumPy ------------------------------------------------------------------ */

static const struct given_reference *reference(const char *name)
{
    const struct given_reference *at = given_reference;
    while (strcmp(at->name, name) != 0) {
        at++; /* every test's is there */
    }
    return at;
}

/* tolerance: 1e-12, or what single precision leaves. */
static void assert_numbers(const struct av_snapshot *s, const char *name, double tolerance)
{
    const struct av_summary *now = &s->now;
    const double got[] = { (double)now->rows, now->row_sum_mean, now->row_sum_error_max,  now->entropy_mean,
                           now->max_mean,     now->trace_mean,   now->jacobian_fro_median };
    const struct given_reference *want = reference(name);
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++) {
        if (!(fabs(got[i] - want->at[i]) <= tolerance)) {
            fail_msg("%s: number %zu is %.17g, not %.17g", name, i, got[i], want->at[i]);
        }
    }
}

/* The state of that layer with these settings. */
static const struct av_snapshot *at_layer(struct av_model *m, struct given_source *g, enum given_layer layer,
                                          const char *const *settings)
{
    struct av_params p = params(settings);
    p.layer = layer;
    p.layer_count = GIVEN_LAYERS;
    av_model_use_source(m, &g->source);
    return update(m, &p, ALL_NEEDS | AV_NEED_NONZERO);
}

#define AT(m, g, layer, ...) at_layer(m, g, layer, (const char *const[]){ __VA_ARGS__, NULL })
#define PLAIN "seed=1"

static void weights_are_taken_as_they_are(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    const struct av_snapshot *s = AT(m, &g, GIVEN_WEIGHTS, PLAIN);
    assert_numbers(s, "softmax", 1e-7);
    assert_true(s->simplex && !s->varied && !s->patterned);
    for (size_t at = 0; at < GIVEN_N * GIVEN_N; at++) {
        assert_true(s->weights[at] == (double)(float)g.weights[at]);
    }
    const double entropy = s->now.entropy_mean;
    /* No knob acts. */
    static const char *const knobs[][2] = {
        { "scale=off", NULL },  { "temperature=3", NULL },     { "offset=7", NULL },
        { "exponent=1", NULL }, { "variant=sparsemax", NULL }, { "dtype=f16", NULL }
    };
    for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++) {
        s = at_layer(m, &g, GIVEN_WEIGHTS, knobs[i]);
        assert_true(s->now.entropy_mean == entropy);
        assert_true(s->params.variant == 0 && s->params.dtype == AV_DTYPE_F64);
    }
    av_model_free(m);
}

static void what_weights_do_not_tell_is_not_there(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    const struct av_snapshot *s = AT(m, &g, GIVEN_WEIGHTS, PLAIN);
    assert_int_equal(s->from, AV_PART_WEIGHTS);
    assert_true(s->scores == NULL && s->logits == NULL && s->dq_rms == NULL && s->form == NULL);
    assert_true(s->other_rows == NULL && s->other.rows == 0 && s->histogram.bins == 0);
    assert_true(isnan(s->alpha) && isnan(s->now.row_std) && isnan(s->now.d_scores_rms_median) &&
                isnan(s->now.dq_rms_median) && isnan(s->score_row_std) && isnan(s->theory_freezing));
    assert_true(s->d_k == 0 && s->score_moments.count == 0 && s->now.logits.count == 0 && !s->has_theory);
    static const char *const blocks[] = { "scores", "logits", "theory" };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        assert_false(av_report_has_block(s, blocks[i]));
    }
    assert_true(av_report_has_block(s, "weights") && av_report_has_block(s, "gradient"));
    s = AT(m, &g, GIVEN_SCORES, PLAIN);
    assert_int_equal(s->from, AV_PART_SCORES);
    assert_true(s->dq_rms == NULL && s->other_rows == NULL && s->d_k == 0 && s->histogram.bins > 0);
    assert_true(av_report_has_block(s, "scores") && av_report_has_block(s, "logits"));
    av_model_free(m);
}

static void weights_that_no_softmax_left(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    for (size_t at = 0; at < GIVEN_N * GIVEN_N; at++) {
        g.weights[at] = av_dtype_round(AV_DTYPE_BF16, (double)(float)g.weights[at]);
    }
    const struct av_snapshot *s = AT(m, &g, GIVEN_WEIGHTS, PLAIN);
    assert_numbers(s, "bfloat16", 1e-12);
    assert_true(s->simplex);

    given_source(&g);
    for (size_t at = 0; at < GIVEN_N * GIVEN_N; at++) {
        g.weights[at] = (at / GIVEN_N + 2 * (at % GIVEN_N)) % 7 == 0 ? 0 : g.weights[at] / 0.9;
    }
    s = AT(m, &g, GIVEN_WEIGHTS, PLAIN);
    assert_numbers(s, "dropout", 1e-7);
    assert_false(s->simplex);
    assert_string_equal(s->verdicts[s->verdict_count - 1].code, "not_simplex");

    given_source(&g);
    memset(g.weights + 3 * GIVEN_N, 0, GIVEN_N * sizeof(double));
    memset(g.weights + 8 * GIVEN_N, 0, GIVEN_N * sizeof(double));
    s = AT(m, &g, GIVEN_WEIGHTS, PLAIN);
    assert_numbers(s, "zeros", 1e-7);
    assert_int_equal(s->now.rows_without_weight, 2);

    given_source(&g);
    s = AT(m, &g, GIVEN_WEIGHTS, "mask=causal");
    assert_numbers(s, "masked", 1e-7);
    assert_true(s->weights[1] == 0 && s->weights[GIVEN_N] > 0);

    g.weights[5 * GIVEN_N + 2] = (double)NAN;
    s = AT(m, &g, GIVEN_WEIGHTS, PLAIN);
    assert_true(s->invalid[5] && isnan(s->weights[5 * GIVEN_N]) && !s->invalid[4]);
    assert_int_equal(s->now.rows, GIVEN_N - 1);
    assert_int_equal(s->verdict_count, 1);
    assert_string_equal(s->verdicts[0].text, "w holds 1 NaN in layer 1, head 0, the first at row 5, column 2");
    av_model_free(m);
}

static void scores_are_logits(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    const struct av_snapshot *s = AT(m, &g, GIVEN_SCORES, PLAIN);
    assert_numbers(s, "scores", 1e-12);
    assert_true(s->alpha == 1 && s->now.d_scores_rms_median == s->now.jacobian_fro_median);
    assert_true(s->score_moments.count == GIVEN_N * GIVEN_N && s->score_moments.min == -2.5);
    assert_numbers(AT(m, &g, GIVEN_SCORES, "scale=off", "exponent=1", "offset=9"), "scores", 1e-12);
    s = AT(m, &g, GIVEN_SCORES, "temperature=0.5");
    assert_numbers(s, "colder", 1e-12);
    assert_true(s->now.logits.min == -5 && s->score_moments.min == -2.5);
    assert_numbers(AT(m, &g, GIVEN_SCORES, "key=3", "key_offset=2"), "probed", 1e-12);
    s = AT(m, &g, GIVEN_SCORES, "mask=causal");
    assert_numbers(s, "cut", 1e-12);
    assert_true(s->simplex && !s->patterned);
    /* A variant as far as it acts on logits: not the normalised queries. */
    s = AT(m, &g, GIVEN_SCORES, "variant=qk_rms+sparsemax");
    assert_true(s->params.variant == av_variant_with(0, av_variant_find("sparsemax")) && s->varied);
    assert_true(s->now.nonzero_share_mean < 1);
    av_model_free(m);
}

/* Masks that the file itself writes, and what no softmax can be made of. */
static void scores_of_minus_infinity_are_masked(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    double kept = g.scores[1];
    for (size_t at = 0; at < GIVEN_N * GIVEN_N; at++) {
        g.scores[at] = at % GIVEN_N > at / GIVEN_N ? -(double)INFINITY : g.scores[at];
    }
    const struct av_snapshot *s = AT(m, &g, GIVEN_SCORES, PLAIN);
    assert_numbers(s, "cut", 1e-12);
    assert_true(s->patterned && s->rows[2].keys == 3 && s->weights[1] == 0 && isinf(s->logits[1]));
    assert_true(s->score_moments.count == GIVEN_N * (GIVEN_N + 1) / 2 && isfinite(s->score_moments.mean));
    assert_int_equal(s->verdict_count, 0);
    g.scores[0] = -(double)INFINITY; /* all of row 0 */
    s = AT(m, &g, GIVEN_SCORES, PLAIN);
    assert_true(s->now.rows_without_keys == 1 && !s->invalid[0]);

    given_source(&g);
    g.scores[4 * GIVEN_N + 6] = (double)NAN;
    s = AT(m, &g, GIVEN_SCORES, PLAIN);
    assert_numbers(s, "holed", 1e-12);
    assert_true(s->invalid[4] && !s->patterned && s->verdict_count == 1);
    g.scores[4 * GIVEN_N + 6] = (double)INFINITY;
    s = AT(m, &g, GIVEN_SCORES, PLAIN);
    assert_true(s->invalid[4] && s->verdict_count == 1);
    assert_string_equal(s->verdicts[0].code, "inf_input");
    assert_true(s->weights[1] > 0 && kept == g.scores[1]);
    av_model_free(m);
}

/* ---- The study beside the pipeline ----------------------------------------------------- */

static void assert_same(double a, double b)
{
    if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b))) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

static void assert_study_agrees(struct given_source *g, const char *const *settings)
{
    const struct av_study *study = av_study_find("heads");
    struct av_model *m = fresh();
    struct av_params p = params(settings);
    void *heads;
    assert_int_equal(study->open(&heads, av_kernels_best(), NULL), AV_OK);
    study->use_source(heads, &g->source);
    assert_int_equal(study->begin(heads, &p, NULL), AV_OK);
    while (study->step(heads)) {
    }
    const struct av_heads *found = study->result(heads);
    for (size_t layer = GIVEN_WEIGHTS; layer < GIVEN_LAYERS; layer++) {
        const struct av_head *h = av_heads_find(found, layer, 1);
        const struct av_summary *now = &at_layer(m, g, (enum given_layer)layer, settings)->now;
        assert_int_equal(h->state, AV_HEAD_MEASURED);
        assert_int_equal(h->from, av_model_snapshot(m)->from);
        assert_int_equal(h->rows, now->rows);
        assert_same(h->at[AV_HEAD_ENTROPY], now->entropy_norm_mean);
        assert_same(h->at[AV_HEAD_MAX_MEDIAN], now->max_median);
        assert_same(h->at[AV_HEAD_MAX_MEAN], now->max_mean);
        assert_same(h->at[AV_HEAD_FRO], now->jacobian_fro_median);
        assert_same(h->at[AV_HEAD_DEAD_ROWS], now->share_fro_lt_1e_3);
        assert_same(h->at[AV_HEAD_LOGIT_STD], now->row_std);
        assert_same(h->at[AV_HEAD_ROW_SUM], now->row_sum_mean);
    }
    study->close(heads);
    av_model_free(m);
}

static void the_study_says_the_same(void **state)
{
    (void)state;
    struct given_source g;
    static const char *const settings[][3] = { { NULL },
                                               { "temperature=0.7", "mask=causal" },
                                               { "variant=entmax15", "key_offset=1" },
                                               { "variant=ssmax", "mask=causal" },
                                               { "variant=softcap+logn", "offset=3" },
                                               { "dtype=bf16" } };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        given_source(&g);
        assert_study_agrees(&g, settings[i]);
        g.scores[7] = -(double)INFINITY;
        g.scores[GIVEN_N + 3] = (double)NAN;
        g.weights[2 * GIVEN_N + 5] = (double)NAN;
        assert_study_agrees(&g, settings[i]);
    }
}

/* ---- From layer to layer ---------------------------------------------------------------- */

static void go(struct av_model *m, struct av_params *p, size_t layer, size_t head)
{
    p->layer = (int64_t)layer;
    p->head = (int64_t)head;
    update(m, p, ALL_NEEDS);
}

/* What a model that was never anywhere else says of it. */
static void assert_as_fresh(const struct av_snapshot *s, const struct given_source *g, const struct av_params *p)
{
    struct av_model *other = fresh();
    av_model_use_source(other, &g->source);
    const struct av_snapshot *want = update(other, p, ALL_NEEDS);
    assert_true(s->from == want->from && s->n_q == want->n_q && s->n_k == want->n_k && s->d_k == want->d_k);
    assert_memory_equal(s->weights, want->weights, s->n_q * s->n_k * sizeof *s->weights);
    assert_memory_equal(s->rows, want->rows, s->n_q * sizeof *s->rows);
    assert_true((s->scores == NULL) == (want->scores == NULL) && (s->dq_rms == NULL) == (want->dq_rms == NULL) &&
                (s->other_rows == NULL) == (want->other_rows == NULL) && s->simplex == want->simplex);
    assert_same(s->alpha, want->alpha);
    assert_same(s->now.dq_rms_median, want->now.dq_rms_median);
    assert_same(s->other.entropy_mean, want->other.rows > 0 ? want->other.entropy_mean : s->other.entropy_mean);
    assert_same(s->score_row_std, want->score_row_std);
    assert_int_equal(s->histogram.bins, want->histogram.bins);
    av_model_free(other);
}

static void layers_of_all_kinds_in_one_file(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    struct av_params p = PARAMS("mask=causal");
    av_model_use_source(m, &g.source);
    for (size_t from = 0; from < GIVEN_LAYERS; from++) {
        for (size_t to = 0; to < GIVEN_LAYERS; to++) {
            go(m, &p, from, 0);
            go(m, &p, to, 1);
            assert_as_fresh(av_model_snapshot(m), &g, &p);
        }
    }
    av_model_free(m);
}

/* Every row, number and pointer is as it was before a head that cannot be read. */
static void a_failing_head_between(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    struct av_error e;
    given_source(&g);
    struct av_params p = PARAMS("mask=causal");
    av_model_use_source(m, &g.source);
    for (size_t from = 0; from < GIVEN_LAYERS; from++) {
        for (g.broken_layer = 0; g.broken_layer < GIVEN_LAYERS; g.broken_layer++) {
            g.broken_head = 1;
            go(m, &p, from, 0);
            struct av_params next = p;
            next.layer = (int64_t)g.broken_layer;
            next.head = 1;
            assert_int_equal(av_model_update(m, &next, ALL_NEEDS, &e), AV_FAILED);
            assert_as_fresh(av_model_snapshot(m), &g, &p);
            go(m, &p, from, 0);
            assert_as_fresh(av_model_snapshot(m), &g, &p);
        }
    }
    av_model_free(m);
}

static void logits_by_hand_in_between(void **state)
{
    (void)state;
    struct given_source g;
    struct av_model *m = fresh();
    given_source(&g);
    av_model_use_source(m, &g.source);
    for (size_t layer = 0; layer < GIVEN_LAYERS; layer++) {
        struct av_params p = PARAMS("logits=1,2,3"), q = PARAMS("mask=causal");
        p.layer = q.layer = (int64_t)layer;
        const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
        assert_true(s->from_logits && s->from == AV_PART_Q && s->n_k == 3);
        assert_near(s->weights[2], 1 / (1 + exp(-1) + exp(-2)), 1e-14);
        assert_as_fresh(update(m, &q, ALL_NEEDS), &g, &q);
    }
    av_model_free(m);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    struct given_source g;
    struct av_loaded_head h;
    given_source(&g);
    struct av_error e;
    assert_int_equal(av_source_load(&h, &g.source, GIVEN_WEIGHTS, 0, &e), AV_FAILED);
    assert_non_null(strstr(e.text, "no queries and keys"));
    g.layers[GIVEN_WEIGHTS].n_q = g.layers[GIVEN_WEIGHTS].n_k = (size_t)1 << 24;
    assert_int_equal(av_source_load_from(&h, &g.source, GIVEN_WEIGHTS, 0, AV_PART_WEIGHTS, &e), AV_NOMEM);
    assert_non_null(strstr(e.text, "more than this machine's memory"));
    av_loaded_head_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_taken_as_they_are),       cmocka_unit_test(what_weights_do_not_tell_is_not_there),
        cmocka_unit_test(weights_that_no_softmax_left),        cmocka_unit_test(scores_are_logits),
        cmocka_unit_test(scores_of_minus_infinity_are_masked), cmocka_unit_test(the_study_says_the_same),
        cmocka_unit_test(layers_of_all_kinds_in_one_file),     cmocka_unit_test(a_failing_head_between),
        cmocka_unit_test(logits_by_hand_in_between),           cmocka_unit_test(memory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
