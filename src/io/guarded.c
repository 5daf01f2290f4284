/* guarded.c - reading a mapped file that may become shorter meanwhile.
 *
 * The system answers a read behind the end of a mapped file with SIGBUS. Its
 * handler is a property of the process, so the state here is one of the few that
 * are: the handler is installed by the first thread that comes, and what was
 * there before is put back by the last that goes. Where to jump to is each
 * thread's own. */
#include "guarded.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct guard {
    sigjmp_buf back;
    uintptr_t from, to;
    struct guard *outer;
};

static _Thread_local struct guard *volatile innermost;

static atomic_flag busy = ATOMIC_FLAG_INIT; /* held while the next two change */
static unsigned users;
static struct sigaction before;

static void on_bus_error(int signo, siginfo_t *info, void *context)
{
    (void)context;
    struct guard *g = innermost;
    uintptr_t at = (uintptr_t)info->si_addr;
    if (g != NULL && info->si_code > 0 && at >= g->from && at < g->to) {
        siglongjmp(g->back, 1);
    }
    /* Not ours: raised again where this returns to, and handled as before. */
    sigaction(signo, &before, NULL);
    if (info->si_code <= 0) {
        raise(signo); /* someone sent it; what was read would not fail again */
    }
}

static void install(void)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_bus_error;
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGBUS, &sa, &before);
}

/* One more reads, or (-1) one less. */
static void count(int change)
{
    while (atomic_flag_test_and_set(&busy)) {
    }
    if (change > 0 && users++ == 0) {
        install();
    } else if (change < 0 && --users == 0) {
        sigaction(SIGBUS, &before, NULL);
    }
    atomic_flag_clear(&busy);
}

bool av_guarded(void (*work)(void *ctx), void *ctx, const void *from, size_t size)
{
    struct guard g = { .from = (uintptr_t)from, .to = (uintptr_t)from + size, .outer = innermost };
    volatile bool done = false;
    count(1);
    if (sigsetjmp(g.back, 1) == 0) {
        innermost = &g;
        work(ctx);
        done = true;
    }
    innermost = g.outer;
    count(-1);
    return done;
}
