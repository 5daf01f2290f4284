/* diagnosis.h - what is wrong with a head that comes from outside, and how it shows.
 *
 * Findings of one head of a source, each by a rule below and told with the
 * numbers that it goes by. It is computed in portions, in bounded memory:
 * entries of Q and K, weights and scores are all read; of the products q.k, all rows up to
 * AV_DIAGNOSIS_PAIRS pairs, else so many rows, evenly spread (`sampled`). What needs q.k, the
 * multiplier and the rules by it, goes by these rows; all else by all.
 *
 * Findings are about the file. Of the parameters count p->mask, which says what is
 * masked, and scale, exponent and temperature, the multiplier that p gives q.k;
 * neither variant nor dtype, which change what is shown and not what was dumped.
 *
 * Terms. m: 1/sqrt(d_k). Seen keys: those that p->mask leaves, or a causal mask that nobody
 * told: p->mask is none, n_k >= n_q, and no key behind its query has any weight (mask_seen),
 * or pairs up to their query follow q.k with R^2 >= 0.99, and in nine of ten rows the keys
 * behind have less than a tenth of what this line gives them. All is then looked at anew with
 * a causal mask, and mask_leak or masked_weight tell so. Rows that count: two or more seen
 * keys, all numbers finite. A score of -8192 or less that is 745 below its row's largest, or
 * is itself that, is a mask's and no score: e^-745 is 0.
 *
 *   nan_input, inf_input (bad)  of any tensor, with layer, head and first position.
 *       -infinity is no finding in scores: masks are written so.
 *   saturated, gradient_dead  as of the pipeline, verdict_rules.h, by the file's weights
 *       (the logits are their logarithms), or else its scores, where Q and K are there as
 *       well: of_file, and the pipeline's are not said. Of either alone this is the pipeline's
 *       to say, with the present settings.
 *   logit_std (info)  of q.k times p's multiplier within rows, and what the entries
 *       would give if independent: sqrt(d (sq^2 + mq^2)) sk, mean m and standard
 *       deviation s of q's and k's entries. A trained model's are not N(0, 1).
 *   scale_unknown (info)  Q and K alone do not tell whether they were scaled:
 *       saturated rows with m and with 1.
 *   float16_overflow (warn)  |q.k| > 65504, the largest float16. Of a sampled head in the
 *       rows looked at, or in all by av_diagnosis_complete.
 *
 * The multiplier in force is the slope of ln w, or of scores, on q.k, both less
 * their means in the row: a softmax adds a constant to each row and nothing else.
 * Keys count by min(1, w 2^14)^2, the inverse variance of the logarithm of a
 * float16; keys without weight, by underflow or dropout, do not; nor do rows that
 * give all keys the same, or 0 to less than half of them, though q.k / d_k spreads by more
 * than 2^-6: they saw none.
 *   scale_ok (info), scale_missing, scale_twice, scale_d_model (warn),
 *   scale_inverted (bad)  R^2 >= 0.99, and the slope is 1/sqrt(d_k), 1, 1/d_k,
 *       1/sqrt(n_head d_k) or sqrt(d_k), to 2% and three standard errors; each also
 *       over p->temperature. The nearest that fits, by the first of those that are the
 *       same number; the other is named with it.
 *   scale_other (info)  R^2 >= 0.99, and the slope is none of these. warn: it is negative.
 *   weights_not_of_qk (info)  R^2 below, and residuals beyond what rounding to the
 *       narrowest type that holds all weights explains; or scale_other, and residuals
 *       beyond what rounding of these and of the logits explains: no multiple of q.k is
 *       behind them. Biases and caps show so. warn: k_i.q_j explains them, R^2 >= 0.99 in up to
 *       8 rows of a head with as many keys as queries: the two are swapped.
 *   averaged_over_heads (warn)  R^2 below, but in up to 8 rows the weights are the mean
 *       over the layer's heads of the softmax of q.k times m, 1 or p's multiplier: half the
 *       sum of |differences|, less the mean |logit| times the rounding of the weights'
 *       type, is below 2^-8 in all of them, and above four times that, as a mean, to
 *       the head's own softmax.
 *   scale_unknown (info)  R^2 below, but rounding may be the reason; or less than 8
 *       keys with weight beside the others of their rows.
 *   None of these behind softmax_wrong_axis, softmax_twice, weights_negative.
 *
 * Of weights (a sum is 1 within 2^-8 + 2^-25 a key, which bfloat16 and float16
 * rounding explain):
 *   weights_negative (bad)  no softmax gives such; no other rule of weights then.
 *   rows_without_weight (bad)  rows that see keys but hold nothing but 0, which dropout
 *       does not explain; or NaN, where Q, K and scores hold none.
 *   rows_without_key (warn)  rows that give the same weight to all keys, or to more than half of
 *       them and 0 to the others, those too that p->mask hides, while other rows do not: all
 *       their keys were masked by a finite number, 0: by two that add up to -infinity. Where
 *       all keys are seen: though q.k / d_k spreads by more than 2^-6.
 *   softmax_wrong_axis (bad)  rows do not sum to 1, every column does. Or in up to 8 rows every pair
 *       sums to 1 over all heads, but those that are 0 or NaN in one; 8 pairs at least.
 *   dropout (warn)  rows do not sum to 1, some seen keys have 0; the sum over all rows of
 *       (sum - 1) is 0 within four times sqrt(v), v = p sum w^2, its variance under dropout of
 *       p; and three quarters of the rows are off, or the sum of (sum - 1)^2 is v/4 at least.
 *       Of eight rows or more one sums to more than 1; of fewer the spread is not asked for.
 *       What a row lacks to 1 counts as a w. p: the share of zeros in rows whose smallest
 *       weight is 64 times the smallest number of its type or more, if these see a quarter of
 *       the keys, but at least 1 - 1 / (largest row sum), for which the
 *       zeros must not be too few by four standard errors.
 *   rows_not_one (bad)  rows do not sum to 1, otherwise.
 *   softmax_twice (warn)  one of three.
 *       (a) The slope of ln w on the softmax of q.k times p's multiplier is 1 to 2% and
 *       three standard errors, its residuals are explained by rounding or R^2 >= 0.99,
 *       and the line on q.k itself leaves more, by five standard errors.
 *       (b) Masked keys have a weight, the same in a row, and in every row that is short
 *       enough for rounding (8 of them at least) ln of the others' over it sums to 1: it is
 *       e^0 of a second softmax without the mask.
 *       (c) With p_j = ln w_j - mean ln w + 1/n, which sum to 1: no p_j is below 0 in any
 *       row of four keys or more, but for twice the rounding of the narrowest type that
 *       holds all weights (2^-8 bfloat16, 2^-10 float16, else 2^-20), and the mean of
 *       n sum p^2 over these rows (of p > 4 roundings) exceeds 1.5: ln w is itself what a
 *       softmax gives. Normal logits that are flat enough for the first keep n sum p^2
 *       below 1.2, uniform ones below 1.34. Of eight rows at least; weights of a nearly
 *       even softmax are not told from its softmax. info where Q and K are not there: a few
 *       logits above many even ones look the same.
 *   mask_leak (warn)  masked keys have a weight, all the same in a row, to the rounding of
 *       the weights' type, and below its largest: a finite number in the place of -infinity;
 *       or ln w of these follows q.k, R^2 >= 0.99, with the slope of the seen keys to 2% and
 *       three standard errors, and lies lower by more than 0.05: a finite number was added.
 *       The number is named where q.k tells it; one of 0, to 0.05, need not be below the
 *       largest. bad: more than 1% of the weight; info: less than 2^-24 of it.
 *   masked_weight (warn, bad and info likewise)  masked keys have weight, otherwise. The mask of
 *       the weights is named as in mask_other.
 *   mask_other (warn)  rows sum to 1 and the multiplier is known, but in up to 32 rows of q.k seen
 *       keys have no weight (zeros that it gives 64 times the smallest number of the weights' type or
 *       more), and more than 1e-3 of what it gives, as a mean, is of such that lie above a key with
 *       weight, by four standard deviations of what the line leaves: no rounding and no underflow
 *       takes the larger of two. The mask is named if one of these fits all rows that it leaves
 *       a key: the same keys hidden in all, keys from i + a or up to i + b, i the query, or both.
 *   mask_seen (info)  p->mask is none, and no key behind its query has any weight, but
 *       in rows that are NaN or level.
 *   mask_seen, mask_leak of scores  Scores that are a mask's, as above, are told (info) and
 *       left out; where scores come alone, saturated and gradient_dead are then said of the
 *       file. Without weights, masked keys that all have one and the same other score, in two
 *       rows or more, are a mask_leak, by their share of the weight. */
