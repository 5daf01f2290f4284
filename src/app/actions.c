/* actions.c - the table of actions, and the few lines that each one takes. */
#include "attnviz/actions.h"

#include "app_state.h"
#include "attnviz/keys.h"

#include <stdlib.h>
#include <string.h>

/* ---- What the actions do -------------------------------------------------- */

/* An action's step: 1 + enum av_grain, negative for down. */
enum { FINE = 1 + AV_GRAIN_FINE, STEP = 1 + AV_GRAIN_STEP, COARSE = 1 + AV_GRAIN_COARSE };

/* Steps the action's parameter, or the selected one. A step of a named
 * parameter selects it, so that Left and Right go on from there. */
static void run_step(struct av_app *app, const struct av_action *a)
{
    if (a->param != NULL) {
        av_app_select(app, av_param_find(a->param));
    }
    av_app_step(app, av_app_selected(app), a->arg > 0 ? 1 : -1, (enum av_grain)(abs(a->arg) - 1), AV_CHANGE_STEP);
}

static void run_sizes(struct av_app *app, const struct av_action *a)
{
    const struct av_param *n_q = av_param_find("n_q");
    const struct av_param *n_k = av_param_find("n_k");
    const char *inert = av_app_inert(app, n_q);
    if (inert != NULL) {
        av_app_say(app, "n_q and n_k have no effect: %s", inert);
        return;
    }
    struct av_params next = app->params;
    av_param_step(n_q, &next, a->arg, AV_GRAIN_STEP);
    av_param_step(n_k, &next, a->arg, AV_GRAIN_STEP);
    if (next.n_q == app->params.n_q && next.n_k == app->params.n_k) {
        av_app_say(app, "n_q and n_k end here: %.15g .. %.15g", n_q->min, n_q->max);
    }
    av_app_change(app, &next, AV_CHANGE_STEP);
}

/* The list at the right tells what a parameter is; without it the message does. */
static void run_walk(struct av_app *app, const struct av_action *a)
{
    av_app_walk(app, a->arg);
    if (!av_screen_layout(app).panel) {
        const struct av_param *row = av_app_selected(app);
        char range[AV_RANGE_MAX];
        av_app_say(app, "%s: %s (%s)", row->name, row->text, av_app_range(app, row, range));
    }
}

static void run_edit(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_edit_begin(app);
}

static void run_name(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_edit_begin_named(app);
}

static void run_reset(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_app_reset(app, av_app_selected(app));
}

static void run_reset_all(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_app_reset_all(app);
}

static void run_undo(struct av_app *app, const struct av_action *a)
{
    (void)a;
    struct av_kept before;
    av_sweep_stop(app);
    if (av_undo_pop(&app->undo, &before)) {
        av_app_recall(app, &before, AV_CHANGE_PLAY);
    } else {
        av_app_say(app, "nothing to undo");
    }
}

static void run_ghost(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_ghost_toggle(app);
}

static void run_sweep(struct av_app *app, const struct av_action *a)
{
    (void)a;
    if (app->view->runs && av_work_progress(app) >= 1) {
        av_app_say(app, "it is at its end");
    } else if (app->view->runs) {
        av_work_toggle(app);
    } else {
        av_sweep_toggle(app);
    }
}

static void run_next_view(struct av_app *app, const struct av_action *a)
{
    size_t count;
    av_views(&count);
    av_app_show_view(app, app->view_index + (a->arg > 0 ? 1 : count - 1));
}

static void run_view(struct av_app *app, const struct av_action *a)
{
    (void)a;
    size_t count;
    av_views(&count);
    size_t wanted = app->key == '0' ? 9 : app->key - '1';
    if (wanted < count) {
        av_app_show_view(app, wanted);
    } else {
        av_app_say(app, "there are %zu views", count);
    }
}

static void run_theme(struct av_app *app, const struct av_action *a)
{
    av_themes_step(app, a->arg);
}

static void run_reload(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_themes_reload(app);
}

static void run_animation(struct av_app *app, const struct av_action *a)
{
    (void)a;
    app->animation = !app->animation;
    av_glide_end(app);
    av_app_say(app, "animation %s", app->animation ? "on" : "off");
}

static void run_write(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_export(app);
}

static void run_help(struct av_app *app, const struct av_action *a)
{
    (void)a;
    app->mode = AV_MODE_HELP;
    app->help_scroll = 0;
}

static void run_close(struct av_app *app, const struct av_action *a)
{
    (void)a;
    app->mode = AV_MODE_SCREEN;
}

/* With nothing on top of the view: it may itself be on top of the one that was left
 * for it; else what it computes is what can be ended. */
static void run_close_top(struct av_app *app, const struct av_action *a)
{
    (void)a;
    if (!av_app_jump_back(app)) {
        av_work_toggle(app);
    }
}

