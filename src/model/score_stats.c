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
    return s->invalid_scores[i] ? 0 : av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k);
}

/* Adds a row stretch by stretch; valid scores are finite or -infinity. Returns how
 * many are finite. */
static size_t add_finite(struct av_moments *row, const double *x, size_t n)
{
    size_t finite = 0;
    for (size_t j = 0; j < n;) {
        size_t end = j;
        while (end < n && x[end] > -(double)INFINITY) {
            end++;
        }
        av_moments_add(row, x + j, end - j);
        finite += end - j;
        j = end + 1;
    }
    return finite;
}

bool av_score_moments(struct av_moments *m, struct av_spread *spread, const struct av_snapshot *s)
{
    bool masked = false;
    *m = (struct av_moments)AV_MOMENTS_INIT;
    *spread = (struct av_spread){ 0, 0 };
    for (size_t i = 0; i < s->n_q; i++) {
        struct av_moments row = AV_MOMENTS_INIT;
        size_t length = valid_length(s, i);
        masked = add_finite(&row, s->scores + i * s->n_k, length) < length || masked;
        av_moments_merge(m, &row);
        av_spread_add(spread, &row);
    }
    return masked;
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

double av_score_factor(const struct av_snapshot *s, bool scale)
{
    bool now = (s->params.scale != 0) == scale;
    if (s->from == AV_PART_SCORES) {
        return 1;
    }
    return now && s->gliding && !s->varied ? s->alpha : av_params_multiplier(&s->params, scale);
}

/* Mean and standard deviation that theory (with files: measurement) gives the
 * scores. */
struct normal {
    double mean, std;
};

/* One histogram and its curve; returns the share of the scores outside. */
static double make_series(double *density, double *curve, const struct av_score_histogram *h,
                          const struct av_snapshot *s, struct normal normal, double factor)
{
    if (h->exact) {
        double spread = s->params.q_std * s->params.k_std;
        av_density_bins(s->d_k, factor * spread, h->lo, h->hi, h->bins, curve);
    } else {
        av_density_normal_bins(factor * normal.mean, factor * normal.std, h->lo, h->hi, h->bins, curve);
    }
    return fill(density, h, s, factor);
}

void av_score_histogram_make(struct av_score_histogram *h, struct av_histogram_store *store,
                             const struct av_snapshot *s, bool whole)
{
    /* How many times wider than the scaled scores the axis may be. */
    const double widest = 8;
    const struct av_params *p = &s->params;
    double factor = s->from == AV_PART_SCORES ? 1 : av_params_multiplier(p, true);
    double mean = s->from_files ? s->score_moments.mean : s->expected_mean;
    double std = s->from_files ? av_moments_std(&s->score_moments) : sqrt(s->expected_var);
    mean = isfinite(mean) ? mean : 0; /* files without one valid pair */
    std = isfinite(std) ? std : 0;
    /* No spread: any axis that shows the mean will do. */
    double reach = std > 0 ? 4 * std : fmax(1, fabs(mean));
    h->bins = (size_t)p->bins;
    h->whole = whole;
    double held = whole ? reach : reach * fmin(1, widest * factor);
    h->lo = fmin(mean - held, factor * (mean - reach));
    h->hi = fmax(mean + held, factor * (mean + reach));
    h->exact = !s->from_files && p->dist == AV_DIST_NORMAL && p->q_std * p->k_std > 0 && !isnan(s->expected_kurtosis);
    h->unscaled_factor = av_score_factor(s, false);
    h->scaled_factor = av_score_factor(s, true);
    struct normal normal = { mean, std };
    h->unscaled_beyond = make_series(store->unscaled, store->unscaled_curve, h, s, normal, h->unscaled_factor);
    h->scaled_beyond = make_series(store->scaled, store->scaled_curve, h, s, normal, h->scaled_factor);
    h->unscaled = store->unscaled;
    h->scaled = store->scaled;
    h->unscaled_curve = store->unscaled_curve;
    h->scaled_curve = store->scaled_curve;
}
