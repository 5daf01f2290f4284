/* test_dump.c - what all dumps have in common: paths, order, runs, and the same
 * numbers whatever the format. */
#include "dump_driver.h"
#include "zip_maker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

/* ---- paths -------------------------------------------------------------------- */

static void paths_that_are_no_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/attnviz-test-XXXXXX";
    char path[64];
    char message[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.npz", folder);
    snprintf(message, sizeof message, "%s: No such file or directory", path);
    must_refuse(path, message);
    snprintf(message, sizeof message, "%s: is a directory", folder);
    must_refuse(folder, message);
    must_refuse("/dev/zero", "/dev/zero: is a device, not a file");
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(message, sizeof message, "%s: is a pipe: write it to a file first", path);
    must_refuse(path, message); /* and does not wait for a writer */
    assert_int_equal(unlink(path), 0);

    int fd = open(path, O_WRONLY | O_CREAT, 0);
    assert_true(fd >= 0);
    close(fd);
    snprintf(message, sizeof message, "%s: %s", path, geteuid() == 0 ? "empty file" : "Permission denied");
    must_refuse(path, message);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void files_of_other_kinds(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } others[] = {
        { "\x1f\x8b\x08.....", 8, ", looks like a gzip file: decompress it first" },
        { "\x80\x04\x95......", 9, ", looks like a Python pickle" },
        { "\x89HDF\r\n\x1a\n", 8, ", looks like an HDF5 file" },
        { "GGUF\3\0\0\0", 8, ", looks like a GGUF file" },
        { "version https://git-lfs.github.com/spec/v1\n", 43,
          ", looks like a Git LFS pointer: fetch the file itself with git lfs pull" },
        { "\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9, "" },
    };
    (void)state;
    must_refuse_bytes("", 0, "x: empty file");
    for (size_t i = 0; i < LENGTH(others); i++) {
        char message[200];
        snprintf(message, sizeof message, "x: neither safetensors, .npz, .npy nor rows of numbers%s",
                 others[i].message);
        must_refuse_bytes(others[i].bytes, others[i].size, message);
    }
}

/* ---- standard input ------------------------------------------------------------ */

/* Opens "-" while standard input is fd, which it closes. */
static enum av_status open_input(int fd, struct av_dump **d, struct av_error *e)
{
    int before = dup(STDIN_FILENO);
    assert_true(before >= 0 && dup2(fd, STDIN_FILENO) >= 0);
    enum av_status s = av_dump_open(d, "-", e);
    dup2(before, STDIN_FILENO);
    close(before);
    close(fd);
    return s;
}

/* The end to read of a pipe that holds these bytes, and no more will come. */
static int pipe_of(const char *bytes, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), (ssize_t)size);
    close(ends[1]);
    return ends[0];
}

static void standard_input(void **state)
{
    (void)state;
    struct av_dump *d;
    struct av_error e = { "" };
    assert_int_equal(open_input(pipe_of("1 2\n3 4\n", 8), &d, &e), AV_OK);
    assert_string_equal(av_dump_path(d), "standard input");
    double *x = must_read(d, "-");
    assert_true(x[0] == 1 && x[3] == 4);
    free(x);
    av_dump_close(d);

    assert_int_equal(open_input(pipe_of("1 2\n3\n", 6), &d, &e), AV_FAILED);
    assert_string_equal(e.text, "standard input: line 2: the number of columns is 1, in the rows above 2");
    assert_int_equal(open_input(pipe_of("", 0), &d, &e), AV_FAILED);
    assert_string_equal(e.text, "standard input: nothing came");
    assert_int_equal(open_input(pipe_of("\x93NUMPY\1\0", 8), &d, &e), AV_FAILED);
    assert_string_equal(e.text, "standard input: npy comes from a file, only text through a pipe");
    assert_int_equal(open_input(open("/dev/zero", O_RDONLY), &d, &e), AV_FAILED); /* and does not read on for ever */
    assert_string_equal(e.text, "standard input: neither safetensors, .npz, .npy nor rows of numbers");
    assert_int_equal(open_input(open("/tmp", O_RDONLY), &d, &e), AV_FAILED);
    assert_string_equal(e.text, "standard input: is a directory");

    /* A file redirected is a file. */
    assert_int_equal(open_input(open("tests/data/f4_le.npy", O_RDONLY), &d, &e), AV_OK);
    assert_string_equal(av_dump_format(d), "npy");
    av_dump_close(d);
}

