/* test_memory.c - how much memory a model takes, and that it stays there. */
#include "attnviz/model.h"
#include "sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ALL_NEEDS = AV_NEED_OTHER | AV_NEED_THEORY | AV_NEED_HISTOGRAM };

/* A line of /proc/self/status in KiB; -1 where there is no such file, and
 * under a sanitizer, whose own memory would be measured. */
static long status_kib(const char *name)
{
    FILE *f = SANITIZED ? NULL : fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            sscanf(line + strlen(name), ": %ld", &kib);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return kib;
}

/* A model and default parameters; skips the test where that line cannot be read. */
static struct av_model *begin(const char *name, struct av_params *p)
{
    if (status_kib(name) < 0) {
        skip();
    }
    struct av_model *m;
    struct av_error e;
    assert_int_equal(av_model_new(&m, NULL, &e), AV_OK);
    av_params_default(p);
    return m;
}

static void update(struct av_model *m, const struct av_params *p, unsigned needs)
{
    struct av_error e;
    assert_int_equal(av_model_update(m, p, needs, &e), AV_OK);
}

static void a_large_model_stays_below_64_mib(void **state)
{
    (void)state;
    struct av_params p;
    struct av_model *m = begin("VmHWM", &p);
    p.n_q = p.n_k = 512;
    for (p.d_k = 1; p.d_k < 4096; p.d_k *= 2) { /* grows as it does under a key */
        update(m, &p, ALL_NEEDS);
    }
    update(m, &p, ALL_NEEDS | AV_NEED_DQ);
    assert_in_range(status_kib("VmHWM"), 1, 64 * 1024);
    av_model_free(m);
}

static void a_hundred_thousand_changes_take_no_more(void **state)
{
    (void)state;
    struct av_params p;
    struct av_model *m = begin("VmRSS", &p);
    long before = 0;
    for (int change = 0; change < 100000; change++) {
        p.n_q = 1 + change % 7;
        p.n_k = 2 + change % 5;
        p.d_k = 1 + change % 11;
        p.mask = change % 2;
        p.temperature = 1 + change % 3;
        p.logits.n = change % 13 == 0 ? 3 : 0;
        update(m, &p, change % 10 == 0 ? ALL_NEEDS | AV_NEED_DQ : 0);
        if (change == 1000) {
            before = status_kib("VmRSS"); /* every shape has been there by now */
        }
    }
    assert_in_range(status_kib("VmRSS"), 1, before + 256);
    av_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_model_stays_below_64_mib),
        cmocka_unit_test(a_hundred_thousand_changes_take_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
