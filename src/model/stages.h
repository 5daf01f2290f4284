/* stages.h - the model's inside, and the stages that model.c runs in order. */
#ifndef ATTNVIZ_STAGES_H
#define ATTNVIZ_STAGES_H

#include "attnviz/model.h"
#include "buffers.h"
#include "score_stats.h"

struct av_model {
    const struct av_kernels *kernels;
    struct av_theory *theory;
    void *scores_scratch;
    const struct av_tensor *q_file, *k_file;
    struct av_buffers buffers;
    struct av_histogram_store histogram;
    struct av_snapshot snapshot;
    bool ready;    /* the snapshot holds a result */
    unsigned done; /* needs whose results are up to date */
};

/* The keys that scores are made of: sampled, or a head of the files. */
struct av_entries av_model_keys(const struct av_model *m);

/* SAMPLE and SCORES for parameters p with that shape. Memory is made first,
 * if the shape asks for it; when that fails nothing has changed. */
enum av_status av_stage_scores(struct av_model *m, const struct av_params *p, struct av_shape shape,
                               struct av_error *e);

/* MOMENTS: which rows are valid, moments of their scores. */
void av_stage_moments(struct av_model *m);

/* LOGITS and WEIGHTS, row by row, with the statistics of each row. */
void av_stage_rows(struct av_model *m);

/* STATS: the summary of the current state and the verdicts. */
void av_stage_stats(struct av_model *m);

/* Computes of `needs` (enum av_need) what is not up to date. */
void av_stage_needs(struct av_model *m, unsigned needs);

/* Forgets the needs that do not survive a change from `stale` on; a glide
 * keeps what does not depend on the multiplier in force. */
void av_stage_forget(struct av_model *m, enum av_stage stale, bool glide);

#endif
