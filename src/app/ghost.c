/* ghost.c - keeps the present state, for later ones to be seen against it. */
#include "app_state.h"

#include <string.h>

/* Nothing is computed yet: what a burst of keys keeps and drops costs nothing. */
bool av_ghost_has_place(const struct av_app *app)
{
    return !app->lab.on && app->view->study == NULL;
}

void av_ghost_toggle(struct av_app *app)
{
    struct av_keep *keep = &app->keep;
    if (!av_ghost_has_place(app)) {
        av_app_say(app, "not kept: this view does not show kept states");
        return;
    }
    if (app->ghost.on || keep->due) {
        app->ghost.on = false;
        keep->due = false;
        av_app_say(app, "the kept state is dropped");
        return;
    }
    av_glide_end(app);
    keep->due = true;
    keep->needs = app->view->needs | AV_NEED_HISTOGRAM;
    keep->params = app->params;
    av_app_say(app, app->view->compares ? "this state is kept to compare with; c drops it"
                                        : "this state is kept; this view does not show it. c drops it");
}

static void take(struct av_ghost *g, const struct av_snapshot *s)
{
    const double *density = s->now.scale ? s->histogram.scaled : s->histogram.unscaled;
    g->on = true;
    g->now = s->now;
    g->lo = s->histogram.lo;
    g->hi = s->histogram.hi;
    g->bins = density == NULL ? 0 : s->histogram.bins;
    memset(g->density, 0, sizeof g->density);
    if (g->bins > 0) {
        memcpy(g->density, density, g->bins * sizeof *density);
    }
}

void av_ghost_settle(struct av_app *app)
{
    if (!app->keep.due) {
        return;
    }
    struct av_error e;
    const struct av_params *then = &app->keep.params;
    app->keep.due = false;
    av_app_announce(app, then, app->keep.needs);
    enum av_status s = av_model_update(app->model, then, app->keep.needs, &e);
    if (s == AV_OK) {
        take(&app->ghost, av_model_snapshot(app->model));
    } else {
        av_app_fail(app, s, &e);
    }
}
