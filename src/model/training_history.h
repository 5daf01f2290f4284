/* training_history.h - what is kept of a training experiment, within bounds. */
#ifndef ATTNVIZ_TRAINING_HISTORY_H
#define ATTNVIZ_TRAINING_HISTORY_H

#include "attnviz/training.h"

/* A list of which every stride-th entry is kept. */
struct av_thinned {
    size_t count, stride, capacity;
};

/* Makes room for entry `number`, entries of `size` bytes from `entries` on, as
 * training.h says. Returns where it belongs, NULL when it is not kept. */
void *av_thinned_add(struct av_thinned *list, size_t number, void *entries, size_t size);

/* The records of one curve. */
struct av_training_points {
    struct av_train_record at[AV_TRAINING_POINTS];
};

/* What a study keeps its result's curves in: the epochs of both runs, and both
 * series of the ghost. The first steps lie with the experiment. */
struct av_training_store {
    struct av_training_points epochs[AV_TWINS];
    struct av_training_points ghost[AV_TWINS][AV_TRAINING_SERIES];
};

/* Forgets all moments and makes room for new ones. AV_NOMEM: there are none. */
enum av_status av_training_moments_make(struct av_training *t, struct av_error *e);
void av_training_moments_free(struct av_training *t);

/* Files the weights last looked at under that number. */
void av_training_moments_add(struct av_training *t, enum av_training_series series, size_t number);

/* Takes over what a run has come to since the last call. */
void av_training_follow(struct av_training *t, struct av_training_store *store, enum av_twin twin,
                        const struct av_train_run *run);

/* The experiment as it stands becomes the ghost, unless it has too little. */
void av_training_leave(struct av_training *t, struct av_training_store *store);

#endif