static void run_scroll(struct av_app *app, const struct av_action *a)
{
    av_help_scroll(app, a->arg);
}

static void run_page(struct av_app *app, const struct av_action *a)
{
    av_help_scroll(app, a->arg * av_help_page(app));
}

static void run_take(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_edit_take(app);
}

static void run_erase(struct av_app *app, const struct av_action *a)
{
    (void)a;
    av_edit_erase(app);
}

static void run_quit(struct av_app *app, const struct av_action *a)
{
    (void)a;
    app->wants.quit = true;
}

static void run_suspend(struct av_app *app, const struct av_action *a)
{
    (void)a;
    app->wants.suspend = true;
}

static void run_repaint(struct av_app *app, const struct av_action *a)
{
    (void)a;
    app->wants.repaint = true;
}

/* ---- The table --------------------------------------------------------------- */

#define SCREEN AV_MODE_SCREEN
#define HELP AV_MODE_HELP
#define EDIT AV_MODE_EDIT
#define ANY (SCREEN | HELP | EDIT)

enum { FAR = 100000 }; /* lines: beyond any end */

/* clang-format off */
static const struct av_action table[] = {
    /* keys, name, group, label, help, modes, param, arg, run */
    { "s", "scale", "the scale and its parameters", "!scale",
      "multiply scores by d_k^-exponent, or not", SCREEN, "scale", STEP, run_step },
    { "d", "d_k-halve", "the scale and its parameters", "d_k",
      "halve d_k", SCREEN, "d_k", -STEP, run_step },
    { "D", "d_k-double", "the scale and its parameters", "d_k",
      "double d_k", SCREEN, "d_k", STEP, run_step },
    { "t", "temperature-down", "the scale and its parameters", "temp",
      "lower the temperature by 5%", SCREEN, "temperature", -STEP, run_step },
    { "T", "temperature-up", "the scale and its parameters", "temp",
      "raise the temperature by 5%", SCREEN, "temperature", STEP, run_step },
    { "o", "offset-down", "the scale and its parameters", "offset",
      "lower the offset of every logit", SCREEN, "offset", -STEP, run_step },
    { "O", "offset-up", "the scale and its parameters", "offset",
      "raise the offset of every logit", SCREEN, "offset", STEP, run_step },
    { "n", "n-halve", "the scale and its parameters", NULL,
      "halve the numbers of queries and keys", SCREEN, NULL, -1, run_sizes },
    { "N", "n-double", "the scale and its parameters", NULL,
      "double the numbers of queries and keys", SCREEN, NULL, 1, run_sizes },
    { "m", "mask", "the scale and its parameters", NULL,
      "next mask", SCREEN, "mask", STEP, run_step },
    { "r", "seed", "the scale and its parameters", "seed",
      "next seed: new queries and keys", SCREEN, "seed", STEP, run_step },
    { "<", "head-previous", "the scale and its parameters", "head",
      "previous head", SCREEN, "head", -STEP, run_step },
    { ">", "head-next", "the scale and its parameters", "head",
      "next head", SCREEN, "head", STEP, run_step },
    { "Space", "play", "the scale and its parameters", "play",
      "play d_k by powers of two and back, or pause; of an experiment: run, or pause", SCREEN, "d_k", 0, run_sweep },

    { "Up", "previous", "the list of parameters", NULL,
      "previous parameter", SCREEN, NULL, -1, run_walk },
    { "Down", "next", "the list of parameters", NULL,
      "next parameter", SCREEN, NULL, 1, run_walk },
    { "Left", "decrease", "the list of parameters", NULL,
      "decrease it by a step: d_k by half, temperature by 5%", SCREEN, NULL, -STEP, run_step },
    { "Right", "increase", "the list of parameters", NULL,
      "increase it by a step: d_k to twice, temperature by 5%", SCREEN, NULL, STEP, run_step },
    { "-", "decrease-fine", "the list of parameters", NULL,
      "decrease it finely: d_k by 1, temperature by 1%", SCREEN, NULL, -FINE, run_step },
    { "+", "increase-fine", "the list of parameters", NULL,
      "increase it finely: d_k by 1, temperature by 1%", SCREEN, NULL, FINE, run_step },
    { "[", "decrease-coarse", "the list of parameters", NULL,
      "decrease it coarsely: d_k eightfold, most by ten steps", SCREEN, NULL, -COARSE, run_step },
    { "]", "increase-coarse", "the list of parameters", NULL,
      "increase it coarsely: d_k eightfold, most by ten steps", SCREEN, NULL, COARSE, run_step },
    { "= Enter", "type", "the list of parameters", NULL,
      "type its value; Enter only where the view has no use for it", SCREEN, NULL, 0, run_edit },
    { ":", "name", "the list of parameters", NULL,
      "type NAME=VALUE, of any parameter: q_std=2", SCREEN, NULL, 0, run_name },
    { "Backspace Delete", "reset", "the list of parameters", NULL,
      "back to its value at the start", SCREEN, NULL, 0, run_reset },
    { "R", "reset-all", "the list of parameters", NULL,
      "all parameters back to the start; the view and the kept state stay", SCREEN, NULL, 0, run_reset_all },
    { "u", "undo", "the list of parameters", NULL,
      "undo the last change", SCREEN, NULL, 0, run_undo },

    { "Enter", "take", "while a value is typed", "!take",
      "take what is typed", EDIT, NULL, 0, run_take },
    { "Esc", "leave", "while a value is typed", "leave",
      "leave the value as it was", EDIT, NULL, 0, run_close },
    { "Backspace Delete", "erase", "while a value is typed", NULL,
      "erase the last character", EDIT, NULL, 0, run_erase },
    { "C-c", "quit-typing", "while a value is typed", NULL,
      "quit at once", EDIT, NULL, 0, run_quit },

    { "Tab", "view-next", "views", "!view",
      "next view", SCREEN, NULL, 1, run_next_view },
    { "S-Tab", "view-previous", "views", NULL,
      "previous view", SCREEN, NULL, -1, run_next_view },
    { "1 2 3 4 5 6 7 8 9 0", "view", "views", NULL,
      "the view of that number, 0 the tenth", SCREEN, NULL, 0, run_view },
    { "c", "compare", "views", "compare",
      "keep this state to compare with, or drop the kept one", SCREEN, NULL, 0, run_ghost },
    { "a", "animation", "views", NULL,
      "animation on or off", SCREEN, NULL, 0, run_animation },
    { "p", "theme-next", "views", NULL,
      "next theme", SCREEN, NULL, 1, run_theme },
    { "P", "theme-previous", "views", NULL,
      "previous theme", SCREEN, NULL, -1, run_theme },
    { "C-r", "theme-reload", "views", NULL,
      "read the theme again", SCREEN, NULL, 0, run_reload },

    { "Up k", "scroll-up", "on this help", NULL,
      "scroll up a line", HELP, NULL, -1, run_scroll },
    { "Down j", "scroll-down", "on this help", "scroll",
      "scroll down a line", HELP, NULL, 1, run_scroll },
    { "PgUp b", "page-up", "on this help", NULL,
      "scroll up a page", HELP, NULL, -1, run_page },
    { "PgDn Space", "page-down", "on this help", "page",
      "scroll down a page", HELP, NULL, 1, run_page },
    { "Home", "top", "on this help", NULL,
      "to the top", HELP, NULL, -FAR, run_scroll },
    { "End", "bottom", "on this help", NULL,
      "to the end", HELP, NULL, FAR, run_scroll },
    { "q Esc ? F1", "close", "on this help", "!close",
      "close the help; any other key closes it too, and acts", HELP, NULL, 0, run_close },

    { "w", "write", "the program", "write",
      "write the screen as SVG and the report of its state as JSON, into this folder", SCREEN, NULL, 0, run_write },
    { "q", "quit", "the program", "quit",
      "close what is on top, or go back; stop what a view computes, or let it go on", SCREEN, NULL, 0, run_quit },
    { "Q C-c", "quit-now", "the program", NULL,
      "quit at once", SCREEN | HELP, NULL, 0, run_quit },
    { "C-l", "repaint", "the program", NULL,
      "paint the whole screen again", ANY, NULL, 0, run_repaint },
    { "C-z", "suspend", "the program", NULL,
      "suspend; fg brings it back", ANY, NULL, 0, run_suspend },
    { "Esc", "close-top", "the program", NULL,
      "close what is on top, or go back; stop what a view computes, or let it go on", SCREEN, NULL, 0, run_close_top },
    { "? F1", "help", "the program", "!help",
      "this help", SCREEN, NULL, 0, run_help },
};
/* clang-format on */

enum { ROWS = sizeof table / sizeof table[0] };

const struct av_action *av_actions(size_t *count)
{
    *count = ROWS;
    return table;
}

bool av_keys_contain(const char *keys, uint32_t key)
{
    char name[16];
    size_t len = strlen(av_key_name(key, name));
    for (const char *at = keys; len > 0 && *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == len && memcmp(at, name, len) == 0) {
            return true;
        }
        at += word + strspn(at + word, " ");
    }
    return false;
}

const struct av_action *av_action_find(uint32_t key, enum av_mode mode)
{
    for (size_t i = 0; i < ROWS; i++) {
        if ((table[i].modes & (unsigned)mode) != 0 && av_keys_contain(table[i].keys, key)) {
            return &table[i];
        }
    }
    return NULL;
}
