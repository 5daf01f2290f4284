/* terminal_io.h - the terminal as its loop sees it: without curses. */
#ifndef ATTNVIZ_TERMINAL_IO_H
#define ATTNVIZ_TERMINAL_IO_H

#include "attnviz/terminal.h"

struct av_io;

/* Takes the terminal over and tells the app its size. AV_FAILED when there is
 * none, or none that can be drawn on; AV_NOMEM. Signals are taken over too. */
enum av_status av_io_open(struct av_io **out, struct av_app *app, const struct av_terminal_config *config,
                          struct av_error *e);

/* Gives terminal and signals back; NULL is fine. */
void av_io_close(struct av_io *io);

/* Gives the terminal back for a while, and takes it again with the size that
 * it has then. */
void av_io_leave(struct av_io *io);
void av_io_return(struct av_io *io);

/* Asks for the size and tells the app. */
void av_io_take_size(struct av_io *io);

/* Shows the app's screen; only what has changed is sent. */
void av_io_paint(struct av_io *io);

/* The next paint sends everything. */
void av_io_repaint(struct av_io *io);

/* The descriptor that keys come from, for poll. */
int av_io_fd(const struct av_io *io);

/* Hands the next key or click to the app; false when none is waiting. */
bool av_io_take_key(struct av_io *io);

#endif
