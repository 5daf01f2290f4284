/* inert.c - which parameters are listed, which do something, and why others do not. */
#include "app_state.h"

#include <stdio.h>
#include <string.h>

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

/* Has any layer of the files several parts? */
static bool any_choice(const struct av_source *source)
{
    bool any = false;
    for (size_t i = 0; source != NULL && i < source->layer_count; i++) {
        any = any || av_source_has_choice(&source->layers[i]);
    }
    return any;
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
    if (row->offset == offsetof(struct av_params, from) && !any_choice(app->source)) {
        return false;
    }
    if (view->listens != NULL) {
        return listens(app, row) && (row->kind != AV_PARAM_LOGITS || view->lab);
    }
    return (row->flags & (AV_PARAM_HIDDEN | AV_PARAM_VIEW)) == 0;
}

/* Is the view about every layer of the files, not the one that is shown? */
static bool of_all_layers(const struct av_app *app)
{
    const struct av_study *study = av_work_study(app);
    return !av_app_of_pipeline(app->view) && study != NULL && study->use_source != NULL && !study->of_entries;
}

/* Why it does not act on what stands in the place of queries and keys: in the
 * layer that is shown, or, of a study of all, in every layer. */
static const char *inert_given(const struct av_app *app, const struct av_param *row)
{
    static const char *const why[AV_PARTS][2] = {
        [AV_PART_SCORES] = { "the file holds scores alone, taken as they are",
                             "the file's scores are shown, taken as they are; `from` chooses" },
        [AV_PART_WEIGHTS] = { "the file holds weights alone", "the file's weights are shown; `from` chooses" },
    };
    bool all = of_all_layers(app), by_hand = app->params.logits.n > 0;
    if (app->source == NULL || by_hand || !(all || av_app_of_pipeline(app->view))) {
        return NULL;
    }
    const struct av_source_layer *layers = app->source->layers;
    const struct av_source_layer *shown = &layers[app->params.layer];
    enum av_from from = (enum av_from)app->params.from;
    bool some = av_source_acts(av_source_from(shown, from), row);
    for (size_t i = 0; all && i < app->source->layer_count; i++) {
        some = some || av_source_acts(av_source_from(&layers[i], from), row);
    }
    return some ? NULL : why[av_source_from(shown, from)][av_source_has_choice(shown)];
}

/* Why `from` has nothing to choose. */
static const char *inert_from(const struct av_app *app)
{
    if (app->source == NULL) {
        return "there is no file to select in";
    }
    if (!any_choice(app->source)) {
        return "the file holds nothing else";
    }
    bool choice = of_all_layers(app) || av_source_has_choice(&app->source->layers[app->params.layer]);
    return choice ? NULL : "the layer holds nothing else";
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
    if (row->offset == offsetof(struct av_params, from)) {
        return inert_from(app);
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
