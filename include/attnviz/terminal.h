/* terminal.h - the live terminal. Its .c file is the only one that sees curses. */
#ifndef ATTNVIZ_TERMINAL_H
#define ATTNVIZ_TERMINAL_H

#include "attnviz/app.h"
#include "attnviz/out.h"

struct av_terminal_config {
    enum av_depth depth; /* as asked for; clipped to what the terminal can */
    bool depth_auto;     /* take what the terminal has, honour NO_COLOR */
    bool mouse;
};

/* Runs the app until it quits. Returns 0, or 128 + signal is never returned:
 * a signal restores the terminal and re-raises. AV_FAILED when there is no
 * terminal. The terminal is restored on every way out. */
enum av_status av_terminal_run(struct av_app *app, const struct av_terminal_config *config, struct av_error *e);

#endif
