/* test_study_heads.c - every head of every layer: what they are called, and their numbers. */
#include "attnviz/heads_study.h"
#include "attnviz/mem.h"
#include "attnviz/model.h"
#include "attnviz/study.h"
#include "heads_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct av_study *study(void)
{
    return av_study_find("heads");
}

static struct av_params with(const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    return p;
}

#define WITH(...) with((const char *const[]){ __VA_ARGS__, NULL })

/* The caller closes it. */
static void *opened(const struct av_source *source)
{
    void *state = NULL;
    assert_int_equal(study()->open(&state, av_kernels_best(), NULL), AV_OK);
    if (source != NULL) {
        study()->use_source(state, source);
    }
    return state;
}

static const struct av_heads *begun(void *state, struct av_params p)
{
    assert_int_equal(study()->begin(state, &p, NULL), AV_OK);
    return study()->result(state);
}

static const struct av_heads *finished(void *state, struct av_params p)
{
    const struct av_heads *h = begun(state, p);
    while (study()->step(state)) {
        assert_true(study()->progress(state) <= 1);
    }
    assert_int_equal(h->done, h->count);
    assert_true(study()->progress(state) == 1);
    return h;
}

static void assert_close(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fmax(1, fabs(want))) && !(isnan(got) && isnan(want))) {
        fail_msg("%.17g instead of %.17g", got, want);
    }
}

/* ---- Heads that are known ------------------------------------------------------------ */

/* The quantities by their definitions, of the weights as such; all rows have
 * more than eight keys. */
static void expect(double at[AV_HEAD_QUANTITIES], const struct made_head *m)
{
    const double n = MADE_N, e = exp(m->logit), most = e / (e + n - 1), rest = 1 / (e + n - 1);
    const double p2 = most * most + (n - 1) * rest * rest;
    const double p3 = most * most * most + (n - 1) * rest * rest * rest;
    double first = 0, own = 0, previous = 0;
    for (size_t i = 0; i < MADE_N; i++) {
        first += made_weight(m, i, 0) / n;
        own += made_weight(m, i, i) / n;
        previous += i > 0 ? made_weight(m, i, i - 1) / n : 0;
    }
    const double z = m->logit; /* one of n logits is z, the others are 0 */
    const double fro = m->logit > 20 ? rest * sqrt(n * (n - 1)) : sqrt(p2 - 2 * p3 + p2 * p2);
    at[AV_HEAD_ENTROPY] = -(most * log(most) + (n - 1) * rest * log(rest)) / log(n);
    at[AV_HEAD_MAX_MEDIAN] = at[AV_HEAD_MAX_MEAN] = most;
    at[AV_HEAD_SATURATED_ROWS] = most > 0.9;
    at[AV_HEAD_FRO] = fro;
    at[AV_HEAD_DEAD_ROWS] = fro < 1e-3;
    at[AV_HEAD_LOGIT_STD] = sqrt(z * z / n);
    at[AV_HEAD_ROW_SUM] = 1;
    at[AV_HEAD_FIRST] = first;
    at[AV_HEAD_OWN] = own;
    at[AV_HEAD_PREVIOUS] = previous;
    at[AV_HEAD_MOVED] = most - 1 / n;
}

static const char *name_of(const struct av_head *h)
{
    return h->kind == AV_HEAD_PLAIN ? "" : av_head_rules[h->kind].name;
}

