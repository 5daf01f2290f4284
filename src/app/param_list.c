/* param_list.c - the parameters on screen: in lines, or as a list at the right. */
#include "app_state.h"

#include "attnviz/model.h"
#include "attnviz/plot.h"
#include "attnviz/utf8.h"

#include <stdio.h>
#include <string.h>

enum {
    GAP = 2,         /* cells between two entries: the selected one's mark and a blank */
    COUNT_W = 11,    /* cells of " more 1/12" and a blank */
    VALUE_MAX = 160, /* of what is being typed */
    TYPED_MOST = 100,
    VALUE_AT = 14, /* of the list: column of the values */
    RULE_W = 2     /* of the list: columns of the rule at its left */
};

/* ---- One entry ----------------------------------------------------------------- */

/* Where an entry stands, counted from the first one. */
struct place {
    size_t param;
    int x, line;
};

/* What stands for the value of a parameter without effect: a size as files or
 * given logits have it, else nothing. */
static void inert_text(const struct av_app *app, const struct av_param *row, char out[VALUE_MAX])
{
    const struct av_snapshot *s = av_model_snapshot(app->model); /* a view of the lab lists no size */
    const struct {
        size_t offset, size;
    } sizes[] = {
        { offsetof(struct av_params, n_q), s->n_q },
        { offsetof(struct av_params, n_k), s->n_k },
        { offsetof(struct av_params, d_k), s->from_logits ? 0 : s->d_k },
    };
    snprintf(out, VALUE_MAX, "-");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (row->offset == sizes[i].offset && sizes[i].size > 0) {
            snprintf(out, VALUE_MAX, "%zu", sizes[i].size);
        }
    }
}

/* What is being typed, of a long text the end. */
static void typed_text(const struct av_editor *ed, char out[VALUE_MAX])
{
    bool cut = ed->len > TYPED_MOST;
    snprintf(out, VALUE_MAX, "%s%.*s_", cut ? "…" : "", (int)TYPED_MOST, ed->text + (cut ? ed->len - TYPED_MOST : 0));
}

/* The value as shown: as it is being typed, or short. */
static void value_text(const struct av_app *app, size_t param, char out[VALUE_MAX])
{
    size_t count;
    const struct av_param *row = &av_params_table(&count)[param];
    if (param == app->selected && app->mode == AV_MODE_EDIT && app->editor.target == AV_EDIT_SELECTED) {
        typed_text(&app->editor, out);
    } else if (av_app_inert(app, row) != NULL) {
        inert_text(app, row, out);
    } else {
        av_param_format_short(row, &app->params, out);
    }
}

/* Draws "name value", or "name‹value›" when it is selected, at (x, y), and
 * notes where that is. The value starts `name_w` cells behind x at least.
 * Returns the column behind it all. */
static int draw_entry(struct av_app *app, size_t param, int x, int y, int name_w)
{
    struct av_canvas *c = &app->canvas;
    size_t count;
    const struct av_param *row = &av_params_table(&count)[param];
    char value[VALUE_MAX];
    value_text(app, param, value);
    bool on = param == app->selected;
    bool inert = av_app_inert(app, row) != NULL;
    int at = av_canvas_text(c, x, y, on ? AV_ROLE_SELECT : AV_ROLE_DIM, row->name);
    do { /* up to the value, all in one colour */
        av_canvas_put(c, at++, y, ' ', on ? AV_ROLE_SELECT : AV_ROLE_TEXT);
    } while (at < x + name_w);
    int end = av_canvas_text(c, at, y, on ? AV_ROLE_SELECT : inert ? AV_ROLE_DIM : AV_ROLE_TEXT, value);
    if (on) {
        av_canvas_put(c, at - 1, y, 0x2039, AV_ROLE_SELECT); /* single angle quotation marks */
        av_canvas_put(c, end, y, 0x203A, AV_ROLE_SELECT);
    }
    if (app->hit_count < AV_HITS_MAX) {
        app->hits[app->hit_count++] = (struct av_hit){ { x, y, end + 1 - x, 1 }, param };
    }
    return end + 1;
}

/* ---- In lines -------------------------------------------------------------------- */

/* Puts the entries one after another; a line is full when the next one does
 * not fit. Their number is at most AV_HITS_MAX. */
