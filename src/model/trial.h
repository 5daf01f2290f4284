/* trial.h - queries, keys and their softmax for one measurement of a claim.
 *
 * A pipeline without its parameters' bookkeeping: all memory is made once, so
 * that measuring neither allocates nor fails. */
#ifndef ATTNVIZ_TRIAL_H
#define ATTNVIZ_TRIAL_H

#include "attnviz/depth.h"
#include "attnviz/facts.h"
#include "attnviz/snapshot.h"
#include "lessons.h"

/* A setting has at most so many entries of Q, and of K; columns; keys; scores. */
enum { AV_TRIAL_ENTRIES = 1 << 19, AV_TRIAL_KEYS = 512, AV_TRIAL_ROWS = 256, AV_TRIAL_SCORES = 1 << 17 };

/* Sizes of a stack of layers. */
enum { AV_TRIAL_STACK_TOKENS = 32, AV_TRIAL_STACK_MODEL = 128, AV_TRIAL_STACK_D_K = 64 };

struct av_trial {
    const struct av_kernels *kernels;
    size_t n_q, n_k, d_k;         /* of the latest draw */
    float *q, *k;                 /* [n_q, d_k], [n_k, d_k] */
    float *draw;                  /* [AV_DIM_MAX], scratch */
    double *scores;               /* [n_q, n_k] */
    double *weights;              /* [n_q, n_k]: of the latest softmax */
    double *kept;                 /* [n_q, n_k]: a place for earlier weights */
    double *column;               /* [larger of n_q and n_k], scratch */
    void *scratch;                /* of the scores */
    struct av_rowstats *rows;     /* [n_q] of the latest softmax */
    bool *invalid;                /* [n_q], all false */
    struct av_params *params;     /* of the entries drawn */
    struct av_snapshot *snapshot; /* as much of it as a summary reads */
    struct av_lessons *lessons;   /* training experiments */
    struct av_depth_run *stack;   /* of layers */
    bool stack_under_way;
    double part; /* of a measurement that is under way: see av_fact_measure */
};

/* The caller frees *t; it is NULL when this fails (AV_NOMEM). */
enum av_status av_trial_new(struct av_trial **t, const struct av_kernels *kernels, struct av_error *e);
void av_trial_free(struct av_trial *t); /* NULL is fine */

/* Drops a measurement that is under way. */
void av_trial_stop(struct av_trial *t);

/* Q, K and scores of that setting: the bits that the pipeline has for it. */
void av_trial_draw(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed);

/* Weights and statistics of every row, logits being multiplier * scores over
 * the first n_k keys, and their summary. */
struct av_summary av_trial_softmax(struct av_trial *t, double multiplier, size_t n_k);

/* The multiplier of a setting: d_k^-exponent. */
double av_trial_multiplier(const struct av_fact_setting *at);

#endif
