/* test_attend_reductions.c - variants that become one another, single rows by hand, buckets, and what is nearly
 * nothing. */
#include "attend_driver.h"

enum { N = 12, D = 16 };

static void same_weights(const char *what, const struct head *a, const struct head *b, double tolerance)
{
    const size_t n = a->n_q * a->n_k;
    if (!(largest_difference(a->weights, b->weights, n) <= tolerance) ||
        !(largest_difference(a->dq, b->dq, a->n_q) <= 10 * tolerance)) {
        fail_msg("%s: weights off by %g, dq by %g", what, largest_difference(a->weights, b->weights, n),
                 largest_difference(a->dq, b->dq, a->n_q));
    }
}

/* ---- Plain softmax as a limit ---------------------------------------------------- */

static void the_softmax_by_another_name(void **state)
{
    (void)state;
    const char *const names[][2] = { { "sqrt", "" },
                                     { "mup", "mup.factor=4" }, /* the root of d */
                                     { "fixed", "fixed.scalar=16" },
                                     { "inverse_layer", "inverse_layer.layer=1" },
                                     { "learned", "learned.gain=1" },
                                     { "mixed", "" },
                                     { "logn", "logn.L=12" },
                                     { "yarn", "yarn.S=1" },
                                     { "llama4", "" },
                                     { "softcap", "softcap.c=1e9" },
                                     { "sink", "sink.logit=-1e6" },
                                     { "clipped", "clipped.eta=1 clipped.gamma=0" },
                                     { "differential", "differential.lambda=0 exponent=0 scale=off" },
                                     { "window", "window.size=12" },
                                     { "linformer", "linformer.k=12" } };
    for (size_t v = 0; v < sizeof names / sizeof names[0]; v++) {
        struct head *plain = new_head(N, N, D, 21), *h = new_head(N, N, D, 21);
        if (strcmp(names[v][0], "differential") == 0) { /* all is in the first half */
            for (size_t i = 0; i < N * D; i++) {
                h->k[i] = plain->k[i] = i % D < D / 2 ? h->k[i] : 0;
            }
        }
        run_variant(plain, "softmax", strstr(names[v][1], "scale=off") != NULL ? "scale=off" : "");
        run_variant(h, names[v][0], names[v][1]);
        same_weights(names[v][0], h, plain, 4e-15);
        free(plain);
        free(h);
    }
}

/* Entries of 1/2 and -1/2 in four columns: vectors of length 1, exactly. */
static void qk_l2_of_unit_vectors(void **state)
{
    (void)state;
    struct head *plain = new_head(N, N, 4, 8), *h = new_head(N, N, 4, 8);
    for (size_t i = 0; i < N * 4; i++) {
        plain->q[i] = h->q[i] = h->q[i] < 0 ? -0.5f : 0.5f;
        plain->k[i] = h->k[i] = h->k[i] < 0 ? -0.5f : 0.5f;
    }
    run_variant(plain, "softmax", "");
    run_variant(h, "qk_l2", "qk_l2.g=0.5");
    assert_memory_equal(plain->weights, h->weights, sizeof h->weights);
    free(plain);
    free(h);
}

/* ln w_0 - ln w_j = c tanh(z_0/c) - c tanh(z_j/c), and c tanh(z/c) = z - z^3/(3 c^2) + ... */
static void softcap_of_a_large_c(void **state)
{
    (void)state;
    const double c = 1000;
    struct head *h = new_head(N, N, D, 21);
    run_variant(h, "softcap", "softcap.c=1000 temperature=0.1");
    for (size_t i = 0; i < N; i++) {
        const double *z = h->logits + i * N, *w = h->weights + i * N;
        for (size_t j = 1; j < N; j++) {
            const double off = z[0] - z[j] - log(w[0] / w[j]);
            const double cubes = (pow(z[0], 3) - pow(z[j], 3)) / (3 * c * c);
            const double fifths = (pow(fabs(z[0]), 5) + pow(fabs(z[j]), 5)) / (7 * pow(c, 4));
            assert_true(fabs(off - cubes) <= fifths + 1e-13);
            assert_true(fabs(off) <= (pow(fabs(z[0]), 3) + pow(fabs(z[j]), 3)) / (3 * c * c) + 1e-13);
        }
    }
    free(h);
}

/* ---- Shared queries and keys --------------------------------------------------------- */

