/* test_model.c - the pipeline: stages, reuse, values, files, failures. */
#include "attnviz/model.h"
#include "pair_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ALL_NEEDS = AV_NEED_OTHER | AV_NEED_DQ | AV_NEED_THEORY | AV_NEED_HISTOGRAM };

static struct av_model *fresh(void)
{
    struct av_model *m;
    struct av_error e;
    assert_int_equal(av_model_new(&m, NULL, &e), AV_OK);
    return m;
}

static struct av_params params(const char *const *assignments)
{
    struct av_params p;
    struct av_error e = { "" };
    av_params_default(&p);
    for (size_t i = 0; assignments[i] != NULL; i++) {
        assert_int_equal(av_params_set_text(&p, assignments[i], &e), AV_OK);
    }
    assert_int_equal(av_params_check(&p, false, &e), AV_OK);
    return p;
}

#define PARAMS(...) params((const char *const[]){ __VA_ARGS__, NULL })

static const struct av_snapshot *update(struct av_model *m, const struct av_params *p, unsigned needs)
{
    struct av_error e = { "" };
    if (av_model_update(m, p, needs, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return av_model_snapshot(m);
}

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fmax(fabs(a), fabs(b)))) {
        fail_msg("%.17g is not %.17g to %g", a, b, relative);
    }
}

/* ---- stages ------------------------------------------------------------------ */

