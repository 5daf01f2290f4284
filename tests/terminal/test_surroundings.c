/* test_surroundings.c - kinds of terminals, inputs, variables and locales. */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const still[] = { "--no-config", "--no-animation", NULL };

static void kinds_of_terminals(void **state)
{
    (void)state;
    static const char *const terms[] = { "xterm-256color", "xterm",         "linux",      "screen-256color",
                                         "tmux-256color",  "xterm-16color", "xterm-mono", "vt100",
                                         "rxvt",           "xterm-direct",  "vt220",      "screen" };
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        struct vt vt;
        char term[64];
        if (!vt_knows(terms[i])) {
            print_message("%s is not known on this machine\n", terms[i]);
            continue;
        }
        snprintf(term, sizeof term, "TERM=%s", terms[i]);
        /* On the Linux console curses loads libgpm, which never frees a name. */
        bool leaks = strcmp(terms[i], "linux") == 0;
        struct vt_options o = { .args = still, .env = { term, leaks ? "ASAN_OPTIONS=detect_leaks=0" : NULL } };
        vt_start(&vt, &o);
        vt_see(&vt, "? help");
        vt_see(&vt, "32 queries");
        vt_type(&vt, "s");
        vt_see(&vt, "off");
        vt_type(&vt, "p");
        vt_see(&vt, "theme ");
        vt_quit(&vt, "q");
    }
}

static void unusable_terminals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "TERM=dumb", "attnviz: terminal: TERM=dumb cannot place its cursor\n" },
        { "TERM=no-such", "attnviz: terminal: TERM=no-such is not known on this machine\n" },
        { "TERM=", "attnviz: terminal: TERM is not set\n" },
        { "TERM", "attnviz: terminal: TERM is not set\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vt vt;
        struct vt_options o = { .args = still, .env = { cases[i][0] } };
        vt_start(&vt, &o);
        assert_int_equal(vt_end(&vt), 1);
        assert_string_equal(vt_errors(&vt), cases[i][1]);
        assert_int_equal(vt.bytes, 0);
        vt_assert_restored(&vt);
        vt_stop(&vt);
    }
}

static void no_terminal(void **state)
{
    (void)state;
    struct vt vt;
    struct vt_options o = { .args = still, .lonely = true };
    vt_start(&vt, &o);
    assert_int_equal(vt_end(&vt), 1);
    const char *errors = vt_errors(&vt);
    assert_int_equal(strncmp(errors, "attnviz: terminal: ", 19), 0);
    assert_ptr_equal(strchr(errors, '\n'), errors + strlen(errors) - 1);
    vt_stop(&vt);
}

/* Started so, it takes a key, and leaves the terminal as it was. */
static void answers(const struct vt_options *o)
{
    struct vt vt;
    vt_start(&vt, o);
    vt_see(&vt, "? help");
    vt_type(&vt, "s");
    vt_see(&vt, "scale\xE2\x80\xB9off");
    vt_quit(&vt, "q");
}

static void keys_come_from_the_terminal(void **state)
{
    (void)state;
    struct vt_options o = { .args = still, .input = "/dev/null" };
    answers(&o);
}

/* Standard input can only be written to: keys come by another way. */
static void an_input_that_cannot_be_read_is_not_used(void **state)
{
    (void)state;
    struct vt_options o = { .args = still, .deaf_input = true };
    answers(&o);
}

/* Keys are there and cannot be read: it ends rather than asks for ever. */
static void keys_out_of_reach_are_an_end(void **state)
{
    (void)state;
    struct vt vt;
    struct vt_options o = { .args = still, .background = true };
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    vt_type(&vt, "s\n"); /* whole lines are there in every mode */
    assert_int_equal(vt_end(&vt), 1);
    assert_string_equal(vt_errors(&vt), "attnviz: terminal: it hung up\n");
    vt_stop(&vt);
}

/* Esc closes the help at once, not after the second that curses would wait,
 * whatever is in the variable, unless it is a number that makes sense. */
static void nonsense_is_no_delay(void **state)
{
    (void)state;
    static const char *const nonsense[] = { "ESCDELAY=",      "ESCDELAY=soon", "ESCDELAY=-1", "ESCDELAY=99999999999",
                                            "ESCDELAY=20000", "ESCDELAY=5s",   "ESCDELAY= 7" };
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        struct vt vt;
        struct vt_options o = { .args = still, .env = { nonsense[i] } };
        vt_start(&vt, &o);
        vt_see(&vt, "? help");
        vt_type(&vt, "?");
        vt_see(&vt, "scroll");
        vt_type(&vt, "\033");
        usleep(400000);
        vt_type(&vt, "O"); /* within the delay both would be the start of a key */
        vt_see(&vt, "overview");
        vt_type(&vt, "q");
        assert_int_equal(vt_end(&vt), 0);
        vt_stop(&vt);
    }
}

static void exported_sizes_do_not_freeze(void **state)
{
    (void)state;
    struct vt vt;
    struct vt_options o = { .args = still, .env = { "LINES=10", "COLUMNS=30" }, .cols = 90, .rows = 24 };
    vt_start(&vt, &o);
    vt_see(&vt, "Tab view  c compare");
    vt_resize(&vt, 130, 40);
    vt_see(&vt, "parameters");
    vt_stop(&vt);
}

static void plain_locales_get_ascii(void **state)
{
    (void)state;
    static const char *const args[][4] = { { "--no-config", NULL }, { "--no-config", "--charset", "ascii", NULL } };
    static const char *const locales[] = { "LC_ALL=C", "LC_ALL=C.UTF-8" };
    for (size_t i = 0; i < 2; i++) {
        struct vt vt;
        struct vt_options o = { .args = args[i], .env = { locales[i] } };
        vt_start(&vt, &o);
        vt_see(&vt, "? help");
        vt_see(&vt, "d_k<64>");
        for (const char *at = vt_text(&vt); *at != '\0'; at++) {
            assert_true((unsigned char)*at < 0x80);
        }
        vt_stop(&vt);
    }
}

static void utf8_can_be_asked_for(void **state)
{
    (void)state;
    static const char *const args[] = { "--no-config", "--charset", "utf8", NULL };
    struct vt vt;
    struct vt_options o = { .args = args, .env = { "LC_ALL=C" } };
    vt_start(&vt, &o);
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "64");
    vt_stop(&vt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_terminals),
        cmocka_unit_test(unusable_terminals),
        cmocka_unit_test(no_terminal),
        cmocka_unit_test(keys_come_from_the_terminal),
        cmocka_unit_test(an_input_that_cannot_be_read_is_not_used),
        cmocka_unit_test(keys_out_of_reach_are_an_end),
        cmocka_unit_test(nonsense_is_no_delay),
        cmocka_unit_test(exported_sizes_do_not_freeze),
        cmocka_unit_test(plain_locales_get_ascii),
        cmocka_unit_test(utf8_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
