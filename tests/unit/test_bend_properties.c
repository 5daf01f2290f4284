/* test_bend_properties.c - what holds of bends whatever the row: invariances,
 * reductions to the softmax, projections, slopes, and rows that leave no choice. */
#include "bend_rows.h"

#include <float.h>

enum { N = 24 };

static const struct av_bend_params PARAMS = {
    .c = 7, .logit = 0.75, .b = -1.25, .eta = 1, .gamma = -0.25, .eps = 1e-8
};

static const struct {
    const char *name;
    av_bend *bend;
    bool shifts; /* a common shift of the logits changes the weights */
} bends[] = {
    { "softmax", av_bend_softmax, false },   { "softcap", av_bend_softcap, true },
    { "sink", av_bend_sink, true },          { "sparsemax", av_bend_sparsemax, false },
    { "entmax15", av_bend_entmax15, false }, { "sigmoid", av_bend_sigmoid, true },
    { "clipped", av_bend_clipped, false },   { "softpick", av_bend_softpick, true },
};

enum { BENDS = sizeof bends / sizeof *bends };

/* Multiples of 1/64 around 0, some equal; every fifth key masked when asked. */
static void random_logits(double *z, size_t n, double spread, bool masks, uint64_t *seed)
{
    for (size_t j = 0; j < n; j++) {
        z[j] = masks && j % 5 == 4 ? -INF : floor(64 * spread * (2 * uniform(seed) - 1)) / 64;
    }
}

/* ---- invariances --------------------------------------------------------------------- */

static void a_common_shift_changes_what_it_is_said_to(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t i = 0; i < 40; i++) {
        double z[N], shifted[N];
        random_logits(z, N, i % 2 == 0 ? 1 : 8, i % 3 == 0, &seed);
        for (size_t j = 0; j < N; j++) {
            shifted[j] = z[j] + 3;
        }
        for (size_t k = 0; k < BENDS; k++) {
            struct bent_row here, there;
            bend_row(&here, bends[k].bend, z, N, &PARAMS);
            bend_row(&there, bends[k].bend, shifted, N, &PARAMS);
            bool rests = false;
            for (size_t j = 0; j < N; j++) {
                rests = rests || fabs(here.row.form.rest[j]) > 0;
            }
            assert_int_equal(rests, bends[k].shifts);
            assert_int_equal(memcmp(here.w, there.w, sizeof here.w) != 0, bends[k].shifts);
        }
    }
}

static void permuted_keys_permute_the_row(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (size_t i = 0; i < 40; i++) {
        double z[N], back[N];
        random_logits(z, N, i % 2 == 0 ? 1 : 30, i % 3 == 0, &seed);
        for (size_t j = 0; j < N; j++) {
            back[j] = z[N - 1 - j];
        }
        for (size_t k = 0; k < BENDS; k++) {
            struct bent_row here, there;
            bend_row(&here, bends[k].bend, z, N, &PARAMS);
            bend_row(&there, bends[k].bend, back, N, &PARAMS);
            for (size_t j = 0; j < N; j++) {
                assert_true(fabs(here.w[j] - there.w[N - 1 - j]) <= 1e-14 * here.w[j]);
                for (size_t l = 0; l < N; l++) {
                    const double want = bent_entry(&here, j, l);
                    assert_true(fabs(bent_entry(&there, N - 1 - j, N - 1 - l) - want) <= 1e-13 * fabs(want));
                }
            }
            assert_true(fabs(here.stats.entropy - there.stats.entropy) <= 1e-13 * here.stats.entropy);
            assert_true(fabs(here.stats.jacobian_fro - there.stats.jacobian_fro) <= 1e-13 * here.stats.jacobian_fro);
        }
    }
}

/* ---- reductions ---------------------------------------------------------------------- */

