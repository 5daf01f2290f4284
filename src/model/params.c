/* params.c - the parameter table and what can be done with a value by its row. */
#include "attnviz/variant.h"

#include <math.h>
#include <string.h>

static const char *const SWITCH[] = { "off", "on", NULL };
static const char *const DISTS[] = { "normal", "uniform", "rademacher", "laplace", NULL };
static const char *const MASKS[] = { "none", "causal", NULL };
static const char *const INITS[] = { "pytorch", "unit", "xavier", "kaiming", NULL };
static const char *const TASKS[] = { "reconstruct", "average", "recall", "copy_previous", "depth", NULL };
static const char *const FRESH[] = { "auto", "off", "on", NULL };
static const char *const OPTIMIZERS[] = { "adam", "sgd", NULL };
static const char *const RUNS[] = { "both", "on", "off", NULL };
static const char *const NORMS[] = { "none", "pre", "post", NULL };
static const char *const DEPTH_DTYPES[] = { "f64", "f32", NULL };
static const char *const FROMS[] = { "auto", "qk", "scores", "weights", NULL };
static const char *const DTYPES[] = { "f64", "f32", "bf16", "f16", "int8", NULL };
static const char *const SCALE_ORDERS[] = { "product", "query", NULL };
static const char *const CURVE_OVERS[] = { "n_k", "d_k", NULL };
static const char *const ENTROPY_UNITS[] = { "nats", "bits", NULL };

#define AT(member) offsetof(struct av_params, member)
#define NEVER AV_STAGE_COUNT
#define BITS 0x1p53          /* whole numbers that a double holds: variants take fewer bits */
#define SPARSEMAX (22 << 16) /* as av_variant_with makes it */

