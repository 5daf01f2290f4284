/* app_state.h - the state of the interactive program, and the parts that work on it.
 *
 * Each part is a file of src/app with one job; app.c puts them together. */
#ifndef ATTNVIZ_APP_STATE_H
#define ATTNVIZ_APP_STATE_H

#include "attnviz/actions.h"
#include "attnviz/app.h"
#include "attnviz/source.h"
#include "attnviz/study.h"
#include "attnviz/variant.h"

#include <stddef.h>

/* ---- State ------------------------------------------------------------ */

/* The toggle of scale in motion: the exponent on its way. */
struct av_glide {
    bool on, timed; /* timed: `start` is known, from the first tick on */
    uint64_t start; /* ms */
    double from, to, now;
};

/* d_k playing through the powers of two: up, down, and back to its origin.
 * Paused it is off with a leg still to go. */
struct av_sweep {
    bool on, timed;
    enum av_leg { AV_LEG_NONE, AV_LEG_UP, AV_LEG_DOWN, AV_LEG_HOME } leg;
    int64_t origin;
    uint64_t next; /* ms */
};

enum { AV_UNDO_MAX = 128 };

/* A state to come back to, in whatever view: parameters whose logits are the
 * lab's row and whose key and query are the pipeline's. In the lab another key
 * and query of the row were selected. */
struct av_kept {
    struct av_params params;
    bool in_lab;
    int64_t row_key, row_query;
};

/* Earlier states, newest at (first + count - 1). */
struct av_undo {
    struct {
        struct av_kept kept;
        bool merge; /* was made by a cursor or a drag: its next move adds to it */
    } ring[AV_UNDO_MAX];
    size_t first, count;
    size_t fresh; /* entries since the last update that succeeded */
};

/* A state to be kept, before it is computed, and what its view needs. */
struct av_keep {
    bool due;
    unsigned needs;
    struct av_params params;
};

/* The lab: a row of logits that is edited by itself, beside the pipeline. In
 * views of the lab the parameters hold the row; in others none, unless the
 * pipeline was given logits too: then it is that row, in every view. */
struct av_lab {
    struct av_model *model; /* NULL: never looked at */
    struct av_logit_list row;
    bool everywhere;
    bool on;            /* the parameters hold the row, the pipeline does not */
    int64_t key, query; /* of the pipeline, meanwhile */
};

/* The study of the current view, at work. */
struct av_work {
    const struct av_study *halted; /* by the user, until the next change; NULL: none */
    const struct av_study *study;  /* whose progress is followed, from `since` on */
    uint64_t since;                /* ms */
    double progress;               /* then */
    double rate;                   /* of progress, a second; 0: not known */
};

/* What is being typed: a value of the selected parameter, NAME=VALUE of any, or
 * the lab's selected logit. */
enum av_edit_target { AV_EDIT_SELECTED, AV_EDIT_NAMED, AV_EDIT_LOGIT };

struct av_editor {
    char text[4096];
    size_t len;
    enum av_edit_target target;
};

/* Where a parameter was drawn, for the mouse. */
struct av_hit {
    struct av_rect r;
    size_t param; /* row of the parameter table */
};

enum { AV_HITS_MAX = 64 };

struct av_app {
    struct av_model *model;
    struct av_params params;          /* as set by the user, checked */
    struct av_params start;           /* what a reset goes back to; its logits are the lab's row */
    struct av_kept shown;             /* what a failed update goes back to */
    struct av_source_tail tail;       /* of the source, as far as the pipeline goes */
    const struct av_source *source;   /* that; NULL without files */
    const struct av_kernels *kernels; /* NULL: the best */
    av_picture picture;
    bool animation;

    const struct av_view *view;
    size_t view_index;
    const struct av_view *back;   /* the view that one of its actions left, Esc goes there; NULL: none */
    struct av_view_state *states; /* one per view */

    struct av_canvas canvas;
    struct av_theme theme;
    unsigned theme_serial;
    char theme_name[256]; /* as it is loaded: a name, or a path */
    char theme_own[256];  /* the one at the start */

    enum av_mode mode;
    uint32_t key;    /* the key being handled */
    size_t selected; /* row of the parameter table */
    struct av_editor editor;
    int help_scroll;
    char message[AV_ERROR_MAX];
    bool notice;           /* the message answers no key: progress goes before it */
    enum av_status status; /* has it to tell of a failure? */

