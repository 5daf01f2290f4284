/* progress.h - how far a long command is, told on a terminal.
 *
 * One line on standard error that is written over and in the end cleared; none
 * where standard error is no terminal. */
#ifndef ATTNVIZ_PROGRESS_H
#define ATTNVIZ_PROGRESS_H

#include <stdbool.h>

struct av_progress {
    const char *what; /* borrowed: "sweep" */
    bool on;          /* is there a terminal? */
    int percent;      /* that the line says; -1: there is no line yet */
};

void av_progress_begin(struct av_progress *p, const char *what);
void av_progress_show(struct av_progress *p, double share); /* 0 .. 1; writes when a percent more is done */
void av_progress_end(struct av_progress *p);

#endif
