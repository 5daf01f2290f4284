/* test_from.c - the part of a layer that a head is made of, where the layer has several. */
#include "attnviz/diagnosis.h"
#include "attnviz/heads_study.h"
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "attnviz/variant.h"
#include "model_driver.h"
#include "parts_source.h"

static const char *const choices[] = { "from=auto", "from=qk", "from=scores", "from=weights" };

static const char *const settings[][3] = { { NULL },
                                           { "mask=causal", "temperature=0.7" },
                                           { "scale=off", "key_offset=1" },
                                           { "variant=entmax15", "dtype=bf16" } };
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static struct av_params params_at(enum parts_layer layer, const char *from, const char *const *with)
{
    struct av_params p = params(with);
    p.layer = layer;
    p.layer_count = PARTS_LAYERS;
    p.head = 1;
    set(&p, (const char *const[]){ from, NULL });
    return p;
}

static void assert_same(double a, double b)
{
    if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b))) {
        fail_msg("%.17g is not %.17g", a, b);
    }
}

static void assert_matrix(const double *got, const double *want)
{
    assert_true((got == NULL) == (want == NULL));
    for (size_t at = 0; got != NULL && at < PARTS_N * PARTS_N; at++) {
        assert_same(got[at], want[at]);
    }
}

static void assert_snapshots(const struct av_snapshot *s, const struct av_snapshot *want)
{
    assert_true(s->from == want->from && s->n_q == want->n_q && s->n_k == want->n_k && s->d_k == want->d_k);
    assert_true(s->varied == want->varied && s->simplex == want->simplex && s->patterned == want->patterned);
    assert_true(s->params.variant == want->params.variant && s->params.dtype == want->params.dtype);
    assert_same(s->alpha, want->alpha);
    assert_matrix(s->scores, want->scores);
    assert_matrix(s->logits, want->logits);
    assert_matrix(s->weights, want->weights);
    assert_memory_equal(s->rows, want->rows, PARTS_N * sizeof *s->rows);
    assert_true((s->dq_rms == NULL) == (want->dq_rms == NULL));
    for (size_t i = 0; s->dq_rms != NULL && i < PARTS_N; i++) {
        assert_same(s->dq_rms[i], want->dq_rms[i]);
    }
    assert_same(s->now.entropy_mean, want->now.entropy_mean);
    assert_same(s->now.jacobian_fro_median, want->now.jacobian_fro_median);
    assert_same(s->score_row_std, want->score_row_std);
    assert_int_equal(s->histogram.bins, want->histogram.bins);
    assert_int_equal(s->other.rows, want->other.rows);
    assert_int_equal(s->verdict_count, want->verdict_count);
    for (size_t i = 0; i < s->verdict_count; i++) {
        assert_string_equal(s->verdicts[i].text, want->verdicts[i].text);
    }
}

/* From every part to every other, as the layer with the part alone has it. */
static void a_model_is_of_the_part_asked_for(void **state)
{
    (void)state;
    struct parts_source parts;
    parts_source(&parts);
    for (size_t i = 0; i < SETTINGS; i++) {
        struct av_model *m = fresh();
        av_model_use_source(m, &parts.source);
        for (int at = 0; at < AV_FROM_COUNT * AV_FROM_COUNT; at++) {
            const int steps[] = { at / AV_FROM_COUNT, at % AV_FROM_COUNT };
            for (size_t k = 0; k < 2; k++) {
                const int from = steps[k];
                const enum parts_layer alone = from == AV_FROM_AUTO ? PARTS_QK : (enum parts_layer)from;
                struct av_model *other = fresh();
                av_model_use_source(other, &parts.source);
                const struct av_params p = params_at(PARTS_ALL, choices[from], settings[i]);
                const struct av_params q = params_at(alone, choices[AV_FROM_AUTO], settings[i]);
                const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
                assert_snapshots(s, update(other, &q, ALL_NEEDS));
                assert_int_equal(s->params.from, from);
                av_model_free(other);
            }
        }
        av_model_free(m);
    }
}

static void what_is_not_there_is_as_by_auto(void **state)
{
    (void)state;
    static const enum av_part by_auto[] = { AV_PART_Q, AV_PART_Q, AV_PART_SCORES, AV_PART_WEIGHTS };
    struct parts_source parts;
    parts_source(&parts);
    struct av_model *m = fresh();
    av_model_use_source(m, &parts.source);
    for (size_t layer = PARTS_QK; layer < PARTS_LAYERS; layer++) {
        for (int from = 0; from < AV_FROM_COUNT; from++) {
            const struct av_params p = params_at((enum parts_layer)layer, choices[from], settings[0]);
            assert_int_equal(update(m, &p, ALL_NEEDS)->from, by_auto[layer]);
            const struct av_source_layer *l = &parts.layers[layer];
            assert_int_equal(av_source_has(l, (enum av_from)from), from == AV_FROM_AUTO || from == (int)layer);
        }
        assert_false(av_source_has_choice(&parts.layers[layer]));
    }
    assert_true(av_source_has_choice(&parts.layers[PARTS_ALL]));
    /* Queries without keys are no part; without both, weights go before scores. */
    struct av_source_layer l = parts.layers[PARTS_ALL];
    l.part[AV_PART_K].there = false;
    assert_int_equal(av_source_from(&l, AV_FROM_QK), AV_PART_WEIGHTS);
    assert_int_equal(av_source_from(&l, AV_FROM_AUTO), AV_PART_WEIGHTS);
    assert_int_equal(av_source_from(&l, AV_FROM_SCORES), AV_PART_SCORES);
    av_model_free(m);
}

