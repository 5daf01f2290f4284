/* signals.c - signals as bytes in a pipe, and a terminal that outlives a crash.
 *
 * A handler may do next to nothing. Those of ordinary and of deadly signals
 * write one byte to a pipe that the loop polls, and the loop ends the program
 * in good order. When it does not come to that (it computes, or a write to the
 * terminal hangs), and in a crash, the handler itself resets the terminal, by
 * system calls that are allowed there, and lets the signal have its way. */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

/* What undoes everything this program may have switched on: mouse reports,
 * colours, line-drawing characters, keypad, hidden cursor, alternate screen. */
#define RESET "\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[0m\033(B\017\033[?1l\033>\033[?25h\033[?1049l\r\n"

enum {
    SIGNALS = NSIG,
    PATIENCE_US = 500000, /* that the loop has for ending by a signal */
    STACK = 1 << 16       /* bytes for the handler of a stack overflow */
};

static const int ordinary[] = { SIGWINCH, SIGTSTP, SIGCONT };

/* All others that end a program, but for those that main ignores. Those of the
 * real-time range are of this kind too. */
static const int deadly[] = {
    SIGTERM,   SIGINT, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF,
#ifdef SIGPOLL
    SIGPOLL,
#endif
#ifdef SIGPWR
    SIGPWR,
#endif
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
};
static const int crashes[] = { SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGSYS, SIGTRAP };

/* All that handlers touch; set before they are installed. */
static int pipe_ends[2];
static int tty_fd;
static struct termios tty_modes;
static volatile sig_atomic_t guarded;
static volatile sig_atomic_t pending; /* the deadly signal that the loop has been told of */

static struct sigaction before[SIGNALS];
static bool taken[SIGNALS]; /* is `before` to be set again? */
static char crash_stack[STACK];

/* ---- Handlers ---------------------------------------------------------------- */

static void tell_loop(int signo)
{
    unsigned char byte = (unsigned char)signo;
    /* A full pipe has signals enough to wake the loop. */
    ssize_t written = write(pipe_ends[1], &byte, 1);
    (void)written;
}

static void on_ordinary(int signo)
{
    int saved = errno;
    tell_loop(signo);
    errno = saved;
}

/* Without waiting for a terminal that takes nothing: what it has not taken yet
 * is dropped, so that there is room for the reset. */
static void restore_now(void)
{
    signal(SIGTTOU, SIG_IGN); /* in the background the reset would stop the program */
    int flags = fcntl(tty_fd, F_GETFL);
    tcflush(tty_fd, TCOFLUSH);
    fcntl(tty_fd, F_SETFL, flags | O_NONBLOCK);
    ssize_t written = write(tty_fd, RESET, sizeof RESET - 1);
    (void)written;
    fcntl(tty_fd, F_SETFL, flags); /* others share them */
    tcsetattr(tty_fd, TCSANOW, &tty_modes);
}

static void on_crash(int signo)
{
    if (guarded) {
        guarded = 0;
        restore_now();
    }
    signal(signo, SIG_DFL);
    raise(signo); /* comes when this handler returns */
}

/* The first is the loop's; should it not end the program by then, a timer
 * sends the second, or an impatient user does. */
static void on_deadly(int signo)
{
    int saved = errno;
    if (pending != 0) {
        on_crash(pending);
    } else {
        const struct itimerval once = { .it_value = { .tv_usec = PATIENCE_US } };
        pending = signo;
        tell_loop(signo);
        setitimer(ITIMER_REAL, &once, NULL);
    }
    errno = saved;
}

/* Curses ends the program itself when it has no memory. */
static void on_exit_by_others(void)
{
    if (guarded) {
        guarded = 0;
        restore_now();
    }
}

static void unblock(int signo)
{
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signo);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

/* ---- Taking over, giving back -------------------------------------------------- */

