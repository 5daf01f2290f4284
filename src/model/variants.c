/* variants.c - the table of variants, and that of models that use them. */
#include "variant_hooks.h"

#include <string.h>

const char *const av_variant_group_names[AV_VARIANT_GROUPS] = { "scale", "normalise", "bend", "pattern", "training" };

#define HOOKS(...)                                                                                                     \
    &(const struct av_variant_hooks)                                                                                   \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* clang-format off */
static const struct av_variant TABLE[] = {
    /* name, group, flags, formula, source, text, hooks */
    { "none", AV_GROUP_SCALE, 0,
      "m = 1",
      "Luong et al. 2015, dot", "no scale: the spread of the scores is what it is",
      HOOKS(.multiplier = av_scale_none) },
    { "sqrt", AV_GROUP_SCALE, 0,
      "m = 1/sqrt(d_k)",
      "Vaswani et al. 2017", "scores of independent entries get variance 1 at every d_k",
      HOOKS(.multiplier = av_scale_sqrt) },
    { "mup", AV_GROUP_SCALE, 0,
      "m = factor/d_k",
      "Yang et al. 2022, muP", "for entries of q and k that training has correlated; sqrt at d_k = factor^2",
      HOOKS(.multiplier = av_scale_mup) },
    { "fixed", AV_GROUP_SCALE, 0,
      "m = 1/sqrt(scalar)",
      "Gemma Team 2024, query_pre_attn_scalar", "a number in the configuration instead of d_k",
      HOOKS(.multiplier = av_scale_fixed) },
    { "inverse_layer", AV_GROUP_SCALE, 0,
      "m = 1/(sqrt(d_k) layer)",
      "Mistral (Stanford CRFM) 2021, scale_attn_by_inverse_layer_idx", "deeper layers get smaller logits",
      HOOKS(.multiplier = av_scale_inverse_layer) },
    { "learned", AV_GROUP_SCALE, AV_VARIANT_PER_HEAD,
      "m = gain/sqrt(d_k)",
      "a gain per head, as in Henry et al. 2020", "training chooses the temperature",
      HOOKS(.multiplier = av_scale_learned) },
    { "mixed", AV_GROUP_SCALE, AV_VARIANT_PER_HEAD,
      "m = d_k^-exponent/temperature",
      "an ensemble of temperatures", "another sharpness for every head",
      HOOKS(.multiplier = av_scale_mixed) },
    { "logn", AV_GROUP_SCALE, AV_VARIANT_MULTIPLIES,
      "m max(1, ln n / ln L)",
      "Su 2021; Qwen Team 2023, logn attention", "the entropy grows more slowly with the keys seen",
      HOOKS(.multiplier = av_scale_logn) },
    { "ssmax", AV_GROUP_SCALE, AV_VARIANT_MULTIPLIES,
      "m sigma ln n",
      "Nakanishi 2025, scalable softmax", "keeps the largest weight from fading with the keys seen",
      HOOKS(.multiplier = av_scale_ssmax) },
    { "yarn", AV_GROUP_SCALE, AV_VARIANT_MULTIPLIES,
      "m (0.1 ln S + 1)^2",
      "Peng et al. 2023, YaRN", "sharper logits where the context was extended S times",
      HOOKS(.multiplier = av_scale_yarn) },
    { "llama4", AV_GROUP_SCALE, AV_VARIANT_MULTIPLIES | AV_VARIANT_POSITIONAL,
      "m (1 + scale ln(1 + floor((pos + 1)/floor)))",
      "Meta 2025, Llama 4, attention temperature tuning", "sharper logits for late positions",
      HOOKS(.multiplier = av_scale_llama4) },

    { "qk_l2", AV_GROUP_NORMALISE, AV_VARIANT_ENTRIES | AV_VARIANT_Q_INVARIANT | AV_VARIANT_FIXED_D,
      "g q.k/(|q| |k|), g = log2(L^2 - L)",
      "Henry et al. 2020, query-key normalization", "no logit leaves -g .. g, whatever the entries",
      HOOKS(.multiplier = av_scale_qk_l2, .entries = &av_normalise_l2) },
    { "cosine", AV_GROUP_NORMALISE, AV_VARIANT_ENTRIES | AV_VARIANT_Q_INVARIANT | AV_VARIANT_FIXED_D,
      "g q.k/(|q| |k|), g = 10",
      "cosine attention with a fixed temperature", "no logit leaves -g .. g, whatever the entries",
      HOOKS(.multiplier = av_scale_cosine, .entries = &av_normalise_l2) },
    { "swin2", AV_GROUP_NORMALISE, AV_VARIANT_ENTRIES | AV_VARIANT_Q_INVARIANT | AV_VARIANT_FIXED_D,
      "exp(min(tau, ln 100)) q.k/(|q| |k|)",
      "Liu et al. 2022, Swin Transformer V2", "a learned temperature, bounded",
      HOOKS(.multiplier = av_scale_swin2, .entries = &av_normalise_l2) },
    { "qk_rms", AV_GROUP_NORMALISE, AV_VARIANT_ENTRIES | AV_VARIANT_FIXED_D,
      "m q.k/(rms(q) rms(k))",
      "Qwen Team 2025, Qwen 3; Gemma 3", "no logit leaves -sqrt(d_k) .. sqrt(d_k)",
      HOOKS(.entries = &av_normalise_rms, .eps = av_eps_rms) },
    { "qk_layernorm", AV_GROUP_NORMALISE, AV_VARIANT_ENTRIES | AV_VARIANT_FIXED_D,
      "m LN(q).LN(k)",
      "Dehghani et al. 2023, ViT-22B", "takes the mean of the entries out as well",
      HOOKS(.entries = &av_normalise_layernorm, .eps = av_eps_layernorm) },
    { "score_layernorm", AV_GROUP_NORMALISE, AV_VARIANT_SCORES,
      "(s - mean)/sqrt(var + eps), over a row",
      "layer normalisation of a row of scores", "every row gets logits of variance 1",
      HOOKS(.multiplier = av_scale_none, .scores = AV_SCORES_BY_ROW, .eps = av_eps_scores_by_row) },
    { "score_batchnorm", AV_GROUP_NORMALISE, AV_VARIANT_SCORES,
      "(s - mean)/sqrt(var + eps), over all unmasked scores",
      "batch normalisation of the scores of a head", "rows keep their differences in spread",
      HOOKS(.multiplier = av_scale_none, .scores = AV_SCORES_BY_HEAD, .eps = av_eps_scores_by_head) },

    { "softcap", AV_GROUP_BEND, AV_VARIANT_SHIFTS,
      "softmax(c tanh(z/c))",
      "Bello et al. 2016; Gemma Team 2024", "no logit leaves -c .. c; the gradient of a capped one fades",
      HOOKS(.bend = av_bend_softcap, .bend_params = av_bend_params_softcap) },
    { "softmax1", AV_GROUP_BEND, AV_VARIANT_NOT_SIMPLEX | AV_VARIANT_SHIFTS,
      "e^z/(1 + sum e^z)",
      "Miller 2023, attention is off by one", "a query may attend to nothing",
      HOOKS(.bend = av_bend_sink, .bend_params = av_bend_params_softmax1) },
    { "sink", AV_GROUP_BEND, AV_VARIANT_NOT_SIMPLEX | AV_VARIANT_SHIFTS,
      "e^z/(e^logit + sum e^z)",
      "OpenAI 2025, gpt-oss", "a learned place for weight that no key deserves",
      HOOKS(.bend = av_bend_sink, .bend_params = av_bend_params_sink) },
    { "sparsemax", AV_GROUP_BEND, AV_VARIANT_SPARSE,
      "the nearest point of the simplex",
      "Martins and Astudillo 2016", "small weights are exactly 0, and so is their gradient",
      HOOKS(.bend = av_bend_sparsemax) },
    { "entmax15", AV_GROUP_BEND, AV_VARIANT_SPARSE,
      "max(z/2 - tau, 0)^2",
      "Peters et al. 2019, 1.5-entmax", "between softmax and sparsemax",
      HOOKS(.bend = av_bend_entmax15) },
    { "sigmoid", AV_GROUP_BEND, AV_VARIANT_NOT_SIMPLEX | AV_VARIANT_SHIFTS,
      "1/(1 + e^-(z + b)), b = -ln n",
      "Ramapuram et al. 2024", "keys do not compete",
      HOOKS(.bend = av_bend_sigmoid, .bend_params = av_bend_params_sigmoid) },
    { "clipped", AV_GROUP_BEND, AV_VARIANT_NOT_SIMPLEX | AV_VARIANT_SPARSE,
      "clip((eta - gamma) p + gamma, 0, 1), gamma = -12/n",
      "Bondarenko et al. 2023", "weights reach 0 with finite logits, and 1 with eta > 1",
      HOOKS(.bend = av_bend_clipped, .bend_params = av_bend_params_clipped) },
    { "softpick", AV_GROUP_BEND, AV_VARIANT_NOT_SIMPLEX | AV_VARIANT_SPARSE | AV_VARIANT_SHIFTS,
      "relu(e^z - 1)/(sum |e^z - 1| + eps)",
      "Zuhri et al. 2025", "negative logits get no weight, but a gradient",
      HOOKS(.bend = av_bend_softpick, .bend_params = av_bend_params_softpick) },
    { "differential", AV_GROUP_BEND, AV_VARIANT_NOT_SIMPLEX | AV_VARIANT_ENTRIES | AV_VARIANT_EVEN_D | AV_VARIANT_FIXED_D,
      "P1 - lambda P2, of the halves of q and k",
      "Ye et al. 2024, Differential Transformer", "what both halves attend to cancels",
      HOOKS(.multiplier = av_scale_halves, .subtracted = av_subtracted_differential) },

    { "alibi", AV_GROUP_PATTERN, AV_VARIANT_POSITIONAL | AV_VARIANT_PER_HEAD,
      "z - 2^(-8 h/n_head) |i - j|, h = 1 .. n_head",
      "Press et al. 2021", "far keys lose logits in proportion",
      HOOKS(.pattern = av_pattern_alibi) },
    { "window", AV_GROUP_PATTERN, AV_VARIANT_POSITIONAL,
      "keys with |i - j| < size",
      "Beltagy et al. 2020", "only near keys are seen",
      HOOKS(.pattern = av_pattern_window, .hides = true) },
    { "lsh", AV_GROUP_PATTERN,
      AV_VARIANT_ENTRIES | AV_VARIANT_FIXED_D | AV_VARIANT_SQUARE | AV_VARIANT_NOT_TRAINED,
      "k = q/|q|, keys in the query's bucket, itself at -5e4",
      "Kitaev et al. 2020, Reformer", "only keys that hash alike are seen",
      HOOKS(.pattern = av_pattern_lsh, .hides = true, .buckets = av_buckets_lsh) },
    { "linformer", AV_GROUP_PATTERN, AV_VARIANT_ENTRIES | AV_VARIANT_POSITIONAL | AV_VARIANT_NOT_TRAINED,
      "k averages of n_k/k neighbouring keys each",
      "Wang et al. 2020, with mean pooling", "time and memory linear in the keys",
      HOOKS(.averages = av_averages_linformer) },

    { "sigma_reparam", AV_GROUP_TRAINING, 0,
      "W gamma/sigma_max(W)",
      "Zhai et al. 2023", "spectral norms of the learned matrices are learned apart",
      NULL },
    { "qk_clip", AV_GROUP_TRAINING, 0,
      "w_q, w_k times sqrt(min(1, tau/max logit))",
      "Kimi Team 2025, MuonClip", "logits that have grown too large shrink after a step",
      NULL },
};