/* clang-format off */
static const struct av_param TABLE[] = {
    /* name, kind, offset, min, max, default, first stale stage, step kind, step, flags, choices, text */
    { "d_k", AV_PARAM_INT, AT(d_k), 1, AV_DIM_MAX, 64, AV_STAGE_SAMPLE, AV_STEP_DOUBLE, 1, AV_PARAM_SIZE, NULL,
      "query and key dimension" },
    { "n_q", AV_PARAM_INT, AT(n_q), 1, AV_KEYS_MAX, 32, AV_STAGE_SAMPLE, AV_STEP_DOUBLE, 1, AV_PARAM_SIZE, NULL,
      "queries (rows)" },
    { "n_k", AV_PARAM_INT, AT(n_k), 1, AV_KEYS_MAX, 32, AV_STAGE_SAMPLE, AV_STEP_DOUBLE, 1, AV_PARAM_SIZE, NULL,
      "keys (columns)" },
    { "scale", AV_PARAM_CHOICE, AT(scale), 0, 1, 1, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, 0, SWITCH,
      "multiply scores by d_k^-exponent" },
    { "exponent", AV_PARAM_REAL, AT(exponent), 0, 1, 0.5, AV_STAGE_LOGITS, AV_STEP_LINEAR, 0.05, 0, NULL,
      "0.5: 1/sqrt(d_k); 1: 1/d_k; 0: as off" },
    { "temperature", AV_PARAM_REAL, AT(temperature), 0.01, 100, 1, AV_STAGE_LOGITS, AV_STEP_RATIO, 0.05, 0, NULL,
      "divides the logits" },
    { "offset", AV_PARAM_REAL, AT(offset), -1e6, 1e6, 0, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1, 0, NULL,
      "added to every logit (before temperature): changes no weight" },
    { "key", AV_PARAM_INT, AT(key), 0, AV_KEYS_MAX - 1, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, 0, NULL,
      "the probed key" },
    { "key_offset", AV_PARAM_REAL, AT(key_offset), -1e6, 1e6, 0, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1, 0, NULL,
      "added to the probed key's logit" },
    { "query", AV_PARAM_INT, AT(query), 0, AV_KEYS_MAX - 1, 0, NEVER, AV_STEP_LINEAR, 1, 0, NULL,
      "the selected query" },
    { "q_std", AV_PARAM_REAL, AT(q_std), 0, 1000, 1, AV_STAGE_SAMPLE, AV_STEP_SIGNED, 0.1, 0, NULL,
      "standard deviation of the entries of Q" },
    { "k_std", AV_PARAM_REAL, AT(k_std), 0, 1000, 1, AV_STAGE_SAMPLE, AV_STEP_SIGNED, 0.1, 0, NULL,
      "standard deviation of the entries of K" },
    { "q_mean", AV_PARAM_REAL, AT(q_mean), -1000, 1000, 0, AV_STAGE_SAMPLE, AV_STEP_SIGNED, 0.1, 0, NULL,
      "mean of the entries of Q" },
    { "k_mean", AV_PARAM_REAL, AT(k_mean), -1000, 1000, 0, AV_STAGE_SAMPLE, AV_STEP_SIGNED, 0.1, 0, NULL,
      "mean of the entries of K" },
    { "corr", AV_PARAM_REAL, AT(corr), -1, 1, 0, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 0.05, 0, NULL,
      "correlation of q_i with k_i (i = j), entry by entry" },
    { "dist", AV_PARAM_CHOICE, AT(dist), 0, AV_DIST_COUNT - 1, 0, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 1, 0, DISTS,
      "distribution of the entries" },
    { "mask", AV_PARAM_CHOICE, AT(mask), 0, AV_MASK_COUNT - 1, 0, AV_STAGE_MOMENTS, AV_STEP_LINEAR, 1, 0, MASKS,
      "causal: key j > query i + (n_k - n_q) is masked" },
    { "variant", AV_PARAM_VARIANT, AT(variant), 0, BITS, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, 0, NULL,
      "what makes weights of scores: names with + between, softmax: none at all" },
    { "dtype", AV_PARAM_CHOICE, AT(dtype), 0, AV_DTYPES - 1, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, 0, DTYPES,
      "arithmetic imitated for scores, logits and softmax" },
    { "samples", AV_PARAM_INT, AT(samples), 100, 1000000, 10000, NEVER, AV_STEP_DOUBLE, 100, AV_PARAM_VIEW, NULL,
      "independent (q, k) pairs in the distributions view" },
    { "bins", AV_PARAM_INT, AT(bins), 5, AV_BINS_MAX, 50, NEVER, AV_STEP_LINEAR, 5, 0, NULL,
      "histogram bins" },
    { "seed", AV_PARAM_SEED, AT(seed), 0, 18446744073709551615.0, 42, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 1, 0, NULL,
      "same seed, same samples to the last bit, on every machine" },
    { "n_head", AV_PARAM_INT, AT(n_head), 1, AV_HEADS_MAX, 1, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_SIZE, NULL,
      "heads, each with queries and keys of its own" },
    { "head", AV_PARAM_INT, AT(head), 0, 1e9, 0, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 1, 0, NULL,
      "which head is shown" },
    { "layer", AV_PARAM_INT, AT(layer), 0, 1e9, 0, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 1, AV_PARAM_FILES, NULL,
      "which layer of the files" },
    { "from", AV_PARAM_CHOICE, AT(from), 0, AV_FROM_COUNT - 1, 0, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 1, AV_PARAM_FILES,
      FROMS, "which part of the files is shown, where a layer has several; auto: the first of qk, weights, scores" },
    { "d_k_1", AV_PARAM_INT, AT(d_k_1), 1, AV_DIM_MAX, 16, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "d_k of the first panel of the distributions view" },
    { "d_k_2", AV_PARAM_INT, AT(d_k_2), 1, AV_DIM_MAX, 64, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "d_k of its second panel" },
    { "d_k_3", AV_PARAM_INT, AT(d_k_3), 1, AV_DIM_MAX, 256, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "d_k of its third panel" },
    { "d_k_4", AV_PARAM_INT, AT(d_k_4), 1, AV_DIM_MAX, 1024, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "d_k of its fourth panel" },
    { "x_range", AV_PARAM_REAL, AT(x_range), 0.1, 1000, 10, NEVER, AV_STEP_SIGNED, 1, AV_PARAM_VIEW, NULL,
      "the sensitivity sweep runs from -x_range to x_range" },
    { "d_model", AV_PARAM_INT, AT(d_model), 1, AV_DIM_MAX, 128, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "width of the inputs x, which w_q and w_k turn into q and k" },
    { "init", AV_PARAM_CHOICE, AT(init), 0, AV_INIT_COUNT - 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, INITS,
      "how learned matrices are drawn" },
    { "layer_norm", AV_PARAM_CHOICE, AT(layer_norm), 0, 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, SWITCH,
      "normalise each input x to mean 0 and variance 1" },
    { "input_mean", AV_PARAM_REAL, AT(input_mean), -1000, 1000, 0, NEVER, AV_STEP_SIGNED, 0.1, AV_PARAM_VIEW, NULL,
      "mean of the entries of the inputs x" },
    { "input_std", AV_PARAM_REAL, AT(input_std), 0, 1000, 1, NEVER, AV_STEP_SIGNED, 0.1, AV_PARAM_VIEW, NULL,
      "standard deviation of the entries of the inputs x" },
    { "task", AV_PARAM_CHOICE, AT(task), 0, AV_TASK_COUNT - 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, TASKS,
      "what is learned in training; depth: a stack that learns nothing" },
    { "epochs", AV_PARAM_INT, AT(epochs), 1, 100000, 100, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "how often training goes through its sequences" },
    { "batch", AV_PARAM_INT, AT(batch), 1, 4096, 32, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "sequences of one training step" },
    { "sequences", AV_PARAM_INT, AT(sequences), 1, 1000000, 500, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "sequences of one epoch, which is sequences / batch steps, rounded up" },
    { "fresh", AV_PARAM_CHOICE, AT(fresh), 0, AV_FRESH_COUNT - 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, FRESH,
      "draw new sequences each epoch; auto: off for reconstruct, on for other tasks" },
    { "seq_len", AV_PARAM_INT, AT(seq_len), 1, AV_KEYS_MAX, 8, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "tokens of a sequence in training" },
    { "optimizer", AV_PARAM_CHOICE, AT(optimizer), 0, AV_OPTIMIZER_COUNT - 1, 0, NEVER, AV_STEP_LINEAR, 1,
      AV_PARAM_VIEW, OPTIMIZERS, "adam (beta 0.9, 0.999, eps 1e-8), or sgd without momentum" },
    { "lr", AV_PARAM_REAL, AT(lr), 0, 1e6, 1e-3, NEVER, AV_STEP_SIGNED, 1e-9, AV_PARAM_VIEW, NULL,
      "learning rate" },
    { "learn_scale", AV_PARAM_CHOICE, AT(learn_scale), 0, 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, SWITCH,
      "the multiplier alpha is learned too, starting at its formula" },
    { "clip", AV_PARAM_REAL, AT(clip), 0, 1e6, 0, NEVER, AV_STEP_SIGNED, 0.1, AV_PARAM_VIEW, NULL,
      "largest norm of the gradient, which is shortened to it; 0: any" },
    { "runs", AV_PARAM_CHOICE, AT(runs), 0, AV_RUNS_COUNT - 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, RUNS,
      "which of the twin runs are trained: with the scale on, off, or both" },
    { "layers", AV_PARAM_INT, AT(layers), 1, AV_LAYERS_MAX, 16, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "attention layers of the stack in the depth view" },
    { "tokens", AV_PARAM_INT, AT(tokens), 1, AV_TOKENS_MAX, 32, NEVER, AV_STEP_DOUBLE, 1, AV_PARAM_VIEW, NULL,
      "tokens that go through the stack" },
    { "residual", AV_PARAM_CHOICE, AT(residual), 0, 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, SWITCH,
      "each branch of the stack is added to its input" },
    { "norm", AV_PARAM_CHOICE, AT(norm), 0, AV_NORM_COUNT - 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, NORMS,
      "LayerNorm in the stack: none, pre: before each branch, post: behind each sum" },
    { "residual_scale", AV_PARAM_CHOICE, AT(residual_scale), 0, 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, SWITCH,
      "multiply each branch of the stack by 1/sqrt(2 layers)" },
    { "mlp", AV_PARAM_CHOICE, AT(mlp), 0, 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, SWITCH,
      "an MLP, 4 d_model wide, behind each attention layer of the stack" },
    { "depth_dtype", AV_PARAM_CHOICE, AT(depth_dtype), 0, AV_DEPTH_DTYPES - 1, 0, NEVER, AV_STEP_LINEAR, 1,
      AV_PARAM_VIEW, DEPTH_DTYPES, "arithmetic of the stack: f32 rounds every number to single precision" },
    { "scale_order", AV_PARAM_CHOICE, AT(scale_order), 0, AV_SCALE_ORDERS - 1, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1,
      AV_PARAM_VIEW, SCALE_ORDERS, "imitated arithmetic: multiply the product q.k by the scale, or the query first" },
    { "softmax_f32", AV_PARAM_CHOICE, AT(softmax_f32), 0, 1, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, AV_PARAM_VIEW,
      SWITCH, "imitated arithmetic: the softmax itself in f32" },
    { "smooth_k", AV_PARAM_CHOICE, AT(smooth_k), 0, 1, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, SWITCH,
      "imitated arithmetic: subtract the mean key first, which changes no exact weight" },
    { "compare", AV_PARAM_VARIANT, AT(compare), 0, BITS, SPARSEMAX, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, NULL,
      "the variant that the present one is held against" },
    { "variants", AV_PARAM_VARIANT_SET, AT(variants), 0, BITS, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW, NULL,
      "variants to compare, names with commas between; all: every one" },
    { "curve_over", AV_PARAM_CHOICE, AT(curve_over), 0, AV_CURVE_OVERS - 1, 0, NEVER, AV_STEP_LINEAR, 1, AV_PARAM_VIEW,
      CURVE_OVERS, "what the curves of variants run over" },
    { "entropy_unit", AV_PARAM_CHOICE, AT(entropy_unit), 0, AV_ENTROPY_UNITS - 1, 0, NEVER, AV_STEP_LINEAR, 1,
      AV_PARAM_HIDDEN | AV_PARAM_VIEW, ENTROPY_UNITS, "what entropies are shown in: bits are nats / ln 2" },
    { "mup.factor", AV_PARAM_REAL, AT(of.mup_factor), 0, 1e6, 8, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1, AV_PARAM_OWNED, NULL,
      "the multiplier is this over d_k: 8 equals 1/sqrt(d_k) at 64" },
    { "fixed.scalar", AV_PARAM_REAL, AT(of.fixed_scalar), 1e-6, 1e9, 256, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED, NULL,
      "the multiplier is 1 over the root of this, whatever d_k" },
    { "inverse_layer.layer", AV_PARAM_INT, AT(of.inverse_layer_layer), 1, 1000, 1, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, AV_PARAM_OWNED, NULL,
      "the layer, counted from 1" },
    { "learned.gain", AV_PARAM_REAL, AT(of.learned_gain), -1e6, 1e6, 1, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.1, AV_PARAM_OWNED, NULL,
      "gain of the first head, times 1/sqrt(d_k)" },
    { "learned.gain_last", AV_PARAM_REAL, AT(of.learned_gain_last), -1e6, 1e6, 1, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.1, AV_PARAM_OWNED, NULL,
      "gain of the last head; those between lie evenly" },
    { "mixed.exponent", AV_PARAM_REAL, AT(of.mixed_exponent), 0, 1, 0.5, AV_STAGE_LOGITS, AV_STEP_LINEAR, 0.05, AV_PARAM_OWNED, NULL,
      "exponent of the first head: it multiplies by d_k^-exponent" },
    { "mixed.exponent_last", AV_PARAM_REAL, AT(of.mixed_exponent_last), 0, 1, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 0.05, AV_PARAM_OWNED, NULL,
      "exponent of the last head; those between lie evenly" },
    { "mixed.temperature", AV_PARAM_REAL, AT(of.mixed_temperature), 0.01, 100, 1, AV_STAGE_LOGITS, AV_STEP_RATIO, 0.05, AV_PARAM_OWNED, NULL,
      "temperature of the first head, by which its multiplier is divided" },
    { "mixed.temperature_last", AV_PARAM_REAL, AT(of.mixed_temperature_last), 0.01, 100, 1, AV_STAGE_LOGITS, AV_STEP_RATIO, 0.05, AV_PARAM_OWNED, NULL,
      "temperature of the last head; those between lie evenly in its logarithm" },
    { "logn.L", AV_PARAM_REAL, AT(of.logn_L), 2, 1e9, 64, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED, NULL,
      "length up to which nothing changes; Qwen: 2048" },
    { "ssmax.sigma", AV_PARAM_REAL, AT(of.ssmax_sigma), 0, 1000, 0.43, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.01, AV_PARAM_OWNED, NULL,
      "what ln n is multiplied by" },
    { "yarn.S", AV_PARAM_REAL, AT(of.yarn_S), 1, 1e6, 4, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED, NULL,
      "by how much the context is extended" },
    { "llama4.floor", AV_PARAM_INT, AT(of.llama4_floor), 1, 1e9, 8192, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED, NULL,
      "positions between two steps of the multiplier" },
    { "llama4.scale", AV_PARAM_REAL, AT(of.llama4_scale), 0, 1000, 0.1, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.1, AV_PARAM_OWNED, NULL,
      "what the logarithm is multiplied by" },
    { "llama4.start", AV_PARAM_INT, AT(of.llama4_start), 0, 1e9, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 8192, AV_PARAM_OWNED, NULL,
      "position of the first key" },
    { "qk_l2.g", AV_PARAM_REAL, AT(of.qk_l2_g), -1e6, 1e6, (double)NAN, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1, AV_PARAM_OWNED | AV_PARAM_AUTO, NULL,
      "multiplier of the cosines; auto: log2(L^2 - L)" },
    { "qk_l2.L", AV_PARAM_REAL, AT(of.qk_l2_L), 1, 1e9, (double)NAN, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED | AV_PARAM_AUTO, NULL,
      "length of the sequences; auto: n_k" },
    { "cosine.g", AV_PARAM_REAL, AT(of.cosine_g), -1e6, 1e6, 10, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1, AV_PARAM_OWNED, NULL,
      "multiplier of the cosines" },
    { "swin2.tau", AV_PARAM_REAL, AT(of.swin2_tau), -1000, 1000, (double)NAN, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.1,
      AV_PARAM_OWNED | AV_PARAM_AUTO, NULL, "the multiplier is exp(tau), 100 at most; auto: ln 10" },
    { "qk_rms.eps", AV_PARAM_REAL, AT(of.qk_rms_eps), 0, 1, 1e-6, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1e-9, AV_PARAM_OWNED, NULL,
      "added to the mean square before its root" },
    { "qk_layernorm.eps", AV_PARAM_REAL, AT(of.qk_layernorm_eps), 0, 1, 1e-6, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1e-9, AV_PARAM_OWNED, NULL,
      "added to the variance before its root" },
    { "score_layernorm.eps", AV_PARAM_REAL, AT(of.score_layernorm_eps), 0, 1, 1e-5, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1e-9, AV_PARAM_OWNED, NULL,
      "added to the variance of a row before its root" },
    { "score_batchnorm.eps", AV_PARAM_REAL, AT(of.score_batchnorm_eps), 0, 1, 1e-5, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1e-9, AV_PARAM_OWNED, NULL,
      "added to the variance of all scores before its root" },
    { "softcap.c", AV_PARAM_REAL, AT(of.softcap_c), 1e-6, 1e9, 50, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1, AV_PARAM_OWNED, NULL,
      "no logit leaves -c .. c" },
    { "sink.logit", AV_PARAM_REAL, AT(of.sink_logit), -1e6, 1e6, 0, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.5, AV_PARAM_OWNED, NULL,
      "the logit of the sink" },
    { "sigmoid.b", AV_PARAM_REAL, AT(of.sigmoid_b), -1e6, 1e6, (double)NAN, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.5, AV_PARAM_OWNED | AV_PARAM_AUTO, NULL,
      "added to every logit; auto: -ln n" },
    { "clipped.eta", AV_PARAM_REAL, AT(of.clipped_eta), 1, 1000, 1, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.01, AV_PARAM_OWNED, NULL,
      "upper end that the weights are stretched to" },
    { "clipped.gamma", AV_PARAM_REAL, AT(of.clipped_gamma), -1e6, 0, (double)NAN, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.01, AV_PARAM_OWNED | AV_PARAM_AUTO, NULL,
      "lower end that the weights are stretched to; auto: -12/n" },
    { "softpick.eps", AV_PARAM_REAL, AT(of.softpick_eps), 0, 1, 1e-8, AV_STAGE_LOGITS, AV_STEP_SIGNED, 1e-9, AV_PARAM_OWNED, NULL,
      "added to the sum of sizes" },
    { "differential.lambda", AV_PARAM_REAL, AT(of.differential_lambda), -1000, 1000, (double)NAN, AV_STAGE_LOGITS, AV_STEP_SIGNED, 0.1, AV_PARAM_OWNED | AV_PARAM_AUTO, NULL,
      "how much of the second weights is subtracted; auto: 0.8 - 0.6 exp(-0.3 depth)" },
    { "differential.depth", AV_PARAM_INT, AT(of.differential_depth), 0, 1000, 0, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, AV_PARAM_OWNED, NULL,
      "the layer, counted from 0" },
    { "window.size", AV_PARAM_INT, AT(of.window_size), 1, 1e9, 8, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED, NULL,
      "keys that a query sees: itself and those up to size - 1 away" },
    { "lsh.buckets", AV_PARAM_INT, AT(of.lsh_buckets), 1, 1024, 8, AV_STAGE_LOGITS, AV_STEP_LINEAR, 2, AV_PARAM_OWNED, NULL,
      "buckets that keys are sorted into: 1, or an even number" },
    { "lsh.rounds", AV_PARAM_INT, AT(of.lsh_rounds), 1, 16, 1, AV_STAGE_LOGITS, AV_STEP_LINEAR, 1, AV_PARAM_OWNED, NULL,
      "rounds of hashing: a key is seen that shares a bucket in one of them" },
    { "linformer.k", AV_PARAM_INT, AT(of.linformer_k), 1, 1e9, 8, AV_STAGE_LOGITS, AV_STEP_DOUBLE, 1, AV_PARAM_OWNED, NULL,
      "averages that the keys are reduced to, n_k at most" },
    { "sigma_reparam.gamma", AV_PARAM_REAL, AT(of.sigma_reparam_gamma), 1e-6, 1e6, 1, NEVER, AV_STEP_SIGNED, 0.1, AV_PARAM_OWNED, NULL,
      "largest singular value of a learned matrix at the start" },
    { "qk_clip.tau", AV_PARAM_REAL, AT(of.qk_clip_tau), 1e-3, 1e9, 100, NEVER, AV_STEP_SIGNED, 1, AV_PARAM_OWNED, NULL,
      "w_q and w_k shrink when a logit exceeds it" },
    { "logits", AV_PARAM_LOGITS, AT(logits), 0, AV_LOGITS_MAX, 0, AV_STAGE_SAMPLE, AV_STEP_LINEAR, 1, AV_PARAM_VIEW,
      NULL, "one row of logits a,b,c given by hand instead of sampled scores" },
};
/* clang-format on */