static void without_sink_or_clipping_it_is_the_softmax(void **state)
{
    (void)state;
    uint64_t seed = 3;
    struct av_bend_params p = PARAMS;
    p.logit = -INF;
    p.gamma = 0;
    for (size_t i = 0; i < 60; i++) {
        double z[N];
        struct bent_row plain, sink, clipped;
        const size_t n = 1 + i % N;
        random_logits(z, n, i % 2 == 0 ? 2 : 900, i % 3 == 0, &seed);
        bend_row(&plain, av_bend_softmax, z, n, &p);
        bend_row(&sink, av_bend_sink, z, n, &p);
        bend_row(&clipped, av_bend_clipped, z, n, &p);
        assert_memory_equal(sink.w, plain.w, sizeof plain.w);
        assert_memory_equal(clipped.w, plain.w, sizeof plain.w);
        assert_memory_equal(sink.form, plain.form, sizeof plain.form);
        assert_memory_equal(clipped.form, plain.form, sizeof plain.form);
        assert_memory_equal(&sink.stats, &plain.stats, sizeof plain.stats);
        assert_memory_equal(&clipped.stats, &plain.stats, sizeof plain.stats);
    }
}

static void a_sink_is_one_more_key(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (size_t i = 0; i < 60; i++) {
        double z[N + 1];
        struct bent_row more, sink;
        struct av_bend_params p = PARAMS;
        random_logits(z, N, i % 2 == 0 ? 2 : 200, i % 3 == 0, &seed);
        z[N] = p.logit = floor(64 * 300 * (2 * uniform(&seed) - 1)) / 64;
        bend_row(&more, av_bend_softmax, z, N + 1, &p);
        bend_row(&sink, av_bend_sink, z, N, &p);
        for (size_t j = 0; j < N; j++) {
            assert_true(fabs(sink.w[j] - more.w[j]) <= 1e-14 * more.w[j]);
            assert_true(fabs(sink.row.form.rest[j] - more.w[j] * more.w[N]) <= 2e-14 * more.w[j] * more.w[N]);
            for (size_t l = 0; l < N; l++) {
                const double want = bent_entry(&more, j, l);
                assert_true(fabs(bent_entry(&sink, j, l) - want) <= 3e-14 * fabs(want));
            }
        }
    }
}

/* ln w_j - ln w_m is the difference of capped logits: z - z^3 / (3 c^2) + 2 z^5 / (15 c^4) - ... */
static void a_wide_cap_bends_by_the_cube(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct av_bend_params p = PARAMS;
    for (size_t i = 0; i < 40; i++) {
        double z[N];
        struct bent_row b;
        random_logits(z, N, 30, i % 3 == 0, &seed);
        p.c = i % 2 == 0 ? 1e4 : 1e6;
        bend_row(&b, av_bend_softcap, z, N, &p);
        const size_t m = b.stats.argmax;
        for (size_t j = 0; j < N; j++) {
            if (z[j] > -INF) {
                const double bent = log(b.w[j] / b.w[m]) - (z[j] - z[m]);
                const double cubes = (pow(z[m], 3) - pow(z[j], 3)) / (3 * p.c * p.c);
                assert_true(fabs(bent - cubes) <= 1e-5 * fabs(cubes) + 3e-14);
            }
        }
    }
}

/* ---- projections ------------------------------------------------------------------------- */

/* The threshold of sparsemax (entmax if `half`) with the keys of `set` as
 * support; NaN where there is none. */
static double threshold(const double *z, size_t n, unsigned set, bool half)
{
    double k = 0, sum = 0, squares = 0;
    for (size_t j = 0; j < n; j++) {
        if (set >> j & 1) {
            k++;
            sum += half ? z[j] / 2 : z[j];
            squares += z[j] * z[j] / 4;
        }
    }
    const double mean = sum / k;
    return half ? mean - sqrt((1 - (squares - k * mean * mean)) / k) : mean - 1 / k;
}

/* Of all supports that give weights >= 0 the best weights: nearest to z, or
 * of the largest sum w z + (4/3) sum (w - w^(3/2)). Tries all sets. */
static void best_weights(double *best_w, const double *z, size_t n, bool half)
{
    double best = -INF;
    for (unsigned set = 1; set < 1u << n; set++) {
        const double tau = threshold(z, n, set, half);
        double w[8] = { 0 }, value = 0;
        bool possible = tau <= DBL_MAX;
        for (size_t j = 0; j < n; j++) {
            const double over = set >> j & 1 ? (half ? z[j] / 2 : z[j]) - tau : 0;
            possible = possible && over >= 0;
            w[j] = half ? over * over : over;
            value += half ? w[j] * z[j] + 4.0 / 3 * (w[j] - w[j] * sqrt(w[j])) : -(w[j] - z[j]) * (w[j] - z[j]);
        }
        if (possible && value > best) {
            best = value;
            memcpy(best_w, w, n * sizeof *w);
        }
    }
}

