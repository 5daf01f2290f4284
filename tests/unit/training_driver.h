/* training_driver.h - the study "training", asked about settings as one types them. */
#ifndef TRAINING_DRIVER_H
#define TRAINING_DRIVER_H

#include "attnviz/study.h"
#include "attnviz/training.h"
#include "train_driver.h"

static inline const struct av_study *training(void)
{
    return av_study_find("training");
}

static inline void *opened(void)
{
    void *state = NULL;
    assert_int_equal(training()->open(&state, av_kernels_best(), NULL), AV_OK);
    return state;
}

static inline const struct av_training *result_of(const void *state)
{
    return training()->result(state);
}

/* The default parameters with these settings over them. */
static inline struct av_params params_of(const char *settings)
{
    struct av_params p;
    char text[512];
    av_params_default(&p);
    assert_true(strlen(settings) < sizeof text);
    strcpy(text, settings);
    for (char *at = strtok(text, " "); at != NULL; at = strtok(NULL, " ")) {
        assert_int_equal(av_params_set_text(&p, at, NULL), AV_OK);
    }
    return p;
}

static inline enum av_status begin(void *state, const char *settings)
{
    struct av_params p = params_of(settings);
    struct av_error e = { "" };
    return training()->begin(state, &p, &e);
}

/* Steps of the optimiser, as far as there are any. */
static inline void steps(void *state, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while (training()->step(state) && !training()->whole(state)) {
        }
    }
}

static inline void finish(void *state)
{
    while (training()->step(state)) {
    }
}

/* Begun with these settings and run to the end. */
static inline const struct av_training *finished(void *state, const char *settings)
{
    assert_int_equal(begin(state, settings), AV_OK);
    finish(state);
    return result_of(state);
}

#endif