    void (*tell_slow)(void *context);
    void *slow_context;

    struct av_glide glide;
    struct av_sweep sweep;
    struct av_undo undo;
    struct av_ghost ghost;
    struct av_keep keep;

    struct av_lab lab;
    struct av_studies *studies;
    struct av_work work;
    struct av_snapshot unrelated; /* for views that draw nothing of the pipeline */

    struct av_hit hits[AV_HITS_MAX];
    size_t hit_count;
    bool dragging; /* the left button went down on a parameter */
    int drag_x;    /* there, and from then on where the last whole step was taken */

    struct av_app_wants wants;
};

/* ---- app.c ------------------------------------------------------------ */

/* Says that something has failed, and how: av_app_status. */
void av_app_fail(struct av_app *app, enum av_status s, const struct av_error *e);

/* Tells whom it concerns when this update, which is next, will take long. */
void av_app_announce(struct av_app *app, const struct av_params *p, unsigned needs);

/* By itself: there is no view to go back to then. */
void av_app_show_view(struct av_app *app, size_t index);

/* What the current view draws, up to date. */
const struct av_snapshot *av_app_shown(struct av_app *app);

/* The model that the current view draws. AV_NOMEM when there is none yet, and
 * none can be made. */
enum av_status av_app_model(struct av_app *app, struct av_model **model, struct av_error *e);

/* ---- lab.c ------------------------------------------------------------ */

/* Begins with the logits of the parameters, or a row of its own. */
void av_lab_begin(struct av_app *app);

/* Puts the row into the parameters, or takes it out, as the view wants. */
void av_lab_sync(struct av_app *app);

/* Is the row among the parameters now? */
bool av_lab_holds(const struct av_app *app);

/* The state of the pipeline, up to date and at rest. */
const struct av_snapshot *av_lab_pipeline(struct av_app *app);

/* The present state, to come back to. */
struct av_kept av_lab_remember(const struct av_app *app);

/* Of such a state the parameters that the current view has. */
struct av_params av_lab_params(const struct av_app *app, const struct av_kept *kept);

/* What the view does not see, the row or the selection that waits: does it
 * differ from the present one? Makes it the present one. */
bool av_lab_differs(const struct av_app *app, const struct av_kept *kept);
void av_lab_take(struct av_app *app, const struct av_kept *kept);

/* ---- work.c: studies ---------------------------------------------------- */

/* The study of the current view, NULL when it has none. */
const struct av_study *av_work_study(const struct av_app *app);

/* Its result for the present parameters, NULL when there is none. */
const void *av_work_result(struct av_app *app);

/* Tells it what the view shows of it in its rectangle: that is computed first. */
void av_work_want(struct av_app *app, struct av_rect body);

/* How far it is, 0 .. 1. */
double av_work_progress(const struct av_app *app);

/* Has the user stopped it? */
bool av_work_stopped(const struct av_app *app);

/* Stops it, or goes on. */
void av_work_toggle(struct av_app *app);

/* What an action of the view asks of it. */
void av_work_order(struct av_app *app, enum av_work_order order);

/* Time has come to now_ms: how fast is it? */
void av_work_tick(struct av_app *app, uint64_t now_ms);

/* ---- inert.c: which parameters do something ----------------------------- */

/* Does the view draw something of the pipeline? */
bool av_app_of_pipeline(const struct av_view *view);

/* Is this parameter on the list? (head only with files, what a view listens to ...) */
bool av_app_listed(const struct av_app *app, const struct av_param *row);

/* Why a change of this parameter would do nothing, NULL when it does. */
const char *av_app_inert(const struct av_app *app, const struct av_param *row);

/* Its range now, as text, or why it has no effect: writes to out and returns it. */
enum { AV_RANGE_MAX = 96 };
const char *av_app_range(const struct av_app *app, const struct av_param *row, char out[AV_RANGE_MAX]);

/* ---- change.c: parameters --------------------------------------------- */

enum av_change {
    AV_CHANGE_STEP,  /* can be undone by itself */
    AV_CHANGE_MERGE, /* can be undone together with those just before it: a cursor, a drag */
    AV_CHANGE_PLAY   /* cannot be undone: playing, undoing */
};

