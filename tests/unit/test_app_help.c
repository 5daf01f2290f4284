/* test_app_help.c - the table of keys, and what tells of it: the help, the bottom line. */
#include "app_driver.h"

/* ---- The table of actions ----------------------------------------------- */

struct owner {
    const struct av_action *action;
    enum av_mode mode;
};

static void finds_its_owner(uint32_t key, void *ctx)
{
    const struct owner *owner = ctx;
    assert_ptr_equal(av_action_find(key, owner->mode), owner->action);
}

/* Every key leads to its own row in every mode of the row: none is bound twice. */
static void keys_are_bound_once(void **state)
{
    (void)state;
    size_t count;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        for (unsigned mode = AV_MODE_SCREEN; mode <= AV_MODE_EDIT; mode *= 2) {
            if ((table[i].modes & mode) != 0) {
                struct owner owner = { &table[i], (enum av_mode)mode };
                for_keys(table[i].keys, finds_its_owner, &owner);
            }
        }
        assert_true(strlen(table[i].help) > 0);
        assert_true(table[i].param == NULL || av_param_find(table[i].param) != NULL);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(table[i].name, table[j].name);
        }
    }
}

static void is_free(uint32_t key, void *ctx)
{
    const struct av_action *global = av_action_find(key, AV_MODE_SCREEN);
    if (global != NULL && key != AV_KEY_ENTER) {
        fail_msg("%s: its key is global, %s", (const char *)ctx, global->name);
    }
}

/* Enter alone may be a view's. */
static void views_keep_off_global_keys(void **state)
{
    (void)state;
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t v = 0; v < count; v++) {
        const struct av_view_action *actions = views[v]->actions;
        for (size_t i = 0; actions != NULL && actions[i].key != NULL; i++) {
            char what[128];
            snprintf(what, sizeof what, "%s: %s", views[v]->name, actions[i].name);
            for_keys(actions[i].key, is_free, what);
            for (size_t j = 0; j < i; j++) {
                assert_string_not_equal(actions[i].key, actions[j].key);
            }
        }
    }
}

/* ---- The help ----------------------------------------------------------- */

static void help_tells_everything(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    av_app_resize(app, 110, 600);
    const struct av_view *view = show(app, "weights");
    press(app, "?");
    struct av_str text = screen(app);
    size_t count;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(strstr(text.text, table[i].keys));
        assert_non_null(strstr(text.text, table[i].help));
    }
    for (const struct av_view_action *a = view->actions; a != NULL && a->key != NULL; a++) {
        assert_non_null(strstr(text.text, a->help));
    }
    assert_non_null(strstr(text.text, "what this view shows"));
    const struct av_param *params = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(!on_list(&params[i]) || strstr(text.text, params[i].text) != NULL);
    }
    av_str_free(&text);
    av_app_free(app);
}

/* Word by word what each view tells of itself, whatever the width. */
static void help_tells_what_is_shown(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t v = 0; v < count; v++) {
        for (int cols = 30; cols <= 110; cols += 40) {
            av_app_resize(app, cols, 600);
            show(app, views[v]->name);
            press(app, "?");
            struct av_str text = screen(app);
            const char *at = strstr(text.text, "what this view shows");
            assert_true(at != NULL && views[v]->about != NULL);
            at += strcspn(at, "\n");
            for (const char *const *line = views[v]->about; *line != NULL; line++) {
                for (const char *word = *line; *word != '\0'; word += strspn(word, " ")) {
                    size_t len = strcspn(word, " ");
                    at += strspn(at, " \n");
                    assert_memory_equal(at, word, len);
                    at += len;
                    word += len;
                }
            }
            assert_true(strncmp(at, "\n\n", 2) == 0); /* no more, and the next heading */
            av_str_free(&text);
            press(app, "q");
        }
    }
    av_app_free(app);
}

/* Scrolled to its end the last line is on the screen, and no further. */
static void help_scrolls(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "?");
    struct av_str top = screen(app);
    press(app, "Down");
    assert_false(shows(app, strtok(top.text, "\n")));
    press(app, "Up End");
    size_t count;
    const struct av_param *params = av_params_table(&count);
    while (!on_list(&params[count - 1])) {
        count--;
    }
    struct av_str end = screen(app);
    assert_non_null(strstr(end.text, params[count - 1].name));
    press(app, "PgDn Down");
    struct av_str still = screen(app);
    assert_string_equal(end.text, still.text);
    press(app, "Home");
    assert_true(shows(app, top.text));
    press(app, "q");
    assert_true(shows(app, "overview"));
    assert_false(av_app_wants(app).quit);
    av_str_free(&top);
    av_str_free(&end);
    av_str_free(&still);
    av_app_free(app);
}

static void a_key_on_the_help_acts(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "F1 s");
    assert_int_equal(params_of(app)->scale, 0);
    assert_true(shows(app, "overview"));
    av_app_free(app);
}

/* ---- The bottom line ---------------------------------------------------- */

/* What fits is there in full: every entry of a narrow line is one of the widest. */
static void bottom_line_has_whole_entries(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    char widest[4096], line[1024];
    av_app_resize(app, 900, 24);
    line_of(app, 23, widest, sizeof widest);
    for (int cols = 1; cols < 200; cols++) {
        av_app_resize(app, cols, 24);
        line_of(app, 23, line, sizeof line);
        for (char *at = line + strspn(line, " "); *at != '\0';) {
            char *end = strstr(at, "  ");
            size_t len = end != NULL ? (size_t)(end - at) : strlen(at);
            char entry[128];
            snprintf(entry, sizeof entry, " %.*s ", (int)len, at);
            if (strstr(widest, entry) == NULL) {
                entry[strlen(entry) - 1] = '\0'; /* it filled the line to its end */
                assert_non_null(strstr(widest, entry));
            }
            at += len + strspn(at + len, " ");
        }
        assert_true(cols < 6 || strstr(line, "? help") != NULL);
    }
    av_app_free(app);
}

static void unknown_keys_say_so(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "F7");
    assert_true(shows(app, "F7 does nothing here"));
    press(app, "s");
    assert_false(shows(app, "F7"));
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_bound_once),
        cmocka_unit_test(views_keep_off_global_keys),
        cmocka_unit_test(help_tells_everything),
        cmocka_unit_test(help_tells_what_is_shown),
        cmocka_unit_test(help_scrolls),
        cmocka_unit_test(a_key_on_the_help_acts),
        cmocka_unit_test(bottom_line_has_whole_entries),
        cmocka_unit_test(unknown_keys_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
