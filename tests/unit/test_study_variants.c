/* test_study_variants.c - the table against the pipeline, what is kept, two
 * variants entry by entry, curves. */
#include "attnviz/model.h"
#include "pair_source.h"
#include "variants_driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double NEAR = 1e-9;

static void assert_close(double a, double b, const char *what)
{
    bool same = (isnan(a) && isnan(b)) || fabs(a - b) <= NEAR * fmax(fabs(a), fabs(b)) + 1e-300;
    if (!same) {
        fail_msg("%s: %.17g, not %.17g", what, a, b);
    }
}

/* ---- the table ------------------------------------------------------------------ */

/* What the pipeline reports of a subject. */
static struct av_params params_of(const struct av_variants *v, const struct av_variant_subject *of)
{
    struct av_params p = v->params;
    if (of->preset != NULL) {
        av_preset_apply(of->preset, &p);
    } else {
        p.variant = of->value;
    }
    return p;
}

static void assert_as_pipeline(struct av_model *m, const struct av_variants *v, const struct av_variant_row *row)
{
    struct av_params p = params_of(v, &row->of);
    assert_int_equal(av_model_update(m, &p, AV_NEED_DQ | AV_NEED_NONZERO, NULL), AV_OK);
    const struct av_summary *s = &av_model_snapshot(m)->now;
    const double expected[AV_VARIANT_QUANTITIES] = {
        [AV_VARIANT_LOGIT_STD] = av_moments_std(&s->logits),
        [AV_VARIANT_ROW_STD] = s->row_std,
        [AV_VARIANT_ENTROPY] = s->entropy_mean,
        [AV_VARIANT_ENTROPY_NORM] = s->entropy_norm_mean,
        [AV_VARIANT_KEYS] = s->effective_keys_mean,
        [AV_VARIANT_MAX_MEAN] = s->max_mean,
        [AV_VARIANT_MAX_MEDIAN] = s->max_median,
        [AV_VARIANT_FRO] = s->jacobian_fro_median,
        [AV_VARIANT_DEAD] = s->share_fro_lt_1e_3,
        [AV_VARIANT_DQ] = s->dq_rms_median,
        [AV_VARIANT_ROW_SUM] = s->row_sum_mean,
        [AV_VARIANT_NONZERO] = s->nonzero_share_mean,
        [AV_VARIANT_LOGIT_MIN] = s->logits.min,
        [AV_VARIANT_LOGIT_MAX] = s->logits.max,
    };
    assert_int_equal(row->measure.rows, s->rows);
    for (int q = 0; q < AV_VARIANT_QUANTITIES; q++) {
        char what[160];
        snprintf(what, sizeof what, "%s, quantity %d", row->of.name, q);
        assert_close(row->measure.at[q], expected[q], what);
    }
}

static void assert_table_as_pipeline(struct av_params p, const struct av_source *source)
{
    struct av_model *m = NULL;
    void *state = opened();
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    if (source != NULL) {
        variants()->use_source(state, source);
        av_model_use_source(m, source);
    }
    const struct av_variants *v = measured(state, p);
    size_t rows = 0;
    for (size_t i = 0; i < v->table.count; i++) {
        if (v->table.rows[i].state == AV_VARIANT_MEASURED) {
            assert_as_pipeline(m, v, &v->table.rows[i]);
            rows++;
        }
    }
    assert_true(rows > 30);
    variants()->close(state);
    av_model_free(m);
}

static void the_table_is_what_the_pipeline_reports(void **unused)
{
    (void)unused;
    assert_table_as_pipeline(WITH("seed=7"), NULL);
    assert_table_as_pipeline(WITH("n_q=24", "n_k=40", "d_k=20", "mask=causal", "temperature=0.7", "key=3",
                                  "key_offset=1.5", "offset=2", "variant=qk_rms+alibi+sink", "softcap.c=3"),
                             NULL);
    assert_table_as_pipeline(WITH("scale=off", "k_mean=0.3", "n_head=4", "head=2", "n_q=50"), NULL);
    assert_table_as_pipeline(WITH("dtype=bf16", "scale_order=query", "n_k=33", "variant=none"), NULL);
    /* more rows without keys than variants */
    assert_table_as_pipeline(WITH("n_q=100", "n_k=8", "mask=causal"), NULL);
}