static void a_change_runs_only_what_it_makes_stale(void **state)
{
    (void)state;
    static const struct {
        const char *assignment;
        enum av_stage first;
    } cases[] = {
        { "temperature=2", AV_STAGE_LOGITS }, { "offset=5", AV_STAGE_LOGITS },     { "scale=off", AV_STAGE_LOGITS },
        { "key_offset=3", AV_STAGE_LOGITS },  { "mask=causal", AV_STAGE_MOMENTS }, { "exponent=1", AV_STAGE_LOGITS },
        { "query=3", AV_STAGE_COUNT },        { "key=3", AV_STAGE_COUNT },         { "d_k=128", AV_STAGE_SAMPLE },
        { "seed=1", AV_STAGE_SAMPLE },        { "bins=60", AV_STAGE_COUNT },       { "n_k=40", AV_STAGE_SAMPLE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_model *m = fresh();
        struct av_params p = PARAMS("d_k=64");
        uint64_t before[AV_STAGE_COUNT];
        memcpy(before, update(m, &p, ALL_NEEDS)->runs, sizeof before);
        p = PARAMS(cases[i].assignment);
        const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
        for (int stage = 0; stage < AV_STAGE_COUNT; stage++) {
            assert_int_equal(s->runs[stage] - before[stage], stage >= (int)cases[i].first ? 1 : 0);
        }
        av_model_free(m);
    }
}

/* Everything that a snapshot says, bit for bit. */
static void assert_same(const struct av_snapshot *a, const struct av_snapshot *b)
{
    size_t pairs = a->n_q * a->n_k;
    assert_int_equal(a->n_q, b->n_q);
    assert_int_equal(a->n_k, b->n_k);
    assert_memory_equal(a->scores, b->scores, pairs * sizeof *a->scores);
    assert_memory_equal(a->logits, b->logits, pairs * sizeof *a->logits);
    assert_memory_equal(a->weights, b->weights, pairs * sizeof *a->weights);
    assert_memory_equal(a->dq_rms, b->dq_rms, a->n_q * sizeof *a->dq_rms);
    assert_memory_equal(&a->score_moments, &b->score_moments, sizeof a->score_moments);
    assert_memory_equal(a->histogram.unscaled, b->histogram.unscaled, a->histogram.bins * sizeof(double));
    assert_memory_equal(a->histogram.scaled, b->histogram.scaled, a->histogram.bins * sizeof(double));
    for (size_t i = 0; i < a->n_q; i++) {
        assert_true(a->rows[i].argmax == b->rows[i].argmax && a->rows[i].keys == b->rows[i].keys);
        assert_memory_equal(&a->rows[i].entropy, &b->rows[i].entropy, sizeof(double));
        assert_memory_equal(&a->other_rows[i].entropy, &b->other_rows[i].entropy, sizeof(double));
    }
    assert_memory_equal(&a->now.dq_rms_mean, &b->now.dq_rms_mean, sizeof(double));
    assert_memory_equal(&a->now.entropy_mean, &b->now.entropy_mean, sizeof(double));
    assert_memory_equal(&a->other.entropy_mean, &b->other.entropy_mean, sizeof(double));
    assert_int_equal(a->has_theory, b->has_theory);
    if (a->has_theory) {
        assert_near(a->theory.entropy, b->theory.entropy, 1e-12);
    }
    assert_int_equal(a->verdict_count, b->verdict_count);
}

static void any_history_ends_in_the_state_of_a_fresh_model(void **state)
{
    (void)state;
    static const char *const moves[] = {
        "d_k=16",      "d_k=64",       "d_k=65",       "d_k=300",      "d_k=7",    "n_q=5",         "n_q=48",
        "n_k=9",       "n_k=33",       "n_k=70",       "scale=off",    "scale=on", "corr=0.5",      "corr=0",
        "seed=9",      "seed=42",      "bins=20",      "bins=50",      "offset=7", "temperature=3", "mask=none",
        "mask=causal", "dist=laplace", "dist=normal",  "k_mean=1",     "k_mean=0", "exponent=1",    "key_offset=2.5",
        "key=4",       "query=3",      "exponent=0.5", "key_offset=0",
    };
    struct av_model *m = fresh();
    struct av_params p = PARAMS("d_k=64");
    uint32_t random = 12345;
    for (int step = 0; step < 300; step++) {
        struct av_error e;
        random = random * 1664525 + 1013904223;
        const char *move = moves[(random >> 16) % (sizeof moves / sizeof moves[0])];
        assert_int_equal(av_params_set_text(&p, move, &e), AV_OK);
        av_params_clamp(&p);
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

static void a_glide_ends_where_an_update_would(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("scale=off");
    struct av_error e;
    update(m, &p, ALL_NEEDS);
    p.scale = 1;
    for (double exponent = 0.1; exponent < 0.5; exponent += 0.1) {
        assert_int_equal(av_model_glide(m, &p, ALL_NEEDS, pow(64, -exponent), &e), AV_OK);
        assert_near(av_model_snapshot(m)->alpha, pow(64, -exponent), 1e-15);
    }
    uint64_t scores = av_model_snapshot(m)->runs[AV_STAGE_SCORES];
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    assert_int_equal(s->runs[AV_STAGE_SCORES], scores);
    struct av_model *other = fresh();
    assert_same(s, update(other, &p, ALL_NEEDS));
    av_model_free(other);
    av_model_free(m);
}

/* The histogram of the state that glides is that of the scores times the
 * multiplier of the moment, on the axis that stands, tails and all. */
static void a_glide_moves_its_histogram(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("d_k=1024", "scale=off");
    struct av_error e;
    assert_int_equal(av_model_glide(m, &p, AV_NEED_HISTOGRAM, 0.25, &e), AV_OK);
    const struct av_snapshot *s = av_model_snapshot(m);
    const struct av_score_histogram *h = &s->histogram;
    double width = (h->hi - h->lo) / (double)h->bins;
    size_t inside = 0;
    double sum = 0;
    for (size_t i = 0; i < s->n_q * s->n_k; i++) {
        inside += 0.25 * s->scores[i] >= h->lo && 0.25 * s->scores[i] <= h->hi;
    }
    for (size_t b = 0; b < h->bins; b++) {
        sum += h->unscaled[b] * width;
    }
    assert_true(s->gliding && h->unscaled_factor == 0.25 && h->scaled_factor == 1.0 / 32);
    assert_near(sum, (double)inside / (double)(s->n_q * s->n_k), 1e-12);
    assert_true(sum > 0.99); /* at rest a third of them are beyond the axis */
    update(m, &p, AV_NEED_HISTOGRAM);
    assert_true(h->unscaled_factor == 1 && h->unscaled_beyond > 0.25);
    av_model_free(m);
}

/* ---- values -------------------------------------------------------------------- */

/* One row computed the plain way in long double. */
struct plain {
    long double entropy, max, fro, trace, sum_p2;
};

static struct plain plain_row(const double *z, size_t n)
{
    long double top = -(long double)INFINITY;
    long double sum = 0;
    struct plain r = { 0, 0, 0, 0, 0 };
    for (size_t j = 0; j < n; j++) {
        top = fmaxl(top, (long double)z[j]);
    }
    for (size_t j = 0; j < n; j++) {
        sum += expl((long double)z[j] - top);
    }
    for (size_t j = 0; j < n; j++) {
        long double p = expl((long double)z[j] - top) / sum;
        r.entropy -= p > 0 ? p * logl(p) : 0;
        r.max = fmaxl(r.max, p);
        r.trace += p * (1 - p);
        r.sum_p2 += p * p;
        for (size_t i = 0; i < n; i++) {
            long double pi = expl((long double)z[i] - top) / sum;
            long double entry = (i == j ? p : 0) - pi * p;
            r.fro += entry * entry;
        }
    }
    r.fro = sqrtl(r.fro);
    return r;
}

static void summaries_agree_with_plain_sums(void **state)
{
    (void)state;
    const char *const settings[][4] = {
        { "d_k=64", NULL },
        { "scale=off", NULL },
        { "mask=causal", "temperature=0.7", NULL },
        { "mask=causal", "n_q=20", "n_k=13", NULL },
        { "key_offset=4", "key=2", "offset=-3", NULL },
        { "d_k=1024", "scale=off", NULL },
    };
    for (size_t c = 0; c < sizeof settings / sizeof settings[0]; c++) {
        struct av_model *m = fresh();
        struct av_params p = params(settings[c]);
        const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
        double entropy = 0, norm = 0, fro = 0, trace = 0, max = 0, effective = 0, sum_p2 = 0, dead = 0, sharp = 0;
        size_t rows = 0;
        size_t pairs = 0;
        for (size_t i = 0; i < s->n_q; i++) {
            double z[64];
            size_t n = av_row_length((enum av_mask)p.mask, i, s->n_q, s->n_k);
            for (size_t j = 0; j < n; j++) {
                double shift = (double)(j == (size_t)p.key) * p.key_offset;
                z[j] = (s->alpha * s->scores[i * s->n_k + j] + p.offset + shift) / p.temperature;
                assert_near(z[j], s->logits[i * s->n_k + j], 1e-12);
            }
            for (size_t j = n; j < s->n_k; j++) {
                assert_true(s->weights[i * s->n_k + j] == 0 && s->logits[i * s->n_k + j] == -(double)INFINITY);
            }
            pairs += n;
            assert_int_equal(s->rows[i].keys, n);
            if (n < 2) {
                continue;
            }
            struct plain r = plain_row(z, n);
            rows++;
            entropy += (double)r.entropy;
            norm += (double)r.entropy / log((double)n);
            effective += exp((double)r.entropy);
            fro += (double)r.fro;
            trace += (double)r.trace;
            sum_p2 += (double)r.sum_p2;
            max += (double)r.max;
            dead += r.fro < 1e-3L;
            sharp += r.max > 0.9L;
        }
        double n = (double)rows;
        assert_int_equal(s->now.rows, rows);
        assert_int_equal(s->score_moments.count, pairs);
        assert_near(s->now.entropy_mean, entropy / n, 1e-12);
        assert_near(s->now.entropy_norm_mean, norm / n, 1e-12);
        assert_near(s->now.effective_keys_mean, effective / n, 1e-12);
        assert_near(s->now.jacobian_fro_mean, fro / n, 1e-12);
        assert_near(s->now.trace_mean, trace / n, 1e-12);
        assert_near(s->now.sum_p2_mean, sum_p2 / n, 1e-12);
        assert_near(s->now.max_mean, max / n, 1e-12);
        assert_true(s->now.share_fro_lt_1e_3 == dead / n);
        assert_true(s->now.share_max_gt_0_9 == sharp / n);
        assert_near(s->now.d_scores_rms_median, s->alpha / p.temperature * s->now.jacobian_fro_median, 1e-15);
        av_model_free(m);
    }
}

static void a_common_offset_changes_no_bit_of_the_weights(void **state)
{
    (void)state;
    struct av_model *a = fresh();
    struct av_model *b = fresh();
    struct av_params p = PARAMS("offset=0");
    struct av_params q = PARAMS("offset=999999.7");
    const struct av_snapshot *s = update(a, &p, 0);
    const struct av_snapshot *t = update(b, &q, 0);
    assert_memory_equal(s->weights, t->weights, s->n_q * s->n_k * sizeof(double));
    assert_near(t->now.logits.mean, s->now.logits.mean + 999999.7, 1e-12);
    av_model_free(a);
    av_model_free(b);
}

static void logits_by_hand_give_the_known_row(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("logits=1,0.5,-0.5", "scale=off", "d_k=4096");
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    assert_int_equal(s->n_k, 3);
    assert_near(s->rows[0].entropy, 0.952807564013367, 1e-13);
    assert_near(s->rows[0].one_minus_max, 0.45345061273382, 1e-13);
    assert_near(s->rows[0].trace, 0.576520001015637, 1e-13);
    assert_near(s->rows[0].jacobian_fro, 0.446994076281827, 1e-13);
    assert_true(s->alpha == 1 && s->scores == NULL && !s->has_theory && s->histogram.bins == 0);
    p = PARAMS("logits=1,0.5,-0.5", "key=2", "key_offset=1.5", "temperature=0.5", "offset=8");
    s = update(m, &p, ALL_NEEDS); /* (1, 0.5, 1) / 0.5 + 16 */
    assert_near(s->logits[2], 18, 1e-15);
    assert_near(s->weights[1], exp(1) / (2 * exp(2) + exp(1)), 1e-14);
    av_model_free(m);
}

/* The probed key's offset must not be rounded at the size of the scores:
 * values by exact rational logits and 60 digits. */
static void a_small_offset_on_large_logits_keeps_its_digits(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("logits=100000,100000.25,99999.5", "key=1", "key_offset=-0.1", "temperature=0.01");
    const struct av_snapshot *s = update(m, &p, 0);
    /* z - z_1 = (0, 15, -50): 0.25 - 0.1 = 0.15 and -0.5, over 0.01. */
    long double a = expl(-100 * (0.25L - (long double)0.1));
    long double c = expl(-100 * (0.75L - (long double)0.1));
    assert_near(s->weights[0], (double)(a / (1 + a + c)), 1e-13);
    assert_near(s->rows[0].one_minus_max, (double)((a + c) / (1 + a + c)), 1e-13);
    assert_near(s->rows[0].max_logit, 10000015, 1e-14);
    av_model_free(m);
}

/* Differences of logits beyond the largest double: no weight is NaN, and no key
 * is taken for a masked one. */
static void a_probed_key_among_enormous_logits_leaves_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *logits;
        double weights[3];
    } cases[] = {
        { "logits=1e308,-1e308,-1e308", { 1, 0, 0 } }, { "logits=-1e308,1e308,1e308", { 0, 0.5, 0.5 } },
        { "logits=0,1e308,-1e308", { 0, 1, 0 } },      { "logits=1e308,1e308,-1e308", { 0.5, 0.5, 0 } },
        { "logits=1e308,0,-1e308", { 1, 0, 0 } },      { "logits=-1e308,-1e308,1e308", { 0, 0, 1 } },
    };
    struct av_model *m = fresh();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct av_params p = PARAMS(cases[i].logits, "key_offset=1e-9");
        const struct av_snapshot *s = update(m, &p, 0);
        for (size_t j = 0; j < 3; j++) {
            assert_near(s->weights[j], cases[i].weights[j], 1e-8);
        }
        assert_int_equal(s->rows[0].keys, 3);
        assert_true(isfinite(s->rows[0].entropy) && isfinite(av_rowstats_log10_one_minus_max(&s->rows[0])));
    }
    av_model_free(m);
}