/* Softmax over the keys with the bucket of the query, itself at -5e4. */
static void lsh_by_definition(double *w, const struct head *h, size_t i, const int *bucket, double multiplier)
{
    double z[N], sum = 0, max = -HUGE_VAL;
    for (size_t j = 0; j < N; j++) {
        double size = 0, dot = 0;
        for (size_t c = 0; c < D; c++) {
            size += (double)h->q[j * D + c] * (double)h->q[j * D + c];
            dot += (double)h->q[i * D + c] * (double)h->q[j * D + c];
        }
        z[j] = bucket[i] != bucket[j] ? -HUGE_VAL : i == j ? -5e4 : multiplier * dot / sqrt(size);
        max = fmax(max, z[j]);
    }
    for (size_t j = 0; j < N; j++) {
        sum += w[j] = exp(z[j] - max);
    }
    for (size_t j = 0; j < N; j++) {
        w[j] /= sum;
    }
}

static void lsh_of_one_bucket_is_full_attention(void **state)
{
    (void)state;
    const int bucket[N] = { 0 };
    struct head *h = new_head(N, N, D, 33), *want = new_head(N, N, D, 33);
    run_variant(h, "lsh", "lsh.buckets=1 scale=off");
    for (size_t i = 0; i < N; i++) {
        lsh_by_definition(want->weights + i * N, h, i, bucket, 1);
        assert_true(h->weights[i * N + i] == 0 && h->logits[i * N + i] == -5e4);
    }
    assert_true(largest_difference(h->weights, want->weights, N * N) <= 2e-15);
    free(h);
    free(want);
}

/* The argmax of [x R, -x R], R being drawn as entries of tensor 128 are. */
static void lsh_of_several_buckets(void **state)
{
    (void)state;
    enum { BUCKETS = 6, HALF = BUCKETS / 2 };
    struct head *h = new_head(N, N, D, 33), *want = new_head(N, N, D, 33);
    int bucket[N], used = 0;
    for (size_t i = 0; i < N; i++) {
        double best = -HUGE_VAL;
        for (int b = 0; b < BUCKETS; b++) {
            float r[D];
            const struct av_stream stream = { 7, 128, (uint32_t)(b % HALF) };
            av_kernels_best()->draw(r, 0, D, AV_DIST_NORMAL, stream);
            double x = 0;
            for (size_t c = 0; c < D; c++) {
                x += (b < HALF ? 1 : -1) * (double)r[c] * (double)h->q[i * D + c];
            }
            bucket[i] = x > best ? b : bucket[i];
            best = fmax(best, x);
        }
        used |= 1 << bucket[i];
    }
    assert_true((used & (used - 1)) != 0); /* more than one */
    run_variant(h, "lsh", "lsh.buckets=6 seed=7");
    for (size_t i = 0; i < N; i++) {
        lsh_by_definition(want->weights + i * N, h, i, bucket, 0.25);
    }
    assert_true(largest_difference(h->weights, want->weights, N * N) <= 2e-15);
    struct head *rounds = new_head(N, N, D, 33);
    run_variant(rounds, "lsh", "lsh.buckets=6 seed=7 lsh.rounds=3");
    size_t seen = 0, more = 0;
    for (size_t i = 0; i < N; i++) {
        seen += h->rows[i].keys;
        more += rounds->rows[i].keys;
        assert_true(rounds->rows[i].keys >= h->rows[i].keys);
    }
    assert_true(more > seen);
    free(rounds);
    free(h);
    free(want);
}

/* What is sampled first does not change when keys and columns are added. */
static void buckets_of_causal_rows_stay(void **state)
{
    (void)state;
    struct head *few = new_head(6, 6, D, 33), *many = new_head(N, N, D, 33);
    run_variant(few, "lsh", "lsh.buckets=4 mask=causal");
    run_variant(many, "lsh", "lsh.buckets=4 mask=causal");
    for (size_t i = 0; i < 6; i++) {
        assert_memory_equal(few->weights + i * 6, many->weights + i * N, 6 * sizeof *few->weights);
    }
    free(few);
    free(many);
}

/* ---- A row by hand ---------------------------------------------------------------------- */

