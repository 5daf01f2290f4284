/* diagnosis_mean.c - are the weights the mean over all heads, or a softmax over them? */
#include "diagnosis_state.h"
#include "score_stats.h"

#include <math.h>

#define AVERAGED 0x1p-8 /* a distance that rounding to bfloat16 explains */

enum { SUMS_MIN = 8 }; /* pairs that must have weight */

void av_diagnosis_add_heads_sums(struct av_diagnoser *d, const double *sums)
{
    for (size_t j = 0; j < d->at->n_k; j++) {
        if (!isnan(sums[j]) && sums[j] != 0) { /* NaN, 0: masked in all heads */
            d->pairs++;
            d->heads_error = fmax(d->heads_error, fabs(sums[j] - 1));
        }
    }
}

bool av_diagnosis_is_over_heads(const struct av_diagnoser *d)
{
    return d->pairs >= SUMS_MIN && av_diagnosis_is_one(1 + d->heads_error, d->at->n_head);
}

size_t av_diagnosis_averaged_rows(const struct av_diagnoser *d)
{
    return d->block < AV_AVERAGED_ROWS ? d->block : AV_AVERAGED_ROWS;
}

size_t av_diagnosis_averaged_query(const struct av_diagnoser *d, size_t r)
{
    return av_diagnosis_query(d, (2 * r + 1) * d->rows / (2 * av_diagnosis_averaged_rows(d)));
}

double av_diagnosis_mean_multiplier(const struct av_diagnoser *d)
{
    return (const double[]){ 1 / sqrt((double)d->at->d), 1, d->multiplier }[d->tried];
}

/* Half the sum of |w - p|, w over keys [0, n_k), p over [0, n). */
static double distance(const struct av_diagnoser *d, const double *p, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < d->at->n_k; j++) {
        sum += fabs(d->weights[j] - (j < n ? p[j] : 0));
    }
    return sum / 2;
}

void av_diagnosis_add_mean(struct av_diagnoser *d, size_t r, const double *dots)
{
    size_t n = av_diagnosis_length(d, av_diagnosis_averaged_query(d, r));
    double *p = d->spare[0], *mean = d->mean + r * d->at->n_k;
    struct av_rowstats stats;
    if (n == 0) {
        return;
    }
    if (!av_all_finite(dots, n)) {
        mean[0] = (double)NAN;
        return;
    }
    d->kernels->softmax(p, dots, av_diagnosis_mean_multiplier(d), n, &stats);
    if (d->number == d->result.head) {
        d->own_distance += distance(d, p, n);
    }
    for (size_t j = 0; j < n; j++) {
        mean[j] += p[j] / (double)d->at->n_head;
        d->averaged_rounding[r] += p[j] * fabs(av_diagnosis_mean_multiplier(d) * dots[j]) / (double)d->at->n_head;
    }
}

void av_diagnosis_compare_mean(struct av_diagnoser *d, size_t r)
{
    size_t n = av_diagnosis_length(d, av_diagnosis_averaged_query(d, r));
    double left = av_diagnosis_rounding(&d->weight) * d->averaged_rounding[r];
    double far = fmax(0, distance(d, d->mean + r * d->at->n_k, n) - left);
    d->averaged_distance = isnan(far) || isnan(d->averaged_distance) ? (double)NAN : fmax(far, d->averaged_distance);
}

bool av_diagnosis_is_mean(const struct av_diagnoser *d)
{
    double rows = (double)av_diagnosis_averaged_rows(d);
    return d->averaged_distance < AVERAGED && d->own_distance / rows > 4 * AVERAGED;
}

bool av_diagnosis_next_mean(struct av_diagnoser *d)
{
    if (av_diagnosis_is_mean(d) || d->tried == AV_MEANS - 1) {
        return false;
    }
    d->tried++;
    d->number = 0;
    d->own_distance = d->averaged_distance = 0;
    for (size_t r = 0; r < av_diagnosis_averaged_rows(d); r++) {
        d->averaged_rounding[r] = 0;
        for (size_t j = 0; j < d->at->n_k; j++) {
            d->mean[r * d->at->n_k + j] = 0;
        }
    }
    return true;
}
