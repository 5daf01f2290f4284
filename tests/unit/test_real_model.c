/* test_real_model.c - queries and keys of a trained model: the known numbers.
 *
 * Layer 2 of stories260K on 128 tokens of its own, after rotary embedding: 8
 * query heads, 4 key heads, causal. The reference values were computed in
 * float64 by another program. The files are not part of the project. */
#include "attnviz/files.h"
#include "attnviz/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define Q_FILE "../shared/data/stories260k-l2-q.npy"
#define K_FILE "../shared/data/stories260k-l2-k.npy"

enum { HEADS = 8 };

struct fixture {
    struct av_files *files;
    struct av_model *model;
    struct av_params params;
};

/* Skips the test where the files are not; else the caller calls end. */
static void begin(struct fixture *f)
{
    struct av_error e = { "" };
    if (access(Q_FILE, R_OK) != 0 || access(K_FILE, R_OK) != 0) {
        print_message("no " Q_FILE " and " K_FILE "\n");
        skip();
    }
    const struct av_files_options options = { .batch = 0 };
    if (av_files_open(&f->files, (const char *const[]){ Q_FILE, K_FILE }, 2, &options, &e) != AV_OK ||
        av_model_new(&f->model, NULL, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    av_model_use_source(f->model, av_files_source(f->files));
    av_params_default(&f->params);
    av_params_from_source(&f->params, av_files_source(f->files));
    f->params.mask = AV_MASK_CAUSAL;
}

static void end(struct fixture *f)
{
    av_model_free(f->model);
    av_files_close(f->files);
}

static const struct av_snapshot *head(struct fixture *f, int64_t number)
{
    struct av_error e;
    f->params.head = number;
    assert_int_equal(av_model_update(f->model, &f->params, AV_NEED_DQ, &e), AV_OK);
    return av_model_snapshot(f->model);
}

/* Is a the value that was rounded to b at this many decimals? */
static void assert_rounds_to(double a, double b, int decimals)
{
    if (!(fabs(a - b) <= 0.5 * pow(10, -decimals) * (1 + 1e-6))) {
        fail_msg("%.17g is not %.*f", a, decimals, b);
    }
}

static void every_head_has_its_entropy(void **state)
{
    (void)state;
    static const double entropy_norm[HEADS] = { 0.24, 0.37, 0.27, 0.42, 0.55, 0.62, 0.75, 0.67 };
    struct fixture f;
    begin(&f);
    assert_int_equal(f.params.n_head, HEADS);
    for (int i = 0; i < HEADS; i++) {
        const struct av_snapshot *s = head(&f, i);
        assert_int_equal(s->k_head, i / 2);
        assert_int_equal(s->now.rows, 127); /* the first token sees one key, itself */
        assert_rounds_to(s->now.entropy_norm_mean, entropy_norm[i], 2);
    }
    end(&f);
}

static void the_first_head_has_its_gradient(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const struct av_snapshot *s = head(&f, 0);
    assert_rounds_to(s->now.jacobian_fro_median, 0.3329590034, 10);
    assert_rounds_to(s->now.dq_rms_median, 0.4000515745, 10);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_head_has_its_entropy),
        cmocka_unit_test(the_first_head_has_its_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
