/* test_find.c - queries and keys by the names and shapes that tensors have. */
#include "find_driver.h"

#include <unistd.h>

static void found_by_name_and_shape(void **state)
{
    static const struct {
        const char *tensors;
        size_t n_head, n_head_kv, d_k;
        struct av_find_options options;
        const char *found;
    } cases[] = {
        /* One layer, and several, with fewer heads of keys. */
        { "k 128 8, q 128 8", 0, 0, 0, { 0 }, "0 q1 1 1 128 8 @0/0/0/8 k0 1 1 128 8 @0/0/0/8" },
        { "layers.0.k 4 128 8, layers.0.q 8 128 8, layers.2.k 4 128 8, layers.2.q 8 128 8",
          8,
          4,
          8,
          { 0 },
          "0 q1 1 8 128 8 @0/0/1024/8 k0 1 4 128 8 @0/0/1024/8; 2 q3 1 8 128 8 @0/0/1024/8 k2 1 4 128 8 "
          "@0/0/1024/8" },
        { "k 4 16 8, q 8 16 8", 0, 0, 0, { 0 }, "0 q1 1 8 16 8 @0/0/128/8 k0 1 4 16 8 @0/0/128/8?" },
        /* Names as programs give them; of numbers the layer's is the first. */
        { "blk.3.attn_k 2 4, blk.3.attn_q 2 4", 0, 0, 0, { 0 }, "3 q1 1 1 2 4 @0/0/0/4 k0 1 1 2 4 @0/0/0/4" },
        { "model.layers.7.self_attn.key_states 2 4, model.layers.7.self_attn.query_states 2 4",
          0,
          0,
          0,
          { 0 },
          "7 q1 1 1 2 4 @0/0/0/4 k0 1 1 2 4 @0/0/0/4" },
        { "Key 2 4, Q 2 4, Query 2 4", 0, 0, 0, { 0 }, "0 q2 1 1 2 4 @0/0/0/4 k0 1 1 2 4 @0/0/0/4" },
        /* What is named like them and is none. */
        { "k 2 4, n_k, n_q, q 2 4, q_norm 4", 0, 0, 0, { 0 }, "0 q3 1 1 2 4 @0/0/0/4 k0 1 1 2 4 @0/0/0/4" },
        { "k 2 4, k_proj.weight 4 4, q 2 4, q_proj.weight 4 4",
          0,
          0,
          0,
          { 0 },
          "0 q2 1 1 2 4 @0/0/0/4 k0 1 1 2 4 @0/0/0/4" },
        /* Heads side by side, as a projection gives them. */
        { "k 2 5 8, q 2 5 16", 4, 2, 4, { 0 }, "0 q1 2 4 5 4 @0/80/4/16 k0 2 2 5 4 @0/40/4/8" },
        { "k 5 8, q 5 16", 4, 0, 4, { 0 }, "0 q1 1 4 5 4 @0/0/4/16 k0 1 2 5 4 @0/0/4/8" },
        { "k 5 12, q 5 12", 0, 0, 4, { .layout = "nc" }, "0 q1 1 3 5 4 @0/0/4/12 k0 1 3 5 4 @0/0/4/12" },
        { "k 5 12, q 5 12", 0, 0, 0, { .n_head = 3, .layout = "nc" }, "0 q1 1 3 5 4 @0/0/4/12 k0 1 3 5 4 @0/0/4/12" },
        { "k 3 5 4, q 3 5 4", 5, 5, 0, { 0 }, "0 q1 1 5 3 4 @0/0/4/20 k0 1 5 3 4 @0/0/4/20" },
        /* Four axes: by the number of heads, else by the longer axis. */
        { "k 2 3 5 4, q 2 3 5 4", 3, 3, 0, { 0 }, "0 q1 2 3 5 4 @0/60/20/4 k0 2 3 5 4 @0/60/20/4" },
        { "k 2 5 3 4, q 2 5 3 4", 3, 3, 0, { 0 }, "0 q1 2 3 5 4 @0/60/4/12 k0 2 3 5 4 @0/60/4/12" },
        { "k 2 5 3 4, q 2 5 3 4", 0, 0, 0, { 0 }, "0 q1 2 3 5 4 @0/60/4/12 k0 2 3 5 4 @0/60/4/12?" },
        { "k 2 3 5 4, q 2 3 5 4", 0, 0, 0, { 0 }, "0 q1 2 3 5 4 @0/60/20/4 k0 2 3 5 4 @0/60/20/4?" },
        { "k 2 4 4 6, q 2 4 4 6", 0, 0, 0, { 0 }, "0 q1 2 4 4 6 @0/96/24/6 k0 2 4 4 6 @0/96/24/6?" },
        { "k 2 3 5 4, q 2 3 5 4", 0, 0, 0, { .layout = "bnhd" }, "0 q1 2 5 3 4 @0/60/4/20 k0 2 5 3 4 @0/60/4/20" },
        /* Fewer heads of keys tell the axis of heads, also when it is longer: of four
         * axes, and of three. One key of a cache does not. */
        { "k 1 3 2 4, q 1 3 8 4", 0, 0, 0, { 0 }, "0 q1 1 8 3 4 @0/96/4/32 k0 1 2 3 4 @0/24/4/8?" },
        { "k 1 2 3 4, q 1 8 3 4", 0, 0, 0, { 0 }, "0 q1 1 8 3 4 @0/96/12/4 k0 1 2 3 4 @0/24/12/4?" },
        { "k 6 2 4, q 6 8 4", 0, 0, 0, { 0 }, "0 q1 1 8 6 4 @0/0/4/32 k0 1 2 6 4 @0/0/4/8?" },
        { "k 1 8 7 4, q 1 8 1 4", 0, 0, 0, { 0 }, "0 q1 1 8 1 4 @0/32/4/4 k0 1 8 7 4 @0/224/28/4" },
        /* One head of keys may lack its axis. */
        { "k 7 4, q 3 7 4", 0, 0, 0, { 0 }, "0 q1 1 3 7 4 @0/0/28/4 k0 1 1 7 4 @0/0/4/4?" },
        { "k 2 7 4, q 2 3 7 4", 0, 0, 0, { 0 }, "0 q1 2 3 7 4 @0/84/28/4 k0 2 1 7 4 @0/28/4/4?" },
        /* Fused. */
        { "h.0.attn.qkv 5 24", 2, 0, 0, { 0 }, "0 q0 1 2 5 4 @0/0/4/24 k0 1 2 5 4 @8/0/4/24" },
        { "qkv 2 5 16", 2, 1, 4, { 0 }, "0 q0 2 2 5 4 @0/80/4/16 k0 2 1 5 4 @8/80/4/16" },
        { "h.1.query_key_value 5 24", 2, 2, 4, { 0 }, "1 q0 1 2 5 4 @0/0/4/24 k0 1 2 5 4 @8/0/4/24" },
        /* Names given. */
        { "a 2 4, b 2 4, k 2 4, q 2 4", 0, 0, 0, { .q = "a", .k = "b" }, "0 q0 1 1 2 4 @0/0/0/4 k1 1 1 2 4 @0/0/0/4" },
        { "l2.b 2 4, l2.c 2 4, l10.b 2 4, l10.c 2 4",
          0,
          0,
          0,
          { .q = "l*.c", .k = "l*.b" },
          "2 q1 1 1 2 4 @0/0/0/4 k0 1 1 2 4 @0/0/0/4; 10 q3 1 1 2 4 @0/0/0/4 k2 1 1 2 4 @0/0/0/4" },
        { "x 5 24", 2, 0, 0, { .q = "x", .k = "x", .layout = "nf" }, "0 q0 1 2 5 4 @0/0/4/24 k0 1 2 5 4 @8/0/4/24" },
        /* Weights and scores beside them, and alone. */
        { "attn 3 3, k 3 4, logits 3 3, q 3 4",
          0,
          0,
          0,
          { .weights = "attn", .scores = "logits" },
          "0 q3 1 1 3 4 @0/0/0/4 k1 1 1 3 4 @0/0/0/4 w0 1 1 3 3 @0/0/0/3 s2 1 1 3 3 @0/0/0/3" },
        { "layer.0.p 2 3 5, layer.1.p 2 3 5",
          0,
          0,
          0,
          { .weights = "layer.*.p" },
          "0 w0 1 2 3 5 @0/0/15/5; 1 w1 1 2 3 5 @0/0/15/5" },
        { "layer.0.k 3 4, layer.0.q 3 4, layer.1.k 3 4, layer.1.q 3 4, layer.1.s 3 3",
          0,
          0,
          0,
          { .scores = "layer.*.s" },
          "0 q1 1 1 3 4 @0/0/0/4 k0 1 1 3 4 @0/0/0/4; 1 q3 1 1 3 4 @0/0/0/4 k2 1 1 3 4 @0/0/0/4 s4 1 1 3 3 "
          "@0/0/0/3" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct file f;
        struct av_find found;
        struct av_error e = { "" };
        char text[400];
        make(&f, cases[i].tensors);
        f.file.n_head = cases[i].n_head;
        f.file.n_head_kv = cases[i].n_head_kv;
        f.file.d_k = cases[i].d_k;
        if (av_find(&found, &f.file, &cases[i].options, &e) != AV_OK) {
            fail_msg("%s: %s", cases[i].tensors, e.text);
        }
        describe(text, sizeof text, &found);
        if (strcmp(text, cases[i].found) != 0) {
            fail_msg("%s: %s, not %s", cases[i].tensors, text, cases[i].found);
        }
        av_find_free(&found);
    }
}

#define WHICH                                                                                                          \
    "x: which are queries and keys? Say --q NAME --k NAME (a * stands for the layer's number), --weights NAME or "     \
    "--scores NAME. There are: "
#define NOT_FITTING ": no layout fits"
#define SAY ": say --layout, --n-head, --n-head-kv or --d-k"

static void what_cannot_be_decided(void **state)
{
    static const struct {
        const char *tensors;
        size_t n_head;
        struct av_find_options options;
        enum av_status status;
        const char *message;
    } cases[] = {
        { "a 2 4, b 2 3, c 8", 0, { 0 }, AV_FAILED, WHICH "a [2, 4], b [2, 3], c [8]" },
        { "k 2 4, query 2 4",
          0,
          { 0 },
          AV_FAILED,
          "x: which are queries and keys? Say --q k --k query, or the other way round; or --weights NAME or --scores "
          "NAME. There are: k [2, 4], query [2, 4]" },
        { "a 1, b 1, c 1, d 1, e 1, f 1, g 1, h 1",
          0,
          { 0 },
          AV_FAILED,
          WHICH "a [1], b [1], c [1], d [1], e [1], f [1] and 2 more" },
        { "l.0.k_proj.weight 4 4, l.0.q_proj.weight 4 4",
          0,
          { 0 },
          AV_FAILED,
          "x: l.0.k_proj.weight is a learned matrix: queries and keys are what it makes of an input, dump these" },
        { "a 2 4, b 2 4", 0, { .q = "a" }, AV_USAGE, "--q and --k belong together" },
        { "a 2 4, b 2 4",
          0,
          { .layout = "hdn" },
          AV_USAGE,
          "--layout hdn: one of nd, nc, nf, hnd, nhd, bnc, bnf, nbc, nbf, bhnd, bnhd, nbhd" },
        { "a 2 4, b 2 4", 0, { .q = "a", .k = "c" }, AV_FAILED, "x: a: there are no keys c" },
        { "a 2 4, b 2 4",
          0,
          { .q = "c", .k = "b" },
          AV_FAILED,
          "x: there is no tensor c. There are: a [2, 4], b [2, 4]" },
        { "a 2 4, b 2 4", 0, { .weights = "w" }, AV_FAILED, "x: there is no tensor w. There are: a [2, 4], b [2, 4]" },
        { "k 2 4, q 2 4", 0, { .scores = "w" }, AV_FAILED, "x: there is no tensor w. There are: k [2, 4], q [2, 4]" },
        { "a 2 4, b 2 4, w 2 2",
          0,
          { .q = "c", .k = "b", .weights = "w" },
          AV_FAILED,
          "x: there is no tensor c. There are: a [2, 4], b [2, 4], w [2, 2]" },
        { "layer.0.k 2 4, layer.0.q 2 4, layer.1.k 2 4, layer.1.q 2 4, w 2 2",
          0,
          { .weights = "w" },
          AV_FAILED,
          "x: --weights w: of which layer? It has no number that one of the 2 layers has. A * stands for the number: "
          "--weights 'layers.*.NAME'" },
        { "k 2 4, q 2 4, w 2",
          0,
          { .weights = "w" },
          AV_FAILED,
          "x: w [2]: weights and scores are [queries, keys], [heads, queries, keys] or [batch, heads, queries, keys]" },
        { "qkv 5 24", 0, { 0 }, AV_FAILED, "x: qkv [5, 24]" NOT_FITTING ", and the number of heads is not known" SAY },
        { "qkv 5 24", 5, { 0 }, AV_FAILED, "x: qkv [5, 24]" NOT_FITTING ", 5 heads do not divide 24 columns" SAY },
        { "k 5 24, q 5 24", 5, { 0 }, AV_FAILED, "x: q [5, 24]" NOT_FITTING ", 5 heads do not divide 24 columns" SAY },
        { "k 2 4, q 2 4", 0, { .layout = "hnd" }, AV_USAGE, "x: --layout hnd has 3 axes, but q [2, 4] has 2" },
        { "k 2 3, q 2 4", 1, { 0 }, AV_FAILED, "x: k [2, 3]" NOT_FITTING SAY },
        { "k 1 1 1 2 4, q 1 1 1 2 4", 1, { 0 }, AV_FAILED, "x: q [1, 1, 1, 2, 4]" NOT_FITTING SAY },
        { "k 3 5 4, q 8 5 4",
          8,
          { 0 },
          AV_FAILED,
          "x: q has 8 heads in 1 sequences, k 3 in 1: not queries and keys of each other" },
        { "k 0 4, q 0 4", 1, { 0 }, AV_FAILED, "x: q [0, 4] is empty" },
        { "w 0 4", 1, { .weights = "w" }, AV_FAILED, "x: w [0, 4] is empty" },
        { "w 0 4", 1, { 0 }, AV_FAILED, "x: w [0, 4] is empty" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static const struct av_find zero;
        struct file f;
        struct av_find found;
        struct av_error e = { "" };
        make(&f, cases[i].tensors);
        f.file.n_head = cases[i].n_head;
        assert_int_equal(av_find(&found, &f.file, &cases[i].options, &e), cases[i].status);
        assert_string_equal(e.text, cases[i].message);
        assert_memory_equal(&found, &zero, sizeof zero);
    }
}

/* The tensor's `no` is what is said, not that its shape is strange. */
static void queries_that_are_no_numbers(void **state)
{
    (void)state;
    struct file f;
    struct av_find found;
    struct av_error e = { "" };
    make(&f, "k 2 4, q 2 4");
    f.tensors[0].no = "type F4 is not supported";
    assert_int_equal(av_find(&found, &f.file, &(struct av_find_options){ 0 }, &e), AV_FAILED);
    assert_string_equal(e.text, "x: k: type F4 is not supported");
    make(&f, "k 2 4, q 2"); /* nor is it looked over because of its shape */
    f.tensors[1].no = "type '|O' is not supported";
    assert_int_equal(av_find(&found, &f.file, &(struct av_find_options){ 0 }, &e), AV_FAILED);
    assert_string_equal(e.text, "x: q: type '|O' is not supported");
}

static void runs_of_rows(void **state)
{
    (void)state;
    const struct av_find_rows rows = { 0, 2, 3, 5, 4, 7, 60, 4, 12 };
    struct av_dump_run run = av_find_run(&rows, 1, 2, 3, 2);
    assert_int_equal(run.first, 7 + 60 + 8 + 36);
    assert_int_equal(run.count, 4);
    assert_int_equal(run.rows, 2);
    assert_int_equal(run.stride, 12);
}

/* A real model's file, when it is there: five layers, eight heads on four. */
static void a_real_file(void **state)
{
    (void)state;
    const char *path = "../shared/data/stories260k-qk.safetensors";
    if (access(path, R_OK) != 0 || !av_dump_reads("safetensors")) {
        print_message("no %s, or built without cJSON: skipped\n", path);
        skip();
    }
    struct av_dump *d;
    struct av_find found;
    assert_int_equal(av_dump_open(&d, path, NULL), AV_OK);
    assert_int_equal(av_find_in_dump(&found, d, &(struct av_find_options){ 0 }, NULL), AV_OK);
    assert_int_equal(found.count, 5);
    assert_false(found.guessed);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(found.layers[i].number, i);
        assert_int_equal(found.layers[i].q.heads, 8);
        assert_int_equal(found.layers[i].k.heads, 4);
        assert_int_equal(found.layers[i].q.n, 128);
    }
    float row[8];
    struct av_dump_run last = av_find_run(&found.layers[2].q, 0, 7, 127, 1);
    assert_int_equal(av_dump_read_f32(d, found.layers[2].q.tensor, &last, row, NULL), AV_OK);
    assert_true(row[7] == 0x1.3e22cap+2F); /* NumPy: a[7, 127, 7] of stories260k-l2-q.npy */
    av_find_free(&found);
    av_dump_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_name_and_shape),
        cmocka_unit_test(what_cannot_be_decided),
        cmocka_unit_test(queries_that_are_no_numbers),
        cmocka_unit_test(runs_of_rows),
        cmocka_unit_test(a_real_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