static double largest_by_hand(const char *variant, const char *assignments, double *z, size_t n)
{
    static double weights[AV_LOGITS_MAX];
    struct av_params p;
    struct av_rowstats row;
    bool invalid;
    av_params_default(&p);
    assert_int_equal(av_variant_parse(&p.variant, variant, NULL), AV_OK);
    assert_true(assignments == NULL || av_params_set_text(&p, assignments, NULL) == AV_OK);
    const struct av_attend_head head = { .n_q = 1, .n_k = n, .scores = z, .by_hand = true };
    struct av_attend *a = new_attend();
    assert_int_equal(av_attend_begin(a, &p, &head, (double)NAN, NULL), AV_OK);
    const struct av_attend_rows rows = { .to = 1, .weights = weights, .rows = &row, .invalid = &invalid };
    av_attend_run(a, &rows);
    av_attend_free(a);
    assert_false(invalid);
    assert_true(weights[row.argmax] == row.max);
    return row.max;
}

static void ssmax_does_not_fade(void **state)
{
    (void)state;
    double z[1000];
    for (size_t j = 0; j < 1000; j++) {
        z[j] = j == 4 ? 3 : -2;
    }
    assert_true(fabs(largest_by_hand("ssmax", "ssmax.sigma=0.43", z, 10) - 0.9401) < 5e-5);
    assert_true(fabs(largest_by_hand("ssmax", "ssmax.sigma=0.43", z, 1000) - 0.9996) < 5e-5);
    assert_true(fabs(largest_by_hand("softmax", NULL, z, 10) - 0.9428) < 5e-5);
    assert_true(fabs(largest_by_hand("softmax", NULL, z, 1000) - 0.1293) < 5e-5);
}

/* Rows that need more than logits leave them alone; those that do not, act. */
static void by_hand_only_rows_of_logits_act(void **state)
{
    (void)state;
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    double z[] = { 1.5, 0.2, -0.7, 2.2 };
    const double plain = largest_by_hand("softmax", NULL, z, 4);
    for (size_t v = 0; v < count; v++) {
        const av_variant_value value = av_variant_with(0, &rows[v]);
        const bool acts = av_variant_on_logits(value) != 0 && rows[v].group != AV_GROUP_TRAINING;
        const char *showing = strcmp(rows[v].name, "logn") == 0 ? "logn.L=2" : "softcap.c=1";
        const double largest = largest_by_hand(rows[v].name, showing, z, 4);
        if (acts != (fabs(largest - plain) > 1e-3)) {
            fail_msg("%s: %g, softmax %g", rows[v].name, largest, plain);
        }
    }
    const double narrow = largest_by_hand("softmax", "dtype=bf16", z, 4);
    assert_true(narrow == av_dtype_round(AV_DTYPE_BF16, narrow) && fabs(narrow - plain) < 0.01);
}

/* ---- What is nearly nothing, and not lost --------------------------------------------------- */

/* Two keys: layer normalisation leaves the sign of s_0 - s_1 and what eps lets
 * through: z = +-x, x = e / sqrt(e^2 + eps), e = (s_0 - s_1) / 2. */
static void two_keys_normalised(void **state)
{
    (void)state;
    struct head *h = new_head(5, 2, D, 12);
    run_variant(h, "score_layernorm", "");
    double apart = 0;
    for (size_t c = 0; c < D; c++) {
        apart += pow((double)h->k[c] - (double)h->k[D + c], 2);
    }
    for (size_t i = 0; i < 5; i++) {
        const double e = (h->scores[2 * i] - h->scores[2 * i + 1]) / 2, r2 = e * e + 1e-5, x = e / sqrt(r2);
        const double p = 1 / (1 + exp(-2 * x)), slope = p * (1 - p) * 1e-5 / (r2 * sqrt(r2));
        assert_true(fabs(h->d_scores[i] - 2 * slope) <= 1e-12 * slope);
        assert_true(fabs(h->dq[i] - slope * sqrt(2 * apart)) <= 1e-12 * h->dq[i]);
    }
    free(h);
}

/* A query of one number has a sign and no length. */
static void one_column_normalised(void **state)
{
    (void)state;
    struct head *h = new_head(6, 6, 1, 12);
    for (size_t i = 0; i < 6; i++) {
        h->q[i] += 0.01f;
        h->k[i] += 0.01f;
    }
    const char *const names[] = { "qk_l2", "cosine", "swin2", "qk_layernorm" };
    for (size_t v = 0; v < 4; v++) {
        run_variant(h, names[v], "");
        for (size_t i = 0; i < 6; i++) {
            assert_true(h->dq[i] == 0 && !h->invalid[i]);
        }
    }
    run_variant(h, "qk_rms", "");
    assert_true(h->dq[2] > 0 && h->dq[2] < 1e-4);
    free(h);
}

