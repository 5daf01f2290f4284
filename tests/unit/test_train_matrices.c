/* test_train_matrices.c - what sigma_reparam and qk_clip do to learned matrices. */
#include "../../src/model/train_hook.h"
#include "../../src/model/train_matrices.h"
#include "train_driver.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 5, COLUMNS = 7 };

static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / (double)(1u << 30) - 1;
}

/* ---- Singular values, by another way --------------------------------------------- */

/* The largest singular value of m [rows, columns], by Jacobi rotations of the
 * columns until they are orthogonal (Hestenes 1958). m is overwritten. */
static double largest_singular(double *m, size_t rows, size_t columns)
{
    double largest = 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        for (size_t a = 0; a + 1 < columns; a++) {
            for (size_t b = a + 1; b < columns; b++) {
                double aa = 0, bb = 0, ab = 0;
                for (size_t r = 0; r < rows; r++) {
                    aa += m[r * columns + a] * m[r * columns + a];
                    bb += m[r * columns + b] * m[r * columns + b];
                    ab += m[r * columns + a] * m[r * columns + b];
                }
                const double angle = 0.5 * atan2(2 * ab, aa - bb);
                for (size_t r = 0; r < rows; r++) {
                    const double x = m[r * columns + a], y = m[r * columns + b];
                    m[r * columns + a] = cos(angle) * x + sin(angle) * y;
                    m[r * columns + b] = cos(angle) * y - sin(angle) * x;
                }
            }
        }
    }
    for (size_t c = 0; c < columns; c++) {
        double squares = 0;
        for (size_t r = 0; r < rows; r++) {
            squares += m[r * columns + c] * m[r * columns + c];
        }
        largest = fmax(largest, sqrt(squares));
    }
    return largest;
}

static void the_other_way_is_right(void **state)
{
    (void)state;
    double m[4] = { 3, 0, 4, 5 }; /* singular values sqrt 45 and sqrt 5 */
    assert_true(fabs(largest_singular(m, 2, 2) - sqrt(45)) < 1e-14);
}

/* ---- sigma_reparam ----------------------------------------------------------------- */

/* Four matrices as a run has them, of any entries. */
static struct matrices {
    struct av_attention_sizes sizes;
    float w[4 * ROWS * 64], d_w[4 * ROWS * 64], effective[4 * ROWS * 64];
} at;

static void fill(uint64_t seed)
{
    at.sizes = av_attention_sizes(1, 2, COLUMNS, ROWS, 0);
    assert_true(at.sizes.model_pitch <= 64);
    memset(at.w, 0, sizeof at.w);
    memset(at.d_w, 0, sizeof at.d_w);
    for (size_t r = 0; r < 4 * ROWS; r++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            at.w[r * at.sizes.model_pitch + c] = (float)noise(&seed);
            at.d_w[r * at.sizes.model_pitch + c] = (float)noise(&seed);
        }
    }
}

/* Of matrix number `which` of four, [ROWS, COLUMNS] without its pitch. */
static void copy_matrix(double out[ROWS * COLUMNS], const float *w, size_t which)
{
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            out[r * COLUMNS + c] = (double)w[(which * ROWS + r) * at.sizes.model_pitch + c];
        }
    }
}

static void the_largest_singular_value_becomes_gamma(void **state)
{
    (void)state;
    static const double gamma[AV_MATRICES] = { 1, 0.3, 2.5, 1e-3 };
    struct av_spectra m;
    struct av_error e;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fill(seed);
        assert_int_equal(av_spectra_new(&m, &at.sizes, &e), AV_OK);
        av_spectra_begin(&m, at.w);
        av_spectra_apply(&m, at.effective, at.w, gamma);
        for (size_t which = 0; which < AV_MATRICES; which++) {
            double copy[ROWS * COLUMNS];
            copy_matrix(copy, at.w, which);
            assert_true(fabs(m.sigma[which] / largest_singular(copy, ROWS, COLUMNS) - 1) < 1e-13);
            copy_matrix(copy, at.effective, which);
            assert_true(fabs(largest_singular(copy, ROWS, COLUMNS) / gamma[which] - 1) < 3e-7);
        }
        av_spectra_free(&m);
    }
}

