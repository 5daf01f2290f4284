/* bottom.c - the last line: what was just said, else the keys that matter now. */
#include "app_state.h"

#include "attnviz/keys.h"
#include "attnviz/plot.h"
#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GAP = 2, KEYS_MAX = 64, LABEL_MAX = 32, ENTRIES_MAX = 64 };

/* One entry: "d/D d_k". */
struct entry {
    char keys[KEYS_MAX];
    char label[LABEL_MAX];
    bool kept; /* stays when others have to go */
};

struct entries {
    struct entry at[ENTRIES_MAX];
    size_t count;
};

/* Adds the first of the keys to the entry of that label among those from
 * `first` on, or makes a new one. */
static void add(struct entries *all, size_t first, const char *keys, const char *label, size_t label_len, bool kept)
{
    size_t i = first;
    while (i < all->count &&
           (strlen(all->at[i].label) != label_len || memcmp(all->at[i].label, label, label_len) != 0)) {
        i++;
    }
    if (i == ENTRIES_MAX) {
        return;
    }
    struct entry *e = &all->at[i];
    if (i == all->count) {
        *e = (struct entry){ .kept = kept };
        snprintf(e->label, sizeof e->label, "%.*s", (int)label_len, label);
        all->count++;
    }
    size_t len = strlen(e->keys);
    snprintf(e->keys + len, sizeof e->keys - len, "%s%.*s", len > 0 ? "/" : "", (int)strcspn(keys, " "), keys);
}

/* A view's actions are called by their names up to the hyphen: zoom-in and
 * zoom-out are one entry. */
static void add_view(struct entries *all, const struct av_app *app)
{
    const struct av_view *view = app->view;
    size_t first = all->count;
    for (const struct av_view_action *a = view->actions; a != NULL && a->key != NULL; a++) {
        if (view->offers == NULL || view->offers(a, &app->states[app->view_index])) {
            add(all, first, a->key, a->name, strcspn(a->name, "-"), false);
        }
    }
}

/* The label now, NULL for none: a key that would do nothing is not offered,
 * and while d_k plays, its key is the one to stop it. */
static const char *label_of(const struct av_app *app, const struct av_action *a)
{
    if (app->view->runs && strcmp(a->name, "play") == 0) {
        return av_work_progress(app) < 1 && !av_work_stopped(app) ? "!pause" : "!run";
    }
    bool idle = a->param != NULL && av_app_inert(app, av_param_find(a->param)) != NULL;
    bool placeless = strcmp(a->name, "compare") == 0 && !av_ghost_has_place(app);
    if (idle || placeless) {
        return NULL;
    }
    return app->sweep.on && strcmp(a->name, "play") == 0 ? "!pause" : a->label;
}

/* The actions of the mode that have a label. The view's own come behind the
 * first of them, the scale, or where that means nothing, before all. */
static void collect(const struct av_app *app, struct entries *all)
{
    size_t count;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_action *a = &table[i];
        const char *label = label_of(app, a);
        if (i == 0 && label == NULL && app->mode == AV_MODE_SCREEN) {
            add_view(all, app);
        }
        if (label == NULL || (a->modes & (unsigned)app->mode) == 0) {
            continue;
        }
        bool kept = label[0] == '!';
        label += kept ? 1 : 0;
        add(all, 0, a->keys, label, strlen(label), kept);
        if (i == 0 && app->mode == AV_MODE_SCREEN) {
            add_view(all, app);
        }
    }
}

static int width_of(const struct entry *e)
{
    return av_utf8_columns(e->keys) + 1 + av_utf8_columns(e->label) + GAP;
}

/* Cells of the kept entries from i on. */
static int kept_from(const struct entries *all, size_t i)
{
    int width = 0;
    for (; i < all->count; i++) {
        width += all->at[i].kept ? width_of(&all->at[i]) : 0;
    }
    return width;
}

static int draw_entry(struct av_app *app, int x, int y, const struct entry *e)
{
    x = av_canvas_text(&app->canvas, x, y, AV_ROLE_KEY, e->keys);
    return av_canvas_text(&app->canvas, x + 1, y, AV_ROLE_DIM, e->label) + GAP;
}

/* Whole entries only. The kept ones always, of the others as many from the
 * left as leave room for them. Where the kept ones do not all fit, only the
 * last is one: it leads to all keys. */
