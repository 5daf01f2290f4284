/* facts_measures.h - the experiments: one number for a setting and a seed.
 *
 * "Scaled" is multiplied by 1/sqrt(d_k), "unscaled" by 1. */
#ifndef ATTNVIZ_FACTS_MEASURES_H
#define ATTNVIZ_FACTS_MEASURES_H

#include "attnviz/facts.h"

/* ---- Of the scores, multiplied by d_k^-exponent (facts_scores.c) ----------- */

av_fact_measure av_measure_variance_ratio; /* variance / d_k^(1 - 2 exponent) */
av_fact_measure av_measure_kurtosis;       /* excess kurtosis */
av_fact_measure av_measure_float16;        /* largest |score|, over float16's largest number */

/* ---- Of the weights at d_k^-exponent (facts_rows.c) ------------------------- */

av_fact_measure av_measure_share_9;        /* share of rows with largest weight > 0.9 */
av_fact_measure av_measure_share_999;      /* > 0.999 */
av_fact_measure av_measure_log_gradient;   /* log10 of the median jacobian_fro */
av_fact_measure av_measure_largest_at_std; /* median largest weight, logits of std x sqrt(2 ln n_k) */
av_fact_measure av_measure_share_9_growth; /* share_9 with n_k keys, less with the first x of them */

/* ---- Of one state against another (facts_rows.c) ---------------------------- */

/* log10 of jacobian_fro, scaled over unscaled: of the medians, of the means. */
av_fact_measure av_measure_orders_median;
av_fact_measure av_measure_orders_mean;
/* log10 of the median gradient at the scores q.k, |dL/ds| = alpha jacobian_fro,
 * unscaled over scaled. */
av_fact_measure av_measure_orders_at_scores;
av_fact_measure av_measure_entropy_excess; /* entropy / ln n_k with 1/d_k, less that with 1/sqrt(d_k) */
av_fact_measure av_measure_entropy_drift;  /* scaled entropy / ln n_k, less that at d_k = x */
av_fact_measure av_measure_uniform_ratio;  /* mean jacobian_fro at logits of std x, over that of equal weights */
/* Steps up of jacobian_fro as the logits' std doubles from 1 to 32: of the
 * mean, of the median; and of unscaled entropy / ln n_k as d_k quadruples
 * from 1 to 1024. */
av_fact_measure av_measure_mean_rises;
av_fact_measure av_measure_median_rises;
av_fact_measure av_measure_entropy_rises;

/* Share of neighbouring pairs of weights, unscaled and scaled, whose order is
 * reversed: neighbours in a row, in a column. */
av_fact_measure av_measure_swaps_in_row;
av_fact_measure av_measure_swaps_in_column;

/* ---- Of arithmetic (facts_float.c) ------------------------------------------ */

/* Mean largest weight of scaled rows with x added to every logit: in double
 * precision; in single, where the largest logit is subtracted; in single by
 * exp(z) / sum exp(z) as it stands. */
av_fact_measure av_measure_shifted_f64;
av_fact_measure av_measure_shifted_f32;
av_fact_measure av_measure_shifted_naive;
/* The largest change of any weight when x is added: double, single. */
av_fact_measure av_measure_shift_change_f64;
av_fact_measure av_measure_shift_change_f32;
/* The largest difference between weights of s / sqrt(d_k) and of s over a
 * temperature of sqrt(d_k). */
av_fact_measure av_measure_temperature;
/* Share of rows in which p (1 - p) of the largest weight is 0: all in single
 * precision; in double, 1 - p a difference; in double, 1 - p the sum of the
 * other weights. */
av_fact_measure av_measure_zero_f32;
av_fact_measure av_measure_zero_f64;
av_fact_measure av_measure_zero_sum;

/* ---- Of one key against the others (facts_float.c) --------------------------- */

/* The logit at which p (1 - p) of one key peaks, against n_k - 1 others at 0,
 * or at the scaled scores of a query. */
av_fact_measure av_measure_peak_zeros;
av_fact_measure av_measure_peak_scores;

/* ---- Of training (facts_training.c) ------------------------------------------- */

/* Lesson x (lessons.h), log10 of: the loss it ends with, unscaled over scaled;
 * of its first step the norm of the gradient of w_q and w_k, and the median
 * token's gradient of q, unscaled over scaled. */
av_fact_measure av_measure_stall;
av_fact_measure av_measure_grad_qk;
av_fact_measure av_measure_d_q_median;
/* Against the same task at d_k 64: the scaled steps to its target loss, lesson x
 * of d_k 256 over that; log10 of the unscaled loss, lesson x of d_k 128 over that. */
av_fact_measure av_measure_steps_over_64;
av_fact_measure av_measure_unscaled_over_64;

/* ---- Of stacks of layers (facts_training.c) ------------------------------------- */

/* n_q layers of recipe x (av_depth_recipes), gradients clipped to clip: share of
 * layers whose gradient of w_q and w_k is noise or 0; log10 of the largest of
 * them over the smallest. */
av_fact_measure av_measure_dead_layers;
av_fact_measure av_measure_uneven_layers;

/* ---- Of time (facts_timing.c) ------------------------------------------------ */

av_fact_measure av_measure_overhead; /* % of scores and softmax that one more pass of multiplying takes */

#endif
