/* variants_scene.h - the view "variants", drawn from its study and acted on. */
#ifndef VARIANTS_SCENE_H
#define VARIANTS_SCENE_H

#include "../../src/draw/panels_variants.h"
#include "canvas_reader.h"
#include "variants_driver.h"

enum { OUTSIDE = 'X', CURSOR = 0x25B8 };

struct scene {
    void *study;
    const struct av_variants *result;
    struct av_view_state state;
    bool ascii;
};

static inline const struct av_view *view(void)
{
    return av_view_find("variants");
}

static inline struct scene scene(struct av_params p, bool whole)
{
    struct scene s = { .study = opened() };
    s.result = whole ? finished(s.study, p) : measured(s.study, p);
    return s;
}

/* Drawn into r of a canvas of w x h. */
static inline struct av_canvas drawn_in(const struct scene *s, int w, int h, struct av_rect r)
{
    static const struct av_snapshot snapshot;
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    for (int i = 0; i < w * h; i++) {
        av_canvas_put(&c, i % w, i / w, OUTSIDE, AV_ROLE_TEXT);
    }
    for (int i = 0; i < r.w * r.h; i++) {
        av_canvas_put(&c, r.x + i % r.w, r.y + i / r.w, ' ', AV_ROLE_TEXT);
    }
    const struct av_view_context ctx = {
        .snapshot = &snapshot, .ghost = &ghost, .state = &s->state, .study = s->result, .progress = 1, .full = true
    };
    view()->draw(&c, r, &ctx);
    return c;
}

static inline struct av_canvas drawn(const struct scene *s, int w, int h)
{
    return drawn_in(s, w, h, (struct av_rect){ 0, 0, w, h });
}

static inline void leave(struct scene *s, struct av_canvas *c)
{
    variants()->close(s->study);
    av_canvas_free(c);
}

static inline void assert_says(const struct av_canvas *c, const char *text)
{
    if (find(c, text) < 0) {
        fail_msg("nothing says \"%s\"", text);
    }
}

/* An action of the view, as the app runs it. */
static inline struct av_view_edit act(struct scene *s, const char *key, int w, int h)
{
    static const struct av_snapshot snapshot;
    struct av_view_edit e = { .state = &s->state,
                              .snapshot = &snapshot,
                              .variant = s->result->params.variant,
                              .compare = s->result->params.compare,
                              .variants = s->result->params.variants,
                              .rows = h,
                              .cols = w,
                              .study = s->result };
    for (const struct av_view_action *a = view()->actions; a->key != NULL; a++) {
        if (strcmp(a->key, key) == 0) {
            a->run(&e);
            return e;
        }
    }
    fail_msg("no action has the key %s", key);
    return e;
}

static inline int line_with(const struct av_canvas *c, uint32_t code, int x)
{
    for (int y = 0; y < c->rows; y++) {
        if (av_canvas_at(c, x, y)->code == code) {
            return y;
        }
    }
    return -1;
}

#endif
