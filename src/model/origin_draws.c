/* origin_draws.c - one drawing of inputs and learned matrices, block by block. */
#include "origin_draws.h"

#include "attnviz/mem.h"

#include <math.h>
#include <string.h>

enum {
    TOKENS = AV_ORIGIN_TOKENS,
    ROWS = 2 * TOKENS, /* inputs as they are, then the same with LayerNorm */
    BLOCK_ENTRIES = 1 << 17,
    /* Streams of random numbers, apart from those of Q and K. */
    TENSOR_X = 16,
    TENSOR_W
};

struct av_origin_draws {
    const struct av_kernels *kernels;
    float *x;              /* [ROWS, d_model] */
    float *w;              /* [block, d_model]: w transposed, a row is a column of w */
    double *projected[2];  /* q and k, [ROWS, d_k] */
    float *single[2];      /* the same in single precision, raw or normed */
    double s[ROWS * ROWS]; /* scores of rows of the same kind */
    double w2, w_count;    /* sum of squares of the entries of w so far, and their number */
    void *scratch;
};

enum av_status av_origin_draws_new(struct av_origin_draws **out, const struct av_kernels *kernels, struct av_error *e)
{
    *out = NULL;
    struct av_origin_draws *d = av_alloc(1, sizeof *d);
    if (d == NULL) {
        return av_fail_nomem(e, "the drawings of inputs");
    }
    d->kernels = kernels;
    d->x = av_alloc((size_t)ROWS * AV_DIM_MAX, sizeof *d->x);
    d->w = av_alloc(BLOCK_ENTRIES, sizeof *d->w);
    d->scratch = av_alloc(1, AV_SCORES_SCRATCH);
    bool whole = d->x != NULL && d->w != NULL && d->scratch != NULL;
    for (int k = 0; k < 2; k++) {
        d->projected[k] = av_alloc((size_t)ROWS * AV_DIM_MAX, sizeof *d->projected[k]);
        d->single[k] = av_alloc((size_t)ROWS * AV_DIM_MAX, sizeof *d->single[k]);
        whole = whole && d->projected[k] != NULL && d->single[k] != NULL;
    }
    if (!whole) {
        av_origin_draws_free(d);
        return av_fail_nomem(e, "the drawings of inputs");
    }
    *out = d;
    return AV_OK;
}

void av_origin_draws_free(struct av_origin_draws *d)
{
    if (d != NULL) {
        for (int k = 0; k < 2; k++) {
            av_free(d->projected[k]);
            av_free(d->single[k]);
        }
        av_free(d->x);
        av_free(d->w);
        av_free(d->scratch);
        av_free(d);
    }
}

/* ---- Drawing ---------------------------------------------------------------- */

size_t av_origin_block(const struct av_params *p)
{
    size_t fit = BLOCK_ENTRIES / (size_t)p->d_model;
    return fit < (size_t)p->d_k ? fit : (size_t)p->d_k;
}

static double mean_square(const float *x, size_t n, double centre)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double off = (double)x[i] - centre;
        sum += off * off;
    }
    return sum / (double)n;
}

/* LayerNorm without gain and bias. */
static void normalise(float *to, const float *x, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        mean += (double)x[i];
    }
    mean /= (double)n;
    double factor = 1 / sqrt(mean_square(x, n, mean) + AV_LAYER_NORM_EPS);
    for (size_t i = 0; i < n; i++) {
        to[i] = (float)(((double)x[i] - mean) * factor);
    }
}

static void draw_inputs(struct av_origin_draws *d, const struct av_params *p, uint64_t seed)
{
    size_t n = (size_t)p->d_model;
    for (uint32_t i = 0; i < TOKENS; i++) {
        float *x = d->x + i * n;
        d->kernels->draw(x, 0, n, AV_DIST_NORMAL, (struct av_stream){ seed, TENSOR_X, i });
        for (size_t c = 0; c < n; c++) {
            x[c] = (float)(p->input_mean + p->input_std * (double)x[c]);
        }
        normalise(d->x + (TOKENS + i) * n, x, n);
    }
}

