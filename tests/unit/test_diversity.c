/* test_diversity.c - heads beside each other: values, limits, what is left out. */
#include "attnviz/diversity.h"
#include "attnviz/model.h"
#include "attnviz/study.h"
#include "pair_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct av_study *study(void)
{
    return av_study_find("diversity");
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

/* A study, of files where a source is given. The caller closes it. */
static void *opened(const struct av_source *source)
{
    void *state = NULL;
    assert_int_equal(study()->open(&state, av_kernels_best(), NULL), AV_OK);
    if (source != NULL) {
        study()->use_source(state, source);
    }
    return state;
}

static const struct av_diversity *begun(void *state, struct av_params p)
{
    assert_int_equal(study()->begin(state, &p, NULL), AV_OK);
    return study()->result(state);
}

static const struct av_diversity *finished(void *state, struct av_params p)
{
    const struct av_diversity *d = begun(state, p);
    while (study()->step(state)) {
    }
    return d;
}

static const struct av_diversity *present(void *state, struct av_params p)
{
    const struct av_diversity *d = begun(state, p);
    while (!d->known) {
        assert_true(study()->step(state));
    }
    return d;
}

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("%.17g instead of %.17g", got, want);
    }
}

/* ---- Against NumPy -------------------------------------------------------------- */

enum { HEADS = 4, K_HEADS = 2, N_Q = 4, N_K = 5, D = 3, PAIRS = HEADS * (HEADS - 1) / 2 };

/* From tests/reference/diversity_reference.py: of the pairs 01, 02, 03, 12 ... the
 * divergences; the share of equal winners; of each head mean entropy, that over
 * ln n, largest weight; points 12, 20, 32 of the factor, 0, 4, 8 of what key 2 is
 * raised by. */
/* clang-format off */
static const struct {
    const char *variant, *mask;
    double pairs[PAIRS], shared, entropy[HEADS], norm[HEADS], max[HEADS], factors[3], raised[3];
} references[] = {
    { "variant=softmax", "mask=none",
      { 0.0283871892700494, 0.00468917033852262, 0.0263675718552957, 0.0227503891529997, 0.00964934408360985, 0.0121026700603081 }, 0.416666666666667, { 1.48394256316334, 1.51066723991355, 1.43402520024452, 1.39990835307262 }, { 0.922025355373314, 0.938630330653034, 0.891009953950765, 0.869811964945831 }, { 0.347085544618999, 0.335303175739127, 0.37601422791404, 0.408907971373765 },
      { 0.00192335383338096, 0.09482383420464, 0.402211471829242 }, { 0.0173243891267976, 0.00454342579170672, 0.000136795779339301 } },
    { "variant=softmax", "mask=causal",
      { 0.0213394990673474, 0.00281267028189999, 0.0182939458713199, 0.0186495458823767, 0.00789961112578619, 0.00936789366755988 }, 0.458333333333333, { 1.08937640453397, 1.13232169798404, 1.0598170723982, 1.04872753879584 }, { 0.912650990246795, 0.95222416533275, 0.88625910568882, 0.890879962240796 }, { 0.491355500481827, 0.432128447492442, 0.511984649204197, 0.485730846127312 },
      { 0.00142015617997023, 0.0808358484119653, 0.374905147190252 }, { 0.0130605276493817, 0.00532249380138625, 0.00265623143836459 } },
    { "variant=sigmoid", "mask=none",
      { 0.0195016212914774, 0.00319835738242003, 0.0178806321880181, 0.015571459814155, 0.00656395644478197, 0.00811155368644295 }, 0.416666666666667, { 1.52249364041152, 1.54107478213043, 1.48766314492021, 1.46456168623135 }, { 0.945978486432515, 0.957523598906476, 0.924337082795745, 0.909983339473072 }, { 0.316969624280073, 0.307369312818643, 0.338828630713957, 0.361102235577486 },
      { 0.00133346344943147, 0.0548556490180768, 0.109888766071899 }, { 0.0118045968012159, 0.00565527844015211, 0.00503974390283437 } },
};
/* clang-format on */