static bool open_pipe(void)
{
    if (pipe(pipe_ends) != 0) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(pipe_ends[i], F_SETFL, fcntl(pipe_ends[i], F_GETFL) | O_NONBLOCK);
        fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

/* Takes a signal over, unless it is ignored. One of `deadly` that someone
 * handles already (a profiler) is his; the alarm is ours in any case. */
static void take(int signo, void (*handler)(int), int flags)
{
    struct sigaction sa;
    if (sigaction(signo, NULL, &before[signo]) != 0) {
        return;
    }
    bool ours = handler == on_deadly ? before[signo].sa_handler == SIG_DFL : before[signo].sa_handler != SIG_IGN;
    if (!ours && signo != SIGALRM) {
        return;
    }
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = handler;
    sa.sa_flags = flags;
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; handler == on_deadly && i < sizeof deadly / sizeof deadly[0]; i++) {
        sigaddset(&sa.sa_mask, deadly[i]); /* they wait for each other */
    }
    taken[signo] = sigaction(signo, &sa, NULL) == 0;
}

static void take_all(void)
{
    for (size_t i = 0; i < sizeof ordinary / sizeof ordinary[0]; i++) {
        take(ordinary[i], on_ordinary, SA_RESTART);
    }
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        take(deadly[i], on_deadly, SA_RESTART);
    }
#ifdef SIGRTMIN
    for (int signo = SIGRTMIN; signo <= SIGRTMAX && signo < SIGNALS; signo++) {
        take(signo, on_deadly, SA_RESTART);
    }
#endif
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++) {
        take(crashes[i], on_crash, SA_ONSTACK);
    }
}

enum av_status av_signals_begin(int tty, struct av_error *e)
{
    if (!open_pipe()) {
        return av_fail(e, AV_FAILED, "terminal: no pipe for signals: %s", strerror(errno));
    }
    tty_fd = tty;
    tcgetattr(tty, &tty_modes);
    guarded = 0;
    pending = 0;
    stack_t stack = { .ss_sp = crash_stack, .ss_size = sizeof crash_stack };
    sigaltstack(&stack, NULL);
    take_all();
    unblock(SIGALRM); /* a parent may have left it blocked */
    if (atexit(on_exit_by_others) != 0) {
        return av_fail(e, AV_FAILED, "terminal: nothing can be put off to the end");
    }
    return AV_OK;
}

void av_signals_end(void)
{
    const struct itimerval never = { .it_interval = { 0, 0 } };
    guarded = 0;
    setitimer(ITIMER_REAL, &never, NULL);
    for (int signo = 1; signo < SIGNALS; signo++) {
        if (taken[signo]) {
            sigaction(signo, &before[signo], NULL);
            taken[signo] = false;
        }
    }
    stack_t none = { .ss_flags = SS_DISABLE };
    sigaltstack(&none, NULL);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    if (pending != 0) {
        av_signals_die(pending); /* the last moment for it */
    }
}

/* ---- For the loop -------------------------------------------------------------- */

int av_signals_fd(void)
{
    return pipe_ends[0];
}

int av_signals_next(void)
{
    unsigned char byte;
    return read(pipe_ends[0], &byte, 1) == 1 ? byte : 0;
}

void av_signals_guard(bool on)
{
    guarded = on;
}

/* Default action now, whatever is blocked. */
static void by_default(int signo, struct sigaction *old)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = SIG_DFL;
    sigemptyset(&sa.sa_mask);
    sigaction(signo, &sa, old);
    unblock(signo);
    raise(signo);
}

void av_signals_die(int signo)
{
    struct sigaction old;
    by_default(signo, &old);
}

void av_signals_stop(void)
{
    struct sigaction old;
    sigaction(SIGTSTP, NULL, &old);
    if (old.sa_handler != SIG_IGN) { /* a shell without job control ignores it */
        by_default(SIGTSTP, &old);
        sigaction(SIGTSTP, &old, NULL);
    }
}
