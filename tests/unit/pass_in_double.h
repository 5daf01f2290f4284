/* pass_in_double.h - the passes of attention_pass.h in double, on a batch of a
 * task, and every gradient against differences of the loss.
 *
 * What is compiled here is the program's own text, with another type. A product
 * is a plain loop. */
#ifndef PASS_IN_DOUBLE_H
#define PASS_IN_DOUBLE_H

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
    bool learns_extra; /* the hook's other scalar is checked, too */
    double w[FLOATS], d_w[FLOATS];
    float x[FLOATS], target[FLOATS], matrices[FLOATS], scratch[64];
} at;

static inline void widen(double *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (double)in[i];
    }
}

/* Arrays for the sizes, at.x and at.target for the task, matrices `spread`
 * times as large as they are drawn. */
static inline void set_up_task(struct av_train_config *c, double alpha, double spread)
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

static inline void tear_down_task(void)
{
#define ARRAY(type, name, rows, pitch) av_free(at.pass.name);
    AV_ATTENTION_ARRAYS(ARRAY, double)
#undef ARRAY
}

static inline double loss_with(double *parameter, double value)
{
    double was = *parameter;
    *parameter = value;
    forward(&at.pass);
    *parameter = was;
    return at.pass.loss;
}

/* The derivative by a parameter from four losses: the error is of order h^4 f
 * and of rounding / h, for a loss near 1 and h = 1e-3 1e-12 in all. */
static inline double difference(double *parameter, double h)
{
    const double x = *parameter;
    double near = loss_with(parameter, x + h) - loss_with(parameter, x - h);
    double far = loss_with(parameter, x + 2 * h) - loss_with(parameter, x - 2 * h);
    return (8 * near - far) / (12 * h);
}

static inline void assert_gradient(const char *what, size_t i, double got, double want, double size)
{
    if (!(fabs(got - want) <= 1e-8 * size)) {
        fail_msg("%s, number %zu: %.12g, by differences %.12g", what, i, got, want);
    }
}

static inline void check_all_parameters(const char *what, double h)
{
    const struct av_attention_sizes *s = &at.pass.sizes;
    const size_t rows = 4 * s->d_k;
    forward(&at.pass);
    backward(&at.pass);
    struct av_attention_hook *hook = at.pass.hook;
    const double d_alpha = at.pass.d_alpha, d_extra = hook != NULL ? hook->d_extra : 0;
    double size = fabs(d_alpha);
    for (size_t i = 0; i < rows * s->model_pitch; i++) {
        at.d_w[i] = at.pass.d_w[i];
        size = fmax(size, fabs(at.d_w[i]));
    }
    assert_true(size > 1e-4);
    if (at.learns_extra) {
        assert_gradient(what, SIZE_MAX - 1, d_extra, difference(&hook->extra, h), size);
    }
    assert_gradient(what, SIZE_MAX, d_alpha, difference(&at.pass.alpha, h), size);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < s->d_model; c++) {
            size_t i = r * s->model_pitch + c;
            assert_gradient(what, i, at.d_w[i], difference(&at.w[i], h), size);
        }
        for (size_t c = s->d_model; c < s->model_pitch; c++) {
            assert_true(at.d_w[r * s->model_pitch + c] == 0); /* what pads a row never moves */
        }
    }
}

#endif