enum { REFERENCES = sizeof references / sizeof references[0] };

struct tensors {
    struct pair_source pair;
    double q_at[HEADS][N_Q][D], k_at[K_HEADS][N_K][D];
};

static void make_tensors(struct tensors *t)
{
    for (size_t h = 0; h < HEADS; h++) {
        for (size_t c = 0; c < D; c++) {
            for (size_t i = 0; i < N_Q; i++) {
                t->q_at[h][i][c] = 2 * sin((double)(1 + 7 * h + 3 * i + 5 * c));
            }
            for (size_t j = 0; j < N_K && h < K_HEADS; j++) {
                t->k_at[h][j][c] = 2 * cos((double)(2 + 11 * h + 5 * j + 3 * c));
            }
        }
    }
    const struct matrix q = { .name = "q", .heads = HEADS, .n = N_Q, .d = D, .f64 = &t->q_at[0][0][0] };
    const struct matrix k = { .name = "k", .heads = K_HEADS, .n = N_K, .d = D, .f64 = &t->k_at[0][0][0] };
    pair_source(&t->pair, &q, &k);
}

static void assert_reference(const struct av_diversity *d, size_t at)
{
    size_t pair = 0;
    double sum = 0;
    assert_int_equal(d->heads, HEADS);
    for (size_t a = 0; a < HEADS; a++) {
        for (size_t b = a + 1; b < HEADS; b++) {
            assert_close(d->pair[a][b], references[at].pairs[pair], 1e-11);
            assert_true(d->pair[a][b] == d->pair[b][a]);
            sum += references[at].pairs[pair++];
        }
        assert_int_equal(d->of[a].rows, N_Q);
        assert_close(d->of[a].entropy, references[at].entropy[a], 1e-12);
        assert_close(d->of[a].entropy_norm, references[at].norm[a], 1e-12);
        assert_close(d->of[a].max, references[at].max[a], 1e-12);
    }
    assert_close(d->divergence, sum / PAIRS, 1e-11);
    assert_close(d->shared, references[at].shared, 1e-12);
    for (size_t i = 0; i < 3; i++) {
        static const size_t factors[] = { 12, 20, 32 }, raised[] = { 0, 4, 8 };
        assert_close(d->curves[AV_DIVERSITY_FACTOR][factors[i]].divergence, references[at].factors[i], 1e-10);
        assert_close(d->curves[AV_DIVERSITY_RAISED][raised[i]].divergence, references[at].raised[i], 1e-10);
    }
}

static void heads_of_files_against_numpy(void **unused)
{
    (void)unused;
    struct tensors t;
    make_tensors(&t);
    for (size_t i = 0; i < REFERENCES; i++) {
        void *state = opened(&t.pair.source);
        assert_reference(finished(state, WITH(references[i].variant, references[i].mask, "key=2")), i);
        study()->close(state);
    }
}

/* Temperature is the inverse of the factor, and the curve goes through the present. */
static void the_curves_go_through_the_present(void **unused)
{
    (void)unused;
    struct tensors t;
    make_tensors(&t);
    void *warm = opened(&t.pair.source), *cold = opened(&t.pair.source);
    const struct av_diversity *a = finished(warm, WITH("temperature=10", "key_offset=30", "key=1"));
    const struct av_diversity *b = finished(cold, WITH("key_offset=30", "key=1"));
    const size_t middle = AV_DIVERSITY_POINTS / 2, decade = (AV_DIVERSITY_POINTS - 1) / 4;
    assert_close(a->at[AV_DIVERSITY_RAISED], 3, 1e-15);
    assert_true(a->at[AV_DIVERSITY_FACTOR] == 1 && b->at[AV_DIVERSITY_RAISED] == 30);
    assert_close(a->curves[AV_DIVERSITY_FACTOR][middle].divergence, a->divergence, 1e-12);
    assert_close(b->curves[AV_DIVERSITY_FACTOR][middle - decade].divergence, a->divergence, 1e-12);
    assert_close(b->curves[AV_DIVERSITY_RAISED][AV_DIVERSITY_POINTS - 1].divergence, b->divergence, 1e-12);
    study()->close(warm);
    study()->close(cold);
}

