/* builtin_theme.h - the built-in themes, read. */
#ifndef BUILTIN_THEME_H
#define BUILTIN_THEME_H

#include "attnviz/theme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A theme that is built in; the test fails when it cannot be read. */
static inline struct av_theme builtin(const char *name)
{
    struct av_theme t;
    struct av_error e = { "" };
    const char *text = av_theme_builtin_text(name);
    assert_non_null(text);
    if (av_theme_parse(&t, name, text, name, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return t;
}

/* Calls check for each of them. */
static inline void for_each_builtin(void (*check)(const struct av_theme *t))
{
    const char *name;
    size_t count = 0;
    while ((name = av_theme_builtin_name(count)) != NULL) {
        struct av_theme t = builtin(name);
        check(&t);
        count++;
    }
    assert_true(count >= 6);
}

#endif
