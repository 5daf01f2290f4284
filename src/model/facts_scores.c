/* facts_scores.c - measurements of the scores. */
#include "facts_measures.h"
#include "trial.h"

#include <math.h>

static struct av_moments score_moments(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct av_moments m = AV_MOMENTS_INIT;
    av_trial_draw(t, at, seed);
    av_moments_add(&m, t->scores, t->n_q * t->n_k);
    return m;
}

double av_measure_variance_ratio(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct av_moments m = score_moments(t, at, seed);
    return av_moments_var(&m) / (double)at->d_k;
}

double av_measure_kurtosis(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct av_moments m = score_moments(t, at, seed);
    return av_moments_excess_kurtosis(&m);
}

double av_measure_float16(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    const double largest = 65504; /* (2 - 2^-10) 2^15 */
    struct av_moments m = score_moments(t, at, seed);
    return av_trial_multiplier(at) * fmax(-m.min, m.max) / largest;
}
