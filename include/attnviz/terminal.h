/* terminal.h - the live terminal. Its .c file is the only one that sees curses. */
#ifndef ATTNVIZ_TERMINAL_H
#define ATTNVIZ_TERMINAL_H

#include "attnviz/app.h"
#include "attnviz/out.h"

struct av_terminal_config {
    enum av_depth depth; /* at most: what the terminal cannot do is not asked of it */
    bool mouse;
};

/* Runs the app on the terminal of this process: AV_OK when the user quit,
 * AV_FAILED when there is no terminal, none that can be drawn on, or it hung
 * up, AV_NOMEM. A signal that ends programs does not return: it is raised
 * again. The terminal is restored on every way out. */
enum av_status av_terminal_run(struct av_app *app, const struct av_terminal_config *config, struct av_error *e);

#endif