/* ---- Limits ------------------------------------------------------------------------ */

static void equal_heads_have_no_divergence(void **unused)
{
    (void)unused;
    struct tensors t;
    make_tensors(&t);
    for (size_t h = 1; h < HEADS; h++) {
        memcpy(t.q_at[h], t.q_at[0], sizeof t.q_at[0]);
        memcpy(t.k_at[h % K_HEADS], t.k_at[0], sizeof t.k_at[0]);
    }
    void *state = opened(&t.pair.source);
    const struct av_diversity *d = finished(state, WITH("mask=causal"));
    assert_true(d->divergence == 0 && d->shared == 1);
    for (size_t over = 0; over < AV_DIVERSITY_OVERS; over++) {
        for (size_t i = 0; i < AV_DIVERSITY_POINTS; i++) {
            assert_true(d->curves[over][i].known && d->curves[over][i].divergence == 0);
        }
    }
    study()->close(state);
}

static const double ln2 = AV_DIVERSITY_MOST;

/* Flat, all heads are uniform; sharp, independent ones share a winner in one row
 * of n; with one key raised they are on it. */
static void the_ends_of_the_curves(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_diversity *d = finished(state, WITH("n_head=8"));
    const struct av_diversity_point *factor = d->curves[AV_DIVERSITY_FACTOR], *raised = d->curves[AV_DIVERSITY_RAISED];
    const size_t last = AV_DIVERSITY_POINTS - 1;
    /* for small logits the variance of the differences over 8: two heads of spread 0.01 */
    assert_close(factor[0].divergence, 2e-4 / 8, 0.1);
    assert_true(factor[0].entropy_norm > 0.9999);
    assert_close(factor[last].divergence, ln2 * (1 - 1.0 / 32), 0.01);
    assert_true(factor[last].entropy_norm < 0.01);
    assert_true(raised[last].divergence < 1e-8 && raised[last].divergence > 0 && raised[last].entropy_norm < 1e-8);
    for (size_t i = 1; i <= last; i++) {
        assert_true(factor[i].x > factor[i - 1].x && factor[i].divergence > factor[i - 1].divergence);
        assert_true(factor[i].divergence <= ln2 && factor[i].entropy_norm < factor[i - 1].entropy_norm);
    }
    assert_close(d->chance, 1.0 / 32, 1e-12);
    study()->close(state);
}

static void heads_without_a_common_key(void **unused)
{
    (void)unused;
    struct tensors t;
    make_tensors(&t);
    memset(t.q_at, 0, sizeof t.q_at);
    memset(t.k_at, 0, sizeof t.k_at);
    for (size_t h = 0; h < HEADS; h++) { /* heads 0 and 1 look at keys 0 and 1, 2 and 3 at 2 and 3 */
        for (size_t i = 0; i < N_Q; i++) {
            t.q_at[h][i][0] = 100;
        }
    }
    t.k_at[0][0][0] = t.k_at[0][1][0] = 100;
    t.k_at[1][2][0] = t.k_at[1][3][0] = 100;
    void *state = opened(&t.pair.source);
    const struct av_diversity *d = present(state, WITH("variant=sparsemax"));
    assert_true(d->pair[0][1] == 0 && d->pair[2][3] == 0);
    assert_close(d->pair[0][2], ln2, 1e-15);
    assert_close(d->pair[1][3], ln2, 1e-15);
    assert_close(d->divergence, ln2 * 4 / 6, 1e-15);
    assert_true(d->pair_shared[0][1] == 1 && d->pair_shared[0][2] == 0);
    study()->close(state);
}

/* ---- Heads ----------------------------------------------------------------------------- */

