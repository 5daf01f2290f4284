/* test_derivation.c - the chain: which line breaks, the corrected value, and
 * whether measurements agree. */
#include "attnviz/derivation.h"
#include "attnviz/model.h"
#include "attnviz/study.h"
#include "pair_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The lines, in order. */
enum {
    E_Q,
    VAR_Q,
    E_K,
    VAR_K,
    CORR,
    E_S,
    VAR_S,
    KURTOSIS,
    ALPHA,
    VAR_AS,
    ROW_VAR,
    FREEZING,
    ENTROPY,
    JACOBIAN,
    GRADIENT
};

enum { SETTINGS_MAX = 6, NEEDS = AV_NEED_OTHER | AV_NEED_THEORY };

struct bench {
    struct av_model *model;
    struct av_studies *studies;
    struct av_params p;
    struct av_chain chain;
};

static void open_bench(struct bench *b)
{
    assert_int_equal(av_model_new(&b->model, NULL, NULL), AV_OK);
    assert_int_equal(av_studies_new(&b->studies, NULL, NULL), AV_OK);
}

static void close_bench(struct bench *b)
{
    av_model_free(b->model);
    av_studies_free(b->studies);
}

/* The chain for these parameters, its entries measured. */
static void run(struct bench *b)
{
    const struct av_study *origin = av_study_find("origin");
    assert_int_equal(av_model_update(b->model, &b->p, NEEDS, NULL), AV_OK);
    assert_int_equal(av_studies_ask(b->studies, origin, &b->p, NULL), AV_OK);
    const struct av_origin *o;
    do {
        o = av_studies_result(b->studies, origin);
    } while (!o->entries.whole && av_studies_step(b->studies, origin));
    av_chain_make(&b->chain, av_model_snapshot(b->model), &o->entries);
}

