/* train_state.h - the inside of a training experiment. */
#ifndef ATTNVIZ_TRAIN_STATE_H
#define ATTNVIZ_TRAIN_STATE_H

#include "attnviz/train.h"
#include "train_matrices.h"
#include "train_optimizer.h"
#include "train_tasks.h"

struct av_train_run_state {
    struct av_train_run shown;
    struct av_learned learned;
    struct av_spectra spectra;      /* of sigma_reparam */
    struct av_train_record *epochs; /* [config.epochs] */
    struct av_train_record first[AV_TRAIN_FIRST_STEPS];
    struct av_train_record sum; /* over the steps of this epoch */
};

struct av_train {
    struct av_train_config config;
    const struct av_kernels *kernels;
    struct av_task_source source;
    struct av_attention pass; /* one step's arrays, which both runs use */
    float *effective;         /* sigma_reparam: the matrices that the pass uses, else NULL */
    /* Of the step that is under way. */
    double alpha;
    struct av_learned_gradient gradient;
    struct av_attention_observed observed;
    size_t epoch, step; /* of the next step: epoch, and step within it, from 0 */
    int parts;          /* of this step that are done: see av_train_advance */
    /* Data that are not fresh: [sequences * seq_len, d_model] each, as in pass. */
    float *x, *target; /* target: NULL where it is x */
    uint32_t *order;   /* [sequences] */
    struct av_train_run_state runs[AV_TWINS];
};

#endif
