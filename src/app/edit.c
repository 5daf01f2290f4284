/* edit.c - typing the value of the selected parameter. */
#include "app_state.h"

#include "attnviz/keys.h"

void av_edit_begin(struct av_app *app)
{
    const struct av_param *row = av_app_selected(app);
    const char *inert = av_app_inert(app, row);
    if (inert != NULL) {
        av_app_say(app, "%s has no effect: %s", row->name, inert);
        return;
    }
    app->mode = AV_MODE_EDIT;
    app->editor.len = 0;
    app->editor.text[0] = '\0';
    app->editor.logit = false;
}

void av_edit_begin_logit(struct av_app *app)
{
    app->mode = AV_MODE_EDIT;
    app->editor.len = 0;
    app->editor.text[0] = '\0';
    app->editor.logit = true;
}

/* The logit as typed: a list of one. */
static enum av_status read_logit(struct av_app *app, struct av_params *next, struct av_error *e)
{
    struct av_params typed = { .logits.n = 0 };
    enum av_status s = av_param_parse(av_param_find("logits"), &typed, app->editor.text, e);
    if (s == AV_OK && typed.logits.n != 1) {
        return av_fail(e, AV_USAGE, "logit of key %lld: it takes one number", (long long)next->key);
    }
    if (s == AV_OK) {
        next->logits.at[next->key] = typed.logits.at[0];
    }
    return s;
}

/* Reads what is typed into next. Other parameters make room for it: fewer keys
 * may move the probed key. */
static enum av_status read_typed(struct av_app *app, struct av_params *next, struct av_error *e)
{
    const struct av_param *row = av_app_selected(app);
    if (app->editor.logit) {
        return read_logit(app, next, e);
    }
    enum av_status s = av_param_parse(row, next, app->editor.text, e);
    double value = av_param_get(row, next);
    if (s == AV_OK && row->kind != AV_PARAM_LOGITS &&
        !(value >= row->min && value <= av_param_max(row, &app->params))) {
        char range[AV_RANGE_MAX];
        s = av_fail(e, AV_USAGE, "%s %s: it takes %s", row->name, app->editor.text, av_app_range(app, row, range));
    }
    if (s != AV_OK) {
        return s;
    }
    av_params_clamp(next);
    return av_params_check(next, app->q != NULL, e);
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

void av_edit_erase(struct av_app *app)
{
    struct av_editor *ed = &app->editor;
    if (ed->len > 0) {
        ed->text[--ed->len] = '\0';
    }
}

/* Every value is written in ASCII. */
void av_edit_key(struct av_app *app)
{
    struct av_editor *ed = &app->editor;
    if (app->key > ' ' && app->key < AV_KEY_BACKSPACE && ed->len + 1 < sizeof ed->text) {
        ed->text[ed->len++] = (char)app->key;
        ed->text[ed->len] = '\0';
    }
}
