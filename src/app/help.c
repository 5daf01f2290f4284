/* help.c - the help screen, made from the tables of actions, views and parameters. */
#include "app_state.h"

#include "attnviz/wrap.h"

#include <stdio.h>
#include <string.h>

enum {
    KEYS_W = 20,  /* columns of the keys */
    NARROW_W = 40 /* below this width the text stands under its keys */
};

/* Writes lines one below another; `skip` of them are above the window. With
 * `draw` off it only counts. */
struct writer {
    struct av_canvas *c;
    struct av_rect r;
    int line, skip;
    bool draw;
};

static void put(const struct writer *w, int x, enum av_role role, const char *text, size_t len)
{
    int y = w->line - w->skip;
    if (w->draw && y >= 0 && y < w->r.h) {
        av_canvas_textf(w->c, w->r.x + x, w->r.y + y, role, "%.*s", (int)len, text);
    }
}

/* Text from column x on, broken into lines. */
static void paragraph(struct writer *w, int x, const char *text)
{
    do {
        size_t len = av_wrap_piece(text, w->r.w - x - 1);
        put(w, x, AV_ROLE_TEXT, text, len);
        text += len + strspn(text + len, " ");
        w->line++;
    } while (*text != '\0');
}

/* "keys    what they do", the text beside or below. */
static void item(struct writer *w, const char *keys, const char *text)
{
    bool narrow = w->r.w < NARROW_W;
    put(w, 1, AV_ROLE_KEY, keys, strlen(keys));
    w->line += narrow || strlen(keys) + 2 > KEYS_W ? 1 : 0;
    paragraph(w, narrow ? 3 : KEYS_W, text);
}

static void title(struct writer *w, const char *text)
{
    w->line += w->line > 0 ? 1 : 0;
    put(w, 1, AV_ROLE_TITLE, text, strlen(text));
    w->line++;
}

/* ---- What it tells ------------------------------------------------------------- */

static void actions(struct writer *w)
{
    size_t count;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(table[i].group, table[i - 1].group) != 0) {
            title(w, table[i].group);
        }
        item(w, table[i].keys, table[i].help);
    }
}

static void view_actions(struct writer *w, const struct av_view *view)
{
    if (view->actions == NULL || view->actions[0].key == NULL) {
        return;
    }
    char heading[96];
    snprintf(heading, sizeof heading, "in this view, %s", view->name);
    title(w, heading);
    for (const struct av_view_action *a = view->actions; a->key != NULL; a++) {
        item(w, a->key, a->help);
    }
}

/* Its lines are of the source: they flow on up to one that ends a sentence. */
static void view_about(struct writer *w, const struct av_view *view)
{
    if (view->about == NULL) {
        return;
    }
    char text[1024];
    size_t len = 0;
    title(w, "what this view shows");
    for (const char *const *line = view->about; *line != NULL; line++) {
        snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? " " : "", *line);
        len = strlen(text);
        if (line[1] == NULL || text[len - 1] == '.') {
            paragraph(w, 1, text);
            len = 0;
        }
    }
}

static void mouse(struct writer *w)
{
    title(w, "with the mouse");
    item(w, "click", "on a parameter: select it, once more: the next choice; into a view: select what is there");
    item(w, "drag", "from a parameter to the left or right: change it");
    item(w, "wheel", "on a parameter: select and change it; on this help: scroll");
}

static void views(struct writer *w)
{
    size_t count;
    const struct av_view *const *all = av_views(&count);
    title(w, "all views");
    for (size_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof name, "%zu %s", i + 1, all[i]->name);
        item(w, name, all[i]->title);
    }
}

static void parameters(struct writer *w, const struct av_app *app)
{
    size_t count;
    const struct av_param *table = av_params_table(&count);
    title(w, "all parameters");
    for (size_t i = 0; i < count; i++) {
        if (av_app_listed(app, &table[i])) {
            char range[AV_RANGE_MAX];
            char text[256];
            snprintf(text, sizeof text, "%s (%s)", table[i].text, av_app_range(app, &table[i], range));
            item(w, table[i].name, text);
        }
    }
}

static void variants(struct writer *w)
{
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    title(w, "all variants: at most one of each group, joined by +");
    for (size_t i = 0; i < count; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s: %s; %s", av_variant_group_names[rows[i].group], rows[i].formula, rows[i].text);
        item(w, rows[i].name, text);
    }
    const struct av_preset *presets = av_presets_table(&count);
    for (size_t i = 0; i < count; i++) {
        item(w, presets[i].name, presets[i].text);
    }
}

static int write_all(const struct av_app *app, struct writer w)
{
    view_actions(&w, app->view);
    view_about(&w, app->view);
    actions(&w);
    mouse(&w);
    views(&w);
    parameters(&w, app);
    variants(&w);
    return w.line;
}

/* ---- The window ------------------------------------------------------------------ */

int av_help_page(const struct av_app *app)
{
    int h = av_screen_layout(app).body.h;
    return h > 2 ? h - 1 : 1;
}

void av_help_scroll(struct av_app *app, int by)
{
    struct writer w = { .r = av_screen_layout(app).body };
    int most = write_all(app, w) - w.r.h;
    int to = app->help_scroll + by;
    to = to > most ? most : to;
    app->help_scroll = to < 0 ? 0 : to;
}

void av_help_draw(struct av_app *app, struct av_rect r)
{
    av_help_scroll(app, 0); /* the window may have grown */
    write_all(app, (struct writer){ .c = &app->canvas, .r = r, .skip = app->help_scroll, .draw = true });
}
