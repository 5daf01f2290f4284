/* diagnosis_rows.c - a row of q.k and of logits, and how weights follow q.k. */
#include "diagnosis_state.h"
#include "score_stats.h"

#include "attnviz/dtype.h"
#include "attnviz/theory.h"

#include <float.h>
#include <math.h>

#define MASK_SCORE (-8192.0) /* -1e4 and less stand for -infinity; float16 and bfloat16 round it */
#define MASK_BELOW 745.0     /* the row's largest: e^-745 is 0 in double */
#define LEVEL_STD 0x1p-6     /* of logits: far beyond rounding */

enum av_mask av_diagnosis_mask(const struct av_diagnoser *d)
{
    return d->causal_seen || d->causal_fits ? AV_MASK_CAUSAL : (enum av_mask)d->params.mask;
}

size_t av_diagnosis_length(const struct av_diagnoser *d, size_t query)
{
    return av_row_length(av_diagnosis_mask(d), query, d->at->n_q, d->at->n_k);
}

static void add_largest(struct av_dot_sums *s, size_t query, const double *dots, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double size = fabs(dots[j]);
        s->beyond += size > AV_FLOAT16_MAX;
        if (size > s->largest) {
            s->largest = size;
            s->largest_at[0] = query;
            s->largest_at[1] = j;
        }
    }
}

/* A row of q.k as it is, and its softmax times some multipliers. */
struct dot_row {
    struct av_moments moments;
    struct av_rowstats scaled, bare, set; /* 1/sqrt(d_k), 1, by the parameters */
};

/* p: that by the parameters, or NULL. */
static struct dot_row row_of(struct av_diagnoser *d, const double *dots, size_t n, double *p)
{
    double right = 1 / sqrt((double)d->at->d), set = d->multiplier;
    struct dot_row row = { .moments = AV_MOMENTS_INIT };
    av_moments_add(&row.moments, dots, n);
    d->kernels->softmax(p, dots, set, n, &row.set);
    row.scaled = row.bare = row.set;
    if (fabs(set / right - 1) > DBL_EPSILON) {
        d->kernels->softmax(NULL, dots, right, n, &row.scaled);
    }
    if (set != 1) {
        d->kernels->softmax(NULL, dots, 1, n, &row.bare);
    }
    return row;
}

static void add_effect(const struct av_rowstats *row, size_t *saturated, double *entropy)
{
    *saturated += row->max > AV_LARGEST_ALARM;
    *entropy += row->entropy / log((double)row->keys);
}

static void add_dots(struct av_dot_sums *s, const struct dot_row *row)
{
    av_spread_add(&s->within, &row->moments);
    add_effect(&row->scaled, &s->saturated_scaled, &s->entropy_scaled);
    add_effect(&row->bare, &s->saturated_bare, &s->entropy_bare);
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

/* The finite ones of n logits to out; SIZE_MAX when one is neither finite nor
 * -infinity. */
static size_t gather_logits(double *out, const double *x, size_t n)
{
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        if (isnan(x[j]) || x[j] > DBL_MAX) {
            return SIZE_MAX;
        }
        out[count] = x[j];
        count += isfinite(x[j]) ? 1 : 0;
    }
    return count;
}

