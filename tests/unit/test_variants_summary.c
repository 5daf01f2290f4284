/* test_variants_summary.c - rows without weight, a logit that is a constant, and
 * variants that change nothing. */
#include "attnviz/model.h"
#include "variants_driver.h"

#include <math.h>

/* ---- rows without weight ---------------------------------------------------------- */

/* With 32 keys gamma is -12/32: only a weight above 0.27 is left. */
static void rows_without_weight_have_no_entropy(void **unused)
{
    (void)unused;
    struct av_model *m = NULL;
    struct av_params p = WITH("variant=clipped", "seed=42");
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    assert_int_equal(av_model_update(m, &p, AV_NEED_OTHER, NULL), AV_OK);
    const struct av_snapshot *s = av_model_snapshot(m);
    double entropy = 0, norm = 0, keys = 0;
    size_t with_weight = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        double sum = 0, h = 0;
        for (size_t j = 0; j < s->n_k; j++) {
            sum += fabs(s->weights[i * s->n_k + j]);
        }
        for (size_t j = 0; j < s->n_k && sum > 0; j++) {
            double w = fabs(s->weights[i * s->n_k + j]) / sum;
            h -= w > 0 ? w * log(w) : 0;
        }
        with_weight += sum > 0;
        entropy += h;
        norm += h / log((double)s->n_k);
        keys += sum > 0 ? exp(h) : 0;
    }
    assert_true(with_weight >= 1 && with_weight < s->n_q / 2);
    assert_int_equal(s->now.rows, s->n_q);
    assert_int_equal(s->now.rows_without_weight, s->n_q - with_weight);
    assert_true(fabs(s->now.entropy_mean - entropy / (double)with_weight) < 1e-12);
    assert_true(fabs(s->now.entropy_norm_mean - norm / (double)with_weight) < 1e-12);
    assert_true(fabs(s->now.effective_keys_mean - keys / (double)with_weight) < 1e-12);
    assert_true(s->other.rows_without_weight < s->now.rows_without_weight); /* unscaled rows are frozen */
    assert_int_equal(av_params_set_text(&p, "clipped.gamma=-2", NULL), AV_OK);
    assert_int_equal(av_params_set_text(&p, "q_std=0.1", NULL), AV_OK);
    assert_int_equal(av_model_update(m, &p, 0, NULL), AV_OK);
    assert_int_equal(s->now.rows_without_weight, s->n_q);
    assert_true(isnan(s->now.entropy_mean) && isnan(s->now.entropy_norm_mean) && isnan(s->now.effective_keys_mean));
    assert_true(s->now.max_mean == 0 && s->now.row_sum_mean == 0);
    av_model_free(m);
}

/* Entropies in bins are shares of the rows that have one. */
static void bins_leave_rows_without_weight_out(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = measured(state, WITH("seed=42", "variants=clipped,softmax"));
    const struct av_variant_measure *m = &row_named(v, "clipped")->measure;
    double entropies = 0, largest = 0;
    for (int b = 0; b < AV_VARIANT_BINS; b++) {
        entropies += m->shares[AV_VARIANT_OF_ENTROPY][b];
        largest += m->shares[AV_VARIANT_OF_MAX][b];
    }
    assert_true(m->without_weight > m->rows / 2 && m->without_weight < m->rows);
    assert_true(fabs(entropies - 1) < 1e-12 && fabs(largest - 1) < 1e-12);
    assert_int_equal(row_named(v, "softmax")->measure.without_weight, 0);
    variants()->close(state);
}

/* ---- a logit that is a constant ------------------------------------------------------ */

/* The own key of lsh at -5e4 is in the logits, and in no figure of them. */
static void the_own_key_of_lsh_is_left_out(void **unused)
{
    (void)unused;
    struct av_model *m = NULL;
    struct av_params p = WITH("variant=lsh", "n_q=64", "n_k=64", "seed=3");
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    assert_int_equal(av_model_update(m, &p, AV_NEED_OTHER, NULL), AV_OK);
    const struct av_snapshot *s = av_model_snapshot(m);
    double least = (double)INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < s->n_q; i++) {
        assert_true(s->logits[i * s->n_k + i] == -5e4);
        for (size_t j = 0; j < s->n_k; j++) {
            double z = s->logits[i * s->n_k + j];
            bool counts = i != j && isfinite(z);
            count += counts;
            least = counts ? fmin(least, z) : least;
        }
    }
    assert_int_equal(s->now.logits.count, count);
    assert_true(s->now.logits.min == least && least > -50);
    assert_true(s->now.row_std < 5 && s->other.row_std < 50 && s->other.logits.min > -500);
    void *state = opened();
    const struct av_variants *v = measured(state, p);
    const struct av_variant_measure *row = &row_named(v, "lsh")->measure;
    assert_true(row->at[AV_VARIANT_LOGIT_MIN] == least);
    assert_true(fabs(row->at[AV_VARIANT_ROW_STD] - s->now.row_std) < 1e-9);
    variants()->close(state);
    av_model_free(m);
}

/* ---- variants that change nothing ------------------------------------------------------ */

static bool as_softmax(const struct av_variants *v, const char *name)
{
    return av_variant_same_weights(&row_named(v, name)->measure, &row_named(v, "softmax")->measure);
}

static void equal_weights_are_found(void **unused)
{
    (void)unused;
    static const char *const same[] = {
        "softmax", "sqrt", "mup", "inverse_layer", "learned", "mixed", "logn", "llama-4"
    };
    static const char *const other[] = { "none", "fixed", "yarn", "alibi", "softcap", "qk_rms", "window", "sink" };
    void *state = opened();
    const struct av_variants *v = measured(state, WITH("seed=42"));
    for (size_t i = 0; i < 8; i++) {
        if (!as_softmax(v, same[i]) || as_softmax(v, other[i])) {
            fail_msg("%s, %s", same[i], other[i]);
        }
    }
    v = measured(state, WITH("seed=42", "yarn.S=1", "window.size=40", "d_k=60", "softcap.c=1e9"));
    assert_true(as_softmax(v, "yarn") && as_softmax(v, "window") && as_softmax(v, "softcap"));
    assert_false(as_softmax(v, "mup"));
    variants()->close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_without_weight_have_no_entropy),
        cmocka_unit_test(bins_leave_rows_without_weight_out),
        cmocka_unit_test(the_own_key_of_lsh_is_left_out),
        cmocka_unit_test(equal_weights_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
