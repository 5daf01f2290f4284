/* test_files.c - files opened as a source: one or two of them, labels, batches,
 * and a real model's known entropies. */
#include "attnviz/files.h"
#include "attnviz/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define REAL "../shared/data/stories260k-qk.safetensors"
#define REAL_TOKENS "../shared/data/stories260k-tokens.txt"

static const struct av_files_options plain = { .batch = 0 };

static struct av_files *opened(const char *first, const char *second, const struct av_files_options *o)
{
    struct av_files *f;
    struct av_error e = { "" };
    const char *paths[] = { first, second };
    if (av_files_open(&f, paths, second != NULL ? 2 : 1, o, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return f;
}

static void refused(const char *first, const char *second, const struct av_files_options *o, enum av_status how,
                    const char *why)
{
    struct av_files *f;
    struct av_error e = { "" };
    const char *paths[] = { first, second };
    assert_int_equal(av_files_open(&f, paths, second != NULL ? 2 : 1, o, &e), how);
    assert_null(f);
    if (strstr(e.text, why) == NULL) {
        fail_msg("%s\ndoes not say\n%s", e.text, why);
    }
}

/* A text file in a folder of its own; the caller removes both. */
struct text {
    char folder[32], path[64];
};

static struct text written(const char *text)
{
    struct text t = { .folder = "/tmp/attnviz-test-XXXXXX" };
    assert_non_null(mkdtemp(t.folder));
    snprintf(t.path, sizeof t.path, "%s/x.txt", t.folder);
    FILE *f = fopen(t.path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return t;
}

static void removed(const struct text *t)
{
    unlink(t->path);
    rmdir(t->folder);
}

static void two_files_are_queries_and_keys(void **state)
{
    (void)state;
    struct av_files *f = opened("tests/data/f4_le.npy", "tests/data/f8_be.npy", &plain);
    const struct av_source *s = av_files_source(f);
    struct av_loaded_head h;
    assert_string_equal(s->name, "f4_le.npy × f8_be.npy");
    assert_int_equal(s->layer_count, 1);
    assert_int_equal(s->layers[0].n_head, 2);
    assert_int_equal(s->layers[0].d, 4);
    assert_string_equal(s->layers[0].part[AV_PART_Q].name, "f4_le");
    assert_string_equal(s->layers[0].part[AV_PART_K].type, ">f8");
    assert_int_equal(av_source_load(&h, s, 0, 1, NULL), AV_OK);
    for (int i = 0; i < 12; i++) { /* make_npy.py: (place - 5) / 4 */
        assert_true(h.q.f32[i] == (float)(12 + i - 5) / 4);
        assert_true(h.k.f64[i] == (12 + i - 5) / 4.0);
    }
    av_loaded_head_free(&h);
    av_files_close(f);
}

static void the_same_file_twice_is_both(void **state)
{
    (void)state;
    struct av_files *f = opened("tests/data/f4_2d.npy", "tests/data/f4_2d.npy", &plain);
    const struct av_source_layer *l = &av_files_source(f)->layers[0];
    assert_int_equal(l->n_head_kv, 1);
    assert_int_equal(l->n_q, 3);
    assert_int_equal(l->n_k, 3);
    av_files_close(f);
}

static void a_text_is_a_head(void **state)
{
    (void)state;
    struct text t = written("1 2\n3 4\n5 6\n");
    struct av_files *f = opened(t.path, t.path, &plain);
    struct av_loaded_head h;
    assert_int_equal(av_source_load(&h, av_files_source(f), 0, 0, NULL), AV_OK);
    assert_int_equal(h.d, 2);
    assert_true(h.k.f64[5] == 6);
    av_loaded_head_free(&h);
    av_files_close(f);
    removed(&t);
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    struct text t = written("1 2 3\n");
    refused("tests/data/f4_2d.npy", t.path, &plain, AV_FAILED, "f4_2d.npy has d_k 4, x.txt has 3");
    refused("tests/data/f4_2d.npy", NULL, &plain, AV_FAILED, "holds f4_2d [3, 4] alone");
    refused("tests/data/f4_2d.npy", "tests/data/nothing.npy", &plain, AV_FAILED, "nothing.npy: No such file");
    const struct av_files_options second = { .batch = 1 };
    refused("tests/data/f4_2d.npy", "tests/data/f4_2d.npy", &second, AV_USAGE,
            "--batch 1: f4_2d [3, 4] holds 1 sequence, counted from 0");
    const struct av_files_options weights = { .find = { .weights = "w.npy" } };
    refused("tests/data/f4_2d.npy", "tests/data/f4_2d.npy", &weights, AV_USAGE,
            "--weights w.npy: of two files the first is the queries, the second the keys. Give weights in a third");
    const struct av_files_options third = { .batch = 1, .find = { .layout = "hnd" } };
    refused("tests/data/f4_le.npy", "tests/data/f8_be.npy", &third, AV_USAGE,
            "--batch 1: f4_le [2, 3, 4] holds 1 sequence, counted from 0, as read; --layout says which axis they are");
    removed(&t);
}

/* An array of a .npy file is called what the file is. */
static void weights_are_named_by_their_file(void **state)
{
    (void)state;
    const struct av_files_options weights = { .find = { .weights = "f4_2d" } };
    struct av_files *f = opened("tests/data/f4_2d.npy", NULL, &weights);
    const struct av_source_layer *l = &av_files_source(f)->layers[0];
    assert_true(l->part[AV_PART_WEIGHTS].there);
    assert_false(l->part[AV_PART_Q].there);
    assert_int_equal(l->n_q, 3);
    assert_int_equal(l->n_k, 4);
    assert_int_equal(l->d, 0);
    av_files_close(f);
}

static void labels_are_one_a_line(void **state)
{
    (void)state;
    struct text t = written(" one\t\r\n\x1b[2J\n\xff");
    struct av_files_options o = { .tokens = t.path };
    struct av_files *f = opened("tests/data/f4_2d.npy", "tests/data/f4_2d.npy", &o);
    const struct av_source *s = av_files_source(f);
    assert_int_equal(s->token_count, 3);
    assert_string_equal(s->tokens[0], " one\\t");
    assert_string_equal(s->tokens[1], "\xEF\xBF\xBD[2J"); /* nothing that moves the cursor */
    assert_string_equal(s->tokens[2], "\xEF\xBF\xBD");
    av_files_close(f);
    removed(&t);
    t = written("one\ntwo\n");
    o.tokens = t.path;
    refused("tests/data/f4_2d.npy", "tests/data/f4_2d.npy", &o, AV_FAILED,
            "x.txt: 2 labels, one a line, for 3 positions");
    removed(&t);
}

/* Is a the value that was rounded to b at two decimals? */
static void assert_rounds_to(double a, double b)
{
    if (!(fabs(a - b) <= 0.005 * (1 + 1e-6))) {
        fail_msg("%.17g is not %.2f", a, b);
    }
}

/* Mean H / ln(keys seen), computed elsewhere from the same file. */
static void a_real_model_has_its_entropies(void **state)
{
    (void)state;
    static const double entropy[5][8] = {
        { 0.49, 0.71, 0.46, 0.53, 0.32, 0.28, 0.44, 0.51 }, { 0.43, 0.51, 0.44, 0.14, 0.30, 0.28, 0.18, 0.43 },
        { 0.24, 0.37, 0.27, 0.42, 0.55, 0.62, 0.75, 0.67 }, { 0.79, 0.54, 0.38, 0.52, 0.29, 0.30, 0.21, 0.49 },
        { 0.72, 0.59, 0.60, 0.71, 0.77, 0.63, 0.48, 0.53 },
    };
    if (access(REAL, R_OK) != 0 || !av_dump_reads("safetensors")) {
        print_message("no " REAL ", or no reader of it\n");
        skip();
    }
    const struct av_files_options o = { .tokens = REAL_TOKENS };
    struct av_files *f = opened(REAL, NULL, &o);
    const struct av_source *s = av_files_source(f);
    struct av_model *m;
    struct av_params p;
    assert_int_equal(av_source_heads(s), 40);
    assert_int_equal(s->token_count, 128);
    assert_string_equal(s->tokens[1], " Once");
    assert_true(s->masked);
    assert_int_equal(s->mask, AV_MASK_CAUSAL);
    assert_int_equal(av_model_new(&m, NULL, NULL), AV_OK);
    av_model_use_source(m, s);
    av_params_default(&p);
    p.mask = (int64_t)s->mask;
    for (size_t i = 0; i < 40; i++) {
        size_t layer, head;
        av_source_place(s, i, &layer, &head);
        p.layer = (int64_t)layer;
        p.head = (int64_t)head;
        av_params_from_source(&p, s);
        assert_int_equal(av_model_update(m, &p, 0, NULL), AV_OK);
        assert_int_equal(av_model_snapshot(m)->k_head, head / 2);
        assert_rounds_to(av_model_snapshot(m)->now.entropy_norm_mean, entropy[layer][head]);
    }
    av_model_free(m);
    av_files_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_files_are_queries_and_keys),
        cmocka_unit_test(the_same_file_twice_is_both),
        cmocka_unit_test(a_text_is_a_head),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(weights_are_named_by_their_file),
        cmocka_unit_test(labels_are_one_a_line),
        cmocka_unit_test(a_real_model_has_its_entropies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
