/* test_bend_form.c - what is done with a Jacobian by its form, against the matrix written out. */
#include "bend_rows.h"

enum { N = 37, D = AV_FORM_COLUMNS };

/* A form of arbitrary numbers over many orders of magnitude, some of them 0. */
static void random_form(struct bent_row *b, size_t n, double decades, uint64_t *seed)
{
    b->row = (struct av_bend_row){ n, b->z, b->w, { b->form[0], b->form[1], b->form[2], b->form[3] }, b->scratch };
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < n; j++) {
            const double size = pow(10, -decades * uniform(seed)), x = 2 * uniform(seed) - 1;
            b->form[i][j] = uniform(seed) < 0.2 ? 0 : size * x;
        }
    }
    const struct av_form *f = &b->row.form;
    for (size_t j = 0; j < n; j++) {
        f->rest[j] = f->diag[j];
        for (size_t l = 0; l < n; l++) {
            f->rest[j] -= l != j ? f->u[j] * f->v[l] : 0;
        }
    }
}

/* A softmax whose largest logit is `gap` above others of unit spread; one key
 * is masked. */
static void softmax_row(struct bent_row *b, size_t n, double gap, uint64_t *seed)
{
    double z[N];
    for (size_t j = 0; j < n; j++) {
        z[j] = uniform(seed);
    }
    z[n / 2] = gap + 1;
    z[n / 3] = n > 3 ? -INF : z[n / 3];
    bend_row(b, av_bend_softmax, z, n, &(struct av_bend_params){ 0 });
}

/* sqrt of the sum of squares, in units of the largest. */
static double norm(const double *x, size_t n)
{
    double largest = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    for (size_t i = 0; i < n; i++) {
        const double y = largest > 0 ? x[i] / largest : 0;
        sum += y * y;
    }
    return largest * sqrt(sum);
}

static double explicit_fro(const struct bent_row *b)
{
    double entries[N * N];
    const size_t n = b->row.n;
    for (size_t i = 0; i < n * n; i++) {
        entries[i] = bent_entry(b, i / n, i % n);
    }
    return norm(entries, n * n);
}

static void assert_close(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want) + 0x1p-1070)) {
        fail_msg("%.17g is not %.17g", got, want);
    }
}

static void fro_is_that_of_the_matrix(void **state)
{
    (void)state;
    const double decades[] = { 0, 3, 30, 150 };
    const double gaps[] = { 0, 1, 40, 300, 400, 600, 700 };
    uint64_t seed = 1;
    struct bent_row b;
    for (size_t i = 0; i < 400; i++) {
        random_form(&b, 1 + i % N, decades[i % 4], &seed);
        assert_close(av_form_fro(&b.row.form, b.row.n), explicit_fro(&b), 1e-14);
        softmax_row(&b, 1 + i % N, gaps[i % 7], &seed);
        assert_close(av_form_fro(&b.row.form, b.row.n), explicit_fro(&b), 1e-14);
        assert_close(av_form_fro(&b.row.form, b.row.n), b.stats.jacobian_fro, 2e-14);
    }
}

static void fro_does_not_underflow(void **state)
{
    (void)state;
    double diag[] = { 3e-300, 0, 0 }, u[] = { 1e-150, 2e-160, 0 }, v[] = { 1e-160, 4e-150, 0 }, rest[3] = { 0 };
    const struct av_form small = { diag, u, v, rest };
    assert_close(av_form_fro(&small, 3), 5e-300, 1e-15);
    double none[2] = { 0 };
    assert_close(av_form_fro(&(struct av_form){ none, none, none, none }, 2), 0, 0);
}

static void backward_is_the_transposed_matrix(void **state)
{
    (void)state;
    const double decades[] = { 0, 2, 10 };
    const double gaps[] = { 0, 5, 40, 700 };
    uint64_t seed = 2;
    for (size_t i = 0; i < 200; i++) {
        struct bent_row b;
        double d_w[N], d_z[N];
        if (i % 2 == 0) {
            random_form(&b, 1 + i % N, decades[i % 3], &seed);
        } else {
            softmax_row(&b, 1 + i % N, gaps[i / 2 % 4], &seed);
        }
        const size_t n = b.row.n;
        for (size_t j = 0; j < n; j++) {
            d_w[j] = 2 * uniform(&seed) - 1;
        }
        av_form_backward(d_z, d_w, &b.row.form, n);
        for (size_t l = 0; l < n; l++) {
            double want = 0, size = 0;
            for (size_t j = 0; j < n; j++) {
                want += bent_entry(&b, j, l) * d_w[j];
                size += fabs(bent_entry(&b, j, l) * d_w[j]);
            }
            assert_true(fabs(d_z[l] - want) <= 1e-14 * size + 0x1p-1070);
        }
    }
}

