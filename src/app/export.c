/* export.c - the current screen and its numbers as files. */
#include "app_state.h"

#include "attnviz/outfile.h"
#include "attnviz/report_io.h"

#include <stdio.h>
#include <unistd.h>

enum { NUMBERS_MAX = 9999, NEEDS = AV_NEED_OTHER | AV_NEED_DQ | AV_NEED_THEORY | AV_NEED_HISTOGRAM };

struct names {
    char picture[32], numbers[32];
};

/* The first pair of names of which neither exists; false when all do. */
static bool free_names(struct names *n)
{
    for (int i = 1; i <= NUMBERS_MAX; i++) {
        snprintf(n->picture, sizeof n->picture, "attnviz-%03d.svg", i);
        snprintf(n->numbers, sizeof n->numbers, "attnviz-%03d.json", i);
        if (access(n->picture, F_OK) != 0 && access(n->numbers, F_OK) != 0) {
            return true;
        }
    }
    return false;
}

struct head_source {
    struct av_model *model;
    struct av_params params;
};

/* av_report_head: each head of the files in turn, by the app's own model. */
static const struct av_snapshot *head_snapshot(void *ctx, size_t head, struct av_error *e)
{
    struct head_source *source = ctx;
    source->params.head = (int64_t)head;
    return av_model_update(source->model, &source->params, NEEDS, e) == AV_OK ? av_model_snapshot(source->model) : NULL;
}

static enum av_status write_text(const struct av_str *text, const char *path, struct av_error *e)
{
    if (text->failed) {
        return av_fail_nomem(e, path);
    }
    return av_outfile_write(path, text->text, text->len, false, e);
}

static enum av_status write_both(struct av_app *app, const struct names *n, struct av_error *e)
{
    struct av_str picture = AV_STR_INIT, numbers = AV_STR_INIT;
    enum av_status s = AV_OK;
    if (app->picture != NULL) {
        app->picture(&picture, av_app_draw(app), &app->theme, "attnviz");
        s = write_text(&picture, n->picture, e);
    }
    if (s == AV_OK) {
        struct head_source source = { app->model, app->params };
        s = av_report_write(&numbers, AV_FORMAT_JSON, av_app_refresh(app, NEEDS), head_snapshot, &source, e);
    }
    if (s == AV_OK) {
        s = write_text(&numbers, n->numbers, e);
    }
    av_str_free(&picture);
    av_str_free(&numbers);
    return s;
}

void av_export(struct av_app *app)
{
    struct names n;
    struct av_error e;
    av_glide_end(app);
    if (!free_names(&n)) {
        av_app_say(app, "attnviz-%d.svg: all numbers are taken in this folder", NUMBERS_MAX);
    } else if (write_both(app, &n, &e) != AV_OK) {
        av_app_say(app, "%s", e.text);
    } else if (app->picture == NULL) {
        av_app_say(app, "wrote %s", n.numbers);
    } else {
        av_app_say(app, "wrote %s and %s", n.picture, n.numbers);
    }
}