static void a_variant_that_cannot_act_is_refused(void **state)
{
    (void)state;
    struct parts_source parts;
    struct av_error e;
    parts_source(&parts);
    struct av_params p = PARAMS("from=weights", "variant=sparsemax");
    assert_int_equal(av_source_check(parts.layers, 1, &p, &e), AV_USAGE);
    assert_string_equal(e.text,
                        "variant=sparsemax: it does not act on the file's weights, which are taken by from=weights");
    p.from = AV_FROM_QK;
    assert_int_equal(av_source_check(parts.layers, 1, &p, &e), AV_OK);
}

/* ---- The studies ------------------------------------------------------------------- */

static const struct av_heads *run(void *heads, const struct av_study *study, const struct av_params *p)
{
    assert_int_equal(study->begin(heads, p, NULL), AV_OK);
    while (study->step(heads)) {
    }
    return study->result(heads);
}

static void assert_heads(const struct av_heads *found, size_t layer, size_t alone)
{
    const struct av_head *h = av_heads_find(found, layer, 1), *want = av_heads_find(found, alone, 1);
    assert_int_equal(h->state, AV_HEAD_MEASURED);
    assert_true(h->from == want->from && h->kind == want->kind && h->rows == want->rows);
    assert_memory_equal(&h->map, &want->map, sizeof h->map);
    for (size_t k = 0; k < AV_HEAD_QUANTITIES; k++) {
        assert_same(h->at[k], want->at[k]);
    }
}

/* One state goes from part to part. */
static void so_are_the_heads(void **state)
{
    (void)state;
    const struct av_study *study = av_study_find("heads");
    struct parts_source parts;
    void *heads;
    parts_source(&parts);
    assert_int_equal(study->open(&heads, av_kernels_best(), NULL), AV_OK);
    study->use_source(heads, &parts.source);
    for (size_t i = 0; i < SETTINGS; i++) {
        for (int from = 0; from < AV_FROM_COUNT; from++) {
            const struct av_params p = params_at(PARTS_ALL, choices[from], settings[i]);
            assert_heads(run(heads, study, &p), PARTS_ALL, from == AV_FROM_AUTO ? PARTS_QK : (size_t)from);
        }
    }
    study->close(heads);
}

/* auto and qk are the same here: nothing is weighed again. */
static void heads_of_the_same_part_are_kept(void **state)
{
    (void)state;
    const struct av_study *study = av_study_find("heads");
    struct parts_source parts;
    void *heads;
    parts_source(&parts);
    assert_int_equal(study->open(&heads, av_kernels_best(), NULL), AV_OK);
    study->use_source(heads, &parts.source);
    struct av_params p = params_at(PARTS_ALL, "from=auto", settings[0]);
    run(heads, study, &p);
    p.from = AV_FROM_QK;
    assert_int_equal(study->begin(heads, &p, NULL), AV_OK);
    const struct av_heads *found = study->result(heads);
    assert_int_equal(found->done, found->count);
    p.from = AV_FROM_WEIGHTS;
    assert_int_equal(study->begin(heads, &p, NULL), AV_OK);
    assert_int_equal(found->done, 0);
    study->close(heads);
}

static void studies_of_entries_come_and_go(void **state)
{
    (void)state;
    const struct av_study *study = av_study_find("precision");
    struct parts_source parts;
    struct av_studies *all;
    parts_source(&parts);
    assert_int_equal(av_studies_new(&all, NULL, NULL), AV_OK);
    av_studies_use_source(all, &parts.source, &parts.source);
    for (size_t round = 0; round < 2; round++) {
        for (int from = 0; from < AV_FROM_COUNT; from++) {
            const struct av_params p = params_at(PARTS_ALL, choices[from], settings[0]);
            assert_int_equal(av_studies_ask(all, study, &p, NULL), AV_OK);
            assert_int_equal(av_studies_result(all, study) != NULL, from <= AV_FROM_QK);
        }
    }
    av_studies_free(all);
}

/* ---- The diagnosis ------------------------------------------------------------------- */

static void the_diagnosis_is_of_the_file(void **state)
{
    (void)state;
    struct parts_source parts;
    parts_source(&parts);
    struct av_model *m = fresh();
    struct av_diagnosis first = { 0 };
    av_model_use_source(m, &parts.source);
    for (int from = 0; from < AV_FROM_COUNT; from++) {
        const struct av_params p = params_at(PARTS_ALL, choices[from], settings[1]);
        update(m, &p, ALL_NEEDS);
        assert_int_equal(av_model_diagnose(m, NULL), AV_OK);
        const struct av_diagnosis *d = av_model_snapshot(m)->diagnosis;
        first = from == 0 ? *d : first;
        assert_true(d->finding_count > 0 && d->finding_count == first.finding_count);
        for (size_t i = 0; i < d->finding_count; i++) {
            assert_string_equal(d->findings[i].code, first.findings[i].code);
            assert_string_equal(d->findings[i].text, first.findings[i].text);
        }
    }
    av_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_is_of_the_part_asked_for),     cmocka_unit_test(what_is_not_there_is_as_by_auto),
        cmocka_unit_test(a_variant_that_cannot_act_is_refused), cmocka_unit_test(so_are_the_heads),
        cmocka_unit_test(heads_of_the_same_part_are_kept),      cmocka_unit_test(studies_of_entries_come_and_go),
        cmocka_unit_test(the_diagnosis_is_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
