/* app.c - the interactive program: where keys, sizes and time come together. */
#include "app_state.h"

#include "attnviz/fused.h"
#include "attnviz/keys.h"
#include "attnviz/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Life ---------------------------------------------------------------- */

static enum av_status pick_view(struct av_app *app, const char *name, struct av_error *e)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    app->states = av_alloc(count, sizeof *app->states);
    if (app->states == NULL) {
        return av_fail_nomem(e, "the views");
    }
    for (size_t i = 0; i < count; i++) {
        if (name == NULL || strcmp(views[i]->name, name) == 0) {
            av_app_show_view(app, i);
            return AV_OK;
        }
    }
    return av_fail(e, AV_USAGE, "view %s: there is no such view", name);
}

/* Of a head that is cut so many pairs are kept: a key then repaints at once, and
 * its matrices take 24 MiB. */
enum { KEPT_PAIRS = 1 << 20 };

/* From the files, of whose long heads the pipeline has the last queries. */
static enum av_status begin_source(struct av_app *app, const struct av_source *whole, struct av_error *e)
{
    struct av_params *p = &app->params;
    enum av_status s = av_source_tail_make(&app->tail, whole, AV_FUSED_PAIRS, KEPT_PAIRS, e);
    if (s == AV_OK) {
        app->source = &app->tail.source;
        av_model_use_source(app->model, app->source);
        av_studies_use_source(app->studies, whole, app->source);
        av_params_from_source(p, app->source);
        int64_t left_out = (int64_t)app->source->layers[p->layer].left_out;
        p->query = p->query > left_out ? p->query - left_out : 0;
        app->start = av_lab_remember(app).params;
        if (whole->unused != NULL || whole->reading != NULL) {
            av_app_say(app, "%s", whole->unused != NULL ? whole->unused : whole->reading);
            app->notice = true;
        }
    }
    return s;
}

static enum av_status begin(struct av_app *app, const struct av_app_config *config, struct av_error *e)
{
    enum av_status s = pick_view(app, config->view, e);
    if (s == AV_OK) {
        s = av_canvas_resize(&app->canvas, 80, 24, e);
    }
    if (s == AV_OK) {
        s = av_model_new(&app->model, config->kernels, e);
    }
    if (s == AV_OK) {
        s = av_studies_new(&app->studies, config->kernels, e);
    }
    if (s == AV_OK && config->notice != NULL) { /* a guess of the layout, if any, replaces it */
        av_app_say(app, "%s", config->notice);
        app->notice = true;
    }
    if (s == AV_OK && config->source != NULL) {
        s = begin_source(app, config->source, e);
    }
    if (s == AV_OK) {
        struct av_params pipeline = app->params;
        pipeline.logits.n = app->lab.on ? 0 : pipeline.logits.n;
        s = av_model_update(app->model, &pipeline, app->lab.on ? 0 : app->view->needs, e);
    }
    app->shown = av_lab_remember(app);
    /* Start on the first parameter that can be changed; there always is one. */
    while (av_app_inert(app, av_app_selected(app)) != NULL) {
        av_app_walk(app, 1);
    }
    return s;
}

enum av_status av_app_new(struct av_app **out, const struct av_app_config *config, struct av_error *e)
{
    struct av_app *app = av_alloc(1, sizeof *app);
    *out = NULL;
    if (app == NULL) {
        return av_fail_nomem(e, "the program's state");
    }
    app->params = config->params;
    app->start = config->params;
    app->kernels = config->kernels;
    app->picture = config->picture;
    app->animation = config->animation;
    app->canvas.ascii = config->ascii;
    app->mode = AV_MODE_SCREEN;
    av_themes_begin(app, config->theme);
    av_lab_begin(app);
    enum av_status s = begin(app, config, e);
    if (s != AV_OK) {
        av_app_free(app);
        return s;
    }
    *out = app;
    return AV_OK;
}

void av_app_free(struct av_app *app)
{
    if (app != NULL) {
        av_studies_free(app->studies);
        av_model_free(app->lab.model);
        av_model_free(app->model);
        av_canvas_free(&app->canvas);
        av_source_tail_free(&app->tail);
        av_free(app->states);
        av_free(app);
    }
}

/* ---- The model ------------------------------------------------------------- */

/* Multiply-adds of a third of a second on a desktop's processor. */
static const double slow_cost = 1.2e9;

void av_app_on_slow(struct av_app *app, void (*tell)(void *context), void *context)
{
    app->tell_slow = tell;
    app->slow_context = context;
}

void av_app_announce(struct av_app *app, const struct av_params *p, unsigned needs)
{
    if (app->tell_slow != NULL && av_model_cost(app->model, p, needs) > slow_cost) {
        app->tell_slow(app->slow_context);
    }
}

