/* diagnosis_causal.c - a causal mask that nobody told, seen from where weights follow q.k. */
#include "diagnosis_state.h"

#include <math.h>

#define FAR_BELOW 2.302585092994046 /* ln 10: keys behind have less than a tenth of what q.k would give */
#define ROWS_BELOW 0.9              /* of the rows, at least */

enum av_behind av_diagnosis_behind(const struct av_diagnoser *d, size_t query)
{
    const double *w = d->weights;
    size_t n = d->at->n_k, seen = av_row_length(AV_MASK_CAUSAL, query, d->at->n_q, n);
    bool any = false, zeros = true;
    for (size_t j = 0; j < n; j++) {
        if (isnan(w[j])) {
            return AV_BEHIND_SILENT;
        }
        any = any || w[j] != 0;
        zeros = zeros && (j < seen || w[j] == 0);
    }
    if (zeros) {
        return any && seen < n ? AV_BEHIND_ZERO : AV_BEHIND_SILENT;
    }
    return av_diagnosis_level(d) ? AV_BEHIND_SILENT : AV_BEHIND_WEIGHT;
}

bool av_diagnosis_may_be_causal(const struct av_diagnoser *d)
{
    return d->params.mask == AV_MASK_NONE && !d->causal_seen && !d->causal_fits && d->at->n_q > 1 &&
           d->at->n_k >= d->at->n_q && av_diagnosis_has_entries(d) && av_diagnosis_has(d, AV_PART_WEIGHTS);
}

static double mean_of(const double *x, const double *h, size_t first, size_t end)
{
    double sum = 0, all = 0;
    for (size_t i = first; i < end; i++) {
        sum += h[i] * x[i];
        all += h[i];
    }
    return sum / all;
}

void av_diagnosis_add_causal(struct av_diagnoser *d, const double *x, const double *y, const double *h, size_t before,
                             size_t count)
{
    struct av_causal_sums *s = &d->causal;
    av_slope_add(&s->before, x, y, h, before);
    if (before > 0 && before < count) {
        s->dots[s->rows] = mean_of(x, h, before, count) - mean_of(x, h, 0, before);
        s->logs[s->rows] = mean_of(y, h, before, count) - mean_of(y, h, 0, before);
        s->rows++;
    }
}

bool av_diagnosis_is_causal(const struct av_diagnoser *d)
{
    const struct av_causal_sums *s = &d->causal;
    const struct av_slope line = av_slope_of(&s->before);
    if (s->rows == 0 || !(line.r2 >= AV_SLOPE_GOOD_R2) || line.error > AV_SLOPE_UNSURE * fabs(line.slope)) {
        return false;
    }
    size_t below = 0;
    for (size_t i = 0; i < s->rows; i++) {
        below += s->logs[i] - line.slope * s->dots[i] < -FAR_BELOW;
    }
    return (double)below >= ROWS_BELOW * (double)s->rows;
}
