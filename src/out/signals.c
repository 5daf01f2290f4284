/* signals.c - signals as bytes in a pipe, and a terminal that outlives a crash.
 *
 * A handler may do next to nothing: those of ordinary signals write one byte
 * to a pipe that the loop polls; those of crashes reset the terminal by two
 * system calls that are allowed there, and let the signal have its way. */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* What undoes everything this program may have switched on: mouse reports,
 * colours, line-drawing characters, keypad, hidden cursor, alternate screen. */
#define RESET "\033[?1006l\033[?1003l\033[?1002l\033[?1000l\033[0m\033(B\017\033[?1l\033>\033[?25h\033[?1049l\r\n"

static const int ordinary[] = { SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGINT, SIGHUP, SIGQUIT };
static const int crashes[] = { SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL };

enum {
    ORDINARY = sizeof ordinary / sizeof ordinary[0],
    CRASHES = sizeof crashes / sizeof crashes[0],
    STACK = 1 << 16 /* bytes for the handler of a stack overflow */
};

/* All that handlers touch; set before they are installed. */
static int pipe_ends[2];
static int tty_fd;
static struct termios tty_modes;
static volatile sig_atomic_t guarded;

static struct sigaction before[ORDINARY + CRASHES];
static char crash_stack[STACK];

static void on_ordinary(int signo)
{
    int saved = errno;
    unsigned char byte = (unsigned char)signo;
    /* A full pipe has signals enough to wake the loop. */
    ssize_t written = write(pipe_ends[1], &byte, 1);
    (void)written;
    errno = saved;
}

static void on_crash(int signo)
{
    if (guarded) {
        guarded = 0;
        signal(SIGTTOU, SIG_IGN); /* in the background the reset would stop the program */
        ssize_t written = write(tty_fd, RESET, sizeof RESET - 1);
        (void)written;
        tcsetattr(tty_fd, TCSANOW, &tty_modes);
    }
    signal(signo, SIG_DFL);
    raise(signo); /* comes when this handler returns */
}

static void install(int signo, void (*handler)(int), int flags, struct sigaction *old)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = handler;
    sa.sa_flags = flags;
    sigemptyset(&sa.sa_mask);
    sigaction(signo, NULL, old);
    if (old->sa_handler != SIG_IGN) {
        sigaction(signo, &sa, NULL);
    }
}

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

enum av_status av_signals_begin(int tty, struct av_error *e)
{
    if (!open_pipe()) {
        return av_fail(e, AV_FAILED, "terminal: no pipe for signals: %s", strerror(errno));
    }
    tty_fd = tty;
    tcgetattr(tty, &tty_modes);
    guarded = 0;
    stack_t stack = { .ss_sp = crash_stack, .ss_size = sizeof crash_stack };
    sigaltstack(&stack, NULL);
    for (int i = 0; i < ORDINARY; i++) {
        install(ordinary[i], on_ordinary, SA_RESTART, &before[i]);
    }
    for (int i = 0; i < CRASHES; i++) {
        install(crashes[i], on_crash, SA_ONSTACK, &before[ORDINARY + i]);
    }
    return AV_OK;
}

void av_signals_end(void)
{
    guarded = 0;
    for (int i = 0; i < ORDINARY; i++) {
        sigaction(ordinary[i], &before[i], NULL);
    }
    for (int i = 0; i < CRASHES; i++) {
        sigaction(crashes[i], &before[ORDINARY + i], NULL);
    }
    stack_t none = { .ss_flags = SS_DISABLE };
    sigaltstack(&none, NULL);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

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
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signo);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
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