/* Numbers that no distribution of ours draws; double in the keys. */
struct numbers {
    struct matrix m;
    float *f32;
    double *f64;
};

static struct numbers numbers(size_t heads, size_t n, size_t d, bool wide)
{
    struct numbers x = { .m = { .name = "x", .heads = heads, .n = n, .d = d } };
    x.m.f32 = x.f32 = wide ? NULL : calloc(heads * n * d, sizeof *x.f32);
    x.m.f64 = x.f64 = wide ? calloc(heads * n * d, sizeof *x.f64) : NULL;
    for (size_t i = 0; i < heads * n * d; i++) {
        double value = 2 * sin(1.0 + 0.37 * (double)i * (double)i) + (wide ? 0.1 : 0);
        if (wide) {
            x.f64[i] = value;
        } else {
            x.f32[i] = (float)value;
        }
    }
    return x;
}

static void free_numbers(struct numbers *x)
{
    free(x->f32);
    free(x->f64);
}

static void files_bring_their_entries_and_sizes(void **unused)
{
    (void)unused;
    struct numbers q = numbers(4, 20, 6, false), k = numbers(2, 36, 6, true);
    struct pair_source pair;
    struct av_params p = WITH("mask=causal");
    p.n_head = 4;
    p.head = 3;
    assert_table_as_pipeline(p, pair_source(&pair, &q.m, &k.m));
    void *state = opened();
    variants()->use_source(state, &pair.source);
    const struct av_variants *v = finished(state, p);
    assert_true(v->from_files);
    assert_int_equal(v->params.n_k, 36);
    static const size_t points[] = { 16, 32, 36 };
    assert_int_equal(v->curves.points, 3);
    assert_memory_equal(v->curves.at, points, sizeof points);
    assert_int_equal(v->curves.n_q, 20);
    assert_false(v->curves.has_theory);
    variants()->close(state);
    free_numbers(&q);
    free_numbers(&k);
}

static void what_cannot_be_had_says_why(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = begun(state, WITH("n_q=8", "n_k=16", "d_k=5"));
    assert_int_equal(row_named(v, "lsh")->state, AV_VARIANT_REFUSED);
    assert_string_equal(row_named(v, "lsh")->why, "it needs n_q = n_k, and they are 8 and 16");
    assert_int_equal(row_named(v, "differential")->state, AV_VARIANT_REFUSED);
    assert_non_null(strstr(row_named(v, "differential")->why, "even d_k"));
    v = measured(state, WITH("n_q=16", "n_k=16", "d_k=6"));
    assert_int_equal(row_named(v, "lsh")->state, AV_VARIANT_MEASURED);
    assert_int_equal(row_named(v, "differential")->state, AV_VARIANT_MEASURED);
    variants()->close(state);
}

/* A preset has its own parameters, whatever the present ones are. */
static void presets_keep_their_parameters(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = measured(state, WITH("softcap.c=0.5", "fixed.scalar=4", "variant=fixed+softcap"));
    const struct av_variant_row *preset = row_named(v, "gemma-2");
    const struct av_variant_row *now = row_named(v, "fixed+softcap");
    assert_ptr_equal(now, &v->table.rows[v->table.now]);
    assert_true(now->now && !preset->now);
    assert_true(now->measure.at[AV_VARIANT_MAX_MEAN] < 0.1); /* a cap of a half */
    const struct av_variant_measure before = preset->measure;
    v = measured(state, WITH("softcap.c=50", "fixed.scalar=256", "variant=fixed+softcap"));
    assert_memory_equal(&row_named(v, "gemma-2")->measure, &before, sizeof before);
    assert_ptr_equal(row_named(v, "gemma-2"), &v->table.rows[v->table.now]); /* and no row of its own */
    assert_true(preset->now && !row_named(v, "gemma-2-27b")->now);
    assert_int_equal(v->table.rows[av_variant_entries()].state, AV_VARIANT_ABSENT);
    v = begun(state, WITH("variant=swin2", "swin2.tau=auto"));
    assert_ptr_equal(row_named(v, "swin2"), &v->table.rows[v->table.now]);
    assert_true(row_named(v, "swin-v2")->now); /* the same thing under two names */
    v = begun(state, WITH("variant=swin2", "swin2.tau=1"));
    assert_false(row_named(v, "swin-v2")->now);
    variants()->close(state);
}

