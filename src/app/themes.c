/* themes.c - which theme is on, the next one, the same one again. */
#include "app_state.h"

#include "attnviz/theme_files.h"

#include <stdio.h>
#include <string.h>

/* Takes the theme of that name or path, or says why it cannot. */
static bool load(struct av_app *app, const char *name)
{
    struct av_error e;
    if (av_theme_load(&app->theme, name, &e) != AV_OK) {
        av_app_say(app, "%s", e.text);
        return false;
    }
    app->theme_serial++;
    snprintf(app->theme_name, sizeof app->theme_name, "%s", name);
    return true;
}

void av_themes_begin(struct av_app *app, const char *name)
{
    av_theme_default(&app->theme);
    app->theme_serial = 1;
    snprintf(app->theme_name, sizeof app->theme_name, "%s", AV_THEME_DEFAULT);
    load(app, name != NULL ? name : AV_THEME_DEFAULT);
    memcpy(app->theme_own, app->theme_name, sizeof app->theme_own);
}

/* All themes by name in turn, a path given at the start behind the last. The
 * name moves on also when its file is broken, else that would be the end. */
void av_themes_step(struct av_app *app, int by)
{
    struct av_theme_entry entries[AV_THEME_LIST_MAX];
    size_t named = av_theme_list(entries, AV_THEME_LIST_MAX);
    size_t all = named + (strchr(app->theme_own, '/') != NULL ? 1 : 0);
    size_t at = 0;
    if (all == 0) {
        return;
    }
    while (at < named && strcmp(entries[at].name, app->theme_name) != 0) {
        at++;
    }
    at = (at + (by > 0 ? 1 : all - 1)) % all;
    const char *name = at < named ? entries[at].name : app->theme_own;
    if (load(app, name)) {
        av_app_say(app, "theme %s", app->theme.name);
    } else {
        snprintf(app->theme_name, sizeof app->theme_name, "%s", name);
    }
}

void av_themes_reload(struct av_app *app)
{
    char name[sizeof app->theme_name];
    memcpy(name, app->theme_name, sizeof name);
    if (load(app, name)) {
        av_app_say(app, "theme %s read again", app->theme.name);
    }
}
