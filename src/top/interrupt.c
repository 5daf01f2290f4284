/* interrupt.c - C-c as something that a long command can ask about. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t asked;
static struct sigaction before; /* what C-c did, while it is noted */

static void note(int signo)
{
    (void)signo;
    asked = 1;
}

void av_interrupt_begin(void)
{
    struct sigaction action = { .sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGINT, &action, NULL);
    }
}

void av_interrupt_end(void)
{
    sigaction(SIGINT, &before, NULL);
}

bool av_interrupt_asked(void)
{
    return asked != 0;
}