static void set(struct bench *b, const char *const *settings)
{
    struct av_error e = { "" };
    av_params_default(&b->p);
    for (; *settings != NULL; settings++) {
        if (av_params_set_text(&b->p, *settings, &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
    }
    assert_int_equal(av_params_check(&b->p, false, &e), AV_OK);
}

#define SET(b, ...) set(b, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- Which line lights up ------------------------------------------------------ */

/* One letter a line, from E[q] = 0 to |J|: '.' holds, 'x' is broken. */
static void the_line_that_needs_it_breaks(void **state)
{
    (void)state;
    static const struct {
        const char *settings[SETTINGS_MAX];
        const char *lines;
    } cases[] = {
        { { NULL }, ".............." },
        { { "q_std=2", NULL }, ".x....x.xxx..." },
        { { "k_std=0.5", NULL }, "...x..x.xxx..." },
        { { "q_std=2", "k_std=0.5", NULL }, ".x.x.........." }, /* cancels */
        { { "q_mean=0.5", NULL }, "x.....xxxxx..." },
        { { "k_mean=0.5", NULL }, "..x...xxxx...." }, /* moves whole rows: not seen within */
        { { "q_mean=0.5", "k_mean=0.5", NULL }, "x.x..xxxxxx..." },
        { { "corr=0.3", NULL }, "....xxxxxxx..." },
        { { "corr=-0.3", NULL }, "....xxxxxxx..." },
        { { "corr=0.3", "mask=causal", NULL }, "....xxxxxxx..." },
        { { "dist=laplace", NULL }, ".......x......" },
        { { "dist=rademacher", NULL }, ".......x......" },
        { { "dist=uniform", NULL }, ".......x......" },
        { { "dist=laplace", "q_std=2", NULL }, ".x....xxxxx..." },
        { { "mask=causal", NULL }, ".............." },
        { { "exponent=1", NULL }, ".........xx..." },
        { { "exponent=0.25", NULL }, ".........xxx.." }, /* std 2.8: 2.63 freezes */
        { { "temperature=2", NULL }, "..........x..." },
        { { "offset=1000", NULL }, ".............." },
        { { "d_k=1", "scale=off", NULL }, ".............." }, /* alpha is 1 either way */
        { { "d_k=1024", NULL }, ".............." },
        { { "d_k=1024", "scale=off", NULL }, ".........xxxxx" },
        { { "n_q=100", "n_k=7", "seed=9", NULL }, ".............." },
    };
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(&b, cases[i].settings);
        run(&b);
        assert_int_equal(b.chain.count, AV_CHAIN_STEPS);
        char lines[JACOBIAN + 2] = "";
        for (size_t k = 0; k <= JACOBIAN; k++) {
            lines[k] = b.chain.steps[k].state == AV_CHAIN_HOLDS    ? '.'
                       : b.chain.steps[k].state == AV_CHAIN_BROKEN ? 'x'
                                                                   : '?';
        }
        bool frozen = b.chain.steps[FREEZING].measured >= b.chain.steps[FREEZING].textbook;
        if (frozen != (lines[FREEZING] == 'x') || strcmp(lines, cases[i].lines) != 0) {
            fail_msg("case %zu: %s, not %s", i, lines, cases[i].lines);
        }
    }
    close_bench(&b);
}

/* ---- The corrected value --------------------------------------------------------- */

struct reference {
    const char *settings[SETTINGS_MAX];
    double values[8]; /* mean, variance, excess kurtosis, variance within rows, each with its standard error */
};

/* From tests/reference/derivation_reference.py. */
static const struct reference references[] = {
    { { NULL }, { 0.000905709, 0.0022, 63.9797, 0.035, 0.0931442, 0.0018, 63.9841, 0.036 } },
    { { "q_std=2", NULL }, { -0.00134772, 0.0043, 256.172, 0.13, 0.0971447, 0.0012, 256.17, 0.13 } },
    { { "k_std=0.5", NULL }, { -0.00017969, 0.0011, 15.9839, 0.0099, 0.0943632, 0.0014, 15.986, 0.01 } },
    { { "q_mean=0.5", NULL }, { 0.00569011, 0.007, 80.0488, 0.063, 0.0907939, 0.0019, 80.0589, 0.064 } },
    { { "k_mean=0.5", NULL }, { 0.00139555, 0.0067, 79.9599, 0.053, 0.0889716, 0.0021, 64.0073, 0.037 } },
    { { "q_mean=0.5", "k_mean=0.5", NULL }, { 16.0091, 0.0096, 96.0817, 0.085, 0.08284, 0.0016, 80.0799, 0.059 } },
    { { "q_mean=-1", "k_mean=2", "q_std=0.5", NULL },
      { -128.018, 0.02, 143.915, 0.2, 0.0159773, 0.003, 79.9282, 0.15 } },
    { { "corr=0.3", NULL }, { 0.600559, 0.0021, 75.3643, 0.05, 0.771272, 0.0029, 75.7245, 0.05 } },
    { { "corr=-0.7", NULL }, { -1.40042, 0.0026, 125.734, 0.084, 7.13386, 0.0073, 127.696, 0.085 } },
    { { "corr=1", NULL }, { 2.00209, 0.003, 190.142, 0.1, 12.8861, 0.0085, 194.144, 0.11 } },
    { { "corr=0.5", "q_mean=0.5", "k_mean=0.5", NULL },
      { 17.034, 0.011, 128.081, 0.09, 2.0559, 0.0052, 112.542, 0.068 } },
    { { "corr=0.3", "q_mean=-0.5", "k_mean=1", "q_std=2", NULL },
      { -30.8504, 0.026, 572.054, 0.69, 0.237607, 0.0025, 318.619, 0.22 } },
    { { "dist=laplace", NULL }, { 0.00375488, 0.0023, 63.9348, 0.048, 0.515731, 0.0038, 63.9289, 0.048 } },
    { { "dist=rademacher", NULL }, { -0.000304688, 0.0024, 64.0291, 0.022, -0.0309023, 0.0015, 64.0376, 0.022 } },
    { { "dist=uniform", NULL }, { -0.000819574, 0.0021, 63.9892, 0.025, 0.0028272, 0.0015, 63.979, 0.027 } },
    { { "dist=laplace", "corr=0.6", NULL }, { 1.20342, 0.0024, 111.582, 0.13, 6.95042, 0.018, 113.029, 0.13 } },
    { { "dist=rademacher", "corr=0.6", NULL }, { 1.19756, 0.0025, 107.974, 0.047, 4.12663, 0.0035, 109.414, 0.047 } },
    { { "dist=rademacher", "q_mean=0.5", "k_mean=-0.5", NULL },
      { -16.0042, 0.0087, 95.9611, 0.065, -0.0154186, 0.0015, 79.9958, 0.053 } },
    { { "dist=laplace", "k_mean=0.5", NULL },
      { -0.0103095, 0.0069, 79.9307, 0.076, 0.410503, 0.0031, 64.0066, 0.046 } },
    { { "mask=causal", NULL }, { 0.00189387, 0.0034, 64.0161, 0.048, 0.0937966, 0.0021, 64.0027, 0.051 } },
    { { "mask=causal", "corr=0.5", NULL }, { 1.93919, 0.0033, 123.214, 0.099, 3.03744, 0.0066, 122.53, 0.1 } },
    { { "mask=causal", "corr=0.5", "n_q=8", "n_k=20", "k_mean=1", NULL },
      { 1.90393, 0.033, 187.251, 0.37, 1.38957, 0.01, 126.971, 0.22 } },
    { { "d_k=4", "corr=0.5", "n_q=4", "n_k=6", NULL },
      { 0.331335, 0.0037, 4.76226, 0.026, 2.14706, 0.058, 4.88035, 0.029 } },
    { { "d_k=1", NULL }, { 5.68786e-05, 0.00026, 1.00164, 0.0031, 5.98012, 0.039, 1.00217, 0.003 } },
};

static void assert_within(const char *what, size_t i, double v, const double *reference)
{
    if (!(fabs(v - reference[0]) <= 4.5 * reference[1] + 1e-12)) {
        fail_msg("case %zu: %s %.8g, by brute force %.8g +- %.2g", i, what, v, reference[0], reference[1]);
    }
}

static void corrected_values_are_those_of_brute_force(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        const double *at = references[i].values;
        set(&b, references[i].settings);
        run(&b);
        const struct av_chain_step *s = b.chain.steps;
        double a2 = pow((double)b.p.d_k, -2 * b.p.exponent);
        assert_within("mean", i, s[E_S].corrected, at);
        assert_within("variance", i, s[VAR_S].corrected, at + 2);
        assert_within("scaled variance", i, s[VAR_AS].corrected / a2, at + 2);
        assert_within("scale", i, 1 / (s[ALPHA].corrected * s[ALPHA].corrected), at + 2);
        assert_within("variance within rows", i, s[ROW_VAR].corrected / a2, at + 6);
        if (b.p.corr == 0) {
            assert_within("kurtosis", i, s[KURTOSIS].corrected, at + 4);
        } else {
            assert_true(isnan(s[KURTOSIS].corrected));
        }
    }
    close_bench(&b);
}

