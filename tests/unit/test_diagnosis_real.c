/* test_diagnosis_real.c - the diagnosis of a trained model's heads, alone and with weights made of them.
 *
 * stories260K on 128 tokens of its own: 5 layers of 8 heads, causal, d_k 8. The file
 * is not part of the project. */
#include "diagnosis_driver.h"

#include "attnviz/dump.h"
#include "attnviz/files.h"

#include <unistd.h>

#define FILE_NAME "../shared/data/stories260k-qk.safetensors"

/* Mean H / ln keys of each head, to two decimals, by another program in float64. */
static const double entropies[5][8] = {
    { 0.49, 0.71, 0.46, 0.53, 0.32, 0.28, 0.44, 0.51 }, { 0.43, 0.51, 0.44, 0.14, 0.30, 0.28, 0.18, 0.43 },
    { 0.24, 0.37, 0.27, 0.42, 0.55, 0.62, 0.75, 0.67 }, { 0.79, 0.54, 0.38, 0.52, 0.29, 0.30, 0.21, 0.49 },
    { 0.72, 0.59, 0.60, 0.71, 0.77, 0.63, 0.48, 0.53 },
};

/* Skips the test where the file is not, or cannot be read by this program. */
static struct av_files *must_open(void)
{
    const char *path = FILE_NAME;
    struct av_files *f = NULL;
    struct av_files_options options = { 0 };
    struct av_error e = { "" };
    if (access(path, R_OK) != 0 || !av_dump_reads("safetensors")) {
        print_message("no " FILE_NAME "\n");
        skip();
    }
    if (av_files_open(&f, &path, 1, &options, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return f;
}

static void entropies_are_the_known_ones(void **state)
{
    (void)state;
    struct av_files *f = must_open();
    const struct av_source *s = av_files_source(f);
    struct av_params p;
    av_params_default(&p);
    p.mask = AV_MASK_CAUSAL;
    assert_int_equal(s->layer_count, 5);
    for (size_t layer = 0; layer < 5; layer++) {
        for (size_t head = 0; head < 8; head++) {
            struct av_diagnosis r;
            struct av_error e = { "" };
            assert_int_equal(av_diagnose_head(&r, s, layer, head, &p, NULL, &e), AV_OK);
            assert_true(fabs(r.evidence.entropy_norm_mean - entropies[layer][head]) < 0.0051);
            assert_true(fabs(r.evidence.entropy_norm_mean - r.evidence.entropy_scaled) < 1e-12);
            assert_true(r.evidence.rows_counting == 127 && r.evidence.rows_one_key == 1);
            if (layer == 2 && head == 0) {
                assert_true(fabs(r.evidence.jacobian_fro_median - 0.3329590034) < 1e-9);
            }
            assert_non_null(find(&r, "scale_unknown"));
            for (size_t i = 0; i < r.finding_count; i++) {
                bool spread = strcmp(r.findings[i].code, "saturated") == 0;
                assert_true(spread || r.findings[i].severity == AV_INFO);
            }
        }
    }
    av_files_close(f);
}

/* Real queries and keys, and weights by several multipliers, as float16 has them. */
static void multipliers_of_real_heads_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        double multiplier;
    } made_with[] = {
        { "scale_ok", 0.35355339 }, { "scale_missing", 1 },           { "scale_twice", 0.125 },
        { "scale_other", 0.22 },    { "scale_inverted", 2.82842712 },
    };
    struct av_files *f = must_open();
    const struct av_source *s = av_files_source(f);
    for (size_t at = 0; at < 40; at++) {
        struct made m;
        struct av_loaded_head head;
        struct av_error e = { "" };
        made_new(&m, 128, 8, true, 1);
        m.dtype = AV_DTYPE_F16;
        m.layer.n_head = m.layer.n_head_kv = 6; /* 1/sqrt(d_model) is a number of its own */
        assert_int_equal(av_source_load(&head, s, at / 8, at % 8, &e), AV_OK);
        for (size_t i = 0; i < m.n_q * m.d; i++) {
            m.part[AV_PART_Q][i] = (double)head.q.f32[i];
            m.part[AV_PART_K][i] = (double)head.k.f32[i];
        }
        for (size_t i = 0; i < LENGTH(made_with); i++) {
            make_logits(&m, made_with[i].multiplier);
            plain_weights(&m);
            give_weights(&m);
            struct av_diagnosis r = diagnose(&m);
            assert_only(&m, &r, made_with[i].code);
            assert_true(fabs(r.evidence.multiplier.slope / made_with[i].multiplier - 1) < 0.01);
        }
        av_loaded_head_free(&head);
        made_free(&m);
    }
    av_files_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entropies_are_the_known_ones),
        cmocka_unit_test(multipliers_of_real_heads_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
