/* attention_pass.h - forward and backward pass of one attention head, by hand.
 *
 * The including file says in which type: `real`, `struct pass` (attention.h),
 * exp_below(z), the exponential for z <= 0 within rounding, and multiply(),
 * which computes a struct product. The program includes it with float, once
 * per instruction set; the tests that compare gradients with differences
 * include it with double.
 *
 * n: tokens of the batch, d: d_k. Loops run over tokens, which do not depend
 * on each other, and sums over keys and columns run in ascending order: no
 * result depends on the width of vectors. */
#ifndef ATTNVIZ_ATTENTION_PASS_H
#define ATTNVIZ_ATTENTION_PASS_H

#include "attnviz/attention.h"
#include "attnviz/stats.h"

#include <math.h>
#include <string.h>

/* A matrix as it lies in memory. */
struct matrix {
    real *at;
    size_t pitch;
    bool turned; /* it is the transpose that lies there */
};

static struct matrix rows_of(real *at, size_t pitch)
{
    return (struct matrix){ at, pitch, false };
}

static struct matrix turned(real *at, size_t pitch)
{
    return (struct matrix){ at, pitch, true };
}

/* c [m, n] = a [m, k] b [k, n] */
static void multiply(struct matrix c, struct matrix a, struct matrix b, size_t m, size_t n, size_t k);

static void transpose(real *restrict out, size_t out_pitch, const real *restrict in, size_t in_pitch, size_t rows,
                      size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < rows; r++) {
            out[c * out_pitch + r] = in[r * in_pitch + c];
        }
    }
}

/* Turns the square of each sequence: out[j, i] = in[i, j]. */
static void transpose_squares(real *out, const real *in, const struct av_attention_sizes *s)
{
    for (size_t t = 0; t < s->tokens; t += s->seq_len) {
        transpose(out + t, s->token_pitch, in + t, s->token_pitch, s->seq_len, s->seq_len);
    }
}

/* ---- By a hook, sequence by sequence ------------------------------------------ */

/* q and k of the sequence that begins with token t. */
static void load_entries(const struct pass *a, size_t t)
{
    const struct av_attention_sizes *s = &a->sizes;
    const real *q_t = a->qkv_t + t, *k_t = q_t + s->d_k * s->token_pitch;
    for (size_t i = 0; i < s->seq_len; i++) {
        for (size_t c = 0; c < s->d_k; c++) {
            a->hook->q[i * s->d_k + c] = (double)q_t[c * s->token_pitch + i];
            a->hook->k[i * s->d_k + c] = (double)k_t[c * s->token_pitch + i];
        }
    }
}

/* A weight that could not be seen beside others becomes 0: it might be denormal, and slow. */
static real narrow(double w)
{
    return w < 1e-26 && w > -1e-26 ? 0 : (real)w;
}

/* p and p_t from q and k. */
static void hook_forward(struct pass *a)
{
    const size_t len = a->sizes.seq_len, pitch = a->sizes.token_pitch;
    struct av_attention_hook *h = a->hook;
    h->alpha = (double)a->alpha;
    h->rows = (struct av_attention_rows){ .max_logit = -(double)INFINITY };
    for (size_t t = 0; t < a->sizes.tokens; t += len) {
        load_entries(a, t);
        h->forward(h);
        for (size_t i = 0; i < len; i++) {
            for (size_t j = 0; j < len; j++) {
                a->p[i * pitch + t + j] = a->p_t[j * pitch + t + i] = narrow(h->p[i * len + j]);
            }
        }
    }
}

/* d_q, d_k and d_alpha from d_p. */
static void hook_backward(struct pass *a)
{
    const size_t len = a->sizes.seq_len, d = a->sizes.d_k, pitch = a->sizes.token_pitch;
    struct av_attention_hook *h = a->hook;
    h->d_alpha = h->d_extra = 0;
    for (size_t t = 0; t < a->sizes.tokens; t += len) {
        real *d_q_t = a->d_qkv_t + t, *d_k_t = d_q_t + d * pitch;
        load_entries(a, t);
        for (size_t i = 0; i < len; i++) {
            for (size_t j = 0; j < len; j++) {
                h->d_p[i * len + j] = (double)a->d_p[i * pitch + t + j];
            }
        }
        h->backward(h);
        for (size_t i = 0; i < len; i++) {
            for (size_t c = 0; c < d; c++) {
                d_q_t[c * pitch + i] = (real)h->d_q[i * d + c];
                d_k_t[c * pitch + i] = (real)h->d_k[i * d + c];
            }
        }
    }
    a->d_alpha = h->d_alpha;
}

