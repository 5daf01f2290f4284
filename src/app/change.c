/* change.c - every way in which parameters change. */
#include "app_state.h"

#include <stdio.h>
#include <string.h>

/* ---- Changing -------------------------------------------------------------- */

/* Do all rows have equal values? */
static bool same(const struct av_params *a, const struct av_params *b)
{
    size_t list = offsetof(struct av_params, logits);
    return memcmp(a, b, list) == 0 && !av_param_differs(av_param_find("logits"), a, b);
}

/* Can the variant be had? One that was chosen at another layer of a file may be
 * more than this one takes. */
static enum av_status check_variant(const struct av_app *app, const struct av_params *to, struct av_error *e)
{
    bool chosen = to->variant != app->params.variant;
    enum av_status s = AV_OK;
    if (app->source != NULL && chosen && to->variant != app->start.variant) {
        s = av_source_check(&app->source->layers[to->layer], 1, to, e);
    }
    return s == AV_OK ? av_variant_check(to->variant, to, e) : s;
}

/* kept: where `next` comes from, NULL when it is new. */
static void change(struct av_app *app, const struct av_params *next, const struct av_kept *kept, enum av_change how)
{
    struct av_params to = *next;
    struct av_error e;
    if (app->source != NULL) {
        av_params_from_source(&to, app->source); /* another layer may have other sizes */
    }
    av_params_clamp(&to);
    if (same(&to, &app->params) && (kept == NULL || !av_lab_differs(app, kept))) {
        return;
    }
    if (to.logits.n == 0 && check_variant(app, &to, &e) != AV_OK) {
        av_app_say(app, "%s", e.text);
        return;
    }
    if (how != AV_CHANGE_PLAY) {
        struct av_kept before = av_lab_remember(app);
        av_undo_push(&app->undo, &before, how == AV_CHANGE_MERGE);
        if (to.d_k != app->params.d_k) {
            av_sweep_stop(app);
        }
    }
    double from = av_app_exponent(app);
    bool toggled = to.scale != app->params.scale;
    app->params = to;
    app->work.halted = NULL;
    if (kept != NULL) {
        av_lab_take(app, kept);
    }
    if (av_lab_holds(app)) {
        app->lab.row = to.logits;
    }
    if (toggled) {
        av_glide_begin(app, from);
    } else if (app->glide.on && app->glide.to != (to.scale != 0 ? to.exponent : 0)) {
        av_glide_end(app);
    }
}

/* Says so when the layer that is shown has not what `from` was set to. */
static void tell_from(struct av_app *app)
{
    const struct av_source_layer *l = app->source != NULL ? &app->source->layers[app->params.layer] : NULL;
    enum av_from from = (enum av_from)app->params.from;
    static const char *const names[AV_PARTS] = {
        [AV_PART_Q] = "q.k", [AV_PART_SCORES] = "scores", [AV_PART_WEIGHTS] = "weights"
    };
    if (l != NULL && !av_source_has(l, from)) {
        av_app_say(app, "from=%s: layer %zu has none; shown as by auto: %s", av_param_find("from")->choices[from],
                   l->number, names[av_source_from(l, from)]);
    }
}

void av_app_change(struct av_app *app, const struct av_params *next, enum av_change how)
{
    bool chosen = next->from != app->params.from;
    change(app, next, NULL, how);
    if (chosen) {
        tell_from(app);
    }
}

void av_app_recall(struct av_app *app, const struct av_kept *kept, enum av_change how)
{
    struct av_params next = av_lab_params(app, kept);
    change(app, &next, kept, how);
}

void av_app_step(struct av_app *app, const struct av_param *row, int count, enum av_grain grain, enum av_change how)
{
    const char *inert = av_app_inert(app, row);
    if (inert != NULL) {
        av_app_say(app, "%s has no effect: %s", row->name, inert);
        return;
    }
    struct av_params next = app->params;
    av_param_step(row, &next, count, grain);
    if (same(&next, &app->params)) {
        char range[AV_RANGE_MAX];
        av_app_range(app, row, range);
        if (row->kind == AV_PARAM_LOGITS) {
            av_app_say(app, "%s: %s; = types them", row->name, range);
        } else {
            av_app_say(app, "%s ends here: %s", row->name, range);
        }
        return;
    }
    av_app_change(app, &next, how);
}

/* Copies one value: all but the list of logits are 8 bytes wide. */
static void copy_value(const struct av_param *row, struct av_params *to, const struct av_params *from)
{
    size_t size = row->kind == AV_PARAM_LOGITS ? sizeof to->logits : sizeof(int64_t);
    memcpy((char *)to + row->offset, (const char *)from + row->offset, size);
}

