/* test_real_heads.c - all heads of a trained model: the known numbers.
 *
 * stories260K on 128 tokens of its own, after rotary embedding: five layers of 8
 * query heads and 4 key heads, causal. The reference values were computed in
 * float64 by another program. The file is not part of the project. */
#include "attnviz/files.h"
#include "attnviz/heads_study.h"
#include "attnviz/study.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "../shared/data/stories260k-qk.safetensors"

enum { LAYERS = 5, HEADS = 8 };

/* Mean H / ln(keys seen). */
static const double entropy_norm[LAYERS][HEADS] = {
    { 0.49, 0.71, 0.46, 0.53, 0.32, 0.28, 0.44, 0.51 }, { 0.43, 0.51, 0.44, 0.14, 0.30, 0.28, 0.18, 0.43 },
    { 0.24, 0.37, 0.27, 0.42, 0.55, 0.62, 0.75, 0.67 }, { 0.79, 0.54, 0.38, 0.52, 0.29, 0.30, 0.21, 0.49 },
    { 0.72, 0.59, 0.60, 0.71, 0.77, 0.63, 0.48, 0.53 },
};

/* Is a the value that was rounded to b at this many decimals? */
static void assert_rounds_to(double a, double b, int decimals)
{
    if (!(fabs(a - b) <= 0.5 * pow(10, -decimals) * (1 + 1e-6))) {
        fail_msg("%.17g is not %.*f", a, decimals, b);
    }
}

static void every_head_has_its_entropy(void **unused)
{
    (void)unused;
    struct av_error e = { "" };
    const struct av_files_options options = { .batch = 0 };
    const struct av_study *study = av_study_find("heads");
    struct av_files *files = NULL;
    struct av_params p;
    void *state = NULL;
    if (access(FILE_NAME, R_OK) != 0 || !av_dump_reads("safetensors")) {
        print_message("no " FILE_NAME ", or built without what it needs\n");
        skip();
    }
    if (av_files_open(&files, (const char *const[]){ FILE_NAME }, 1, &options, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    av_params_default(&p);
    p.mask = AV_MASK_CAUSAL;
    assert_int_equal(study->open(&state, av_kernels_best(), &e), AV_OK);
    study->use_source(state, av_files_source(files));
    assert_int_equal(study->begin(state, &p, &e), AV_OK);
    while (study->step(state)) {
    }
    const struct av_heads *h = study->result(state);
    assert_int_equal(h->count, LAYERS * HEADS);
    for (size_t i = 0; i < h->count; i++) {
        const struct av_head *head = &h->heads[i];
        assert_int_equal(head->rows, 127); /* the first token sees one key, itself */
        assert_rounds_to(head->at[AV_HEAD_ENTROPY], entropy_norm[head->layer][head->head], 2);
    }
    assert_rounds_to(av_heads_find(h, 2, 0)->at[AV_HEAD_FRO], 0.3329590034, 10);
    study->close(state);
    av_files_close(files);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_head_has_its_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
