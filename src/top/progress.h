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
    int width;        /* of the line */
    double begun;     /* seconds, on some clock */
    double told;      /* when the line was written last */
};

void av_progress_begin(struct av_progress *p, const char *what);
void av_progress_show(struct av_progress *p, double share); /* 0 .. 1; writes when a percent more is done */
/* The same of a work of equal steps, with its pace and the time left: written
 * at most ten times a second and at least once. */
void av_progress_steps(struct av_progress *p, double done, double total);
void av_progress_share(struct av_progress *p, double share); /* as often, of a share: with the time left */
void av_progress_end(struct av_progress *p);

#endif
