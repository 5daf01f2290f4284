/* test_theme_files.c - themes by name: folders, paths, the list. */
#include "attnviz/theme_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char root[64], themes[128];
};

static int make_folder(void **state)
{
    static struct folder f;
    snprintf(f.root, sizeof f.root, "/tmp/attnviz-theme-XXXXXX");
    if (mkdtemp(f.root) == NULL) {
        return -1;
    }
    char path[128];
    snprintf(path, sizeof path, "%s/attnviz", f.root);
    snprintf(f.themes, sizeof f.themes, "%s/attnviz/themes", f.root);
    *state = &f;
    return mkdir(path, 0700) != 0 || mkdir(f.themes, 0700) != 0 || setenv("XDG_CONFIG_HOME", f.root, 1) != 0 ? -1 : 0;
}

static void file_path(const struct folder *f, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", f->themes, name);
}

static const char *const test_files[] = { "mine.theme",   "light.theme", "broken.theme",
                                          "binary.theme", "notes.txt",   "pipe.theme" };

static int remove_folder(void **state)
{
    struct folder *f = *state;
    char path[256];
    for (size_t i = 0; i < sizeof test_files / sizeof *test_files; i++) {
        file_path(f, test_files[i], path);
        unlink(path);
    }
    rmdir(f->themes);
    snprintf(path, sizeof path, "%s/attnviz", f->root);
    rmdir(path);
    return rmdir(f->root);
}

static void write_file(const struct folder *f, const char *name, const char *data, size_t size)
{
    char path[256];
    file_path(f, name, path);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static void write_test_files(const struct folder *f)
{
    write_file(f, "mine.theme", "text = 3\n", 9);
    write_file(f, "light.theme", "text = 4\n", 9);
    write_file(f, "broken.theme", "text = 3\n\ntitle = blue\n", 23);
    write_file(f, "binary.theme", "\0\0", 2);
    write_file(f, "notes.txt", "text = 3\n", 9);
}

static void names_and_paths_are_found(void **state)
{
    const struct folder *f = *state;
    write_test_files(f);
    struct av_theme t;
    struct av_error e = { "" };
    assert_int_equal(av_theme_load(&t, "mine", &e), AV_OK);
    assert_string_equal(t.name, "mine");
    assert_int_equal(t.roles[AV_ROLE_TEXT].fg, 3);
    assert_int_equal(av_theme_load(&t, "light", &e), AV_OK); /* the user's beats the built-in one */
    assert_int_equal(t.roles[AV_ROLE_TEXT].fg, 4);
    char path[256];
    file_path(f, "notes.txt", path);
    assert_int_equal(av_theme_load(&t, path, &e), AV_OK);
    assert_string_equal(t.name, "notes.txt");
    assert_int_equal(av_theme_load(&t, "mono", &e), AV_OK);
    assert_int_equal(av_theme_load(&t, NULL, &e), AV_OK);
    assert_string_equal(t.name, AV_THEME_DEFAULT);
}

static void what_is_not_there_or_broken_is_said(void **state)
{
    const struct folder *f = *state;
    write_test_files(f);
    char path[256], message[512];
    struct av_theme t, before;
    struct av_error e = { "" };
    memset(&t, 0x5A, sizeof t);
    before = t;
    assert_int_equal(av_theme_load(&t, "absent", &e), AV_USAGE);
    assert_non_null(strstr(e.text, "absent"));
    assert_int_equal(av_theme_load(&t, "", &e), AV_USAGE);
    assert_int_equal(av_theme_load(&t, "broken", &e), AV_FAILED);
    file_path(f, "broken.theme", path);
    snprintf(message, sizeof message, "%s:3: 'blue' is no colour (0 to 255, or -)", path);
    assert_string_equal(e.text, message);
    assert_int_equal(av_theme_load(&t, "binary", &e), AV_FAILED);
    file_path(f, "absent.theme", path);
    assert_int_equal(av_theme_load(&t, path, &e), AV_FAILED);
    snprintf(message, sizeof message, "%s: No such file or directory", path);
    assert_string_equal(e.text, message);
    assert_int_equal(av_theme_load(&t, f->themes, &e), AV_FAILED); /* a folder */
    file_path(f, "pipe.theme", path);                              /* that nobody writes to: refused, not waited for */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(av_theme_load(&t, path, &e), AV_FAILED);
    assert_int_equal(av_theme_load(&t, "pipe", &e), AV_FAILED);
    assert_non_null(strstr(e.text, path));
    assert_memory_equal(&t, &before, sizeof t);
}

static const struct av_theme_entry *find_entry(const struct av_theme_entry *list, size_t count, const char *name)
{
    const struct av_theme_entry *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            assert_null(found); /* once each */
            found = &list[i];
        }
    }
    return found;
}

static void list_has_every_name_once(void **state)
{
    write_test_files(*state);
    struct av_theme_entry list[AV_THEME_LIST_MAX];
    size_t count = av_theme_list(list, AV_THEME_LIST_MAX);
    assert_string_equal(list[0].name, AV_THEME_DEFAULT);
    for (size_t i = 2; i < count; i++) {
        assert_true(strcmp(list[i - 1].name, list[i].name) < 0);
    }
    assert_int_equal(find_entry(list, count, "mine")->source, AV_THEME_USER);
    assert_int_equal(find_entry(list, count, "light")->source, AV_THEME_USER);
    assert_int_not_equal(find_entry(list, count, "mono")->source, AV_THEME_USER);
    assert_null(find_entry(list, count, "notes.txt"));
    assert_null(find_entry(list, count, "notes"));
    assert_string_equal(av_theme_source_name(AV_THEME_BUILTIN), "built in");
    assert_int_equal(av_theme_list(list, 2), 2);
    assert_int_equal(av_theme_list(list, 0), 0);
}

static void the_folder_follows_the_environment(void **state)
{
    const struct folder *f = *state;
    write_test_files(f);
    struct av_theme t;
    struct av_error e = { "" };
    /* A relative XDG_CONFIG_HOME does not count; nor does an empty HOME. */
    assert_int_equal(setenv("XDG_CONFIG_HOME", "relative", 1), 0);
    assert_int_equal(setenv("HOME", "", 1), 0);
    assert_int_equal(av_theme_load(&t, "mine", &e), AV_USAGE);
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(av_theme_load(&t, "mine", &e), AV_USAGE);
    assert_int_equal(av_theme_load(&t, "light", &e), AV_OK);
    /* HOME/.config stands in. */
    char path[128];
    snprintf(path, sizeof path, "%s/.config", f->root);
    assert_int_equal(symlink(".", path), 0);
    assert_int_equal(setenv("HOME", f->root, 1), 0);
    enum av_status status = av_theme_load(&t, "mine", &e);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(status, AV_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_paths_are_found, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_there_or_broken_is_said, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(list_has_every_name_once, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_folder_follows_the_environment, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("theme files", tests, NULL, NULL);
}
