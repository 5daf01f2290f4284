/* facts_rows.c - measurements of rows of weights. */
#include "facts_measures.h"
#include "trial.h"

#include <math.h>
#include <string.h>

/* The summary of a setting as it stands. */
static struct av_summary state(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    av_trial_draw(t, at, seed);
    return av_trial_softmax(t, av_trial_multiplier(at), at->n_k);
}

double av_measure_share_9(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return state(t, at, seed).share_max_gt_0_9;
}

double av_measure_share_999(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return state(t, at, seed).share_max_gt_0_999;
}

double av_measure_log_gradient(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return log10(state(t, at, seed).jacobian_fro_median);
}

double av_measure_share_9_growth(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    double all = state(t, at, seed).share_max_gt_0_9;
    return all - av_trial_softmax(t, av_trial_multiplier(at), (size_t)at->x).share_max_gt_0_9;
}

/* ---- One state against another ---------------------------------------------- */

/* The multiplier that gives scores of unit entries that standard deviation. */
static double to_std(const struct av_trial *t, double std)
{
    return std / sqrt((double)t->d_k);
}

double av_measure_largest_at_std(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    av_trial_draw(t, at, seed);
    double freezing = av_theory_freezing((double)at->n_k);
    return av_trial_softmax(t, to_std(t, at->x * freezing), at->n_k).max_median;
}

struct twins {
    struct av_summary scaled, unscaled;
};

static struct twins both(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    av_trial_draw(t, at, seed);
    struct twins twins;
    twins.unscaled = av_trial_softmax(t, 1, at->n_k);
    twins.scaled = av_trial_softmax(t, to_std(t, 1), at->n_k);
    return twins;
}

double av_measure_orders_median(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct twins s = both(t, at, seed);
    return log10(s.scaled.jacobian_fro_median / s.unscaled.jacobian_fro_median);
}

double av_measure_orders_mean(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct twins s = both(t, at, seed);
    return log10(s.scaled.jacobian_fro_mean / s.unscaled.jacobian_fro_mean);
}

double av_measure_orders_at_scores(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct twins s = both(t, at, seed);
    return log10(s.unscaled.d_scores_rms_median / s.scaled.d_scores_rms_median);
}

double av_measure_entropy_excess(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    av_trial_draw(t, at, seed);
    double by_d_k = av_trial_softmax(t, 1 / (double)at->d_k, at->n_k).entropy_norm_mean;
    return by_d_k - av_trial_softmax(t, to_std(t, 1), at->n_k).entropy_norm_mean;
}

static double scaled_entropy(struct av_trial *t, const struct av_fact_setting *at, size_t d_k, uint64_t seed)
{
    struct av_fact_setting there = *at;
    there.d_k = d_k;
    av_trial_draw(t, &there, seed);
    return av_trial_softmax(t, to_std(t, 1), at->n_k).entropy_norm_mean;
}

double av_measure_entropy_drift(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return scaled_entropy(t, at, at->d_k, seed) - scaled_entropy(t, at, (size_t)at->x, seed);
}

double av_measure_uniform_ratio(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    av_trial_draw(t, at, seed);
    double spread = av_trial_softmax(t, to_std(t, at->x), at->n_k).jacobian_fro_mean;
    struct av_rowstats equal;
    memset(t->column, 0, at->n_k * sizeof *t->column);
    t->kernels->softmax(NULL, t->column, 1, at->n_k, &equal);
    return spread / equal.jacobian_fro;
}

/* ---- Steps up ------------------------------------------------------------------ */

static double count_rises(const double *x, size_t n)
{
    size_t rises = 0;
    for (size_t i = 1; i < n; i++) {
        rises += x[i] > x[i - 1];
    }
    return (double)rises;
}

enum { DOUBLINGS = 6, QUADRUPLINGS = 6 };

double av_measure_mean_rises(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    double x[DOUBLINGS];
    av_trial_draw(t, at, seed);
    for (int i = 0; i < DOUBLINGS; i++) {
        x[i] = av_trial_softmax(t, to_std(t, ldexp(1, i)), at->n_k).jacobian_fro_mean;
    }
    return count_rises(x, DOUBLINGS);
}

double av_measure_median_rises(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    double x[DOUBLINGS];
    av_trial_draw(t, at, seed);
    for (int i = 0; i < DOUBLINGS; i++) {
        x[i] = av_trial_softmax(t, to_std(t, ldexp(1, i)), at->n_k).jacobian_fro_median;
    }
    return count_rises(x, DOUBLINGS);
}

double av_measure_entropy_rises(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    double x[QUADRUPLINGS];
    struct av_fact_setting there = *at;
    for (int i = 0; i < QUADRUPLINGS; i++) {
        there.d_k = (size_t)1 << (2 * i);
        x[i] = state(t, &there, seed).entropy_norm_mean;
    }
    return count_rises(x, QUADRUPLINGS);
}

/* ---- The order of weights -------------------------------------------------------- */

/* Share of pairs [i, i + step) whose order in `kept` is reversed in `weights`;
 * weights that have underflowed to 0 are equal. */
static double swaps(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, bool in_row)
{
    size_t n = at->n_q * at->n_k;
    size_t step = in_row ? 1 : at->n_k;
    size_t pairs = 0;
    size_t swapped = 0;
    av_trial_draw(t, at, seed);
    av_trial_softmax(t, 1, at->n_k);
    memcpy(t->kept, t->weights, n * sizeof *t->kept);
    av_trial_softmax(t, to_std(t, 1), at->n_k);
    for (size_t i = 0; i + step < n; i++) {
        if (in_row && i % at->n_k == at->n_k - 1) {
            continue; /* the next one is in the next row */
        }
        const double *was = &t->kept[i];
        const double *is = &t->weights[i];
        pairs++;
        swapped += (was[0] < was[step] && is[0] > is[step]) || (was[0] > was[step] && is[0] < is[step]);
    }
    return (double)swapped / (double)pairs;
}

double av_measure_swaps_in_row(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return swaps(t, at, seed, true);
}

double av_measure_swaps_in_column(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return swaps(t, at, seed, false);
}
