/* long_head.h - a head for the report whose scores and weights are too many to be held. */
#ifndef ATTNVIZ_LONG_HEAD_H
#define ATTNVIZ_LONG_HEAD_H

#include "attnviz/diagnosis.h"
#include "attnviz/fused.h"
#include "heads_progress.h"

/* A zeroed one is fine. */
struct av_long_head {
    struct av_fused *fused; /* whose snapshot it is; NULL: none yet */
    struct av_snapshot snapshot;
    struct av_diagnosis diagnosis;
};

/* Is that head of the parameters to be summed up tile by tile (fused.h): more than
 * AV_FUSED_PAIRS pairs of queries and keys, and the plain softmax in f64? */
bool av_long_head_is(const struct av_source *s, const struct av_params *p);

/* Sums it up and diagnoses it, in threads on all processors. Its snapshot, valid
 * until the next call; NULL with *status set when that fails. progress is told how
 * much of it is done; C-c makes it AV_INTERRUPTED, and does to the process what it
 * did before when it returns. */
const struct av_snapshot *av_long_head(struct av_long_head *h, const struct av_source *s, const struct av_params *p,
                                       struct av_heads_progress *progress, enum av_status *status, struct av_error *e);
void av_long_head_free(struct av_long_head *h);

#endif