static void joined_ones_have_rows_of_their_own(void **unused)
{
    (void)unused;
    void *state = opened();
    size_t entries = av_variant_entries();
    const struct av_variants *v = begun(state, WITH("variant=mup+softcap", "compare=sqrt+alibi"));
    assert_int_equal(v->table.now, entries);
    assert_int_equal(v->table.compare, entries + 1);
    v = begun(state, WITH("variant=mup+softcap", "compare=mup+softcap"));
    assert_int_equal(v->table.now, entries);
    assert_int_equal(v->table.compare, entries);
    assert_int_equal(v->table.rows[entries + 1].state, AV_VARIANT_ABSENT);
    v = begun(state, WITH("variant=softmax", "compare=window"));
    assert_string_equal(v->table.rows[v->table.now].of.name, "softmax");
    assert_string_equal(v->table.rows[v->table.compare].of.name, "window");
    assert_int_equal(v->table.rows[entries].state, AV_VARIANT_ABSENT);
    variants()->close(state);
}

static void chosen_ones_alone_are_measured(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = measured(state, WITH("variants=logn,grok-1", "compare=alibi"));
    size_t rows = 0;
    for (size_t i = 0; i < v->table.count; i++) {
        rows += v->table.rows[i].state == AV_VARIANT_MEASURED;
    }
    assert_int_equal(rows, 4); /* the present one and the other, too */
    assert_int_equal(row_named(v, "softmax")->state, AV_VARIANT_MEASURED);
    assert_int_equal(row_named(v, "alibi")->state, AV_VARIANT_MEASURED);
    assert_int_equal(row_named(v, "grok-1")->state, AV_VARIANT_MEASURED);
    variants()->close(state);
}

/* Bins are shares; the largest weights of frozen rows are in the last one. */
static void bins_add_up(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = measured(state, WITH("d_k=4096", "n_q=64", "variants=softmax,none"));
    for (size_t i = 0; i < 2; i++) {
        for (int h = 0; h < AV_VARIANT_HISTOGRAMS; h++) {
            double sum = 0;
            for (int b = 0; b < AV_VARIANT_BINS; b++) {
                sum += v->table.rows[i].measure.shares[h][b];
            }
            assert_close(sum, 1, "shares");
        }
    }
    assert_true(row_named(v, "none")->measure.shares[AV_VARIANT_OF_MAX][AV_VARIANT_BINS - 1] > 0.8);
    assert_true(row_named(v, "softmax")->measure.shares[AV_VARIANT_OF_LOGITS][5] > 0.4); /* -2 .. 0 */
    variants()->close(state);
}

/* Large matrices are measured by some rows; their weights are all kept, up to
 * a limit. */
static void large_matrices_are_bounded(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = begun(state, WITH("n_q=2048", "n_k=2048", "d_k=1"));
    assert_int_equal(v->table.queries, AV_VARIANT_MEASURED_PAIRS / 2048);
    assert_non_null(v->pair.weights[AV_VARIANT_NOW]);
    variants()->close(state);
    struct numbers q = numbers(1, 2049, 1, false), k = numbers(1, 2048, 1, false);
    struct pair_source pair;
    state = opened();
    variants()->use_source(state, pair_source(&pair, &q.m, &k.m));
    v = begun(state, WITH("seed=1"));
    assert_null(v->pair.weights[AV_VARIANT_NOW]);
    variants()->close(state);
    free_numbers(&q);
    free_numbers(&k);
}

