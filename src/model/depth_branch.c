/* depth_branch.c - attention and MLP, forward and backward side by side. */
#include "depth_branch.h"

#include "attnviz/mem.h"
#include "attnviz/stats.h"

#include <math.h>
#include <string.h>

/* ---- Memory -------------------------------------------------------------------- */

size_t av_depth_rows(const struct av_depth_branch *b, enum av_depth_matrix which)
{
    return which == AV_W_O ? b->d_k : which == AV_W_2 ? b->hidden : b->d;
}

size_t av_depth_columns(const struct av_depth_branch *b, enum av_depth_matrix which)
{
    return which == AV_W_O || which == AV_W_2 ? b->d : which == AV_W_1 ? b->hidden : b->d_k;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Lays the arrays out from `memory` on, each on lines of its own; returns the
 * numbers that they take. With memory NULL it only counts. */
static size_t lay_out(struct av_depth_branch *b, double *memory)
{
    const size_t tokens = b->n * b->d, heads = b->n * b->d_k, pairs = b->n * b->n, hidden = b->n * b->hidden;
    const size_t widest = larger(b->d, larger(b->d_k, larger(b->n, b->hidden)));
    const size_t most = larger(b->n * widest, b->d * larger(b->d_k, b->hidden));
    const struct {
        double **at;
        size_t count;
    } arrays[] = {
        { &b->h, tokens },
        { &b->y, tokens },
        { &b->d_h, tokens },
        { &b->d_y, tokens },
        { &b->sum, tokens },
        { &b->q, heads },
        { &b->k, heads },
        { &b->v, heads },
        { &b->a, heads },
        { &b->d_q, heads },
        { &b->d_k_, heads },
        { &b->d_v, heads },
        { &b->d_a, heads },
        { &b->s, pairs },
        { &b->p, pairs },
        { &b->d_p, pairs },
        { &b->d_s, pairs },
        { &b->u, hidden },
        { &b->g, hidden },
        { &b->d_g, hidden },
        { &b->math.turned[0], most },
        { &b->math.turned[1], most },
    };
    size_t used = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i].at = memory != NULL ? memory + used : NULL;
        used += (arrays[i].count + 7) / 8 * 8;
    }
    for (enum av_depth_matrix i = 0; i < AV_DEPTH_MATRICES; i++) {
        const size_t count = (av_depth_rows(b, i) * av_depth_columns(b, i) + 7) / 8 * 8;
        b->w[i] = memory != NULL ? memory + used : NULL;
        b->d_w[i] = memory != NULL ? memory + used + count : NULL;
        used += 2 * count;
    }
    return used;
}

double av_depth_branch_bytes(const struct av_depth_branch *b)
{
    struct av_depth_branch sizes = *b;
    return (double)sizeof(double) * (double)lay_out(&sizes, NULL) + AV_SCORES_SCRATCH;
}

enum av_status av_depth_branch_new(struct av_depth_branch *b, const struct av_kernels *kernels, struct av_error *e)
{
    b->math.kernels = kernels;
    b->math.scratch = av_alloc(1, AV_SCORES_SCRATCH);
    b->memory = av_alloc(lay_out(b, NULL), sizeof *b->memory);
    if (b->math.scratch == NULL || b->memory == NULL) {
        return av_fail_nomem(e, "a layer");
    }
    lay_out(b, b->memory);
    return AV_OK;
}

void av_depth_branch_free(struct av_depth_branch *b)
{
    av_free(b->math.scratch);
    av_free(b->memory);
}

/* ---- Attention ------------------------------------------------------------------- */

/* Weights and what is measured of them. */
static void weigh(struct av_depth_branch *b)
{
    const size_t n = b->n;
    struct av_spread spread = { 0, 0 };
    double entropy = 0;
    b->one_hot = true;
    for (size_t i = 0; i < n; i++) {
        struct av_rowstats row;
        struct av_moments moments = AV_MOMENTS_INIT;
        b->math.kernels->softmax(b->p + i * n, b->s + i * n, b->alpha, n, &row);
        av_depth_round(&b->math, b->p + i * n, n);
        av_moments_add(&moments, b->s + i * n, n);
        av_spread_add(&spread, &moments);
        entropy += row.entropy;
        for (size_t j = 0; j < n; j++) {
            const double weight = b->p[i * n + j];
            b->one_hot = b->one_hot && !(weight > 0 && weight < 1);
        }
    }
    b->logit_std = b->alpha * av_spread_std(&spread);
    b->entropy_norm = n > 1 ? entropy / (double)n / log((double)n) : (double)NAN;
}

static bool all_finite(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * 0;
    }
    return sum >= 0; /* 0 times what is not finite is NaN */
}

