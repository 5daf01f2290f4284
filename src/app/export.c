/* export.c - the current screen and its numbers as files. */
#include "app_state.h"

#include "attnviz/outfile.h"
#include "attnviz/report_io.h"

#include <stdio.h>
#include <sys/stat.h>

enum { NUMBERS_MAX = 9999 };

struct names {
    char picture[32], numbers[32];
};

/* Is there anything of that name, be it a link to nowhere? */
static bool is_taken(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* The first pair of names of which neither exists; AV_FAILED when all do. */
static enum av_status free_names(struct names *n, struct av_error *e)
{
    for (int i = 1; i <= NUMBERS_MAX; i++) {
        snprintf(n->picture, sizeof n->picture, "attnviz-%03d.svg", i);
        snprintf(n->numbers, sizeof n->numbers, "attnviz-%03d.json", i);
        if (!is_taken(n->picture) && !is_taken(n->numbers)) {
            return AV_OK;
        }
    }
    return av_fail(e, AV_FAILED, "attnviz-%d.svg: all numbers are taken in this folder", NUMBERS_MAX);
}

static enum av_status write_picture(struct av_app *app, const char *path, struct av_error *e)
{
    struct av_str text = AV_STR_INIT;
    app->picture(&text, av_app_draw(app), &app->theme, "attnviz");
    enum av_status s = text.failed ? av_fail_nomem(e, path) : av_outfile_write(path, text.text, text.len, false, e);
    av_str_free(&text);
    return s;
}

static enum av_status write_numbers(struct av_app *app, struct av_model *model, const char *path, struct av_error *e)
{
    struct av_str text = AV_STR_INIT;
    struct av_report_heads heads = { model, app->source, app->params };
    const struct av_snapshot *shown = av_model_snapshot(model);
    enum av_status s = av_report_write(&text, AV_FORMAT_JSON, shown, av_report_model_head, &heads, NULL, e);
    if (s == AV_OK) {
        s = av_outfile_write(path, text.text, text.len, false, e);
    }
    av_str_free(&text);
    return s;
}

/* Everything that both want is computed first: a state that cannot be had
 * leaves no file, and drawing then has nothing to compute that could fail. */
static enum av_status write_both(struct av_app *app, const struct names *n, struct av_error *e)
{
    unsigned needs = AV_REPORT_NEEDS | app->view->needs;
    av_ghost_settle(app); /* a kept state that is due is of other parameters */
    av_app_announce(app, &app->params, needs);
    struct av_model *model;
    enum av_status s = av_app_model(app, &model, e);
    if (s == AV_OK) {
        s = av_model_update(model, &app->params, needs, e);
    }
    if (s == AV_OK) {
        s = av_model_diagnose(model, e);
    }
    if (s == AV_OK && app->picture != NULL) {
        s = write_picture(app, n->picture, e);
    }
    return s == AV_OK ? write_numbers(app, model, n->numbers, e) : s;
}

void av_export(struct av_app *app)
{
    struct names n;
    struct av_error e;
    av_glide_end(app);
    enum av_status s = free_names(&n, &e);
    if (s == AV_OK) {
        s = write_both(app, &n, &e);
    }
    if (s != AV_OK) {
        av_app_fail(app, s, &e);
    } else if (app->picture == NULL) {
        av_app_say(app, "wrote %s", n.numbers);
    } else {
        av_app_say(app, "wrote %s and %s", n.picture, n.numbers);
    }
}