static void spreads_beyond_double_are_told(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("logits=1e308,-1e308", "temperature=0.01");
    const struct av_snapshot *s = update(m, &p, 0);
    assert_true(s->weights[0] == 1 && s->weights[1] == 0);
    assert_int_equal(s->verdict_count, 2);
    assert_string_equal(s->verdicts[0].code, "saturated");
    assert_null(strstr(s->verdicts[0].text, "nan"));
    assert_non_null(strstr(s->verdicts[0].text, "inf within a row is above"));
    assert_true(isinf(av_rowstats_log10_one_minus_max(&s->rows[0])));
    av_model_free(m);
}

static void expected_moments_hold_for_every_distribution(void **state)
{
    (void)state;
    static const char *const settings[][6] = {
        { "dist=normal", NULL },
        { "dist=uniform", "q_std=2", NULL },
        { "dist=rademacher", "k_std=0.5", NULL },
        { "dist=laplace", "k_mean=0.5", NULL },
        { "dist=normal", "q_mean=0.3", "k_mean=-0.2", NULL },
        { "dist=laplace", "mask=causal", "q_std=3", NULL },
    };
    for (size_t c = 0; c < sizeof settings / sizeof settings[0]; c++) {
        double mean = 0, var = 0, square = 0;
        enum { SEEDS = 40 };
        struct av_model *m = fresh();
        struct av_params p = params(settings[c]);
        for (p.seed = 0; p.seed < SEEDS; p.seed++) {
            const struct av_snapshot *s = update(m, &p, 0);
            mean += s->score_moments.mean / SEEDS;
            square += s->score_moments.mean * s->score_moments.mean / SEEDS;
            double shift = s->score_moments.mean - s->expected_mean;
            var += (av_moments_var(&s->score_moments) + shift * shift) / SEEDS;
        }
        /* Rows share keys, so the error of the mean is taken between seeds. */
        double error = sqrt((square - mean * mean) / SEEDS);
        const struct av_snapshot *s = av_model_snapshot(m);
        assert_true(fabs(mean - s->expected_mean) < 5 * error);
        assert_near(var, s->expected_var, 0.06);
        av_model_free(m);
    }
}

