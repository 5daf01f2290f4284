/* pair_sums.c - moments at several d_k at once, and how far they can be trusted. */
#include "pair_sums.h"

#include <math.h>
#include <string.h>

void av_pair_sums_clear(struct av_pair_sums *s, size_t points)
{
    memset(s, 0, sizeof *s);
    s->points = points;
}

void av_pair_sums_add(struct av_pair_sums *s, const double *scores)
{
    if (s->pairs == 0) {
        memcpy(s->pivot, scores, s->points * sizeof *scores);
    }
    struct av_power_sums *sums = &s->groups[s->pairs % AV_PAIR_GROUPS];
    for (size_t i = 0; i < s->points; i++) {
        double d = scores[i] - s->pivot[i];
        double d2 = d * d;
        sums->of[0][i] += d;
        sums->of[1][i] += d2;
        sums->of[2][i] += d2 * d;
        sums->of[3][i] += d2 * d2;
    }
    s->pairs++;
}

/* ---- estimates ----------------------------------------------------------- */

/* Everything that is estimated, from all pairs or from those of all groups
 * but one: a block of each moment, then the slope. Means are those of the
 * distances from the pivot, whose digits a large pivot would take. */
enum {
    MEAN = 0,
    VARIANCE = AV_VARIANCE_POINTS,
    KURTOSIS = 2 * AV_VARIANCE_POINTS,
    SLOPE = 3 * AV_VARIANCE_POINTS,
    ESTIMATES
};

struct estimates {
    double at[ESTIMATES];
};

/* Slope of y over x by least squares; NaN when the x are all the same. */
static double least_squares(const double *x, const double *y, size_t n)
{
    double x_mean = 0;
    double y_mean = 0;
    for (size_t i = 0; i < n; i++) {
        x_mean += x[i] / (double)n;
        y_mean += y[i] / (double)n;
    }
    double xx = 0;
    double xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return xx > 0 ? xy / xx : (double)NAN;
}

/* From the sums of `count` pairs: central moments by the binomial theorem, a
 * the distance of the mean from the pivot. */
static struct estimates estimates_of(const struct av_pair_sums *s, const struct av_power_sums *sums, size_t count,
                                     const double *x)
{
    const double unknown = (double)NAN;
    struct estimates out;
    double log_variance[AV_VARIANCE_POINTS];
    double n = (double)count;
    for (size_t i = 0; i < s->points; i++) {
        double s1 = sums->of[0][i];
        double s2 = sums->of[1][i];
        double a = s1 / n;
        double m2 = s2 - a * s1;
        double m4 = sums->of[3][i] - a * (4 * sums->of[2][i] - a * (6 * s2 - 3 * a * s1));
        double variance = count > 1 ? m2 / (n - 1) : unknown;
        out.at[MEAN + i] = a;
        out.at[VARIANCE + i] = variance;
        out.at[KURTOSIS + i] = m2 > 0 ? n * (m4 / m2) / m2 - 3 : unknown;
        log_variance[i] = variance > 0 ? log(variance) : unknown;
    }
    out.at[SLOPE] = least_squares(x, log_variance, s->points);
    return out;
}

/* into += sign * from. */
static void accumulate(struct av_power_sums *into, const struct av_power_sums *from, double sign)
{
    for (size_t power = 0; power < AV_POWERS; power++) {
        for (size_t i = 0; i < AV_VARIANCE_POINTS; i++) {
            into->of[power][i] += sign * from->of[power][i];
        }
    }
}

/* The estimate `which` of all pairs, and its standard error from what it is
 * without each of the groups: sqrt((G - 1) / G sum (v - mean)^2). */
static void take(struct av_estimate *out, const struct estimates *whole, const struct estimates *without, size_t which,
                 bool enough)
{
    double mean = 0;
    for (size_t g = 0; g < AV_PAIR_GROUPS; g++) {
        mean += without[g].at[which] / AV_PAIR_GROUPS;
    }
    double sum = 0;
    for (size_t g = 0; g < AV_PAIR_GROUPS; g++) {
        double d = without[g].at[which] - mean;
        sum += d * d;
    }
    out->measured = whole->at[which];
    out->error = enough ? sqrt(sum * (AV_PAIR_GROUPS - 1) / AV_PAIR_GROUPS) : (double)NAN;
}

void av_pair_sums_estimate(const struct av_pair_sums *s, const double *x, struct av_pair_estimates *out)
{
    struct av_power_sums all = { { { 0 } } };
    for (size_t g = 0; g < AV_PAIR_GROUPS; g++) {
        accumulate(&all, &s->groups[g], 1);
    }
    struct estimates whole = estimates_of(s, &all, s->pairs, x);
    struct estimates without[AV_PAIR_GROUPS];
    for (size_t g = 0; g < AV_PAIR_GROUPS; g++) {
        struct av_power_sums rest = all;
        accumulate(&rest, &s->groups[g], -1);
        size_t size = (s->pairs + AV_PAIR_GROUPS - 1 - g) / AV_PAIR_GROUPS;
        without[g] = estimates_of(s, &rest, s->pairs - size, x);
    }
    bool enough = s->pairs >= 2 * AV_PAIR_GROUPS;
    for (size_t i = 0; i < s->points; i++) {
        take(&out->mean[i], &whole, without, MEAN + i, enough);
        out->mean[i].measured += s->pivot[i];
        take(&out->variance[i], &whole, without, VARIANCE + i, enough);
        take(&out->kurtosis[i], &whole, without, KURTOSIS + i, enough);
    }
    take(&out->slope, &whole, without, SLOPE, enough);
}