/* sum_j |g p_j (k_j - kbar) N|^2, N = (1 - u u^T) / |q|, in 40 columns. */
static void normalised_queries_of_many_columns(void **state)
{
    (void)state;
    enum { WIDE = 40 };
    struct head *h = new_head(N, N, WIDE, 13);
    run_variant(h, "cosine", "");
    for (size_t i = 0; i < N; i++) {
        long double k[N][WIDE], mean[WIDE] = { 0 }, u[WIDE], size = 0, sum = 0;
        for (size_t c = 0; c < WIDE; c++) {
            u[c] = (long double)h->q[i * WIDE + c];
            size += u[c] * u[c];
        }
        for (size_t j = 0; j < N; j++) {
            long double length = 0;
            for (size_t c = 0; c < WIDE; c++) {
                k[j][c] = (long double)h->k[j * WIDE + c];
                length += k[j][c] * k[j][c];
            }
            for (size_t c = 0; c < WIDE; c++) {
                k[j][c] /= sqrtl(length);
                mean[c] += (long double)h->weights[i * N + j] * k[j][c];
            }
        }
        for (size_t j = 0; j < N; j++) {
            long double along = 0, square = 0;
            for (size_t c = 0; c < WIDE; c++) {
                along += (k[j][c] - mean[c]) * u[c] / sqrtl(size);
                square += (k[j][c] - mean[c]) * (k[j][c] - mean[c]);
            }
            sum += powl((long double)h->weights[i * N + j], 2) * (square - along * along) / size;
        }
        const double want = 10 * (double)sqrtl(sum);
        assert_true(fabs(h->dq[i] - want) <= 1e-13 * want);
    }
    free(h);
}

/* exp(-600) of a gradient, as the default softmax's kernel has it. */
static void saturation_costs_no_digits(void **state)
{
    (void)state;
    struct head *h = new_head(N, N, D, 40);
    run_variant(h, "none", "temperature=0.05");
    double *scratch = calloc(AV_DQ_SCRATCH(N) + 8, sizeof *scratch);
    void *aligned = (char *)scratch + (64 - (uintptr_t)scratch % 64) % 64;
    const struct av_entries k = { .f32 = h->k, .pitch = D };
    double smallest = 1;
    for (size_t i = 0; i < N; i++) {
        struct av_dq_row row = { h->weights + i * N, N, h->rows[i].argmax, 0 };
        av_kernels_best()->dq(&row, 1, &k, D, aligned);
        assert_true(row.dq > 0 && fabs(h->dq[i] - row.dq / 0.05) <= 1e-13 * h->dq[i]);
        smallest = fmin(smallest, h->dq[i]);
    }
    assert_true(smallest < 1e-60);
    free(scratch);
    free(h);
}

/* An offset that is large costs the weights nothing where it changes nothing. */
static void a_large_offset(void **state)
{
    (void)state;
    struct head *h = new_head(N, N, D, 40), *moved = new_head(N, N, D, 40);
    run_variant(h, "sparsemax", "");
    run_variant(moved, "sparsemax", "offset=1e6");
    assert_memory_equal(h->weights, moved->weights, sizeof h->weights);
    for (size_t i = 0; i < N * N; i++) {
        assert_true(fabs(moved->logits[i] - h->logits[i] - 1e6) < 1e-9);
    }
    assert_true(fabs(moved->rows[3].max_logit - h->rows[3].max_logit - 1e6) < 1e-9);
    free(h);
    free(moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_softmax_by_another_name),
        cmocka_unit_test(qk_l2_of_unit_vectors),
        cmocka_unit_test(softcap_of_a_large_c),
        cmocka_unit_test(lsh_of_one_bucket_is_full_attention),
        cmocka_unit_test(lsh_of_several_buckets),
        cmocka_unit_test(buckets_of_causal_rows_stay),
        cmocka_unit_test(ssmax_does_not_fade),
        cmocka_unit_test(by_hand_only_rows_of_logits_act),
        cmocka_unit_test(two_keys_normalised),
        cmocka_unit_test(one_column_normalised),
        cmocka_unit_test(normalised_queries_of_many_columns),
        cmocka_unit_test(saturation_costs_no_digits),
        cmocka_unit_test(a_large_offset),
    };
    return cmocka_run_group_tests_name("attend_reductions", tests, NULL, NULL);
}
