/* train.h - the training experiment: twin runs of one head, with and without the scale.
 *
 * Both runs start from the same learned matrices and see the same batches; the
 * only difference is alpha, the multiplier of the scores. The model, its loss
 * and the names of the arrays: attention.h. Single precision; what is measured
 * is summed in double.
 *
 * A task's data are drawn by counters: sequence i of epoch e is a pure function
 * of (seed, e, i), or of (seed, i) where data are not fresh. An epoch is
 * ceil(sequences / batch) steps, the last of them smaller if need be; data that
 * are not fresh are shuffled each epoch. So a seed gives the same curves bit
 * for bit, however the steps are sliced in time, on one set of kernels; sets
 * with fused multiply-add agree with each other. */
#ifndef ATTNVIZ_TRAIN_H
#define ATTNVIZ_TRAIN_H

#include "attnviz/attention.h"
#include "attnviz/variant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Twin runs. */
enum av_twin { AV_TWIN_SCALED, AV_TWIN_UNSCALED, AV_TWINS };

/* Scalars that a run may learn beside its matrices. */
enum av_train_scalar {
    AV_SCALAR_ALPHA, /* alpha, or what it is made of: see alpha_unit */
    AV_SCALAR_SINK,  /* the sink's logit */
    AV_SCALAR_GAMMA, /* sigma_reparam: gamma of w_q; behind it those of w_k, w_v, w_o */
    AV_TRAIN_SCALARS = AV_SCALAR_GAMMA + 4
};

/* What an experiment is, resolved from the parameters. */
struct av_train_config {
    size_t seq_len, d_model, d_k;
    size_t epochs, batch, sequences; /* batch <= sequences */
    enum av_task task;
    enum av_optimizer optimizer;
    enum av_init init;
    bool fresh, layer_norm;
    bool learn_scale, learn_sink; /* alpha, the sink's logit */
    bool runs[AV_TWINS];
    double alpha[AV_TWINS]; /* the multiplier at the start, but for what differs between rows */
    /* With learn_scale alpha = unit x, where x is what is learned; or, for
     * swin2, unit exp(min(x, ln 100)). */
    double alpha_unit[AV_TWINS];
    bool alpha_is_exp;
    double lr, clip; /* clip 0: none */
    double input_mean, input_std;
    uint64_t seed;
    struct av_params attention; /* the variant's, of one sequence: n_q = n_k = seq_len, one head, no mask */
};

/* Names of the parameters that an experiment depends on, NULL at the end. */
extern const char *const av_train_listens[];

/* One line about each task, in the order of enum av_task. */
extern const char *const av_task_texts[AV_TASK_COUNT];

/* From parameters whose ranges hold. A variant is as attend.h has it: head 0 of
 * 1, each sequence one matrix of scores, its positions those within it, no
 * mask. AV_USAGE names what a task refuses, recall and copy_previous a seq_len
 * of 1, recall a d_model of 1; and a variant that has no way back, wants
 * another d_k, or makes no sense here. */
enum av_status av_train_configure(struct av_train_config *c, const struct av_params *p, struct av_error *e);

/* What is measured in a step, before its update. */
enum av_train_field {
    AV_TRAIN_LOSS,
    AV_TRAIN_GRAD_NORM,    /* of all learned parameters, before clipping */
    AV_TRAIN_GRAD_QK_NORM, /* of w_q and w_k */
    AV_TRAIN_ENTROPY_NORM, /* from here on: struct av_attention_observed */
    AV_TRAIN_MAX_WEIGHT,
    AV_TRAIN_LOGIT_STD,
    AV_TRAIN_ALPHA,
    AV_TRAIN_D_Q_MEAN,
    AV_TRAIN_D_Q_MEDIAN,
    AV_TRAIN_D_K_MEAN,
    AV_TRAIN_D_K_MEDIAN,
    AV_TRAIN_Q_MEAN,
    AV_TRAIN_Q_VAR,
    AV_TRAIN_K_MEAN,
    AV_TRAIN_K_VAR,
    AV_TRAIN_ROW_SUM,
    AV_TRAIN_FIELDS
};

/* The first AV_TRAIN_COLUMNS fields are what `attnviz train` writes. */
enum { AV_TRAIN_COLUMNS = AV_TRAIN_ALPHA + 1 };

