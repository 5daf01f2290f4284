/* change.c - every way in which parameters change. */
#include "app_state.h"

#include <stdio.h>
#include <string.h>

/* ---- Which parameters do something --------------------------------------- */

/* What the page in sight listens to; NULL: the pipeline's parameters. */
static const char *const *listened(const struct av_app *app)
{
    const char *const *const *pages = app->view->page_listens;
    int page = app->states[app->view_index].page;
    for (int i = 1; pages != NULL && *pages != NULL; i++, pages++) {
        if (i == page) {
            return *pages;
        }
    }
    return app->view->listens;
}

static bool listens(const struct av_app *app, const struct av_param *row)
{
    const struct av_view *view = app->view;
    if (view->ignores != NULL && view->ignores(row->name, &app->states[app->view_index], &app->params)) {
        return false;
    }
    for (const char *const *name = listened(app); *name != NULL; name++) {
        if (strcmp(*name, row->name) == 0) {
            return true;
        }
    }
    return false;
}

/* Does a row of a variant own this parameter that the page in sight listens to? */
static bool owner_is_chosen(const struct av_app *app, const struct av_param *row)
{
    static const char *const names[] = { "variant", "compare", NULL };
    for (size_t i = 0; names[i] != NULL; i++) {
        const struct av_param *variant = av_param_find(names[i]);
        bool seen = app->view->listens != NULL ? listens(app, variant) : (variant->flags & AV_PARAM_VIEW) == 0;
        if (seen && av_variant_owns(i == 0 ? app->params.variant : app->params.compare, row->name)) {
            return true;
        }
    }
    return false;
}

/* Is it the parameter of a variant that the view compares with others? Models
 * have values of their own. */
static bool owner_is_compared(const struct av_app *app, const struct av_param *row)
{
    int64_t set = app->params.variants;
    bool compares = app->view->listens != NULL && listens(app, av_param_find("variants"));
    for (size_t i = 0; compares && i < av_variant_entries(); i++) {
        struct av_variant_entry entry = av_variant_entry(i);
        bool chosen = set == 0 || (set >> i & 1) != 0;
        if (chosen && entry.preset == NULL && av_variant_owns(entry.value, row->name)) {
            return true;
        }
    }
    return false;
}

bool av_app_listed(const struct av_app *app, const struct av_param *row)
{
    const struct av_view *view = app->view;
    if ((row->flags & AV_PARAM_FILES) != 0 && app->source == NULL) {
        return false;
    }
    if ((row->flags & AV_PARAM_OWNED) != 0) { /* it comes with its variant */
        return owner_is_chosen(app, row);
    }
    if (row->offset == offsetof(struct av_params, head) && av_param_max(row, &app->params) < 1) {
        return false; /* there is no choice */
    }
    if (view->listens != NULL) {
        return listens(app, row) && (row->kind != AV_PARAM_LOGITS || view->lab);
    }
    return (row->flags & (AV_PARAM_HIDDEN | AV_PARAM_VIEW)) == 0;
}

/* Why it does not act on what a file holds in the place of queries and keys: in
 * the layer that is shown, or, of a study of all, in every layer. */
static const char *inert_given(const struct av_app *app, const struct av_param *row)
{
    const struct av_study *study = av_work_study(app);
    bool shown = av_app_of_pipeline(app->view), all = study != NULL && study->use_source != NULL;
    bool by_hand = app->params.logits.n > 0;
    if (app->source == NULL || by_hand || (!shown && (!all || study->of_entries))) {
        return NULL;
    }
    const struct av_source_layer *layers = app->source->layers;
    enum av_part from = av_source_from(&layers[app->params.layer]);
    bool some = av_source_acts(from, row);
    for (size_t i = 0; !shown && i < app->source->layer_count; i++) {
        some = some || av_source_acts(av_source_from(&layers[i]), row);
    }
    return some                      ? NULL
           : from == AV_PART_WEIGHTS ? "the file holds weights alone"
                                     : "the file holds scores alone, taken as they are";
}

bool av_app_of_pipeline(const struct av_view *view)
{
    return !view->lab && (view->study == NULL || view->needs != 0);
}

