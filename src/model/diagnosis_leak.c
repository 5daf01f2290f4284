/* diagnosis_leak.c - which finite number stands in the place of a mask's -infinity. */
#include "diagnosis_state.h"

#include <math.h>

/* Of n numbers, heights h (NULL: 1 each). */
static double mean_of(const double *x, const double *h, size_t n)
{
    double sum = 0, all = 0;
    for (size_t j = 0; j < n; j++) {
        sum += h != NULL ? h[j] * x[j] : x[j];
        all += h != NULL ? h[j] : 1;
    }
    return sum / all;
}

void av_diagnosis_add_leak(struct av_diagnoser *d, const double *dots, const double *x, const double *y,
                           const double *h, size_t count, size_t seen)
{
    struct av_leak_sums *s = &d->leak;
    double *masked_x = d->masked[0], *masked_y = d->masked[1];
    size_t n = 0;
    for (size_t j = seen; j < d->at->n_k; j++) {
        double log_w = log(d->weights[j]);
        if (isfinite(log_w) && isfinite(dots[j])) {
            masked_x[n] = dots[j];
            masked_y[n++] = log_w;
        }
    }
    if (n == 0 || count == 0) {
        return;
    }
    av_slope_add(&s->line, masked_x, masked_y, NULL, n);
    s->seen_dots += mean_of(x, h, count);
    s->seen_logs += mean_of(y, h, count);
    s->masked_dots += mean_of(masked_x, NULL, n);
    s->masked_logs += mean_of(masked_y, NULL, n);
    s->rows++;
}

static bool known(const struct av_diagnoser *d, const struct av_slope *line)
{
    return d->leak.rows > 0 && line->r2 >= AV_SLOPE_GOOD_R2 && line->error <= AV_SLOPE_UNSURE * fabs(line->slope);
}

double av_diagnosis_leak_set(const struct av_diagnoser *d)
{
    const struct av_leak_sums *s = &d->leak;
    const struct av_slope line = av_slope_of(&d->slope);
    return known(d, &line) ? (s->masked_logs - s->seen_logs + line.slope * s->seen_dots) / (double)s->rows
                           : (double)NAN;
}

double av_diagnosis_leak_added(const struct av_diagnoser *d)
{
    const struct av_leak_sums *s = &d->leak;
    const struct av_slope line = av_slope_of(&d->slope), behind = av_slope_of(&s->line);
    bool same = fabs(behind.slope - line.slope) <= AV_SLOPE_TOLERANCE * fabs(line.slope) + 3 * behind.error;
    if (!known(d, &line) || !same || behind.r2 < AV_SLOPE_GOOD_R2) {
        return (double)NAN;
    }
    return (s->masked_logs - s->seen_logs - line.slope * (s->masked_dots - s->seen_dots)) / (double)s->rows;
}