static void form_of_weights_takes_them_as_they_are(void **state)
{
    (void)state;
    const double p[] = { 0.5, 0.125, 0.25, 0, 1.0 / 1024 };
    double diag[5], u[5], v[5], rest[5];
    struct av_form f = { diag, u, v, rest };
    av_form_of_weights(&f, p, 5);
    for (size_t j = 0; j < 5; j++) {
        assert_close(diag[j], p[j] - p[j] * p[j], 0);
        assert_close(u[j], p[j], 0);
        assert_close(v[j], p[j], 0);
        assert_close(rest[j], p[j] * (1 - 0.8759765625), 0);
    }
}

/* ---- J K ----------------------------------------------------------------------------- */

/* Keys of two portions, x [2][n, D]. */
static double columns_root(const struct bent_row *b, const struct av_kernels *kernels, double x[2][N * D])
{
    struct av_form_squares sum = { 0 };
    kernels->form_columns(&sum, &b->row.form, x[0], b->row.n);
    kernels->form_columns(&sum, &b->row.form, x[1], b->row.n);
    return av_form_squares_root(&sum);
}

static void random_keys(double x[2][N * D], size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n * D; i++) {
        x[0][i] = (double)(float)(2 * uniform(seed) - 1);
        x[1][i] = (double)(float)(2 * uniform(seed) + 1);
    }
}

static void columns_are_the_product_with_the_keys(void **state)
{
    (void)state;
    uint64_t seed = 3;
    static double x[2][N * D];
    for (size_t i = 0; i < 100; i++) {
        struct bent_row b;
        double products[2 * D * N], size = 0;
        random_form(&b, 1 + i % N, (double)(i % 3), &seed);
        const size_t n = b.row.n;
        random_keys(x, n, &seed);
        for (size_t at = 0; at < 2 * D * n; at++) {
            const size_t c = at / n, j = at % n;
            products[at] = 0;
            for (size_t l = 0; l < n; l++) {
                const double term = bent_entry(&b, j, l) * x[c / D][l * D + c % D];
                products[at] += term;
                size += term * term;
            }
        }
        const double want = norm(products, 2 * D * n);
        assert_true(fabs(columns_root(&b, av_kernels_best(), x) - want) <= 1e-13 * sqrt(size));
    }
}

/* The kernel that pairs the softmax's weights with keys of its own kind. */
static double dq_root(const struct bent_row *b, double x[2][N * D])
{
    static double k[N * 2 * D], scratch[AV_DQ_SCRATCH(N)];
    for (size_t i = 0; i < b->row.n * 2 * D; i++) {
        const size_t j = i / (2 * D), c = i % (2 * D);
        k[i] = x[c / D][j * D + c % D];
    }
    const struct av_entries keys = { .f64 = k, .pitch = 2 * D };
    struct av_dq_row row = { b->w, b->row.n, b->stats.argmax, 0 };
    av_kernels_best()->dq(&row, 1, &keys, 2 * D, scratch);
    return row.dq;
}

static void columns_agree_with_dq_in_saturation(void **state)
{
    (void)state;
    const double gaps[] = { 0, 1, 10, 40, 170, 300, 370, 600, 690 };
    uint64_t seed = 4;
    static double x[2][N * D];
    for (size_t i = 0; i < 180; i++) {
        struct bent_row b;
        softmax_row(&b, 2 + i % (N - 1), gaps[i % 9], &seed);
        const size_t n = b.row.n, m = b.stats.argmax;
        random_keys(x, n, &seed);
        if (i % 4 == 3) { /* all but the last are the winner's key, which have no part in it */
            for (size_t j = 0; j + 1 < n; j++) {
                memcpy(x[0] + j * D, x[0] + m * D, D * sizeof **x);
                memcpy(x[1] + j * D, x[1] + m * D, D * sizeof **x);
            }
        }
        assert_close(columns_root(&b, av_kernels_best(), x), dq_root(&b, x), 1e-13);
    }
}

/* No portion of columns hides what another one holds. */
static void portions_of_any_size_add_up(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static double x[2][N * D], same[2][N * D];
    struct bent_row b;
    softmax_row(&b, N, 690, &seed);
    random_keys(x, N, &seed);
    for (size_t i = 0; i < N * D; i++) { /* portions whose norms differ by 2^40, either first */
        same[0][i] = x[1][i] = x[0][i];
        same[1][i] = 0x1p40 * x[0][i];
    }
    const double alone = columns_root(&b, av_kernels_best(), x) / sqrt(2);
    assert_close(columns_root(&b, av_kernels_best(), same), 0x1p40 * alone, 1e-14);
    for (size_t i = 0; i < N * D; i++) {
        x[1][i] *= 0x1p120;
    }
    assert_close(columns_root(&b, av_kernels_best(), x), 0x1p120 * alone, 1e-14);
}

