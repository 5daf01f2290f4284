/* test_heads_verdicts.c - what the study `heads` says of a head is what the report says.
 *
 * The report's way: the pipeline's snapshot with its diagnosis, and the verdicts
 * that are written of both. On the heads of stories260K, which are no part of the
 * project, on heads that are made, and on sampled ones. */
#include "attnviz/files.h"
#include "attnviz/heads_study.h"
#include "attnviz/mem.h"
#include "attnviz/model.h"
#include "attnviz/report_findings.h"
#include "attnviz/study.h"
#include "heads_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "../shared/data/stories260k-qk.safetensors"

enum { REAL_HEADS = 40, SETTINGS_MAX = 8 };

static const struct av_study *study(void)
{
    return av_study_find("heads");
}

static struct av_params with(const char *const settings[SETTINGS_MAX])
{
    struct av_params p;
    av_params_default(&p);
    for (size_t i = 0; i < SETTINGS_MAX && settings[i] != NULL; i++) {
        assert_int_equal(av_params_set_text(&p, settings[i], NULL), AV_OK);
    }
    return p;
}

/* The caller closes it. */
static void *finished(const struct av_source *source, const struct av_params *p)
{
    void *state = NULL;
    assert_int_equal(study()->open(&state, av_kernels_best(), NULL), AV_OK);
    if (source != NULL) {
        study()->use_source(state, source);
    }
    assert_int_equal(study()->begin(state, p, NULL), AV_OK);
    while (study()->step(state)) {
    }
    assert_true(study()->progress(state) == 1);
    return state;
}

static const struct av_heads *heads_of(void *state)
{
    return study()->result(state);
}

/* ---- As the report has it ---------------------------------------------------------- */

static const struct av_verdict *find(const struct av_head *h, const char *code)
{
    for (size_t i = 0; i < h->verdict_count; i++) {
        if (strcmp(h->verdicts[i].code, code) == 0) {
            return &h->verdicts[i];
        }
    }
    return NULL;
}

static const struct av_verdict *find_text(const struct av_head *h, const char *text)
{
    for (size_t i = 0; i < h->verdict_count; i++) {
        if (strcmp(h->verdicts[i].text, text) == 0) {
            return &h->verdicts[i];
        }
    }
    return NULL;
}

static enum av_severity severity_of(enum av_head_health health)
{
    return health == AV_HEAD_BAD ? AV_BAD : health == AV_HEAD_FINE ? AV_INFO : AV_WARN;
}

/* Every warning of the report is one of the head, in the same words, and the
 * other way round; and the worst is as bad. */
static void assert_as_report(const struct av_head *h, const struct av_snapshot *s)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_verdicts(s, verdicts), warnings = 0;
    enum av_severity worst = AV_INFO;
    for (size_t i = 0; i < count; i++) {
        const struct av_verdict *v = verdicts[i];
        worst = v->severity > worst ? v->severity : worst;
        if (v->severity < AV_WARN) {
            continue;
        }
        const struct av_verdict *found = find_text(h, v->text);
        if (found == NULL || found->severity != v->severity || strcmp(found->code, v->code) != 0) {
            fail_msg("layer %zu, head %zu does not say: %s, \"%s\"", h->layer, h->head, v->code, v->text);
        }
        warnings++;
    }
    for (size_t i = 0; i < h->verdict_count; i++) {
        warnings -= h->verdicts[i].severity >= AV_WARN;
        assert_true(i == 0 || h->verdicts[i].severity <= h->verdicts[i - 1].severity);
    }
    assert_int_equal(warnings, 0);
    assert_int_equal(severity_of(h->health), worst);
}

/* All heads of a source, or, without one, that are sampled; returns how many are
 * of each health. */
