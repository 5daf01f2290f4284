/* saturation_driver.h - the study "saturation", asked and run. */
#ifndef SATURATION_DRIVER_H
#define SATURATION_DRIVER_H

#include "attnviz/saturation.h"
#include "attnviz/study.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The default parameters with these settings, "name=value", NULL at the end. */
static inline struct av_params with(const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    assert_int_equal(av_params_check(&p, false, NULL), AV_OK);
    return p;
}

#define WITH(...) with((const char *const[]){ __VA_ARGS__, NULL })

static inline const struct av_study *saturation(void)
{
    return av_study_find("saturation");
}

/* A state; kernels NULL for the best. The caller closes it. */
static inline void *opened(const struct av_kernels *kernels)
{
    void *state = NULL;
    assert_int_equal(saturation()->open(&state, kernels != NULL ? kernels : av_kernels_best(), NULL), AV_OK);
    return state;
}

static inline const struct av_saturation *begun(void *state, struct av_params p)
{
    assert_int_equal(saturation()->begin(state, &p, NULL), AV_OK);
    return saturation()->result(state);
}

/* All of it. */
static inline const struct av_saturation *finished(void *state, struct av_params p)
{
    const struct av_saturation *r = begun(state, p);
    while (saturation()->step(state)) {
    }
    return r;
}

/* Up to where the present d_k is known. */
static inline const struct av_saturation *present(void *state, struct av_params p)
{
    const struct av_saturation *r = begun(state, p);
    while (!(r->at.known[0] && r->at.known[1])) {
        assert_true(saturation()->step(state));
    }
    return r;
}

#endif
