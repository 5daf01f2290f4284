/* verdicts.h - findings, each from a stated rule with its numbers. */
#ifndef ATTNVIZ_VERDICTS_H
#define ATTNVIZ_VERDICTS_H

#include "attnviz/snapshot.h"
#include "attnviz/variant.h"

/* Fills s->verdicts from the rest of the snapshot:
 *   saturated      warn: logit std > sqrt(2 ln n), where the softmax weighs
 *                  them, or share_max_gt_0_9 > 0.25; bad: share_max_gt_0_9 > 0.5
 *   gradient_dead  warn: share_fro_lt_1e_3 > 0.25; bad: jacobian_fro_median < 1e-3
 *   nan_input, inf_input  bad: the head holds such values; names the first
 *   score_overflow  bad: rows have scores beyond double though every entry is finite
 *   dtype_nan      bad: rows became NaN in the imitated arithmetic, which had an infinity
 *   logit_overflow  bad: rows have logits beyond double though their scores are finite
 *   not_simplex    info: weights do not sum to 1, by the variant's formula
 *   training_only  info: a row of the group training is chosen, which does nothing here
 *   scale_cancelled  info: scores are normalised, and nothing multiplies them after */
void av_verdicts_make(struct av_snapshot *s);

/* sqrt(2 ln n) of the keys that rows [n] see, the mean over those with two or
 * more: what the spread of their logits is held against. NaN where there is no such row,
 * or the variant's logits are bent or have a bias that spreads them. */
double av_verdicts_freezing(const struct av_rowstats *rows, size_t n, av_variant_value variant);

#endif