static void correlated_pairs_have_the_stated_moments(void **state)
{
    (void)state;
    static const char *const dists[] = { "dist=normal", "dist=uniform", "dist=rademacher", "dist=laplace" };
    static const double kappa[] = { 0, -1.2, -2, 3 };
    for (size_t c = 0; c < 4; c++) {
        struct av_model *m = fresh();
        struct av_params p = PARAMS(dists[c], "corr=0.6", "n_q=256", "n_k=256", "d_k=32", "q_std=2", "k_mean=0.5");
        double sum = 0, sum2 = 0;
        size_t n = 0;
        for (p.seed = 0; p.seed < 20; p.seed++) {
            const struct av_snapshot *s = update(m, &p, 0);
            for (size_t i = 0; i < s->n_q; i++, n++) {
                double x = s->scores[i * s->n_k + i];
                sum += x;
                sum2 += x * x;
            }
        }
        double mean = sum / (double)n;
        double var = sum2 / (double)n - mean * mean;
        double want = 32 * (4 * (1 + 0.36 * (1 + kappa[c])) + 4 * 0.25);
        assert_near(mean, 32 * 0.6 * 2, 5 * sqrt(want / (double)n) / (32 * 0.6 * 2));
        assert_near(var, want, 0.08);
        av_model_free(m);
    }
}