/* ---- Forward ---------------------------------------------------------------- */

enum { BLOCK = 16 }; /* columns whose sums stay in registers; a pitch has room for whole blocks */

/* What attention.h says of each query, of BLOCK of them. */
struct columns {
    real best[BLOCK], argmax[BLOCK], sum_e[BLOCK], sum_ez[BLOCK], sum_z[BLOCK], sum_z2[BLOCK];
};

/* best, argmax: which of the scores s [seq_len, BLOCK] has the largest logit. */
static void find_best(struct columns *c, const real *s, const struct pass *a)
{
    const real alpha = a->alpha;
    for (size_t i = 0; i < BLOCK; i++) {
        c->best[i] = s[i];
        c->argmax[i] = 0;
    }
    for (size_t j = 1; j < a->sizes.seq_len; j++) {
        const real *row = s + j * a->sizes.token_pitch;
        for (size_t i = 0; i < BLOCK; i++) {
            const bool more = alpha * row[i] > alpha * c->best[i];
            c->best[i] = more ? row[i] : c->best[i];
            c->argmax[i] = more ? (real)j : c->argmax[i];
        }
    }
}

/* e [seq_len, BLOCK] = exp of the logits of s less the largest, and the sums. */
static void add_exponentials(struct columns *c, real *restrict e, const real *restrict s, const struct pass *a)
{
    const real alpha = a->alpha;
    for (size_t j = 0; j < a->sizes.seq_len; j++) {
        const real *row = s + j * a->sizes.token_pitch;
        real *out = e + j * a->sizes.token_pitch;
        for (size_t i = 0; i < BLOCK; i++) {
            const real z = alpha * (row[i] - c->best[i]);
            const real x = exp_below(z);
            c->sum_e[i] += c->argmax[i] == (real)j ? 0 : x;
            c->sum_ez[i] += x * z;
            c->sum_z[i] += z;
            c->sum_z2[i] += z * z;
            out[i] = x;
        }
    }
}

/* p_t [seq_len, n] = softmax over keys of alpha s_t. The largest weight is
 * 1 / (1 + sum_e): what the others leave of it is never lost in a difference. */
static void softmax_forward(struct pass *a)
{
    for (size_t i0 = 0; i0 < a->sizes.tokens; i0 += BLOCK) {
        struct columns c = { { 0 }, { 0 }, { 0 }, { 0 }, { 0 }, { 0 } };
        real *p = a->p_t + i0;
        find_best(&c, a->s_t + i0, a);
        add_exponentials(&c, p, a->s_t + i0, a);
        for (size_t j = 0; j < a->sizes.seq_len; j++) {
            for (size_t i = 0; i < BLOCK; i++) {
                p[j * a->sizes.token_pitch + i] /= 1 + c.sum_e[i];
            }
        }
        memcpy(a->best + i0, c.best, sizeof c.best);
        memcpy(a->argmax + i0, c.argmax, sizeof c.argmax);
        memcpy(a->sum_e + i0, c.sum_e, sizeof c.sum_e);
        memcpy(a->sum_ez + i0, c.sum_ez, sizeof c.sum_ez);
        memcpy(a->sum_z + i0, c.sum_z, sizeof c.sum_z);
        memcpy(a->sum_z2 + i0, c.sum_z2, sizeof c.sum_z2);
    }
}

enum { SUMS = 8 }; /* partial sums side by side, in a fixed order whatever the vectors */