/* From queries and keys in single precision, from weights, from logits. */
static void heads_are_named_by_what_they_do(void **unused)
{
    (void)unused;
    static const double tolerance[MADE_LAYERS] = { 1e-6, 1e-12, 1e-12 };
    static const enum av_part from[MADE_LAYERS] = { AV_PART_Q, AV_PART_WEIGHTS, AV_PART_SCORES };
    struct made_source m;
    made_source(&m);
    void *state = opened(&m.source);
    const struct av_heads *h = finished(state, WITH("mask=none"));
    assert_int_equal(h->all, MADE_LAYERS * MADE_HEADS);
    assert_int_equal(h->widest, MADE_HEADS);
    for (size_t i = 0; i < h->count; i++) {
        const struct av_head *head = &h->heads[i];
        const struct made_head *made = &made_heads[head->head];
        double want[AV_HEAD_QUANTITIES];
        assert_ptr_equal(av_heads_find(h, i / MADE_HEADS, i % MADE_HEADS), head);
        assert_int_equal(head->state, AV_HEAD_MEASURED);
        assert_int_equal(head->number, 10 + head->layer);
        assert_int_equal(head->from, from[head->layer]);
        assert_int_equal(head->queries, MADE_N);
        assert_string_equal(name_of(head), made->name);
        assert_int_equal(head->health, made->logit > 20 ? AV_HEAD_BAD : AV_HEAD_FINE);
        expect(want, made);
        want[AV_HEAD_LOGIT_STD] = head->from == AV_PART_WEIGHTS ? (double)NAN : want[AV_HEAD_LOGIT_STD];
        for (size_t q = 0; q < AV_HEAD_QUANTITIES; q++) {
            assert_close(head->at[q], want[q], tolerance[head->layer]);
        }
    }
    study()->close(state);
}

/* Blocks of two rows and two columns: what a row gives to both, and the largest. */
static void a_map_pools_the_weights(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    void *state = opened(&m.source);
    const struct av_heads *h = finished(state, WITH("mask=none"));
    for (size_t i = MADE_HEADS; i < (size_t)2 * MADE_HEADS; i++) {
        const struct av_head_map *map = &h->heads[i].map;
        const struct made_head *made = &made_heads[h->heads[i].head];
        assert_int_equal(map->rows, AV_HEADS_MAP);
        for (size_t a = 0; a < AV_HEADS_MAP; a++) {
            for (size_t b = 0; b < AV_HEADS_MAP; b++) {
                double sum = 0, most = 0;
                for (size_t at = 0; at < 4; at++) {
                    double w = made_weight(made, 2 * a + at / 2, 2 * b + at % 2);
                    sum += w;
                    most = fmax(most, w);
                }
                assert_close((double)map->share[a][b], sum / 2, 1e-7);
                assert_close((double)map->max[a][b], most, 1e-7);
            }
        }
    }
    study()->close(state);
}

/* With a causal mask the queries' own positions are the last ones of the keys. */
static void positions_are_counted_from_the_end(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    m.layers[0].n_q = MADE_N / 2; /* queries 0 .. 15 are at positions 16 .. 31 */
    m.source.layer_count = 1;
    void *state = opened(&m.source);
    const struct av_heads *h = finished(state, WITH("mask=causal"));
    const struct av_head *diagonal = &h->heads[3]; /* query i at key i: 16 before its own */
    assert_close(diagonal->at[AV_HEAD_OWN], 0, 1e-12);
    assert_close(diagonal->at[AV_HEAD_MAX_MEAN], 1, 1e-12);
    assert_string_equal(name_of(diagonal), "peaked");
    assert_true(isnan(diagonal->map.max[0][AV_HEADS_MAP - 1])); /* masked */
    assert_true(!isnan(diagonal->map.max[AV_HEADS_MAP - 1][AV_HEADS_MAP - 1]));
    study()->close(state);
}

static void words_count_the_heads(void **unused)
{
    (void)unused;
    char text[1024];
    struct made_source m;
    made_source(&m);
    m.source.layer_count = 1;
    void *state = opened(&m.source);
    begun(state, WITH("mask=none"));
    assert_string_equal(av_heads_words(text, sizeof text, study()->result(state)), "No head is measured yet.");
    const struct av_heads *h = finished(state, WITH("mask=none"));
    assert_string_equal(av_heads_words(text, sizeof text, h),
                        "3 of 6 heads are fine, 3 bad. "
                        "Saturated, a weight above 0.9 in more than a quarter of the rows: 3 heads, 3 of them "
                        "frozen, in more than half. Gradient dead: 3 heads. "
                        "1 gives more than half of its weight to the first token. "
                        "1 gives more than half of its weight to the token before the query's. "
                        "1 gives more than half of its weight to the query's own token. "
                        "1 is uniform, but for less than a tenth of its weight.");
    void *plain = opened(NULL);
    assert_non_null(strstr(av_heads_words(text, sizeof text, finished(plain, WITH("n_head=2"))),
                           "2 of 2 heads are fine. None gives more than half"));
    study()->close(plain);
    av_heads_words(text, 20, h); /* cut, not beyond */
    assert_int_equal(strlen(text), 19);
    study()->close(state);
}