static void sparse_weights_are_the_best_of_all_supports(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (size_t i = 0; i < 300; i++) {
        double z[8], want[8];
        const size_t n = 1 + i % 8;
        struct bent_row sparse, entmax;
        random_logits(z, n, i % 3 == 0 ? 0.25 : i % 3 == 1 ? 1 : 4, false, &seed);
        z[n / 2] = i % 5 == 0 ? z[0] : z[n / 2]; /* a tie */
        bend_row(&sparse, av_bend_sparsemax, z, n, &PARAMS);
        bend_row(&entmax, av_bend_entmax15, z, n, &PARAMS);
        best_weights(want, z, n, false);
        for (size_t j = 0; j < n; j++) {
            assert_true(fabs(sparse.w[j] - want[j]) < 1e-14);
        }
        best_weights(want, z, n, true);
        for (size_t j = 0; j < n; j++) {
            assert_true(fabs(entmax.w[j] - want[j]) < 1e-7); /* flat at the best: the search knows no better */
            assert_true(fabs(entmax.w[j] - want[j]) < 1e-13 || want[j] < 1e-7 || entmax.w[j] < 1e-7);
        }
    }
}

/* On long rows the conditions that make them the only solution: sum 1, weights
 * over one threshold, and nothing below it. */
static void long_sparse_rows_have_one_threshold(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (size_t i = 0; i < 200; i++) {
        double z[BEND_ROW_MOST];
        struct bent_row b;
        const bool half = i % 2 == 0;
        random_logits(z, BEND_ROW_MOST, pow(10, 2 * uniform(&seed) - 1.5), i % 3 == 0, &seed);
        bend_row(&b, half ? av_bend_entmax15 : av_bend_sparsemax, z, BEND_ROW_MOST, &PARAMS);
        const double root = half ? sqrt(b.stats.max) : b.stats.max, scale = half ? 0.5 : 1;
        const double tau = scale * b.stats.max_logit - root;
        assert_true(fabs(b.stats.row_sum - 1) < 1e-14);
        for (size_t j = 0; j < BEND_ROW_MOST; j++) {
            const double over = fmax(scale * z[j] - tau, 0);
            assert_true(fabs((half ? sqrt(b.w[j]) : b.w[j]) - over) < 1e-14);
        }
    }
}

/* The height of the largest over the threshold where all keys are in the support:
 * sum x^power = 1, x = h - d, by Newton's steps in more digits. */
static long double height_of_all(const double *z, size_t n, double top, bool half)
{
    long double h = 1;
    for (int step = 0; step < 60; step++) {
        long double sum = 0, squares = 0;
        for (size_t j = 0; j < n; j++) {
            const long double x = h - ((long double)top - (long double)z[j]) * (half ? 0.5L : 1);
            sum += x;
            squares += x * x;
        }
        h += half ? (1 - squares) / (2 * sum) : (1 - sum) / (long double)n;
    }
    return h;
}

/* Of 2048 keys the weights are small beside the threshold, and keep their digits. */
static void nearly_flat_rows_keep_their_digits(void **state)
{
    (void)state;
    enum { MANY = 2048 };
    static double z[MANY], w[MANY], form[4][MANY], scratch[AV_BEND_SCRATCH(MANY)];
    static const double spreads[] = { 0, 1e-12, 1e-8, 1e-4 };
    struct av_bend_row row = { MANY, z, w, { form[0], form[1], form[2], form[3] }, scratch };
    uint64_t seed = 11;
    for (size_t i = 0; i < 8; i++) {
        const bool half = i % 2 == 0;
        struct av_rowstats stats;
        for (size_t j = 0; j < MANY; j++) {
            z[j] = 0.3 + spreads[i / 2] * uniform(&seed);
        }
        (half ? av_bend_entmax15 : av_bend_sparsemax)(&row, &PARAMS, av_kernels_best(), &stats);
        const long double h = height_of_all(z, MANY, stats.max_logit, half);
        assert_true(fabs(stats.row_sum - 1) < 1e-14);
        for (size_t j = 0; j < MANY; j++) {
            const long double x = h - ((long double)stats.max_logit - (long double)z[j]) * (half ? 0.5L : 1);
            const double expected = (double)(half ? x * x : x);
            assert_true(fabs(w[j] - expected) < 1e-14 * stats.max);
        }
    }
}

