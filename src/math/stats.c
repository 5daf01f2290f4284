/* stats.c - moments, medians and histograms of arrays of doubles. */
#include "attnviz/stats.h"

#include "lanes.h"

#include <float.h>
#include <stdbool.h>

/* ---- moments ---------------------------------------------------------- */

enum { RUN = 1024 }; /* numbers that are centred on their own mean and then merged: they stay in the cache */

/* Sum, minimum and maximum of n >= 1 numbers. */
static double run_extent(struct av_moments *m, const double *x, size_t n)
{
    struct lanes sum = { 0 }, low = lanes_splat(x[0]), high = low;
    for (size_t i = 0; i < n; i += AV_LANES) {
        const bool whole = n - i >= AV_LANES;
        const struct lanes v = whole ? lanes_load(x + i) : lanes_load_part(x + i, n - i, x[0]);
        const struct lanes add = whole ? v : lanes_load_part(x + i, n - i, 0);
        for (size_t u = 0; u < AV_LANE_PARTS; u++) {
            sum.part[u] += add.part[u];
            low.part[u] = vd_min(low.part[u], v.part[u]);
            high.part[u] = vd_max(high.part[u], v.part[u]);
        }
    }
    double lows[AV_LANES], highs[AV_LANES];
    lanes_store(lows, low);
    lanes_store(highs, high);
    m->min = lows[0];
    m->max = highs[0];
    for (size_t l = 1; l < AV_LANES; l++) {
        m->min = lows[l] < m->min ? lows[l] : m->min;
        m->max = highs[l] > m->max ? highs[l] : m->max;
    }
    return lanes_sum(sum);
}

/* Central moments of n >= 1 numbers. The mean as computed is off by its
 * rounding, s = sum (x - mean) / n; the powers of x - mean - s follow from
 * those of x - mean. */
static struct av_moments run_moments(const double *x, size_t n)
{
    struct av_moments m = { .count = n };
    const double count = (double)n, mean = run_extent(&m, x, n) / count;
    if (m.min == m.max) {
        m.mean = m.min;
        return m;
    }
    struct lanes d1 = { 0 }, d2 = { 0 }, d3 = { 0 }, d4 = { 0 };
    for (size_t i = 0; i < n; i += AV_LANES) {
        const struct lanes v = n - i >= AV_LANES ? lanes_load(x + i) : lanes_load_part(x + i, n - i, mean);
        for (size_t u = 0; u < AV_LANE_PARTS; u++) {
            const vd d = v.part[u] - mean, square = d * d;
            d1.part[u] += d;
            d2.part[u] += square;
            d3.part[u] += square * d;
            d4.part[u] += square * square;
        }
    }
    const double s1 = lanes_sum(d1), s2 = lanes_sum(d2), s3 = lanes_sum(d3), s4 = lanes_sum(d4);
    const double s = s1 / count;
    m.mean = mean + s;
    m.m2 = s2 - s * s1;
    m.m3 = s3 - s * (3 * s2 - 2 * s * s1);
    m.m4 = s4 - s * (4 * s3 - s * (6 * s2 - 3 * s * s1));
    return m;
}

void av_moments_add(struct av_moments *m, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i += RUN) {
        const struct av_moments run = run_moments(x + i, n - i < RUN ? n - i : RUN);
        av_moments_merge(m, &run);
    }
}

/* Pebay (2008), equations 2.1, 3.1 and the fourth moment, with shares a and b
 * of the numbers instead of counts. */
void av_moments_merge(struct av_moments *m, const struct av_moments *other)
{
    if (other->count == 0)
        return;
    if (m->count == 0) {
        *m = *other;
        return;
    }
    const struct av_moments x = *m, y = *other;
    m->count = x.count + y.count;
    const double n = (double)m->count, a = (double)x.count / n, b = (double)y.count / n;
    const double d = y.mean - x.mean, spread = n * a * b * d * d;
    m->mean = x.mean + b * d;
    m->m2 = x.m2 + y.m2 + spread;
    m->m3 = x.m3 + y.m3 + spread * d * (a - b) + 3 * d * (a * y.m2 - b * x.m2);
    m->m4 = x.m4 + y.m4 + spread * d * d * (a * a - a * b + b * b) + 6 * d * d * (a * a * y.m2 + b * b * x.m2) +
            4 * d * (a * y.m3 - b * x.m3);
    m->min = y.min < x.min ? y.min : x.min;
    m->max = y.max > x.max ? y.max : x.max;
}

