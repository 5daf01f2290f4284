/* work.c - what a view computes beside the pipeline, a slice at a time. */
#include "app_state.h"

enum { RATE_MS = 500, PLACES = 256 /* on a screen */ };

const struct av_study *av_work_study(const struct av_app *app)
{
    return app->view->study != NULL ? av_study_find(app->view->study) : NULL;
}

/* What the page in sight does not draw is left for when it is asked for. */
static void limit(const struct av_app *app, const struct av_study *study)
{
    const unsigned *parts = app->view->page_parts;
    int page = app->states[app->view_index].page;
    av_studies_limit(app->studies, study, parts != NULL ? parts[page] : AV_STUDY_ALL);
}

/* A study without a result is no failure of the key after which it was asked:
 * its view says so, and the next key may leave it. */
const void *av_work_result(struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    struct av_error e;
    if (study == NULL) {
        return NULL;
    }
    limit(app, study);
    if (av_studies_ask(app->studies, study, &app->params, &e) != AV_OK) {
        av_app_say(app, "%s", e.text);
        return NULL;
    }
    return av_studies_result(app->studies, study);
}

double av_work_progress(const struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    if (study == NULL) {
        return 1;
    }
    limit(app, study);
    return av_studies_progress(app->studies, study);
}

bool av_work_stopped(const struct av_app *app)
{
    return app->work.halted != NULL && app->work.halted == av_work_study(app);
}

void av_work_toggle(struct av_app *app)
{
    bool unfinished = av_work_result(app) != NULL && av_work_progress(app) < 1;
    app->work.halted = unfinished && !av_work_stopped(app) ? av_work_study(app) : NULL;
}

void av_work_want(struct av_app *app, struct av_rect body)
{
    size_t places[PLACES];
    const struct av_view *view = app->view;
    const void *result = view->wants != NULL ? av_work_result(app) : NULL;
    if (result != NULL) {
        size_t n = view->wants(body, &app->states[app->view_index], result, places, PLACES);
        av_studies_want(app->studies, av_work_study(app), places, n);
    }
}

bool av_app_work(struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    return study != NULL && !av_work_stopped(app) && av_work_result(app) != NULL &&
           av_studies_step(app->studies, study);
}

void av_app_finish(struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    struct av_error e;
    while (av_app_work(app)) {
    }
    enum av_status s = study != NULL ? av_studies_ask(app->studies, study, &app->params, &e) : AV_OK;
    if (s != AV_OK && s != AV_USAGE) {
        av_app_fail(app, s, &e);
    }
}

void av_work_order(struct av_app *app, enum av_work_order order)
{
    const struct av_study *study = av_work_study(app);
    struct av_error e;
    if (study == NULL || order == AV_WORK_NONE) {
        return;
    }
    app->work.halted = NULL;
    if (order == AV_WORK_STEP) {
        while (av_app_work(app) && !av_studies_whole(app->studies, study)) {
        }
        app->work.halted = av_work_progress(app) < 1 ? study : NULL;
        return;
    }
    if (av_studies_restart(app->studies, study, &app->params, &e) != AV_OK) {
        av_app_say(app, "%s", e.text);
    }
}

/* The rate is measured over whole spans of time, so that it can be read; what
 * begins anew or is stopped has none. */
void av_work_tick(struct av_app *app, uint64_t now_ms)
{
    struct av_work *w = &app->work;
    const struct av_study *study = av_work_study(app);
    double progress = av_work_progress(app);
    if (study != w->study || av_work_stopped(app) || progress < w->progress || progress >= 1) {
        *w = (struct av_work){ .halted = w->halted, .study = study, .since = now_ms, .progress = progress };
    } else if (now_ms - w->since >= RATE_MS) {
        w->rate = 1000 * (progress - w->progress) / (double)(now_ms - w->since);
        w->since = now_ms;
        w->progress = progress;
    }
}