static void keys_without_a_part_may_hold_anything(void **state)
{
    (void)state;
    uint64_t seed = 6;
    static double x[2][N * D];
    struct bent_row b;
    softmax_row(&b, N, 2, &seed); /* key N / 3 is masked */
    random_keys(x, N, &seed);
    const double want = columns_root(&b, av_kernels_best(), x);
    x[0][N / 3 * D] = (double)NAN;
    x[1][N / 3 * D + 5] = INF;
    assert_close(columns_root(&b, av_kernels_best(), x), want, 0);
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    uint64_t seed = 7;
    static double x[2][N * D];
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        for (size_t i = 0; kernels != NULL && i < 60; i++) {
            struct bent_row b;
            random_form(&b, 1 + i % N, (double)(i % 200), &seed);
            random_keys(x, b.row.n, &seed);
            assert_close(columns_root(&b, kernels, x), columns_root(&b, av_kernels_best(), x), 0);
            assert_close(kernels->form_fro(&b.row.form, b.row.n), av_form_fro(&b.row.form, b.row.n), 0);
        }
    }
}

/* ---- statistics --------------------------------------------------------------------------- */

/* Rows of any length, of weights of either sign, down to denormals. */
static void statistics_are_sums_over_the_keys(void **state)
{
    (void)state;
    enum { LONG = 3000 };
    static double z[LONG], w[LONG], form[LONG];
    const size_t lengths[] = { 1, 2, 7, 8, 9, 16, 31, 64, 1000, LONG };
    uint64_t seed = 9;
    for (size_t i = 0; i < 100; i++) {
        const size_t n = lengths[i % 10];
        struct av_rowstats s;
        size_t keys = 0, argmax = n;
        double size = 0, squares = 0, sum = 0, trace = 0, entropy = 0;
        for (size_t j = 0; j < n; j++) {
            z[j] = j % 7 == 3 ? -INF : uniform(&seed);
            const double x = (i % 3 == 0 ? 2 : 1) * uniform(&seed) - (i % 3 == 0);
            w[j] = z[j] > -INF ? x * pow(10, (i % 4 == 3 ? -320 : -5) * uniform(&seed)) : 0;
            form[j] = w[j] / 2;
            keys += z[j] > -INF;
            argmax = z[j] > -INF && (argmax == n || w[j] > w[argmax]) ? j : argmax;
            size += fabs(w[j]);
            squares += w[j] * w[j];
            sum += w[j];
            trace += form[j];
        }
        for (size_t j = 0; j < n; j++) {
            const double q = fabs(w[j]) / size;
            entropy -= q > 0 ? q * log(q) : 0;
        }
        const struct av_bend_row row = { n, z, w, { form, form, form, form }, NULL };
        av_form_stats(&s, &row);
        assert_int_equal(s.keys, keys);
        assert_int_equal(s.argmax, argmax);
        assert_close(s.max, w[argmax], 0);
        assert_close(s.one_minus_max, 1 - w[argmax], 0);
        assert_close(s.sum_p2, squares, 1e-13);
        assert_true(fabs(s.row_sum - sum) <= 1e-13 * size && fabs(s.trace - trace) <= 1e-13 * size);
        assert_true(fabs(s.entropy - entropy) <= 1e-13 * (1 + entropy));
    }
}

/* ---- exponentials ------------------------------------------------------------------------ */

static void exponentials_are_precise_at_both_ends(void **state)
{
    (void)state;
    uint64_t seed = 8;
    double x[N], e[N], less[N], alone[N];
    for (size_t i = 0; i < 2000; i++) {
        const size_t n = 1 + i % N;
        for (size_t j = 0; j < n; j++) {
            x[j] = (uniform(&seed) < 0.5 ? -1 : 1) * pow(10, 5 * uniform(&seed) - 3) * 7;
        }
        x[0] = i % 3 == 0 ? 0 : i % 3 == 1 ? -INF : 1e-300;
        av_kernels_best()->exp(e, less, x, n);
        memcpy(alone, x, sizeof x);
        av_kernels_best()->exp(alone, NULL, alone, n);
        for (size_t j = 0; j < n; j++) {
            assert_close(e[j], exp(-fabs(x[j])), 4e-16);
            assert_close(less[j], -expm1(-fabs(x[j])), 4e-16);
            assert_close(alone[j], e[j], 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fro_is_that_of_the_matrix),
        cmocka_unit_test(fro_does_not_underflow),
        cmocka_unit_test(backward_is_the_transposed_matrix),
        cmocka_unit_test(form_of_weights_takes_them_as_they_are),
        cmocka_unit_test(columns_are_the_product_with_the_keys),
        cmocka_unit_test(columns_agree_with_dq_in_saturation),
        cmocka_unit_test(portions_of_any_size_add_up),
        cmocka_unit_test(keys_without_a_part_may_hold_anything),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(statistics_are_sums_over_the_keys),
        cmocka_unit_test(exponentials_are_precise_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
