/* tty_input.h - where keys come from, and how long one of them may take. */
#ifndef ATTNVIZ_TTY_INPUT_H
#define ATTNVIZ_TTY_INPUT_H

#include "attnviz/status.h"

#include <stdio.h>

/* Keys come from the terminal also when data comes by standard input, or
 * nothing can, as after `0>/dev/tty`: then *own is /dev/tty, which the caller
 * closes. NULL: standard input serves. AV_FAILED when there is no terminal. */
enum av_status av_tty_input_open(FILE **own, struct av_error *e);

/* Milliseconds to wait for the rest of an escape sequence: $ESCDELAY where it
 * is a whole number from 0 to 10000, else 25. */
int av_tty_escape_delay(void);

#endif
