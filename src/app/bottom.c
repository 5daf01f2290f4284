/* bottom.c - the last line: what was just said, else the keys that matter now. */
#include "app_state.h"

#include "attnviz/keys.h"
#include "attnviz/plot.h"
#include "attnviz/utf8.h"

#include <stdio.h>
#include <string.h>

enum { GAP = 2, KEYS_MAX = 64, ENTRIES_MAX = 64 };

/* One entry: "d/D d_k". */
struct entry {
    char keys[KEYS_MAX];
    const char *label;
};

/* The first of the keys of a row. */
static void add_key(struct entry *e, const char *keys)
{
    size_t len = strlen(e->keys);
    snprintf(e->keys + len, sizeof e->keys - len, "%s%.*s", len > 0 ? "/" : "", (int)strcspn(keys, " "), keys);
}

static int width_of(const struct entry *e)
{
    return (int)(av_utf8_len(e->keys) + 1 + av_utf8_len(e->label));
}

/* The actions of the mode that have a label; neighbours that share it are one
 * entry. The view's own come behind the first, the scale. */
static size_t collect(const struct av_app *app, struct entry *entries)
{
    size_t count, n = 0;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count && n < ENTRIES_MAX; i++) {
        const struct av_action *a = &table[i];
        if (a->label == NULL || (a->modes & (unsigned)app->mode) == 0) {
            continue;
        }
        if (n == 0 || strcmp(entries[n - 1].label, a->label) != 0) {
            entries[n++] = (struct entry){ "", a->label };
        }
        add_key(&entries[n - 1], a->keys);
        const struct av_view_action *own = n == 1 && app->mode == AV_MODE_SCREEN ? app->view->actions : NULL;
        for (; own != NULL && own->key != NULL && n < ENTRIES_MAX; own++) {
            entries[n] = (struct entry){ "", own->name };
            add_key(&entries[n++], own->key);
        }
    }
    return n;
}

static int draw_entry(struct av_app *app, int x, int y, const struct entry *e)
{
    x = av_canvas_text(&app->canvas, x, y, AV_ROLE_KEY, e->keys);
    return av_canvas_text(&app->canvas, x + 1, y, AV_ROLE_DIM, e->label);
}

/* Whole entries from the left as long as they fit, and always the last one:
 * it leads to all others. */
static int draw_keys(struct av_app *app, struct av_rect r)
{
    struct entry entries[ENTRIES_MAX];
    size_t n = collect(app, entries);
    int x = r.x + 1, right = r.x + r.w;
    int last = width_of(&entries[n - 1]);
    for (size_t i = 0; i + 1 < n && x + width_of(&entries[i]) + GAP + last < right; i++) {
        x = draw_entry(app, x, r.y, &entries[i]) + GAP;
    }
    if (x + last <= right) {
        x = draw_entry(app, x, r.y, &entries[n - 1]) + GAP;
    } else if (last <= r.w) {
        x = draw_entry(app, r.x, r.y, &entries[n - 1]) + GAP;
    }
    return x;
}

/* While typing on a screen too small for the list: what is being typed. */
static int draw_typed(struct av_app *app, struct av_rect r)
{
    if (app->mode != AV_MODE_EDIT || app->canvas.rows > 2) {
        return r.x;
    }
    const char *name = av_app_selected(app)->name;
    return av_canvas_textf(&app->canvas, r.x, r.y, AV_ROLE_SELECT, "%s %s_", name, app->editor.text) + 1;
}

void av_bottom_draw(struct av_app *app, struct av_rect r)
{
    if (r.w <= 0 || r.h <= 0) {
        return;
    }
    int x = draw_typed(app, r);
    r.w -= x - r.x;
    r.x = x;
    if (app->message[0] != '\0') {
        av_canvas_text(&app->canvas, r.x + (r.x == 0 ? 1 : 0), r.y, AV_ROLE_MESSAGE, app->message);
        return;
    }
    x = draw_keys(app, r);
    if (app->mode == AV_MODE_EDIT) {
        struct av_str range = AV_STR_INIT;
        av_app_range(app, av_app_selected(app), &range);
        av_plot_fit_right(&app->canvas, x, r.x + r.w - 1, r.y, AV_ROLE_DIM, av_str_text(&range));
        av_str_free(&range);
    }
}
