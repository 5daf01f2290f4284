/* score_stats.c - moments and histograms of the unmasked scores. */
#include "score_stats.h"

#include "attnviz/density.h"

#include <math.h>

bool av_all_finite(const double *x, size_t n)
{
    /* 0 * x is 0 for every finite x and NaN for all others. */
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += 0 * x[i];
    }
    return !isnan(sum);
}

static size_t valid_length(const struct av_snapshot *s, size_t i)
{
    return s->invalid[i] ? 0 : av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k);
}

void av_score_moments(struct av_moments *m, struct av_spread *spread, const struct av_snapshot *s)
{
    *m = (struct av_moments)AV_MOMENTS_INIT;
    *spread = (struct av_spread){ 0, 0 };
    for (size_t i = 0; i < s->n_q; i++) {
        struct av_moments row = AV_MOMENTS_INIT;
        av_moments_add(&row, s->scores + i * s->n_k, valid_length(s, i));
        av_moments_merge(m, &row);
        av_spread_add(spread, &row);
    }
}

/* Fills one density-normalised histogram of factor * score and returns the
 * share of the scores outside the axis. */
static double fill(double *density, const struct av_score_histogram *h, const struct av_snapshot *s, double factor)
{
    uint32_t counts[AV_BINS_MAX] = { 0 };
    for (size_t i = 0; i < s->n_q; i++) {
        av_histogram_add(counts, h->bins, h->lo, h->hi, s->scores + i * s->n_k, valid_length(s, i), factor);
    }
    double unit = (double)s->score_moments.count * (h->hi - h->lo) / (double)h->bins;
    double inside = 0;
    for (size_t b = 0; b < h->bins; b++) {
        density[b] = unit > 0 ? counts[b] / unit : 0;
        inside += counts[b];
    }
    return s->score_moments.count > 0 ? 1 - inside / (double)s->score_moments.count : 0;
}

void av_score_histogram_make(struct av_score_histogram *h, struct av_histogram_store *store,
                             const struct av_snapshot *s, bool whole)
{
    /* How many times wider than the scaled scores the axis may be. */
    const double widest = 8;
    const struct av_params *p = &s->params;
    double factor = av_params_multiplier(p, true);
    double mean = s->from_files ? s->score_moments.mean : s->expected_mean;
    double std = s->from_files ? av_moments_std(&s->score_moments) : sqrt(s->expected_var);
    mean = isfinite(mean) ? mean : 0; /* files without one valid pair */
    std = isfinite(std) ? std : 0;
    /* No spread: any axis that shows the mean will do. */
    double reach = std > 0 ? 4 * std : fmax(1, fabs(mean));
    h->bins = (size_t)p->bins;
    h->factor = factor;
    h->whole = whole;
    double held = whole ? reach : reach * fmin(1, widest * factor);
    h->lo = fmin(mean - held, factor * (mean - reach));
    h->hi = fmax(mean + held, factor * (mean + reach));
    h->unscaled_beyond = fill(store->unscaled, h, s, 1);
    h->scaled_beyond = fill(store->scaled, h, s, factor);
    double spread = p->q_std * p->k_std;
    h->exact = !s->from_files && p->dist == AV_DIST_NORMAL && spread > 0 && !isnan(s->expected_kurtosis);
    if (h->exact) {
        av_density_bins(s->d_k, spread, h->lo, h->hi, h->bins, store->unscaled_curve);
        av_density_bins(s->d_k, factor * spread, h->lo, h->hi, h->bins, store->scaled_curve);
    } else {
        av_density_normal_bins(mean, std, h->lo, h->hi, h->bins, store->unscaled_curve);
        av_density_normal_bins(factor * mean, factor * std, h->lo, h->hi, h->bins, store->scaled_curve);
    }
    h->unscaled = store->unscaled;
    h->scaled = store->scaled;
    h->unscaled_curve = store->unscaled_curve;
    h->scaled_curve = store->scaled_curve;
}