/* Makes `next` the parameters, dependent values moved into range. */
void av_app_change(struct av_app *app, const struct av_params *next, enum av_change how);

/* The same for a state that was kept, with what the view does not see of it. */
void av_app_recall(struct av_app *app, const struct av_kept *kept, enum av_change how);

/* Steps one parameter, or says why it cannot. */
void av_app_step(struct av_app *app, const struct av_param *row, int count, enum av_grain grain, enum av_change how);

/* Back to the values at the start: one parameter, or all of them. */
void av_app_reset(struct av_app *app, const struct av_param *row);
void av_app_reset_all(struct av_app *app);

const struct av_param *av_app_selected(const struct av_app *app);
void av_app_select(struct av_app *app, const struct av_param *row);

/* Selects the first one of the list, if the selected one is not on it. */
void av_app_select_listed(struct av_app *app);

/* Moves the selection along the list, round its ends. */
void av_app_walk(struct av_app *app, int by);

/* An action of a view, or a click into it: may move the selected query and key. */
void av_app_view_action(struct av_app *app, void (*run)(struct av_view_edit *edit));
void av_app_view_click(struct av_app *app, int x, int y);

/* Goes to the view of that name, as an action of the present one asks. Esc comes back
 * from there, once; the message line says so, behind `say` if that is not NULL. */
void av_app_jump(struct av_app *app, const char *name, const char *say);

/* Goes back to the view that was left so; false: there is none. */
bool av_app_jump_back(struct av_app *app);

/* ---- undo.c ------------------------------------------------------------ */

void av_undo_push(struct av_undo *u, const struct av_kept *kept, bool merge);
void av_undo_close(struct av_undo *u);                    /* nothing adds to the newest entry any more */
bool av_undo_pop(struct av_undo *u, struct av_kept *out); /* false: nothing left */
void av_undo_forget(struct av_undo *u);                   /* entries since the last good update */

/* ---- animate.c ---------------------------------------------------------- */

/* The exponent now in force, on its way or not, and the multiplier d_k^-exponent. */
double av_app_exponent(const struct av_app *app);
double av_app_alpha(const struct av_app *app);
void av_glide_begin(struct av_app *app, double from);
void av_glide_end(struct av_app *app);
void av_sweep_toggle(struct av_app *app); /* plays, pauses, goes on */
void av_sweep_stop(struct av_app *app);   /* d_k stays where it is */

/* ---- edit.c: typing a value --------------------------------------------- */

void av_edit_begin(struct av_app *app);
void av_edit_begin_named(struct av_app *app); /* NAME=VALUE */
void av_edit_begin_logit(struct av_app *app); /* the lab's, at the selected key */
void av_edit_take(struct av_app *app);
void av_edit_erase(struct av_app *app); /* the last character */
void av_edit_key(struct av_app *app);   /* a character, or a key that does nothing here */

/* ---- ghost.c, themes.c, export.c ----------------------------------------- */

bool av_ghost_has_place(const struct av_app *app); /* does the view compare with a kept state? */
void av_ghost_toggle(struct av_app *app);
void av_ghost_settle(struct av_app *app);                   /* computes what is to be kept, as it was then */
void av_themes_begin(struct av_app *app, const char *name); /* NULL: the default */
void av_themes_step(struct av_app *app, int by);
void av_themes_reload(struct av_app *app);
void av_export(struct av_app *app);

/* ---- screen.c, param_list.c, bottom.c, help.c: drawing ------------------- */

/* Where things are. Parts without room have h = 0. */
struct av_screen {
    struct av_rect body, params, bottom;
    bool panel; /* params is a column at the right, one parameter a line */
};

struct av_screen av_screen_layout(const struct av_app *app);
void av_screen_draw(struct av_app *app, const struct av_snapshot *s);

void av_param_list_draw(struct av_app *app, struct av_rect r, bool panel);
int av_param_list_lines(const struct av_app *app, int width); /* lines for all parameters */
void av_bottom_draw(struct av_app *app, struct av_rect r);
void av_help_draw(struct av_app *app, struct av_rect r);
void av_help_scroll(struct av_app *app, int by); /* lines; clamped */
int av_help_page(const struct av_app *app);      /* lines of one page */

#endif
