/* test_app_updates.c - what a key computes: what is stale, once, or nothing at all. */
#include "app_driver.h"
#include "sanitized.h"

#include <sys/resource.h>
#include <unistd.h>

static void only_what_is_stale_runs(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    uint64_t before[AV_STAGE_COUNT], after[AV_STAGE_COUNT];
    av_app_draw(app);
    memcpy(before, av_app_snapshot(app, 0)->runs, sizeof before);
    av_app_draw(app);
    press(app, "? q F7 Down Up");
    av_app_draw(app);
    memcpy(after, av_app_snapshot(app, 0)->runs, sizeof after);
    assert_memory_equal(before, after, sizeof before);
    press(app, "t t t t");
    av_app_draw(app);
    memcpy(after, av_app_snapshot(app, 0)->runs, sizeof after);
    assert_int_equal(after[AV_STAGE_SCORES], before[AV_STAGE_SCORES]);
    assert_int_equal(after[AV_STAGE_LOGITS], before[AV_STAGE_LOGITS] + 1); /* four keys, one run */
    show(app, "weights");
    press(app, "j j l");
    av_app_draw(app);
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SCORES], before[AV_STAGE_SCORES]);
    av_app_free(app);
}

/* Keys that come faster than pictures: what is kept and dropped again costs
 * nothing, what is kept last is computed once, as it was then. */
static void a_burst_of_kept_states_is_one(void **state)
{
    (void)state;
    struct av_app *app = open_plain(), *slow = open_plain();
    av_app_draw(app);
    uint64_t before = av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE];
    for (int i = 0; i < 30; i++) {
        press(app, "r c");
    }
    av_app_draw(app);
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE], before + 1);
    press(app, "r c r");
    av_app_draw(app);
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE], before + 3);
    for (int i = 0; i < 31; i++) {
        press(slow, "r");
    }
    press(slow, "c");
    av_app_draw(slow);
    press(slow, "r");
    struct av_str a = screen(app), b = screen(slow);
    assert_string_equal(a.text, b.text);
    press(slow, "c");
    assert_false(shows(slow, a.text));
    av_str_free(&a);
    av_str_free(&b);
    av_app_free(app);
    av_app_free(slow);
}

static long virtual_size(void)
{
    long pages = -1;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f != NULL) {
        if (fscanf(f, "%ld", &pages) != 1) {
            pages = -1;
        }
        fclose(f);
    }
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

static void without_memory_the_old_state_stays(void **state)
{
    (void)state;
    long used = virtual_size();
    if (SANITIZED || used < 0) {
        print_message("no limit on memory can be set here\n");
        skip();
    }
    struct av_app *app = open_plain();
    struct rlimit old, tight;
    getrlimit(RLIMIT_AS, &old);
    tight = old;
    tight.rlim_cur = (rlim_t)virtual_size() + (8 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    press(app, "T N N N N N N"); /* 2048 x 2048: 32 MiB a matrix */
    av_app_draw(app);
    char message[AV_ERROR_MAX];
    snprintf(message, sizeof message, "%s", av_app_message(app));
    setrlimit(RLIMIT_AS, &old);
    assert_non_null(strstr(message, "memory"));
    assert_int_equal(params_of(app)->n_k, 32);
    press(app, "N");
    assert_int_equal(params_of(app)->n_k, 64);
    press(app, "u");
    assert_int_equal(params_of(app)->n_k, 32);
    press(app, "u");
    assert_true(shows(app, "nothing to undo"));
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_stale_runs),
        cmocka_unit_test(a_burst_of_kept_states_is_one),
        cmocka_unit_test(without_memory_the_old_state_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