/* Does a file have what it says of the queries and keys that are sampled otherwise? */
static bool of_files(const struct av_app *app, const struct av_param *row)
{
    bool of_head = row->offset == offsetof(struct av_params, head) || (row->flags & AV_PARAM_FILES) != 0;
    bool sampled = row->stale == AV_STAGE_SAMPLE || (row->flags & AV_PARAM_SIZE) != 0;
    return app->source != NULL && sampled && !of_head;
}

/* Is its study about the head, or all heads, of the files? */
static bool study_of_files(const struct av_view *view)
{
    const struct av_study *study = view->study != NULL ? av_study_find(view->study) : NULL;
    return study != NULL && study->use_source != NULL;
}

const char *av_app_inert(const struct av_app *app, const struct av_param *row)
{
    static const char from_files[] = "queries and keys come from files";
    const struct av_view *view = app->view;
    const char *given = inert_given(app, row);
    if (given != NULL) {
        return given;
    }
    if ((row->flags & AV_PARAM_OWNED) != 0) {
        bool chosen = owner_is_chosen(app, row) || owner_is_compared(app, row);
        return chosen ? NULL : "its variant is not chosen";
    }
    bool unit = row->offset == offsetof(struct av_params, entropy_unit);
    bool used = view->listens != NULL ? listens(app, row) : (row->flags & AV_PARAM_VIEW) == 0;
    used = used || (unit && view->entropies);
    if (row->kind == AV_PARAM_LOGITS && !view->lab) {
        return "they are edited in the lab";
    }
    if (!used) {
        return unit ? "no entropy here has a unit (over ln n)" : "not used here";
    }
    if (!av_app_of_pipeline(view)) {
        return study_of_files(view) && of_files(app, row) ? from_files : NULL;
    }
    bool only_one = av_param_max(row, &app->params) < 1;
    if (row->offset == offsetof(struct av_params, head) && only_one) {
        return app->source != NULL ? "the files hold only one" : "there is only one: n_head is 1";
    }
    if ((row->flags & AV_PARAM_FILES) != 0) {
        return app->source == NULL ? "there is no file to select in" : only_one ? "the files hold only one" : NULL;
    }
    bool of_scores = row->stale < AV_STAGE_LOGITS || row->offset == offsetof(struct av_params, scale) ||
                     row->offset == offsetof(struct av_params, exponent) ||
                     row->offset == offsetof(struct av_params, bins);
    if (app->params.logits.n > 0 && of_scores) {
        return "the logits are given";
    }
    return of_files(app, row) ? from_files : NULL;
}

const char *av_app_range(const struct av_app *app, const struct av_param *row, char out[AV_RANGE_MAX])
{
    const char *inert = av_app_inert(app, row);
    if (inert != NULL) {
        snprintf(out, AV_RANGE_MAX, "no effect: %s", inert);
    } else if (row->choices != NULL) {
        size_t len = 0;
        for (size_t i = 0; row->choices[i] != NULL && len < AV_RANGE_MAX; i++) {
            len += (size_t)snprintf(out + len, AV_RANGE_MAX - len, "%s%s", i > 0 ? ", " : "", row->choices[i]);
        }
    } else if (row->kind == AV_PARAM_SEED) {
        snprintf(out, AV_RANGE_MAX, "0 .. 2^64-1");
    } else if (row->kind == AV_PARAM_LOGITS) {
        snprintf(out, AV_RANGE_MAX, "1 to %d numbers a,b,c", AV_LOGITS_MAX);
    } else if (row->kind == AV_PARAM_VARIANT) {
        snprintf(out, AV_RANGE_MAX, "names joined by +, one of a group, or a model: --list variants");
    } else if (row->kind == AV_PARAM_VARIANT_SET) {
        snprintf(out, AV_RANGE_MAX, "all, or names with commas between");
    } else {
        snprintf(out, AV_RANGE_MAX, "%.15g .. %.15g", row->min, av_param_max(row, &app->params));
    }
    return out;
}

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

void av_app_change(struct av_app *app, const struct av_params *next, enum av_change how)
{
    change(app, next, NULL, how);
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