static double fold(const double sum[SUMS])
{
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* y becomes d_y = 2 (y - target) / count, 0 where it does not count; the mean
 * of (y - target)^2 is returned. */
static double loss_forward_backward(struct pass *a)
{
    const struct av_attention_sizes *s = &a->sizes;
    const double count = (double)s->batch * (double)(s->seq_len - s->first) * (double)s->d_model;
    const real factor = (real)(2 / count);
    double sum[SUMS] = { 0 };
    for (size_t i = 0; i < s->tokens; i++) {
        real *restrict y = a->y + i * s->model_pitch;
        const real *restrict target = a->target + i * s->model_pitch;
        const real counts = i % s->seq_len >= s->first ? 1 : 0;
        size_t c = 0;
        for (; c + SUMS <= s->d_model; c += SUMS) {
            for (size_t l = 0; l < SUMS; l++) {
                real off = counts * (y[c + l] - target[c + l]);
                sum[l] += (double)off * (double)off;
                y[c + l] = factor * off;
            }
        }
        for (; c < s->d_model; c++) {
            real off = counts * (y[c] - target[c]);
            sum[c % SUMS] += (double)off * (double)off;
            y[c] = factor * off;
        }
    }
    return fold(sum) / count;
}

/* p and p_t from q and k. */
static void softmax_of_scores(struct pass *a)
{
    const struct av_attention_sizes *s = &a->sizes;
    const size_t d = s->d_k, len = s->seq_len, pitch = s->token_pitch;
    real *q_t = a->qkv_t, *k_t = q_t + d * pitch;
    /* s^T [len, len] = k [len, d] q^T [d, len], sequence by sequence */
    for (size_t t = 0; t < s->tokens; t += len) {
        multiply(rows_of(a->s_t + t, pitch), turned(k_t + t, pitch), rows_of(q_t + t, pitch), len, len, d);
    }
    softmax_forward(a);
    transpose_squares(a->p, a->p_t, s);
}

/* From x_t, x, target, w and alpha to p and the loss; y becomes d_y. */
static void forward(struct pass *a)
{
    const struct av_attention_sizes *s = &a->sizes;
    const size_t n = s->tokens, d = s->d_k, len = s->seq_len, pitch = s->token_pitch;
    real *q_t = a->qkv_t, *v_t = q_t + 2 * d * pitch;
    real *w_o = a->w + 3 * d * s->model_pitch;

    /* qkv^T [3 d, n] = w_qkv^T [3 d, d_model] x^T [d_model, n] */
    multiply(rows_of(q_t, pitch), rows_of(a->w, s->model_pitch), rows_of(a->x_t, pitch), 3 * d, n, s->d_model);
    (a->hook != NULL ? hook_forward : softmax_of_scores)(a);
    /* a^T [d, len] = v^T [d, len] p^T [len, len] */
    for (size_t t = 0; t < n; t += len) {
        multiply(rows_of(a->a_t + t, pitch), rows_of(v_t + t, pitch), rows_of(a->p_t + t, pitch), d, len, len);
    }
    /* y [n, d_model] = a [n, d] w_o [d, d_model] */
    multiply(rows_of(a->y, s->model_pitch), turned(a->a_t, pitch), rows_of(w_o, s->model_pitch), n, s->d_model, d);
    a->loss = loss_forward_backward(a);
}

/* ---- Backward --------------------------------------------------------------- */

/* d_mean [n] = sum over keys of p (d_p - d_best), d_best being that of the
 * largest weight: in saturation d_p - sum p d_p is nearly 0 for that key, and
 * this way it is not what rounding has left of a difference. */
static void centre_weights_gradient(struct pass *a)
{
    const size_t n = a->sizes.tokens, pitch = a->sizes.token_pitch;
    const real *restrict argmax = a->argmax;
    real *restrict d_best = a->d_best, *restrict d_mean = a->d_mean;
    for (size_t i = 0; i < n; i++) {
        d_best[i] = d_mean[i] = 0;
    }
    for (size_t j = 0; j < a->sizes.seq_len; j++) {
        const real *restrict d_p = a->d_p_t + j * pitch;
        for (size_t i = 0; i < n; i++) {
            d_best[i] = argmax[i] == (real)j ? d_p[i] : d_best[i];
        }
    }
    for (size_t j = 0; j < a->sizes.seq_len; j++) {
        const real *restrict d_p = a->d_p_t + j * pitch, *restrict p = a->p_t + j * pitch;
        for (size_t i = 0; i < n; i++) {
            d_mean[i] += p[i] * (d_p[i] - d_best[i]);
        }
    }
}

/* d_p_t becomes the gradient by the scores, alpha p (d_p - sum p d_p). Returns
 * that by alpha, the sum of d_logit s; as a row's d_logit sum to 0, s may be
 * counted from the best. */
static double softmax_backward(struct pass *a)
{
    const size_t n = a->sizes.tokens, pitch = a->sizes.token_pitch;
    const real alpha = a->alpha;
    const real *restrict best = a->best, *restrict d_best = a->d_best, *restrict d_mean = a->d_mean;
    double sum[SUMS] = { 0 };
    centre_weights_gradient(a);
    for (size_t j = 0; j < a->sizes.seq_len; j++) {
        const real *restrict p = a->p_t + j * pitch, *restrict s = a->s_t + j * pitch;
        real *restrict d_p = a->d_p_t + j * pitch;
        for (size_t i = 0; i < n; i++) {
            d_p[i] = p[i] * ((d_p[i] - d_best[i]) - d_mean[i]);
        }
        size_t i = 0;
        for (; i + SUMS <= n; i += SUMS) {
            for (size_t l = 0; l < SUMS; l++) {
                sum[l] += (double)d_p[i + l] * (double)(s[i + l] - best[i + l]);
            }
        }
        for (; i < n; i++) {
            sum[i % SUMS] += (double)d_p[i] * (double)(s[i] - best[i]);
        }
        for (i = 0; i < n; i++) {
            d_p[i] *= alpha;
        }
    }
    return fold(sum);
}

/* d_q, d_k and d_alpha from d_p. */
static void softmax_of_scores_backward(struct pass *a)
{
    const struct av_attention_sizes *s = &a->sizes;
    const size_t d = s->d_k, len = s->seq_len, pitch = s->token_pitch;
    real *q_t = a->qkv_t, *k_t = q_t + d * pitch;
    real *d_q_t = a->d_qkv_t, *d_k_t = d_q_t + d * pitch;
    transpose_squares(a->d_p_t, a->d_p, s);
    a->d_alpha = softmax_backward(a);
    transpose_squares(a->d_p, a->d_p_t, s);
    for (size_t t = 0; t < s->tokens; t += len) {
        /* d_q^T [d, len] = k^T [d, len] d_s^T [len, len] */
        multiply(rows_of(d_q_t + t, pitch), rows_of(k_t + t, pitch), rows_of(a->d_p_t + t, pitch), d, len, len);
        /* d_k^T [d, len] = q^T [d, len] d_s [len, len] */
        multiply(rows_of(d_k_t + t, pitch), rows_of(q_t + t, pitch), rows_of(a->d_p + t, pitch), d, len, len);
    }
}

/* After forward: d_w and d_alpha. */
static void backward(struct pass *a)
{
    const struct av_attention_sizes *s = &a->sizes;
    const size_t n = s->tokens, d = s->d_k, len = s->seq_len, pitch = s->token_pitch;
    real *v_t = a->qkv_t + 2 * d * pitch;
    real *d_q_t = a->d_qkv_t, *d_v_t = d_q_t + 2 * d * pitch;
    real *d_w_o = a->d_w + 3 * d * s->model_pitch;

    transpose(a->w_o_t, s->k_pitch, a->w + 3 * d * s->model_pitch, s->model_pitch, d, s->d_model);
    /* d_w_o [d, d_model] = a^T [d, n] d_y [n, d_model] */
    multiply(rows_of(d_w_o, s->model_pitch), rows_of(a->a_t, pitch), rows_of(a->y, s->model_pitch), d, s->d_model, n);
    /* d_a [n, d] = d_y [n, d_model] w_o^T [d_model, d] */
    multiply(rows_of(a->d_a, s->k_pitch), rows_of(a->y, s->model_pitch), rows_of(a->w_o_t, s->k_pitch), n, d,
             s->d_model);
    for (size_t t = 0; t < n; t += len) {
        real *d_a = a->d_a + t * s->k_pitch;
        /* d_p [len, len] = d_a [len, d] v^T [d, len] */
        multiply(rows_of(a->d_p + t, pitch), rows_of(d_a, s->k_pitch), rows_of(v_t + t, pitch), len, len, d);
        /* d_v^T [d, len] = d_a^T [d, len] p [len, len] */
        multiply(rows_of(d_v_t + t, pitch), turned(d_a, s->k_pitch), rows_of(a->p + t, pitch), d, len, len);
    }
    (a->hook != NULL ? hook_backward : softmax_of_scores_backward)(a);
    /* d_w_qkv^T [3 d, d_model] = d_qkv^T [3 d, n] x [n, d_model] */
    multiply(rows_of(a->d_w, s->model_pitch), rows_of(d_q_t, pitch), rows_of(a->x, s->model_pitch), 3 * d, s->d_model,
             n);
}

#endif