static void compare(const struct av_source *source, struct av_params p, size_t healths[AV_HEAD_HEALTHS])
{
    struct av_model *model = NULL;
    void *state = finished(source, &p);
    const struct av_heads *h = heads_of(state);
    assert_int_equal(av_model_new(&model, NULL, NULL), AV_OK);
    memset(healths, 0, AV_HEAD_HEALTHS * sizeof *healths);
    if (source != NULL) {
        av_model_use_source(model, source);
    }
    for (size_t i = 0; i < h->count; i++) {
        const struct av_head *head = &h->heads[i];
        p.layer = (int64_t)head->layer;
        p.head = (int64_t)head->head;
        if (source != NULL) {
            av_params_from_source(&p, source);
        }
        assert_int_equal(av_model_update(model, &p, 0, NULL), AV_OK);
        assert_int_equal(av_model_diagnose(model, NULL), AV_OK);
        assert_int_equal(head->diagnosis, source != NULL ? AV_HEAD_MEASURED : AV_HEAD_WAITING);
        assert_as_report(head, av_model_snapshot(model));
        healths[head->health]++;
    }
    av_model_free(model);
    study()->close(state);
}

static void real_heads_are_judged_as_by_the_report(void **unused)
{
    (void)unused;
    static const char *const settings[][SETTINGS_MAX] = {
        { "mask=causal" }, { "mask=causal", "scale=off" },       { "mask=causal", "temperature=0.1" },
        { "mask=none" },   { "mask=causal", "variant=softcap" }, { "mask=causal", "temperature=4" },
    };
    const struct av_files_options options = { .batch = 0 };
    struct av_files *files = NULL;
    struct av_error e = { "" };
    if (access(FILE_NAME, R_OK) != 0 || !av_dump_reads("safetensors")) {
        print_message("no " FILE_NAME ", or built without what it needs\n");
        skip();
    }
    if (av_files_open(&files, (const char *const[]){ FILE_NAME }, 1, &options, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        size_t healths[AV_HEAD_HEALTHS];
        compare(av_files_source(files), with(settings[i]), healths);
        if (i == 0) { /* two heads are silent; of the others, four have saturated rows */
            assert_int_equal(healths[AV_HEAD_FINE], 2);
            assert_int_equal(healths[AV_HEAD_SPREAD], 34);
            assert_int_equal(healths[AV_HEAD_WARN], 4);
        }
    }
    av_files_close(files);
}

static void sampled_heads_are_judged_as_by_the_report(void **unused)
{
    (void)unused;
    static const char *const settings[][SETTINGS_MAX] = {
        { "variant=softmax" },
        { "scale=off" },
        { "scale=off", "d_k=1024" },
        { "q_std=3" },
        { "mask=causal" },
        { "variant=qk_rms" },
        { "variant=alibi", "q_std=4" },
        { "variant=sparsemax", "q_std=9" },
        { "dtype=f16" },
        { "variant=window", "q_std=4" },
    };
    size_t healths[AV_HEAD_HEALTHS];
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct av_params p = with(settings[i]);
        p.n_head = 3;
        compare(NULL, p, healths);
    }
}

/* ---- By what ------------------------------------------------------------------------- */

/* Three of the heads of each layer put everything on one key: of Q and K, of weights, of scores. */
static void made_heads_are_frozen_or_fine(void **unused)
{
    (void)unused;
    size_t healths[AV_HEAD_HEALTHS];
    struct made_source m;
    made_source(&m);
    compare(&m.source, with((const char *const[SETTINGS_MAX]){ "mask=none" }), healths);
    assert_int_equal(healths[AV_HEAD_FINE], 3 * MADE_LAYERS);
    assert_int_equal(healths[AV_HEAD_BAD], 3 * MADE_LAYERS);
}

/* Weights and scores alone: the diagnosis has what the pipeline has not. */
static void weights_alone_are_judged(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    struct av_params p = with((const char *const[SETTINGS_MAX]){ "mask=none" });
    void *state = finished(&m.source, &p);
    const struct av_heads *h = heads_of(state);
    for (size_t i = 0; i < h->count; i++) {
        bool frozen = made_heads[h->heads[i].head].logit > 20;
        assert_int_equal(h->heads[i].saturated, frozen ? AV_SATURATED_FROZEN : AV_SATURATED_NOT);
        assert_int_equal(h->heads[i].health, frozen ? AV_HEAD_BAD : AV_HEAD_FINE);
        assert_int_equal(h->heads[i].diagnosis, AV_HEAD_MEASURED);
    }
    study()->close(state);
}

