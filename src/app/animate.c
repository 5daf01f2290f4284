/* animate.c - what moves by itself: the glide of scale, the sweep of d_k. */
#include "app_state.h"

#include <math.h>

enum { GLIDE_MS = 300, FRAME_MS = 20, SWEEP_MS = 800 };

/* ---- The glide --------------------------------------------------------- */

static double settled_exponent(const struct av_params *p)
{
    return p->scale != 0 ? p->exponent : 0;
}

double av_app_exponent(const struct av_app *app)
{
    return app->glide.on ? app->glide.now : settled_exponent(&app->params);
}

double av_app_alpha(const struct av_app *app)
{
    struct av_params moving = app->params;
    moving.exponent = av_app_exponent(app);
    return av_params_multiplier(&moving, true);
}

/* A glide on its way turns round where it is. */
void av_glide_begin(struct av_app *app, double from)
{
    double to = settled_exponent(&app->params);
    app->glide = (struct av_glide){ .on = app->animation && from != to, .from = from, .to = to, .now = from };
}

void av_glide_end(struct av_app *app)
{
    app->glide.on = false;
}

/* Slow at both ends, so that the eye can take hold: 3 t^2 - 2 t^3. */
static int glide_tick(struct av_glide *g, uint64_t now)
{
    if (!g->on) {
        return -1;
    }
    if (!g->timed) {
        g->timed = true;
        g->start = now;
    }
    uint64_t past = now > g->start ? now - g->start : 0;
    if (past >= GLIDE_MS) {
        g->on = false;
        return -1;
    }
    double t = (double)past / GLIDE_MS;
    g->now = g->from + (g->to - g->from) * t * t * (3 - 2 * t);
    return FRAME_MS;
}

/* ---- The sweep of d_k ---------------------------------------------------- */

static void sweep_to(struct av_app *app, int64_t d_k)
{
    struct av_params next = app->params;
    next.d_k = d_k;
    av_app_change(app, &next, AV_CHANGE_PLAY);
}

/* The power of two above or below d. */
static int64_t next_power(int64_t d, bool up)
{
    int64_t power = 1;
    while (up ? power <= d : 2 * power < d) {
        power *= 2;
    }
    return power;
}

/* Says where it is; under the help and while a value is typed Space is another
 * key, and the line is theirs. */
static void sweep_say(struct av_app *app)
{
    long long d_k = (long long)app->params.d_k;
    if (app->mode != AV_MODE_SCREEN) {
        return;
    }
    if (app->sweep.on) {
        av_app_say(app, "playing d_k %lld   Space pauses", d_k);
    } else {
        av_app_say(app, "played: d_k is back at %lld", d_k);
    }
}

static void sweep_step(struct av_app *app)
{
    struct av_sweep *s = &app->sweep;
    if (s->leg == AV_LEG_UP && app->params.d_k >= AV_DIM_MAX) {
        s->leg = AV_LEG_DOWN;
    } else if (s->leg == AV_LEG_DOWN && app->params.d_k <= 1) {
        s->leg = AV_LEG_HOME;
    }
    int64_t was = app->params.d_k;
    int64_t d_k = next_power(was, s->leg != AV_LEG_DOWN);
    bool home = s->leg == AV_LEG_HOME && d_k >= s->origin;
    sweep_to(app, home ? s->origin : d_k);
    if (s->leg == AV_LEG_DOWN && app->params.d_k == was) {
        s->leg = AV_LEG_HOME; /* a variant that cannot be had with a d_k of 1 */
    }
    if (home) {
        av_sweep_stop(app);
    }
    sweep_say(app);
}

static int sweep_tick(struct av_app *app, uint64_t now)
{
    struct av_sweep *s = &app->sweep;
    if (s->on && !s->timed) {
        s->timed = true;
        s->next = now + SWEEP_MS;
    } else if (s->on && now >= s->next) {
        sweep_step(app);
        s->next = now + SWEEP_MS;
    }
    return s->on ? (int)(s->next - now) : -1;
}

void av_sweep_stop(struct av_app *app)
{
    app->sweep.on = false;
    app->sweep.leg = AV_LEG_NONE;
}

void av_sweep_toggle(struct av_app *app)
{
    struct av_sweep *s = &app->sweep;
    if (s->on) {
        s->on = false;
        av_app_say(app, "paused at d_k %lld   Space goes on", (long long)app->params.d_k);
        return;
    }
    const struct av_param *d_k = av_param_find("d_k");
    const char *inert = av_app_inert(app, d_k);
    if (inert != NULL) {
        av_app_say(app, "%s has no effect: %s", d_k->name, inert);
        return;
    }
    if (s->leg == AV_LEG_NONE) {
        struct av_kept before = av_lab_remember(app);
        av_undo_push(&app->undo, &before, false);
        *s = (struct av_sweep){ .leg = AV_LEG_UP, .origin = app->params.d_k };
    }
    s->on = true;
    s->timed = false;
    av_app_select(app, d_k);
    sweep_step(app);
}

/* ---- Time ---------------------------------------------------------------- */

int av_app_tick(struct av_app *app, uint64_t now_ms)
{
    av_work_tick(app, now_ms);
    int glide = glide_tick(&app->glide, now_ms);
    int sweep = sweep_tick(app, now_ms);
    if (glide < 0 || sweep < 0) {
        return glide > sweep ? glide : sweep;
    }
    return glide < sweep ? glide : sweep;
}

void av_app_settle(struct av_app *app)
{
    av_glide_end(app);
    if (app->sweep.on) {
        av_sweep_stop(app);
        sweep_to(app, app->sweep.origin);
        app->message[0] = '\0'; /* it tells of the playing */
    }
}