enum { TABLE_ROWS = sizeof TABLE / sizeof TABLE[0] };

_Static_assert(offsetof(struct av_params, logits) + sizeof(struct av_logit_list) == sizeof(struct av_params),
               "the list of logits is the last member");

const struct av_param *av_params_table(size_t *count)
{
    *count = TABLE_ROWS;
    return TABLE;
}

const struct av_param *av_param_find(const char *name)
{
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if (strcmp(TABLE[i].name, name) == 0) {
            return &TABLE[i];
        }
    }
    return NULL;
}

/* The value of a row, by the type that its kind is stored in. */
static int64_t *int_at(const struct av_param *row, struct av_params *p)
{
    return (int64_t *)(void *)((char *)p + row->offset);
}

static double *real_at(const struct av_param *row, struct av_params *p)
{
    return (double *)(void *)((char *)p + row->offset);
}

double av_param_get(const struct av_param *row, const struct av_params *p)
{
    const char *at = (const char *)p + row->offset;
    int64_t whole;
    double real;
    switch (row->kind) {
    case AV_PARAM_REAL:
        memcpy(&real, at, sizeof real);
        return real;
    case AV_PARAM_SEED:
        return (double)p->seed;
    default: /* whole numbers; for logits their count */
        memcpy(&whole, at, sizeof whole);
        return (double)whole;
    }
}

