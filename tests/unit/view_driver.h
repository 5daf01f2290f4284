/* view_driver.h - views drawn from a fake snapshot, and read line by line. */
#ifndef VIEW_DRIVER_H
#define VIEW_DRIVER_H

#include "../../src/draw/panels.h"
#include "canvas_reader.h"
#include "fake_snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A snapshot of the default parameters and these settings, "name=value", NULL at the end. */
static inline void make(struct fake *f, const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; settings != NULL && *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    fake_make(f, &p);
}

#define MAKE(f, ...) make(f, (const char *const[]){ __VA_ARGS__, NULL })

/* The view on a canvas of w x h, which the caller frees. */
static inline struct av_canvas drawn(const char *view, const struct fake *f, int w, int h, bool ascii)
{
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    struct av_view_context ctx = fake_context(f, true);
    av_view_find(view)->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

/* Cells with this code on a line. */
static inline int count(const struct av_canvas *c, int y, uint32_t code)
{
    int n = 0;
    for (int x = 0; x < c->cols; x++) {
        n += av_canvas_at(c, x, y)->code == code;
    }
    return n;
}

static inline void assert_says(const char *view, const struct fake *f, int w, int h, const char *text)
{
    struct av_canvas c = drawn(view, f, w, h, false);
    if (find(&c, text) < 0) {
        fail_msg("%s at %dx%d does not say \"%s\"", view, w, h, text);
    }
    av_canvas_free(&c);
}

#endif
