/* stages.h - the model's inside, and the stages that model.c runs in order. */
#ifndef ATTNVIZ_STAGES_H
#define ATTNVIZ_STAGES_H

#include "attnviz/attend.h"
#include "attnviz/diagnosis.h"
#include "attnviz/model.h"
#include "buffers.h"
#include "score_stats.h"

/* The states that rows are computed of: the current one, and that with scale
 * toggled. */
enum av_state { AV_STATE_NOW, AV_STATE_OTHER, AV_STATES };

/* What computes the rows of a state by a variant or a dtype. */
struct av_engine {
    struct av_attend *attend; /* NULL until it is first asked for */
    bool begun;               /* for the parameters and scores that the model holds */
};

struct av_model {
    const struct av_kernels *kernels;
    struct av_theory *theory;
    void *scores_scratch;
    const struct av_source *source;   /* NULL: entries are sampled */
    struct av_loaded_head head;       /* of the source; the last that was read */
    struct av_loaded_head spare_head; /* while an update may still fail: what it has replaced */
    struct av_buffers buffers;
    struct av_buffers spare; /* while an update may still fail: what it has replaced by a new shape */
    struct av_engine engines[AV_STATES];
    struct av_params other_params; /* with scale toggled */
    struct av_histogram_store histogram;
    struct av_diagnosis diagnosis;
    struct av_snapshot snapshot;
    double alpha;  /* d_k^-exponent or 1 of the last update, or between them: variants have another */
    bool ready;    /* the snapshot holds a result */
    unsigned done; /* needs whose results are up to date */
    bool has_dq;   /* buffers.dq_rms is of the current state */
};

/* The queries and keys that scores are made of: sampled, or a head of the files. */
struct av_entries av_model_queries(const struct av_model *m);
struct av_entries av_model_keys(const struct av_model *m);

/* Do the rows of this state come from attend.h? By a variant, a dtype, or from
 * a file's scores. */
bool av_rows_by_engine(const struct av_snapshot *s);

/* Reads the head of the source that p names, unless it is there. The one before
 * becomes `spare_head`. When it fails nothing has changed. */
enum av_status av_stage_load(struct av_model *m, const struct av_params *p, struct av_error *e);

/* SAMPLE and SCORES for parameters p with that shape. Memory is made first,
 * if the shape asks for it; when that fails nothing has changed. The buffers of
 * another shape become `spare`. */
enum av_status av_stage_scores(struct av_model *m, const struct av_params *p, struct av_shape shape,
                               struct av_error *e);

/* MOMENTS: which rows are valid, moments of their scores. */
void av_stage_moments(struct av_model *m);

/* LOGITS and WEIGHTS of the plain softmax, row by row, with the statistics of
 * each row. */
void av_stage_rows(struct av_model *m);

/* WEIGHTS of a head whose weights are given: its rows, as the mask cuts them. */
void av_stage_given_rows(struct av_model *m);

/* The same by the engine of the current state, which has been begun; with
 * needs & AV_NEED_DQ the queries' gradients as well, in one go. */
void av_stage_varied_rows(struct av_model *m, unsigned needs);

/* Begins the engines that these needs ask for and that are not up to date, and
 * sets the snapshot's alpha; nothing where rows are not by an engine. alpha: for
 * a glide, else NaN. */
enum av_status av_engines_begin(struct av_model *m, unsigned needs, double alpha, struct av_error *e);

/* Their results: the summary of the current state but for dq; rows and summary
 * of the other one; dq of the current one, where has_dq does not say that it
 * is there. */
void av_varied_summary(struct av_model *m);
void av_varied_other(struct av_model *m);
void av_varied_dq(struct av_model *m);

/* STATS: the summary of the current state and the verdicts. */
void av_stage_stats(struct av_model *m);

/* Computes of `needs` (enum av_need) what is not up to date. */
void av_stage_needs(struct av_model *m, unsigned needs);

/* Forgets the needs that do not survive a change from `stale` on; a glide
 * keeps what does not depend on the multiplier in force. */
void av_stage_forget(struct av_model *m, enum av_stage stale, bool glide);

#endif