static void more_heads_leave_pairs_alone(void **unused)
{
    (void)unused;
    void *few = opened(NULL), *many = opened(NULL);
    const struct av_diversity *a = present(few, WITH("n_head=2", "corr=0.5")),
                              *b = present(many, WITH("n_head=16", "corr=0.5"));
    assert_true(a->pair[0][1] == b->pair[0][1]);
    assert_memory_equal(&a->of[1].entropy, &b->of[1].entropy, sizeof a->of[1].entropy);
    study()->close(few);
    study()->close(many);
}

/* A head's line is of the head that the rest of the program shows. */
static void a_head_is_that_of_the_pipeline(void **unused)
{
    (void)unused;
    struct av_model *m;
    struct av_params p = WITH("n_head=3", "mask=causal", "d_k=16", "key_offset=2", "key=3");
    void *state = opened(NULL);
    const struct av_diversity *d = present(state, p);
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    for (p.head = 0; p.head < 3; p.head++) {
        assert_int_equal(av_model_update(m, &p, 0, NULL), AV_OK);
        const struct av_summary *now = &av_model_snapshot(m)->now;
        assert_int_equal(d->of[p.head].rows, now->rows);
        assert_close(d->of[p.head].entropy, now->entropy_mean, 1e-12);
        assert_close(d->of[p.head].entropy_norm, now->entropy_norm_mean, 1e-12);
        assert_close(d->of[p.head].max, now->max_mean, 1e-12);
    }
    av_model_free(m);
    study()->close(state);
}

static void one_head_is_not_compared(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    assert_int_equal(begun(state, WITH("n_head=1"))->heads, 1);
    assert_false(study()->step(state));
    assert_true(study()->progress(state) == 1);
    study()->close(state);
}

static void the_first_heads_of_very_many(void **unused)
{
    (void)unused;
    enum { MANY = AV_DIVERSITY_HEADS + 6 };
    static double entries[MANY][2][1];
    for (size_t h = 0; h < MANY; h++) {
        entries[h][0][0] = (double)h;
        entries[h][1][0] = 1;
    }
    const struct matrix t = { .name = "t", .heads = MANY, .n = 2, .d = 1, .f64 = &entries[0][0][0] };
    struct pair_source pair;
    void *state = opened(pair_source(&pair, &t, &t));
    const struct av_diversity *d = present(state, WITH("seed=1"));
    assert_int_equal(d->heads, AV_DIVERSITY_HEADS);
    assert_int_equal(d->params.n_head, MANY);
    assert_true(d->pair[0][AV_DIVERSITY_HEADS - 1] > 0);
    study()->close(state);
}

/* ---- Rows -------------------------------------------------------------------------------- */

/* A row counts for a pair when it counts for both heads. */
static void rows_that_are_no_numbers_are_left_out(void **unused)
{
    (void)unused;
    struct tensors t;
    make_tensors(&t);
    void *whole = opened(&t.pair.source);
    const double before = present(whole, WITH("key=2"))->pair[0][2];
    study()->close(whole);
    t.q_at[1][2][0] = (double)NAN;
    for (size_t i = 0; i < N_Q; i++) {
        t.q_at[3][i][1] = (double)INFINITY;
    }
    void *state = opened(&t.pair.source);
    const struct av_diversity *d = present(state, WITH("key=2"));
    assert_int_equal(d->of[0].rows, N_Q);
    assert_int_equal(d->of[1].rows, N_Q - 1);
    assert_int_equal(d->of[3].rows, 0);
    assert_true(d->pair[0][2] == before && d->pair[0][1] > 0);
    assert_true(isnan(d->pair[0][3]) && isnan(d->pair[3][3]) && isnan(d->of[3].entropy) && isnan(d->of[3].divergence));
    assert_close(d->divergence, (d->pair[0][1] + d->pair[0][2] + d->pair[1][2]) / 3, 1e-15);
    study()->close(state);
}