/* ---- Measurements ------------------------------------------------------------------- */

/* In every setting the judged deviations have about the spread that their
 * standard errors say, and none leaves the limit: 24 settings of 150 seeds, some
 * 30,000 judgements, of which normal variables would leave it 0.2 times. */
static void measurements_agree_over_many_seeds(void **state)
{
    (void)state;
    enum { SEEDS = 150, JUDGED = 9 };
    static const int judged[JUDGED] = { E_Q, VAR_Q, E_K, VAR_K, CORR, E_S, VAR_S, VAR_AS, ROW_VAR };
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        double squares[JUDGED] = { 0 };
        bool all = true;
        set(&b, references[i].settings);
        for (b.p.seed = 1; b.p.seed <= SEEDS; b.p.seed++) {
            run(&b);
            for (size_t k = 0; k < JUDGED; k++) {
                const struct av_chain_step *s = &b.chain.steps[judged[k]];
                double z = (s->measured - s->corrected) / s->error;
                squares[k] += z * z / SEEDS;
                all = all && s->measured_agrees != AV_CHAIN_UNJUDGED;
                if (s->measured_agrees == AV_CHAIN_OFF) {
                    fail_msg("case %zu, seed %d: %s %g, not %g +- %g", i, (int)b.p.seed, s->formula, s->measured,
                             s->corrected, s->error);
                }
            }
        }
        for (size_t k = 0; k < JUDGED && all; k++) {
            double spread = sqrt(squares[k]);
            /* Correlation is bounded from above; entries of +-1 have no spread. */
            bool bounded = b.p.corr != 0 || b.p.dist == AV_DIST_RADEMACHER;
            if (spread > 1.3 || (!bounded && spread < 0.7)) {
                fail_msg("case %zu: %s strays by %g standard errors", i, b.chain.steps[judged[k]].formula, spread);
            }
        }
    }
    close_bench(&b);
}