void av_param_set(const struct av_param *row, struct av_params *p, double value)
{
    switch (row->kind) {
    case AV_PARAM_REAL:
        *real_at(row, p) = value;
        break;
    case AV_PARAM_SEED:
        p->seed = value >= row->max ? UINT64_MAX : value <= 0 ? 0 : (uint64_t)value;
        break;
    default:
        *int_at(row, p) = (int64_t)llround(value);
        break;
    }
}

void av_params_default(struct av_params *p)
{
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        av_param_set(&TABLE[i], p, TABLE[i].def);
    }
}

double av_param_max(const struct av_param *row, const struct av_params *p)
{
    bool by_hand = p->logits.n > 0;
    if (row->offset == AT(key)) {
        return (double)(by_hand ? p->logits.n : p->n_k) - 1;
    }
    if (row->offset == AT(query)) {
        return by_hand ? 0 : (double)p->n_q - 1;
    }
    if (row->offset == AT(head)) {
        return (double)p->n_head - 1;
    }
    if (row->offset == AT(layer)) {
        return p->layer_count > 0 ? (double)p->layer_count - 1 : 0;
    }
    return row->max;
}

void av_params_clamp(struct av_params *p)
{
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        const struct av_param *row = &TABLE[i];
        double max = av_param_max(row, p);
        if (row->kind == AV_PARAM_INT && max < row->max && av_param_get(row, p) > max) {
            av_param_set(row, p, max);
        }
    }
}

