/* test_kernel_train.c - the kernels of training: products bit for bit, Adam, and no denormals. */
#include "attnviz/kernels.h"
#include "attnviz/mem.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 600, PITCH = SIDE + 8, FLOATS = 64 * PITCH };

static const float untouched = 12345;

/* a may lie either way, so it has room for both. */
static float a[SIDE * PITCH], b[SIDE * PITCH], got[FLOATS], want[FLOATS];

static float random_entry(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state * 0x1p-30f;
}

static int set_up(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (size_t i = 0; i < SIDE * PITCH; i++) {
        a[i] = random_entry(&random);
        b[i] = random_entry(&random);
    }
    return 0;
}

static void for_every_set(void (*check)(const struct av_kernels *kernels))
{
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *kernels = av_kernels_named(*name);
        if (kernels != NULL) {
            check(kernels);
        }
    }
}

/* Has the set fused multiply-add? It leaves of 1 + 2^-23 squared what rounding
 * would take. */
static bool fuses(const struct av_kernels *kernels)
{
    const float x[2] = { -1, 1 + FLT_EPSILON };
    float y[64] = { 1 + 2 * FLT_EPSILON, 0 }, c[16];
    y[32] = 1 + FLT_EPSILON;
    struct av_product product = { c, 16, x, 2, false, y, 32, 1, 1, 2 };
    kernels->product(&product);
    return c[0] > 0;
}

static volatile float rounded; /* keeps a compiler from fusing what is not meant to be */

static void by_definition(const struct av_product *p, bool fused)
{
    for (size_t i = 0; i < p->m; i++) {
        for (size_t j = 0; j < p->n; j++) {
            float sum = 0;
            for (size_t k = 0; k < p->k; k++) {
                float x = p->a[p->a_turned ? k * p->a_pitch + i : i * p->a_pitch + k], y = p->b[k * p->b_pitch + j];
                rounded = x * y;
                sum = fused ? fmaf(x, y, sum) : sum + rounded;
            }
            want[i * p->c_pitch + j] = sum;
        }
    }
}

static void check_products(const struct av_kernels *kernels)
{
    static const size_t sizes[][3] = {
        { 1, 1, 1 },    { 1, 16, 3 },  { 8, 8, 64 },   { 64, 8, 8 },   { 5, 5, 7 },      { 7, 33, 2 },
        { 13, 31, 19 }, { 12, 32, 1 }, { 37, 64, 96 }, { 23, 17, 12 }, { 31, 9, 257 },   { 6, 48, 600 },
        { 2, 600, 5 },  { 40, 3, 5 },  { 3, 15, 4 },   { 25, 2, 256 }, { 19, 100, 300 },
    };
    const bool fused = fuses(kernels);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int turned = 0; turned < 2; turned++) {
            struct av_product p = { got, PITCH, a, PITCH, turned, b, PITCH, sizes[s][0], sizes[s][1], sizes[s][2] };
            for (size_t i = 0; i < FLOATS; i++) {
                got[i] = want[i] = untouched;
            }
            by_definition(&p, fused);
            kernels->product(&p);
            if (memcmp(got, want, sizeof got) != 0) {
                fail_msg("%s: product of %zu x %zu x %zu, %s", kernels->name, p.m, p.n, p.k,
                         turned ? "turned" : "as it lies");
            }
        }
    }
}

static void products_are_their_definition(void **state)
{
    (void)state;
    for_every_set(check_products);
}

static void check_transpose(const struct av_kernels *kernels)
{
    for (size_t i = 0; i < FLOATS; i++) {
        got[i] = untouched;
    }
    kernels->transpose(got, PITCH, a, 70, 19, 37);
    for (size_t c = 0; c < 38; c++) {
        for (size_t r = 0; r < 20; r++) {
            float expected = c < 37 && r < 19 ? a[r * 70 + c] : untouched;
            assert_memory_equal(&got[c * PITCH + r], &expected, sizeof expected);
        }
    }
}

static void transposes_are_exact(void **state)
{
    (void)state;
    for_every_set(check_transpose);
}

static void check_squares(const struct av_kernels *kernels)
{
    double sum = 0;
    for (size_t i = 0; i < 4096; i++) {
        sum += (double)a[i] * (double)a[i];
    }
    assert_true(fabs(kernels->sum_squares(a, 4096) / sum - 1) < 1e-14);
    const float large[16] = { 3e38f, -3e38f };
    assert_true(fabs(kernels->sum_squares(large, 16) / 18e76 - 1) < 1e-6);
}

static void squares_of_any_float_have_a_sum(void **state)
{
    (void)state;
    for_every_set(check_squares);
}

/* ---- The softmax -------------------------------------------------------------- */

enum { PAIRS = 6001 };

/* Pairs of tokens 1 and 1 + z of one entry, with matrices that are 1: their
 * first query's logits differ by z, and its weights by a factor of exp(z). */