enum av_status av_app_model(struct av_app *app, struct av_model **model, struct av_error *e)
{
    enum av_status s = AV_OK;
    if (app->lab.on && app->lab.model == NULL) {
        s = av_model_new(&app->lab.model, app->kernels, e);
    }
    *model = app->lab.on ? app->lab.model : app->model;
    return s;
}

static enum av_status update(struct av_app *app, unsigned needs, struct av_error *e)
{
    struct av_model *model;
    enum av_status s = av_app_model(app, &model, e);
    if (s != AV_OK) {
        return s;
    }
    if (!app->lab.on) {
        av_app_announce(app, &app->params, needs);
    }
    if (app->glide.on) {
        return av_model_glide(model, &app->params, needs, av_app_alpha(app), e);
    }
    return av_model_update(model, &app->params, needs, e);
}

/* The parameters go back to what they were when they could be had. The view is
 * another one perhaps: without the lab's model, there is no lab. */
static void go_back(struct av_app *app, unsigned needs)
{
    struct av_error e;
    if (app->lab.on && app->lab.model == NULL) {
        av_app_show_view(app, 0);
    }
    app->params = av_lab_params(app, &app->shown);
    av_lab_take(app, &app->shown);
    av_params_clamp(&app->params);
    av_sweep_stop(app);
    av_glide_end(app);
    av_undo_forget(&app->undo);
    /* The state that stood has its numbers still; at worst what a view wants
     * beyond them is missing. */
    update(app, needs, &e);
}

const struct av_snapshot *av_app_snapshot(struct av_app *app, unsigned needs)
{
    struct av_error e;
    enum av_status s = update(app, needs, &e);
    if (s == AV_OK) {
        app->shown = av_lab_remember(app);
        app->undo.fresh = 0;
    } else {
        av_app_fail(app, s, &e);
        go_back(app, needs);
    }
    return av_model_snapshot(app->lab.on ? app->lab.model : app->model);
}

/* A view that draws nothing of the pipeline does not wait for it. */
const struct av_snapshot *av_app_shown(struct av_app *app)
{
    if (app->view->lab || av_app_of_pipeline(app->view)) {
        return av_app_snapshot(app, app->view->needs);
    }
    app->unrelated = *av_model_snapshot(app->model);
    app->unrelated.params = app->params;
    app->unrelated.n_q = (size_t)app->params.n_q;
    app->unrelated.n_k = (size_t)app->params.n_k;
    app->unrelated.d_k = (size_t)app->params.d_k;
    return &app->unrelated;
}

/* ---- Keys and mouse ---------------------------------------------------------- */

void av_app_say(struct av_app *app, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(app->message, sizeof app->message, fmt, args);
    va_end(args);
    app->notice = false;
}

void av_app_fail(struct av_app *app, enum av_status s, const struct av_error *e)
{
    app->status = s;
    av_app_say(app, "%s", e->text);
}

enum av_status av_app_status(const struct av_app *app)
{
    return app->status;
}

const char *av_app_message(const struct av_app *app)
{
    return app->message;
}

void av_app_show_view(struct av_app *app, size_t index)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    app->view_index = index % count;
    app->view = views[app->view_index];
    app->back = NULL;
    av_lab_sync(app);
    av_app_select_listed(app);
}

static const struct av_view_action *view_action(const struct av_view *view, uint32_t key)
{
    for (const struct av_view_action *a = view->actions; a != NULL && a->key != NULL; a++) {
        if (av_keys_contain(a->key, key)) {
            return a;
        }
    }
    return NULL;
}

/* Enter is the view's where it has a use for it: `=` types as well. */
static bool is_views_own(const struct av_app *app, uint32_t key)
{
    return key == AV_KEY_ENTER && app->mode == AV_MODE_SCREEN && view_action(app->view, key) != NULL;
}

/* A key that is not in the table: the view's, or nobody's. */
static void other_key(struct av_app *app)
{
    const struct av_view_action *a = view_action(app->view, app->key);
    if (a != NULL) {
        av_app_view_action(app, a->run);
        return;
    }
    char name[16];
    av_app_say(app, "%s does nothing here; ? shows the keys", av_key_name(app->key, name));
}

/* A drag begins or ends: what came before it and what follows is undone apart. */
static void set_dragging(struct av_app *app, bool on, int x)
{
    if (on || app->dragging) {
        av_undo_close(&app->undo);
    }
    app->dragging = on;
    app->drag_x = x;
}

