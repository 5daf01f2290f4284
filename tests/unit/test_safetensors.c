/* test_safetensors.c - every type of number, and every way a file can be wrong.
 *
 * tests/data/types.safetensors, the values in it and the files of
 * tests/fuzz/corpus/safetensors come from tests/reference/make_dumps.py. */
#include "dump_driver.h"

#include <math.h>
#include <stdbool.h>

/* ---- files that are right -------------------------------------------------- */

static const struct {
    const char *name;
    double values[10];
} types[] = {
    { "bf16",
      { 0, -0.0, 0x1p-133, -0x1.fcp-127, 0x1p-126, 1, 0x1.56p-2, 0x1.fep+127, -(double)INFINITY, (double)NAN } },
    { "bool", { 0, 1, 1, 0, 0, 1, 1, 1, 0, 1 } },
    { "f16", { 0, -0.0, 0x1p-24, -0x1.ff8p-15, 0x1p-14, 1, 0x1.554p-2, 65504, -(double)INFINITY, (double)NAN } },
    { "f32",
      { 0, -0.0, 0x1p-149, 0x1p-126, 1, 0x1.555556p-2, 0x1.fffffep+127, -0x1.edd2f2p+6, -(double)INFINITY,
        (double)NAN } },
    { "f64",
      { 0, -0.0, 0x0.0000000000001p-1022, 0x1p-1022, 1, 0x1.5555555555555p-2, 0x1.fffffffffffffp+1023,
        -0x1.edd2f1a9fbe77p+6, -(double)INFINITY, (double)NAN } },
    { "f8_e4m3", { 0, 0x1p-9, 0x1.cp-7, 0x1p-6, 1, -0x1.2p+0, 256, 448, -448, (double)NAN } },
    { "f8_e5m2", { 0, 0x1p-16, 0x1.8p-15, 0x1p-14, 1, -0x1.4p+0, 57344, -57344, (double)INFINITY, (double)NAN } },
    { "i16", { 0, 1, -1, 32767, -32768, 256, 3, 4, 5, 6 } },
    { "i32", { 0, 1, -1, 2147483647, -2147483648, 16777217, 3, 4, 5, 6 } },
    { "i64", { 0, 1, -1, 0x1p+63, -0x1p+63, 0x1p+53, -0x1.0000000000002p+53, 4, 5, 6 } },
    { "i8", { 0, 1, -1, 127, -128, 2, 3, 4, 5, 6 } },
    { "u16", { 0, 1, 65535, 32767, 32768, 256, 3, 4, 5, 6 } },
    { "u32", { 0, 1, 0x1.fffffffep+31, 2147483648, 16777217, 5, 6, 7, 8, 9 } },
    { "u64", { 0, 1, 0x1p+64, 0x1p+63, 0x1.0000000000002p+53, 0x1.fffffffffffffp+63, 6, 7, 8, 9 } },
    { "u8", { 0, 1, 255, 127, 128, 2, 3, 4, 5, 6 } },
};

static bool same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

static void every_type(void **state)
{
    (void)state;
    need_format("safetensors");
    struct av_dump *d = must_open("tests/data/types.safetensors");
    assert_string_equal(av_dump_format(d), "safetensors");
    for (size_t i = 0; i < LENGTH(types); i++) {
        double *x = must_read(d, types[i].name);
        size_t tensor = av_dump_find(d, types[i].name);
        const struct av_dump_tensor *t = av_dump_tensor(d, tensor);
        float narrow[10];
        bool wide = strstr("f64 i32 i64 u32 u64", types[i].name) != NULL;
        assert_int_equal(t->rank, 2);
        assert_int_equal(t->shape[0], 2);
        assert_int_equal(t->shape[1], 5);
        assert_int_equal(t->wide, wide);
        enum av_status s = av_dump_read_f32(d, tensor, &(struct av_dump_run){ 0, 10, 1, 0 }, narrow, NULL);
        assert_int_equal(s, wide ? AV_FAILED : AV_OK);
        for (size_t k = 0; k < 10; k++) {
            if (!same(types[i].values[k], x[k]) || (!wide && !same(types[i].values[k], (double)narrow[k]))) {
                fail_msg("%s[%zu] is %a, not %a", t->type, k, x[k], types[i].values[k]);
            }
        }
        free(x);
    }
    av_dump_close(d);
}

