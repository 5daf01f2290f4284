/* model_driver.h - models, and parameters for them, for tests. */
#ifndef MODEL_DRIVER_H
#define MODEL_DRIVER_H

#include "attnviz/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ALL_NEEDS = AV_NEED_OTHER | AV_NEED_DQ | AV_NEED_THEORY | AV_NEED_HISTOGRAM };

/* The caller frees it. */
static inline struct av_model *fresh(void)
{
    struct av_model *m;
    struct av_error e;
    assert_int_equal(av_model_new(&m, NULL, &e), AV_OK);
    return m;
}

/* Assignments "name=value", NULL at the end. */
static inline void set(struct av_params *p, const char *const *assignments)
{
    struct av_error e = { "" };
    for (size_t i = 0; assignments[i] != NULL; i++) {
        if (av_params_set_text(p, assignments[i], &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
    }
}

static inline struct av_params params(const char *const *assignments)
{
    struct av_params p;
    av_params_default(&p);
    set(&p, assignments);
    return p;
}

#define PARAMS(...) params((const char *const[]){ __VA_ARGS__, NULL })

static inline const struct av_snapshot *update(struct av_model *m, const struct av_params *p, unsigned needs)
{
    struct av_error e = { "" };
    if (av_model_update(m, p, needs, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return av_model_snapshot(m);
}

static inline void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fmax(fabs(a), fabs(b)))) {
        fail_msg("%.17g is not %.17g to %g", a, b, relative);
    }
}

#endif
