/* kernel_attention.c - one attention head in single precision: both passes, and what is measured. */
#include "kernel_sets.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef float real;
#define pass av_attention

/* exp(z) to 1.4e-7 relative, for z <= 0 within rounding; NaN stays, and a large
 * z, left by logits that overflow, gives no finite number. Below e^-60 it is 0:
 * no product with such a weight could be seen beside others, but it might be
 * denormal, and slow. exp(z) = 2^k exp(r), |r| <= ln(2)/2, by the first terms
 * of its series, of which the next is 5e-9. */
static inline float exp_below(float z)
{
    const float shift = 0x1.8p23f; /* added, it leaves whole numbers */
    const float k = (z * 0x1.715476p0f + shift) - shift;
    const float r = (z - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f; /* ln 2 in two parts, the first of 14 bits */
    const float low = 1 + r * (1 + r * (1.0f / 2 + r * (1.0f / 6)));
    const float r2 = r * r;
    const float e = low + r2 * r2 * ((1.0f / 24 + r * (1.0f / 120)) + r2 * (1.0f / 720 + r * (1.0f / 5040)));
    const float from = k > -100.0f ? k : -100.0f; /* NaN too: no whole number */
    const float clipped = from < 128.0f ? from : 128.0f;
    const int32_t bits = ((int32_t)clipped + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return z < -60.0f ? 0.0f : e * power;
}

#include "attention_pass.h"

static void multiply(struct matrix c, struct matrix a, struct matrix b, size_t m, size_t n, size_t k)
{
    struct av_product product = { c.at, c.pitch, a.at, a.pitch, a.turned, b.at, b.pitch, m, n, k };
    AV_KERNEL(product)(&product);
}

void AV_KERNEL(transpose)(float *out, size_t out_pitch, const float *in, size_t in_pitch, size_t rows, size_t columns)
{
    transpose(out, out_pitch, in, in_pitch, rows, columns);
}

void AV_KERNEL(forward)(struct av_attention *a)
{
    forward(a);
}

void AV_KERNEL(backward)(struct av_attention *a)
{
    backward(a);
}

/* ---- What is measured ------------------------------------------------------- */

/* What a hook has told. */
static void observe_hook(struct av_attention_observed *o, const struct av_attention *a)
{
    const struct av_attention_rows *r = &a->hook->rows;
    const double none = (double)NAN;
    const bool counts = r->count > 0;
    o->entropy_norm = counts ? r->entropy / r->count : none;
    o->max_weight = counts ? r->max_weight / r->count : none;
    o->row_sum = counts ? r->row_sum / r->count : none;
    o->logit_std = counts ? sqrt(r->squares / r->freedom) : none;
    o->max_logit = r->max_logit;
}

/* Means of the rows' entropy, H = ln(1 + sum_e) - sum_ez / (1 + sum_e), of
 * their largest weight, and the spread of their logits. */
static void observe_rows(struct av_attention_observed *o, const struct av_attention *a)
{
    const size_t n = a->sizes.tokens;
    const double len = (double)a->sizes.seq_len;
    double entropy = 0, max_weight = 0, squares = 0, max_logit = -(double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double others = (double)a->sum_e[i], sum_z = (double)a->sum_z[i];
        const double max = 1 / (1 + others);
        entropy += log1p(others) - (double)a->sum_ez[i] * max;
        max_weight += max;
        squares += (double)a->sum_z2[i] - sum_z * sum_z / len;
        max_logit = fmax(max_logit, (double)a->alpha * (double)a->best[i]);
    }
    squares = squares < 0 ? 0 : squares; /* z^2 of the smallest logits underflows */
    const double rows = (double)n, none = (double)NAN;
    const bool counts = a->sizes.seq_len > 1;
    o->entropy_norm = counts ? entropy / rows / log(len) : none;
    o->max_weight = counts ? max_weight / rows : none;
    o->row_sum = counts ? 1 : none;
    o->logit_std = counts ? sqrt(squares / (rows * (len - 1))) : none;
    o->max_logit = max_logit;
}

/* Mean and variance of the entries of m [rows, n]. */
static void observe_entries(double *mean, double *var, const float *m, size_t rows, size_t n, size_t pitch)
{
    double sum[SUMS] = { 0 }, squares[SUMS] = { 0 };
    for (size_t r = 0; r < rows; r++) {
        const float *x = m + r * pitch;
        size_t i = 0;
        for (; i + SUMS <= n; i += SUMS) {
            for (size_t l = 0; l < SUMS; l++) {
                sum[l] += (double)x[i + l];
                squares[l] += (double)x[i + l] * (double)x[i + l];
            }
        }
        for (; i < n; i++) {
            sum[i % SUMS] += (double)x[i];
            squares[i % SUMS] += (double)x[i] * (double)x[i];
        }
    }
    const double count = (double)rows * (double)n;
    *mean = fold(sum) / count;
    *var = count > 1 ? (fold(squares) - count * *mean * *mean) / (count - 1) : (double)NAN;
}

/* Mean and median of the sizes of the columns of m [d_k, tokens], of each
 * sequence those from position `first` on. */
static void observe_columns(double *mean, double *median, double *restrict norms, const float *restrict m,
                            const struct av_attention_sizes *s, size_t first)
{
    const size_t rows = s->d_k, n = s->tokens, pitch = s->token_pitch;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        norms[i] = 0;
    }
    for (size_t r = 0; r < rows; r++) {
        const float *restrict x = m + r * pitch;
        for (size_t i = 0; i < n; i++) {
            norms[i] += (double)x[i] * (double)x[i];
        }
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (i % s->seq_len >= first) {
            norms[count] = sqrt(norms[i]);
            sum += norms[count++];
        }
    }
    *mean = sum / (double)count;
    *median = av_median(norms, count);
}

void AV_KERNEL(observe)(const struct av_attention *a, struct av_attention_observed *o)
{
    const struct av_attention_sizes *s = &a->sizes;
    const size_t d = s->d_k, n = s->tokens, part = d * s->token_pitch;
    (a->hook != NULL ? observe_hook : observe_rows)(o, a);
    observe_entries(&o->q_mean, &o->q_var, a->qkv_t, d, n, s->token_pitch);
    observe_entries(&o->k_mean, &o->k_var, a->qkv_t + part, d, n, s->token_pitch);
    observe_columns(&o->d_q_mean, &o->d_q_median, a->norms, a->d_qkv_t, s, s->first);
    observe_columns(&o->d_k_mean, &o->d_k_median, a->norms, a->d_qkv_t + part, s, 0);
}