static void what_is_listed(void **state)
{
    (void)state;
    need_format("safetensors");
    struct av_dump *d = must_open("tests/data/types.safetensors");
    struct av_error e = { "" };
    double x;
    const struct av_dump_run one = { 0, 1, 1, 0 };
    assert_int_equal(av_dump_count(d), LENGTH(types) + 4);
    assert_string_equal(av_dump_meta(d, "n_head"), "8");
    assert_string_equal(av_dump_meta(d, "note"), "h\xC3\xA9\xE2\x98\x83");
    assert_null(av_dump_meta(d, "d_k"));

    size_t i = av_dump_find(d, "scalar");
    assert_int_equal(av_dump_tensor(d, i)->rank, 0);
    assert_int_equal(av_dump_tensor(d, i)->count, 1);
    assert_int_equal(av_dump_read(d, i, &one, &x, &e), AV_OK);
    assert_true(x == 2.5);

    i = av_dump_find(d, "empty");
    assert_int_equal(av_dump_tensor(d, i)->shape[1], 4);
    assert_int_equal(av_dump_tensor(d, i)->count, 0);
    assert_null(av_dump_tensor(d, i)->no);
    assert_int_equal(av_dump_read(d, i, &one, &x, &e), AV_FAILED);

    assert_string_equal(av_dump_tensor(d, av_dump_find(d, "complex"))->no, "type C64 is not supported");
    i = av_dump_find(d, "deep");
    assert_string_equal(av_dump_tensor(d, i)->no, "has 9 dimensions, at most 8 are supported");
    assert_int_equal(av_dump_read(d, i, &one, &x, &e), AV_FAILED);
    assert_string_equal(e.text, "tests/data/types.safetensors: deep: has 9 dimensions, at most 8 are supported");
    av_dump_close(d);
}

/* Queries and keys of a trained model, when they are there. */
static void a_real_file(void **state)
{
    (void)state;
    const char *path = "../shared/data/stories260k-qk.safetensors";
    if (access(path, R_OK) != 0) {
        print_message("no %s: skipped\n", path);
        skip();
    }
    need_format("safetensors");
    struct av_dump *d = must_open(path);
    assert_int_equal(av_dump_count(d), 10);
    for (size_t i = 0; i < 10; i++) {
        const struct av_dump_tensor *t = av_dump_tensor(d, i);
        char name[16];
        snprintf(name, sizeof name, "layers.%zu.%c", i / 2, "kq"[i % 2]);
        assert_string_equal(t->name, name);
        assert_string_equal(t->type, "F32");
        assert_int_equal(t->rank, 3);
        assert_int_equal(t->shape[0], i % 2 == 0 ? 4 : 8);
        assert_int_equal(t->shape[1], 128);
        assert_int_equal(t->shape[2], 8);
    }
    assert_string_equal(av_dump_meta(d, "mask"), "causal");
    assert_string_equal(av_dump_meta(d, "n_head_kv"), "4");
    double *q = must_read(d, "layers.2.q");
    assert_true(q[8 * 128 * 8 - 1] == 0x1.3e22cap+2); /* NumPy: a[7, 127, 7] of stories260k-l2-q.npy */
    free(q);
    av_dump_close(d);
}

/* ---- headers ------------------------------------------------------------------ */

struct file {
    unsigned char bytes[1024];
    size_t size;
};

static struct file make(const char *header, size_t data)
{
    struct file f = { .size = 8 + strlen(header) + data };
    assert_true(f.size <= sizeof f.bytes);
    for (size_t i = 0; i < 8; i++) {
        f.bytes[i] = (unsigned char)(strlen(header) >> 8 * i);
    }
    memcpy(f.bytes + 8, header, strlen(header));
    return f;
}

#define TENSOR(name, dtype, shape, offsets)                                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define NOT_SIZES "holds something else than whole numbers from 0 to 2^53"
#define NO_MEMBERS "no \"dtype\" (a string), \"shape\" and \"data_offsets\" (arrays)"

