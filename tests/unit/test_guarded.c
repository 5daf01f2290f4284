/* test_guarded.c - bus errors in a guard and out of it, and whose they are. */
#include "../../src/io/guarded.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 1 << 16 }; /* at least one on every machine */

/* Two pages are mapped, of which the file has the first. */
struct pages {
    char path[32];
    volatile unsigned char *bytes;
};

static struct pages make_pages(void)
{
    struct pages p = { "/tmp/attnviz-test-XXXXXX", NULL };
    int fd = mkstemp(p.path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    void *bytes = mmap(NULL, (size_t)2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(bytes != MAP_FAILED);
    p.bytes = bytes;
    close(fd);
    unlink(p.path);
    return p;
}

static void drop_pages(struct pages *p)
{
    munmap((void *)(uintptr_t)p->bytes, (size_t)2 * PAGE);
}

/* Reads a byte of each page; says how far it came. */
struct walk {
    struct pages *pages;
    struct walk *within; /* walked first, in a guard of its own; NULL: none */
    bool within_done;
    int steps;
};

static void walk(void *ctx)
{
    struct walk *w = ctx;
    if (w->within != NULL) {
        w->within_done =
            av_guarded(walk, w->within, (const void *)(uintptr_t)w->within->pages->bytes, (size_t)2 * PAGE);
    }
    w->steps = 1 + w->pages->bytes[0];
    w->steps = 2 + w->pages->bytes[PAGE];
}

static bool guarded_walk(struct walk *w)
{
    return av_guarded(walk, w, (const void *)(uintptr_t)w->pages->bytes, (size_t)2 * PAGE);
}

static void read_first_page(void *ctx)
{
    struct pages *p = ctx;
    (void)p->bytes[PAGE - 1];
}

static void a_page_that_is_not_there(void **state)
{
    (void)state;
    struct pages p = make_pages();
    assert_true(av_guarded(read_first_page, &p, (const void *)(uintptr_t)p.bytes, (size_t)2 * PAGE));
    for (int again = 0; again < 3; again++) {
        struct walk w = { &p, NULL, false, 0 };
        assert_false(guarded_walk(&w));
        assert_int_equal(w.steps, 1);
    }
    drop_pages(&p);
}

static void guards_nest(void **state)
{
    (void)state;
    struct pages p = make_pages();
    struct walk inner = { &p, NULL, true, 0 };
    struct walk outer = { &p, &inner, true, 0 };
    assert_false(guarded_walk(&outer));
    assert_int_equal(inner.steps, 1);
    assert_false(outer.within_done);
    assert_int_equal(outer.steps, 1);
    drop_pages(&p);
}

/* ---- other people's bus errors ------------------------------------------------- */

static sigjmp_buf out;
static volatile sig_atomic_t handled;

static void count(int signo)
{
    (void)signo;
    handled++;
}

static void leave(int signo)
{
    (void)signo;
    handled++;
    siglongjmp(out, 1);
}

static void take_over(void (*handler)(int), struct sigaction *before)
{
    struct sigaction sa = { .sa_handler = handler };
    sigemptyset(&sa.sa_mask);
    handled = 0;
    sigaction(SIGBUS, &sa, before);
}

static void is_handler(void (*handler)(int))
{
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    assert_true(now.sa_handler == handler);
}

static void send_one(void *ctx)
{
    (void)ctx;
    raise(SIGBUS);
}

static void one_that_was_sent(void **state)
{
    (void)state;
    struct sigaction before;
    struct pages p = make_pages();
    take_over(count, &before);
    assert_true(av_guarded(send_one, NULL, (const void *)(uintptr_t)p.bytes, (size_t)2 * PAGE));
    assert_int_equal(handled, 1);
    is_handler(count);
    sigaction(SIGBUS, &before, NULL);
    drop_pages(&p);
}

/* The guard is for other bytes: the handler that was there gets the error. */
static void one_of_other_bytes(void **state)
{
    (void)state;
    struct sigaction before;
    struct pages p = make_pages();
    struct pages other = make_pages();
    struct walk w = { &p, NULL, false, 0 };
    take_over(leave, &before);
    if (sigsetjmp(out, 1) == 0) {
        av_guarded(walk, &w, (const void *)(uintptr_t)other.bytes, (size_t)2 * PAGE);
        fail();
    }
    assert_int_equal(handled, 1);
    is_handler(leave);
    sigaction(SIGBUS, &before, NULL);
    drop_pages(&p);
    drop_pages(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_is_not_there),
        cmocka_unit_test(guards_nest),
        cmocka_unit_test(one_that_was_sent),
        cmocka_unit_test(one_of_other_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