struct av_train_field_info {
    const char *name; /* "grad_norm" */
    const char *text;
};
extern const struct av_train_field_info av_train_fields[AV_TRAIN_FIELDS];

/* NaN where a field is not defined (entropy of single tokens). */
struct av_train_record {
    double at[AV_TRAIN_FIELDS];
};

enum av_train_state { AV_TRAIN_RUNNING, AV_TRAIN_DONE, AV_TRAIN_DIVERGED };

enum { AV_TRAIN_FIRST_STEPS = 100 }; /* of which every single record is kept */

/* What is known of a run. The arrays live as long as the experiment and only
 * grow; a run that diverges keeps them. */
struct av_train_run {
    enum av_train_state state;
    uint64_t steps;                       /* done; when diverged, `steps` + 1 is the step that failed */
    const struct av_train_record *epochs; /* means over the steps of each whole epoch */
    size_t epoch_count;
    const struct av_train_record *first; /* of each of the first steps */
    size_t first_count;
    struct av_train_record last;      /* of the last step */
    double scalars[AV_TRAIN_SCALARS]; /* as they now are; sense have those of av_train_learns */
    uint64_t clipped;                 /* steps behind which qk_clip made w_q and w_k smaller */
};

/* Does a run of this experiment learn that scalar? */
bool av_train_learns(const struct av_train_config *c, enum av_train_scalar scalar);

/* What it is called: in the place of alpha learned.gain, ssmax.sigma or
 * swin2.tau where that is what alpha is made of. */
const char *av_train_scalar_name(const struct av_train_config *c, enum av_train_scalar scalar);

/* Is qk_clip among the rows of its variant? */
bool av_train_clips(const struct av_train_config *c);

struct av_train;

/* The most memory an experiment may take; AV_USAGE when one would take more,
 * told from its sizes alone. */
enum { AV_TRAIN_BYTES_MAX = 64 << 20 };
enum av_status av_train_fits(const struct av_train_config *c, struct av_error *e);

/* Draws the data and the learned matrices. kernels: NULL for the best,
 * borrowed. AV_USAGE when it does not fit. The caller frees it; NULL is fine
 * there. */
enum av_status av_train_new(struct av_train **out, const struct av_train_config *c, const struct av_kernels *kernels,
                            struct av_error *e);
void av_train_free(struct av_train *t);

/* Begins anew with another seed: as av_train_new does for the same config and
 * that seed, in the memory that is there. */
void av_train_restart(struct av_train *t, uint64_t seed);

/* One step of each run that is not at its end: loss, gradients, record, update.
 * False, and nothing done, when there is none. A loss or a gradient that is no
 * finite number ends a run before its update; its twin goes on. Neither
 * allocates nor fails. */
bool av_train_step(struct av_train *t);

/* A part of that: a pass forward, a pass backward or an update, of one run. A
 * step of a large model takes long: keys can be served between its parts. */
bool av_train_advance(struct av_train *t);
bool av_train_whole(const struct av_train *t); /* no step is begun and not ended */

const struct av_train_config *av_train_config(const struct av_train *t);
/* Valid until the next step; a run that was not asked for is DONE and empty. */
const struct av_train_run *av_train_run(const struct av_train *t, enum av_twin twin);
uint64_t av_train_steps(const struct av_train *t);       /* done by the run that is ahead */
uint64_t av_train_steps_total(const struct av_train *t); /* of a run that does not diverge */
size_t av_train_epoch_steps(const struct av_train *t);

/* Of a run that was asked for, between two steps: the weights [seq_len,
 * seq_len], a row is a query, that it now gives to the first sequence of the
 * first epoch, always the same one. No curve changes by looking. */
void av_train_weights(struct av_train *t, enum av_twin twin, float *weights);

/* A learned matrix of such a run, a copy as the formula has it: w_q, w_k, w_v
 * (which: 0, 1, 2) [d_model, d_k], w_o (3) [d_k, d_model]. With sigma_reparam
 * it is the one that is used, gamma W / sigma_max(W). */
void av_train_matrix(const struct av_train *t, enum av_twin twin, int which, float *matrix);

#endif