/* ---- arrays -------------------------------------------------------------------- */

/* Entry (head, row, column) is (12 head + 4 row + column - 5) / 4. */
static void either_order_of_indices(void **state)
{
    static const char *const files[] = { "f4_2d", "f4_2d_fortran", "f8_3d_fortran", "f2_be" };
    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        char path[64];
        snprintf(path, sizeof path, "tests/data/%s.npy", files[i]);
        struct av_dump *d = must_open(path);
        assert_string_equal(av_dump_tensor(d, 0)->name, files[i]);
        double *x = must_read(d, files[i]);
        for (size_t k = 0; k < av_dump_tensor(d, 0)->count; k++) {
            assert_true(x[k] == ((double)k - 5) / 4);
        }
        free(x);
        av_dump_close(d);
    }
}

static void runs(void **state)
{
    static const struct {
        struct av_dump_run run;
        double values[8];
    } good[] = {
        { { 0, 1, 1, 0 }, { -1.25 } },
        { { 23, 1, 1, SIZE_MAX }, { 4.5 } },
        { { 1, 2, 2, 12 }, { -1, -0.75, 2, 2.25 } },
        { { 20, 4, 2, 0 }, { 3.75, 4, 4.25, 4.5, 3.75, 4, 4.25, 4.5 } },
        { { 0, 2, 3, 11 }, { -1.25, -1, 1.5, 1.75, 4.25, 4.5 } },
    };
    static const struct av_dump_run bad[] = {
        { 0, 25, 1, 0 },       { 24, 1, 1, 0 },
        { 0, 0, 1, 0 },        { 0, 1, 0, 0 },
        { 0, 2, 3, 12 },       { 0, 1, 2, SIZE_MAX },
        { 1, 1, SIZE_MAX, 1 }, { SIZE_MAX, 1, 1, 0 },
        { 0, SIZE_MAX, 1, 0 }, { 0, 1, SIZE_MAX / 2, SIZE_MAX / 2 },
        { 20, 5, 1, 0 },
    };
    (void)state;
    struct av_dump *d = must_open("tests/data/f4_le.npy");
    double x[8];
    float narrow[8];
    struct av_error e = { "" };
    for (size_t i = 0; i < LENGTH(good); i++) {
        size_t count = good[i].run.count * good[i].run.rows;
        assert_int_equal(av_dump_read(d, 0, &good[i].run, x, &e), AV_OK);
        assert_int_equal(av_dump_read_f32(d, 0, &good[i].run, narrow, &e), AV_OK);
        for (size_t k = 0; k < count; k++) {
            assert_true(x[k] == good[i].values[k] && (double)narrow[k] == x[k]);
        }
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(av_dump_read(d, 0, &bad[i], x, &e), AV_FAILED);
        assert_string_equal(e.text, "tests/data/f4_le.npy: what is to be read lies outside it");
    }
    assert_int_equal(av_dump_read(d, 1, &good[0].run, x, &e), AV_FAILED);
    assert_string_equal(e.text, "tests/data/f4_le.npy: holds 1 tensors, none with index 1");
    av_dump_close(d);

    d = must_open("tests/data/f8_le.npy");
    assert_int_equal(av_dump_read_f32(d, 0, &good[0].run, narrow, &e), AV_FAILED);
    assert_string_equal(e.text, "tests/data/f8_le.npy: its numbers do not fit single precision");
    av_dump_close(d);
}

/* A .npy file of bytes, with nothing but its header's text given. */
static size_t make_npy(unsigned char *to, const char *shape, const void *entries, size_t size)
{
    char text[120];
    int len = snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': %s}", shape);
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (unsigned char)len;
    to[9] = 0;
    memcpy(to + 10, text, (size_t)len);
    memcpy(to + 10 + len, entries, size);
    return 10 + (size_t)len + size;
}

