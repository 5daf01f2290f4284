/* test_terminal.c - the program on a terminal: keys, sizes, rest. */
#define _GNU_SOURCE /* prlimit */

#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const still[] = { "--no-config", "--no-animation", NULL };

static void begin(struct vt *vt, int cols, int rows)
{
    struct vt_options o = { .args = still, .cols = cols, .rows = rows };
    vt_start(vt, &o);
    vt_see(vt, "? help");
}

/* ---- First screen, keys ------------------------------------------------- */

static void first_screen(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_see(&vt, "z = ( q\xC2\xB7k / \xE2\x88\x9A"
                "64 + 0 ) / 1.00");
    vt_see(&vt, "32 queries");
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "64");
    assert_true(vt.mode[1049]);
    assert_false(vt.mode[25]);
    assert_true(vt.mode[1000] && vt.mode[1006]);
    vt_type(&vt, "q");
    assert_int_equal(vt_end(&vt), 0);
    vt_assert_restored(&vt);
    assert_string_equal(vt_errors(&vt), "");
    vt_stop(&vt);
}

static void s_changes_the_header_and_back(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_type(&vt, "ss");
    vt_see(&vt, "scale\xE2\x80\xB9on");
    char *before = strdup(vt_text(&vt));
    vt_type(&vt, "s");
    vt_see(&vt, "z = ( q\xC2\xB7k + 0 )");
    vt_type(&vt, "s");
    vt_see(&vt, "\xE2\x88\x9A"
                "64");
    vt_calm(&vt);
    assert_string_equal(before, vt_text(&vt));
    free(before);
    vt_stop(&vt);
}

/* With animation the end is the same, and then there is rest. */
static void the_glide_comes_to_rest(void **state)
{
    (void)state;
    struct vt vt;
    static const char *const args[] = { "--no-config", NULL };
    struct vt_options o = { .args = args };
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    vt_type(&vt, "s");
    vt_see(&vt, "z = ( q\xC2\xB7k + 0 )");
    vt_calm(&vt);
    vt_stop(&vt);
}

static void special_keys(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_type(&vt, "\033OB"); /* Down */
    vt_see(&vt, "n_q\xE2\x80\xB9"
                "32");
    vt_type(&vt, "\033OC"); /* Right */
    vt_see(&vt, "n_q\xE2\x80\xB9"
                "64");
    vt_type(&vt, "\033OD\033OA"); /* Left, Up */
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "64");
    vt_type(&vt, "\t");
    vt_see_not(&vt, "overview");
    vt_type(&vt, "\033[Z"); /* S-Tab */
    vt_see(&vt, "overview");
    vt_type(&vt, "\033OP"); /* F1 */
    vt_see(&vt, "scroll");
    vt_type(&vt, "\033[6~"); /* PgDn */
    vt_see_not(&vt, "what this view shows");
    vt_type(&vt, "\033"); /* Esc */
    vt_see(&vt, "overview");
    vt_type(&vt, "\r12\177"
                 "7\r"); /* Enter, 12, Backspace, 7, Enter */
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "17");
    vt_stop(&vt);
}

static void mouse(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_type(&vt, "\033[<0;14;23M\033[<0;14;23m"); /* a click on n_q */
    vt_see(&vt, "n_q\xE2\x80\xB9"
                "32");
    vt_type(&vt, "\033[<64;14;23M"); /* the wheel, up */
    vt_see(&vt, "n_q\xE2\x80\xB9"
                "64");
    vt_type(&vt, "\033[<65;14;23M\033[<65;14;23M");
    vt_see(&vt, "n_q\xE2\x80\xB9"
                "16");
    vt_type(&vt, "\033[<0;3;23M"); /* a press on d_k, its release eight columns on */
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "64");
    vt_type(&vt, "\033[<0;11;23m");
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "256");
    vt_type(&vt, "\033[<0;32;23M\033[<0;32;23m"); /* clicks on scale, told at once */
    vt_see(&vt, "scale\xE2\x80\xB9"
                "on");
    vt_type(&vt, "\033[<0;32;23M\033[<0;32;23m");
    vt_see(&vt, "scale\xE2\x80\xB9"
                "off");
    vt_see(&vt, "d_k 256");
    vt_stop(&vt);
}

static void no_mouse(void **state)
{
    (void)state;
    struct vt vt;
    static const char *const args[] = { "--no-config", "--no-mouse", NULL };
    struct vt_options o = { .args = args };
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    assert_false(vt.mode[1000] || vt.mode[1006]);
    vt_stop(&vt);
}

/* ---- Sizes -------------------------------------------------------------- */

static void sizes_follow_the_terminal(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_resize(&vt, 130, 40);
    vt_see(&vt, "parameters");
    vt_resize(&vt, 60, 12);
    vt_see_not(&vt, "parameters");
    vt_see(&vt, "? help");
    static const int tiny[][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 }, { 3, 3 }, { 10, 2 }, { 200, 1 }, { 1, 60 } };
    for (size_t i = 0; i < sizeof tiny / sizeof tiny[0]; i++) {
        vt_resize(&vt, tiny[i][0], tiny[i][1]);
        vt_calm(&vt);
    }
    vt_type(&vt, "s");
    vt_resize(&vt, 80, 24);
    vt_see(&vt, "scale\xE2\x80\xB9off");
    vt_quit(&vt, "q");
}

