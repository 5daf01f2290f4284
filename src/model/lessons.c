/* lessons.c - short training experiments that claims are measured by. */
#include "lessons.h"

#include "attnviz/facts.h"
#include "attnviz/mem.h"

#include <math.h>

enum { UNIT = 2, SEQ_LEN = 16, BATCH = 8, EPOCH_STEPS = 10, EPOCHS = 15 };

/* What differs. */
static const struct {
    enum av_task task;
    size_t d_k, epochs;
    double target; /* a loss between where it starts and where it settles; 0: none */
} plans[AV_LESSONS] = {
    [AV_LESSON_RECONSTRUCT] = { AV_TASK_RECONSTRUCT, 64, 20, 0 },
    [AV_LESSON_AVERAGE_64] = { AV_TASK_AVERAGE, 64, EPOCHS, 0.02 },
    [AV_LESSON_AVERAGE_128] = { AV_TASK_AVERAGE, 128, EPOCHS, 0.02 },
    [AV_LESSON_AVERAGE_256] = { AV_TASK_AVERAGE, 256, EPOCHS, 0.02 },
    [AV_LESSON_AVERAGE_1024] = { AV_TASK_AVERAGE, 1024, 0, 0 },
    [AV_LESSON_RECALL_64] = { AV_TASK_RECALL, 64, EPOCHS, 0.47 },
    [AV_LESSON_RECALL_128] = { AV_TASK_RECALL, 128, EPOCHS, 0.47 },
    [AV_LESSON_RECALL_256] = { AV_TASK_RECALL, 256, EPOCHS, 0.47 },
    [AV_LESSON_COPY_64] = { AV_TASK_COPY_PREVIOUS, 64, EPOCHS, 0.6 },
    [AV_LESSON_COPY_128] = { AV_TASK_COPY_PREVIOUS, 128, EPOCHS, 0.6 },
    [AV_LESSON_COPY_256] = { AV_TASK_COPY_PREVIOUS, 256, EPOCHS, 0.6 },
};

struct lesson {
    struct av_train *train;
    uint64_t seeds[AV_FACT_SEEDS]; /* that are remembered */
    struct av_lesson_outcome outcomes[AV_FACT_SEEDS];
    size_t count, next; /* of them; where the next one goes */
};

struct av_lessons {
    struct lesson lessons[AV_LESSONS];
    enum av_lesson under_way; /* AV_LESSONS: none */
    uint64_t seed;            /* of that */
};

/* ---- Memory -------------------------------------------------------------------- */

static struct av_train_config config_of(enum av_lesson which)
{
    struct av_params p;
    struct av_train_config c;
    av_params_default(&p);
    p.task = plans[which].task;
    p.d_k = (int64_t)plans[which].d_k;
    p.epochs = plans[which].epochs > 0 ? (int64_t)plans[which].epochs : 1;
    if (which != AV_LESSON_RECONSTRUCT) {
        p.d_model = 32;
        p.init = AV_INIT_UNIT;
        p.seq_len = SEQ_LEN;
        p.batch = BATCH;
        p.sequences = plans[which].epochs > 0 ? BATCH * EPOCH_STEPS : BATCH;
        p.lr = 3e-3;
    }
    av_train_configure(&c, &p, NULL); /* refuses none of these */
    return c;
}

enum av_status av_lessons_new(struct av_lessons **out, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_lessons *l = av_alloc(1, sizeof *l);
    enum av_status s = l != NULL ? AV_OK : av_fail_nomem(e, "the lessons");
    *out = NULL;
    for (enum av_lesson i = 0; s == AV_OK && i < AV_LESSONS; i++) {
        const struct av_train_config c = config_of(i);
        s = av_train_new(&l->lessons[i].train, &c, kernels, e);
    }
    if (s != AV_OK) {
        av_lessons_free(l);
        return s;
    }
    av_lessons_stop(l);
    *out = l;
    return AV_OK;
}

void av_lessons_free(struct av_lessons *l)
{
    for (size_t i = 0; l != NULL && i < AV_LESSONS; i++) {
        av_train_free(l->lessons[i].train);
    }
    av_free(l);
}

void av_lessons_stop(struct av_lessons *l)
{
    l->under_way = AV_LESSONS;
}

/* ---- Learning ---------------------------------------------------------------------- */

/* The first whole epoch with a loss of at most `target` ends there. */
static double steps_to(const struct av_train_run *run, double target)
{
    size_t epoch = 1;
    while (epoch < run->epoch_count && !(run->epochs[epoch - 1].at[AV_TRAIN_LOSS] <= target)) {
        epoch++;
    }
    return (double)(epoch * EPOCH_STEPS);
}

static struct av_lesson_outcome outcome_of(enum av_lesson which, const struct av_train *train)
{
    struct av_lesson_outcome o;
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        const struct av_train_run *run = av_train_run(train, i);
        const bool done = run->state == AV_TRAIN_DONE;
        const bool any = run->first_count > 0;
        o.loss[i] = done ? run->epochs[run->epoch_count - 1].at[AV_TRAIN_LOSS] : (double)NAN;
        o.steps[i] = done && plans[which].target > 0 ? steps_to(run, plans[which].target) : (double)NAN;
        o.grad_qk[i] = any ? run->first[0].at[AV_TRAIN_GRAD_QK_NORM] : (double)NAN;
        o.d_q_median[i] = any ? run->first[0].at[AV_TRAIN_D_Q_MEDIAN] : (double)NAN;
    }
    return o;
}

static const struct av_lesson_outcome *remembered(const struct lesson *lesson, uint64_t seed)
{
    for (size_t i = 0; i < lesson->count; i++) {
        if (lesson->seeds[i] == seed) {
            return &lesson->outcomes[i];
        }
    }
    return NULL;
}

static const struct av_lesson_outcome *remember(struct av_lessons *l, enum av_lesson which, uint64_t seed)
{
    struct lesson *lesson = &l->lessons[which];
    const size_t at = lesson->next;
    lesson->seeds[at] = seed;
    lesson->outcomes[at] = outcome_of(which, lesson->train);
    lesson->next = (at + 1) % AV_FACT_SEEDS;
    lesson->count += lesson->count < AV_FACT_SEEDS;
    return &lesson->outcomes[at];
}

const struct av_lesson_outcome *av_lesson_learn(struct av_lessons *l, enum av_lesson which, uint64_t seed, double *part)
{
    struct lesson *lesson = &l->lessons[which];
    const struct av_lesson_outcome *known = remembered(lesson, seed);
    if (known != NULL) {
        return known;
    }
    if (l->under_way != which || l->seed != seed) {
        av_train_restart(lesson->train, seed);
        l->under_way = which;
        l->seed = seed;
    }
    for (int i = 0; i < UNIT; i++) {
        if (!av_train_step(lesson->train)) {
            av_lessons_stop(l);
            return remember(l, which, seed);
        }
    }
    /* The end is found by a step that is none. */
    *part = (double)av_train_steps(lesson->train) / (double)(av_train_steps_total(lesson->train) + UNIT);
    return NULL;
}
