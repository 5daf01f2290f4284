/* attend.h - from queries and keys to weights, by any variant and dtype, row by row.
 *
 * What variant.h says in formulas is run here: keys are prepared once
 * (normalised, pooled, hashed), then query rows in any order and any portions,
 * so that the pipeline computes all of them at once and a study some at a time,
 * with the same bits. In double, but for p->dtype, which imitate.h imitates for
 * scores, logits and softmax; other bends are computed in double then, of
 * rounded logits, and their weights rounded.
 *
 * Definitions beyond variant.h. n: the keys that a row sees; position of query
 * i: i + n_k - n_q, of key j: j. |i - j| in `alibi` and `window` is between
 * positions; those of llama4 begin at its start, and negative ones count as 0.
 * `linformer` has k columns, the averages of normalised keys, in the place of
 * the first k keys; an average is seen when all its keys are. `lsh`: both
 * directions of `mask` apply; hashing draws its rotations from the seed; a
 * query's own logit is -5e4 in the place of m s^ / temperature, whatever these
 * are. `differential`: m is 1/sqrt(d / 2) in the place of d_k^-exponent; logits
 * and max_logit are the first half's, trace is that of J1 - lambda J2, and
 * |J|_F of J = [J1, -lambda J2], by the logits of both halves.
 *
 * Constant in derivatives: keys (also where a query is a key too), and the mean
 * and variance of score_batchnorm; those of score_layernorm are not. */
#ifndef ATTNVIZ_ATTEND_H
#define ATTNVIZ_ATTEND_H

#include "attnviz/bend.h"
#include "attnviz/kernels.h"
#include "attnviz/params.h"
#include "attnviz/rowstats.h"
#include "attnviz/stats.h"
#include "attnviz/status.h"

/* One head. Nothing is owned; all of it stays as it is until the last row. */
struct av_attend_head {
    struct av_entries q, k; /* [n_q, d], [n_k, d]; none with logits by hand */
    size_t n_q, n_k, d;
    /* q.k, or the logits that are given, of rows [scores_from, n_q), [.., n_k].
     * NULL: multiplied when their rows are asked for, a few at a time. */
    const double *scores;
    const struct av_moments *score_moments; /* over the pairs that p->mask leaves; for score_batchnorm */
    /* Logits are given, by hand or by a file: no multiplier, and of the variant
     * what acts on logits. A row does not see a key whose logit is -infinity. */
    bool by_hand;
    size_t scores_from;
};

struct av_attend;

/* kernels: NULL for the best. The caller frees it. */
enum av_status av_attend_new(struct av_attend **out, const struct av_kernels *kernels, struct av_error *e);
void av_attend_free(struct av_attend *a);

/* Begins for p->variant (checked by av_variant_check) and everything else in p.
 * alpha: what stands in the place of av_attend_alpha, for a glide between scale
 * on and off; NaN: as p has it. Takes O(n_k d) and memory for the keys if the
 * variant needs them; the old state stands when it fails. */
enum av_status av_attend_begin(struct av_attend *a, const struct av_params *p, const struct av_attend_head *head,
                               double alpha, struct av_error *e);

/* Rows [from, to), each output from row `from` on, with n_k columns. Columns
 * that a row does not see: logit -infinity, weight 0. A row with a logit or a
 * score that is not finite is invalid: its weights are NaN where it has keys.
 * Narrower dtypes are kinder, as imitate.h says: a logit that overflowed to
 * -infinity is that of a key without weight, as long as another one is finite. */
struct av_attend_rows {
    size_t from, to;
    double *logits;           /* before the bend; may be NULL */
    double *weights;          /* may be NULL */
    struct av_rowstats *rows; /* bend.h */
    bool *invalid;
    double *multiplier; /* m / temperature of the row; may be NULL */
    double *nonzero;    /* share of the seen keys with a weight that is not 0; may be NULL */
    double *d_scores;   /* |dw/ds|_F, s the scores q^.k^ before they are normalised; may be NULL */
    double *dq;         /* |dw/dq|_F: the query's gradient under white noise on the weights; may be NULL */
};
void av_attend_run(struct av_attend *a, const struct av_attend_rows *rows);

/* The multiplier of the head, over temperature: with the factor of a row of
 * AV_VARIANT_MULTIPLIES when av_attend_factor says that it is all rows'. */
double av_attend_multiplier(const struct av_attend *a);

/* The key whose logit is a constant in the row of a query, and stays out of what
 * is said of the logits together: with lsh the query's own. SIZE_MAX: none. */
size_t av_attend_constant(const struct av_attend *a, size_t query);

/* Does a row of AV_VARIANT_MULTIPLIES multiply all rows of a head of these
 * sizes by the same? Then by *factor, which is 1 without such a row; else
 * *factor is 1 too. logn and ssmax go by the keys that a row sees, which mask and
 * pattern may make different; llama4 by its position. */
bool av_attend_factor(double *factor, const struct av_params *p, size_t n_q, size_t n_k);

/* What a head of these sizes multiplies its scores by, without what rows of
 * AV_VARIANT_MULTIPLIES add and before temperature: with scale off 1. It is
 * what the scale switches; `differential` alone has 1/sqrt(d / 2). */
double av_attend_alpha(const struct av_params *p, size_t d, size_t n_k);

/* About how many multiply-adds a row costs, with dq or without: a study cuts
 * its units by it. */
double av_attend_row_cost(const struct av_attend *a, bool dq);

#endif
