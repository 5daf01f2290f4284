/* test_textfile.c - what is read as a small text file, and what is refused at once. */
#include "attnviz/textfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/attnviz-text-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const char *data, size_t size)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static void assert_reads(const char *from, const char *want, size_t size)
{
    struct av_str text = AV_STR_INIT;
    struct av_error e = { "" };
    bool missing = true;
    assert_int_equal(av_textfile_read(&text, from, &missing, &e), AV_OK);
    assert_false(missing);
    assert_non_null(text.text);
    assert_int_equal(text.len, size);
    assert_memory_equal(text.text, want, size + 1);
    av_str_free(&text);
}

static void assert_refuses(const char *from, const char *why, bool want_missing)
{
    struct av_str text = AV_STR_INIT;
    struct av_error e = { "" };
    char message[256];
    bool missing = !want_missing;
    assert_int_equal(av_textfile_read(&text, from, &missing, &e), AV_FAILED);
    snprintf(message, sizeof message, "%s: %s", from, why);
    assert_string_equal(e.text, message);
    assert_int_equal(missing, want_missing);
    av_str_free(&text);
}

static void all_of_a_file_is_read(void **state)
{
    (void)state;
    write_file("", 0);
    assert_reads(path, "", 0);
    write_file("d_k = 3\n# no end", 16);
    assert_reads(path, "d_k = 3\n# no end", 16);
    assert_reads("/dev/null", "", 0);
}

static void the_largest_is_read_a_larger_one_not(void **state)
{
    (void)state;
    char *large = malloc(AV_TEXTFILE_MAX + 2);
    assert_non_null(large);
    memset(large, 'x', AV_TEXTFILE_MAX + 1);
    large[AV_TEXTFILE_MAX + 1] = '\0';
    write_file(large, AV_TEXTFILE_MAX + 1);
    assert_refuses(path, "larger than 1024 KiB", false);
    large[AV_TEXTFILE_MAX] = '\0';
    write_file(large, AV_TEXTFILE_MAX);
    assert_reads(path, large, AV_TEXTFILE_MAX);
    free(large);
}

static void binary_files_are_refused(void **state)
{
    (void)state;
    write_file("a = 1\0", 6);
    assert_refuses(path, "a binary file", false);
    write_file("\0", 1);
    assert_refuses(path, "a binary file", false);
}

static void what_is_no_file_is_refused_without_waiting(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it */
    assert_refuses(path, "not a regular file", false);
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_refuses(path, "not a regular file", false);
    unlink(path);
    assert_refuses(folder, "not a regular file", false);
}

static void a_missing_file_is_told_from_others(void **state)
{
    (void)state;
    unlink(path);
    assert_refuses(path, "No such file or directory", true);
    assert_refuses("/dev/null/file", "Not a directory", true);
    assert_int_equal(symlink(path, path), 0);
    assert_refuses(path, "Too many levels of symbolic links", false);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_file_is_read),
        cmocka_unit_test(the_largest_is_read_a_larger_one_not),
        cmocka_unit_test(binary_files_are_refused),
        cmocka_unit_test(what_is_no_file_is_refused_without_waiting),
        cmocka_unit_test(a_missing_file_is_told_from_others),
    };
    return cmocka_run_group_tests_name("text files", tests, make_folder, remove_folder);
}
