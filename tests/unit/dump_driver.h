/* dump_driver.h - what the tests of dumps share. */
#ifndef DUMP_DRIVER_H
#define DUMP_DRIVER_H

#include "attnviz/dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* A program that was built without the library says so, and its test ends. */
static inline void need_format(const char *format)
{
    if (!av_dump_reads(format)) {
        print_message("built without what %s needs: skipped\n", format);
        skip();
    }
}

static inline struct av_dump *must_open(const char *path)
{
    struct av_dump *d;
    struct av_error e = { "" };
    if (av_dump_open(&d, path, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return d;
}

static inline void must_refuse(const char *path, const char *message)
{
    struct av_dump *d;
    struct av_error e = { "" };
    assert_int_equal(av_dump_open(&d, path, &e), AV_FAILED);
    assert_string_equal(e.text, message);
    assert_null(d);
}

/* Of memory that ends where the file ends, so that a sanitizer sees what reads
 * beyond; the name is x. */
static inline void must_refuse_bytes(const void *bytes, size_t size, const char *message)
{
    struct av_dump *d;
    struct av_error e = { "" };
    unsigned char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy + 1, bytes, size);
    enum av_status s = av_dump_parse(&d, "x", copy + 1, size, &e);
    free(copy);
    assert_string_equal(e.text, message);
    assert_int_equal(s, AV_FAILED);
    assert_null(d);
}

/* The whole tensor; the caller frees it. */
static inline double *must_read(struct av_dump *d, const char *name)
{
    struct av_error e = { "" };
    size_t i = av_dump_find(d, name);
    if (i == av_dump_count(d)) {
        fail_msg("%s: no tensor %s", av_dump_path(d), name);
    }
    size_t count = av_dump_tensor(d, i)->count;
    double *out = malloc(count * sizeof *out);
    assert_non_null(out);
    if (av_dump_read(d, i, &(struct av_dump_run){ 0, count, 1, 0 }, out, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return out;
}

/* Makes a file that the caller unlinks; path gets its name. */
static inline void make_file(char path[static 32], const void *bytes, size_t size)
{
    snprintf(path, 32, "/tmp/attnviz-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

#endif