void av_origin_draw_block(struct av_origin_draws *d, const struct av_params *p, enum av_init init, int drawing,
                          size_t c0)
{
    uint64_t seed = p->seed + (uint64_t)drawing;
    size_t in = (size_t)p->d_model;
    size_t out = (size_t)p->d_k;
    size_t block = av_origin_block(p);
    size_t count = block < out - c0 ? block : out - c0;
    float std = (float)sqrt(av_origin_weight_var(init, p));
    if (c0 == 0) {
        draw_inputs(d, p, seed);
        d->w2 = d->w_count = 0;
    }
    for (uint32_t k = 0; k < 2; k++) {
        enum av_dist dist = init == AV_INIT_UNIT ? AV_DIST_NORMAL : AV_DIST_UNIFORM;
        for (size_t c = 0; c < count; c++) {
            struct av_stream stream = { seed, TENSOR_W + 2 * (uint32_t)init + k, (uint32_t)(c0 + c) };
            d->kernels->draw(d->w + c * in, 0, in, dist, stream);
        }
        for (size_t i = 0; i < count * in; i++) {
            d->w[i] *= std;
        }
        d->w2 += mean_square(d->w, count * in, 0) * (double)(count * in);
        d->w_count += (double)(count * in);
        struct av_entries x = { .f32 = d->x, .pitch = in };
        struct av_entries w = { .f32 = d->w, .pitch = in };
        struct av_block all = { 0, ROWS, 0, count, 0, in };
        d->kernels->scores(d->projected[k] + c0, out, &x, &w, &all, d->scratch);
    }
}

/* ---- Measuring -------------------------------------------------------------- */

/* q and k to single precision, each row divided by its root mean square first
 * when normed is set; a row of zeros stays. */
static void to_single(struct av_origin_draws *d, size_t n, bool normed)
{
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < ROWS; i++) {
            const double *row = d->projected[k] + i * n;
            double square = 0;
            for (size_t c = 0; c < n; c++) {
                square += row[c] * row[c];
            }
            double factor = normed && square > 0 ? 1 / sqrt(square / (double)n) : 1;
            for (size_t c = 0; c < n; c++) {
                d->single[k][i * n + c] = (float)(row[c] * factor);
            }
        }
    }
}

/* Scores of the tokens from row `first` on with each other: mean square over
 * i != j, and into *within, unless NULL, the variance within rows. */
static double multiply(struct av_origin_draws *d, size_t n, size_t first, double *within)
{
    struct av_entries q = { .f32 = d->single[0], .pitch = n };
    struct av_entries k = { .f32 = d->single[1], .pitch = n };
    struct av_block block = { first, first + TOKENS, first, first + TOKENS, 0, n };
    d->kernels->scores(d->s, ROWS, &q, &k, &block, d->scratch);
    double sum = 0;
    double spread = 0;
    for (size_t i = first; i < first + TOKENS; i++) {
        double others[TOKENS - 1];
        struct av_moments row = AV_MOMENTS_INIT;
        size_t count = 0;
        for (size_t j = first; j < first + TOKENS; j++) {
            if (j != i) {
                others[count++] = d->s[i * ROWS + j];
            }
        }
        av_moments_add(&row, others, count);
        sum += row.m2 + (double)count * row.mean * row.mean;
        spread += row.m2 / (double)(count - 1);
    }
    if (within != NULL) {
        *within = spread / TOKENS;
    }
    return sum / (TOKENS * (TOKENS - 1));
}

void av_origin_measure(struct av_origin_draws *d, const struct av_params *p, double out[2][AV_ORIGIN_QUANTITIES])
{
    size_t n = (size_t)p->d_k;
    to_single(d, n, false);
    for (size_t norm = 0; norm < 2; norm++) {
        size_t first = norm * TOKENS;
        double *at = out[norm];
        at[AV_ORIGIN_W] = d->w2 / d->w_count;
        at[AV_ORIGIN_X] = mean_square(d->x + first * (size_t)p->d_model, (size_t)(TOKENS * p->d_model), 0);
        at[AV_ORIGIN_Q] = mean_square(d->single[0] + first * n, TOKENS * n, 0);
        at[AV_ORIGIN_K] = mean_square(d->single[1] + first * n, TOKENS * n, 0);
        at[AV_ORIGIN_S] = multiply(d, n, first, &at[AV_ORIGIN_ROW]);
    }
    to_single(d, n, true);
    for (size_t norm = 0; norm < 2; norm++) {
        out[norm][AV_ORIGIN_NORMED] = multiply(d, n, norm * TOKENS, NULL);
    }
}