static void check_softmax(const struct av_kernels *kernels)
{
    struct av_attention_sizes s = av_attention_sizes(PAIRS, 2, 1, 1, 0);
    struct av_attention head;
    struct av_error e;
    float *w = av_alloc(4 * s.model_pitch, sizeof *w);
    assert_non_null(w);
    assert_int_equal(av_attention_new(&head, &s, &e), AV_OK);
    for (size_t m = 0; m < 4; m++) {
        w[m * s.model_pitch] = 1;
    }
    head.w = w;
    head.alpha = 1;
    for (size_t i = 0; i < PAIRS; i++) {
        head.x[2 * i * s.model_pitch] = 1;
        head.x[(2 * i + 1) * s.model_pitch] = 1 - (float)i / 64; /* exact */
    }
    kernels->transpose(head.x_t, s.token_pitch, head.x, s.model_pitch, s.tokens, 1);
    kernels->forward(&head);
    for (size_t i = 0; i < PAIRS; i++) {
        const double z = -(double)i / 64;
        const double p = (double)head.p[2 * i + 1], others = (double)head.sum_e[2 * i];
        if (z < -60) {
            assert_true(p == 0 && others == 0);
        } else if (i > 0) {
            assert_true(fabs(others / exp(z) - 1) < 2e-7);
            assert_true(fabs(p / (exp(z) / (1 + exp(z))) - 1) < 4e-7);
        }
    }
    av_attention_free(&head);
    av_free(w);
}

static void weights_keep_their_digits(void **state)
{
    (void)state;
    for_every_set(check_softmax);
}

/* Twelve vectors of lanes that hold 0 .. 11 to begin with. */
static void check_multiply_add(const struct av_kernels *kernels)
{
    float sum[2] = { 0.5f, 1 };
    size_t once = kernels->multiply_add(1, sum);
    assert_true(sum[0] == 45);
    sum[0] = 0.5f;
    assert_int_equal(kernels->multiply_add(100, sum), 100 * once);
    assert_true(sum[0] == 24);
}

static void multiply_adds_are_done(void **state)
{
    (void)state;
    for_every_set(check_multiply_add);
}

/* ---- Adam --------------------------------------------------------------------- */

enum { N = 48 };

static struct av_adam_step step_number(double step)
{
    return (struct av_adam_step){
        (float)(1e-3 / (1 - pow(0.9, step))), (float)(1 / sqrt(1 - pow(0.999, step))), 0.9f, 0.999f, 1e-8f, 1
    };
}

/* Kingma and Ba's algorithm 1, in double. */
static void check_adam(const struct av_kernels *kernels)
{
    float w[N], mean[N] = { 0 }, square[N] = { 0 };
    double w_want[N], mean_want[N] = { 0 }, square_want[N] = { 0 };
    for (size_t i = 0; i < N; i++) {
        w[i] = a[i];
        w_want[i] = (double)w[i];
    }
    for (int t = 1; t <= 50; t++) {
        const struct av_adam_step s = step_number(t);
        const float *g = a + t * N;
        kernels->adam(w, g, mean, square, N, &s);
        for (size_t i = 0; i < N; i++) {
            mean_want[i] = 0.9 * mean_want[i] + 0.1 * (double)g[i];
            square_want[i] = 0.999 * square_want[i] + 0.001 * (double)g[i] * (double)g[i];
            double m = mean_want[i] / (1 - pow(0.9, t)), v = square_want[i] / (1 - pow(0.999, t));
            w_want[i] -= 1e-3 * m / (sqrt(v) + 1e-8);
        }
    }
    for (size_t i = 0; i < N; i++) {
        assert_true(fabs((double)w[i] - w_want[i]) < 4e-6); /* 50 roundings of 1e-7 */
    }
}

static void adam_is_the_algorithm(void **state)
{
    (void)state;
    for_every_set(check_adam);
}

static bool is_denormal(float x)
{
    return fpclassify(x) == FP_SUBNORMAL;
}

/* Gradients of every size down to nothing, and then none: the running means
 * fade, and end as zeros, not as denormal numbers. */
static void check_fading(const struct av_kernels *kernels)
{
    float w[N] = { 0 }, mean[N] = { 0 }, square[N] = { 0 }, g[N];
    for (int t = 1; t <= 1200; t++) {
        const struct av_adam_step s = step_number(t);
        for (size_t i = 0; i < N; i++) {
            g[i] = t <= 10 ? ldexpf(1, -3 * (int)i) : 0;
        }
        kernels->adam(w, g, mean, square, N, &s);
        for (size_t i = 0; i < N; i++) {
            assert_false(is_denormal(w[i]) || is_denormal(mean[i]) || is_denormal(square[i]));
        }
    }
    for (size_t i = 0; i < N; i++) {
        assert_true(mean[i] == 0);
    }
    assert_true(square[0] > 0);
}

static void what_fades_ends_at_zero(void **state)
{
    (void)state;
    for_every_set(check_fading);
}

static void check_nan(const struct av_kernels *kernels)
{
    float w[N] = { 0 }, mean[N] = { 0 }, square[N] = { 0 }, g[N] = { 0, NAN, INFINITY };
    const struct av_adam_step s = step_number(1);
    kernels->adam(w, g, mean, square, N, &s);
    assert_true(w[0] == 0 && isnan(w[1]) && isnan(w[2]));
}

static void nan_stays(void **state)
{
    (void)state;
    for_every_set(check_nan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_their_definition),   cmocka_unit_test(transposes_are_exact),
        cmocka_unit_test(squares_of_any_float_have_a_sum), cmocka_unit_test(weights_keep_their_digits),
        cmocka_unit_test(multiply_adds_are_done),          cmocka_unit_test(adam_is_the_algorithm),
        cmocka_unit_test(what_fades_ends_at_zero),         cmocka_unit_test(nan_stays),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
