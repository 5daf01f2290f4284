/* actions.h - the table of actions: what each key does.
 *
 * A row is the only place where a key is bound. Dispatch, the help screen, the
 * bottom line, `--list keys` and the manual are made from it. The current
 * view's own actions (view.h) come after these: a global key always wins, but for
 * Enter, which a view may have for what is under its cursor. */
#ifndef ATTNVIZ_ACTIONS_H
#define ATTNVIZ_ACTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct av_app;

/* Where the keys go. An action may act in several of them. */
enum av_mode {
    AV_MODE_SCREEN = 1, /* a view is on screen */
    AV_MODE_HELP = 2,   /* the help screen is open */
    AV_MODE_EDIT = 4    /* a value is being typed */
};

struct av_action {
    const char *keys;  /* "? F1": names (keys.h), blank between them; any of them */
    const char *name;  /* unique, "temperature-up" */
    const char *group; /* title of its section in the help: "parameters" */
    const char *label; /* on the bottom line, NULL: not there; actions with one label share an
                          entry, "d/D d_k"; after a `!` it stays when others have to go */
    const char *help;  /* one line, no full stop */
    unsigned modes;    /* enum av_mode, summed */
    const char *param; /* the parameter it acts on, NULL: the selected one, or none */
    int arg;           /* for `run`: a direction, an amount */
    void (*run)(struct av_app *app, const struct av_action *action);
};

/* The table in the order of the help, and its number of rows. */
const struct av_action *av_actions(size_t *count);

/* The action of a key in a mode, NULL when it has none. */
const struct av_action *av_action_find(uint32_t key, enum av_mode mode);

/* Is `key` one of the blank-separated names in `keys`? */
bool av_keys_contain(const char *keys, uint32_t key);

#endif
