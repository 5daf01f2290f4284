/* test_fused.c - a head summed up tile by tile, against the pipeline that holds every
 * score and weight. */
#include "attnviz/fused.h"
#include "attnviz/params.h"
#include "drawn_source.h"
#include "model_driver.h"

static struct av_fused *begin(const struct drawn_source *s, const struct av_params *p, size_t threads)
{
    struct av_fused *f;
    struct av_error e = { "" };
    if (av_fused_begin(&f, &s->source, 0, 0, p, threads, NULL, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return f;
}

static const struct av_snapshot *run(struct av_fused *f)
{
    struct av_error e = { "" };
    if (av_fused_run(f, NULL, NULL, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    assert_true(av_fused_progress(f) == 1);
    assert_non_null(av_fused_snapshot(f));
    return av_fused_snapshot(f);
}

/* Relative, and absolute below the size of a quantity whose digits cancel. */
static void close_to(const char *what, double a, double b, double relative, double absolute)
{
    if (isnan(a) != isnan(b) || fabs(a - b) > relative * fmax(fabs(a), fabs(b)) + absolute) {
        fail_msg("%s: %.17g fused, %.17g materialised", what, a, b);
    }
}

static void same_row(const struct av_rowstats *a, const struct av_rowstats *b)
{
    assert_int_equal(a->keys, b->keys);
    assert_int_equal(a->argmax, b->argmax);
    const double pairs[][2] = {
        { a->max, b->max },
        { a->one_minus_max, b->one_minus_max },
        { a->entropy, b->entropy },
        { a->sum_p2, b->sum_p2 },
        { a->trace, b->trace },
        { a->jacobian_fro, b->jacobian_fro },
        { a->row_sum, b->row_sum },
        { a->scaled.half_gap, b->scaled.half_gap },
        { a->scaled.one_minus_max, b->scaled.one_minus_max },
        { a->scaled.half_surprise, b->scaled.half_surprise },
        { a->scaled.trace, b->scaled.trace },
        { a->scaled.jacobian_fro, b->scaled.jacobian_fro },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        /* A key's offset is added to a score where the pipeline adds it to a difference of scores. */
        close_to("row", pairs[i][0], pairs[i][1], 1e-12, 0);
    }
    close_to("max_logit", a->max_logit, b->max_logit, 1e-13, 1e-13);
}

static void same_moments(const struct av_moments *a, const struct av_moments *b)
{
    double std = av_moments_std(b);
    assert_int_equal(a->count, b->count);
    close_to("mean", a->mean, b->mean, 1e-13, 1e-13 * std);
    close_to("std", av_moments_std(a), std, 1e-12, 0);
    close_to("kurtosis", av_moments_excess_kurtosis(a), av_moments_excess_kurtosis(b), 0, 1e-11);
    close_to("min", a->min, b->min, 1e-14, 1e-14);
    close_to("max", a->max, b->max, 1e-14, 1e-14);
}

static void same_summary(const struct av_summary *a, const struct av_summary *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->rows_without_keys, b->rows_without_keys);
    assert_int_equal(a->scale, b->scale);
    same_moments(&a->logits, &b->logits);
    close_to("row_std", a->row_std, b->row_std, 1e-12, 0);
    close_to("alpha", a->alpha, b->alpha, 0, 0);
    close_to("entropy_norm_mean", a->entropy_norm_mean, b->entropy_norm_mean, 1e-12, 0);
    close_to("effective_keys_mean", a->effective_keys_mean, b->effective_keys_mean, 1e-12, 0);
    close_to("jacobian_fro_median", a->jacobian_fro_median, b->jacobian_fro_median, 1e-12, 0);
    close_to("one_minus_max_median", a->one_minus_max_median, b->one_minus_max_median, 1e-12, 0);
    close_to("d_scores_rms_median", a->d_scores_rms_median, b->d_scores_rms_median, 1e-12, 0);
    close_to("share_max_gt_0_9", a->share_max_gt_0_9, b->share_max_gt_0_9, 0, 0);
    close_to("share_fro_lt_1e_3", a->share_fro_lt_1e_3, b->share_fro_lt_1e_3, 0, 0);
    close_to("row_sum_error_max", a->row_sum_error_max, b->row_sum_error_max, 0, 1e-13);
    assert_true(isnan(a->dq_rms_mean) && isnan(a->dq_rms_median));
}

static void same_verdicts(const struct av_snapshot *a, const struct av_snapshot *b)
{
    assert_int_equal(a->verdict_count, b->verdict_count);
    for (size_t i = 0; i < a->verdict_count; i++) {
        assert_string_equal(a->verdicts[i].code, b->verdicts[i].code);
        assert_int_equal(a->verdicts[i].severity, b->verdicts[i].severity);
        assert_string_equal(a->verdicts[i].text, b->verdicts[i].text);
    }
}

/* Of the selected row; none where it sees no key. */
static void same_query(const struct av_snapshot *fused, const struct av_snapshot *whole)
{
    const size_t query = (size_t)whole->params.query;
    assert_int_equal(fused->query_weights != NULL, whole->rows[query].keys > 0);
    for (size_t j = 0; fused->query_weights != NULL && j < whole->n_k; j++) {
        close_to("weight", fused->query_weights[j], whole->weights[query * whole->n_k + j], 1e-12, 0);
    }
}

/* It is told where every weight is surely above 0, and that is where it is so. */
static void same_nonzero_share(const struct av_snapshot *fused, const struct av_snapshot *whole)
{
    const double share = whole->now.nonzero_share_mean;
    const bool tiny = whole->params.temperature < 0.1; /* gaps of hundreds */
    assert_true(tiny ? share < 1 : share == 1 || whole->now.rows == 0);
    close_to("nonzero share", fused->now.nonzero_share_mean, tiny ? (double)NAN : share, 0, 0);
}

static void compare(const struct av_params *p, bool wide, size_t threads)
{
    struct drawn_source s;
    drawn_source(&s, (size_t)p->n_q, (size_t)p->n_k, (size_t)p->d_k, wide);
    s.seed = p->seed;
    struct av_model *m = fresh();
    const struct av_snapshot *whole = update(m, p, AV_NEED_NONZERO);
    struct av_fused *f = begin(&s, p, threads);
    const struct av_snapshot *fused = run(f);
    for (size_t i = 0; i < whole->n_q; i++) {
        assert_int_equal(fused->invalid[i], whole->invalid[i]);
        same_row(&fused->rows[i], &whole->rows[i]);
    }
    same_moments(&fused->score_moments, &whole->score_moments);
    close_to("score_row_std", fused->score_row_std, whole->score_row_std, 1e-12, 0);
    close_to("freezing", fused->theory_freezing, whole->theory_freezing, 0, 0);
    same_summary(&fused->now, &whole->now);
    same_verdicts(fused, whole);
    same_query(fused, whole);
    same_nonzero_share(fused, whole);
    av_fused_free(f);
    av_model_free(m);
}

static void it_is_what_the_pipeline_finds(void **state)
{
    (void)state;
    const struct av_params settings[] = {
        PARAMS("n_q=300", "n_k=700", "d_k=64", "seed=3", "query=299"),
        PARAMS("n_q=700", "n_k=700", "d_k=64", "mask=causal", "seed=4", "query=129"),
        PARAMS("n_q=600", "n_k=1500", "d_k=17", "mask=causal", "scale=off", "seed=5", "query=512"),
        PARAMS("n_q=700", "n_k=130", "d_k=33", "mask=causal", "seed=6"), /* rows without keys */
        PARAMS("n_q=513", "n_k=1", "d_k=8"),
        PARAMS("n_q=1", "n_k=2000", "d_k=300", "scale=off", "temperature=0.03"), /* gaps of hundreds */
        PARAMS("n_q=600", "n_k=300", "d_k=1024", "scale=off", "offset=5", "temperature=2", "query=1"),
        PARAMS("n_q=530", "n_k=400", "d_k=64", "key=7", "key_offset=12", "offset=-3", "query=3"),
        PARAMS("n_q=530", "n_k=400", "d_k=64", "key=390", "key_offset=-4", "mask=causal", "temperature=0.5",
               "query=528"),
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        compare(&settings[i], i % 2 != 0, 1 + i % 3);
    }
}

static void invalid_rows_are_left_out(void **state)
{
    (void)state;
    struct av_params p = PARAMS("mask=causal");
    struct drawn_source s;
    drawn_source(&s, 700, 700, 32, false);
    s.not_finite = 600;
    struct av_fused *f = begin(&s, &p, 1);
    const struct av_snapshot *fused = run(f);
    assert_true(fused->invalid[600] && !fused->invalid[599] && !fused->invalid[601]);
    assert_int_equal(fused->rows[600].keys, 601);
    assert_true(fused->rows[600].max == 0);
    assert_int_equal(fused->now.rows, 698); /* the first row sees one key */
    assert_int_equal(fused->score_moments.count, 700 * 701 / 2 - 601);
    assert_true(isfinite(fused->now.entropy_mean));
    assert_string_equal(fused->verdicts[0].code, "score_overflow");
    av_fused_free(f);
}

/* ---- However it is cut ------------------------------------------------------ */

static void assert_same_bits(const struct av_snapshot *a, const struct av_snapshot *b)
{
    assert_memory_equal(a->rows, b->rows, a->n_q * sizeof *a->rows);
    assert_memory_equal(&a->score_moments, &b->score_moments, sizeof a->score_moments);
    assert_memory_equal(&a->now.logits, &b->now.logits, sizeof a->now.logits);
    assert_memory_equal(&a->now.row_std, &b->now.row_std, sizeof a->now.row_std);
    assert_memory_equal(&a->now.entropy_mean, &b->now.entropy_mean, sizeof a->now.entropy_mean);
}

static bool now_and_then(void *context)
{
    size_t *asked = context;
    return ++*asked % 5 == 0;
}

static void threads_and_portions_change_no_bit(void **state)
{
    (void)state;
    const struct av_params settings[] = { PARAMS("mask=causal"), PARAMS("mask=none", "scale=off") };
    for (size_t i = 0; i < 2; i++) {
        struct drawn_source s;
        drawn_source(&s, 2300, 2000, 40, false);
        struct av_fused *one = begin(&s, &settings[i], 1), *two = begin(&s, &settings[i], 2);
        struct av_fused *stepped = begin(&s, &settings[i], 3), *stopped = begin(&s, &settings[i], 2);
        const struct av_snapshot *want = run(one);
        assert_same_bits(run(two), want);
        double before = 0;
        while (av_fused_snapshot(stepped) == NULL) {
            assert_int_equal(av_fused_step(stepped, NULL), AV_OK);
            assert_true(av_fused_progress(stepped) > before);
            before = av_fused_progress(stepped);
        }
        assert_same_bits(av_fused_snapshot(stepped), want);
        size_t asked = 0, stops = 0;
        while (av_fused_run(stopped, now_and_then, &asked, NULL) == AV_INTERRUPTED) {
            assert_null(av_fused_snapshot(stopped));
            stops++;
        }
        assert_true(stops > 2);
        assert_same_bits(av_fused_snapshot(stopped), want);
        struct av_fused *all[] = { one, two, stepped, stopped };
        for (size_t f = 0; f < 4; f++) {
            av_fused_free(all[f]);
        }
    }
}

/* Interrupted with two threads, what the second has begun is left to the first. */
static void a_step_goes_on_where_threads_were(void **state)
{
    (void)state;
    struct av_params p = PARAMS("mask=none");
    struct drawn_source s;
    drawn_source(&s, 1500, 2000, 40, false);
    struct av_fused *f = begin(&s, &p, 2), *whole = begin(&s, &p, 1);
    size_t asked = 0;
    assert_int_equal(av_fused_run(f, now_and_then, &asked, NULL), AV_INTERRUPTED);
    while (av_fused_snapshot(f) == NULL) {
        assert_int_equal(av_fused_step(f, NULL), AV_OK);
    }
    assert_same_bits(av_fused_snapshot(f), run(whole));
    av_fused_free(f);
    av_fused_free(whole);
}

/* A stream, whose keys would not be held otherwise, is read from its beginning to
 * its end once, by however many threads. */
static void a_stream_is_read_as_it_comes(void **state)
{
    (void)state;
    struct av_params p = PARAMS("mask=causal");
    for (size_t threads = 1; threads <= 2; threads++) {
        struct drawn_source s, random;
        drawn_source(&s, 140, 1100, 4096, false); /* keys of 18 MB, two blocks of queries */
        drawn_source(&random, 140, 1100, 4096, false);
        s.source.streamed = true;
        struct av_fused *f = begin(&s, &p, threads), *g = begin(&random, &p, 1);
        assert_same_bits(run(f), run(g));
        assert_int_equal(s.went_back, 0);
        assert_int_equal(s.rows_read, 140 + 1100);
        assert_true(random.went_back > 0);
        av_fused_free(f);
        av_fused_free(g);
    }
    struct drawn_source s;
    drawn_source(&s, 2100, 300, 8, false); /* five blocks of queries */
    s.source.streamed = true;
    struct av_fused *f = begin(&s, &p, 2);
    run(f);
    assert_int_equal(s.went_back, 0);
    av_fused_free(f);
}

/* ---- Failures ---------------------------------------------------------------- */

static void a_source_that_fails_is_told_and_asked_again(void **state)
{
    (void)state;
    struct av_params p = PARAMS("mask=none");
    struct drawn_source s, good;
    drawn_source(&s, 1100, 4200, 1000, false); /* keys of 16.8 MB: read tile by tile */
    drawn_source(&good, 1100, 4200, 1000, false);
    s.layer.n_q = good.layer.n_q = 60;
    struct av_fused *whole = begin(&good, &p, 1);
    for (size_t threads = 1; threads <= 2; threads++) {
        s.reads = 0;
        s.fail_after = 20;
        struct av_fused *f = begin(&s, &p, threads);
        struct av_error e = { "" };
        assert_int_equal(av_fused_run(f, NULL, NULL, &e), AV_FAILED);
        assert_string_equal(e.text, "the file has shrunk");
        assert_null(av_fused_snapshot(f));
        s.fail_after = 0;
        assert_same_bits(run(f), av_fused_snapshot(whole) != NULL ? av_fused_snapshot(whole) : run(whole));
        av_fused_free(f);
    }
    av_fused_free(whole);
    drawn_source(&s, 100, 100, 8, false); /* keys that are held */
    s.fail_after = 1;
    struct av_fused *f = begin(&s, &p, 1);
    assert_int_equal(av_fused_step(f, NULL), AV_FAILED);
    av_fused_free(f);
    s.reads = 1;
    assert_int_equal(av_fused_begin(&f, &s.source, 0, 0, &p, 1, NULL, NULL), AV_FAILED);
    assert_null(f);
}

static void other_weights_are_refused(void **state)
{
    (void)state;
    const struct av_params settings[] = { PARAMS("variant=softcap"), PARAMS("dtype=bf16") };
    struct drawn_source s;
    drawn_source(&s, 10, 10, 8, false);
    for (size_t i = 0; i < 2; i++) {
        struct av_fused *f;
        struct av_error e = { "" };
        assert_int_equal(av_fused_begin(&f, &s.source, 0, 0, &settings[i], 1, NULL, &e), AV_USAGE);
        assert_null(f);
        assert_true(strlen(e.text) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_the_pipeline_finds),
        cmocka_unit_test(invalid_rows_are_left_out),
        cmocka_unit_test(threads_and_portions_change_no_bit),
        cmocka_unit_test(a_step_goes_on_where_threads_were),
        cmocka_unit_test(a_stream_is_read_as_it_comes),
        cmocka_unit_test(a_source_that_fails_is_told_and_asked_again),
        cmocka_unit_test(other_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
