/* app_driver.h - the interactive program, driven by keys and read by its screen. */
#ifndef APP_DRIVER_H
#define APP_DRIVER_H

#include "attnviz/actions.h"
#include "attnviz/app.h"
#include "attnviz/keys.h"
#include "attnviz/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Opening ----------------------------------------------------------------- */

static inline struct av_app_config plain_config(void)
{
    struct av_app_config config = { .animation = false, .picture = av_out_svg };
    av_params_default(&config.params);
    return config;
}

/* An app, which the caller frees; the test fails when there is none. */
static inline struct av_app *open_app(const struct av_app_config *config)
{
    struct av_app *app;
    struct av_error e;
    if (av_app_new(&app, config, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return app;
}

static inline struct av_app *open_plain(void)
{
    struct av_app_config config = plain_config();
    return open_app(&config);
}

static inline struct av_app *open_animated(void)
{
    struct av_app_config config = plain_config();
    config.animation = true;
    return open_app(&config);
}

/* ---- Driving ----------------------------------------------------------------- */

/* Calls `each` for every key of a list of their names, with a blank between two. */
static inline void for_keys(const char *keys, void (*each)(uint32_t key, void *ctx), void *ctx)
{
    char name[16];
    for (const char *at = keys; *at != '\0';) {
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        uint32_t key = av_key_parse(name);
        if (key == AV_KEY_NONE) {
            fail_msg("no such key: %s", name);
        }
        each(key, ctx);
        at += len + strspn(at + len, " ");
    }
}

static inline void press_one(uint32_t key, void *app)
{
    av_app_key(app, key);
}

static inline void press(struct av_app *app, const char *keys)
{
    for_keys(keys, press_one, app);
}

/* Goes to the view of that name: by its number key, or by Tab behind the tenth. */
static inline const struct av_view *show(struct av_app *app, const char *name)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(views[i]->name, name) == 0) {
            size_t numbered = i < 9 ? i : 9;
            char key[2] = { (char)(numbered < 9 ? '1' + numbered : '0'), '\0' };
            press(app, key);
            for (size_t tabs = numbered; tabs < i; tabs++) {
                press(app, "Tab");
            }
            return views[i];
        }
    }
    fail_msg("no view %s", name);
    return NULL;
}

/* ---- Reading ----------------------------------------------------------------- */

/* The screen as text; the caller frees it. */
static inline struct av_str screen(struct av_app *app)
{
    struct av_str out = AV_STR_INIT;
    av_out_text(&out, av_app_draw(app));
    assert_false(out.failed);
    return out;
}

static inline void line_of(struct av_app *app, int y, char *out, size_t size)
{
    const struct av_canvas *c = av_app_draw(app);
    struct av_str text = AV_STR_INIT;
    for (int x = 0; x < c->cols; x++) {
        av_str_utf8(&text, av_canvas_at(c, x, y)->code);
    }
    snprintf(out, size, "%s", av_str_text(&text));
    av_str_free(&text);
}

static inline bool shows(struct av_app *app, const char *what)
{
    struct av_str text = screen(app);
    bool found = strstr(av_str_text(&text), what) != NULL;
    av_str_free(&text);
    return found;
}

static inline const struct av_params *params_of(struct av_app *app)
{
    return &av_app_snapshot(app, 0)->params;
}

/* Is it one of the parameters that the screen lists, of the softmax and a
 * single head? */
static inline bool on_list(const struct av_param *row)
{
    return (row->flags & (AV_PARAM_HIDDEN | AV_PARAM_FILES | AV_PARAM_VIEW | AV_PARAM_OWNED)) == 0 &&
           row->offset != offsetof(struct av_params, head);
}

#endif
