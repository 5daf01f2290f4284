/* edit.c - typing a value: of the selected parameter, of a named one, of a logit. */
#include "app_state.h"

#include "attnviz/keys.h"

#include <math.h>
#include <string.h>

/* ---- Beginning ------------------------------------------------------------ */

static void begin(struct av_app *app, enum av_edit_target target)
{
    app->mode = AV_MODE_EDIT;
    app->editor.len = 0;
    app->editor.text[0] = '\0';
    app->editor.target = target;
}

void av_edit_begin(struct av_app *app)
{
    const struct av_param *row = av_app_selected(app);
    const char *inert = av_app_inert(app, row);
    if (inert != NULL) {
        av_app_say(app, "%s has no effect: %s", row->name, inert);
        return;
    }
    begin(app, AV_EDIT_SELECTED);
}

void av_edit_begin_named(struct av_app *app)
{
    begin(app, AV_EDIT_NAMED);
}

void av_edit_begin_logit(struct av_app *app)
{
    begin(app, AV_EDIT_LOGIT);
}

/* ---- Taking what was typed -------------------------------------------------- */

/* The logit as typed: a list of one. */
static enum av_status read_logit(struct av_app *app, struct av_params *next, struct av_error *e)
{
    struct av_params typed = { .logits.n = 0 };
    enum av_status s = av_param_parse(av_param_find("logits"), &typed, app->editor.text, NULL);
    if (s != AV_OK || typed.logits.n != 1) {
        return av_fail(e, AV_USAGE, "logit of key %lld: %s is not a finite number", (long long)next->key,
                       app->editor.text);
    }
    next->logits.at[next->key] = typed.logits.at[0];
    return AV_OK;
}

/* Reads a value into next. Other parameters make room for it: fewer keys may
 * move the probed key. */
static enum av_status read_value(struct av_app *app, const struct av_param *row, const char *text,
                                 struct av_params *next, struct av_error *e)
{
    enum av_status s = av_param_parse(row, next, text, e);
    double value = av_param_get(row, next);
    bool ranged = row->kind != AV_PARAM_LOGITS && !isnan(value); /* NaN: auto */
    if (s == AV_OK && ranged && !(value >= row->min && value <= av_param_max(row, &app->params))) {
        char range[AV_RANGE_MAX];
        s = av_fail(e, AV_USAGE, "%s %s: it takes %s", row->name, text, av_app_range(app, row, range));
    }
    if (s != AV_OK) {
        return s;
    }
    av_params_clamp(next);
    return av_params_check(next, app->source != NULL, e);
}

/* "NAME=VALUE", of a parameter that does something here; it is selected then. */
static enum av_status read_named(struct av_app *app, struct av_params *next, struct av_error *e)
{
    char name[sizeof app->editor.text];
    size_t len = strcspn(app->editor.text, "=");
    if (app->editor.text[len] == '\0') {
        return av_fail(e, AV_USAGE, "%s: not of the form NAME=VALUE", app->editor.text);
    }
    memcpy(name, app->editor.text, len);
    name[len] = '\0';
    const struct av_param *row = av_param_find(name);
    if (row == NULL) {
        return av_fail(e, AV_USAGE, "%s: there is no such parameter", name);
    }
    const char *inert = av_app_inert(app, row);
    if (inert != NULL) {
        return av_fail(e, AV_USAGE, "%s has no effect: %s", name, inert);
    }
    enum av_status s = read_value(app, row, app->editor.text + len + 1, next, e);
    if (s == AV_OK && av_app_listed(app, row)) {
        av_app_select(app, row);
    }
    return s;
}

static enum av_status read_typed(struct av_app *app, struct av_params *next, struct av_error *e)
{
    switch (app->editor.target) {
    case AV_EDIT_LOGIT:
        return read_logit(app, next, e);
    case AV_EDIT_NAMED:
        return read_named(app, next, e);
    default:
        return read_value(app, av_app_selected(app), app->editor.text, next, e);
    }
}

/* On an error the text stays, to be mended. Nothing typed: nothing changed. */
void av_edit_take(struct av_app *app)
{
    struct av_error e;
    struct av_params next = app->params;
    if (app->editor.len > 0 && read_typed(app, &next, &e) != AV_OK) {
        av_app_say(app, "%s", e.text);
        return;
    }
    app->mode = AV_MODE_SCREEN;
    av_app_change(app, &next, AV_CHANGE_STEP);
}

/* ---- Characters --------------------------------------------------------------- */

void av_edit_erase(struct av_app *app)
{
    struct av_editor *ed = &app->editor;
    if (ed->len > 0) {
        ed->text[--ed->len] = '\0';
    }
}

/* What a value can be made of, NULL for anything: a command's key that is
 * pressed by mistake shall not become part of a number. */
static const char *alphabet(const struct av_app *app)
{
    static const char *const of_kind[] = {
        [AV_PARAM_INT] = "0123456789+-", [AV_PARAM_REAL] = "0123456789+-.eE",     [AV_PARAM_SEED] = "0123456789",
        [AV_PARAM_CHOICE] = NULL,        [AV_PARAM_LOGITS] = "0123456789+-.eE, ", [AV_PARAM_VARIANT] = NULL,
        [AV_PARAM_VARIANT_SET] = NULL,
    };
    switch (app->editor.target) {
    case AV_EDIT_NAMED:
        return NULL;
    case AV_EDIT_LOGIT:
        return of_kind[AV_PARAM_REAL];
    default:
        return (av_app_selected(app)->flags & AV_PARAM_AUTO) != 0 ? "0123456789+-.eEauto"
                                                                  : of_kind[av_app_selected(app)->kind];
    }
}

/* Every value is written in ASCII. A blank stands between two logits, and means
 * nothing elsewhere. */
void av_edit_key(struct av_app *app)
{
    struct av_editor *ed = &app->editor;
    const char *fits = alphabet(app);
    bool blank_fits = fits == NULL || strchr(fits, ' ') != NULL;
    if (app->key < ' ' || (app->key == ' ' && !blank_fits) || app->key >= AV_KEY_BACKSPACE) {
        return;
    }
    if (fits != NULL && strchr(fits, (int)app->key) == NULL) {
        av_app_say(app, "%c is no part of a number; Enter takes what is typed, Esc leaves", (int)app->key);
    } else if (ed->len + 1 < sizeof ed->text) {
        ed->text[ed->len++] = (char)app->key;
        ed->text[ed->len] = '\0';
    }
}
