/* facts_float.c - measurements of what arithmetic does to a row, and of one
 * key against the others. */
#include "facts_measures.h"
#include "trial.h"

#include <math.h>
#include <string.h>

/* ---- Softmax by the book, in single precision --------------------------------- */

/* p becomes exp(z - z_0) / sum of them, z = multiplier * s + shift rounded to
 * single, z_0 the largest z or 0; returns the largest weight. */
static float softmax_f32(double *p, const double *s, size_t n, const struct av_fact_setting *at, bool subtract)
{
    float multiplier = (float)av_trial_multiplier(at);
    float shift = (float)at->x;
    float top = -INFINITY;
    float sum = 0;
    float largest = 0;
    for (size_t j = 0; j < n; j++) {
        top = fmaxf(top, multiplier * (float)s[j] + shift);
    }
    for (size_t j = 0; j < n; j++) {
        float e = expf(multiplier * (float)s[j] + shift - (subtract ? top : 0));
        sum += e;
        p[j] = (double)e;
    }
    for (size_t j = 0; j < n; j++) {
        float weight = (float)p[j] / sum;
        largest = isnan(weight) ? weight : fmaxf(largest, weight);
        p[j] = (double)weight;
    }
    return largest;
}

/* The same in double precision, by the kernel. */
static double softmax_f64(struct av_trial *t, double *p, size_t i, const struct av_fact_setting *at)
{
    const double *s = t->scores + i * t->n_k;
    struct av_rowstats row;
    for (size_t j = 0; j < t->n_k; j++) {
        t->column[j] = av_trial_multiplier(at) * s[j] + at->x;
    }
    t->kernels->softmax(p, t->column, 1, t->n_k, &row);
    return row.max;
}

enum arithmetic { F64, F32, NAIVE_F32 };

static double softmax_row(struct av_trial *t, double *p, size_t i, const struct av_fact_setting *at,
                          enum arithmetic how)
{
    const double *s = t->scores + i * t->n_k;
    return how == F64 ? softmax_f64(t, p, i, at) : (double)softmax_f32(p, s, t->n_k, at, how == F32);
}

/* ---- Shifts ---------------------------------------------------------------------- */

static double mean_largest(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, enum arithmetic how)
{
    double sum = 0;
    av_trial_draw(t, at, seed);
    for (size_t i = 0; i < t->n_q; i++) {
        sum += softmax_row(t, t->weights, i, at, how);
    }
    return sum / (double)t->n_q;
}

double av_measure_shifted_f64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return mean_largest(t, at, seed, F64);
}

double av_measure_shifted_f32(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return mean_largest(t, at, seed, F32);
}

double av_measure_shifted_naive(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return mean_largest(t, at, seed, NAIVE_F32);
}

static double largest_change(const double *a, const double *b, size_t n)
{
    double change = 0;
    for (size_t j = 0; j < n; j++) {
        change = fmax(change, fabs(a[j] - b[j]));
    }
    return change;
}

static double shift_change(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, enum arithmetic how)
{
    struct av_fact_setting unshifted = *at;
    unshifted.x = 0;
    double change = 0;
    av_trial_draw(t, at, seed);
    for (size_t i = 0; i < t->n_q; i++) {
        softmax_row(t, t->kept, i, &unshifted, how);
        softmax_row(t, t->weights, i, at, how);
        change = fmax(change, largest_change(t->weights, t->kept, t->n_k));
    }
    return change;
}

double av_measure_shift_change_f64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return shift_change(t, at, seed, F64);
}

double av_measure_shift_change_f32(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return shift_change(t, at, seed, F32);
}

double av_measure_temperature(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    double temperature = sqrt((double)at->d_k);
    size_t n = at->n_q * at->n_k;
    av_trial_draw(t, at, seed);
    av_trial_softmax(t, av_trial_multiplier(at), at->n_k);
    memcpy(t->kept, t->weights, n * sizeof *t->kept);
    for (size_t i = 0; i < n; i++) {
        t->scores[i] /= temperature;
    }
    av_trial_softmax(t, 1, at->n_k);
    return largest_change(t->weights, t->kept, n);
}

/* ---- Gradients that are 0 ---------------------------------------------------------- */

double av_measure_zero_f32(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    size_t zeros = 0;
    av_trial_draw(t, at, seed);
    for (size_t i = 0; i < t->n_q; i++) {
        float p = softmax_f32(t->weights, t->scores + i * t->n_k, t->n_k, at, true);
        zeros += p * (1 - p) <= 0;
    }
    return (double)zeros / (double)t->n_q;
}

static double zeros_f64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, bool difference)
{
    size_t zeros = 0;
    av_trial_draw(t, at, seed);
    av_trial_softmax(t, av_trial_multiplier(at), at->n_k);
    for (size_t i = 0; i < t->n_q; i++) {
        double p = t->rows[i].max;
        zeros += p * (difference ? 1 - p : t->rows[i].one_minus_max) <= 0;
    }
    return (double)zeros / (double)t->n_q;
}

double av_measure_zero_f64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return zeros_f64(t, at, seed, true);
}

double av_measure_zero_sum(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return zeros_f64(t, at, seed, false);
}

/* ---- One key against the others ------------------------------------------------------ */

/* p (1 - p) of key 0 at logit x; the others' logits are in t->column. */
static double slope(struct av_trial *t, size_t n, double x)
{
    struct av_rowstats row;
    t->column[0] = x;
    t->kernels->softmax(t->weights, t->column, 1, n, &row);
    double p = t->weights[0];
    double rest = 0;
    for (size_t j = 1; j < n; j++) {
        rest += t->weights[j];
    }
    return p * rest;
}

/* Where it peaks, by golden section: it rises and then falls. A maximum is
 * flat, so its place is found to about the root of double's precision. */
static double peak(struct av_trial *t, size_t n)
{
    const double golden = 0x1.3c6ef372fe95p-1; /* (sqrt(5) - 1) / 2 */
    double lo = -50;
    double hi = 50;
    for (int i = 0; i < 45; i++) {
        double span = golden * (hi - lo);
        if (slope(t, n, hi - span) < slope(t, n, lo + span)) {
            lo = hi - span;
        } else {
            hi = lo + span;
        }
    }
    return (lo + hi) / 2;
}

double av_measure_peak_zeros(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    (void)seed;
    memset(t->column, 0, at->n_k * sizeof *t->column);
    return peak(t, at->n_k);
}

double av_measure_peak_scores(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    av_trial_draw(t, at, seed);
    for (size_t j = 0; j < at->n_k; j++) {
        t->column[j] = av_trial_multiplier(at) * t->scores[j];
    }
    return peak(t, at->n_k);
}