static void any_rank(void **state)
{
    static const struct {
        const char *shape;
        size_t rank, count;
    } shapes[] = { { "()", 0, 1 }, { "(2,)", 1, 2 }, { "(0, 3)", 2, 0 }, { "(1,1,1,1,1,1,1,2)", 8, 2 } };
    unsigned char bytes[200];
    (void)state;
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        size_t size = make_npy(bytes, shapes[i].shape, "\1\2", shapes[i].count);
        struct av_dump *d;
        assert_int_equal(av_dump_parse(&d, "x", bytes, size, NULL), AV_OK);
        assert_int_equal(av_dump_tensor(d, 0)->rank, shapes[i].rank);
        assert_int_equal(av_dump_tensor(d, 0)->count, shapes[i].count);
        av_dump_close(d);
    }
    size_t size = make_npy(bytes, "(1,1,1,1,1,1,1,1,2)", "\1\2", 2);
    must_refuse_bytes(bytes, size, "x: has 9 dimensions, at most 8 are supported");
    size = make_npy(bytes, "(2, 2)", "\1\2", 2);
    must_refuse_bytes(bytes, size, "x: cut short: [2, 2] of |u1 takes 4 bytes after the header, found 2");
    size = make_npy(bytes, "(4294967296, 4294967296)", "", 0);
    must_refuse_bytes(bytes, size, "x: shape [4294967296, 4294967296] is larger than any memory");
}

static void order_of_names(void **state)
{
    static const char *const names[] = { "b10.npy", "b2.npy", "b.npy", "a/10/x.npy", "a/9/x.npy", "b02.npy", "B.npy" };
    static const char *const sorted[] = { "B", "a/9/x", "a/10/x", "b", "b02", "b2", "b10" };
    (void)state;
    need_format("npz");
    unsigned char npy[100];
    unsigned char *data[LENGTH(names)];
    size_t sizes[LENGTH(names)];
    for (size_t i = 0; i < LENGTH(names); i++) {
        data[i] = npy;
        sizes[i] = make_npy(npy, "(2,)", "\1\2", 2);
    }
    struct zip_maker z = zip_make(LENGTH(names), names, data, sizes);
    struct av_dump *d;
    assert_int_equal(av_dump_parse(&d, "x", z.bytes, z.size, NULL), AV_OK);
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_string_equal(av_dump_tensor(d, i)->name, sorted[i]);
        assert_int_equal(av_dump_find(d, sorted[i]), i);
    }
    assert_int_equal(av_dump_find(d, "c"), LENGTH(names));
    /* More arrays than are kept open, in turn. */
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < LENGTH(names); i++) {
            double x;
            assert_int_equal(av_dump_read(d, i, &(struct av_dump_run){ k, 1, 1, 0 }, &x, NULL), AV_OK);
            assert_true(x == (double)k + 1);
        }
    }
    av_dump_close(d);
    free(z.bytes);
}

/* ---- files that change ------------------------------------------------------------ */

static volatile sig_atomic_t mine;

static void handle(int signo)
{
    (void)signo;
    mine++;
}

static void becomes_shorter_while_mapped(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    unsigned char *bytes = calloc(1, SIZE + 200);
    assert_non_null(bytes);
    size_t header = make_npy(bytes, "(1048576,)", "", 0);
    char path[32];
    char message[80];
    make_file(path, bytes, header + SIZE);

    struct sigaction sa = { .sa_handler = handle };
    struct sigaction before;
    struct sigaction after;
    sigemptyset(&sa.sa_mask);
    sigaction(SIGBUS, &sa, &before);

    struct av_dump *d = must_open(path);
    double *x = malloc(SIZE * sizeof *x);
    assert_non_null(x);
    struct av_error e = { "" };
    const struct av_dump_run all = { 0, SIZE, 1, 0 };
    assert_int_equal(av_dump_read(d, 0, &all, x, &e), AV_OK);
    assert_int_equal(truncate(path, SIZE / 2), 0);
    snprintf(message, sizeof message, "%s: became shorter while read", path);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(av_dump_read(d, 0, &all, x, &e), AV_FAILED);
        assert_string_equal(e.text, message);
    }
    /* What is still there is still read. */
    assert_int_equal(av_dump_read(d, 0, &(struct av_dump_run){ 0, SIZE / 4, 1, 0 }, x, &e), AV_OK);
    av_dump_close(d);

    sigaction(SIGBUS, &before, &after);
    assert_true(after.sa_handler == handle);
    assert_int_equal(mine, 0);
    unlink(path);
    free(x);
    free(bytes);
}