/* <G, gamma W / sigma_max(W)>, whose gradient by gamma W / sigma_max is G. */
static double product(const double w[ROWS * COLUMNS], const double g[ROWS * COLUMNS], double gamma)
{
    double copy[ROWS * COLUMNS], sum = 0;
    memcpy(copy, w, sizeof copy);
    const double sigma = largest_singular(copy, ROWS, COLUMNS);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        sum += g[i] * gamma * w[i] / sigma;
    }
    return sum;
}

static void its_way_back_is_that_of_differences(void **state)
{
    (void)state;
    static const double gamma[AV_MATRICES] = { 1, 0.3, 2.5, 1.2 };
    const double h = 1e-4;
    double d_gamma[AV_MATRICES], w[AV_MATRICES][ROWS * COLUMNS], g[AV_MATRICES][ROWS * COLUMNS];
    struct av_spectra m;
    struct av_error e;
    fill(7);
    for (size_t which = 0; which < AV_MATRICES; which++) {
        copy_matrix(w[which], at.w, which);
        copy_matrix(g[which], at.d_w, which);
    }
    assert_int_equal(av_spectra_new(&m, &at.sizes, &e), AV_OK);
    av_spectra_begin(&m, at.w);
    av_spectra_backward(&m, at.d_w, d_gamma, at.w, gamma);
    for (size_t which = 0; which < AV_MATRICES; which++) {
        double got[ROWS * COLUMNS];
        copy_matrix(got, at.d_w, which);
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            const double was = w[which][i];
            w[which][i] = was + h;
            double difference = product(w[which], g[which], gamma[which]);
            w[which][i] = was - h;
            difference = (difference - product(w[which], g[which], gamma[which])) / (2 * h);
            w[which][i] = was;
            assert_true(fabs(got[i] - difference) < 3e-7 * (1 + fabs(difference)));
        }
        assert_true(fabs(d_gamma[which] - product(w[which], g[which], 1)) < 1e-12);
    }
    av_spectra_free(&m);
}

/* Whatever the steps did to W: its spectral norm is about what was learned as
 * such. Power iteration comes from below, so that the norm is never less. */
static void in_training_gamma_is_the_spectral_norm(void **state)
{
    (void)state;
    enum { D_MODEL = 12, D_K = 6 };
    struct av_train *t = trained("variant=sigma_reparam sigma_reparam.gamma=0.7 d_model=12 d_k=6 seq_len=5 batch=8 "
                                 "sequences=32 epochs=300 lr=0.0003 init=unit",
                                 NULL);
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_train_run *run = av_train_run(t, twin);
        assert_int_equal(run->state, AV_TRAIN_DONE);
        for (int which = 0; which < 4; which++) {
            float matrix[D_MODEL * D_K];
            double copy[D_MODEL * D_K];
            const size_t columns = which < 3 ? D_K : D_MODEL;
            av_train_matrix(t, twin, which, matrix);
            for (size_t i = 0; i < D_MODEL * D_K; i++) {
                copy[i] = (double)matrix[i];
            }
            const double gamma = run->scalars[AV_SCALAR_GAMMA + which];
            assert_true(fabs(gamma - 0.7) > 1e-3); /* it has moved */
            const double norm = largest_singular(copy, D_MODEL * D_K / columns, columns);
            if (!(norm > (1 - 1e-6) * gamma) || !(norm < 1.01 * gamma)) {
                fail_msg("matrix %d: gamma %.9g, spectral norm %.9g", which, gamma, norm);
            }
        }
    }
    av_train_free(t);
}

