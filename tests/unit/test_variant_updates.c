/* test_variant_updates.c - updates of the pipeline under variants and dtypes:
 * stages, history, glides, failures. */
#include "attnviz/variant.h"
#include "model_driver.h"
#include "sanitized.h"

#include <stdlib.h>

/* ---- Memory that runs out ------------------------------------------------------ */

static long allocations_left = -1; /* below 0: as many as there are */

#if !SANITIZED /* a sanitizer has replaced it already */
void *aligned_alloc(size_t alignment, size_t size)
{
    void *at = NULL;
    if (allocations_left == 0) {
        return NULL;
    }
    allocations_left -= allocations_left > 0;
    return posix_memalign(&at, alignment, size) == 0 ? at : NULL;
}
#endif

/* ---- Stages ---------------------------------------------------------------------- */

static void a_variant_recomputes_no_score(void **state)
{
    (void)state;
    static const char *const changes[] = { "variant=qk_rms+softcap",
                                           "softcap.c=5",
                                           "variant=differential",
                                           "dtype=f16",
                                           "variant=softmax",
                                           "variant=lsh",
                                           "scale_order=query",
                                           "dtype=int8",
                                           "variant=score_batchnorm+sigmoid",
                                           "n_head=2",
                                           "scale=off" };
    struct av_model *m = fresh();
    struct av_params p = PARAMS("d_k=16");
    update(m, &p, ALL_NEEDS);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint64_t before[AV_STAGE_COUNT];
        memcpy(before, av_model_snapshot(m)->runs, sizeof before);
        set(&p, (const char *const[]){ changes[i], NULL });
        const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
        for (int stage = 0; stage < AV_STAGE_COUNT; stage++) {
            assert_int_equal(s->runs[stage] - before[stage], stage >= AV_STAGE_LOGITS ? 1 : 0);
        }
    }
    av_model_free(m);
}

/* ---- History --------------------------------------------------------------------- */

#define SAME(member) assert_memory_equal(&(a->member), &(b->member), sizeof a->member)

static void assert_same_summary(const struct av_summary *a, const struct av_summary *b)
{
    assert_int_equal(a->scale, b->scale);
    assert_memory_equal(&a->alpha, &b->alpha, sizeof *a - offsetof(struct av_summary, alpha));
}

/* Everything that a snapshot with ALL_NEEDS says, bit for bit. */
static void assert_same(const struct av_snapshot *a, const struct av_snapshot *b)
{
    size_t pairs = a->n_q * a->n_k;
    SAME(n_q);
    SAME(n_k);
    SAME(alpha);
    SAME(varied);
    SAME(simplex);
    SAME(patterned);
    SAME(score_moments);
    SAME(theory_freezing);
    SAME(has_theory);
    SAME(verdict_count);
    assert_int_equal(a->params.variant, b->params.variant);
    assert_memory_equal(a->scores, b->scores, pairs * sizeof *a->scores);
    assert_memory_equal(a->logits, b->logits, pairs * sizeof *a->logits);
    assert_memory_equal(a->weights, b->weights, pairs * sizeof *a->weights);
    assert_memory_equal(a->rows, b->rows, a->n_q * sizeof *a->rows);
    assert_memory_equal(a->other_rows, b->other_rows, a->n_q * sizeof *a->rows);
    assert_memory_equal(a->invalid, b->invalid, a->n_q * sizeof *a->invalid);
    assert_memory_equal(a->other_invalid, b->other_invalid, a->n_q * sizeof *a->invalid);
    assert_memory_equal(a->invalid_scores, b->invalid_scores, a->n_q * sizeof *a->invalid);
    assert_memory_equal(a->dq_rms, b->dq_rms, a->n_q * sizeof *a->dq_rms);
    assert_memory_equal(a->histogram.scaled, b->histogram.scaled, a->histogram.bins * sizeof(double));
    assert_same_summary(&a->now, &b->now);
    assert_same_summary(&a->other, &b->other);
}

