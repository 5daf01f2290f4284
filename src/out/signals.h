/* signals.h - signals as bytes in a pipe, and a terminal that outlives a crash.
 *
 * Handlers are a property of the process: there is one set, begun and ended
 * by the terminal's loop. */
#ifndef ATTNVIZ_SIGNALS_H
#define ATTNVIZ_SIGNALS_H

#include "attnviz/status.h"

#include <stdbool.h>

/* Takes over the signals that a terminal program meets. tty is the terminal:
 * its modes are noted now and set again when the program crashes. A signal
 * that was ignored stays ignored. One that ends programs is first told by
 * av_signals_next; when the process still lives half a second later, or at the
 * second such signal, the terminal is reset as in a crash and the process
 * ended by the first. AV_FAILED when there is no pipe to be had. */
enum av_status av_signals_begin(int tty, struct av_error *e);

/* Gives the signals back; one that was to end the process does so now. */
void av_signals_end(void);

/* Readable when a signal has come. */
int av_signals_fd(void);

/* The next signal that has come, 0 when there is none. */
int av_signals_next(void);

/* Does the terminal need a reset when the program crashes now? */
void av_signals_guard(bool on);

/* Ends the process by this signal's default action, so that its exit status
 * is true. Returns only when the signal is ignored or does not end it. */
void av_signals_die(int signo);

/* Stops the process as C-z does; returns when it goes on. */
void av_signals_stop(void);

#endif
