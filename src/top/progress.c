/* progress.c - how far a long command is, told on a terminal. */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void av_progress_begin(struct av_progress *p, const char *what)
{
    *p = (struct av_progress){ what, isatty(STDERR_FILENO) == 1, -1, 0, now() };
}

/* Writes over the line; blanks cover what a longer one leaves, for not every
 * terminal knows a sequence that clears. */
static void write_line(struct av_progress *p, const char *text, int width)
{
    fprintf(stderr, "\r%-*s", p->width, text);
    p->width = width;
}

void av_progress_show(struct av_progress *p, double share)
{
    int percent = (int)(100 * share);
    if (p->on && percent != p->percent) {
        char line[80];
        write_line(p, line, snprintf(line, sizeof line, "%s: %3d%%", p->what, percent));
        p->percent = percent;
    }
}

void av_progress_steps(struct av_progress *p, double done, double total)
{
    int percent = (int)(100 * done / total);
    double elapsed = p->on ? now() - p->begun : 0;
    if (p->on && percent != p->percent && elapsed > 0) {
        char line[80];
        double pace = done / elapsed;
        write_line(p, line,
                   snprintf(line, sizeof line, "%s: %3d%%, %.0f steps a second, %.0f s left", p->what, percent, pace,
                            pace > 0 ? (total - done) / pace : 0));
        p->percent = percent;
    }
}

void av_progress_end(struct av_progress *p)
{
    if (p->on && p->percent >= 0) {
        write_line(p, "", 0);
        fputc('\r', stderr);
        p->percent = -1;
    }
}
