/* fake_snapshot.h - a snapshot made without the model, for tests of drawings.
 *
 * The numbers are plausible and consistent with each other, the formulas the
 * plain textbook ones: what is tested is how numbers are shown. */
#ifndef FAKE_SNAPSHOT_H
#define FAKE_SNAPSHOT_H

#include "attnviz/density.h"
#include "attnviz/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fake {
    struct av_snapshot s;
    double *scores, *logits, *weights, *dq, *bins;
    struct av_rowstats *rows, *other_rows;
    bool *invalid;
    struct av_ghost ghost;
    struct av_view_state state;
};

static double fake_normal(uint64_t *state)
{
    double sum = -6; /* twelve uniform numbers: variance 1 */
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005U + 1442695040888963407U;
        sum += (double)(*state >> 33) / 2147483648.0;
    }
    return sum;
}

/* Softmax and statistics of a row: p gets n weights, 0 where masked. */
static void fake_row(double *p, const double *z, size_t n, struct av_rowstats *r)
{
    *r = (struct av_rowstats){ 0 };
    double top = -(double)INFINITY;
    for (size_t j = 0; j < n; j++) {
        r->keys += !isinf(z[j]);
        r->argmax = z[j] > top ? j : r->argmax;
        top = fmax(top, z[j]);
    }
    double total = 0;
    for (size_t j = 0; j < n; j++) {
        p[j] = r->keys > 0 && !isinf(z[j]) ? exp(z[j] - top) : 0;
        total += p[j];
    }
    double p3 = 0;
    for (size_t j = 0; j < n && r->keys > 0; j++) {
        p[j] /= total;
        r->row_sum += p[j];
        r->entropy -= p[j] > 0 ? p[j] * log(p[j]) : 0;
        r->sum_p2 += p[j] * p[j];
        p3 += p[j] * p[j] * p[j];
        r->trace += p[j] * (1 - p[j]);
        r->one_minus_max += j == r->argmax ? 0 : p[j];
    }
    r->max_logit = r->keys > 0 ? top : 0;
    r->max = r->keys > 0 ? p[r->argmax] : 0;
    r->jacobian_fro = sqrt(fmax(0, r->sum_p2 - 2 * p3 + r->sum_p2 * r->sum_p2));
    r->scaled = (struct av_rowstats_scaled){ .one_minus_max = r->one_minus_max,
                                             .half_surprise = 0.5 * r->entropy / r->one_minus_max,
                                             .trace = r->trace,
                                             .jacobian_fro = r->jacobian_fro };
}

static int fake_ascending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static double fake_median(double *x, size_t n)
{
    if (n == 0) {
        return (double)NAN;
    }
    qsort(x, n, sizeof *x, fake_ascending);
    return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static void fake_summary(struct av_summary *sum, const struct fake *f, const struct av_rowstats *rows, double alpha)
{
    size_t n_q = f->s.n_q;
    double *column = calloc(n_q, sizeof *column);
    *sum = (struct av_summary){ .alpha = alpha, .logits = AV_MOMENTS_INIT };
    for (size_t i = 0; i < n_q; i++) {
        const struct av_rowstats *r = &rows[i];
        sum->rows_without_keys += r->keys == 0;
        if (r->keys < 2 || f->invalid[i]) {
            continue;
        }
        column[sum->rows++] = r->max;
        sum->max_mean += r->max;
        sum->share_max_gt_0_9 += r->max > 0.9;
        sum->entropy_mean += r->entropy;
        sum->entropy_norm_mean += r->entropy / log((double)r->keys);
        sum->effective_keys_mean += exp(r->entropy);
        sum->jacobian_fro_mean += r->jacobian_fro;
        sum->share_fro_lt_1e_3 += r->jacobian_fro < 1e-3;
    }
    double n = sum->rows > 0 ? (double)sum->rows : (double)NAN;
    double *const means[] = { &sum->max_mean,          &sum->share_max_gt_0_9,    &sum->entropy_mean,
                              &sum->entropy_norm_mean, &sum->effective_keys_mean, &sum->jacobian_fro_mean,
                              &sum->share_fro_lt_1e_3 };
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        *means[i] /= n;
    }
    sum->max_median = fake_median(column, sum->rows);
    sum->one_minus_max_median = 1 - sum->max_median;
    size_t k = 0;
    for (size_t i = 0; i < n_q; i++) {
        if (rows[i].keys >= 2 && !f->invalid[i]) {
            column[k++] = rows[i].jacobian_fro;
        }
    }
    sum->jacobian_fro_median = fake_median(column, k);
    sum->d_scores_rms_median = alpha * sum->jacobian_fro_median;
    sum->dq_rms_mean = alpha * sum->jacobian_fro_mean;
    sum->dq_rms_median = alpha * sum->jacobian_fro_median;
    sum->logits = f->s.score_moments;
    sum->logits.m2 *= alpha * alpha / f->s.params.temperature / f->s.params.temperature;
    sum->row_std = av_moments_std(&sum->logits);
    free(column);
}

static size_t fake_length(const struct av_params *p, size_t i)
{
    int64_t end = p->mask == AV_MASK_CAUSAL ? (int64_t)i + 1 + p->n_k - p->n_q : p->n_k;
    return end < 0 ? 0 : end < p->n_k ? (size_t)end : (size_t)p->n_k;
}

