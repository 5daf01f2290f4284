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

/* Seconds between two lines of av_progress_steps. */
static const double SILENT_MIN = 0.1, SILENT_MAX = 1;

void av_progress_begin(struct av_progress *p, const char *what)
{
    double begun = now();
    *p = (struct av_progress){ what, isatty(STDERR_FILENO) == 1, -1, 0, begun, begun };
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

/* Is the line to be written again? Notes that it is. */
static bool is_due(struct av_progress *p, int percent, double at)
{
    double silent = at - p->told;
    if (!p->on || silent < SILENT_MIN || (percent == p->percent && silent < SILENT_MAX)) {
        return false;
    }
    p->percent = percent;
    p->told = at;
    return true;
}

void av_progress_steps(struct av_progress *p, double done, double total)
{
    int percent = (int)(100 * done / total);
    double at = p->on ? now() : 0;
    if (!is_due(p, percent, at)) {
        return;
    }
    char line[80];
    double pace = done / (at - p->begun);
    write_line(p, line,
               snprintf(line, sizeof line, "%s: %3d%%, %.0f steps a second, %.0f s left", p->what, percent, pace,
                        pace > 0 ? (total - done) / pace : 0));
}

void av_progress_share(struct av_progress *p, double share)
{
    int percent = (int)(100 * share);
    double at = p->on ? now() : 0;
    if (share > 0 && is_due(p, percent, at)) {
        char line[80];
        write_line(p, line,
                   snprintf(line, sizeof line, "%s: %3d%%, %.0f s left", p->what, percent,
                            (at - p->begun) * (1 - share) / share));
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