static void headers_that_are_wrong(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        const char *message;
    } bad[] = {
        { "{}", 0, "x: holds no tensors" },
        { "{\"__metadata__\":{\"a\":\"b\"}}", 0, "x: holds no tensors" },
        { "{", 0, "x: bad safetensors header: not JSON from byte 2 on" },
        { "{\"q\":}", 0, "x: bad safetensors header: not JSON from byte 6 on" },
        { "{} x", 0, "x: bad safetensors header: not JSON from byte 3 on" },
        { "{\"a\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}", 0,
          "x: bad safetensors header: nested too deep, at byte 21" },
        { "{\"a\\u0000b\":1}", 0, "x: bad safetensors header: a NUL in a string, at byte 4" },
        { "{\"a\nb\":1}", 0, "x: bad safetensors header: a control character in a string, at byte 4" },
        { "{\"q\":7}", 0, "x: q: " NO_MEMBERS },
        { "{\"q\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "x: q: " NO_MEMBERS },
        { "{\"q\":{\"dtype\":4,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "x: q: " NO_MEMBERS },
        { "{\"q\":{\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
          "x: q: \"shape\" stands there twice" },
        { "{" TENSOR("q", "F32", "[1]", "[0,4]") "," TENSOR("q", "F32", "[1]", "[4,8]") "}", 8,
          "x: q: two tensors have this name" },
        { "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}," TENSOR("q", "U8", "[1]", "[0,1]") "}", 1,
          "x: a: stands twice in the metadata" },
        { "{\"__metadata__\":{},\"__metadata__\":{}," TENSOR("q", "U8", "[1]", "[0,1]") "}", 1,
          "x: __metadata__: stands there twice" },
        { "{\"__metadata__\":[]}", 0, "x: __metadata__: is not an object" },
        { "{\"__metadata__\":{\"n_head\":8}}", 0, "x: n_head: metadata that is not a string" },
        { "{" TENSOR("q", "F32", "[-1]", "[0,4]") "}", 4, "x: q: \"shape\" " NOT_SIZES },
        { "{" TENSOR("q", "F32", "[1.5]", "[0,4]") "}", 4, "x: q: \"shape\" " NOT_SIZES },
        { "{" TENSOR("q", "F32", "[1e400]", "[0,4]") "}", 4, "x: q: \"shape\" " NOT_SIZES },
        { "{" TENSOR("q", "F32", "[\"1\"]", "[0,4]") "}", 4, "x: q: \"shape\" " NOT_SIZES },
        { "{" TENSOR("q", "F32", "[1]", "[0,9007199254740994]") "}", 4, "x: q: \"data_offsets\" " NOT_SIZES },
        { "{" TENSOR("q", "F32", "[1]", "[4]") "}", 4, "x: q: \"data_offsets\" are not [begin, end]" },
        { "{" TENSOR("q", "F32", "[1]", "[4,0]") "}", 4, "x: q: \"data_offsets\" are not [begin, end]" },
        { "{" TENSOR("q", "F32", "[1]", "[0,4,8]") "}", 4, "x: q: \"data_offsets\" are not [begin, end]" },
        { "{" TENSOR("q", "F32", "[1]", "[0,4]") "}", 3, "x: q: cut short: ends at byte 4 of the data, which has 3" },
        { "{" TENSOR("q", "F32", "[2]", "[0,4]") "}", 4, "x: q: [2] of F32 takes 8 bytes, its offsets are 4 apart" },
        { "{" TENSOR("q", "F32", "[0,3]", "[0,4]") "}", 4,
          "x: q: [0, 3] of F32 takes 0 bytes, its offsets are 4 apart" },
        { "{" TENSOR("q", "U8", "[4294967296,4294967296]", "[0,0]") "}", 0,
          "x: q: shape [4294967296, 4294967296] is larger than any memory" },
        { "{" TENSOR("q", "U8", "[0,4294967296,4294967296]", "[0,0]") "}", 0,
          "x: q: shape [0, 4294967296, 4294967296] is larger than any memory" },
        { "{" TENSOR("q", "U8", "[4]", "[0,4]") "," TENSOR("k", "U8", "[4]", "[2,6]") "}", 6,
          "x: k: overlaps another tensor, from byte 2 of the data" },
        { "{" TENSOR("q", "U8", "[4]", "[0,4]") "," TENSOR("k", "U8", "[4]", "[0,4]") "}", 4,
          "x: q: overlaps another tensor, from byte 0 of the data" },
        { "{" TENSOR("q", "U8", "[4]", "[0,4]") "," TENSOR("k", "U8", "[4]", "[5,9]") "}", 9,
          "x: k: no tensor holds what is before byte 5 of the data" },
        { "{" TENSOR("q", "U8", "[4]", "[0,4]") "}", 9, "x: too long: 5 bytes behind the last tensor" },
    };
    (void)state;
    need_format("safetensors");
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct file f = make(bad[i].header, bad[i].data);
        must_refuse_bytes(f.bytes, f.size, bad[i].message);
    }
}