static int draw_keys(struct av_app *app, struct av_rect r)
{
    struct entries all = { .count = 0 };
    collect(app, &all);
    int x = r.x + 1, right = r.x + r.w + GAP;
    for (size_t i = 0; i + 1 < all.count && x + kept_from(&all, 0) > right; i++) {
        all.at[i].kept = false;
    }
    x -= x + kept_from(&all, 0) > right ? 1 : 0; /* every cell counts now */
    bool full = false;
    for (size_t i = 0; i < all.count; i++) {
        const struct entry *e = &all.at[i];
        full = full || x + width_of(e) + kept_from(&all, i + 1) > right;
        if (!full || (e->kept && x + width_of(e) <= right)) {
            x = draw_entry(app, x, r.y, e);
        }
    }
    return x;
}

/* While typing what the list does not show, on a small screen or a logit: what
 * is being typed. */
static int draw_typed(struct av_app *app, struct av_rect r)
{
    const struct av_editor *ed = &app->editor;
    if (app->mode != AV_MODE_EDIT || (app->canvas.rows > 2 && ed->target == AV_EDIT_SELECTED)) {
        return r.x;
    }
    if (ed->target == AV_EDIT_LOGIT) {
        long long key = (long long)app->params.key;
        return av_canvas_textf(&app->canvas, r.x + 1, r.y, AV_ROLE_SELECT, "logit of key %lld, now %.6g: %s_", key,
                               app->params.logits.at[key], ed->text) +
               1;
    }
    if (ed->target == AV_EDIT_NAMED) {
        return av_canvas_textf(&app->canvas, r.x + 1, r.y, AV_ROLE_SELECT, "NAME=VALUE: %s_", ed->text) + 1;
    }
    const char *name = av_app_selected(app)->name;
    return av_canvas_textf(&app->canvas, r.x, r.y, AV_ROLE_SELECT, "%s %s_", name, ed->text) + 1;
}

enum { PROGRESS_MAX = 64 };

/* How far the view's study is; "" when it is done or tells so by itself. */
static void tell_progress(const struct av_app *app, char text[PROGRESS_MAX])
{
    double progress = av_work_progress(app);
    char left[24] = "";
    text[0] = '\0';
    if (progress >= 1 || app->mode != AV_MODE_SCREEN || app->view->runs) {
        return;
    }
    if (app->work.rate > 0) {
        snprintf(left, sizeof left, ", %.0f s left", ceil(fmin((1 - progress) / app->work.rate, 1e6)));
    }
    snprintf(text, PROGRESS_MAX, "%s %.0f%%%s · Esc %s", av_work_stopped(app) ? "stopped at" : "working",
             floor(100 * progress), left, av_work_stopped(app) ? "goes on" : "stops");
}

/* Progress stands at the right; returns the width that is left. Where there is no room
 * for it beside what was said, the answer to a key stays, and a notice waits. */
static int draw_progress(struct av_app *app, struct av_rect r, const char **message)
{
    char text[PROGRESS_MAX];
    tell_progress(app, text);
    const int taken = *message[0] != '\0' ? 1 + (int)av_utf8_len(*message) + GAP : 0;
    if (taken + (int)av_utf8_len(text) > r.w && text[0] != '\0') {
        if (taken > 0 && !app->notice) {
            return r.w;
        }
        *message = "";
    }
    return text[0] == '\0'
               ? r.w
               : av_plot_fit_right(&app->canvas, r.x, r.x + r.w - 1, r.y, AV_ROLE_MESSAGE, text) - GAP - r.x;
}

void av_bottom_draw(struct av_app *app, struct av_rect r)
{
    if (r.w <= 0 || r.h <= 0) {
        return;
    }
    const char *message = app->message;
    r.w = draw_progress(app, r, &message);
    int x = draw_typed(app, r);
    r.w -= x - r.x;
    r.x = x;
    if (message[0] != '\0') {
        av_canvas_text(&app->canvas, r.x + (r.x == 0 ? 1 : 0), r.y, AV_ROLE_MESSAGE, message);
        return;
    }
    x = draw_keys(app, r);
    if (app->mode == AV_MODE_EDIT && app->editor.target == AV_EDIT_SELECTED) {
        char range[AV_RANGE_MAX];
        av_app_range(app, av_app_selected(app), range);
        av_plot_fit_right(&app->canvas, x, r.x + r.w - 1, r.y, AV_ROLE_DIM, range);
    }
}