/* A measurement that the parameters do not explain is seen. */
static void what_does_not_fit_is_off(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b);
    SET(&b, "d_k=64");
    run(&b);
    struct av_snapshot wrong = *av_model_snapshot(b.model);
    wrong.score_moments.m2 *= 1.5;
    struct av_entry_moments entries = { .q = wrong.score_moments, .k = wrong.score_moments };
    av_chain_make(&b.chain, &wrong, &entries);
    assert_int_equal(b.chain.steps[VAR_S].measured_agrees, AV_CHAIN_OFF);
    assert_int_equal(b.chain.steps[VAR_S].state, AV_CHAIN_HOLDS);
    assert_int_equal(b.chain.steps[VAR_K].measured_agrees, AV_CHAIN_OFF);
    assert_int_equal(b.chain.steps[E_S].measured_agrees, AV_CHAIN_AGREES);
    av_chain_make(&b.chain, &wrong, NULL);
    assert_int_equal(b.chain.steps[VAR_K].measured_agrees, AV_CHAIN_UNJUDGED);
    assert_true(isnan(b.chain.steps[VAR_K].measured));
    close_bench(&b);
}

/* The standard error of the variance within rows, against the spread over 4000
 * matrices or more that NumPy drew. Where a row has few keys, or entries are
 * +-1, the means of the rows make most of it. */
static void rows_have_means_of_their_own(void **state)
{
    (void)state;
    static const struct {
        const char *settings[SETTINGS_MAX + 2];
        double spread;
    } cases[] = {
        { { "dist=rademacher", "d_k=1", NULL }, 0.0449 },
        { { "dist=rademacher", "d_k=4", "mask=causal", NULL }, 0.253 },
        { { "d_k=4", "mask=causal", NULL }, 0.842 },
        { { "dist=rademacher", "n_q=300", "n_k=2", "d_k=8", NULL }, 2.87 },
        { { "dist=rademacher", "n_q=40", "n_k=4", "q_std=2", NULL }, 35.1 },
        { { "dist=rademacher", "n_q=4", "n_k=4", NULL }, 26.3 },
        { { "dist=uniform", "n_q=16", "n_k=3", "d_k=16", NULL }, 5.02 },
        { { "q_mean=1", "k_std=0.5", "n_k=8", "d_k=4", NULL }, 0.768 },
        { { "mask=causal", "n_q=20", "n_k=30", "d_k=8", NULL }, 1.395 },
    };
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(&b, cases[i].settings);
        b.p.scale = 0;
        run(&b);
        double error = b.chain.steps[ROW_VAR].error;
        if (!(fabs(error / cases[i].spread - 1) <= 0.05)) {
            fail_msg("case %zu: %g, not %g", i, error, cases[i].spread);
        }
    }
    close_bench(&b);
}

static void few_pairs_are_not_judged(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b);
    SET(&b, "n_q=2", "n_k=2", "d_k=4");
    run(&b);
    assert_int_equal(b.chain.steps[E_Q].measured_agrees, AV_CHAIN_UNJUDGED);
    assert_int_equal(b.chain.steps[VAR_S].measured_agrees, AV_CHAIN_UNJUDGED);
    assert_int_equal(b.chain.steps[VAR_S].state, AV_CHAIN_HOLDS);
    close_bench(&b);
}

/* ---- What stands there ----------------------------------------------------------------- */