static void a_head_that_cannot_be_read_is_left_out(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    m.broken = 2;
    void *state = opened(&m.source);
    const struct av_heads *h = finished(state, WITH("mask=none"));
    for (size_t i = 0; i < h->count; i++) {
        assert_int_equal(h->heads[i].state, i == 2 ? AV_HEAD_REFUSED : AV_HEAD_MEASURED);
    }
    assert_string_equal(h->heads[2].why, "head 2 has gone");
    study()->close(state);
}

/* ---- Long heads ---------------------------------------------------------------------- */

enum { LONG_N = 5000, LONG_KEYS = 3 };

struct long_source {
    size_t asked, row[2 * AV_HEADS_QUERIES];
};

static enum av_status long_read(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                float *out_f32, double *out_f64, struct av_error *e)
{
    struct long_source *l = state;
    (void)layer;
    (void)head;
    (void)out_f64;
    (void)e;
    assert_int_equal(part, AV_PART_WEIGHTS);
    for (size_t r = 0; r < rows; r++) {
        l->row[l->asked++] = first + r;
        for (size_t j = 0; j < LONG_KEYS; j++) {
            out_f32[r * LONG_KEYS + j] = j == 0 ? 0.5F : 0.25F;
        }
    }
    return AV_OK;
}

/* Neighbours in groups of eight, one in the middle of each of 128 equal parts. */
static void of_long_heads_some_queries_are_looked_at(void **unused)
{
    (void)unused;
    struct long_source l = { 0 };
    struct av_source_layer layer = { .n_head = 1, .n_head_kv = 1, .n_q = LONG_N, .n_k = LONG_KEYS };
    layer.part[AV_PART_WEIGHTS].there = true;
    const struct av_source source = { .layers = &layer, .layer_count = 1, .read = long_read, .state = &l };
    void *state = opened(&source);
    const struct av_heads *h = begun(state, WITH("mask=none"));
    while (h->done == 0) { /* the diagnosis reads rows of its own */
        study()->step(state);
    }
    assert_int_equal(h->heads[0].queries, AV_HEADS_QUERIES);
    assert_int_equal(l.asked, AV_HEADS_QUERIES);
    for (size_t r = 0; r < l.asked; r++) {
        double middle = LONG_N / 128.0 * ((double)(r / 8) + 0.5);
        assert_true(fabs((double)l.row[r] + 0.5 - (middle - 4 + (double)(r % 8))) <= 1);
        assert_true(r % 8 == 0 || l.row[r] == l.row[r - 1] + 1);
    }
    assert_close(h->heads[0].at[AV_HEAD_MAX_MEDIAN], 0.5, 0);
    assert_int_equal(h->heads[0].rows_long, 0); /* three keys: nothing about places */
    assert_true(isnan(h->heads[0].at[AV_HEAD_FIRST]));
    study()->close(state);
}

/* ---- Against the pipeline -------------------------------------------------------------- */

static void assert_as_summary(const struct av_head *h, const struct av_summary *s)
{
    static const double tolerance = 1e-12;
    assert_int_equal(h->rows, s->rows);
    assert_close(h->at[AV_HEAD_ENTROPY], s->entropy_norm_mean, tolerance);
    assert_close(h->at[AV_HEAD_MAX_MEDIAN], s->max_median, tolerance);
    assert_close(h->at[AV_HEAD_MAX_MEAN], s->max_mean, tolerance);
    assert_close(h->at[AV_HEAD_SATURATED_ROWS], s->share_max_gt_0_9, tolerance);
    assert_close(h->at[AV_HEAD_FRO], s->jacobian_fro_median, tolerance);
    assert_close(h->at[AV_HEAD_DEAD_ROWS], s->share_fro_lt_1e_3, tolerance);
    assert_close(h->at[AV_HEAD_LOGIT_STD], s->row_std, tolerance);
    assert_close(h->at[AV_HEAD_ROW_SUM], s->row_sum_mean, tolerance);
}

