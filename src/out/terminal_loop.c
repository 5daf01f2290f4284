/* terminal_loop.c - waits for keys, signals and time, and serves them. */
#include "attnviz/terminal.h"
#include "signals.h"
#include "terminal_io.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    DRAIN_MS = 20,   /* keys are taken together for as long as this before painting */
    WORK_MS = 8,     /* work goes on for as long as this before keys are looked for */
    PAINT_MS = 50,   /* and for as long as this before it is shown */
    HANGUP_MS = 200, /* the signal that goes with a hang-up may come a little later */
    DEAF_MOST = 20   /* rounds in which what waits cannot be read */
};

struct loop {
    struct av_app *app;
    struct av_io *io;
    bool pending; /* keys were left waiting, some maybe inside curses */
    bool heard;   /* keys were there */
    int deaf;     /* rounds in a row without any, though bytes wait for ever */
    bool urgent;  /* keys or signals have come since the last picture */
    bool busy;    /* the view computes something */
    bool unseen;  /* and has more than was painted */
    uint64_t painted;
};

/* ---- Signals -------------------------------------------------------------- */

enum { STOP = 1, RESUME = 2, RESIZE = 4 };

/* What those that have come ask for. The deadly ones do not return. */
static unsigned collect_signals(struct loop *l)
{
    unsigned asked = 0;
    for (int signo = av_signals_next(); signo != 0; signo = av_signals_next()) {
        switch (signo) {
        case SIGWINCH:
            asked |= RESIZE;
            break;
        case SIGTSTP:
            asked |= STOP;
            break;
        case SIGCONT:
            asked |= RESUME;
            break;
        default:
            av_io_leave(l->io);
            av_signals_die(signo);
        }
    }
    return asked;
}

static void stop(struct loop *l)
{
    av_io_leave(l->io);
    av_signals_stop();
    collect_signals(l); /* it may have been woken only to be ended */
    av_io_return(l->io);
}

static void take_signals(struct loop *l)
{
    unsigned asked = collect_signals(l);
    if ((asked & STOP) != 0) {
        stop(l);
    } else if ((asked & RESUME) != 0) {
        av_io_return(l->io); /* stopped by a signal that cannot be caught */
    } else if ((asked & RESIZE) != 0) {
        av_io_take_size(l->io);
    }
}

/* The terminal is gone. The signal that says so is the better end. */
static enum av_status hang_up(struct loop *l, struct av_error *e)
{
    struct pollfd signals = { av_signals_fd(), POLLIN, 0 };
    poll(&signals, 1, HANGUP_MS);
    collect_signals(l);
    return av_fail(e, AV_FAILED, "terminal: it hung up");
}

/* ---- Keys ------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* What the app asks of the loop. Returns true when it is to end. */
static bool serve_wants(struct loop *l)
{
    struct av_app_wants wants = av_app_wants(l->app);
    if (wants.suspend) {
        stop(l);
    }
    if (wants.repaint) {
        av_io_repaint(l->io);
    }
    return wants.quit;
}

/* Takes all keys that wait, so that they cost one picture, but not for longer
 * than the eye would forgive. Returns true when the program is to end. */
static bool take_keys(struct loop *l)
{
    uint64_t until = now_ms() + DRAIN_MS;
    l->pending = false;
    l->heard = false;
    while (!l->pending && av_io_take_key(l->io)) {
        l->heard = true;
        if (serve_wants(l)) {
            return true;
        }
        l->pending = now_ms() > until;
    }
    return false;
}

/* ---- The loop ------------------------------------------------------------------ */

/* Bytes that wait to be read; 0 when that cannot be told either. */
static int bytes_waiting(int fd)
{
    int waiting = 0;
    return ioctl(fd, FIONREAD, &waiting) == 0 ? waiting : 0;
}

/* Closed at the other end: told by poll, or readable with nothing to read. */
static bool hung_up(const struct pollfd *p)
{
    return (p->revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ||
           ((p->revents & POLLIN) != 0 && bytes_waiting(p->fd) == 0);
}

/* Is another group of processes in the foreground? */
static bool in_background(int fd)
{
    pid_t front = tcgetpgrp(fd);
    return front != -1 && front != getpgrp();
}

/* After `waiting` bytes were to be read: nothing came, and all of them are
 * there still, time after time? So it is in the background of a shell that is
 * gone. (In the foreground, bytes that are no keys may come faster than they
 * are thrown away.) */
static bool is_deaf(struct loop *l, int fd, int waiting)
{
    l->deaf = l->heard || bytes_waiting(fd) < waiting ? 0 : l->deaf + 1;
    return l->deaf > DEAF_MOST && in_background(fd);
}

/* Keys that poll has told of, or that were left. *ended: one ended the program.
 * False when the terminal cannot be read any more. */
static bool hear(struct loop *l, const struct pollfd *keys, bool *ended)
{
    bool told = (keys->revents & POLLIN) != 0;
    int waiting = told ? bytes_waiting(keys->fd) : 0;
    *ended = (told || l->pending) && take_keys(l);
    return !told || *ended || !is_deaf(l, keys->fd, waiting);
}

/* What the view computes beside the pipeline, for a while. */
static void work(struct loop *l)
{
    uint64_t until = now_ms() + WORK_MS;
    do {
        l->busy = av_app_work(l->app);
        l->unseen = l->unseen || l->busy;
    } while (l->busy && now_ms() < until);
}

/* Paints what keys, signals and time have changed; what work has, now and then.
 * Then works. Returns how long to wait for what comes next. */
static int paint_and_work(struct loop *l)
{
    int wait = av_app_tick(l->app, now_ms());
    if (l->urgent || !l->busy || now_ms() >= l->painted + PAINT_MS) {
        av_io_paint(l->io);
        l->painted = now_ms();
        l->unseen = false;
    }
    work(l);
    return l->pending || l->busy || l->unseen ? 0 : wait;
}

static enum av_status run(struct loop *l, struct av_error *e)
{
    struct pollfd polled[2] = { { av_io_fd(l->io), POLLIN, 0 }, { av_signals_fd(), POLLIN, 0 } };
    for (;;) {
        int ready = poll(polled, 2, paint_and_work(l));
        if (ready < 0 && errno != EINTR) {
            return av_fail(e, AV_FAILED, "terminal: poll: %s", strerror(errno));
        }
        if (ready <= 0) {
            polled[0].revents = 0;
            polled[1].revents = 0;
        }
        l->urgent = ready > 0 || l->pending;
        if (polled[1].revents != 0) {
            take_signals(l);
        }
        bool ended = false;
        if (hung_up(&polled[0]) || !hear(l, &polled[0], &ended)) {
            return hang_up(l, e);
        }
        if (ended) {
            return AV_OK;
        }
    }
}

enum av_status av_terminal_run(struct av_app *app, const struct av_terminal_config *config, struct av_error *e)
{
    struct loop l = { .app = app };
    enum av_status s = av_io_open(&l.io, app, config, e);
    if (s == AV_OK) {
        s = run(&l, e);
    }
    av_io_close(l.io);
    return s;
}