static size_t flow(const struct av_app *app, int width, struct place *places)
{
    size_t count, n = 0;
    const struct av_param *table = av_params_table(&count);
    int x = 0, line = 0;
    for (size_t i = 0; i < count && n < AV_HITS_MAX; i++) {
        if (!av_app_listed(app, &table[i])) {
            continue;
        }
        char value[VALUE_MAX];
        value_text(app, i, value);
        int w = 1 + (int)strlen(table[i].name) + 1 + av_utf8_columns(value);
        if (x > 0 && x + w + 1 > width) {
            x = 0;
            line++;
        }
        places[n++] = (struct place){ i, x + 1, line };
        x += w + GAP - 1;
    }
    return n;
}

static int line_count(const struct place *places, size_t n)
{
    return n > 0 ? places[n - 1].line + 1 : 0;
}

int av_param_list_lines(const struct av_app *app, int width)
{
    struct place places[AV_HITS_MAX];
    size_t n = flow(app, width, places);
    return line_count(places, n);
}

static int selected_line(const struct av_app *app, const struct place *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (places[i].param == app->selected) {
            return places[i].line;
        }
    }
    return 0;
}

static void draw_lines(struct av_app *app, struct av_rect r)
{
    struct place places[AV_HITS_MAX];
    size_t n = flow(app, r.w, places);
    if (line_count(places, n) > r.h) {
        n = flow(app, r.w - COUNT_W, places); /* room to say that there are more */
    }
    int at = selected_line(app, places, n), lines = line_count(places, n);
    int first = at < r.h ? 0 : at - r.h + 1, end = r.x; /* end: of the last line in sight */
    for (size_t i = 0; i < n; i++) {
        if (places[i].line >= first && places[i].line < first + r.h) {
            end = draw_entry(app, places[i].param, r.x + places[i].x, r.y + places[i].line - first, 0);
        }
    }
    if (lines > r.h) {
        char count[32];
        snprintf(count, sizeof count, " more %d/%d", at + 1, lines);
        av_plot_fit_right(&app->canvas, end, r.x + r.w - 1, r.y + r.h - 1, AV_ROLE_DIM, count);
    }
}

/* ---- As a list ----------------------------------------------------------------------- */

/* Below the list: what the selected parameter is. */
static void draw_meaning(struct av_app *app, struct av_rect r)
{
    const struct av_param *row = av_app_selected(app);
    char range[AV_RANGE_MAX];
    int lines = av_plot_wrap(&app->canvas, r, AV_ROLE_DIM, row->text);
    struct av_rect rest = { r.x, r.y + lines, r.w, r.h - lines };
    av_plot_wrap(&app->canvas, rest, AV_ROLE_DIM, av_app_range(app, row, range));
}

static void draw_list(struct av_app *app, struct av_rect r)
{
    struct place places[AV_HITS_MAX];
    size_t n = flow(app, 0, places); /* no width: one a line */
    for (int y = r.y; y < r.y + r.h; y++) {
        av_canvas_put(&app->canvas, r.x, y, 0x2502, AV_ROLE_AXIS); /* vertical line */
    }
    r.x += RULE_W;
    r.w -= RULE_W;
    av_canvas_text(&app->canvas, r.x, r.y, AV_ROLE_TITLE, "parameters");
    r.y++;
    r.h--;
    int at = selected_line(app, places, n), lines = line_count(places, n);
    int first = at < r.h ? 0 : at - r.h + 1;
    for (size_t i = 0; i < n; i++) {
        if (places[i].line >= first && places[i].line < first + r.h) {
            draw_entry(app, places[i].param, r.x, r.y + places[i].line - first, VALUE_AT);
        }
    }
    if (lines + 1 < r.h) {
        draw_meaning(app, (struct av_rect){ r.x, r.y + lines + 1, r.w, r.h - lines - 1 });
    }
}

void av_param_list_draw(struct av_app *app, struct av_rect r, bool panel)
{
    if (r.w <= 0 || r.h <= 0) {
        return;
    }
    struct av_rect whole = av_plot_enter(&app->canvas, r);
    if (panel) {
        draw_list(app, r);
    } else {
        draw_lines(app, r);
    }
    av_canvas_clip(&app->canvas, whole);
}