/* ---- what is kept ----------------------------------------------------------------- */

static void another_comparison_keeps_the_table(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = finished(state, WITH("compare=sparsemax"));
    assert_true(v->pair.compared);
    v = begun(state, WITH("compare=entmax15"));
    assert_int_equal(rows_left(v), 0);
    assert_int_equal(v->pair.done[AV_VARIANT_NOW], 32);
    assert_int_equal(v->pair.done[AV_VARIANT_OTHER], 0);
    assert_false(v->pair.compared);
    for (size_t j = 0; j < v->curves.points; j++) {
        assert_int_equal(v->curves.curves[0].state[j], AV_VARIANT_MEASURED);
    }
    v = begun(state, WITH("compare=mup+softcap")); /* a row more, and no other */
    assert_int_equal(rows_left(v), 1);
    assert_int_equal(row_named(v, "mup+softcap")->state, AV_VARIANT_WAITING);
    variants()->close(state);
}

static void a_parameter_of_a_row_makes_its_rows_stale(void **unused)
{
    (void)unused;
    void *state = opened();
    measured(state, WITH("seed=3"));
    const struct av_variants *v = begun(state, WITH("seed=3", "softcap.c=4"));
    for (size_t i = 0; i < v->table.count; i++) {
        const struct av_variant_row *row = &v->table.rows[i];
        bool owner = av_variant_owns(row->of.value, "softcap.c");
        assert_true(row->state == AV_VARIANT_ABSENT || (row->state == AV_VARIANT_WAITING) == owner);
    }
    variants()->close(state);
}

/* Asked again and again between units, in any order of changes, it comes to what
 * a fresh one finds. */
static void however_sliced_the_same_comes_out(void **unused)
{
    (void)unused;
    static const char *const changes[] = { "mask=causal",   "compare=logn",
                                           "temperature=2", "variant=qk_rms",
                                           "d_k=16",        "n_k=20",
                                           "softcap.c=2",   "variants=softcap,lsh,ssmax",
                                           "mask=none",     "curve_over=d_k" };
    void *state = opened(), *fresh = opened();
    struct av_params p = WITH("n_q=20", "n_k=24", "d_k=8");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        begun(state, p);
        for (size_t j = 0; j <= i; j++) {
            variants()->step(state);
        }
        assert_int_equal(av_params_set_text(&p, changes[i], NULL), AV_OK);
    }
    const struct av_variants *a = finished(state, p), *b = finished(fresh, p);
    for (size_t i = 0; i < a->table.count; i++) {
        assert_int_equal(a->table.rows[i].state, b->table.rows[i].state);
        if (a->table.rows[i].state == AV_VARIANT_MEASURED) {
            assert_memory_equal(&a->table.rows[i].measure, &b->table.rows[i].measure, sizeof a->table.rows[i].measure);
        }
    }
    assert_memory_equal(a->pair.weights[AV_VARIANT_NOW], b->pair.weights[AV_VARIANT_NOW], 400 * sizeof(float));
    assert_memory_equal(a->pair.weights[AV_VARIANT_OTHER], b->pair.weights[AV_VARIANT_OTHER], 400 * sizeof(float));
    assert_close(a->pair.half_sum, b->pair.half_sum, "half sum");
    assert_int_equal(a->curves.count, b->curves.count);
    for (size_t i = 0; i < a->curves.count; i++) {
        assert_memory_equal(&a->curves.curves[i].points, &b->curves.curves[i].points,
                            sizeof b->curves.curves[i].points);
    }
    assert_close(variants()->progress(state), 1, "progress");
    variants()->close(state);
    variants()->close(fresh);
}