void av_app_reset(struct av_app *app, const struct av_param *row)
{
    struct av_params next = app->params;
    copy_value(row, &next, &app->start);
    av_app_change(app, &next, AV_CHANGE_STEP);
}

void av_app_reset_all(struct av_app *app)
{
    const struct av_kept start = { .params = app->start };
    av_sweep_stop(app);
    av_app_recall(app, &start, AV_CHANGE_STEP);
    av_app_say(app, "all parameters as at the start; u undoes");
}

/* ---- The list -------------------------------------------------------------- */

const struct av_param *av_app_selected(const struct av_app *app)
{
    size_t count;
    return &av_params_table(&count)[app->selected];
}

void av_app_select(struct av_app *app, const struct av_param *row)
{
    size_t count;
    app->selected = (size_t)(row - av_params_table(&count));
}

void av_app_select_listed(struct av_app *app)
{
    if (!av_app_listed(app, av_app_selected(app))) {
        app->selected = 0;
        while (!av_app_listed(app, av_app_selected(app))) {
            app->selected++; /* no view lists nothing */
        }
    }
}

void av_app_walk(struct av_app *app, int by)
{
    size_t count;
    const struct av_param *table = av_params_table(&count);
    do {
        app->selected = (app->selected + (by > 0 ? 1 : count - 1)) % count;
    } while (!av_app_listed(app, &table[app->selected]));
}

/* ---- Views ------------------------------------------------------------------ */

/* What a view may edit, with the selection as it is; *next becomes the
 * parameters. The snapshot is brought up to date first: a view looks up rows
 * and keys in it. */
static struct av_view_edit begin_edit(struct av_app *app, struct av_params *next)
{
    const struct av_snapshot *s = av_app_shown(app);
    struct av_rect body = av_screen_layout(app).body;
    return (struct av_view_edit){
        .state = &app->states[app->view_index],
        .snapshot = s,
        .query = app->params.query,
        .key = app->params.key,
        .variant = app->params.variant,
        .compare = app->params.compare,
        .variants = app->params.variants,
        .head = app->params.head,
        .layer = app->params.layer,
        .rows = body.h,
        .cols = body.w,
        .study = av_work_result(app),
        .row = av_lab_holds(app) && app->view->lab ? &next->logits : NULL,
        .pipeline = app->view->lab ? av_lab_pipeline(app) : NULL,
    };
}

static void show_named(struct av_app *app, const char *name)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    size_t at = 0;
    while (at + 1 < count && strcmp(views[at]->name, name) != 0) {
        at++;
    }
    av_app_show_view(app, at);
}

void av_app_jump(struct av_app *app, const char *name, const char *say)
{
    const struct av_view *from = app->view;
    show_named(app, name);
    app->back = from;
    av_app_say(app, "%s%sEsc: back to %s", say != NULL ? say : "", say != NULL ? "; " : "", from->name);
}

bool av_app_jump_back(struct av_app *app)
{
    if (app->back == NULL) {
        return false;
    }
    show_named(app, app->back->name);
    return true;
}

/* A moved selection can be undone together with the next one's move, a row
 * that was edited, or a variant that was chosen, by itself; a model with all
 * that it sets in one step. */
static void end_edit(struct av_app *app, struct av_params *next, const struct av_view_edit *edit)
{
    static const char *const chosen[] = { "logits", "variant", "compare", "variants", AV_ALL_OWNED, NULL };
    next->query = edit->query;
    next->key = edit->key;
    next->variant = edit->variant;
    next->compare = edit->compare;
    next->variants = edit->variants;
    next->head = edit->head;
    next->layer = edit->layer;
    if (edit->preset != NULL) {
        av_preset_apply(edit->preset, next);
    }
    bool edited = av_params_differ(chosen, &app->params, next);
    av_app_change(app, next, edited ? AV_CHANGE_STEP : AV_CHANGE_MERGE);
    if (edit->say != NULL) {
        av_app_say(app, "%s", edit->say);
    }
    av_work_order(app, edit->work);
    if (edit->view != NULL) {
        av_app_jump(app, edit->view, edit->say);
    }
    av_app_select_listed(app);
    if (edit->type) {
        av_edit_begin_logit(app);
    }
}

void av_app_view_action(struct av_app *app, void (*run)(struct av_view_edit *edit))
{
    struct av_params next = app->params;
    struct av_view_edit edit = begin_edit(app, &next);
    run(&edit);
    end_edit(app, &next, &edit);
}

void av_app_view_click(struct av_app *app, int x, int y)
{
    if (app->view->click != NULL) {
        struct av_params next = app->params;
        struct av_view_edit edit = begin_edit(app, &next);
        app->view->click(av_screen_layout(app).body, x, y, &edit);
        end_edit(app, &next, &edit);
    }
}
