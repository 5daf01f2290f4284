/* test_npz.c - NumPy's archives, and broken ones.
 *
 * The archives in tests/data were written by NumPy, the files of
 * tests/fuzz/corpus/npz by tests/reference/make_dumps.py, byte by byte. */
#include "dump_driver.h"
#include "zip_maker.h"

#include <stdbool.h>

static struct av_dump_run run(size_t first, size_t count)
{
    return (struct av_dump_run){ first, count, 1, 0 };
}

/* Entry i of the two queries: (i - 5) / 4. */
static void check_entries(const double *x, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (x[i] != ((double)(first + i) - 5) / 4) {
            fail_msg("entry %zu is %g", first + i, x[i]);
        }
    }
}

static void what_numpy_writes(void **state)
{
    static const char *const files[] = { "tests/data/stored.npz", "tests/data/deflated.npz" };
    static const struct {
        const char *name, *type;
        size_t rank, shape[3];
        const char *no;
    } arrays[] = {
        { "layers.2.q", ">f2", 3, { 2, 3, 4 }, NULL },
        { "layers.10.q", "<f4", 3, { 2, 3, 4 }, NULL },
        { "mask", "|b1", 2, { 5, 7, 0 }, NULL },
        { "n_head", "<i8", 0, { 0, 0, 0 }, NULL },
        { "tokens",
          "<U2",
          1,
          { 2, 0, 0 },
          "type '<U2' (strings) is not supported, only f2 f4 f8 i1..i8 u1..u8 b1: convert it" },
        { "transposed", "<f8", 2, { 3, 2, 0 }, NULL },
    };
    (void)state;
    need_format("npz");
    for (size_t f = 0; f < LENGTH(files); f++) {
        struct av_dump *d = must_open(files[f]);
        assert_string_equal(av_dump_format(d), "npz");
        assert_int_equal(av_dump_count(d), LENGTH(arrays));
        for (size_t i = 0; i < LENGTH(arrays); i++) {
            const struct av_dump_tensor *t = av_dump_tensor(d, i);
            assert_string_equal(t->name, arrays[i].name);
            assert_string_equal(t->type, arrays[i].type);
            assert_int_equal(t->rank, arrays[i].rank);
            assert_memory_equal(t->shape, arrays[i].shape, sizeof arrays[i].shape);
            assert_true((t->no == NULL) == (arrays[i].no == NULL));
            if (t->no != NULL) {
                assert_string_equal(t->no, arrays[i].no);
            }
        }
        for (size_t i = 0; i < 2; i++) {
            double *x = must_read(d, arrays[i].name);
            check_entries(x, 0, 24);
            free(x);
        }
        double *fortran = must_read(d, "transposed"); /* 0 .. 5, two rows of three, turned */
        for (size_t i = 0; i < 6; i++) {
            assert_true(fortran[i] == (double)(i % 2 * 3 + i / 2));
        }
        free(fortran);
        double *heads = must_read(d, "n_head");
        assert_true(heads[0] == 8);
        free(heads);
        av_dump_close(d);
    }
}

/* On, over a gap, back, across other entries: always the same numbers. */
static void runs_in_any_order(void **state)
{
    static const char *const files[] = { "tests/data/stored.npz", "tests/data/deflated.npz" };
    static const size_t first[] = { 0, 4, 20, 3, 23, 0, 12 };
    (void)state;
    need_format("npz");
    for (size_t f = 0; f < LENGTH(files); f++) {
        struct av_dump *d = must_open(files[f]);
        double x[8];
        assert_true(av_dump_tensor(d, 0)->streamed == (f == 1));
        for (size_t i = 0; i < LENGTH(first); i++) {
            size_t count = 24 - first[i] < 5 ? 24 - first[i] : 5;
            for (size_t tensor = 0; tensor < 2; tensor++) {
                struct av_dump_run r = run(first[i], count);
                assert_int_equal(av_dump_read(d, tensor, &r, x, NULL), AV_OK);
                check_entries(x, first[i], count);
            }
        }
        double rows[6]; /* column 1 of both heads, last entries first */
        assert_int_equal(av_dump_read(d, 0, &(struct av_dump_run){ 1, 1, 6, 4 }, rows, NULL), AV_OK);
        for (size_t i = 0; i < 6; i++) {
            check_entries(&rows[i], 1 + 4 * i, 1);
        }
        av_dump_close(d);
    }
}

/* Gaps that are read over and gaps that are jumped over, runs shorter and longer
 * than what is unpacked at a time: entry i of 600,000 is i. */
static void runs_of_every_length(void **state)
{
    enum { COUNT = 600000, HEAD = 128 };
    static const struct av_dump_run runs[] = {
        { 0, 128, 4000, 128 },       { 128, 128, 1000, 512 }, { 7, 100, 40, 10000 }, { 5, 20000, 3, 200000 },
        { 100000, 3, 5, 100000 },    { 3, 1, 599997, 1 },     { 10, 40, 50, 20 },    { 400000, 16, 3, 0 },
        { 0, 16384, 30, 16384 + 9 }, { 0, 16383, 30, 16384 }, { 599999, 1, 1, 0 },   { 0, COUNT, 1, 0 },
    };
    (void)state;
    need_format("npz");
    static unsigned char file[HEAD + 4 * COUNT];
    static float x[COUNT];
    const size_t size = sizeof file;
    memset(file, ' ', HEAD);
    memcpy(file, "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (600000,)}", 70);
    file[HEAD - 1] = '\n';
    for (size_t i = 0; i < COUNT; i++) {
        float value = (float)i;
        memcpy(file + HEAD + 4 * i, &value, 4);
    }
    struct zip_maker z = zip_make(1, (const char *[]){ "x.npy" }, (unsigned char *[]){ file }, &size);
    struct av_dump *d;
    assert_int_equal(av_dump_parse(&d, "x", z.bytes, z.size, NULL), AV_OK);
    for (size_t i = 0; i < LENGTH(runs); i++) {
        const struct av_dump_run *r = &runs[i];
        assert_int_equal(av_dump_read_f32(d, 0, r, x, NULL), AV_OK);
        for (size_t k = 0; k < r->rows * r->count; k++) {
            if (x[k] != (float)(r->first + k / r->count * r->stride + k % r->count)) {
                fail_msg("run %zu: entry %zu is %g", i, k, (double)x[k]);
            }
        }
    }
    av_dump_close(d);
    free(z.bytes);
}

