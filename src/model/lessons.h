/* lessons.h - short training experiments that claims are measured by.
 *
 * All memory is made once. A lesson learned with a seed is remembered, so that
 * several claims can ask about it. */
#ifndef ATTNVIZ_LESSONS_H
#define ATTNVIZ_LESSONS_H

#include "attnviz/train.h"

/* The first is that of `attnviz train`, over fewer epochs. The others have
 * d_model 32, unit init, 16 tokens, batches of 8 fresh sequences, lr 3e-3 and
 * 150 steps; those at d_k 1024 end with their first step. */
enum av_lesson {
    AV_LESSON_RECONSTRUCT,
    AV_LESSON_AVERAGE_64,
    AV_LESSON_AVERAGE_128,
    AV_LESSON_AVERAGE_256,
    AV_LESSON_AVERAGE_1024,
    AV_LESSON_RECALL_64,
    AV_LESSON_RECALL_128,
    AV_LESSON_RECALL_256,
    AV_LESSON_COPY_64,
    AV_LESSON_COPY_128,
    AV_LESSON_COPY_256,
    AV_LESSONS
};

struct av_lesson_outcome {
    double loss[AV_TWINS]; /* mean of the last epoch (ten steps where data are fresh); NaN when it diverged */
    /* Steps, in tens, until the mean loss of ten is at most 0.02 (average), 0.47
     * (recall), 0.6 (copy_previous): above where it settles at any d_k; all that
     * were done where it is not reached; NaN in the other lessons, or diverged. */
    double steps[AV_TWINS];
    double grad_qk[AV_TWINS];    /* norm of the gradient of w_q and w_k at the first step */
    double d_q_median[AV_TWINS]; /* median over tokens of the norm of the gradient of q, at the first step */
};

struct av_lessons;

/* kernels are borrowed. The caller frees it; NULL is fine there. */
enum av_status av_lessons_new(struct av_lessons **out, const struct av_kernels *kernels, struct av_error *e);
void av_lessons_free(struct av_lessons *l);

/* Drops what is under way; what is remembered stays. */
void av_lessons_stop(struct av_lessons *l);

/* The outcome of a lesson, valid until the next call; NULL when it is not at
 * its end: then a few steps were done, and *part is how much of it, 0 .. 1. One
 * lesson is under way at a time. */
const struct av_lesson_outcome *av_lesson_learn(struct av_lessons *l, enum av_lesson which, uint64_t seed,
                                                double *part);

#endif
