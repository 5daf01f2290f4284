/* test_wide.c - labels of wide characters on a terminal. */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Three positions; labels are what is to be seen. */
static void begin(struct vt *vt, char labels[32], const char *locale)
{
    static const char text[] = "注意力\nab\nカe\u0301한\n";
    snprintf(labels, 32, "/tmp/attnviz-wide-XXXXXX");
    int fd = mkstemp(labels);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    const char *const args[] = { "--no-config",          "--no-animation", "--view", "weights", "tests/data/f4_2d.npy",
                                 "tests/data/f4_2d.npy", "--tokens",       labels,   NULL };
    struct vt_options o = { .args = args, .env = { locale } };
    vt_start(vt, &o);
}

/* Every key changes some of the labels on the screen; painting all of it anew
 * changes nothing then. */
static void labels_come_and_go_whole(void **state)
{
    (void)state;
    static const struct {
        const char *key, *seen;
    } steps[] = { { "", "query 0 \"注意力\", key 0 \"注意力\"  weight" },
                  { "j", "query 1 \"ab\", key 0 \"注意力\"  weight" },
                  { "j", "query 2 \"カe한\", key 0 \"注意力\"  weight" },
                  { "l", "query 2 \"カe한\", key 1 \"ab\"  weight" },
                  { "l", "query 2 \"カe한\", key 2 \"カe한\"  weight" },
                  { "kk", "query 0 \"注意力\", key 2 \"カe한\"  weight" },
                  { "?", "in this view, weights" },
                  { "q", "query 0 \"注意力\", key 2 \"カe한\"  weight" } };
    static char kept[1 << 16];
    char labels[32];
    struct vt vt;
    begin(&vt, labels, "LC_ALL=C.UTF-8");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        vt_type(&vt, steps[i].key);
        vt_see(&vt, steps[i].seen);
        vt_calm(&vt);
        snprintf(kept, sizeof kept, "%s", vt_text(&vt));
        size_t bytes = vt.bytes;
        vt_type(&vt, "\f");
        vt_calm(&vt);
        assert_true(vt.bytes > bytes);
        assert_string_equal(vt_text(&vt), kept);
    }
    vt_quit(&vt, "q");
    unlink(labels);
}

/* A locale without them: a stand-in a character, in the same cells. */
static void a_plain_locale_has_stand_ins(void **state)
{
    (void)state;
    char labels[32];
    struct vt vt;
    begin(&vt, labels, "LC_ALL=C");
    vt_see(&vt, "query 0 \"? ? ? \", key 0 \"? ? ? \"  weight");
    vt_type(&vt, "jj");
    vt_see(&vt, "query 2 \"? e? \", key 0 \"? ? ? \"  weight");
    vt_quit(&vt, "q");
    unlink(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_come_and_go_whole),
        cmocka_unit_test(a_plain_locale_has_stand_ins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
