/* facts_table.c - the claims, what decides about each, and where it is measured. */
#include "attnviz/facts.h"

#include "facts_measures.h"
#include "lessons.h"

#include <math.h>

#define NO_LIMIT ((double)INFINITY)
#define UNIT .q_std = 1, .k_std = 1

/* The lessons (lessons.h) as a command; task and d_k are the settings'. */
#define LESSON                                                                                                         \
    "attnviz train -s d_model=32 -s init=unit -s seq_len=16 -s batch=8 -s sequences=80 -s epochs=15 -s lr=3e-3 "       \
    "-s task=TASK -s d_k=N"

/* clang-format off */
static const struct av_claim table[] = {
    { "variance-d_k", "The variance of q.k is d_k",
      "normal entries of mean 0 and variance 1, all pairs of queries and keys",
      "Var[q.k] / d_k", "", 0.9, 1.1,
      "Var[q.k] is {1}, {2}, {3}, {4} times d_k at d_k 16, 64, 256, 1024", false, {
        /* label, measure, n_q, n_k, d_k, exponent, ... */
        { "d_k 16", av_measure_variance_ratio, 256, 256, 16, 0, UNIT },
        { "d_k 64", av_measure_variance_ratio, 256, 256, 64, 0, UNIT },
        { "d_k 256", av_measure_variance_ratio, 256, 256, 256, 0, UNIT },
        { "d_k 1024", av_measure_variance_ratio, 128, 128, 1024, 0, UNIT } } },
    { "variance-1", "The scale makes the variance 1 for any entries",
      "d_k 64; entries of variance 1 and mean 0 unless the setting says otherwise",
      "variance of q.k / sqrt(d_k)", "", 0.9, 1.1,
      "variance {1} for Rademacher, {2} for Laplace entries, {3} with q_std 2, {4} with mean 0.5", false, {
        { "Rademacher entries", av_measure_variance_ratio, 256, 256, 64, 0.5, UNIT, .dist = AV_DIST_RADEMACHER },
        { "Laplace entries", av_measure_variance_ratio, 256, 256, 64, 0.5, UNIT, .dist = AV_DIST_LAPLACE },
        { "q_std 2", av_measure_variance_ratio, 256, 256, 64, 0.5, .q_std = 2, .k_std = 1 },
        { "mean 0.5", av_measure_variance_ratio, 256, 256, 64, 0.5, UNIT, .mean = 0.5 } } },
    { "score-normal", "A score q.k is approximately normal",
      "normal entries, all pairs; a normal distribution has excess kurtosis 0",
      "excess kurtosis of q.k", "", -0.1, 0.1,
      "excess kurtosis {1}, {2}, {3} at d_k 4, 16, 256, where 6 / d_k is 1.5, 0.375, 0.0234", false, {
        { "d_k 4", av_measure_kurtosis, 256, 256, 4, 0, UNIT },
        { "d_k 16", av_measure_kurtosis, 256, 256, 16, 0, UNIT },
        { "d_k 256", av_measure_kurtosis, 256, 256, 256, 0, UNIT } } },
    { "float16", "Without the scale scores overflow float16",
      "64 queries and 64 keys at d_k 4096; the largest float16 is 65504",
      "largest |q.k| / 65504", "", 1, NO_LIMIT,
      "the largest |q.k| is {1} of that for entries of std 1, {2} for std 8, {3} for std 32", false, {
        { "entries of std 1", av_measure_float16, 64, 64, 4096, 0, UNIT },
        { "entries of std 8", av_measure_float16, 64, 64, 4096, 0, .q_std = 8, .k_std = 8 },
        { "entries of std 32", av_measure_float16, 64, 64, 4096, 0, .q_std = 32, .k_std = 32 } } },

    { "one-hot", "Without the scale a large d_k makes rows one-hot",
      "rows of unscaled normal scores",
      "share of rows with largest weight > 0.9", "", 0.9, NO_LIMIT,
      "{1} of the rows at d_k 64 with 8 keys, {2} at 512 with 128, {3} at 4096 with 8", false, {
        { "d_k 64 with 8 keys", av_measure_share_9, 256, 8, 64, 0, UNIT },
        { "d_k 512 with 128 keys", av_measure_share_9, 256, 128, 512, 0, UNIT },
        { "d_k 4096 with 8 keys", av_measure_share_9, 128, 8, 4096, 0, UNIT } } },
    { "weight-512", "At d_k 512 the largest weight is above 0.999",
      "rows of unscaled normal scores at d_k 512",
      "share of rows with largest weight > 0.999", "", 0.5, NO_LIMIT,
      "it is in {1} of the rows with 8 keys, {2} with 128, {3} with 512", false, {
        { "8 keys", av_measure_share_999, 256, 8, 512, 0, UNIT },
        { "128 keys", av_measure_share_999, 256, 128, 512, 0, UNIT },
        { "512 keys", av_measure_share_999, 128, 512, 512, 0, UNIT } } },
    { "more-keys", "More keys make unscaled rows more one-hot",
      "rows of unscaled normal scores over 512 keys, and over the first 8 of them",
      "share of rows with largest weight > 0.9, growth", "", 0.01, NO_LIMIT,
      "the share with 512 keys, less that with 8, is {1} at d_k 64 and {2} at 512", false, {
        { "d_k 64", av_measure_share_9_growth, 256, 512, 64, 0, UNIT, .x = 8 },
        { "d_k 512", av_measure_share_9_growth, 128, 512, 512, 0, UNIT, .x = 8 } } },
    { "freezing", "From logit std sqrt(2 ln n) on one key takes all",
      "normal scores at d_k 64, multiplied to that std",
      "median largest weight", "", 0.9, NO_LIMIT,
      "at it the median largest weight is {1} (32 keys) and {2} (512), at 8 times it {3} and {4}", false, {
        { "at it (32 keys)", av_measure_largest_at_std, 256, 32, 64, 0, UNIT, .x = 1 },
        { "at it (512 keys)", av_measure_largest_at_std, 256, 512, 64, 0, UNIT, .x = 1 },
        { "8 times it (32 keys)", av_measure_largest_at_std, 256, 32, 64, 0, UNIT, .x = 8 },
        { "8 times it (512 keys)", av_measure_largest_at_std, 256, 512, 64, 0, UNIT, .x = 8 } } },
    { "unsaturated", "With the scale a softmax does not saturate",
      "32 keys at d_k 64, scores times 1/sqrt(d_k)",
      "share of rows with largest weight > 0.9", "", -NO_LIMIT, 0.01,
      "{1} of the rows for unit entries, {2} with q_std 8, {3} with q_std and k_std 4", false, {
        { "unit entries", av_measure_share_9, 256, 32, 64, 0.5, UNIT },
        { "q_std 8", av_measure_share_9, 256, 32, 64, 0.5, .q_std = 8, .k_std = 1 },
        { "q_std = k_std = 4", av_measure_share_9, 256, 32, 64, 0.5, .q_std = 4, .k_std = 4 } } },

    { "entropy-falls", "Without the scale entropy falls with d_k",
      "rows of unscaled normal scores, d_k 1, 4, 16, 64, 256, 1024",
      "steps up of mean entropy / ln n", "of 5", 0, 0,
      "from each d_k to the next it rises {1} times of 5 with 8 keys, {2} with 32, {3} with 128", false, {
        { "8 keys", av_measure_entropy_rises, 128, 8, 64, 0, UNIT },
        { "32 keys", av_measure_entropy_rises, 128, 32, 64, 0, UNIT },
        { "128 keys", av_measure_entropy_rises, 128, 128, 64, 0, UNIT } } },
    { "entropy-steady", "With the scale entropy does not depend on d_k",
      "128 keys, normal scores times 1/sqrt(d_k), against the same at d_k 1024",
      "change of mean entropy / ln n", "", -0.03, 0.03,
      "against d_k 1024 it changes by {1} at d_k 4, {2} at 16, {3} at 256", false, {
        { "d_k 4", av_measure_entropy_drift, 128, 128, 4, 0.5, UNIT, .x = 1024 },
        { "d_k 16", av_measure_entropy_drift, 128, 128, 16, 0.5, UNIT, .x = 1024 },
        { "d_k 256", av_measure_entropy_drift, 128, 128, 256, 0.5, UNIT, .x = 1024 } } },
    { "exponent-1", "Dividing by d_k does what sqrt(d_k) does",
      "32 keys, the same normal scores with both; equal weights have entropy / ln n = 1",
      "mean entropy / ln n with 1/d_k, less with 1/sqrt(d_k)", "", -NO_LIMIT, 0.05,
      "with 1/d_k entropy / ln n is larger by {1}, {2}, {3} at d_k 4, 64, 1024", false, {
        { "d_k 4", av_measure_entropy_excess, 256, 32, 4, 1, UNIT },
        { "d_k 64", av_measure_entropy_excess, 256, 32, 64, 1, UNIT },
        { "d_k 1024", av_measure_entropy_excess, 256, 32, 1024, 1, UNIT } } },
    { "temperature", "Temperature sqrt(d_k) does what the scale does",
      "32 keys, the same scores times d_k^-0.5 and over that temperature",
      "largest change of a weight", "", -NO_LIMIT, 1e-9,
      "no weight changes by more than {1}, {2}, {3} at d_k 64, 100, 1000", false, {
        { "d_k 64", av_measure_temperature, 256, 32, 64, 0.5, UNIT },
        { "d_k 100", av_measure_temperature, 256, 32, 100, 0.5, UNIT },
        { "d_k 1000", av_measure_temperature, 256, 32, 1000, 0.5, UNIT } } },
    { "order", "The scale never changes the order of weights",
      "64 keys at d_k 64, weights with and without the scale",
      "share of neighbours that change their order", "", 0, 0,
      "neighbours that change their order: {1} in a row, {2} in a column", false, {
        { "weights of one row", av_measure_swaps_in_row, 256, 64, 64, 0, UNIT },
        { "weights of different rows", av_measure_swaps_in_column, 256, 64, 64, 0, UNIT } } },

    { "gradient-512", "At d_k 512 gradients are 1e-6 or less",
      "rows of unscaled normal scores at d_k 512",
      "log10 of the median jacobian_fro", "", -NO_LIMIT, -6,
      "the median jacobian_fro is 10^{1} with 2 keys, 10^{2} with 8, 10^{3} with 128", false, {
        { "2 keys", av_measure_log_gradient, 256, 2, 512, 0, UNIT },
        { "8 keys", av_measure_log_gradient, 256, 8, 512, 0, UNIT },
        { "128 keys", av_measure_log_gradient, 256, 128, 512, 0, UNIT } } },
    { "orders", "Scaled gradients are 2 to 3 orders larger",
      "32 keys; orders: log10 of jacobian_fro with the scale over that without",
      "scaled over unscaled jacobian_fro", "orders", 1.5, 3.5,
      "medians are {1} orders apart at d_k 64, {2} at 512, {3} at 2048; means {4} at 512", false, {
        { "median at d_k 64", av_measure_orders_median, 256, 32, 64, 0, UNIT },
        { "median at d_k 512", av_measure_orders_median, 256, 32, 512, 0, UNIT },
        { "median at d_k 2048", av_measure_orders_median, 256, 32, 2048, 0, UNIT },
        { "mean at d_k 512", av_measure_orders_mean, 256, 32, 512, 0, UNIT } } },
    { "mean-gradient", "The gradient falls steadily as rows saturate",
      "128 keys at d_k 64, logits of std 1, 2, 4, 8, 16, 32",
      "steps up of jacobian_fro", "of 5", 0, 0,
      "as the std doubles from 1 to 32 the mean rises {1} times of 5, the median {2}", false, {
        { "mean of the rows", av_measure_mean_rises, 256, 128, 64, 0, UNIT },
        { "median of the rows", av_measure_median_rises, 256, 128, 64, 0, UNIT } } },
    { "equal-weights", "Equal weights let the most gradient through",
      "normal scores at d_k 64 multiplied to std 2, against equal weights",
      "mean jacobian_fro over that of equal weights", "", -NO_LIMIT, 1,
      "logits of std 2 let {1} times as much through with 2 keys, {2} with 32, {3} with 128", false, {
        { "2 keys", av_measure_uniform_ratio, 256, 2, 64, 0, UNIT, .x = 2 },
        { "32 keys", av_measure_uniform_ratio, 256, 32, 64, 0, UNIT, .x = 2 },
        { "128 keys", av_measure_uniform_ratio, 256, 128, 64, 0, UNIT, .x = 2 } } },
    { "score-gradient", "Without the scale less gradient reaches q.k",
      "32 keys, median of alpha jacobian_fro, without the scale over with it",
      "unscaled over scaled gradient at q.k", "orders", -NO_LIMIT, 0,
      "alpha counts too: unscaled is 10^{1} times scaled at d_k 16, 10^{2} at 64, 10^{3} at 1024", false, {
        { "d_k 16", av_measure_orders_at_scores, 256, 32, 16, 0, UNIT },
        { "d_k 64", av_measure_orders_at_scores, 256, 32, 64, 0, UNIT },
        { "d_k 1024", av_measure_orders_at_scores, 256, 32, 1024, 0, UNIT } } },
    { "peak-4", "Against 99 keys a gradient fades from logit 4 on",
      "the logit of one key moves, those of 99 others stay; its gradient is p (1 - p)",
      "logit at which its p (1 - p) peaks", "", -NO_LIMIT, 4,
      "it peaks at {1}, ln 99 = 4.595, against 99 keys at 0, at {2} against 99 scaled scores", false, {
        { "99 keys at 0", av_measure_peak_zeros, 1, 100, 64, 0.5, UNIT },
        { "99 scaled scores", av_measure_peak_scores, 1, 100, 64, 0.5, UNIT } } },

    { "shift-99", "Adding 99 to all logits makes a row one-hot",
      "8 keys at d_k 64, scaled scores plus 99; naive: exp(z) / sum exp(z)",
      "mean largest weight", "", 0.9, NO_LIMIT,
      "it stays at {1} in float64 and {2} in float32; naive float32 overflows to {3}", false, {
        { "float64", av_measure_shifted_f64, 256, 8, 64, 0.5, UNIT, .x = 99 },
        { "float32 less the largest", av_measure_shifted_f32, 256, 8, 64, 0.5, UNIT, .x = 99 },
        { "naive float32", av_measure_shifted_naive, 256, 8, 64, 0.5, UNIT, .x = 99 } } },
    { "shift", "A constant added to a row changes no weight",
      "32 keys at d_k 64, scaled scores with and without the constant",
      "largest change of a weight", "", -NO_LIMIT, 1e-4,
      "no weight changes by more than {1} for +9, {2} for +99, {3} for +1e6; float32 +99: {4}", false, {
        { "+9 in float64", av_measure_shift_change_f64, 256, 32, 64, 0.5, UNIT, .x = 9 },
        { "+99 in float64", av_measure_shift_change_f64, 256, 32, 64, 0.5, UNIT, .x = 99 },
        { "+1e6 in float64", av_measure_shift_change_f64, 256, 32, 64, 0.5, UNIT, .x = 1e6 },
        { "+99 in float32", av_measure_shift_change_f32, 256, 32, 64, 0.5, UNIT, .x = 99 } } },
    { "zero-gradient", "Saturation makes some gradients exactly 0",
      "8 keys at d_k 512, unscaled; p is a row's largest weight",
      "share of rows with p (1 - p) = 0", "", 0.01, NO_LIMIT,
      "0 in {1} of the rows in float32, {2} in float64, {3} with 1 - p summed from the others", false, {
        { "float32", av_measure_zero_f32, 256, 8, 512, 0, UNIT },
        { "float64", av_measure_zero_f64, 256, 8, 512, 0, UNIT },
        { "1 - p summed", av_measure_zero_sum, 256, 8, 512, 0, UNIT } } },
    { "overhead", "The scale costs about 0.1% of the time",
      "a pass that multiplies all scores, timed against scores and softmax on this machine",
      "extra time over scores and softmax", "%", 0.03, 0.3,
      "on this machine a pass takes {1}% at d_k 16, {2}% at 128, {3}% at 4096", true, {
        { "d_k 16", av_measure_overhead, 128, 128, 16, 0.5, UNIT },
        { "d_k 128", av_measure_overhead, 128, 128, 128, 0.5, UNIT },
        { "d_k 4096", av_measure_overhead, 32, 64, 4096, 0.5, UNIT } } },

    { "stall", "Without the scale training stalls",
      "reconstruct: attnviz train -s epochs=20; others: " LESSON,
      "log10 of the last unscaled loss over scaled", "orders", 0.3, NO_LIMIT,
      "it ends with 10^{1} times the loss (reconstruct), 10^{2} and 10^{3} (average), 10^{4} (recall)", false, {
        /* label, measure, batch, tokens, d_k, ..., lesson */
        { "reconstruct 64", av_measure_stall, 32, 8, 64, 0, UNIT, .x = AV_LESSON_RECONSTRUCT },
        { "average 64", av_measure_stall, 8, 16, 64, 0, UNIT, .x = AV_LESSON_AVERAGE_64 },
        { "average 256", av_measure_stall, 8, 16, 256, 0, UNIT, .x = AV_LESSON_AVERAGE_256 },
        { "recall 256", av_measure_stall, 8, 16, 256, 0, UNIT, .x = AV_LESSON_RECALL_256 } } },
    { "vanish", "Without the scale w_q, w_k get no gradient",
      "first step of attnviz train -s task=average -s d_model=32 -s init=unit -s seq_len=16 -s batch=8 -s d_k=N",
      "log10 of unscaled gradient over scaled", "orders", -NO_LIMIT, -1,
      "norm of all: 10^{1}, 10^{2} at d_k 64, 1024; the median token's gradient of q: 10^{3}, 10^{4}", false, {
        { "norm at d_k 64", av_measure_grad_qk, 8, 16, 64, 0, UNIT, .x = AV_LESSON_AVERAGE_64 },
        { "norm at d_k 1024", av_measure_grad_qk, 8, 16, 1024, 0, UNIT, .x = AV_LESSON_AVERAGE_1024 },
        { "median token at d_k 64", av_measure_d_q_median, 8, 16, 64, 0, UNIT, .x = AV_LESSON_AVERAGE_64 },
        { "median token at d_k 1024", av_measure_d_q_median, 8, 16, 1024, 0, UNIT, .x = AV_LESSON_AVERAGE_1024 } } },
    { "same-d_k", "Once scaled, different d_k train alike",
      LESSON "; steps, in tens, to the loss below",
      "steps at d_k 256 over steps at 64", "", 0.8, 1.25,
      "d_k 256, with v and w_o as wide, needs {1} (average), {2} (recall), {3} (copy) times the steps", false, {
        { "average, to loss 0.02", av_measure_steps_over_64, 8, 16, 256, 0, UNIT, .x = AV_LESSON_AVERAGE_256 },
        { "recall, to loss 0.47", av_measure_steps_over_64, 8, 16, 256, 0, UNIT, .x = AV_LESSON_RECALL_256 },
        { "copy_previous, to 0.6", av_measure_steps_over_64, 8, 16, 256, 0, UNIT, .x = AV_LESSON_COPY_256 } } },
    { "above-64", "Above d_k 64 training suddenly gets worse",
      LESSON,
      "log10 of the loss at d_k 128 over 64, unscaled", "orders", 0.3, NO_LIMIT,
      "unscaled, d_k 128 ends with 10^{1} (average), 10^{2} (recall), 10^{3} (copy) times the loss", false, {
        { "average", av_measure_unscaled_over_64, 8, 16, 128, 0, UNIT, .x = AV_LESSON_AVERAGE_128 },
        { "recall", av_measure_unscaled_over_64, 8, 16, 128, 0, UNIT, .x = AV_LESSON_RECALL_128 },
        { "copy_previous", av_measure_unscaled_over_64, 8, 16, 128, 0, UNIT, .x = AV_LESSON_COPY_128 } } },

    { "deep-scale", "The scale keeps gradients alive through depth",
      "scaled layers at init, unit init, 32 tokens; dead: the gradient of w_q, w_k is noise or 0",
      "share of dead layers", "", 0, 0,
      "dead: {1} of the layers (attention alone), {2} (residual), {3} (post-norm), {4} (pre-norm)", false, {
        /* label, measure, layers, tokens, d_k, ..., recipe */
        { "attention alone, 8 layers", av_measure_dead_layers, 8, 32, 64, 0.5, UNIT, .x = 0 },
        { "residual, 64 layers", av_measure_dead_layers, 64, 32, 64, 0.5, UNIT, .x = 2 },
        { "post-norm, 64 layers", av_measure_dead_layers, 64, 32, 64, 0.5, UNIT, .x = 4 },
        { "pre-norm, 64 layers", av_measure_dead_layers, 64, 32, 64, 0.5, UNIT, .x = 3 } } },
    { "clipping", "Clipping gradients cures dead ones",
      "scaled layers at init, all gradients together clipped to norm 1; dead: noise or 0",
      "share of dead layers after clipping", "", 0, 0,
      "still dead: {1} of the layers (attention alone), {2} (residual), {3} (post-norm)", false, {
        { "attention alone, 8 layers", av_measure_dead_layers, 8, 32, 64, 0.5, UNIT, .x = 0, .clip = 1 },
        { "residual, 64 layers", av_measure_dead_layers, 64, 32, 64, 0.5, UNIT, .x = 2, .clip = 1 },
        { "post-norm, 64 layers", av_measure_dead_layers, 64, 32, 64, 0.5, UNIT, .x = 4, .clip = 1 } } },
    { "pre-norm", "Residuals and pre-norm are enough for depth",
      "layers at init; orders: log10 of the largest gradient norm of w_q, w_k over the smallest",
      "largest over smallest layer's gradient", "orders", -NO_LIMIT, 1,
      "10^{1} in 8 layers, 10^{2} in 64; with branches / sqrt(2L) 10^{3}, without the scale 10^{4}", false, {
        { "8 layers", av_measure_uneven_layers, 8, 32, 64, 0.5, UNIT, .x = 3 },
        { "64 layers", av_measure_uneven_layers, 64, 32, 64, 0.5, UNIT, .x = 3 },
        { "64, branches / sqrt(2L)", av_measure_uneven_layers, 64, 32, 64, 0.5, UNIT, .x = 6 },
        { "64 layers, unscaled", av_measure_uneven_layers, 64, 32, 64, 0, UNIT, .x = 5 } } },
};
/* clang-format on */

const struct av_claim *av_claims(size_t *count)
{
    *count = sizeof table / sizeof table[0];
    return table;
}