/* The multiple of size that lies `steps` beyond the one nearest to x. A size
 * below 1 is one over a whole number: dividing gives the nearest double to
 * the decimal that is meant, multiplying does not. */
static double on_grid(double x, double size, double steps)
{
    if (size >= 1) {
        return round(x / size + steps) * size;
    }
    double per_unit = round(1 / size);
    return round(x * per_unit + steps) / per_unit;
}

/* Steps stand on a grid of powers, so that up and down come back to the same
 * value, and have four digits, so that they can be read. */
static double on_ratio_grid(double x, double ratio, double steps)
{
    double grid = log(ratio);
    double value = exp(grid * (round(log(x) / grid) + steps));
    return on_grid(value, pow(10, floor(log10(value)) - 3), 0);
}

/* `count` steps from x; see enum av_param_step. */
static double step_from(const struct av_param *row, double x, int count, enum av_grain grain)
{
    double coarse = grain == AV_GRAIN_COARSE ? 10 : 1;
    bool fine = grain == AV_GRAIN_FINE;
    switch (row->how) {
    case AV_STEP_DOUBLE:
        return fine ? x + row->step * count : floor(x * pow(grain == AV_GRAIN_COARSE ? 8 : 2, count));
    case AV_STEP_RATIO:
        return on_ratio_grid(x, 1 + (fine ? row->step / 5 : row->step), coarse * count);
    case AV_STEP_SIGNED: {
        double unit = pow(10, floor(log10(fmax(fabs(x), 1e-300) * (1 + 1e-12)))) / 10;
        return on_grid(x, fmax(row->step, unit) / (fine ? 10 : 1), coarse * count);
    }
    case AV_STEP_LINEAR:
    default: {
        double size = fine ? row->step / 5 : row->step;
        return on_grid(x, row->kind == AV_PARAM_INT ? fmax(size, 1) : size, coarse * count);
    }
    }
}