#ifndef ATTNVIZ_DIAGNOSIS_H
#define ATTNVIZ_DIAGNOSIS_H

#include "attnviz/kernels.h"
#include "attnviz/params.h"
#include "attnviz/snapshot.h"
#include "attnviz/source.h"
#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { AV_DIAGNOSIS_PAIRS = 1 << 22, AV_DIAGNOSIS_FINDINGS = 24 };

/* What a slope must be to name a multiplier by: it explains so much, is so near to
 * the number, but for three standard errors, and these are so small a part of it. */
#define AV_SLOPE_GOOD_R2 0.99
#define AV_SLOPE_TOLERANCE 0.02
#define AV_SLOPE_UNSURE 0.1

/* Slope of y on x, both less their means in each row. NaN without spread. */
struct av_slope {
    double slope, error; /* error: standard error of the slope */
    double r2;
    double residual; /* its standard deviation */
};

/* What the findings go by; NaN where a head does not have it. */
struct av_evidence {
    /* Entries of Q and K. */
    double q_mean, q_std, k_mean, k_std;
    double predicted_std; /* of q.k within a row, were they independent */
    /* q.k of seen pairs, before any multiplier. */
    double dot_std;                          /* within rows */
    double dot_max;                          /* largest |q.k| */
    double dot_beyond_float16;               /* pairs */
    double saturated_scaled, saturated_bare; /* share of rows with a largest weight > 0.9: q.k times m, times 1 */
    double entropy_scaled, entropy_bare;     /* mean H / ln keys */
    /* The logits and weights that saturated and gradient_dead go by. */
    double logit_std, logit_row_std; /* of all, within rows */
    double freezing;                 /* mean sqrt(2 ln n) */
    double share_max_gt_0_9, jacobian_fro_median, share_fro_lt_1e_3;
    double entropy_norm_mean;
    /* The multiplier in force. */
    struct av_slope multiplier;
    struct av_slope second;  /* of ln w on the softmax of q.k times p's multiplier */
    struct av_slope swapped; /* on k.q, of up to 8 rows; NaN where q.k explains the weights */
    /* Weights. */
    double negative;                        /* numbers */
    double row_sum_mean, row_sum_error_max; /* of rows with weight */
    double rows_off, rows_without_weight;   /* rows that do not sum to 1; that hold nothing */
    double column_sum_error_max;
    double heads_sum_error_max;             /* of a pair's weights over all heads; NaN where rows sum to 1 */
    double zero_share;                      /* exact zeros among seen keys */
    double twice_lowest, twice_n_sum_p2;    /* smallest p_j of any row, mean of n sum p^2 */
    double masked_max, masked_share;        /* largest weight of a masked key; mean share of the row's weight */
    double hidden_keys, hidden_share;       /* see mask_other, of up to 32 rows */
    double own_distance, averaged_distance; /* see averaged_over_heads: mean, and largest */
    /* Rows of q.k looked at; of the logits or weights those that count, those with one seen key. */
    double rows, rows_counting, rows_one_key;
};