/* A size that there is no memory for is told, and the old one goes on. */
static void a_screen_without_memory(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_calm(&vt);
    rlim_t used = (rlim_t)vt_proc(&vt, "VmSize") * 1024;
    if (used > (rlim_t)1 << 40) {
        vt_stop(&vt);
        skip(); /* a sanitizer's memory */
    }
    struct rlimit limit = { used, RLIM_INFINITY };
    assert_int_equal(prlimit(vt.pid, RLIMIT_AS, &limit, NULL), 0);
    vt_resize(&vt, 1000, 1000);
    vt_see(&vt, "memory");
    vt_resize(&vt, 80, 24);
    vt_type(&vt, "s");
    vt_see(&vt, "scale\xE2\x80\xB9off");
    vt_quit(&vt, "q");
}

/* What takes long is told of, and replaced when it has come. */
static void computing_is_said(void **state)
{
    (void)state;
    static const char *const large[] = { "--no-config", "--no-animation", "-s", "n_q=2048", "-s", "n_k=2048",
                                         "-s",          "d_k=1",          NULL };
    struct vt vt;
    struct vt_options o = { .args = large };
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    vt_type(&vt, "\r1024\r");
    vt_see(&vt, "computing ...");
    vt_see(&vt, "? help");
    vt_see(&vt, "d_k\xE2\x80\xB9"
                "1024");
    assert_false(vt_has(&vt, "computing"));
    vt_stop(&vt);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void resize_storm(void **state)
{
    (void)state;
    struct vt vt;
    uint32_t random = 7;
    begin(&vt, 80, 24);
    for (int i = 0; i < 400; i++) {
        vt_resize(&vt, 1 + (int)(next_random(&random) % 200), 1 + (int)(next_random(&random) % 70));
        if (i % 3 == 0) {
            vt_type(&vt, i % 2 == 0 ? "s" : "\t");
        }
        while (vt_read(&vt, 0)) {
        }
    }
    vt_resize(&vt, 80, 24);
    vt_type(&vt, "1");
    vt_see(&vt, "overview");
    vt_quit(&vt, "Q");
}

/* Bytes that are no keys, keys in any order: it lives, and answers after. */
static void key_storm(void **state)
{
    (void)state;
    struct vt vt;
    uint32_t random = 99;
    begin(&vt, 80, 24);
    for (int i = 0; i < 3000; i++) {
        static const char keys[] = " sdtToOmrcu[]+-pP?\t\rjkhl1234\033[A";
        uint32_t r = next_random(&random);
        char byte = keys[r % (sizeof keys - 1)];
        if (r % 10 == 0) {
            byte = (char)(next_random(&random) % 256);
        }
        if (strchr("QqwND\003\032\034", byte) != NULL) {
            continue; /* ends, stops, files and sizes */
        }
        vt_type_n(&vt, &byte, 1);
    }
    vt_calm(&vt);
    vt_type(&vt, "\033");
    vt_calm(&vt);
    vt_type(&vt, "\033");
    vt_calm(&vt);
    vt_type(&vt, "1R");
    vt_see(&vt, "all parameters as at the start");
    vt_quit(&vt, "Q");
}

/* ---- Rest --------------------------------------------------------------- */

static void idle_means_no_wake_ups(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_type(&vt, "s");
    vt_see(&vt, "scale\xE2\x80\xB9off");
    vt_calm(&vt);
    long before = vt_proc(&vt, "voluntary_ctxt_switches");
    size_t bytes = vt.bytes;
    sleep(1);
    vt_read(&vt, 0);
    assert_true(before >= 0);
    assert_int_equal(vt_proc(&vt, "voluntary_ctxt_switches"), before);
    assert_int_equal(vt.bytes, bytes);
    vt_stop(&vt);
}

/* A key that changes little writes little: cells that stay are not sent. */
static void unchanged_cells_are_not_sent(void **state)
{
    (void)state;
    struct vt vt;
    begin(&vt, 80, 24);
    vt_calm(&vt);
    size_t before = vt.bytes;
    vt_type(&vt, "\033OB");
    vt_see(&vt, "n_q\xE2\x80\xB9");
    vt_calm(&vt);
    assert_in_range(vt.bytes - before, 1, 400);
    vt_type(&vt, "\014"); /* C-l: all of it */
    before = vt.bytes;
    vt_calm(&vt);
    assert_true(vt.bytes - before > 1500);
    vt_stop(&vt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_screen),
        cmocka_unit_test(s_changes_the_header_and_back),
        cmocka_unit_test(the_glide_comes_to_rest),
        cmocka_unit_test(special_keys),
        cmocka_unit_test(mouse),
        cmocka_unit_test(no_mouse),
        cmocka_unit_test(sizes_follow_the_terminal),
        cmocka_unit_test(a_screen_without_memory),
        cmocka_unit_test(computing_is_said),
        cmocka_unit_test(resize_storm),
        cmocka_unit_test(key_storm),
        cmocka_unit_test(idle_means_no_wake_ups),
        cmocka_unit_test(unchanged_cells_are_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
