/* test_npy.c - .npy files: NumPy's own, other writers', and broken ones.
 *
 * The files in tests/data were written by NumPy (tests/reference/make_npy.py). */
#include "attnviz/dump.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* The only array of a file, [n, d] or [heads, n, d]. */
struct tensor {
    char name[64], dtype[16];
    size_t rank, heads, n, d;
    bool wide;
    double *values;
};

static void free_tensor(struct tensor *t)
{
    free(t->values);
    memset(t, 0, sizeof *t);
}

static enum av_status take(struct tensor *t, struct av_dump *d, struct av_error *e)
{
    const struct av_dump_tensor *a = av_dump_tensor(d, 0);
    const struct av_dump_run whole = { 0, a->count, 1, a->count };
    assert_string_equal(av_dump_format(d), "npy");
    assert_int_equal(av_dump_count(d), 1);
    if (a->no != NULL) {
        return av_fail(e, AV_FAILED, "%s: %s", av_dump_path(d), a->no);
    }
    snprintf(t->name, sizeof t->name, "%s", a->name);
    snprintf(t->dtype, sizeof t->dtype, "%s", a->type);
    t->rank = a->rank;
    t->wide = a->wide;
    t->heads = a->rank == 3 ? a->shape[0] : 1;
    t->n = a->rank >= 2 ? a->shape[a->rank - 2] : 1;
    t->d = a->rank >= 1 ? a->shape[a->rank - 1] : 1;
    t->values = calloc(a->count + 1, sizeof *t->values);
    return a->count > 0 ? av_dump_read(d, 0, &whole, t->values, e) : AV_OK;
}

static enum av_status read_npy(struct tensor *t, const char *path, struct av_error *e)
{
    struct av_dump *d;
    enum av_status s = av_dump_open(&d, path, e);
    memset(t, 0, sizeof *t);
    if (s == AV_OK) {
        s = take(t, d, e);
        av_dump_close(d);
    }
    return s;
}

static enum av_status parse_npy(struct tensor *t, const char *name, const unsigned char *data, size_t size,
                                struct av_error *e)
{
    struct av_dump *d;
    enum av_status s = av_dump_parse(&d, name, data, size, e);
    memset(t, 0, sizeof *t);
    if (s == AV_OK) {
        s = take(t, d, e);
        av_dump_close(d);
    }
    return s;
}

static double at(const struct tensor *t, size_t head, size_t row, size_t column)
{
    return t->values[(head * t->n + row) * t->d + column];
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
        struct tensor t;
        struct av_error e;
        snprintf(path, sizeof path, "tests/data/%s.npy", files[i].file);
        if (read_npy(&t, path, &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
        assert_string_equal(t.name, files[i].file);
        assert_string_equal(t.dtype, files[i].dtype);
        assert_int_equal(t.rank, files[i].rank);
        assert_int_equal(t.heads, files[i].rank == 3 ? 2 : 1);
        assert_int_equal(t.n, 3);
        assert_int_equal(t.d, 4);
        assert_int_equal(t.wide, files[i].wide);
        for (size_t k = 0; k < t.heads * 12; k++) {
            double want = expected(t.dtype[1], k / 12, k / 4 % 3, k % 4);
            if (at(&t, k / 12, k / 4 % 3, k % 4) != want) {
                fail_msg("%s: entry %zu is not %g", path, k, want);
            }
        }
        free_tensor(&t);
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
    struct tensor t;
    assert_int_equal(read_npy(&t, "tests/data/special_f2.npy", NULL), AV_OK);
    for (size_t i = 0; i < 12; i++) {
        double x = at(&t, 0, i / 4, i % 4);
        double y = want[i / 4][i % 4];
        assert_true(isnan(y) ? isnan(x) : x == y && signbit(x) == signbit(y));
    }
    free_tensor(&t);
}

/* Values from NumPy's own conversion to float64. */
static void large_integers_round_to_nearest(void **state)
{
    static const double i8[4] = { 0x1p53, -0x1.0000000000002p53, 0x1p63, -0x1p63 };
    static const double u8[4] = { 0x1.0000000000002p53, 0x1p64, 0x1.fffffffffffffp63, 0x1p63 };
    (void)state;
    struct tensor t;
    assert_int_equal(read_npy(&t, "tests/data/special_i8.npy", NULL), AV_OK);
    assert_memory_equal(t.values, i8, sizeof i8);
    free_tensor(&t);
    assert_int_equal(read_npy(&t, "tests/data/special_u8.npy", NULL), AV_OK);
    assert_memory_equal(t.values, u8, sizeof u8);
    free_tensor(&t);
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
    struct tensor t;
    assert_int_equal(read_npy(&t, path, NULL), AV_OK);
    assert_string_equal(t.dtype, "<f4");
    assert_int_equal(t.heads, 8);
    assert_int_equal(t.n, 128);
    assert_int_equal(t.d, 8);
    /* NumPy: a[7, 127, 7]. */
    assert_true(at(&t, 7, 127, 7) == 0x1.3e22cap+2);
    free_tensor(&t);
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
        struct tensor t;
        struct av_error e = { "" };
        if (parse_npy(&t, "x.npy", f.bytes, f.size, &e) != AV_OK) {
            fail_msg("%s: %s", header, e.text);
        }
        assert_int_equal(t.heads, heads);
        assert_int_equal(t.n, n);
        assert_int_equal(t.d, d);
        free_tensor(&t);
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

/* Parses and demands failure with exactly this message, . */
static void check_bad(const unsigned char *bytes, size_t size, const char *message)
{
    struct tensor t;
    struct av_error e = { "" };
    /* A copy of just that size, so that a sanitizer sees reads past its end. */
    unsigned char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy + 1, bytes, size);
    assert_int_equal(parse_npy(&t, "x.npy", copy + 1, size, &e), AV_FAILED);
    free(copy);
    assert_string_equal(e.text, message);
    free_tensor(&t);
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

static void shapes_that_are_too_large(void **state)
{
    (void)state;
#define SHAPE(shape, data, message) check_bad_header(PLAIN("'<f4'", shape), data, "x.npy: shape " message)
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
    for (size_t size = 6; size < f.size; size++) { /* with less, nobody knows what it is */
        struct tensor t;
        struct av_error e = { "" };
        assert_int_equal(parse_npy(&t, "x.npy", f.bytes, size, &e), AV_FAILED);
        assert_memory_equal(e.text, "x.npy: cut short: ", 18);
    }
}

/* ---- paths -------------------------------------------------------------- */

/* A message is one line of readable text, and says why, whatever the name. */
static void names_that_hurt(void **state)
{
    (void)state;
    struct tensor t;
    struct av_error e = { "" };
    assert_int_equal(read_npy(&t, "no\nsuch\x1b[2J\xff\x7f\xC2\x9B", &e), AV_FAILED);
    assert_string_equal(
        e.text, "no\xEF\xBF\xBDsuch\xEF\xBF\xBD[2J\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD: No such file or directory");

    char path[1200];
    for (size_t i = 0; i < sizeof path; i++) {
        path[i] = i % 100 == 99 ? '/' : 'a';
    }
    snprintf(path + sizeof path - 8, 8, "/q.npy");
    assert_int_equal(read_npy(&t, path, &e), AV_FAILED);
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
        cmocka_unit_test(shapes_that_are_too_large),
        cmocka_unit_test(sizes_that_do_not_fit),
        cmocka_unit_test(a_file_cut_anywhere),
        cmocka_unit_test(names_that_hurt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