static void theory_is_given_where_it_holds(void **state)
{
    (void)state;
    static const struct {
        const char *assignment;
        bool holds;
    } cases[] = {
        { "d_k=64", true },      { "scale=off", true },     { "k_mean=3", true },      { "mask=causal", true },
        { "q_mean=0.1", false }, { "corr=0.1", false },     { "dist=uniform", false }, { "key_offset=1", false },
        { "offset=100", true },  { "temperature=2", true }, { "logits=1,2,3", false }, { "n_k=1", false },
    };
    struct av_model *m = fresh();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_params p = PARAMS(cases[i].assignment);
        const struct av_snapshot *s = update(m, &p, AV_NEED_THEORY);
        assert_int_equal(s->has_theory, cases[i].holds);
    }
    struct av_params p = PARAMS("scale=off", "n_q=64", "n_k=64");
    const struct av_snapshot *s = update(m, &p, AV_NEED_THEORY);
    assert_true(fabs(s->theory.entropy_norm - 0.14049) < 1e-5); /* by independent quadrature */
    assert_near(s->theory_freezing, sqrt(2 * log(64)), 1e-14);
    av_model_free(m);
}

static void histograms_are_densities(void **state)
{
    (void)state;
    struct av_model *m = fresh();
    struct av_params p = PARAMS("n_q=128", "n_k=128", "bins=40");
    const struct av_snapshot *s = update(m, &p, AV_NEED_HISTOGRAM);
    const struct av_score_histogram *h = &s->histogram;
    double width = (h->hi - h->lo) / (double)h->bins;
    const double *series[] = { h->unscaled, h->scaled, h->unscaled_curve, h->scaled_curve };
    assert_int_equal(h->bins, 40);
    assert_true(h->exact);
    for (int k = 0; k < 4; k++) {
        double sum = 0;
        for (size_t b = 0; b < h->bins; b++) {
            sum += series[k][b] * width;
        }
        assert_true(sum > 0.999 && sum < 1 + 1e-9);
    }
    av_model_free(m);
}

