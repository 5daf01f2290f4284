/* test_train_gradients.c - every gradient against differences of the loss, in double.
 *
 * The passes under test are those of the program, compiled with another type:
 * attention_pass.h. A product is a plain loop here. */
#include "../../src/model/train_tasks.h"
#include "attnviz/attention.h"
#include "attnviz/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef double real;
struct pass AV_ATTENTION_STRUCT(double);

static double exp_below(double z)
{
    return exp(z);
}

#include "../../src/math/attention_pass.h"

static void multiply(struct matrix c, struct matrix a, struct matrix b, size_t m, size_t n, size_t k)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t p = 0; p < k; p++) {
                sum += a.at[a.turned ? p * a.pitch + i : i * a.pitch + p] * b.at[p * b.pitch + j];
            }
            c.at[i * c.pitch + j] = sum;
        }
    }
}

/* ---- A batch of a task -------------------------------------------------------- */

enum { BATCH = 3, FLOATS = 1 << 14 };

static struct {
    struct pass pass;
    double w[FLOATS], d_w[FLOATS];
    float x[FLOATS], target[FLOATS], matrices[FLOATS], scratch[64];
} at;

static void widen(double *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (double)in[i];
    }
}

/* Arrays for the sizes, at.x and at.target for the task, matrices `spread`
 * times as large as they are drawn. */
static void set_up_task(struct av_train_config *c, double alpha, double spread)
{
    const struct av_attention_sizes sizes = av_attention_sizes(BATCH, c->seq_len, c->d_model, c->d_k, av_task_first(c));
    const struct av_attention_sizes *s = &sizes;
    memset(&at, 0, sizeof at);
    at.pass.sizes = sizes;
#define ARRAY(type, name, rows, pitch)                                                                                 \
    at.pass.name = av_alloc((rows) * (pitch), sizeof(type));                                                           \
    assert_non_null(at.pass.name);
    AV_ATTENTION_ARRAYS(ARRAY, double)
#undef ARRAY
    struct av_task_source source;
    struct av_error e;
    assert_int_equal(av_task_source_new(&source, c, av_kernels_best(), &e), AV_OK);
    for (size_t b = 0; b < BATCH; b++) {
        size_t sequence = b * s->seq_len * s->model_pitch;
        av_task_draw(&source, 3, b, at.x + sequence, at.target + sequence, s->model_pitch);
    }
    av_task_source_free(&source);
    if (av_task_is_identity(c)) {
        memcpy(at.target, at.x, sizeof at.x);
    }
    av_train_draw_matrices(c, av_kernels_best(), at.matrices, s->model_pitch, at.scratch);
    for (size_t i = 0; i < 4 * s->d_k * s->model_pitch; i++) {
        at.w[i] = spread * (double)at.matrices[i];
    }
    widen(at.pass.x, at.x, s->tokens * s->model_pitch);
    widen(at.pass.target, at.target, s->tokens * s->model_pitch);
    transpose(at.pass.x_t, s->token_pitch, at.pass.x, s->model_pitch, s->tokens, s->d_model);
    at.pass.w = at.w;
    at.pass.alpha = alpha;
}

static void tear_down_task(void)
{
#define ARRAY(type, name, rows, pitch) av_free(at.pass.name);
    AV_ATTENTION_ARRAYS(ARRAY, double)
#undef ARRAY
}

static double loss_with(double *parameter, double value)
{
    double was = *parameter;
    *parameter = value;
    forward(&at.pass);
    *parameter = was;
    return at.pass.loss;
}

/* The derivative by a parameter from four losses: the error is of order h^4 f
 * and of rounding / h, 1e-12 in all for a loss near 1. */
static double difference(double *parameter)
{
    const double h = 1e-3, x = *parameter;
    double near = loss_with(parameter, x + h) - loss_with(parameter, x - h);
    double far = loss_with(parameter, x + 2 * h) - loss_with(parameter, x - 2 * h);
    return (8 * near - far) / (12 * h);
}

static void assert_gradient(const char *what, size_t i, double got, double want, double size)
{
    if (!(fabs(got - want) <= 1e-8 * size)) {
        fail_msg("%s, number %zu: %.12g, by differences %.12g", what, i, got, want);
    }
}

