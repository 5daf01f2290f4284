/* ghost.c - keeps the present state, for later ones to be seen against it. */
#include "app_state.h"

#include <string.h>

void av_ghost_toggle(struct av_app *app)
{
    struct av_ghost *g = &app->ghost;
    if (g->on) {
        g->on = false;
        av_app_say(app, "the kept state is dropped");
        return;
    }
    av_glide_end(app);
    const struct av_snapshot *s = av_app_snapshot(app, app->view->needs | AV_NEED_HISTOGRAM);
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
    av_app_say(app, "this state is kept to compare with; c drops it");
}