/* ---- files ----------------------------------------------------------------------- */

static void values_that_are_not_finite_make_rows_invalid(void **state)
{
    (void)state;
    float q[3 * 2] = { 1, 2, NAN, 1, 3, 4 };
    float k[3 * 2] = { 1, 0, 0, 1, 1, INFINITY };
    struct matrix tq = { .name = "q.npy", .heads = 1, .n = 3, .d = 2, .f32 = q };
    struct matrix tk = { .name = "k.npy", .heads = 1, .n = 3, .d = 2, .f32 = k };
    struct av_model *m = fresh();
    struct av_params p = PARAMS("mask=causal");
    struct pair_source pair;
    av_model_use_source(m, pair_source(&pair, &tq, &tk));
    p.n_q = p.n_k = 3;
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    assert_false(s->invalid[0]); /* sees key 0 alone */
    assert_true(s->invalid[1] && s->invalid[2]);
    assert_true(isnan(s->weights[1 * 3 + 1]) && s->weights[0] == 1);
    assert_int_equal(s->now.rows, 0);
    assert_true(isnan(s->now.entropy_mean));
    assert_int_equal(s->verdict_count, 2);
    assert_string_equal(s->verdicts[0].code, "nan_input");
    assert_non_null(strstr(s->verdicts[0].text, "row 1, column 0"));
    assert_string_equal(s->verdicts[1].code, "inf_input");
    assert_non_null(strstr(s->verdicts[1].text, "row 2, column 1"));
    av_model_free(m);
}

static void scores_beyond_double_are_told(void **state)
{
    (void)state;
    double q[2] = { 1, 1e200 };
    double k[2] = { 1e200, 0 };
    struct matrix tq = { .name = "q", .heads = 1, .n = 2, .d = 1, .f64 = q };
    struct matrix tk = { .name = "k", .heads = 1, .n = 2, .d = 1, .f64 = k };
    struct av_model *m = fresh();
    struct av_params p;
    av_params_default(&p);
    struct pair_source pair;
    av_model_use_source(m, pair_source(&pair, &tq, &tk));
    const struct av_snapshot *s = update(m, &p, 0);
    assert_false(s->invalid[0]);
    assert_true(s->invalid[1]);
    assert_string_equal(s->verdicts[0].code, "score_overflow");
    assert_non_null(strstr(s->verdicts[0].text, "1 rows"));
    assert_non_null(strstr(s->verdicts[0].text, "first row 1"));
    av_model_free(m);
}

static void a_source_sets_the_ranges(void **state)
{
    (void)state;
    float x[12] = { 0 };
    struct matrix q = { .name = "q", .heads = 3, .n = 2, .d = 2, .f32 = x };
    struct pair_source pair;
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    p.layer = 7;
    av_params_from_source(&p, pair_source(&pair, &q, &q));
    assert_int_equal(p.layer, 0);
    assert_int_equal(p.n_q, 2);
    assert_int_equal(p.d_k, 2);
    p.head = 3;
    assert_int_equal(av_params_check(&p, true, &e), AV_USAGE);
    assert_non_null(strstr(e.text, "0 .. 2"));
}

/* What cannot be read leaves what stood, to the last bit, and can be asked for
 * again when it can. */
