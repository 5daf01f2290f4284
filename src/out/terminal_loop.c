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

enum {
    DRAIN_MS = 20,  /* keys are taken together for as long as this before painting */
    HANGUP_MS = 200 /* the signal that goes with a hang-up may come a little later */
};

struct loop {
    struct av_app *app;
    struct av_io *io;
    bool pending; /* keys were left waiting, some maybe inside curses */
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
    while (!l->pending && av_io_take_key(l->io)) {
        if (serve_wants(l)) {
            return true;
        }
        l->pending = now_ms() > until;
    }
    return false;
}

/* ---- The loop ------------------------------------------------------------------ */

/* Closed at the other end: told by poll, or readable with nothing to read. */
static bool hung_up(const struct pollfd *p)
{
    int waiting = 0;
    if ((p->revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
        return true;
    }
    return (p->revents & POLLIN) != 0 && (ioctl(p->fd, FIONREAD, &waiting) != 0 || waiting == 0);
}

static enum av_status run(struct loop *l, struct av_error *e)
{
    struct pollfd polled[2] = { { av_io_fd(l->io), POLLIN, 0 }, { av_signals_fd(), POLLIN, 0 } };
    for (;;) {
        int wait = av_app_tick(l->app, now_ms());
        av_io_paint(l->io);
        int ready = poll(polled, 2, l->pending ? 0 : wait);
        if (ready < 0 && errno != EINTR) {
            return av_fail(e, AV_FAILED, "terminal: poll: %s", strerror(errno));
        }
        if (ready <= 0) {
            polled[0].revents = 0;
            polled[1].revents = 0;
        }
        if (polled[1].revents != 0) {
            take_signals(l);
        }
        if (hung_up(&polled[0])) {
            return hang_up(l, e);
        }
        if (((polled[0].revents & POLLIN) != 0 || l->pending) && take_keys(l)) {
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