/* A key whose logit lies at the threshold, or a rounding beside it, is in the
 * support or not, but not half in. */
static void keys_at_the_threshold_are_in_or_out(void **state)
{
    (void)state;
    uint64_t seed = 10;
    for (size_t i = 0; i < 20000; i++) {
        double z[9] = { 1 }, sum = 0;
        const size_t k = 2 + i % 5;
        struct bent_row b;
        for (size_t j = 1; j < k; j++) {
            z[j] = 0.7 + 0.3 * uniform(&seed);
            sum += z[j];
        }
        z[k] = sum / (double)k; /* sparsemax's threshold of those before */
        z[k + 1] = nextafter(z[k], 2);
        z[k + 2] = nextafter(z[k], 0);
        bend_row(&b, i % 2 == 0 ? av_bend_sparsemax : av_bend_entmax15, z, k + 3, &PARAMS);
        for (size_t j = 0; j < k + 3; j++) {
            double row_sum = 0;
            for (size_t l = 0; l < k + 3; l++) {
                row_sum += bent_entry(&b, j, l);
            }
            assert_true(fabs(row_sum) < 1e-15);
            assert_int_equal(b.w[j] > 0, b.row.form.diag[j] > 0);
        }
    }
}

/* ---- slopes --------------------------------------------------------------------------------- */

static bool same_support(const double *a, const double *b)
{
    bool same = true;
    for (size_t j = 0; j < N; j++) {
        same = same && (a[j] > 0) == (b[j] > 0);
    }
    return same;
}

static void forms_are_slopes_of_the_weights(void **state)
{
    (void)state;
    const double h = 1.0 / 4096;
    uint64_t seed = 8;
    size_t compared = 0;
    for (size_t i = 0; i < 12; i++) {
        double z[N];
        random_logits(z, N, i % 2 == 0 ? 1 : 6, i % 3 == 0, &seed);
        for (size_t k = 0; k < BENDS; k++) {
            static struct bent_row at, near[4]; /* z_l - 2h, -h, +h, +2h: an error of h^4 */
            bend_row(&at, bends[k].bend, z, N, &PARAMS);
            for (size_t l = 0; l < N; l++) {
                bool smooth = fabs(z[l]) > 2 * h || k + 1 < BENDS; /* softpick has an edge at 0 */
                for (size_t s = 0; s < 4; s++) {
                    double moved[N];
                    memcpy(moved, z, sizeof z);
                    moved[l] += h * (double[]){ -2, -1, 1, 2 }[s];
                    bend_row(&near[s], bends[k].bend, moved, N, &PARAMS);
                    smooth = smooth && same_support(at.w, near[s].w);
                }
                for (size_t j = 0; smooth && j < N; j++) {
                    const double slope = (8 * (near[2].w[j] - near[1].w[j]) - (near[3].w[j] - near[0].w[j])) / (12 * h);
                    assert_true(fabs(bent_entry(&at, j, l) - slope) < 1e-11);
                    compared++;
                }
            }
        }
    }
    assert_true(compared > 12 * BENDS * N * N * 9 / 10);
}

static void row_sums_of_the_form_are_rest(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (size_t i = 0; i < 40; i++) {
        double z[N];
        random_logits(z, N, i % 2 == 0 ? 1 : 12, i % 3 == 0, &seed);
        for (size_t k = 0; k < BENDS; k++) {
            struct bent_row b;
            bend_row(&b, bends[k].bend, z, N, &PARAMS);
            for (size_t j = 0; j < N; j++) {
                double sum = -b.row.form.rest[j], size = 0;
                for (size_t l = 0; l < N; l++) {
                    sum += bent_entry(&b, j, l);
                    size += fabs(bent_entry(&b, j, l));
                }
                assert_true(fabs(sum) <= 3e-15 * size);
            }
        }
    }
}

/* ---- rows that leave no choice, and rows beyond all measure ------------------------------------ */