/* 4 MiB in 4 KiB, read a piece at a time, with more entries than streams. */
static void what_unpacks_to_much(void **state)
{
    (void)state;
    need_format("npz");
    struct av_dump *d = must_open("tests/data/zeros.npz");
    assert_int_equal(av_dump_tensor(d, 0)->count, 1 << 20);
    double sum = 0;
    for (size_t first = 0; first < 1 << 20; first += 1 << 16) {
        static double x[1 << 16];
        struct av_dump_run r = run(first, 1 << 16);
        assert_int_equal(av_dump_read(d, 0, &r, x, NULL), AV_OK);
        for (size_t i = 0; i < 1 << 16; i++) {
            sum += x[i] != 0;
        }
    }
    assert_true(sum == 0);
    av_dump_close(d);
}

/* ---- archives that are wrong ------------------------------------------------ */

static void refused_when_opened(void **state)
{
    static const struct {
        const char *file, *message;
    } bad[] = {
        { "bomb", "q: damaged archive: unpacks to more than any deflated data can" },
        { "bad_deflate", "q: damaged archive: Zlib error: data error" },
        { "encrypted", "q: encrypted" },
        { "bzip2", "q: packed by another method than deflate" },
        { "stored_lies", "q: damaged archive: stored in another size than its own" },
        { "twice", "q: two tensors have this name" },
        { "shape_lies", "q: cut short: [2, 4] of <f4 takes 32 bytes after the header, found 24" },
        { "no_npy", "q: not a .npy file, looks like text" },
        { "empty_entry", "q: empty file" },
        { "pytorch", "a zip archive without .npy files in it: PyTorch's own format is not read, save safetensors or "
                     ".npz" },
        { "no_arrays", "a zip archive without .npy files in it" },
        { "no_entries", "a zip archive without .npy files in it" },
        { "no_directory", "damaged archive: Not a zip archive" },
    };
    (void)state;
    need_format("npz");
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char path[80];
        char message[AV_ERROR_MAX];
        snprintf(path, sizeof path, "tests/fuzz/corpus/npz/%s.npz", bad[i].file);
        snprintf(message, sizeof message, "%s: %s", path, bad[i].message);
        must_refuse(path, message);
    }
}

/* Damage that only unpacking shows. */
static void refused_when_read(void **state)
{
    static const struct {
        const char *file, *message;
    } bad[] = {
        { "cut_deflate", "damaged archive: ends too early" },
        { "more_than_said", "damaged archive: holds more than it says" },
        { "wrong_checksum", "damaged archive: its checksum is wrong" },
    };
    (void)state;
    need_format("npz");
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char path[80];
        char message[AV_ERROR_MAX];
        double x[6];
        struct av_error e = { "" };
        snprintf(path, sizeof path, "tests/fuzz/corpus/npz/%s.npz", bad[i].file);
        snprintf(message, sizeof message, "%s: q: %s", path, bad[i].message);
        struct av_dump *d = must_open(path);
        struct av_dump_run all = run(0, 6);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(av_dump_read(d, 0, &all, x, &e), AV_FAILED);
            assert_string_equal(e.text, message);
        }
        av_dump_close(d);
    }
}

static void from_memory(void **state)
{
    (void)state;
    need_format("npz");
    unsigned char bytes[4096];
    FILE *file = fopen("tests/data/deflated.npz", "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    struct av_dump *d;
    assert_int_equal(av_dump_parse(&d, "x", bytes, size, NULL), AV_OK);
    double *x = must_read(d, "layers.10.q");
    check_entries(x, 0, 24);
    free(x);
    av_dump_close(d);
    for (size_t cut = 2; cut < size; cut++) {
        struct av_error e = { "" };
        assert_int_equal(av_dump_parse(&d, "x", bytes, cut, &e), AV_FAILED);
        assert_memory_equal(e.text, "x: ", 3);
    }
}

static void with_and_without_libzip(void **state)
{
    (void)state;
    if (av_dump_reads("npz")) {
        av_dump_close(must_open("tests/data/stored.npz"));
    } else {
        must_refuse("tests/data/stored.npz",
                    "tests/data/stored.npz: a npz file, and this was built without libzip: install libzip-dev and "
                    "build again");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_numpy_writes),    cmocka_unit_test(runs_in_any_order),
        cmocka_unit_test(runs_of_every_length), cmocka_unit_test(what_unpacks_to_much),
        cmocka_unit_test(refused_when_opened),  cmocka_unit_test(refused_when_read),
        cmocka_unit_test(from_memory),          cmocka_unit_test(with_and_without_libzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
