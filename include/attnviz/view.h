/* view.h - what a view is: a row of a table, a pure drawing, its own actions.
 *
 * A view lives in one file, src/draw/view_<name>.c, which defines
 * `const struct av_view av_view_<name>`; the build collects them into the
 * table by `order`. Drawing is a function of snapshot, options and rectangle
 * to cells: no clock, no allocation, no mutation, no computing. */
#ifndef ATTNVIZ_VIEW_H
#define ATTNVIZ_VIEW_H

#include "attnviz/canvas.h"
#include "attnviz/snapshot.h"
#include "attnviz/variant.h"

/* A kept earlier state to compare with. */
struct av_ghost {
    bool on;
    struct av_summary now;
    size_t bins;
    double lo, hi;
    double density[AV_BINS_MAX]; /* of the state's own scores times alpha */
};

/* What the user has done to a view: the same fields for every view, used as
 * each sees fit and said in its file. Kept per view. */
struct av_view_state {
    int zoom;     /* 0: everything fits; each step doubles a cell's size */
    int row, col; /* first row and column in sight */
    int quantity; /* which of several quantities is drawn */
    int pool;     /* how entries that share a cell are pooled */
    int page;
};

struct av_view_context {
    const struct av_snapshot *snapshot;
    const struct av_ghost *ghost; /* never NULL; look at `on` */
    const struct av_view_state *state;
    const void *study; /* result so far of the view's study, NULL: none, or no memory for it */
    double progress;   /* of the study, 0 .. 1 */
    double rate;       /* of progress, a second; 0 while it is not known */
    bool stopped;      /* the user has stopped the study */
    bool full;         /* the view has the whole body to itself, not a panel in overview */
};

/* What an action of a view may ask of its study. */
enum av_work_order {
    AV_WORK_NONE,
    AV_WORK_STEP,   /* stop, and do one step: units up to where it is whole */
    AV_WORK_RESTART /* begin anew with the same parameters */
};

/* What an action of a view may do: change its state, move the selection. */
struct av_view_edit {
    struct av_view_state *state;
    const struct av_snapshot *snapshot;
    int64_t query, key;                 /* in: the selection; out: the new one */
    int64_t variant, compare, variants; /* in: these parameters; out: their new values */
    int64_t head, layer;                /* the same */
    const struct av_preset *preset;     /* out: a model to be the present one, with its parameters; NULL: none */
    int rows, cols;                     /* cells the view had when last drawn */
    const void *study;                  /* as in the context */
    /* In a view with `lab`: its row of logits, to be changed, and the state of
     * the pipeline, which the row is not part of; elsewhere both are NULL. */
    struct av_logit_list *row;
    const struct av_snapshot *pipeline;
    enum av_work_order work; /* out */
    const char *say;         /* out: for the message line, a constant; NULL: nothing */
    const char *view;        /* out: name of the view to go to; NULL: to stay */
    bool type;               /* out: the logit of `key` is to be typed */
};

struct av_view_action {
    const char *key;  /* "Right", "z", as the help prints them */
    const char *name; /* "zoom-in" */
    const char *help;
    void (*run)(struct av_view_edit *edit);
};

struct av_view {
    const char *name;           /* "scores" */
    const char *title;          /* one line for lists and help */
    int order;                  /* place in the table, tens apart */
    unsigned needs;             /* enum av_need, summed */
    bool compares;              /* shows the kept state beside the present one */
    bool runs;                  /* Space runs and pauses its study; elsewhere it plays d_k */
    const char *study;          /* the study that it draws (study.h), NULL: none */
    const unsigned *page_parts; /* of its result, which parts each page draws; NULL: every page all */
    /* Names of the parameters that change what it shows, NULL at the end;
     * NULL: those of the pipeline, as files and given logits allow. */
    const char *const *listens;
    bool entropies;                         /* shows some with their unit, and listens to entropy_unit besides */
    const char *const *const *page_listens; /* of pages 1, 2 ... (state->page), if they differ; ends with NULL */
    /* Does a parameter that the page listens to change nothing with those? May be NULL. */
    bool (*ignores)(const char *param, const struct av_view_state *state, const struct av_params *p);
    /* Does an action do something on the page? NULL: all of them do. */
    bool (*offers)(const struct av_view_action *action, const struct av_view_state *state);
    bool lab; /* its snapshot is of a row of logits that it edits, not of the pipeline */
    void (*draw)(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);
    /* Places in its study's result that are on the screen, the most wanted first:
     * fills out, of rectangle r, and returns how many, at most `most`. They are computed
     * first, see study.h. May be NULL. */
    size_t (*wants)(struct av_rect r, const struct av_view_state *state, const void *study, size_t *out, size_t most);
    /* A click or wheel at (x, y) of rectangle r: selects what is there. May
     * be NULL. */
    void (*click)(struct av_rect r, int x, int y, struct av_view_edit *edit);
    const struct av_view_action *actions; /* ends with a row of NULLs; may be NULL */
    /* What the screen shows, in plain words: lines for the help, ended by
     * NULL, of paragraphs that end with a full stop; may be NULL. */
    const char *const *about;
};

const struct av_view *const *av_views(size_t *count); /* sorted by order */
const struct av_view *av_view_find(const char *name); /* NULL: unknown */

#endif