static void assert_finite(const struct bent_row *b, const char *name)
{
    const struct av_rowstats *s = &b->stats;
    const double values[] = { s->max_logit, s->max,   s->one_minus_max, s->entropy,
                              s->sum_p2,    s->trace, s->jacobian_fro,  s->row_sum };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (!isfinite(values[i])) {
            fail_msg("%s: statistic %zu is %g", name, i, values[i]);
        }
    }
    assert_false(isnan(av_rowstats_log10_one_minus_max(s)) || isnan(av_rowstats_log10_entropy(s)) ||
                 isnan(av_rowstats_log10_trace(s)) || isnan(av_rowstats_log10_jacobian_fro(s)));
    for (size_t j = 0; j < b->row.n; j++) {
        for (size_t i = 0; i < 4; i++) {
            assert_true(isfinite(b->form[i][j]));
            assert_true(b->z[j] > -INF || !(fabs(b->form[i][j]) > 0));
        }
        assert_true(b->w[j] >= 0 && b->w[j] <= 1 && (b->z[j] > -INF || !(b->w[j] > 0)));
    }
}

static void no_row_makes_a_nan(void **state)
{
    (void)state;
    const double rows[][5] = {
        { 1e300, -1e300, 0, -INF, 1e300 },
        { DBL_MAX, -DBL_MAX, DBL_MAX, 0, 1 },
        { 0, 0, 0, 0, 0 },
        { -0.0, 1e-320, -1e-320, 1e-310, 0 },
        { -1e300, -1e300, -1e300, -1e300, -1 },
        { 710, -710, 745, 746, -746 },
        { -INF, -INF, 2, -INF, -INF },
        { -INF, -INF, -2, -INF, -INF },
        { -INF, -INF, -INF, -INF, -INF },
        { 1e6, 1e6 - 1, 1e6 - 0.5, 1e6, -1e6 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < BENDS; k++) {
            for (size_t n = 1; n <= 5; n++) {
                struct bent_row b;
                struct av_bend_params p = PARAMS;
                p.c = n == 5 ? 1e-6 : n == 4 ? 1e9 : p.c;
                p.logit = n == 5 ? 1e6 : n == 4 ? -1e6 : p.logit;
                p.eps = n == 5 && i != 3 ? 0 : p.eps; /* without eps slopes near 0 are beyond doubles */
                p.gamma = n == 5 ? -1e6 : p.gamma;
                p.eta = n == 4 ? 1000 : 1;
                bend_row(&b, bends[k].bend, rows[i], n, &p);
                assert_finite(&b, bends[k].name);
            }
        }
    }
}

static void a_row_without_keys_is_all_zero(void **state)
{
    (void)state;
    const double z[3] = { -INF, -INF, -INF };
    const struct av_rowstats none = { 0 };
    for (size_t k = 0; k < BENDS; k++) {
        struct bent_row b;
        bend_row(&b, bends[k].bend, z, 3, &PARAMS);
        assert_memory_equal(&b.stats, &none, sizeof none);
    }
}

static void weights_may_all_be_zero(void **state)
{
    (void)state;
    const double z[4] = { -INF, -0.5, 0, -3 };
    struct bent_row b;
    bend_row(&b, av_bend_softpick, z, 4, &PARAMS);
    assert_int_equal(b.stats.argmax, 1);
    assert_int_equal(b.stats.keys, 3);
    assert_true(b.stats.max <= 0 && b.stats.entropy <= 0 && b.stats.row_sum <= 0 && b.stats.jacobian_fro <= 0);
    assert_true(fabs(b.stats.one_minus_max - 1) <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_shift_changes_what_it_is_said_to),
        cmocka_unit_test(permuted_keys_permute_the_row),
        cmocka_unit_test(without_sink_or_clipping_it_is_the_softmax),
        cmocka_unit_test(a_sink_is_one_more_key),
        cmocka_unit_test(a_wide_cap_bends_by_the_cube),
        cmocka_unit_test(sparse_weights_are_the_best_of_all_supports),
        cmocka_unit_test(long_sparse_rows_have_one_threshold),
        cmocka_unit_test(nearly_flat_rows_keep_their_digits),
        cmocka_unit_test(keys_at_the_threshold_are_in_or_out),
        cmocka_unit_test(forms_are_slopes_of_the_weights),
        cmocka_unit_test(row_sums_of_the_form_are_rest),
        cmocka_unit_test(no_row_makes_a_nan),
        cmocka_unit_test(a_row_without_keys_is_all_zero),
        cmocka_unit_test(weights_may_all_be_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
