/* test_work.c - what a view computes while keys are served, on a terminal. */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

/* Long enough that no test sees its end. */
static const char *const endless[] = { "--no-config",     "--view", "distributions", "-s",
                                       "samples=1000000", "-s",     "d_k_4=4096",    NULL };
static const char *const brief[] = { "--no-config", "--view", "distributions", "-s", "samples=2000", NULL };

static void begin(struct vt *vt, const char *const *args, const char *until)
{
    struct vt_options o = { .args = args };
    vt_start(vt, &o);
    vt_see(vt, until);
}

/* The picture grows by itself, and every key acts meanwhile. */
static void keys_are_served_while_it_works(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, endless, "working 1%");
    vt_see(&vt, "working 2%");
    vt_type(&vt, "?");
    vt_see(&vt, "in this view, distributions");
    vt_type(&vt, "q");
    vt_see(&vt, "working");
    vt_type(&vt, "\t");
    vt_see_not(&vt, "working");
    vt_type(&vt, "\033[Z");
    vt_see(&vt, "working");
    vt_quit(&vt, "q");
}

static void escape_stops_it(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, endless, "working 1%");
    vt_type(&vt, "\033");
    vt_see(&vt, "stopped at");
    vt_calm(&vt);
    size_t bytes = vt.bytes;
    sleep(1);
    vt_read(&vt, 0);
    assert_int_equal(vt.bytes, bytes);
    vt_type(&vt, "\033");
    vt_see(&vt, "working");
    vt_quit(&vt, "q");
}

/* When all is computed it is shown, and then nothing wakes the program. */
static void the_end_is_shown_and_then_there_is_rest(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, brief, "2000 pairs ");
    vt_calm(&vt);
    assert_false(vt_has(&vt, "working"));
    long before = vt_proc(&vt, "voluntary_ctxt_switches");
    sleep(1);
    assert_true(before >= 0);
    assert_int_equal(vt_proc(&vt, "voluntary_ctxt_switches"), before);
    vt_quit(&vt, "q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_served_while_it_works),
        cmocka_unit_test(escape_stops_it),
        cmocka_unit_test(the_end_is_shown_and_then_there_is_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
