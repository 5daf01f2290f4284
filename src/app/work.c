/* work.c - what a view computes beside the pipeline, a slice at a time. */
#include "app_state.h"

const struct av_study *av_work_study(const struct av_app *app)
{
    return app->view->study != NULL ? av_study_find(app->view->study) : NULL;
}

const void *av_work_result(struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    struct av_error e;
    if (study == NULL) {
        return NULL;
    }
    enum av_status s = av_studies_ask(app->studies, study, &app->params, &e);
    if (s != AV_OK) {
        av_app_fail(app, s, &e);
        return NULL;
    }
    return av_studies_result(app->studies, study);
}

double av_work_progress(const struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    return study != NULL ? av_studies_progress(app->studies, study) : 1;
}

void av_work_toggle(struct av_app *app)
{
    if (app->work_stopped) {
        app->work_stopped = false;
    } else if (av_work_result(app) != NULL && av_work_progress(app) < 1) {
        app->work_stopped = true;
    }
}

bool av_app_work(struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    return study != NULL && !app->work_stopped && av_work_result(app) != NULL && av_studies_step(app->studies, study);
}

void av_app_finish(struct av_app *app)
{
    while (av_app_work(app)) {
    }
}