void av_param_step(const struct av_param *row, struct av_params *p, int count, enum av_grain grain)
{
    if (row->kind == AV_PARAM_SEED) {
        p->seed += (uint64_t)(int64_t)count; /* goes round at 2^64 */
        return;
    }
    if (row->kind == AV_PARAM_CHOICE) {
        int64_t n = (int64_t)row->max + 1;
        *int_at(row, p) = ((*int_at(row, p) + count) % n + n) % n;
        return;
    }
    if (row->kind == AV_PARAM_VARIANT) {
        int64_t *value = int_at(row, p);
        do { /* softmax can always be had */
            *value = av_variant_step(*value, count);
        } while (av_variant_check(*value, p, NULL) != AV_OK);
        return;
    }
    if (row->kind == AV_PARAM_LOGITS || row->kind == AV_PARAM_VARIANT_SET) {
        return;
    }
    double from = av_param_get(row, p);
    double value = step_from(row, isnan(from) ? fmax(row->min, 0) : from, count, grain);
    av_param_set(row, p, fmin(fmax(value, row->min), av_param_max(row, p)));
    av_params_clamp(p);
}

bool av_param_differs(const struct av_param *row, const struct av_params *was, const struct av_params *now)
{
    if (row->kind == AV_PARAM_LOGITS) {
        return was->logits.n != now->logits.n ||
               memcmp(was->logits.at, now->logits.at, (size_t)was->logits.n * sizeof was->logits.at[0]) != 0;
    }
    return memcmp((const char *)was + row->offset, (const char *)now + row->offset, sizeof(int64_t)) != 0;
}

static bool owned_differs(const struct av_params *was, const struct av_params *now)
{
    return memcmp(&was->of, &now->of, sizeof was->of) != 0;
}

bool av_params_differ(const char *const *names, const struct av_params *was, const struct av_params *now)
{
    for (; *names != NULL; names++) {
        const struct av_param *row = av_param_find(*names);
        if (row != NULL ? av_param_differs(row, was, now) : owned_differs(was, now)) {
            return true;
        }
    }
    return false;
}

enum av_stage av_params_stale(const struct av_params *was, const struct av_params *now)
{
    enum av_stage first = AV_STAGE_COUNT;
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        const struct av_param *row = &TABLE[i];
        /* Which key is probed matters only while it is offset. */
        bool idle = row->offset == AT(key) && was->key_offset == 0 && now->key_offset == 0;
        if (row->stale < first && !idle && av_param_differs(row, was, now)) {
            first = row->stale;
        }
    }
    return first;
}

double av_params_multiplier(const struct av_params *p, bool scale)
{
    return scale ? pow((double)p->d_k, -p->exponent) : 1.0;
}

double av_params_alpha(const struct av_params *p)
{
    return av_params_multiplier(p, p->scale != 0);
}
