/* slope.c - a line through the points of many rows, each with a height of its own. */
#include "slope.h"

#include <math.h>

void av_slope_add(struct av_slope_sums *s, const double *x, const double *y, const double *h, size_t n)
{
    double sum = 0, x_mean = 0, y_mean = 0;
    for (size_t j = 0; j < n; j++) {
        double weight = h != NULL ? h[j] : 1;
        sum += weight;
        x_mean += weight * x[j];
        y_mean += weight * y[j];
    }
    if (n < 2 || !(sum > 0)) {
        return;
    }
    x_mean /= sum;
    y_mean /= sum;
    for (size_t j = 0; j < n; j++) {
        double weight = h != NULL ? h[j] : 1;
        double dx = x[j] - x_mean, dy = y[j] - y_mean;
        s->xx += weight * dx * dx;
        s->xy += weight * dx * dy;
        s->yy += weight * dy * dy;
    }
    s->h += sum;
    s->freedom += n - 1;
}

struct av_slope av_slope_of(const struct av_slope_sums *s)
{
    if (s->freedom < AV_SLOPE_FREEDOM || !(s->xx > 0) || !isfinite(s->xx) || !isfinite(s->yy)) {
        return (struct av_slope){ (double)NAN, (double)NAN, (double)NAN, (double)NAN };
    }
    struct av_slope slope = { .slope = s->xy / s->xx };
    double left = fmax(0, s->yy - slope.slope * s->xy);
    slope.residual = sqrt(left / s->h);
    slope.error = slope.residual / sqrt(s->xx);
    slope.r2 = s->yy > 0 ? 1 - left / s->yy : 1; /* a level line is no worse for being level */
    return slope;
}