static void lengths_that_lie(void **state)
{
    (void)state;
    need_format("safetensors");
    struct file f = make("{" TENSOR("q", "U8", "[4]", "[0,4]") "}", 4);
    f.bytes[0] = 0xFF;
    must_refuse_bytes(f.bytes, f.size, "x: cut short: the header takes 255 bytes, found 57");
    f.bytes[3] = 0x10;
    must_refuse_bytes(f.bytes, f.size, "x: bad safetensors header: 268435711 bytes long, at most 100 MB are accepted");
    memset(f.bytes, 0xFF, 8);
    must_refuse_bytes(f.bytes, f.size,
                      "x: bad safetensors header: 18446744073709551615 bytes long, at most 100 MB are accepted");
}

/* A header of this many values would take a parser half a gigabyte. */
static void too_many_values(void **state)
{
    (void)state;
    need_format("safetensors");
    size_t size = (size_t)5 << 20;
    unsigned char *bytes = malloc(8 + size);
    assert_non_null(bytes);
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(size >> 8 * i);
    }
    memset(bytes + 8, ',', size);
    memcpy(bytes + 8, "{\"a\":[", 6);
    must_refuse_bytes(bytes, 8 + size, "x: bad safetensors header: too many values, at byte 2097155");
    free(bytes);
}

static void headers_as_people_write_them(void **state)
{
    static const char *const good[] = {
        "{" TENSOR("q", "U8", "[4]", "[0,4]") "}      \n",
        "{ \"q\" : { \"data_offsets\" : [ 0 , 4 ] , \"shape\" : [ 2 , 2 ] , \"dtype\" : \"I8\", \"more\": [{}] } }",
        "{" TENSOR("b", "F16", "[1]", "[2,4]") "," TENSOR("a", "F16", "[1]", "[0,2]") "}",
        "{" TENSOR("e", "F16", "[0]", "[2,2]") "," TENSOR("a", "F16", "[1]", "[0,2]") "," TENSOR("b", "F16", "[]",
                                                                                                 "[2,4]") "}",
    };
    (void)state;
    need_format("safetensors");
    for (size_t i = 0; i < LENGTH(good); i++) {
        struct file f = make(good[i], 4);
        struct av_dump *d;
        struct av_error e = { "" };
        if (av_dump_parse(&d, "x", f.bytes, f.size, &e) != AV_OK) {
            fail_msg("%s: %s", good[i], e.text);
        }
        av_dump_close(d);
    }
}

/* Names come from outside: nothing in them reaches the terminal as it is. */
static void names_that_hurt(void **state)
{
    (void)state;
    need_format("safetensors");
    struct file f = make("{" TENSOR("\\u001b[2J\xFF\xC3\xA9", "U8", "[5]", "[0,4]") "}", 4);
    must_refuse_bytes(f.bytes, f.size,
                      "x: \xEF\xBF\xBD[2J\xEF\xBF\xBD\xC3\xA9: [5] of U8 takes 5 bytes, its offsets are 4 apart");
}

static void a_file_cut_anywhere(void **state)
{
    (void)state;
    need_format("safetensors");
    struct file f = make("{" TENSOR("q", "U8", "[4]", "[0,4]") "}", 4);
    for (size_t size = 2; size < f.size; size++) { /* a single byte is a row of one number here */
        struct av_dump *d;
        struct av_error e = { "" };
        assert_int_equal(av_dump_parse(&d, "x", f.bytes, size, &e), AV_FAILED);
        assert_memory_equal(e.text, "x: ", 3);
        assert_null(d);
    }
}

static void with_and_without_cjson(void **state)
{
    (void)state;
    if (av_dump_reads("safetensors")) {
        av_dump_close(must_open("tests/data/types.safetensors"));
    } else {
        must_refuse("tests/data/types.safetensors",
                    "tests/data/types.safetensors: a safetensors file, and this was built without cJSON: install "
                    "libcjson-dev and build again");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(what_is_listed),
        cmocka_unit_test(a_real_file),
        cmocka_unit_test(headers_that_are_wrong),
        cmocka_unit_test(lengths_that_lie),
        cmocka_unit_test(too_many_values),
        cmocka_unit_test(headers_as_people_write_them),
        cmocka_unit_test(names_that_hurt),
        cmocka_unit_test(a_file_cut_anywhere),
        cmocka_unit_test(with_and_without_cjson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
