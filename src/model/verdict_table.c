/* verdict_table.c - every code that a verdict may have, when it is said and what to do about it. */
#include "attnviz/verdict_table.h"

#include <string.h>

/* Severities. */
#define INFO .as[AV_INFO] = true
#define WARN .as[AV_WARN] = true
#define BAD .as[AV_BAD] = true

static const struct av_verdict_row rows[] = {
    { "saturated", WARN, BAD,
      .rule = "more than a quarter of the rows (bad: half) give more than 0.9 to one key, or logits spread by more "
              "than sqrt(2 ln n), beyond which one of n normal logits takes most of the weight",
      .remedy = "check the scale; normalise queries and keys, or lower the gain of what makes them" },
    { "gradient_dead", WARN, BAD,
      .rule = "more than a quarter of the rows have a softmax Jacobian below 1e-3 (bad: the median has)",
      .remedy = "as for saturated: no gradient passes these rows to queries and keys" },
    { "nan_input", BAD, .rule = "a tensor of the head holds NaN",
      .remedy = "look at the first position; NaN weights come of rows that see no key" },
    { "inf_input", BAD, .rule = "a tensor of the head holds infinities",
      .remedy = "look for an overflow of float16 before the dump" },
    { "rows_left_out", BAD, .rule = "rows hold a number that is not finite", .remedy = "see nan_input and inf_input" },
    { "score_overflow", BAD, .rule = "rows have scores beyond double though every entry is finite",
      .remedy = "look at the size of queries and keys" },
    { "logit_overflow", BAD, .rule = "rows have logits beyond double though their scores are finite",
      .remedy = "lower the multiplier, or what the variant adds" },
    { "dtype_nan", BAD, .rule = "rows became NaN in the imitated arithmetic, which had an infinity",
      .remedy = "use a type with a wider range, or scale queries before the product" },
    { "float16_overflow", WARN, .rule = "|q.k| is beyond 65504, the largest float16",
      .remedy = "scale queries before the product, or multiply in bfloat16 or float32" },

    { "weights_negative", BAD, .rule = "weights are below 0",
      .remedy = "the tensor is no softmax's: dump it behind the softmax" },
    { "softmax_wrong_axis", BAD, .rule = "rows do not sum to 1, but every column does, or every pair over all heads",
      .remedy = "take the softmax over keys, the last axis" },
    { "dropout", WARN, .rule = "rows do not sum to 1 and hold zeros as dropout leaves them",
      .remedy = "dump weights before dropout, or in evaluation mode" },
    { "rows_not_one", BAD, .rule = "rows do not sum to 1, by none of these causes",
      .remedy = "look for a mask or a factor behind the softmax" },
    { "softmax_twice", INFO, WARN,
      .rule = "log weights are themselves what a softmax gives (info: by weights alone, which others may be too)",
      .remedy = "take one of the two softmaxes away" },
    { "averaged_over_heads", WARN, .rule = "weights are the mean over the heads' softmaxes",
      .remedy = "dump them for each head: average_attn_weights=False" },
    { "weights_not_of_qk", INFO, WARN,
      .rule = "no multiple of q.k explains weights or scores (warn: one of k.q does, queries and keys are swapped)",
      .remedy = "dump Q and K behind a rotary embedding; look for a bias, a softcap, another head's keys" },

    { "rows_without_weight", BAD, .rule = "rows that see keys hold nothing but 0 or NaN",
      .remedy = "leave a key to every row, or leave such rows out" },
    { "rows_without_key", WARN,
      .rule = "rows give every key the same weight, or 0, while others do not: finite masks on all keys",
      .remedy = "leave such rows out of what follows: they mix masked keys" },
    { "mask_leak", INFO, WARN, BAD,
      .rule = "masked keys have a weight, the same in a row, or as q.k has it less a number (bad: more than 1% of it; "
              "info: below 2^-24)",
      .remedy = "mask with -infinity, or the lowest finite number" },
    { "masked_weight", INFO, WARN, BAD,
      .rule = "masked keys have weight otherwise (bad: more than 1% of it; info: below 2^-24)",
      .remedy = "apply the mask before the softmax, with -infinity; if there is none, set mask=none" },
    { "mask_other", WARN,
      .rule = "keys that the mask leaves have no weight though others, of lower logits, have: padding, a window, say",
      .remedy = "set from=weights: numbers of q.k are of other keys" },
    { "mask_seen", INFO,
      .rule = "mask is none, and no key behind its query has any weight; or scores hold masks as finite numbers",
      .remedy = "set mask=causal, that numbers be of the same keys" },

    { "scale_ok", INFO, .rule = "weights or scores follow q.k times 1/sqrt(d_k)",
      .remedy = "nothing: as it should be" },
    { "scale_missing", WARN, .rule = "weights or scores follow q.k as it is", .remedy = "multiply by 1/sqrt(d_k)" },
    { "scale_twice", WARN, .rule = "weights or scores follow q.k times 1/d_k",
      .remedy = "scale once: not the queries and the scores too" },
    { "scale_d_model", WARN, .rule = "weights or scores follow q.k times 1/sqrt(n_head d_k)",
      .remedy = "take d_k of a head, not d_model" },
    { "scale_inverted", BAD, .rule = "weights or scores follow q.k times sqrt(d_k)",
      .remedy = "divide by sqrt(d_k), do not multiply" },
    { "scale_other", INFO, WARN, .rule = "weights or scores follow q.k times another number (warn: a negative one)",
      .remedy = "look whether a temperature or a scale of its own is meant" },
    { "scale_unknown", INFO, .rule = "Q and K alone, or weights too even or too few, do not tell the multiplier",
      .remedy = "dump weights or scores as well" },
    { "logit_std", INFO, .rule = "said of all Q and K: how far logits spread, and what independent entries would give",
      .remedy = "nothing: a spread far above says that queries and keys are aligned" },

    { "not_simplex", INFO, .rule = "weights do not sum to 1, by the variant's formula",
      .remedy = "nothing: entropy is of |w| / sum |w|" },
    { "training_only", INFO, .rule = "a row of the group training is chosen",
      .remedy = "nothing: it acts in training only" },
    { "scale_cancelled", INFO, .rule = "scores are normalised, and nothing multiplies them after",
      .remedy = "nothing: scale on and off are the same" },
};

const struct av_verdict_row *av_verdict_table(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

size_t av_verdict_place(const char *code)
{
    size_t count = sizeof rows / sizeof rows[0], at = 0;
    while (at < count && strcmp(rows[at].code, code) != 0) {
        at++;
    }
    return at;
}
