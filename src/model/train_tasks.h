/* train_tasks.h - what is learned: sequences and their targets, by counters. */
#ifndef ATTNVIZ_TRAIN_TASKS_H
#define ATTNVIZ_TRAIN_TASKS_H

#include "attnviz/train.h"

/* Where an epoch's sequences come from. The config and kernels are borrowed. */
struct av_task_source {
    const struct av_train_config *config;
    const struct av_kernels *kernels;
    float *code; /* copy_previous: [seq_len, d_model], added to x at each position; else NULL */
};

enum av_status av_task_source_new(struct av_task_source *s, const struct av_train_config *c,
                                  const struct av_kernels *kernels, struct av_error *e);
void av_task_source_free(struct av_task_source *s);

/* Draws its codes anew, when the config has another seed. */
void av_task_source_draw(const struct av_task_source *s);

/* The first position of a sequence that counts in the loss. */
size_t av_task_first(const struct av_train_config *c);

/* Is the target the input itself? Then av_task_draw wants none. */
bool av_task_is_identity(const struct av_train_config *c);

/* Sequence i of an epoch (0 for data that are not fresh): the model's input x
 * and the target, [seq_len, d_model], `pitch` numbers from row to row. */
void av_task_draw(const struct av_task_source *s, size_t epoch, size_t i, float *x, float *target, size_t pitch);

/* order [n]: the order in which an epoch goes through data that are not fresh. */
void av_task_shuffle(const struct av_train_config *c, size_t epoch, uint32_t *order, size_t n);

/* The learned matrices of every run at the start: w [4 d_k, d_model] as in
 * attention.h. An entry is a pure function of (seed, matrix, row, column) and
 * of the sizes that its spread depends on. scratch: d_k floats. */
void av_train_draw_matrices(const struct av_train_config *c, const struct av_kernels *kernels, float *w, size_t pitch,
                            float *scratch);

#endif