static void rows_of_one_key_do_not_count(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_diversity *d = finished(state, WITH("n_head=2", "n_k=1"));
    assert_true(d->known && isnan(d->divergence) && isnan(d->pair[0][1]) && isnan(d->shared));
    assert_int_equal(d->of[0].rows, 0);
    assert_true(strncmp(av_diversity_words(d), "no row counts", 13) == 0);
    d = finished(state, WITH("n_head=2", "n_k=2", "n_q=3", "mask=causal"));
    assert_int_equal(d->of[0].rows, 1); /* of 0, 1 and 2 keys */
    study()->close(state);
}

static void large_matrices_are_measured_in_part(void **unused)
{
    (void)unused;
    void *state = opened(NULL);
    const struct av_diversity *d = present(state, WITH("n_head=16", "n_q=2048", "n_k=2048", "d_k=1"));
    assert_in_range(d->rows, 32, 2047);
    assert_in_range(d->curve_rows, 4, d->rows);
    assert_int_equal(d->of[15].rows, d->rows);
    study()->close(state);
}

/* ---- Work ---------------------------------------------------------------------------------- */

/* What was begun before leaves nothing behind, and progress only grows. */
static void the_same_comes_out_however_it_is_begun(void **unused)
{
    (void)unused;
    void *straight = opened(NULL), *detour = opened(NULL);
    const struct av_params p = WITH("n_head=3", "n_q=40", "n_k=24", "variant=score_batchnorm+sigmoid");
    const struct av_diversity *a = finished(straight, p);
    begun(detour, WITH("n_head=5", "n_q=64", "n_k=64", "variant=lsh"));
    study()->step(detour);
    const struct av_diversity *b = begun(detour, p);
    double before = 0;
    while (study()->step(detour)) {
        assert_true(study()->progress(detour) >= before);
        before = study()->progress(detour);
    }
    assert_true(study()->progress(detour) == 1);
    assert_true(a->divergence == b->divergence && a->shared == b->shared);
    assert_memory_equal(a->curves, b->curves, sizeof a->curves);
    study()->close(straight);
    study()->close(detour);
}

static void what_cannot_be_had_is_refused(void **unused)
{
    (void)unused;
    struct av_error e = { "" };
    void *state = opened(NULL);
    const struct av_params odd = WITH("n_head=2", "variant=differential", "d_k=7");
    assert_int_equal(study()->begin(state, &odd, &e), AV_USAGE);
    assert_non_null(strstr(e.text, "even d_k"));
    finished(state, WITH("n_head=2", "variant=differential", "d_k=8"));
    study()->close(state);
}

static void words_follow_the_numbers(void **unused)
{
    (void)unused;
    static const struct {
        const char *setting, *words;
    } cases[] = { { "temperature=10", "alike, for all are flat" },
                  { "key_offset=30", "alike, for all saturate on the same keys" },
                  { "scale=off", "apart" },
                  { "temperature=1", "they overlap" } };
    void *state = opened(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words = av_diversity_words(present(state, WITH("n_head=4", cases[i].setting)));
        if (strncmp(words, cases[i].words, strlen(cases[i].words)) != 0) {
            fail_msg("%s: %s", cases[i].setting, words);
        }
    }
    study()->close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_of_files_against_numpy),
        cmocka_unit_test(the_curves_go_through_the_present),
        cmocka_unit_test(equal_heads_have_no_divergence),
        cmocka_unit_test(the_ends_of_the_curves),
        cmocka_unit_test(heads_without_a_common_key),
        cmocka_unit_test(more_heads_leave_pairs_alone),
        cmocka_unit_test(a_head_is_that_of_the_pipeline),
        cmocka_unit_test(one_head_is_not_compared),
        cmocka_unit_test(the_first_heads_of_very_many),
        cmocka_unit_test(rows_that_are_no_numbers_are_left_out),
        cmocka_unit_test(rows_of_one_key_do_not_count),
        cmocka_unit_test(large_matrices_are_measured_in_part),
        cmocka_unit_test(the_same_comes_out_however_it_is_begun),
        cmocka_unit_test(what_cannot_be_had_is_refused),
        cmocka_unit_test(words_follow_the_numbers),
    };
    return cmocka_run_group_tests_name("diversity", tests, NULL, NULL);
}