/* ---- qk_clip -------------------------------------------------------------------------- */

static double largest_logit(struct av_attention *a)
{
    struct av_attention_observed o;
    av_kernels_best()->forward(a);
    av_kernels_best()->observe(a, &o);
    return o.max_logit;
}

/* Whatever else the variant does to logits that are not normalised. */
static void no_logit_is_above_tau_behind_it(void **state)
{
    (void)state;
    static const char *const variants[] = { "softmax",
                                            "softcap",
                                            "alibi",
                                            "differential",
                                            "sigmoid",
                                            "ssmax+sink+window window.size=3",
                                            "window window.size=1" };
    const struct av_kernels *kernels = av_kernels_best();
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        char settings[128];
        struct av_train_config c;
        struct av_attention a;
        struct av_error e;
        float w[4 * 4 * 64] = { 0 };
        uint64_t seed = 3;
        snprintf(settings, sizeof settings, "variant=%s d_model=8 d_k=4 seq_len=6 batch=5", variants[i]);
        assert_int_equal(configure(&c, settings, &e), AV_OK);
        const struct av_attention_sizes sizes = av_attention_sizes(5, 6, 8, 4, 0);
        assert_int_equal(av_attention_new(&a, &sizes, &e), AV_OK);
        assert_int_equal(av_train_hook_new(&a.hook, &c, kernels, &e), AV_OK);
        a.w = w;
        a.alpha = 1;
        for (size_t r = 0; r < 4 * 4; r++) {
            for (size_t col = 0; col < 8; col++) {
                w[r * sizes.model_pitch + col] = (float)(2 * noise(&seed));
            }
        }
        for (size_t k = 0; k < sizes.tokens; k++) {
            for (size_t col = 0; col < 8; col++) {
                a.x[k * sizes.model_pitch + col] = (float)noise(&seed);
            }
        }
        kernels->transpose(a.x_t, sizes.token_pitch, a.x, sizes.model_pitch, sizes.tokens, sizes.d_model);
        const double before = largest_logit(&a), tau = before / 3;
        assert_true(before > 1);
        assert_false(av_qk_clip(w, &sizes, before, before));
        assert_true(largest_logit(&a) == before);
        assert_true(av_qk_clip(w, &sizes, before, tau));
        const double after = largest_logit(&a);
        if (!(after <= tau * (1 + 1e-6)) || !(after > 0)) {
            fail_msg("%s: largest logit %.9g, then %.9g, tau %.9g", variants[i], before, after, tau);
        }
        av_train_hook_free(a.hook);
        av_attention_free(&a);
    }
}

#define CLIPPED "d_model=16 d_k=8 seq_len=5 batch=4 sequences=8 epochs=5 init=unit "

static void it_counts_its_steps(void **state)
{
    (void)state;
    struct av_train *never = trained(CLIPPED "variant=qk_clip qk_clip.tau=1e9", NULL);
    struct av_train *often = trained(CLIPPED "variant=qk_clip qk_clip.tau=0.001", NULL);
    struct av_train *plain = trained(CLIPPED, NULL);
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_train_run *run = av_train_run(never, twin);
        assert_int_equal(run->clipped, 0);
        assert_memory_equal(run->epochs, av_train_run(plain, twin)->epochs, 5 * sizeof *run->epochs);
        assert_in_range(av_train_run(often, twin)->clipped, 2, 10);
        assert_true(av_train_run(often, twin)->last.at[AV_TRAIN_LOGIT_STD] < 0.01);
    }
    av_train_free(never);
    av_train_free(often);
    av_train_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_way_is_right),
        cmocka_unit_test(the_largest_singular_value_becomes_gamma),
        cmocka_unit_test(its_way_back_is_that_of_differences),
        cmocka_unit_test(in_training_gamma_is_the_spectral_norm),
        cmocka_unit_test(no_logit_is_above_tau_behind_it),
        cmocka_unit_test(it_counts_its_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