bool av_depth_attention_forward(struct av_depth_branch *b)
{
    const struct av_depth_math *m = &b->math;
    const size_t n = b->n, d = b->d, d_k = b->d_k;
    av_depth_times(m, b->q, b->h, b->w[AV_W_Q], n, d_k, d);
    av_depth_times(m, b->k, b->h, b->w[AV_W_K], n, d_k, d);
    av_depth_times(m, b->v, b->h, b->w[AV_W_V], n, d_k, d);
    av_depth_times_turned(m, b->s, b->q, b->k, n, n, d_k);
    if (!all_finite(b->s, n * n)) {
        return false;
    }
    weigh(b);
    av_depth_times(m, b->a, b->p, b->v, n, d_k, n);
    av_depth_times(m, b->y, b->a, b->w[AV_W_O], n, d, d_k);
    return true;
}

/* The norms of d_w_q and d_w_k from d_s. */
static void through_scores(struct av_depth_branch *b, double norms[AV_DEPTH_CANCEL])
{
    const struct av_depth_math *m = &b->math;
    const size_t n = b->n, d = b->d, d_k = b->d_k;
    av_depth_times(m, b->d_q, b->d_s, b->k, n, d_k, n);
    av_depth_turned_times(m, b->d_k_, b->d_s, b->q, n, d_k, n);
    av_depth_turned_times(m, b->d_w[AV_W_Q], b->h, b->d_q, d, d_k, n);
    av_depth_turned_times(m, b->d_w[AV_W_K], b->h, b->d_k_, d, d_k, n);
    norms[AV_DEPTH_GRAD_Q] = av_depth_norm(b->d_w[AV_W_Q], d * d_k);
    norms[AV_DEPTH_GRAD_K] = av_depth_norm(b->d_w[AV_W_K], d * d_k);
    norms[AV_DEPTH_GRAD_QK] = hypot(norms[AV_DEPTH_GRAD_Q], norms[AV_DEPTH_GRAD_K]);
}

/* alpha d_p behind the softmax, or p d_p, where nothing cancels. */
static void through_softmax(struct av_depth_branch *b, bool cancelled)
{
    const size_t n = b->n;
    for (size_t i = 0; i < n; i++) {
        const double *p = b->p + i * n, *d_p = b->d_p + i * n;
        double *d_s = b->d_s + i * n;
        if (cancelled) {
            av_depth_softmax_backward(d_s, d_p, p, n);
        }
        for (size_t j = 0; j < n; j++) {
            d_s[j] = b->alpha * (cancelled ? d_s[j] : p[j] * d_p[j]);
        }
    }
    av_depth_round(&b->math, b->d_s, n * n);
}

void av_depth_attention_backward(struct av_depth_branch *b)
{
    const struct av_depth_math *m = &b->math;
    const size_t n = b->n, d = b->d, d_k = b->d_k;
    double norms[AV_DEPTH_CANCEL];
    av_depth_times_turned(m, b->d_a, b->d_y, b->w[AV_W_O], n, d_k, d);
    av_depth_turned_times(m, b->d_w[AV_W_O], b->a, b->d_y, d_k, d, n);
    av_depth_times_turned(m, b->d_p, b->d_a, b->v, n, n, d_k);
    av_depth_turned_times(m, b->d_v, b->p, b->d_a, n, d_k, n);
    through_softmax(b, false);
    through_scores(b, b->uncancelled);
    through_softmax(b, true);
    through_scores(b, norms);
    av_depth_turned_times(m, b->d_w[AV_W_V], b->h, b->d_v, d, d_k, n);
    av_depth_times_turned(m, b->d_h, b->d_q, b->w[AV_W_Q], n, d, d_k);
    av_depth_times_turned(m, b->sum, b->d_k_, b->w[AV_W_K], n, d, d_k);
    av_depth_add(m, b->d_h, 1, b->sum, n * d);
    av_depth_times_turned(m, b->sum, b->d_v, b->w[AV_W_V], n, d, d_k);
    av_depth_add(m, b->d_h, 1, b->sum, n * d);
}

/* ---- MLP ----------------------------------------------------------------------------- */

void av_depth_mlp_forward(struct av_depth_branch *b)
{
    const struct av_depth_math *m = &b->math;
    av_depth_times(m, b->u, b->h, b->w[AV_W_1], b->n, b->hidden, b->d);
    av_depth_gelu_forward(m, b->g, b->u, b->n * b->hidden);
    av_depth_times(m, b->y, b->g, b->w[AV_W_2], b->n, b->d, b->hidden);
}

void av_depth_mlp_backward(struct av_depth_branch *b)
{
    const struct av_depth_math *m = &b->math;
    av_depth_times_turned(m, b->d_g, b->d_y, b->w[AV_W_2], b->n, b->hidden, b->d);
    av_depth_turned_times(m, b->d_w[AV_W_2], b->g, b->d_y, b->hidden, b->d, b->n);
    av_depth_gelu_backward(m, b->d_g, b->d_g, b->u, b->n * b->hidden);
    av_depth_turned_times(m, b->d_w[AV_W_1], b->h, b->d_g, b->d, b->hidden, b->n);
    av_depth_times_turned(m, b->d_h, b->d_g, b->w[AV_W_1], b->n, b->d, b->hidden);
}