static void check_all_parameters(const char *what)
{
    const struct av_attention_sizes *s = &at.pass.sizes;
    const size_t rows = 4 * s->d_k;
    forward(&at.pass);
    backward(&at.pass);
    const double d_alpha = at.pass.d_alpha;
    double size = fabs(d_alpha);
    for (size_t i = 0; i < rows * s->model_pitch; i++) {
        at.d_w[i] = at.pass.d_w[i];
        size = fmax(size, fabs(at.d_w[i]));
    }
    assert_true(size > 1e-4);
    assert_gradient(what, SIZE_MAX, d_alpha, difference(&at.pass.alpha), size);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < s->d_model; c++) {
            size_t i = r * s->model_pitch + c;
            assert_gradient(what, i, at.d_w[i], difference(&at.w[i]), size);
        }
        for (size_t c = s->d_model; c < s->model_pitch; c++) {
            assert_true(at.d_w[r * s->model_pitch + c] == 0); /* what pads a row never moves */
        }
    }
}

static struct av_train_config config(enum av_task task, size_t seq_len, size_t d_model, size_t d_k)
{
    return (struct av_train_config){
        .seq_len = seq_len,
        .d_model = d_model,
        .d_k = d_k,
        .batch = BATCH,
        .sequences = BATCH,
        .task = task,
        .fresh = true,
        .init = AV_INIT_UNIT,
        .input_std = 1,
        .seed = 5,
    };
}

static void of_every_parameter_in_every_task(void **state)
{
    (void)state;
    static const double alphas[] = { 0.5, 1, -0.7 };
    for (enum av_task task = 0; task < AV_TASK_DEPTH; task++) {
        for (size_t i = 0; i < 3; i++) {
            struct av_train_config c = config(task, 5, 6, 4);
            set_up_task(&c, alphas[i], 1);
            check_all_parameters(av_task_texts[task]);
            tear_down_task();
        }
    }
}

static void in_saturation(void **state)
{
    (void)state;
    struct av_train_config c = config(AV_TASK_AVERAGE, 6, 8, 8);
    set_up_task(&c, 1, 2);
    forward(&at.pass);
    double least = 1;
    for (size_t i = 0; i < at.pass.sizes.tokens; i++) {
        least = fmin(least, at.pass.sum_e[i]);
    }
    assert_true(least < 1e-6);
    check_all_parameters("saturated");
    tear_down_task();
}

static void at_the_smallest_sizes(void **state)
{
    (void)state;
    static const size_t sizes[][3] = { { 1, 1, 1 }, { 2, 1, 1 }, { 1, 3, 2 }, { 2, 3, 1 }, { 17, 2, 18 } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct av_train_config c = config(AV_TASK_RECONSTRUCT, sizes[i][0], sizes[i][1], sizes[i][2]);
        c.layer_norm = i == 3;
        set_up_task(&c, 0.9, 1);
        check_all_parameters("small");
        tear_down_task();
    }
}

/* The gradient by the scores of a saturated row, exp(-gap) of what it would be
 * else, holds its digits: no difference of numbers near 1 is taken. */
static void of_a_dead_row_keep_their_digits(void **state)
{
    (void)state;
    struct av_train_config c = config(AV_TASK_RECONSTRUCT, 3, 2, 2);
    set_up_task(&c, 1, 1);
    struct pass *a = &at.pass;
    const size_t n = a->sizes.tokens, pitch = a->sizes.token_pitch;
    static const double s[3] = { 50, 0, -1 }, d_p[3] = { 1, 2, 4 };
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 3; j++) {
            a->s_t[j * pitch + i] = s[j];
            a->d_p_t[j * pitch + i] = d_p[j];
        }
    }
    softmax_forward(a);
    softmax_backward(a);
    /* p = 1, e^-50, e^-51; sum p (d_p - 1) = e^-50 + 3 e^-51, to 1e-21 */
    const double want[3] = { -(exp(-50) + 3 * exp(-51)), exp(-50), 3 * exp(-51) };
    for (size_t j = 0; j < 3; j++) {
        assert_true(fabs(a->d_p_t[j * pitch] / want[j] - 1) < 1e-14);
    }
    tear_down_task();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_parameter_in_every_task),
        cmocka_unit_test(in_saturation),
        cmocka_unit_test(at_the_smallest_sizes),
        cmocka_unit_test(of_a_dead_row_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
