/* test_npy.c - .npy files: NumPy's own, other writers', and broken ones.
 *
 * The files in tests/data were written by NumPy (tests/reference/make_npy.py). */
#include "attnviz/npy.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static double at(const struct av_tensor *t, size_t head, size_t row, size_t column)
{
    size_t i = (head * t->n + row) * t->d + column;
    return t->f64 != NULL ? t->f64[i] : (double)t->f32[i];
}

/* ---- files that NumPy wrote ------------------------------------------- */

/* The entries of make_npy.py for a kind f, i, u or b. */
static double expected(char kind, size_t head, size_t row, size_t column)
{
    double whole = (double)(12 * head + 4 * row + column);
    switch (kind) {
    case 'f':
        return (whole - 5) / 4;
    case 'i':
        return whole - 5;
    case 'b':
        return whole > 5;
    default:
        return whole;
    }
}

static void every_type_and_order(void **state)
{
    static const struct {
        const char *file, *dtype;
        size_t rank;
        bool wide;
    } files[] = {
        { "f2_le", "<f2", 3, false },
        { "f2_be", ">f2", 3, false },
        { "f4_le", "<f4", 3, false },
        { "f4_be", ">f4", 3, false },
        { "f8_le", "<f8", 3, true },
        { "f8_be", ">f8", 3, true },
        { "i1", "|i1", 3, false },
        { "i2_le", "<i2", 3, false },
        { "i2_be", ">i2", 3, false },
        { "i4_le", "<i4", 3, true },
        { "i4_be", ">i4", 3, true },
        { "i8_le", "<i8", 3, true },
        { "i8_be", ">i8", 3, true },
        { "u1", "|u1", 3, false },
        { "u2_le", "<u2", 3, false },
        { "u2_be", ">u2", 3, false },
        { "u4_le", "<u4", 3, true },
        { "u4_be", ">u4", 3, true },
        { "u8_le", "<u8", 3, true },
        { "u8_be", ">u8", 3, true },
        { "b1", "|b1", 3, false },
        { "f4_2d", "<f4", 2, false },
        { "f4_2d_fortran", "<f4", 2, false },
        { "f8_3d_fortran", ">f8", 3, true },
        { "f4_version2", "<f4", 3, false },
        { "f4_version3", "<f4", 3, false },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        char path[64];
        struct av_tensor t;
        struct av_error e;
        snprintf(path, sizeof path, "tests/data/%s.npy", files[i].file);
        if (av_npy_read(&t, path, &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
        assert_string_equal(t.name, strrchr(path, '/') + 1);
        assert_string_equal(t.dtype, files[i].dtype);
        assert_int_equal(t.rank, files[i].rank);
        assert_int_equal(t.heads, files[i].rank == 3 ? 2 : 1);
        assert_int_equal(t.n, 3);
        assert_int_equal(t.d, 4);
        assert_int_equal(t.f64 != NULL, files[i].wide);
        assert_int_equal(t.f32 != NULL, !files[i].wide);
        assert_int_equal(t.nan_count + t.inf_count, 0);
        for (size_t k = 0; k < t.heads * 12; k++) {
            double want = expected(t.dtype[1], k / 12, k / 4 % 3, k % 4);
            if (at(&t, k / 12, k / 4 % 3, k % 4) != want) {
                fail_msg("%s: entry %zu is not %g", path, k, want);
            }
        }
        av_tensor_free(&t);
        assert_null(t.f32);
        assert_null(t.f64);
    }
}

/* Bits 0000 8000 0001 83ff | 0400 3c00 3555 7bff | fbff 7c00 fc00 7e00. */
static void half_precision_is_exact(void **state)
{
    static const double want[3][4] = {
        { 0, -0.0, 0x1p-24, -0x3ffp-24 },
        { 0x1p-14, 1, 0x1.554p-2, 65504 },
        { -65504, (double)INFINITY, -(double)INFINITY, (double)NAN },
    };
    (void)state;
    struct av_tensor t;
    assert_int_equal(av_npy_read(&t, "tests/data/special_f2.npy", NULL), AV_OK);
    for (size_t i = 0; i < 12; i++) {
        double x = at(&t, 0, i / 4, i % 4);
        double y = want[i / 4][i % 4];
        assert_true(isnan(y) ? isnan(x) : x == y && signbit(x) == signbit(y));
    }
    assert_int_equal(t.nan_count, 1);
    assert_int_equal(t.inf_count, 2);
    static const size_t nan_at[3] = { 0, 2, 3 };
    static const size_t inf_at[3] = { 0, 2, 1 };
    assert_memory_equal(t.first_nan, nan_at, sizeof nan_at);
    assert_memory_equal(t.first_inf, inf_at, sizeof inf_at);
    av_tensor_free(&t);
}

/* Values from NumPy's own conversion to float64. */
static void large_integers_round_to_nearest(void **state)
{
    static const double i8[4] = { 0x1p53, -0x1.0000000000002p53, 0x1p63, -0x1p63 };
    static const double u8[4] = { 0x1.0000000000002p53, 0x1p64, 0x1.fffffffffffffp63, 0x1p63 };
    (void)state;
    struct av_tensor t;
    assert_int_equal(av_npy_read(&t, "tests/data/special_i8.npy", NULL), AV_OK);
    assert_memory_equal(t.f64, i8, sizeof i8);
    av_tensor_free(&t);
    assert_int_equal(av_npy_read(&t, "tests/data/special_u8.npy", NULL), AV_OK);
    assert_memory_equal(t.f64, u8, sizeof u8);
    av_tensor_free(&t);
}

/* Queries and keys of a trained model, when they are there. */
static void a_real_file(void **state)
{
    (void)state;
    const char *path = "../shared/data/stories260k-l2-q.npy";
    if (access(path, R_OK) != 0) {
        print_message("no %s: skipped\n", path);
        skip();
    }
    struct av_tensor t;
    assert_int_equal(av_npy_read(&t, path, NULL), AV_OK);
    assert_string_equal(t.dtype, "<f4");
    assert_int_equal(t.heads, 8);
    assert_int_equal(t.n, 128);
    assert_int_equal(t.d, 8);
    assert_int_equal(t.nan_count + t.inf_count, 0);
    /* NumPy: a[7, 127, 7]. */
    assert_true(at(&t, 7, 127, 7) == 0x1.3e22cap+2);
    struct av_entries head = av_tensor_head(&t, 7);
    assert_ptr_equal(head.f32, t.f32 + 7 * 128 * 8);
    assert_null(head.f64);
    assert_int_equal(head.pitch, 8);
    av_tensor_free(&t);
}

/* ---- headers ----------------------------------------------------------- */

/* A file in memory: version, header, and `size` entries' bytes of zero. */
struct file {
    unsigned char bytes[4096];
    size_t size;
};

static struct file make(int version, const char *header, size_t data)
{
    struct file f = { "\x93NUMPY", 8 };
    size_t len = strlen(header);
    f.bytes[6] = (unsigned char)version;
    for (int i = 0; i < (version == 1 ? 2 : 4); i++) {
        f.bytes[f.size++] = (unsigned char)(len >> 8 * i);
    }
    memcpy(f.bytes + f.size, header, len);
    f.size += len + data;
    assert_true(f.size <= sizeof f.bytes);
    return f;
}

static void check_good(const char *header, size_t data, size_t heads, size_t n, size_t d)
{
    for (int version = 1; version <= 3; version++) {
        struct file f = make(version, header, data);
        struct av_tensor t;
        struct av_error e = { "" };
        if (av_npy_parse(&t, "x.npy", f.bytes, f.size, &e) != AV_OK) {
            fail_msg("%s: %s", header, e.text);
        }
        assert_int_equal(t.heads, heads);
        assert_int_equal(t.n, n);
        assert_int_equal(t.d, d);
        av_tensor_free(&t);
    }
}

static void headers_as_people_write_them(void **state)
{
    (void)state;
    check_good("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n", 24, 1, 2, 3);
    check_good("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", 24, 1, 2, 3);
    check_good("{\"shape\":(2,3,),\"fortran_order\":True,\"descr\":\">f4\"}\n", 24, 1, 2, 3);
    check_good(" { 'shape' : ( 4 , 2 , 3 ) , 'descr' : \"|u1\" , 'fortran_order' : False } ", 24, 4, 2, 3);
    check_good("{'descr': '=f8', 'fortran_order': False, 'shape': (1, 1), }", 8, 1, 1, 1);
    check_good("{'descr': 'i2', 'fortran_order': False, 'shape': (1, 1), }", 2, 1, 1, 1);
    check_good("{'descr': '<b1', 'fortran_order': False, 'shape': (1, 1), }", 1, 1, 1, 1);
}

/* Parses and demands failure with exactly this message, and a zeroed t. */
static void check_bad(const unsigned char *bytes, size_t size, const char *message)
{
    static const struct av_tensor zero;
    struct av_tensor t;
    struct av_error e = { "" };
    /* A copy of just that size, so that a sanitizer sees reads past its end. */
    unsigned char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy + 1, bytes, size);
    assert_int_equal(av_npy_parse(&t, "x.npy", copy + 1, size, &e), AV_FAILED);
    free(copy);
    assert_string_equal(e.text, message);
    assert_memory_equal(&t, &zero, sizeof t);
}

static void check_bad_header(const char *header, size_t data, const char *message)
{
    struct file f = make(1, header, data);
    check_bad(f.bytes, f.size, message);
}

#define PLAIN(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }"

static void headers_that_are_wrong(void **state)
{
    static const struct {
        const char *header, *message;
    } bad[] = {
        { "", "expected '{' at character 1" },
        { "{}", "no 'descr'" },
        { "{'descr': '<f4', 'shape': (1, 1)}", "no 'fortran_order'" },
        { "{'descr': '<f4', 'fortran_order': False}", "no 'shape'" },
        { "{'descr': '<f4', 'descr': '<f4'}", "'descr' stands there twice" },
        { "{'descr': '<f4', 'order': 'C'}", "unknown member 'order'" },
        { "{'descr': '<f4' 'shape': (1, 1)}", "expected ',' or '}' at character 17" },
        { "{'descr' '<f4'}", "expected ':' at character 10" },
        { "{descr: '<f4'}", "expected a string at character 2" },
        { "{'descr: ", "string without an end at character 10" },
        { "{'de\\x73cr': ", "unexpected character in a string at character 5" },
        { "{'fortran_order': 0}", "expected True or False at character 19" },
        { "{'shape': [1, 1]}", "expected '(' at character 11" },
        { "{'shape': (1 1)}", "expected ',' or ')' at character 14" },
        { "{'shape': (-1, 1)}", "expected a size at character 12" },
        { "{'shape': (, 1)}", "expected a size at character 12" },
        { "{'shape': (99999999999999999999, 1)}", "too large a number at character 31" },
        { "{'shape': (1, ", "expected a size at character 15" },
        { PLAIN("'<f4'", "(1, 1)") " x", "unexpected text at character 61" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char message[200];
        snprintf(message, sizeof message, "x.npy: bad .npy header: %s", bad[i].message);
        check_bad_header(bad[i].header, 4, message);
    }
}

static void types_that_are_no_plain_numbers(void **state)
{
    static const struct {
        const char *header, *type;
    } bad[] = {
        { PLAIN("'<c8'", "(1, 1)"), "'<c8' (complex numbers)" },
        { PLAIN("'|O'", "(1, 1)"), "'|O' (Python objects)" },
        { PLAIN("'|S10'", "(1, 1)"), "'|S10' (byte strings)" },
        { PLAIN("'<U5'", "(1, 1)"), "'<U5' (strings)" },
        { PLAIN("'<M8[ns]'", "(1, 1)"), "'<M8[ns]' (dates)" },
        { PLAIN("'<V2'", "(1, 1)"), "'<V2' (raw bytes, bfloat16?)" },
        { PLAIN("'<f16'", "(1, 1)"), "'<f16' (floats of that size)" },
        { PLAIN("'<i3'", "(1, 1)"), "'<i3'" },
        { PLAIN("''", "(1, 1)"), "''" },
        { PLAIN("'<'", "(1, 1)"), "'<'" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char message[200];
        snprintf(message, sizeof message, "x.npy: type %s is not supported, only f2 f4 f8 i1..i8 u1..u8 b1: convert it",
                 bad[i].type);
        check_bad_header(bad[i].header, 16, message);
    }
    check_bad_header(PLAIN("[('x', '<f4'), ('y', '<f4')]", "(1, 1)"), 8,
                     "x.npy: structured type (records) is not supported, only plain numbers");
}

static void shapes_that_are_no_queries(void **state)
{
    (void)state;
#define SHAPE(shape, data, message) check_bad_header(PLAIN("'<f4'", shape), data, "x.npy: shape " message)
    SHAPE("()", 4, "[] is not supported, only [n, d] or [heads, n, d]");
    SHAPE("(5,)", 20, "[5] is not supported, only [n, d] or [heads, n, d]");
    SHAPE("(1, 1, 1, 1)", 4, "[1, 1, 1, 1] is not supported, only [n, d] or [heads, n, d]");
    SHAPE("(1,1,1,1,1,1,1,1,2)", 8, "[1, 1, 1, 1, 1, 1, 1, 1, ...] is not supported, only [n, d] or [heads, n, d]");
    SHAPE("(0, 4)", 0, "[0, 4] holds no entries");
    SHAPE("(2, 3, 0)", 0, "[2, 3, 0] holds no entries");
    /* Products that come to 0 or 4 in 64 bits. */
    SHAPE("(4294967296, 4294967296)", 0, "[4294967296, 4294967296] is larger than any memory");
    SHAPE("(2, 9223372036854775808, 2)", 4, "[2, 9223372036854775808, 2] is larger than any memory");
}

static void sizes_that_do_not_fit(void **state)
{
    (void)state;
    const char *header = PLAIN("'<f4'", "(2, 3)");
    check_bad_header(header, 23, "x.npy: cut short: [2, 3] of <f4 takes 24 bytes after the header, found 23");
    check_bad_header(header, 0, "x.npy: cut short: [2, 3] of <f4 takes 24 bytes after the header, found 0");
    check_bad_header(header, 25, "x.npy: too long: [2, 3] of <f4 takes 24 bytes after the header, found 25");
    check_bad_header(PLAIN("'<f8'", "(1048576, 1048576)"), 8,
                     "x.npy: cut short: [1048576, 1048576] of <f8 takes 8796093022208 bytes after the header, found 8");

    struct file f = make(1, header, 24);
    f.bytes[9] = 0xFF;
    check_bad(f.bytes, f.size, "x.npy: cut short: the header takes 65339 bytes, found 83");
    f = make(2, header, 24);
    f.bytes[11] = 0xFF;
    check_bad(f.bytes, f.size, "x.npy: cut short: the header takes 4278190139 bytes, found 83");
    f = make(4, header, 24);
    check_bad(f.bytes, f.size, "x.npy: .npy version 4.0 is not supported, only 1.0, 2.0 and 3.0");
    f = make(1, header, 24);
    f.bytes[7] = 1;
    check_bad(f.bytes, f.size, "x.npy: .npy version 1.1 is not supported, only 1.0, 2.0 and 3.0");
}

static void a_file_cut_anywhere(void **state)
{
    (void)state;
    struct file f = make(1, PLAIN("'<f4'", "(2, 3)"), 24);
    for (size_t size = 1; size < f.size; size++) {
        struct av_tensor t;
        struct av_error e = { "" };
        assert_int_equal(av_npy_parse(&t, "x.npy", f.bytes, size, &e), AV_FAILED);
        assert_memory_equal(e.text, "x.npy: cut short: ", 18);
    }
}

static void files_of_other_kinds(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } others[] = {
        { "", 0, "empty file" },
        { "PK\x03\x04....", 8, "not a .npy file, looks like a zip archive, as .npz and PyTorch files are" },
        { "\x1f\x8b\x08.....", 8, "not a .npy file, looks like a gzip file: decompress it first" },
        { "\x80\x04\x95......", 9, "not a .npy file, looks like a Python pickle" },
        { "\x89HDF\r\n\x1a\n", 8, "not a .npy file, looks like an HDF5 file" },
        { "GGUF\3\0\0\0", 8, "not a .npy file, looks like a GGUF file" },
        { "\x40\0\0\0\0\0\0\0{\"a\":", 13, "not a .npy file, looks like a safetensors file" },
        { "1,2\n3,4\n", 8, "not a .npy file, looks like text" },
        { "version https://git-lfs.github.com/spec/v1\n", 43,
          "not a .npy file, looks like a Git LFS pointer: fetch the file itself with git lfs pull" },
        { "\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9, "not a .npy file" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(others); i++) {
        char message[200];
        snprintf(message, sizeof message, "x.npy: %s", others[i].message);
        check_bad((const unsigned char *)others[i].bytes, others[i].size, message);
    }
}

/* ---- paths -------------------------------------------------------------- */

static void check_bad_path(const char *path, const char *why)
{
    struct av_tensor t;
    struct av_error e = { "" };
    char message[AV_ERROR_MAX];
    snprintf(message, sizeof message, "%s: %s", path, why);
    assert_int_equal(av_npy_read(&t, path, &e), AV_FAILED);
    assert_string_equal(e.text, message);
    assert_null(t.f32);
}

static void paths_that_are_no_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/attnviz-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64];
    snprintf(path, sizeof path, "%s/x.npy", folder);
    check_bad_path(path, "No such file or directory");
    check_bad_path(folder, "is a directory");
    check_bad_path("/dev/zero", "is a device, not a file");
    assert_int_equal(mkfifo(path, 0600), 0);
    check_bad_path(path, "is a pipe: write it to a file first"); /* and does not wait for a writer */
    assert_int_equal(unlink(path), 0);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
    check_bad_path(path, "empty file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* A file with a hole is as large as it claims, and costs no disk. */
static void larger_than_memory(void **state)
{
    (void)state;
    char path[] = "/tmp/attnviz-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct file f = make(1, PLAIN("'|u1'", "(1099511627776, 4)"), 0);
    assert_int_equal(write(fd, f.bytes, f.size), (ssize_t)f.size);
    int grown = ftruncate(fd, (off_t)f.size + ((off_t)1 << 42));
    close(fd);
    if (grown == 0) {
        struct av_tensor t;
        struct av_error e = { "" };
        assert_int_equal(av_npy_read(&t, path, &e), AV_FAILED);
        assert_non_null(strstr(e.text, ": needs 16384.0 GiB, this machine has "));
        assert_null(t.f32);
    }
    unlink(path);
    if (grown != 0) {
        print_message("no files of 4 TiB here: skipped\n");
        skip();
    }
}

/* A message is one line of readable text, and says why, whatever the name. */
static void names_that_hurt(void **state)
{
    (void)state;
    struct av_tensor t;
    struct av_error e = { "" };
    assert_int_equal(av_npy_read(&t, "no\nsuch\x1b[2J\xff\x7f\xC2\x9B", &e), AV_FAILED);
    assert_string_equal(
        e.text, "no\xEF\xBF\xBDsuch\xEF\xBF\xBD[2J\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD: No such file or directory");

    char path[1200];
    for (size_t i = 0; i < sizeof path; i++) {
        path[i] = i % 100 == 99 ? '/' : 'a';
    }
    snprintf(path + sizeof path - 8, 8, "/q.npy");
    assert_int_equal(av_npy_read(&t, path, &e), AV_FAILED);
    assert_memory_equal(e.text, "...", 3);
    assert_non_null(strstr(e.text, "a/q.npy: No such file or directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_order),
        cmocka_unit_test(half_precision_is_exact),
        cmocka_unit_test(large_integers_round_to_nearest),
        cmocka_unit_test(a_real_file),
        cmocka_unit_test(headers_as_people_write_them),
        cmocka_unit_test(headers_that_are_wrong),
        cmocka_unit_test(types_that_are_no_plain_numbers),
        cmocka_unit_test(shapes_that_are_no_queries),
        cmocka_unit_test(sizes_that_do_not_fit),
        cmocka_unit_test(a_file_cut_anywhere),
        cmocka_unit_test(files_of_other_kinds),
        cmocka_unit_test(paths_that_are_no_files),
        cmocka_unit_test(larger_than_memory),
        cmocka_unit_test(names_that_hurt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
