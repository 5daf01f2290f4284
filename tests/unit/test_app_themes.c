/* test_app_themes.c - themes: one after the other, broken, read again. */
#include "app_driver.h"
#include "attnviz/theme_files.h"

#include <unistd.h>

static void themes_go_round(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    struct av_theme_entry entries[AV_THEME_LIST_MAX];
    size_t count = av_theme_list(entries, AV_THEME_LIST_MAX);
    assert_true(count >= 2);
    for (size_t i = 1; i <= count; i++) {
        press(app, "p");
        assert_string_equal(av_app_theme(app)->name, entries[i % count].name);
    }
    press(app, "P");
    assert_string_equal(av_app_theme(app)->name, entries[count - 1].name);
    av_app_free(app);
}

static void write_theme(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void a_broken_theme_is_told_of(void **state)
{
    (void)state;
    char path[] = "/tmp/attnviz-theme-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_theme(path, "title = 12\nnonsense\n");
    struct av_app_config config = plain_config();
    config.theme = path;
    struct av_app *app = open_app(&config);
    assert_non_null(strstr(av_app_message(app), ":2:"));
    assert_string_equal(av_app_theme(app)->name, AV_THEME_DEFAULT);
    unlink(path);
    av_app_free(app);
}

/* Read again: what has changed is on, what has broken is told and leaves the
 * theme as it was, and when it is mended, it is on again. */
static void a_theme_is_read_again(void **state)
{
    (void)state;
    char path[] = "/tmp/attnviz-theme-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_theme(path, "title = 12\n");
    struct av_app_config config = plain_config();
    config.theme = path;
    struct av_app *app = open_app(&config);
    unsigned serial = av_app_theme_serial(app);
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 12);
    write_theme(path, "title = 13\n");
    press(app, "C-r");
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 13);
    assert_non_null(strstr(av_app_message(app), "read again"));
    assert_true(av_app_theme_serial(app) > serial);
    serial = av_app_theme_serial(app);
    write_theme(path, "text = 14\n\ntitle = blue\n");
    press(app, "C-r");
    assert_non_null(strstr(av_app_message(app), ":3: 'blue' is no colour"));
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 13);
    assert_int_equal(av_app_theme_serial(app), serial);
    write_theme(path, "title = 14\n");
    press(app, "C-r");
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 14);
    unlink(path);
    press(app, "C-r");
    assert_non_null(strstr(av_app_message(app), path));
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 14);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(themes_go_round),
        cmocka_unit_test(a_broken_theme_is_told_of),
        cmocka_unit_test(a_theme_is_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
