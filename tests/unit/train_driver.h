/* train_driver.h - training experiments from settings as one types them. */
#ifndef TRAIN_DRIVER_H
#define TRAIN_DRIVER_H

#include "attnviz/train.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* "task=recall d_k=8" over the defaults, from the words to the configuration;
 * the status of the first of the three that refuses. */
static inline enum av_status configure(struct av_train_config *c, const char *settings, struct av_error *e)
{
    struct av_params p;
    char text[512];
    av_params_default(&p);
    assert_true(strlen(settings) < sizeof text);
    strcpy(text, settings);
    enum av_status s = AV_OK;
    for (char *word = strtok(text, " "); s == AV_OK && word != NULL; word = strtok(NULL, " ")) {
        s = av_params_set_text(&p, word, e);
    }
    if (s == AV_OK) {
        s = av_params_check(&p, false, e);
    }
    return s == AV_OK ? av_train_configure(c, &p, e) : s;
}

static inline struct av_train *train_of(const char *settings, const struct av_kernels *kernels)
{
    struct av_train_config c;
    struct av_train *t = NULL;
    struct av_error e = { "" };
    if (configure(&c, settings, &e) != AV_OK || av_train_new(&t, &c, kernels, &e) != AV_OK) {
        fail_msg("%s: %s", settings, e.text);
    }
    return t;
}

static inline struct av_train *trained(const char *settings, const struct av_kernels *kernels)
{
    struct av_train *t = train_of(settings, kernels);
    while (av_train_step(t)) {
    }
    return t;
}

#endif