static void broken_lines_say_the_corrected_formula(void **state)
{
    (void)state;
    static const struct {
        const char *settings[SETTINGS_MAX];
        int line;
        const char *says;
    } cases[] = {
        { { "q_std=2", NULL }, VAR_Q, "q_std^2 = 2^2" },
        { { "q_std=2", NULL }, VAR_S, "64×4×1" },
        { { "q_std=2", NULL }, VAR_AS, "0.125^2×256" },
        { { "k_mean=0.5", NULL }, VAR_S, "d_k (Var[q]Var[k] + Var[q]E[k]^2 + Var[k]E[q]^2) = 64 (1 + 0.25 + 0)" },
        { { "corr=0.3", NULL }, E_S, "+ 19.2 = d_k Cov where i = j, 3.12% of pairs; Cov = corr q_std k_std" },
        { { "corr=0.3", NULL }, VAR_S, "i = j: + d_k Cov^2 (1 + ex. kurtosis of q) = 5.76" },
        { { "corr=0.3", NULL }, VAR_S, "together: 64 +5.76×3.12% + 19.2^2×3.12%×96.9%" },
        { { "dist=rademacher", NULL }, KURTOSIS, "-2/d_k" },
        { { "dist=laplace", NULL }, KURTOSIS, "33/d_k" },
        { { "q_mean=0.5", NULL }, KURTOSIS, "d_k (6 V^2 + 12 V (A+B)) / Var[s]^2" },
        { { "q_mean=0.5", NULL }, KURTOSIS, "V = Var[q]Var[k], A = Var[q]E[k]^2, B = Var[k]E[q]^2" },
        { { "k_mean=0.5", "dist=laplace", NULL }, KURTOSIS, "d_k (33 V^2 + 30 V (A+B) + 3 (A^2+B^2)) / Var[s]^2" },
        { { "k_mean=0.5", "dist=rademacher", NULL }, KURTOSIS, "d_k (-2 V^2 - 2 (A^2+B^2)) / Var[s]^2" },
        { { "corr=0.3", NULL }, KURTOSIS, "no short form" },
        { { "exponent=1", NULL }, VAR_AS, "0.0156^2×64" },
        { { "temperature=2", NULL }, ROW_VAR, "0.0625^2×64" },
        { { "temperature=2", NULL }, GRADIENT, "unscaled 0.184" },
    };
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(&b, cases[i].settings);
        run(&b);
        const struct av_chain_step *s = &b.chain.steps[cases[i].line];
        bool said = strcmp(s->instead, cases[i].says) == 0;
        for (int k = 0; k < AV_CHAIN_DETAILS; k++) {
            said = said || strcmp(s->detail[k], cases[i].says) == 0;
        }
        if (!said) {
            fail_msg("case %zu: not \"%s\" but \"%s\", \"%s\", \"%s\"", i, cases[i].says, s->instead, s->detail[0],
                     s->detail[1]);
        }
    }
    close_bench(&b);
}

/* No text says nan or inf, and no text is cut, wherever parameters stand. */
static void edges_are_said_plainly(void **state)
{
    (void)state;
    static const char *const cases[][SETTINGS_MAX] = {
        { "q_std=0", NULL },
        { "k_std=0", "k_mean=1", NULL },
        { "q_std=0", "k_std=0", "q_mean=0.3", "k_mean=0.7", NULL },
        { "n_q=1", "n_k=1", NULL },
        { "n_q=5", "n_k=2", "mask=causal", NULL },
        { "d_k=1", "n_k=2048", NULL },
        { "q_std=1000", "k_std=1000", "q_mean=-1000", "k_mean=1000", "corr=-0.123", NULL },
        { "q_std=0.00012345", "k_mean=0.00012345", "corr=0.98765", "temperature=0.01", NULL },
        { "logits=1,2,3", NULL },
    };
    struct bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set(&b, cases[i]);
        run(&b);
        for (size_t k = 0; k < b.chain.count; k++) {
            const struct av_chain_step *s = &b.chain.steps[k];
            const char *const texts[] = { s->formula, s->values, s->instead, s->detail[0], s->detail[1], s->detail[2] };
            for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
                assert_true(strlen(texts[t]) < AV_CHAIN_TEXT - 1);
                assert_null(strstr(texts[t], "nan"));
                assert_null(strstr(texts[t], "inf"));
            }
            assert_int_not_equal(s->measured_agrees, AV_CHAIN_OFF);
            assert_false(isinf(s->measured) || isinf(s->corrected));
        }
    }
    close_bench(&b);
}

/* ---- Without samples ---------------------------------------------------------------------- */

static void logits_leave_the_last_lines(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b);
    SET(&b, "logits=9,0,0,0");
    run(&b);
    assert_int_equal(b.chain.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(b.chain.steps[i].group, AV_CHAIN_SOFTMAX);
    }
    assert_int_equal(b.chain.steps[0].state, AV_CHAIN_BROKEN); /* std 4.5 > 1.67 */
    close_bench(&b);
}