static void progress_grows_to_one(void **unused)
{
    (void)unused;
    void *state = opened();
    begun(state, WITH("n_q=8"));
    double last = variants()->progress(state);
    assert_true(last < 0.01);
    while (variants()->step(state)) {
        double now = variants()->progress(state);
        assert_true(now >= last && now <= 1);
        last = now;
    }
    assert_close(last, 1, "progress");
    variants()->close(state);
}

/* ---- two of them ---------------------------------------------------------------------- */

static void differences_are_those_of_the_weights(void **unused)
{
    (void)unused;
    enum { N_Q = 9, N_K = 14 };
    struct av_params p = WITH("n_q=9", "n_k=14", "mask=causal", "variant=differential", "compare=window");
    struct av_model *models[2] = { NULL, NULL };
    void *state = opened();
    const struct av_variants *v = finished(state, p);
    double sum = 0, largest = 0;
    size_t pairs = 0, elsewhere = 0;
    for (int side = 0; side < 2; side++) {
        struct av_params of = p;
        of.variant = side == 0 ? p.variant : p.compare;
        assert_int_equal(av_model_new(&models[side], NULL, NULL), AV_OK);
        assert_int_equal(av_model_update(models[side], &of, 0, NULL), AV_OK);
    }
    const struct av_snapshot *a = av_model_snapshot(models[0]), *b = av_model_snapshot(models[1]);
    for (size_t i = 0; i < N_Q; i++) {
        elsewhere += a->rows[i].argmax != b->rows[i].argmax;
        for (size_t j = 0; j < N_K; j++) {
            double difference = fabs(a->weights[i * N_K + j] - b->weights[i * N_K + j]);
            assert_true(fabs((double)v->pair.weights[AV_VARIANT_NOW][i * N_K + j] - a->weights[i * N_K + j]) < 1e-6);
            sum += difference;
            largest = fmax(largest, difference);
            pairs += j <= i + N_K - N_Q;
        }
    }
    assert_true(v->pair.compared);
    assert_int_equal(v->pair.rows, N_Q);
    assert_int_equal(v->pair.argmax_differs, elsewhere);
    assert_true(elsewhere > 0);
    assert_true(fabs(v->pair.largest - largest) < 1e-6);
    assert_true(fabs(v->pair.mean - sum / (double)pairs) < 1e-6);
    assert_true(fabs(v->pair.half_sum - sum / 2 / N_Q) < 1e-6);
    size_t at = v->pair.row * N_K + v->pair.col;
    assert_true(fabs(fabs(a->weights[at] - b->weights[at]) - largest) < 1e-6);
    variants()->close(state);
    av_model_free(models[0]);
    av_model_free(models[1]);
}

/* A side that cannot be had leaves the other alone, and is not compared. */
static void a_refused_side_is_not_compared(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = finished(state, WITH("n_q=6", "n_k=8", "compare=lsh"));
    assert_int_equal(v->pair.done[AV_VARIANT_NOW], 6);
    assert_int_equal(v->pair.done[AV_VARIANT_OTHER], 0);
    assert_false(v->pair.compared);
    assert_close(variants()->progress(state), 1, "progress");
    variants()->close(state);
}

/* ---- curves ----------------------------------------------------------------------------- */

static const struct av_variant_curve *curve(const struct av_variants *v, const char *name)
{
    for (size_t i = 0; i < v->curves.count; i++) {
        if (strcmp(v->curves.curves[i].of.name, name) == 0) {
            return &v->curves.curves[i];
        }
    }
    fail_msg("there is no curve %s", name);
    return NULL;
}

/* How entropy grows from 64 to 2048 keys, in units of ln 32. */
static double growth(const struct av_variants *v, const char *name)
{
    const struct av_variant_measure *points = curve(v, name)->points;
    return (points[7].at[AV_VARIANT_ENTROPY] - points[2].at[AV_VARIANT_ENTROPY]) / log(32);
}