static const char *const GEMMA_2[] = { "fixed.scalar=256", "softcap.c=50", NULL };
static const char *const GEMMA_2_27B[] = { "fixed.scalar=144", "softcap.c=50", NULL };
static const char *const QWEN_3[] = { "qk_rms.eps=1e-6", NULL };
static const char *const SWIN_V2[] = { "swin2.tau=auto", NULL };
static const char *const GROK_1[] = { "softcap.c=30", NULL };
static const char *const GPT_OSS[] = { "yarn.S=32", "window.size=128", NULL };
static const char *const LLAMA_4[] = { "llama4.floor=8192", "llama4.scale=0.1", NULL };

static const struct av_preset PRESETS[] = {
    { "gemma-2", "fixed+softcap", GEMMA_2, "Gemma 2 2B and 9B: 1/sqrt(256), logits capped at 50" },
    { "gemma-2-27b", "fixed+softcap", GEMMA_2_27B, "Gemma 2 27B: 1/sqrt(144) though d_k is 128, logits capped at 50" },
    { "qwen-3", "sqrt+qk_rms", QWEN_3, "Qwen 3: RMS norm of q and k, then 1/sqrt(d_k)" },
    { "swin-v2", "swin2", SWIN_V2, "Swin Transformer V2: cosines with a bounded, learned temperature" },
    { "grok-1", "sqrt+softcap", GROK_1, "Grok 1: 1/sqrt(d_k), logits capped at 30" },
    { "gpt-oss", "yarn+sink+window", GPT_OSS, "gpt-oss, a layer with window: YaRN for 32 times the context, a sink" },
    { "llama-4", "llama4", LLAMA_4, "Llama 4, a layer without rotary positions: logits sharper every 8192 tokens" },
};
/* clang-format on */

enum { ROWS = sizeof TABLE / sizeof TABLE[0], PRESET_ROWS = sizeof PRESETS / sizeof PRESETS[0] };

const struct av_variant *av_variants_table(size_t *count)
{
    *count = ROWS;
    return TABLE;
}

const struct av_preset *av_presets_table(size_t *count)
{
    *count = PRESET_ROWS;
    return PRESETS;
}

const struct av_variant *av_variant_find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(TABLE[i].name, name) == 0) {
            return &TABLE[i];
        }
    }
    return NULL;
}

const struct av_preset *av_preset_find(const char *name)
{
    for (size_t i = 0; i < PRESET_ROWS; i++) {
        if (strcmp(PRESETS[i].name, name) == 0) {
            return &PRESETS[i];
        }
    }
    return NULL;
}

const struct av_variant_hooks *av_variant_hooks_of(av_variant_value value, enum av_variant_group group)
{
    static const struct av_variant_hooks nothing = { 0 };
    const struct av_variant *row = av_variant_of(value, group);
    return row != NULL && row->hooks != NULL ? row->hooks : &nothing;
}
