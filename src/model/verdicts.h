/* verdicts.h - findings, each from a stated rule with its numbers. */
#ifndef ATTNVIZ_VERDICTS_H
#define ATTNVIZ_VERDICTS_H

#include "attnviz/snapshot.h"

/* Fills s->verdicts from the rest of the snapshot:
 *   saturated      warn: logit std > sqrt(2 ln n) or share_max_gt_0_9 > 0.25;
 *                  bad: share_max_gt_0_9 > 0.5
 *   gradient_dead  warn: share_fro_lt_1e_3 > 0.25; bad: jacobian_fro_median < 1e-3
 *   nan_input, inf_input  bad: a file holds such values; names the first
 *   score_overflow  bad: rows are invalid though every entry is finite */
void av_verdicts_make(struct av_snapshot *s);

#endif