static void a_head_that_cannot_be_read_leaves_the_old_state(void **state)
{
    (void)state;
    float x[3 * 4 * 2];
    for (int i = 0; i < 24; i++) {
        x[i] = (float)(i * i % 7);
    }
    struct matrix q = { .name = "q", .heads = 3, .n = 4, .d = 2, .f32 = x };
    struct pair_source pair;
    struct av_model *m = fresh();
    struct av_error e;
    struct av_params p;
    av_params_default(&p);
    av_model_use_source(m, pair_source(&pair, &q, &q));
    pair.broken = 1;
    double weights[16];
    const struct av_snapshot *s = update(m, &p, ALL_NEEDS);
    memcpy(weights, s->weights, sizeof weights);
    p.head = 1;
    assert_int_equal(av_model_update(m, &p, ALL_NEEDS, &e), AV_FAILED);
    assert_string_equal(e.text, "q: head 1 is broken");
    assert_int_equal(s->head, 0);
    assert_int_equal(s->params.head, 0);
    assert_memory_equal(s->weights, weights, sizeof weights);
    assert_true(s->loaded->q.f32[1] == x[1]);
    p.temperature = 2;
    p.head = 0; /* goes on from there */
    assert_true(update(m, &p, ALL_NEEDS)->scores[1] == (double)x[0] * (double)x[2] + (double)x[1] * (double)x[3]);
    pair.broken = 2;
    p.head = 1;
    assert_int_equal(update(m, &p, ALL_NEEDS)->head, 1);
    av_model_free(m);
}

static void grouped_queries_share_keys(void **state)
{
    (void)state;
    float q[4 * 1 * 1] = { 1, 2, 3, 4 };
    float k[2 * 2 * 1] = { 10, 20, 30, 40 };
    struct matrix tq = { .name = "q", .heads = 4, .n = 1, .d = 1, .f32 = q };
    struct matrix tk = { .name = "k", .heads = 2, .n = 2, .d = 1, .f32 = k };
    struct av_model *m = fresh();
    struct pair_source pair;
    av_model_use_source(m, pair_source(&pair, &tq, &tk));
    for (int64_t head = 0; head < 4; head++) {
        struct av_params p;
        av_params_default(&p);
        p.head = head;
        const struct av_snapshot *s = update(m, &p, 0);
        assert_int_equal(s->k_head, head / 2);
        assert_true(s->scores[1] == (double)q[head] * (double)k[head / 2 * 2 + 1]);
    }
    av_model_free(m);
}

/* ---- failing ------------------------------------------------------------------------ */

static void sizes_beyond_the_machine_are_refused(void **state)
{
    (void)state;
    static float x[1 << 20];
    struct matrix t = { .name = "t", .heads = 1, .n = 1u << 20, .d = 1, .f32 = x };
    struct av_model *m = fresh();
    struct av_params p;
    struct av_error e;
    av_params_default(&p);
    struct pair_source pair;
    av_model_use_source(m, pair_source(&pair, &t, &t));
    assert_int_equal(av_model_update(m, &p, 0, &e), AV_NOMEM);
    assert_non_null(strstr(e.text, "memory"));
    av_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_runs_only_what_it_makes_stale),
        cmocka_unit_test(any_history_ends_in_the_state_of_a_fresh_model),
        cmocka_unit_test(a_glide_ends_where_an_update_would),
        cmocka_unit_test(a_glide_moves_its_histogram),
        cmocka_unit_test(summaries_agree_with_plain_sums),
        cmocka_unit_test(a_common_offset_changes_no_bit_of_the_weights),
        cmocka_unit_test(logits_by_hand_give_the_known_row),
        cmocka_unit_test(a_small_offset_on_large_logits_keeps_its_digits),
        cmocka_unit_test(a_probed_key_among_enormous_logits_leaves_numbers),
        cmocka_unit_test(spreads_beyond_double_are_told),
        cmocka_unit_test(expected_moments_hold_for_every_distribution),
        cmocka_unit_test(correlated_pairs_have_the_stated_moments),
        cmocka_unit_test(theory_is_given_where_it_holds),
        cmocka_unit_test(histograms_are_densities),
        cmocka_unit_test(values_that_are_not_finite_make_rows_invalid),
        cmocka_unit_test(scores_beyond_double_are_told),
        cmocka_unit_test(a_source_sets_the_ranges),
        cmocka_unit_test(a_head_that_cannot_be_read_leaves_the_old_state),
        cmocka_unit_test(grouped_queries_share_keys),
        cmocka_unit_test(sizes_beyond_the_machine_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
