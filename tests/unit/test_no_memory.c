/* test_no_memory.c - when memory is out, what stood before stands still. */
#include "attnviz/app.h"
#include "attnviz/keys.h"
#include "sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ALL_NEEDS = AV_NEED_OTHER | AV_NEED_DQ | AV_NEED_THEORY | AV_NEED_HISTOGRAM };

/* Scores of 2048 queries and keys do not fit; what is small does. */
static void limit_memory(void)
{
    struct rlimit limit = { 1 << 26, 1 << 26 };
    setrlimit(RLIMIT_AS, &limit);
}

/* Runs the check in a child, which the limit dies with. A child must not use
 * the assertions, which would go on with the tests: 0 is success. */
static void assert_in_a_child(int (*check)(void))
{
    if (SANITIZED) {
        skip(); /* its own memory breaks the limit */
    }
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(check());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int check_model(void)
{
    struct av_model *m;
    struct av_params p;
    struct av_error e = { "" };
    av_params_default(&p);
    if (av_model_new(&m, NULL, &e) != AV_OK || av_model_update(m, &p, ALL_NEEDS, &e) != AV_OK) {
        return 1;
    }
    const struct av_snapshot *s = av_model_snapshot(m);
    double entropy = s->now.entropy_mean;
    limit_memory();
    struct av_params big = p;
    big.n_q = big.n_k = 2048;
    if (av_model_update(m, &big, ALL_NEEDS, &e) != AV_NOMEM || strstr(e.text, "memory") == NULL) {
        return 2;
    }
    s = av_model_snapshot(m);
    if (s->n_k != 32 || s->now.entropy_mean < entropy || s->now.entropy_mean > entropy) {
        return 3;
    }
    p.temperature = 2;
    return av_model_update(m, &p, ALL_NEEDS, &e) == AV_OK && s->now.entropy_mean > entropy ? 0 : 4;
}

static void the_model_keeps_its_state(void **state)
{
    (void)state;
    assert_in_a_child(check_model);
}

/* An app that was asked for more keys than there is memory for. */
static struct av_app *overloaded(void)
{
    struct av_app_config config = { .animation = false };
    struct av_app *app;
    struct av_error e;
    av_params_default(&config.params);
    if (av_app_new(&app, &config, &e) != AV_OK) {
        return NULL;
    }
    av_app_draw(app);
    limit_memory();
    static const char *const keys[] = { "Down", "]", "]", "Down", "]", "]" }; /* n_q and n_k 32 * 8 * 8 */
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        av_app_key(app, av_key_parse(keys[i]));
    }
    return app;
}

static int check_app(void)
{
    struct av_app *app = overloaded();
    if (app == NULL) {
        return 1;
    }
    av_app_draw(app);
    if (strstr(av_app_message(app), "memory") == NULL) {
        return 2;
    }
    return av_app_snapshot(app, 0)->n_k == 32 && av_app_snapshot(app, 0)->params.n_k == 32 ? 0 : 3;
}

static void the_app_goes_back_and_says_so(void **state)
{
    (void)state;
    assert_in_a_child(check_app);
}

static int check_export(void)
{
    char folder[] = "/tmp/attnviz-test-XXXXXX";
    struct av_app *app = overloaded();
    if (app == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0) {
        return 1;
    }
    av_app_key(app, av_key_parse("w"));
    if (rmdir(folder) != 0) {
        return 2; /* something is in it */
    }
    return strstr(av_app_message(app), "memory") != NULL ? 0 : 3;
}

static int check_resize(void)
{
    struct av_app *app = overloaded();
    if (app == NULL || av_app_resize(app, 10000, 10000) != AV_NOMEM || av_app_status(app) != AV_NOMEM) {
        return 1;
    }
    if (strstr(av_app_message(app), "memory") == NULL) {
        return 2;
    }
    return av_app_draw(app)->cols == 80 && av_app_resize(app, 90, 24) == AV_OK ? 0 : 3;
}

static void a_screen_that_is_too_large_is_told(void **state)
{
    (void)state;
    assert_in_a_child(check_resize);
}

static void numbers_that_cannot_be_had_are_not_written(void **state)
{
    (void)state;
    assert_in_a_child(check_export);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_keeps_its_state),
        cmocka_unit_test(the_app_goes_back_and_says_so),
        cmocka_unit_test(a_screen_that_is_too_large_is_told),
        cmocka_unit_test(numbers_that_cannot_be_had_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