static void add_logits(struct av_diagnoser *d, const double *x, size_t n)
{
    double *logits = d->spare[0];
    size_t keys = gather_logits(logits, x, n);
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

/* The logits that the parameters make of a row. */
static void add_set_logits(struct av_diagnoser *d, const struct dot_row *row)
{
    struct av_moments moments = row->moments;
    av_moments_stretch(&moments, d->multiplier, 0);
    av_moments_merge(&d->logit.all, &moments);
    av_spread_add(&d->logit.within, &moments);
    av_diagnosis_judge_row(d, &row->set);
}

/* Does the row give all keys the same, or 0, though q.k differs by more than even the
 * smallest known multiplier, 1/d_k, makes of nothing? It saw none, then. */
static bool level(const struct av_diagnoser *d, const struct av_moments *dots)
{
    return av_moments_std(dots) > LEVEL_STD * (double)d->at->d && av_diagnosis_level(d);
}

/* Points (x, ln w), of the heights h, of those of n keys that have weight, to the spare
 * rows; p, if not NULL, keeps theirs. Returns how many there are: none if a weight is
 * none. before, if not NULL: how many of the first *before keys. */
static size_t gather_weights(struct av_diagnoser *d, const double *dots, double *p, size_t n, size_t *before)
{
    double *x = d->spare[0], *y = d->spare[1], *h = d->spare[2];
    size_t count = 0, first = 0, end = before != NULL ? *before : 0;
    for (size_t j = 0; j < n; j++) {
        double w = d->weights[j];
        if (!(w >= 0) || !isfinite(w)) {
            return 0;
        }
        double rounded = fmin(1, w * 0x1p14);
        h[count] = rounded * rounded;
        if (h[count] > 0) {
            x[count] = dots[j];
            y[count] = log(w);
            if (p != NULL) {
                p[count] = p[j];
            }
            count++;
            first += j < end;
        }
    }
    if (before != NULL) {
        *before = first;
    }
    return count;
}

/* Points (q.k, ln w) of the keys with weight, and (p, ln w), p: their softmax. */
static void add_weight_points(struct av_diagnoser *d, size_t query, const double *dots, double *p, size_t n)
{
    const double *x = d->spare[0], *y = d->spare[1], *h = d->spare[2];
    size_t before = av_row_length(AV_MASK_CAUSAL, query, d->at->n_q, d->at->n_k);
    size_t count = gather_weights(d, dots, p, n, &before);
    av_slope_add(&d->slope, x, y, h, count);
    av_slope_add(&d->second, p, y, h, count);
    av_diagnosis_add_leak(d, dots, x, y, h, count, n);
    if (count > 0 && av_diagnosis_may_be_causal(d)) {
        av_diagnosis_add_causal(d, x, y, h, before, count);
    }
}

void av_diagnosis_unmask_scores(struct av_diagnoser *d)
{
    double most = -(double)INFINITY, *x = d->scores;
    for (size_t j = 0; j < d->at->n_k; j++) {
        most = x[j] > most ? x[j] : most;
    }
    for (size_t j = 0; j < d->at->n_k; j++) {
        bool masked = x[j] <= MASK_SCORE && (most - x[j] > MASK_BELOW || most == x[j]);
        x[j] = masked ? -(double)INFINITY : x[j];
        for (enum av_dtype t = AV_DTYPE_BF16; t <= AV_DTYPE_F16; t++) {
            d->wider[t] = d->wider[t] || (isfinite(x[j]) && av_dtype_round(t, x[j]) != x[j]);
        }
    }
}

/* Points (q.k, score) of the keys whose score is finite. */
static void add_score_points(struct av_diagnoser *d, struct av_slope_sums *out, const double *dots, size_t n)
{
    double *x = d->spare[0], *y = d->spare[1];
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        x[count] = dots[j];
        y[count] = d->scores[j];
        count += isfinite(d->scores[j]) ? 1 : 0;
    }
    av_slope_add(out, x, y, NULL, count);
}

void av_diagnosis_add_swapped(struct av_diagnoser *d, size_t query, const double *dots)
{
    size_t n = av_diagnosis_length(d, query);
    if (!av_all_finite(dots, n)) {
        return;
    }
    if (av_diagnosis_has(d, AV_PART_WEIGHTS)) {
        size_t count = gather_weights(d, dots, NULL, n, NULL);
        av_slope_add(&d->swapped, d->spare[0], d->spare[1], d->spare[2], count);
    } else {
        add_score_points(d, &d->swapped, dots, n);
    }
}

/* A row whose keys are all masked by a finite number, where no mask is told. */
static void add_blind(struct av_weight_sums *s, size_t query)
{
    s->first_blind = s->blind++ == 0 ? query : s->first_blind;
}

/* A row of q.k whose numbers are all finite. */
static void add_entries(struct av_diagnoser *d, size_t query, const double *dots, size_t n)
{
    bool weights = av_diagnosis_has(d, AV_PART_WEIGHTS), scores = av_diagnosis_has(d, AV_PART_SCORES);
    double *p = weights ? d->spare[3] : NULL;
    add_largest(&d->dot, query, dots, n);
    if (n < 2) {
        d->logit.one_key += n == 1 && !weights && !scores;
        return;
    }
    struct dot_row row = row_of(d, dots, n, p);
    add_dots(&d->dot, &row);
    if (!weights && !scores) {
        add_set_logits(d, &row);
    } else if (!weights) {
        add_score_points(d, &d->slope, dots, n);
    } else if (!level(d, &row.moments)) {
        add_weight_points(d, query, dots, p, n);
    } else if (n == d->at->n_k) {
        add_blind(&d->weight, query);
    }
}

void av_diagnosis_add_dots(struct av_diagnoser *d, size_t query, const double *dots)
{
    size_t n = av_diagnosis_length(d, query);
    if (av_all_finite(dots, n)) {
        add_entries(d, query, dots, n);
    }
}

void av_diagnosis_add_scores(struct av_diagnoser *d, size_t query)
{
    size_t seen = av_diagnosis_length(d, query);
    for (size_t j = 0; j < d->at->n_k; j++) {
        d->spare[1][j] = d->scores[j];
    }
    av_diagnosis_unmask_scores(d);
    for (size_t j = 0; j < d->at->n_k; j++) {
        bool taken = isfinite(d->spare[1][j]) && !isfinite(d->scores[j]);
        d->unmasked += taken;
        d->lowest = taken ? fmin(d->lowest, d->spare[1][j]) : d->lowest;
    }
    av_diagnosis_add_fill(d, seen);
    if (!av_diagnosis_has(d, AV_PART_WEIGHTS)) {
        add_logits(d, d->scores, seen);
    }
}