/* A row of its table: names as in the report, unit "" if it has none. */
struct av_evidence_field {
    const char *name, *unit, *text;
    size_t offset; /* of a double in struct av_evidence */
    bool whole;    /* an integer */
};
const struct av_evidence_field *av_evidence_fields(size_t *count);
double av_evidence_get(const struct av_evidence_field *field, const struct av_evidence *evidence);

struct av_diagnosis {
    size_t layer, head;      /* places in the source, from 0 */
    bool sampled;            /* not all rows of q.k were looked at */
    bool causal;             /* judged with a causal mask that the parameters do not have: the file shows it */
    bool of_file;            /* saturated and gradient_dead are of the file's weights or scores */
    bool entries_not_finite; /* Q or K hold NaN or infinity */
    struct av_evidence evidence;
    struct av_verdict findings[AV_DIAGNOSIS_FINDINGS]; /* worst first, then in the order above */
    size_t finding_count;
};

/* Has the diagnosis (NULL: none was made) the only say in this code, found or not:
 * saturated and gradient_dead where it is of_file; score_overflow where Q or K hold NaN or
 * infinity, which a pass in tiles does not look for? */
bool av_diagnosis_replaces(const struct av_diagnosis *diagnosis, const char *code);

/* Runs a diagnosis in units of a few milliseconds. At most 32 MiB of its own up
 * to 131072 keys. kernels: NULL for the best. The caller frees it. */
struct av_diagnoser;
enum av_status av_diagnoser_new(struct av_diagnoser **out, const struct av_kernels *kernels, struct av_error *e);
void av_diagnoser_free(struct av_diagnoser *d); /* NULL is fine */

/* Begins with a head; source and its parts stay as they are until the end.
 * AV_NOMEM: the old memory stands, but has no result. */
enum av_status av_diagnoser_begin(struct av_diagnoser *d, const struct av_source *source, size_t layer, size_t head,
                                  const struct av_params *p, struct av_error *e);

/* One unit; *more: there is more to do. What the source's read fails with: the
 * diagnosis is at its end and has no result. */
enum av_status av_diagnoser_step(struct av_diagnoser *d, bool *more, struct av_error *e);
double av_diagnoser_progress(const struct av_diagnoser *d); /* 0 .. 1 */

/* NULL before the last step. */
const struct av_diagnosis *av_diagnoser_result(const struct av_diagnoser *d);

/* Takes over from the state of the same head what only a pass over all pairs knows: of a
 * sampled one the largest |q.k|, evidence.dot_max, and with it float16_overflow. */
void av_diagnosis_complete(struct av_diagnosis *diagnosis, const struct av_snapshot *s);

/* All of it in one call. */
enum av_status av_diagnose_head(struct av_diagnosis *out, const struct av_source *source, size_t layer, size_t head,
                                const struct av_params *p, const struct av_kernels *kernels, struct av_error *e);

#endif
