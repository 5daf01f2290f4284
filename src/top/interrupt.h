/* interrupt.h - C-c as something that a long command can ask about. */
#ifndef ATTNVIZ_INTERRUPT_H
#define ATTNVIZ_INTERRUPT_H

#include <stdbool.h>

/* From here on C-c (SIGINT) is noted instead of ending the process; a second
 * one ends it. Where the signal was ignored it stays ignored. */
void av_interrupt_begin(void);

/* And from here on it does what it did before. */
void av_interrupt_end(void);

/* Has it come? */
bool av_interrupt_asked(void);

#endif