static enum av_status read_nan(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                               float *out_f32, double *out_f64, struct av_error *e)
{
    enum av_status s = made_read(state, layer, part, head, first, rows, out_f32, out_f64, e);
    if (part == AV_PART_Q && head == 2 && first <= 5 && 5 < first + rows) {
        out_f32[(5 - first) * MADE_N] = (float)NAN;
    }
    return s;
}

/* A row with a NaN is left out of the numbers; both ways say that it is bad. */
static void a_nan_is_bad(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    m.source.layer_count = 1;
    m.source.read = read_nan;
    struct av_params p = with((const char *const[SETTINGS_MAX]){ "mask=none" });
    void *state = finished(&m.source, &p);
    const struct av_head *h = &heads_of(state)->heads[2];
    assert_int_equal(h->health, AV_HEAD_BAD);
    assert_int_equal(h->rows, MADE_N - 1);
    assert_string_equal(find(h, "rows_left_out")->text,
                        "1 of 32 rows hold a number that is not finite: they are left out");
    assert_non_null(find(h, "nan_input"));
    assert_int_equal(heads_of(state)->heads[5].health, AV_HEAD_FINE);
    study()->close(state);
}

/* ---- In which order ------------------------------------------------------------------- */

/* What is wanted is weighed first, then its findings come, then the rest; and
 * it comes out the same. */
static void what_is_wanted_comes_first(void **unused)
{
    (void)unused;
    static const size_t wanted[] = { 4, 2, 1000 };
    struct made_source m;
    made_source(&m);
    m.source.layer_count = 1;
    struct av_params p = with((const char *const[SETTINGS_MAX]){ "mask=none" });
    void *all = finished(&m.source, &p), *state = NULL;
    assert_int_equal(study()->open(&state, av_kernels_best(), NULL), AV_OK);
    study()->use_source(state, &m.source);
    assert_int_equal(study()->begin(state, &p, NULL), AV_OK);
    study()->want(state, wanted, sizeof wanted / sizeof wanted[0]);
    const struct av_heads *h = heads_of(state);
    double before = 0;
    size_t most = 0;
    while (study()->step(state)) {
        assert_true(h->heads[2].state == AV_HEAD_WAITING || h->heads[4].state == AV_HEAD_MEASURED);
        assert_true(h->done <= 2 || h->heads[4].diagnosis == AV_HEAD_MEASURED);
        assert_true(h->diagnosed <= 1 || h->done == h->count);
        assert_true(h->diagnosed <= 2 || h->heads[2].diagnosis == AV_HEAD_MEASURED);
        assert_true(study()->progress(state) >= before && h->done >= most);
        before = study()->progress(state);
        most = h->done;
    }
    assert_int_equal(h->done, MADE_HEADS);
    assert_int_equal(h->diagnosed, MADE_HEADS);
    for (size_t i = 0; i < h->count; i++) {
        assert_memory_equal(h->heads[i].at, heads_of(all)->heads[i].at, sizeof h->heads[i].at);
        assert_int_equal(h->heads[i].health, heads_of(all)->heads[i].health);
        assert_int_equal(h->heads[i].verdict_count, heads_of(all)->heads[i].verdict_count);
    }
    study()->close(all);
    study()->close(state);
}

/* A head that cannot be read is neither weighed nor diagnosed; the others are. */
static void what_cannot_be_read_is_over(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    m.broken = 2;
    struct av_params p = with((const char *const[SETTINGS_MAX]){ "mask=none" });
    void *state = finished(&m.source, &p);
    const struct av_heads *h = heads_of(state);
    assert_int_equal(h->heads[2].state, AV_HEAD_REFUSED);
    assert_int_equal(h->heads[2].diagnosis, AV_HEAD_REFUSED);
    assert_int_equal(h->diagnosed, h->count);
    assert_int_equal(h->heads[3].diagnosis, AV_HEAD_MEASURED);
    study()->close(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_heads_are_judged_as_by_the_report),
        cmocka_unit_test(sampled_heads_are_judged_as_by_the_report),
        cmocka_unit_test(made_heads_are_frozen_or_fine),
        cmocka_unit_test(weights_alone_are_judged),
        cmocka_unit_test(a_nan_is_bad),
        cmocka_unit_test(what_is_wanted_comes_first),
        cmocka_unit_test(what_cannot_be_read_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