void av_app_key(struct av_app *app, uint32_t key)
{
    app->key = key;
    app->message[0] = '\0';
    app->status = AV_OK;
    set_dragging(app, false, 0);
    const struct av_action *action = av_action_find(key, app->mode);
    if (action == NULL && app->mode == AV_MODE_HELP) {
        /* The help tells of a key, the key is tried: out of the way. */
        app->mode = AV_MODE_SCREEN;
        action = av_action_find(key, app->mode);
    }
    if (action != NULL && !is_views_own(app, key)) {
        action->run(app, action);
    } else if (app->mode == AV_MODE_EDIT) {
        av_edit_key(app);
    } else {
        other_key(app);
    }
}

static bool inside(struct av_rect r, int x, int y)
{
    return x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
}

static const struct av_hit *hit_at(const struct av_app *app, int x, int y)
{
    for (size_t i = 0; i < app->hit_count; i++) {
        if (inside(app->hits[i].r, x, y)) {
            return &app->hits[i];
        }
    }
    return NULL;
}

/* Columns that the pointer moves for a step. What doubles, and a choice, would
 * run through all its values within a hand's breadth. */
static int columns_a_step(const struct av_param *row)
{
    return row->how == AV_STEP_DOUBLE || row->kind == AV_PARAM_CHOICE ? 4 : 1;
}

/* Whole steps are taken, the rest of the way counts for the next one. */
static void drag(struct av_app *app, int x)
{
    const struct av_param *row = av_app_selected(app);
    int columns = columns_a_step(row);
    int steps = (x - app->drag_x) / columns;
    if (steps != 0) {
        av_app_step(app, row, steps, AV_GRAIN_STEP, AV_CHANGE_MERGE);
        app->drag_x += steps * columns;
    }
}

/* The first press on a switch selects it, the next one turns it. What was
 * typed into it is dropped, and no more. */
static void press(struct av_app *app, const struct av_hit *hit, int x, int y)
{
    set_dragging(app, hit != NULL, x);
    if (hit != NULL) {
        bool again = hit->param == app->selected && app->mode == AV_MODE_SCREEN;
        app->selected = hit->param;
        if (again && av_app_selected(app)->kind == AV_PARAM_CHOICE) {
            av_app_step(app, av_app_selected(app), 1, AV_GRAIN_STEP, AV_CHANGE_MERGE);
        }
    } else if (inside(av_screen_layout(app).body, x, y)) {
        av_app_view_click(app, x, y);
    }
    app->mode = AV_MODE_SCREEN;
}

static void wheel(struct av_app *app, const struct av_hit *hit, int by)
{
    if (hit != NULL) {
        set_dragging(app, false, 0);
        app->mode = AV_MODE_SCREEN;
        app->selected = hit->param;
        av_app_step(app, av_app_selected(app), by, AV_GRAIN_STEP, AV_CHANGE_STEP);
    }
}

void av_app_mouse(struct av_app *app, enum av_mouse_kind kind, int x, int y)
{
    int turn = kind == AV_MOUSE_WHEEL_UP ? 1 : kind == AV_MOUSE_WHEEL_DOWN ? -1 : 0;
    const struct av_hit *hit = hit_at(app, x, y);
    if (app->mode == AV_MODE_HELP) {
        av_help_scroll(app, -3 * turn);
    } else if (kind == AV_MOUSE_PRESS) {
        app->message[0] = '\0';
        press(app, hit, x, y);
    } else if (turn != 0) {
        wheel(app, hit, turn);
    } else if (app->dragging) {
        app->message[0] = '\0';
        drag(app, x);
    } else if (hit == NULL && inside(av_screen_layout(app).body, x, y)) {
        av_app_view_click(app, x, y);
    }
}

/* ---- Size and picture --------------------------------------------------------- */

enum av_status av_app_resize(struct av_app *app, int cols, int rows)
{
    struct av_error e;
    enum av_status s = AV_OK;
    cols = cols < 1 ? 1 : cols;
    rows = rows < 1 ? 1 : rows;
    if (cols != app->canvas.cols || rows != app->canvas.rows) {
        s = av_canvas_resize(&app->canvas, cols, rows, &e);
    }
    if (s != AV_OK) {
        av_app_fail(app, s, &e);
    }
    app->hit_count = 0;
    return s;
}

const struct av_canvas *av_app_draw(struct av_app *app)
{
    av_ghost_settle(app);
    av_screen_draw(app, av_app_shown(app));
    return &app->canvas;
}

const struct av_theme *av_app_theme(const struct av_app *app)
{
    return &app->theme;
}

unsigned av_app_theme_serial(const struct av_app *app)
{
    return app->theme_serial;
}

struct av_app_wants av_app_wants(struct av_app *app)
{
    struct av_app_wants wants = app->wants;
    app->wants = (struct av_app_wants){ false, false, false };
    return wants;
}
