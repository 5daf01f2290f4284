/* test_signals.c - whatever ends or stops the program, the terminal is as it was. */
#include "harness.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const still[] = { "--no-config", "--no-animation", NULL };

static void begin(struct vt *vt)
{
    struct vt_options o = { .args = still };
    vt_start(vt, &o);
    vt_see(vt, "? help");
    vt_calm(vt);
}

/* The exit status is true: ended by that signal, and everything restored. */
static void every_signal_restores(void **state)
{
    (void)state;
    const int signals[] = {
        SIGTERM,  SIGINT,   SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM,
        SIGPROF,  SIGSEGV,  SIGABRT, SIGFPE,  SIGBUS,  SIGILL,  SIGSYS,  SIGTRAP,
#ifdef SIGPOLL
        SIGPOLL,
#endif
#ifdef SIGPWR
        SIGPWR,
#endif
#ifdef SIGRTMIN
        SIGRTMIN, SIGRTMAX,
#endif
    };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct vt vt;
        begin(&vt);
        kill(vt.pid, signals[i]);
        assert_int_equal(vt_end(&vt), 128 + signals[i]);
        vt_assert_restored(&vt);
        vt_stop(&vt);
    }
}

static void c_c_ends_it(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt);
    vt_type(&vt, "\003");
    assert_int_equal(vt_end(&vt), 128 + SIGINT);
    vt_assert_restored(&vt);
    vt_stop(&vt);
}

/* Stopped by C-z or by the signal, twice; meanwhile the window changes. */
static void stops_and_goes_on(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt);
    for (int round = 0; round < 2; round++) {
        if (round == 0) {
            vt_type(&vt, "\032");
        } else {
            kill(vt.pid, SIGTSTP);
        }
        int status = vt_status(&vt);
        assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
        vt_assert_restored(&vt);
        if (round == 1) {
            vt_resize(&vt, 130, 40);
        }
        vterm_screen_reset(vt.screen, 1);
        kill(vt.pid, SIGCONT);
        vt_see(&vt, "? help");
        assert_true(vt.mode[1049] && !vt.mode[25] && vt.mode[1000]);
        if (round == 1) {
            vt_see(&vt, "parameters");
        }
        vt_type(&vt, "s");
        vt_see(&vt, round == 0 ? "off" : "\xE2\x80\xB9on");
    }
    vt_quit(&vt, "q");
}

/* A stop that no program can see: what others did to the terminal is undone. */
static void a_hard_stop_repaints(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt);
    kill(vt.pid, SIGSTOP);
    assert_true(WIFSTOPPED(vt_status(&vt)));
    tcsetattr(vt.slave, TCSANOW, &vt.before); /* as a shell does */
    vterm_screen_reset(vt.screen, 1);
    kill(vt.pid, SIGCONT);
    vt_see(&vt, "? help");
    vt_type(&vt, "s");
    vt_see(&vt, "off");
    vt_quit(&vt, "q");
}

/* Ended while it is stopped: the terminal is the shell's and not touched. */
static void ended_while_stopped(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt);
    vt_type(&vt, "\032");
    assert_true(WIFSTOPPED(vt_status(&vt)));
    size_t bytes = vt.bytes;
    kill(vt.pid, SIGTERM);
    kill(vt.pid, SIGCONT);
    assert_int_equal(vt_end(&vt), 128 + SIGTERM);
    assert_int_equal(vt.bytes, bytes);
    vt_assert_restored(&vt);
    vt_stop(&vt);
}

/* Repaints until the terminal is full and the program waits for a reader. */
static void stall(struct vt *vt)
{
    int before = -1, unread = 0;
    for (int same = 0; same < 10; same = unread == before ? same + 1 : 0) {
        before = unread;
        assert_int_equal(write(vt->master, "\014", 1), 1);
        usleep(20000);
        assert_int_equal(ioctl(vt->master, FIONREAD, &unread), 0);
    }
}

/* Nobody reads what it writes: it ends all the same, and leaves its reset. */
static void ends_while_nobody_reads(void **state)
{
    (void)state;
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGSEGV };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct vt vt;
        begin(&vt);
        stall(&vt);
        kill(vt.pid, signals[i]);
        int status = vt_status_unread(&vt);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        while (vt_read(&vt, 20)) {
        }
        vt_assert_restored(&vt);
        vt_stop(&vt);
    }
}

/* The first of two tells how it ended. */
static void the_status_is_that_of_the_first_signal(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt);
    stall(&vt);
    kill(vt.pid, SIGTERM);
    usleep(100000); /* it is in its handler, or past it, and cannot go on */
    kill(vt.pid, SIGUSR1);
    int status = vt_status_unread(&vt);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    while (vt_read(&vt, 20)) {
    }
    vt_assert_restored(&vt);
    vt_stop(&vt);
}

/* It says that it computes, and C-c does not wait for what comes of it. */
static void ends_while_it_computes(void **state)
{
    (void)state;
    static const char *const large[] = { "--no-config", "--no-animation", "--view", "gradient", "-s", "n_q=2048",
                                         "-s",          "n_k=2048",       "-s",     "d_k=1",    NULL };
    struct vt vt;
    struct vt_options o = { .args = large };
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    vt_type(&vt, "\r4096\r");
    vt_see(&vt, "computing ...");
    size_t bytes = vt.bytes;
    vt_type(&vt, "\003");
    assert_int_equal(vt_end(&vt), 128 + SIGINT);
    assert_true(vt.bytes - bytes < 400); /* the reset, and no picture */
    vt_assert_restored(&vt);
    vt_stop(&vt);
}

static void a_hang_up_ends_it(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt);
    vt_hang_up(&vt);
    int status = vt_end(&vt);
    assert_true(status == 1 || status == 128 + SIGHUP);
    vt_stop(&vt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_signal_restores),
        cmocka_unit_test(c_c_ends_it),
        cmocka_unit_test(stops_and_goes_on),
        cmocka_unit_test(a_hard_stop_repaints),
        cmocka_unit_test(ended_while_stopped),
        cmocka_unit_test(a_hang_up_ends_it),
        cmocka_unit_test(ends_while_it_computes),
        cmocka_unit_test(ends_while_nobody_reads),
        cmocka_unit_test(the_status_is_that_of_the_first_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
