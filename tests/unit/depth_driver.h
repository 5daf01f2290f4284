/* depth_driver.h - stacks of layers from settings as one types them. */
#ifndef DEPTH_DRIVER_H
#define DEPTH_DRIVER_H

#include "attnviz/depth.h"
#include "attnviz/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* "layers=3 norm=pre" over the defaults. */
static inline struct av_params depth_params(const char *settings)
{
    struct av_params p;
    struct av_error e = { "" };
    char text[512];
    av_params_default(&p);
    assert_true(strlen(settings) < sizeof text);
    strcpy(text, settings);
    for (char *at = strtok(text, " "); at != NULL; at = strtok(NULL, " ")) {
        if (av_params_set_text(&p, at, &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
    }
    assert_int_equal(av_params_check(&p, false, NULL), AV_OK);
    return p;
}

static inline struct av_depth_config depth_config(const char *settings, bool scale)
{
    struct av_params p = depth_params(settings);
    struct av_depth_config c;
    assert_int_equal(av_depth_configure(&c, &p, scale, NULL), AV_OK);
    return c;
}

/* The stack, done. The caller frees it with av_free. */
static inline struct av_depth_stack *depth_stack(const char *settings, bool scale, const struct av_kernels *kernels)
{
    const struct av_depth_config c = depth_config(settings, scale);
    struct av_depth_stack *s = av_alloc(1, sizeof *s);
    struct av_depth_run *d = NULL;
    assert_non_null(s);
    assert_int_equal(av_depth_new(&d, &c, kernels, NULL), AV_OK);
    while (av_depth_step(d)) {
    }
    *s = *av_depth_stack(d);
    av_depth_free(d);
    return s;
}

#endif