/* Entries of files are held against N(0, 1): those that the program would draw
 * hold, twice as large ones do not. */
static void files_are_held_against_the_textbook(void **state)
{
    (void)state;
    enum { N = 40, D = 32 };
    static float x[2][N * D];
    struct matrix q = { .name = "q", .heads = 1, .n = N, .d = D, .f32 = x[0] };
    struct matrix k = { .name = "k", .heads = 1, .n = N, .d = D, .f32 = x[1] };
    struct pair_source pair;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < N; i++) {
            av_kernels_best()->draw(x[side] + i * D, 0, D, AV_DIST_NORMAL, (struct av_stream){ 5, side, i });
        }
    }
    struct bench b;
    open_bench(&b);
    SET(&b, "q_std=3"); /* plays no part */
    av_model_use_source(b.model, pair_source(&pair, &q, &k));
    for (int large = 0; large < 2; large++) {
        for (size_t i = 0; i < N * D && large; i++) {
            x[0][i] *= 2;
        }
        av_model_use_source(b.model, pair_source(&pair, &q, &k));
        assert_int_equal(av_model_update(b.model, &b.p, NEEDS, NULL), AV_OK);
        av_chain_make(&b.chain, av_model_snapshot(b.model), NULL);
        const struct av_chain_step *s = b.chain.steps;
        assert_int_equal(s[E_Q].state, AV_CHAIN_HOLDS);
        assert_int_equal(s[VAR_Q].state, large ? AV_CHAIN_BROKEN : AV_CHAIN_HOLDS);
        assert_string_equal(s[VAR_Q].instead, ""); /* nobody knows what it is */
        assert_int_equal(s[VAR_K].state, AV_CHAIN_HOLDS);
        assert_int_equal(s[CORR].state, AV_CHAIN_HOLDS);
        double sum = 0;
        for (size_t i = 0; i < N * D; i++) {
            sum += (double)x[0][i];
        }
        assert_true(fabs(s[E_Q].measured - sum / (N * D)) < 1e-12);
        assert_int_equal(s[E_S].state, AV_CHAIN_HOLDS);
        assert_int_equal(s[VAR_S].state, large ? AV_CHAIN_BROKEN : AV_CHAIN_HOLDS);
        assert_int_equal(s[VAR_AS].state, large ? AV_CHAIN_BROKEN : AV_CHAIN_HOLDS);
        assert_int_equal(s[ROW_VAR].state, large ? AV_CHAIN_BROKEN : AV_CHAIN_HOLDS);
        assert_true(isnan(s[VAR_S].corrected));
    }
    /* Keys that are the queries: the correlation is seen. */
    k.f32 = x[0];
    av_model_use_source(b.model, pair_source(&pair, &q, &k));
    assert_int_equal(av_model_update(b.model, &b.p, NEEDS, NULL), AV_OK);
    av_chain_make(&b.chain, av_model_snapshot(b.model), NULL);
    assert_true(fabs(b.chain.steps[CORR].measured - 1) < 1e-3); /* (N - 1) / N */
    assert_int_equal(b.chain.steps[CORR].state, AV_CHAIN_BROKEN);
    x[0][0] = (float)NAN;
    av_model_use_source(b.model, &pair.source);
    assert_int_equal(av_model_update(b.model, &b.p, NEEDS, NULL), AV_OK);
    av_chain_make(&b.chain, av_model_snapshot(b.model), NULL);
    assert_int_equal(b.chain.steps[CORR].state, AV_CHAIN_UNKNOWN);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_that_needs_it_breaks),
        cmocka_unit_test(corrected_values_are_those_of_brute_force),
        cmocka_unit_test(measurements_agree_over_many_seeds),
        cmocka_unit_test(what_does_not_fit_is_off),
        cmocka_unit_test(rows_have_means_of_their_own),
        cmocka_unit_test(few_pairs_are_not_judged),
        cmocka_unit_test(broken_lines_say_the_corrected_formula),
        cmocka_unit_test(edges_are_said_plainly),
        cmocka_unit_test(logits_leave_the_last_lines),
        cmocka_unit_test(files_are_held_against_the_textbook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