void av_moments_stretch(struct av_moments *m, double factor, double offset)
{
    const double square = factor * factor;
    m->mean = factor * m->mean + offset;
    m->m2 *= square;
    m->m3 *= square * factor;
    m->m4 *= square * factor * factor;
    m->min = factor * m->min + offset;
    m->max = factor * m->max + offset;
}

double av_moments_var(const struct av_moments *m)
{
    return m->count < 2 ? (double)NAN : m->m2 / (double)(m->count - 1);
}

double av_moments_std(const struct av_moments *m)
{
    return sqrt(av_moments_var(m));
}

double av_moments_excess_kurtosis(const struct av_moments *m)
{
    if (m->count < 2 || m->min == m->max)
        return (double)NAN;
    return (double)m->count * (m->m4 / m->m2) / m->m2 - 3;
}

/* ---- median ----------------------------------------------------------- */

static double middle_of_three(double a, double b, double c)
{
    const double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : (c > high ? high : c);
}

/* Moves x so that x[k] is what it would be if x were sorted, with nothing
 * larger before it. Pivots come from scattered places, so that no order that
 * occurs in practice (sorted, organ pipe, sawtooth) is a bad one; and equal
 * numbers are set apart together, so that many of them are no trouble. */
static void select_kth(double *x, size_t n, size_t k)
{
    size_t begin = 0, end = n;
    uint64_t random = 1;
    while (end - begin > 1) {
        double sample[3];
        for (size_t i = 0; i < 3; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
            sample[i] = x[begin + (size_t)(random >> 33) % (end - begin)];
        }
        const double pivot = middle_of_three(sample[0], sample[1], sample[2]);
        size_t less = begin, greater = end; /* [begin, less) < pivot, [less, i) equal, [greater, end) > pivot */
        for (size_t i = begin; i < greater;) {
            const double v = x[i];
            if (v < pivot) {
                x[i++] = x[less];
                x[less++] = v;
            } else if (v > pivot) {
                x[i] = x[--greater];
                x[greater] = v;
            } else {
                i++;
            }
        }
        if (k < less)
            end = less;
        else if (k >= greater)
            begin = greater;
        else
            return;
    }
}

double av_median(double *x, size_t n)
{
    if (n == 0)
        return (double)NAN;
    const size_t k = n / 2;
    select_kth(x, n, k);
    if (n % 2 == 1)
        return x[k];
    double below = x[0];
    for (size_t i = 1; i < k; i++)
        below = x[i] > below ? x[i] : below;
    if (below == x[k])
        return below;
    /* Neither the sum of two huge numbers may overflow nor half of a denormal be lost. */
    return fabs(below) < 1 ? 0.5 * (below + x[k]) : 0.5 * below + 0.5 * x[k];
}

/* ---- histogram -------------------------------------------------------- */

void av_histogram_add(uint32_t *counts, size_t bins, double lo, double hi, const double *x, size_t n, double factor)
{
    const double per_unit = fmin((double)bins / (hi - lo), DBL_MAX); /* 0 * infinity is no bin */
    for (size_t i = 0; i < n && bins > 0; i++) {
        const double v = factor * x[i];
        if (v >= lo && v < hi) {
            const size_t b = (size_t)((v - lo) * per_unit);
            counts[b < bins ? b : bins - 1]++; /* just below hi, rounded up */
        } else if (v == hi) {
            counts[bins - 1]++;
        }
    }
}

void av_spread_add(struct av_spread *s, const struct av_moments *group)
{
    if (group->count > 1) {
        s->sum += group->m2;
        s->freedom += group->count - 1;
    }
}

void av_spread_merge(struct av_spread *s, const struct av_spread *other)
{
    s->sum += other->sum;
    s->freedom += other->freedom;
}

double av_spread_std(const struct av_spread *s)
{
    return s->freedom > 0 ? sqrt(s->sum / (double)s->freedom) : (double)NAN;
}
