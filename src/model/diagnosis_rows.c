/* diagnosis_rows.c - a row of q.k and of logits, and how weights follow q.k. */
#include "diagnosis_state.h"
#include "score_stats.h"

#include "attnviz/theory.h"

#include <math.h>

#define FLOAT16_MAX 65504.0

size_t av_diagnosis_length(const struct av_diagnoser *d, size_t query)
{
    return av_row_length((enum av_mask)d->params.mask, query, d->at->n_q, d->at->n_k);
}

size_t av_diagnosis_weight_length(const struct av_diagnoser *d, size_t query)
{
    enum av_mask mask = d->causal_seen ? AV_MASK_CAUSAL : (enum av_mask)d->params.mask;
    return av_row_length(mask, query, d->at->n_q, d->at->n_k);
}

static void add_largest(struct av_dot_sums *s, size_t query, const double *dots, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double size = fabs(dots[j]);
        s->beyond += size > FLOAT16_MAX;
        if (size > s->largest) {
            s->largest = size;
            s->largest_at[0] = query;
            s->largest_at[1] = j;
        }
    }
}

/* A softmax of the row at some multiplier: is it saturated, and how even? */
static void add_effect(struct av_diagnoser *d, const double *dots, size_t n, double multiplier, size_t *saturated,
                       double *entropy)
{
    struct av_rowstats row;
    d->kernels->softmax(NULL, dots, multiplier, n, &row);
    *saturated += row.max > AV_LARGEST_ALARM;
    *entropy += row.entropy / log((double)n);
}

static void add_dots(struct av_diagnoser *d, size_t query, const double *dots, size_t n)
{
    struct av_dot_sums *s = &d->dot;
    add_largest(s, query, dots, n);
    if (n < 2) {
        return;
    }
    struct av_moments row = AV_MOMENTS_INIT;
    av_moments_add(&row, dots, n);
    av_spread_add(&s->within, &row);
    add_effect(d, dots, n, 1 / sqrt((double)d->at->d), &s->saturated_scaled, &s->entropy_scaled);
    add_effect(d, dots, n, 1, &s->saturated_bare, &s->entropy_bare);
    s->rows++;
}

void av_diagnosis_judge_row(struct av_diagnoser *d, const struct av_rowstats *row)
{
    struct av_logit_sums *s = &d->logit;
    s->above += row->max > AV_LARGEST_ALARM;
    s->dead += row->jacobian_fro < AV_DEAD_FRO;
    s->freezing += av_theory_freezing((double)row->keys);
    s->entropy_norm += row->entropy / log((double)row->keys);
    s->fro[s->rows++] = row->jacobian_fro;
}

/* The finite ones of n logits, times a factor, to out; SIZE_MAX when one is
 * neither finite nor -infinity. */
static size_t gather_logits(double *out, const double *x, size_t n, double factor)
{
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        double logit = factor * x[j];
        if (isnan(logit) || logit > (double)INFINITY / 2) {
            return SIZE_MAX;
        }
        out[count] = logit;
        count += isfinite(logit) ? 1 : 0;
    }
    return count;
}

static void add_logits(struct av_diagnoser *d, const double *x, size_t n, double factor)
{
    double *logits = d->spare[0];
    size_t keys = gather_logits(logits, x, n, factor);
    d->logit.one_key += keys == 1;
    if (keys < 2 || keys == SIZE_MAX) {
        return;
    }
    struct av_moments moments = AV_MOMENTS_INIT;
    av_moments_add(&moments, logits, keys);
    av_moments_merge(&d->logit.all, &moments);
    av_spread_add(&d->logit.within, &moments);
    struct av_rowstats row;
    d->kernels->softmax(NULL, logits, 1, keys, &row);
    av_diagnosis_judge_row(d, &row);
}

/* Points (q.k, ln w) of the keys with weight. */
static void add_weight_points(struct av_diagnoser *d, const double *dots, size_t n)
{
    double *x = d->spare[0], *y = d->spare[1], *h = d->spare[2];
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        double w = d->weights[j];
        if (!(w >= 0) || !isfinite(w)) {
            return;
        }
        double rounded = fmin(1, w * 0x1p14);
        h[count] = rounded * rounded;
        if (h[count] > 0) {
            x[count] = dots[j];
            y[count] = d->logs[j];
            count++;
        }
    }
    av_slope_add(&d->slope, x, y, h, count);
}

/* Points (q.k, score) of the keys whose score is finite. */
static void add_score_points(struct av_diagnoser *d, const double *dots, size_t n)
{
    double *x = d->spare[0], *y = d->spare[1];
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        x[count] = dots[j];
        y[count] = d->scores[j];
        count += isfinite(d->scores[j]) ? 1 : 0;
    }
    av_slope_add(&d->slope, x, y, NULL, count);
}

void av_diagnosis_add_row(struct av_diagnoser *d, size_t query, const double *dots)
{
    size_t n = av_diagnosis_length(d, query);
    bool weights = av_diagnosis_has(d, AV_PART_WEIGHTS), scores = av_diagnosis_has(d, AV_PART_SCORES);
    if (dots != NULL && av_all_finite(dots, n)) {
        add_dots(d, query, dots, n);
        if (weights) {
            add_weight_points(d, dots, n);
        } else if (scores) {
            add_score_points(d, dots, n);
        } else {
            add_logits(d, dots, n, d->multiplier);
        }
    }
    if (scores && !weights) {
        add_logits(d, d->scores, n, 1);
    }
}