static void fake_histogram(struct fake *f, double alpha)
{
    struct av_score_histogram *h = &f->s.histogram;
    size_t bins = (size_t)f->s.params.bins;
    double std = sqrt((double)f->s.d_k);
    *h = (struct av_score_histogram){
        .bins = bins, .lo = -4 * std, .hi = 4 * std, .unscaled_factor = 1, .scaled_factor = alpha, .exact = true
    };
    f->bins = calloc(4 * bins, sizeof *f->bins);
    double factors[2] = { 1, alpha };
    double unit = (double)f->s.score_moments.count * 8 * std / (double)bins;
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < f->s.n_q * f->s.n_k; i++) {
            double bin = (f->scores[i] * factors[k] - h->lo) / (h->hi - h->lo) * (double)bins;
            if (bin >= 0 && bin < (double)bins) {
                f->bins[k * bins + (size_t)bin] += 1 / unit;
            }
        }
        double s = std * factors[k];
        for (size_t b = 0; b < bins; b++) {
            double x = h->lo + (h->hi - h->lo) * ((double)b + 0.5) / (double)bins;
            f->bins[(2 + k) * bins + b] = exp(-x * x / (2 * s * s)) / (s * sqrt(2 * acos(-1)));
        }
    }
    h->unscaled = f->bins;
    h->scaled = f->bins + bins;
    h->unscaled_curve = f->bins + 2 * bins;
    h->scaled_curve = f->bins + 3 * bins;
}

static void fake_rows(struct fake *f, double alpha, struct av_rowstats *rows)
{
    struct av_snapshot *s = &f->s;
    for (size_t i = 0; i < s->n_q; i++) {
        size_t length = fake_length(&s->params, i);
        for (size_t j = 0; j < s->n_k; j++) {
            double z = (alpha * f->scores[i * s->n_k + j] + s->params.offset) / s->params.temperature;
            f->logits[i * s->n_k + j] = j < length ? z : -(double)INFINITY;
        }
        fake_row(f->weights + i * s->n_k, f->logits + i * s->n_k, s->n_k, &rows[i]);
    }
}

/* Makes a snapshot of these parameters; fake_free it. */
static void fake_make(struct fake *f, const struct av_params *p)
{
    memset(f, 0, sizeof *f);
    struct av_snapshot *s = &f->s;
    s->params = *p;
    s->n_q = (size_t)p->n_q;
    s->n_k = (size_t)p->n_k;
    s->d_k = (size_t)p->d_k;
    size_t n = s->n_q * s->n_k;
    f->scores = calloc(n, sizeof(double));
    f->logits = calloc(n, sizeof(double));
    f->weights = calloc(n, sizeof(double));
    f->dq = calloc(s->n_q, sizeof(double));
    f->rows = calloc(s->n_q, sizeof *f->rows);
    f->other_rows = calloc(s->n_q, sizeof *f->other_rows);
    f->invalid = calloc(s->n_q, sizeof *f->invalid);
    double alpha = pow((double)p->d_k, -p->exponent);
    s->alpha = p->scale ? alpha : 1;
    uint64_t state = p->seed;
    for (size_t i = 0; i < n; i++) {
        f->scores[i] = sqrt((double)p->d_k) * fake_normal(&state);
    }
    s->score_moments = (struct av_moments)AV_MOMENTS_INIT;
    av_moments_add(&s->score_moments, f->scores, n);
    s->expected_var = (double)p->d_k;
    s->expected_kurtosis = 6.0 / (double)p->d_k;
    fake_histogram(f, alpha);
    double other = p->scale ? 1 : alpha;
    fake_rows(f, other, f->other_rows);
    fake_summary(&s->other, f, f->other_rows, other);
    fake_rows(f, s->alpha, f->rows);
    fake_summary(&s->now, f, f->rows, s->alpha);
    s->now.scale = p->scale != 0;
    s->other.scale = p->scale == 0;
    for (size_t i = 0; i < s->n_q; i++) {
        f->dq[i] = s->alpha * f->rows[i].jacobian_fro * sqrt((double)p->d_k);
    }
    s->scores = f->scores;
    s->logits = f->logits;
    s->weights = f->weights;
    s->rows = f->rows;
    s->other_rows = f->other_rows;
    s->invalid = f->invalid;
    s->invalid_scores = f->invalid;
    s->other_invalid = f->invalid;
    s->simplex = true;
    s->dq_rms = f->dq;
    s->has_theory = s->now.rows > 0;
    s->theory_std = s->alpha * sqrt((double)p->d_k) / p->temperature;
    s->theory_freezing = sqrt(2 * log((double)p->n_k));
    s->theory.entropy_norm = s->now.entropy_norm_mean;
    s->probed = fabs(p->key_offset) > 0;
}

static void fake_free(struct fake *f)
{
    free(f->scores);
    free(f->logits);
    free(f->weights);
    free(f->dq);
    free(f->bins);
    free(f->rows);
    free(f->other_rows);
    free(f->invalid);
}

static struct av_view_context fake_context(const struct fake *f, bool full)
{
    return (struct av_view_context){ .snapshot = &f->s, .ghost = &f->ghost, .state = &f->state, .full = full };
}

#endif