/* Softmax spreads out like ln n; logn and ssmax hold it down, ssmax most. */
static void entropy_over_keys(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = finished(state, WITH("variants=softmax,logn,ssmax,lsh"));
    assert_int_equal(v->curves.points, 8);
    assert_int_equal(v->curves.at[2], 64);
    assert_int_equal(v->curves.at[7], 2048);
    assert_true(growth(v, "softmax") > 0.95 && growth(v, "softmax") < 1.02);
    assert_true(growth(v, "logn") > 0.55 && growth(v, "logn") < 0.75);
    assert_true(growth(v, "ssmax") < 0.2 && growth(v, "ssmax") > 0);
    assert_true(v->curves.has_theory);
    for (size_t j = 2; j < 8; j++) {
        double exact = v->curves.theory[j];
        assert_true(fabs(curve(v, "softmax")->points[j].at[AV_VARIANT_ENTROPY] - exact) < 0.03);
        assert_int_equal(curve(v, "lsh")->state[j], j == 2 ? AV_VARIANT_MEASURED : AV_VARIANT_REFUSED);
    }
    variants()->close(state);
}

/* A point is the table of as many queries and keys. */
static void points_are_rows_of_the_table(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v = finished(state, WITH("n_q=64", "n_k=128", "d_k=32"));
    assert_int_equal(v->curves.at[3], 128);
    for (size_t i = 0; i < v->curves.count; i++) {
        const struct av_variant_measure *point = &v->curves.curves[i].points[3];
        assert_memory_equal(point, &row_named(v, v->curves.curves[i].of.name)->measure, sizeof *point);
    }
    v = finished(state, WITH("n_q=64", "n_k=128", "d_k=32", "curve_over=d_k", "variants=none,differential"));
    assert_int_equal(v->curves.at[5], 32);
    assert_int_equal(v->curves.points, 13);
    assert_string_equal(v->curves.curves[0].of.name, "softmax");              /* the present one comes first */
    assert_int_equal(curve(v, "differential")->state[0], AV_VARIANT_REFUSED); /* d_k 1 */
    for (size_t i = 0; i < v->curves.count; i++) {
        const struct av_variant_measure *point = &v->curves.curves[i].points[5];
        assert_memory_equal(point, &row_named(v, v->curves.curves[i].of.name)->measure, sizeof *point);
    }
    variants()->close(state);
}

/* Of many chosen ones the first eight are drawn. */
static void many_chosen_ones_are_left_out(void **unused)
{
    (void)unused;
    void *state = opened();
    const struct av_variants *v =
        begun(state, WITH("variants=softmax,none,mup,logn,ssmax,yarn,cosine,sink,softcap,alibi,gemma-2"));
    assert_int_equal(v->curves.count, AV_VARIANT_CURVES_MAX);
    assert_int_equal(v->curves.left_out, 3);
    variants()->close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_what_the_pipeline_reports),
        cmocka_unit_test(files_bring_their_entries_and_sizes),
        cmocka_unit_test(what_cannot_be_had_says_why),
        cmocka_unit_test(presets_keep_their_parameters),
        cmocka_unit_test(joined_ones_have_rows_of_their_own),
        cmocka_unit_test(chosen_ones_alone_are_measured),
        cmocka_unit_test(bins_add_up),
        cmocka_unit_test(large_matrices_are_bounded),
        cmocka_unit_test(another_comparison_keeps_the_table),
        cmocka_unit_test(a_parameter_of_a_row_makes_its_rows_stale),
        cmocka_unit_test(however_sliced_the_same_comes_out),
        cmocka_unit_test(progress_grows_to_one),
        cmocka_unit_test(differences_are_those_of_the_weights),
        cmocka_unit_test(a_refused_side_is_not_compared),
        cmocka_unit_test(entropy_over_keys),
        cmocka_unit_test(points_are_rows_of_the_table),
        cmocka_unit_test(many_chosen_ones_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
