/* progress.c - how far a long command is, told on a terminal. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void av_progress_begin(struct av_progress *p, const char *what)
{
    *p = (struct av_progress){ what, isatty(STDERR_FILENO) == 1, -1 };
}

void av_progress_show(struct av_progress *p, double share)
{
    int percent = (int)(100 * share);
    if (p->on && percent != p->percent) {
        fprintf(stderr, "\r%s: %3d%%", p->what, percent);
        p->percent = percent;
    }
}

/* With blanks: not every terminal knows a sequence that clears a line. */
void av_progress_end(struct av_progress *p)
{
    if (p->on && p->percent >= 0) {
        fprintf(stderr, "\r%*s\r", (int)strlen(p->what) + (int)sizeof ": 100%" - 1, "");
        p->percent = -1;
    }
}