/* ---- the same head in every format --------------------------------------------------- */

enum { HEADS = 8, TOKENS = 128, D = 8 };

static size_t read_whole(const char *path, unsigned char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(to, 1, room, file);
    fclose(file);
    return size;
}

/* Head 3 in the tensor of that name, row by row from the last on. */
static void read_head(struct av_dump *d, const char *name, size_t head, double *out)
{
    size_t tensor = av_dump_find(d, name);
    for (size_t row = TOKENS; row-- > 0;) {
        struct av_dump_run run = { (head * TOKENS + row) * D, D, 1, 0 };
        struct av_error e;
        if (av_dump_read(d, tensor, &run, out + row * D, &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
    }
}

static void the_same_head_in_every_format(void **state)
{
    (void)state;
    const char *npy = "../shared/data/stories260k-l2-q.npy";
    const char *safetensors = "../shared/data/stories260k-qk.safetensors";
    if (access(npy, R_OK) != 0 || access(safetensors, R_OK) != 0) {
        print_message("no %s and %s: skipped\n", npy, safetensors);
        skip();
    }
    need_format("npz");
    need_format("safetensors");
    static unsigned char bytes[1 << 16];
    static double want[TOKENS * D];
    static double got[TOKENS * D];
    static float narrow[TOKENS * D];

    struct av_dump *d = must_open(npy);
    read_head(d, "stories260k-l2-q", 3, want);
    assert_int_equal(av_dump_read_f32(d, 0, &(struct av_dump_run){ 3 * TOKENS * D, TOKENS * D, 1, 0 }, narrow, NULL),
                     AV_OK);
    for (size_t i = 0; i < TOKENS * D; i++) {
        assert_true((double)narrow[i] == want[i]);
    }
    av_dump_close(d);

    d = must_open(safetensors);
    read_head(d, "layers.2.q", 3, got);
    assert_memory_equal(got, want, sizeof want);
    av_dump_close(d);

    size_t size = read_whole(npy, bytes, sizeof bytes);
    struct zip_maker z = zip_make(1, (const char *[]){ "q.npy" }, (unsigned char *[]){ bytes }, &size);
    assert_int_equal(av_dump_parse(&d, "x", z.bytes, z.size, NULL), AV_OK);
    read_head(d, "q", 3, got);
    assert_memory_equal(got, want, sizeof want);
    av_dump_close(d);
    free(z.bytes);

    char *text = malloc(TOKENS * D * 32);
    assert_non_null(text);
    size_t len = 0;
    for (size_t i = 0; i < TOKENS * D; i++) {
        len += (size_t)snprintf(text + len, 32, "%.9g%c", want[i], i % D == D - 1 ? '\n' : ' ');
    }
    assert_int_equal(av_dump_parse(&d, "x", (unsigned char *)text, len, NULL), AV_OK);
    read_head(d, "x", 0, got);
    for (size_t i = 0; i < TOKENS * D; i++) {
        assert_true((double)(float)got[i] == want[i]); /* nine digits say which float it is */
    }
    av_dump_close(d);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_that_are_no_files),
        cmocka_unit_test(files_of_other_kinds),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(either_order_of_indices),
        cmocka_unit_test(runs),
        cmocka_unit_test(any_rank),
        cmocka_unit_test(order_of_names),
        cmocka_unit_test(becomes_shorter_while_mapped),
        cmocka_unit_test(the_same_head_in_every_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