static void a_head_is_what_the_pipeline_makes_of_it(void **unused)
{
    (void)unused;
    static const char *const settings[] = {
        "variant=none",      "scale=off",      "mask=causal",          "temperature=0.5",
        "key_offset=3",      "variant=qk_rms", "variant=differential", "variant=score_batchnorm",
        "variant=sigmoid",   "variant=window", "variant=alibi",        "variant=linformer",
        "variant=sparsemax", "dtype=f16",      "variant=lsh",
    };
    void *state = opened(NULL);
    struct av_model *model = NULL;
    assert_int_equal(av_model_new(&model, NULL, NULL), AV_OK);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *const variant = strcmp(settings[i], "variant=none") == 0 ? "variant=softmax" : settings[i];
        struct av_params p = WITH("n_head=3", "n_q=50", "n_k=50", "d_k=24", "q_std=2", variant);
        const struct av_heads *h = finished(state, p);
        assert_int_equal(h->count, 3);
        for (size_t head = 0; head < h->count; head++) {
            p.head = (int64_t)head;
            assert_int_equal(av_model_update(model, &p, 0, NULL), AV_OK);
            assert_as_summary(&h->heads[head], &av_model_snapshot(model)->now);
        }
    }
    av_model_free(model);
    study()->close(state);
}

static void a_variant_that_cannot_be_had_is_refused(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_heads *h = finished(state, WITH("d_k=7", "variant=differential"));
    assert_int_equal(h->heads[0].state, AV_HEAD_REFUSED);
    assert_non_null(strstr(h->heads[0].why, "even d_k"));
    study()->close(state);
}

/* ---- What still holds ------------------------------------------------------------------- */

static void assert_same(const struct av_heads *a, const struct av_heads *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->heads[i].state, b->heads[i].state);
        assert_memory_equal(a->heads[i].at, b->heads[i].at, sizeof a->heads[i].at);
        assert_memory_equal(&a->heads[i].map, &b->heads[i].map, sizeof a->heads[i].map);
    }
}

static void steps(void *state, int n)
{
    while (n-- > 0) {
        study()->step(state);
    }
}

static void begun_again_it_comes_to_the_same(void **unused)
{
    (void)unused;
    struct av_params p = WITH("n_head=4", "n_q=300", "n_k=300", "d_k=64");
    void *fresh = opened(NULL);
    const struct av_heads *want = finished(fresh, p);
    void *state = opened(NULL);
    p.n_head = 2;
    const struct av_heads *h = finished(state, p);
    p.n_head = 4;
    begun(state, p);
    assert_int_equal(h->done, 2); /* the first two hold */
    steps(state, 3);
    begun(state, p); /* in the middle of a head */
    finished(state, p);
    assert_same(h, want);
    p.n_head = 1;
    assert_int_equal(begun(state, p)->done, 1);
    p.temperature = 2;
    assert_int_equal(begun(state, p)->done, 0);
    study()->close(state);
    study()->close(fresh);
}

/* Of a file, what entries are drawn by plays no part. */
static void entries_of_files_are_as_they_are(void **unused)
{
    (void)unused;
    struct made_source m;
    made_source(&m);
    void *state = opened(&m.source);
    const struct av_heads *h = finished(state, WITH("mask=none"));
    begun(state, WITH("mask=none", "d_k=7", "q_std=3", "dist=uniform"));
    assert_int_equal(h->done, h->count);
    begun(state, WITH("mask=causal"));
    assert_int_equal(h->done, 0);
    study()->close(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_named_by_what_they_do),
        cmocka_unit_test(a_map_pools_the_weights),
        cmocka_unit_test(positions_are_counted_from_the_end),
        cmocka_unit_test(words_count_the_heads),
        cmocka_unit_test(a_head_that_cannot_be_read_is_left_out),
        cmocka_unit_test(of_long_heads_some_queries_are_looked_at),
        cmocka_unit_test(a_head_is_what_the_pipeline_makes_of_it),
        cmocka_unit_test(a_variant_that_cannot_be_had_is_refused),
        cmocka_unit_test(begun_again_it_comes_to_the_same),
        cmocka_unit_test(entries_of_files_are_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