static void any_history_ends_in_the_state_of_a_fresh_model(void **state)
{
    (void)state;
    static const char *const moves[] = {
        "d_k=16",
        "d_k=64",
        "d_k=7",
        "n_q=5",
        "n_q=20",
        "n_k=9",
        "n_k=20",
        "scale=off",
        "scale=on",
        "temperature=3",
        "mask=none",
        "mask=causal",
        "seed=9",
        "offset=7",
        "key_offset=2.5",
        "key=4",
        "q_std=3000",
        "q_std=1",
        "dtype=f64",
        "dtype=f64",
        "dtype=f16",
        "dtype=bf16",
        "dtype=int8",
        "smooth_k=on",
        "scale_order=query",
        "variant=softmax",
        "variant=softmax",
        "variant=qk_rms+softcap",
        "softcap.c=3",
        "variant=differential",
        "variant=lsh",
        "lsh.buckets=4",
        "variant=linformer",
        "linformer.k=3",
        "variant=window+sigmoid",
        "window.size=3",
        "variant=logn+sparsemax",
        "variant=score_batchnorm",
        "variant=score_layernorm+sink",
        "variant=yarn+alibi+entmax15",
        "variant=mup+softpick",
        "variant=clipped+qk_l2",
        "n_head=3",
        "head=1",
    };
    struct av_model *m = fresh();
    struct av_params p = PARAMS("d_k=64", "n_q=20", "n_k=20");
    uint32_t random = 4711;
    for (int step = 0; step < 400; step++) {
        random = random * 1664525 + 1013904223;
        struct av_params next = p;
        set(&next, (const char *const[]){ moves[(random >> 16) % (sizeof moves / sizeof *moves)], NULL });
        av_params_clamp(&next);
        if (av_variant_check(next.variant, &next, NULL) != AV_OK) {
            struct av_error e;
            assert_int_equal(av_model_update(m, &next, ALL_NEEDS, &e), AV_USAGE);
            continue;
        }
        p = next;
        const struct av_snapshot *s = update(m, &p, (random >> 8) % 2 ? ALL_NEEDS : 0);
        if (step % 3 == 0) {
            s = update(m, &p, ALL_NEEDS);
            struct av_model *other = fresh();
            assert_same(s, update(other, &p, ALL_NEEDS));
            av_model_free(other);
        }
    }
    av_model_free(m);
}

/* Half way in the exponent is half way of the variant's own multiplier. */
static void a_glide_goes_between_the_multipliers_of_the_variant(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("variant=mup+softcap", "mup.factor=16");
    struct av_error e;
    update(m, &p, ALL_NEEDS);
    assert_near(av_model_snapshot(m)->alpha, 0.25, 1e-15);
    assert_near(av_model_snapshot(m)->other.alpha, 1, 1e-15);
    assert_int_equal(av_model_glide(m, &p, ALL_NEEDS, pow(64, -0.25), &e), AV_OK);
    assert_true(av_model_snapshot(m)->gliding);
    assert_near(av_model_snapshot(m)->alpha, 0.5, 1e-15);
    struct av_model *other = fresh();
    assert_same(update(m, &p, ALL_NEEDS), update(other, &p, ALL_NEEDS));
    av_model_free(other);
    av_model_free(m);
}

/* ---- Failures -------------------------------------------------------------------- */

static void a_failed_allocation_leaves_the_old_state(void **state)
{
    (void)state;
    static const struct {
        const char *from[4], *to[5];
    } cases[] = {
        { { "d_k=8", NULL }, { "variant=qk_rms", NULL } },
        { { "d_k=8", NULL }, { "variant=qk_rms", "d_k=24", "n_k=40", NULL } },
        { { "d_k=8", "variant=qk_rms", NULL }, { "variant=differential", "seed=9", NULL } },
        { { "d_k=8", "variant=sigmoid", NULL }, { "variant=linformer", "mask=causal", NULL } },
        { { "d_k=8", "variant=qk_l2", NULL }, { "variant=lsh", "dtype=int8", "n_q=40", "n_k=40", NULL } },
    };
    if (SANITIZED) {
        skip();
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct av_params from = params(cases[c].from);
        struct av_params to = from;
        set(&to, cases[c].to);
        struct av_model *as_from = fresh(), *as_to = fresh();
        update(as_from, &from, ALL_NEEDS);
        update(as_to, &to, ALL_NEEDS);
        enum av_status status = AV_NOMEM;
        for (long n = 0; status != AV_OK; n++) {
            struct av_model *m = fresh();
            struct av_error e = { "" };
            update(m, &from, ALL_NEEDS);
            allocations_left = n;
            status = av_model_update(m, &to, ALL_NEEDS, &e);
            allocations_left = -1;
            assert_true(n > 0 || status == AV_NOMEM);
            if (status != AV_OK) {
                assert_int_equal(status, AV_NOMEM);
                assert_same(av_model_snapshot(m), av_model_snapshot(as_from));
                set(&from, (const char *const[]){ "query=3", NULL });
                assert_same(update(m, &from, ALL_NEEDS), av_model_snapshot(as_from));
            }
            assert_same(update(m, &to, ALL_NEEDS), av_model_snapshot(as_to));
            av_model_free(m);
        }
        av_model_free(as_from);
        av_model_free(as_to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variant_recomputes_no_score),
        cmocka_unit_test(any_history_ends_in_the_state_of_a_fresh_model),
        cmocka_unit_test(a_glide_goes_between_the_multipliers_of_the_variant),
        cmocka_unit_test(a_failed_allocation_leaves_the_old_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
