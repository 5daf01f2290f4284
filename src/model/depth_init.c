/* depth_init.c - from parameters to a stack, and the numbers that it starts from. */
#include "depth_init.h"

#include <math.h>

enum {
    TENSOR_INPUT = 40,
    TENSOR_TOP,
    TENSOR_MATRIX = 64 /* and 8 times the layer, and which of its matrices */
};

enum av_status av_depth_configure(struct av_depth_config *c, const struct av_params *p, bool scale, struct av_error *e)
{
    *c = (struct av_depth_config){
        .layers = (size_t)p->layers,
        .tokens = (size_t)p->tokens,
        .d_model = (size_t)p->d_model,
        .d_k = (size_t)p->d_k,
        .init = (enum av_init)p->init,
        .norm = (enum av_norm)p->norm,
        .residual = p->residual != 0,
        .residual_scale = p->residual_scale != 0,
        .mlp = p->mlp != 0,
        .single = p->depth_dtype == AV_DEPTH_F32,
        .alpha = av_params_multiplier(p, scale),
        .clip = p->clip,
        .seed = p->seed,
    };
    const double n = (double)c->tokens;
    const double d = (double)c->d_model;
    const double work = 4 * n * d * (double)c->d_k + 2 * n * n * (double)c->d_k + (c->mlp ? 8 * n * d * d : 0);
    if (work > AV_DEPTH_WORK_MAX) {
        return av_fail(e, AV_USAGE,
                       "a layer would take %.0f million multiplications, and at most %d are allowed: lower tokens, "
                       "d_model or d_k%s",
                       ceil(work / 1e6), AV_DEPTH_WORK_MAX / 1000000, c->mlp ? ", or leave out the mlp" : "");
    }
    return AV_OK;
}

/* Standard deviation of the entries, as params.h has it; all but `unit` are
 * uniform on [-a, a], a being sqrt 3 times that. */
static double spread(enum av_init init, double fan_in, double fan_out)
{
    switch (init) {
    case AV_INIT_UNIT:
        return 1 / sqrt(fan_in);
    case AV_INIT_XAVIER:
        return sqrt(2 / (fan_in + fan_out));
    case AV_INIT_KAIMING:
        return sqrt(2 / fan_in);
    default: /* pytorch: a = 1 / sqrt(fan_in) */
        return 1 / sqrt(3 * fan_in);
    }
}

/* factor times rows of entries, each row a stream of its own. */
static void draw(const struct av_depth_math *m, double *x, size_t rows, size_t columns, enum av_dist dist,
                 double factor, struct av_stream stream)
{
    enum { PIECE = 256 };
    float piece[PIECE];
    for (size_t i = 0; i < rows; i++) {
        stream.row = (uint32_t)i;
        for (size_t from = 0; from < columns; from += PIECE) {
            const size_t count = columns - from < PIECE ? columns - from : PIECE;
            m->kernels->draw(piece, from, count, dist, stream);
            for (size_t j = 0; j < count; j++) {
                x[i * columns + from + j] = factor * (double)piece[j];
            }
        }
    }
    av_depth_round(m, x, rows * columns);
}

void av_depth_draw_input(const struct av_depth_branch *b, uint64_t seed, double *x)
{
    draw(&b->math, x, b->n, b->d, AV_DIST_NORMAL, 1, (struct av_stream){ seed, TENSOR_INPUT, 0 });
}

void av_depth_draw_top(const struct av_depth_branch *b, uint64_t seed, double *d_x)
{
    draw(&b->math, d_x, b->n, b->d, AV_DIST_NORMAL, 1, (struct av_stream){ seed, TENSOR_TOP, 0 });
}

void av_depth_draw_matrices(const struct av_depth_branch *b, const struct av_depth_config *c, size_t layer,
                            enum av_depth_matrix first, enum av_depth_matrix end)
{
    const enum av_dist dist = c->init == AV_INIT_UNIT ? AV_DIST_NORMAL : AV_DIST_UNIFORM;
    for (enum av_depth_matrix i = first; i < end; i++) {
        const size_t rows = av_depth_rows(b, i), columns = av_depth_columns(b, i);
        const struct av_stream stream = { c->seed, TENSOR_MATRIX + 8 * (uint32_t)layer + (uint32_t)i, 0 };
        draw(&b->math, b->w[i], rows, columns, dist, spread(c->init, (double)rows, (double)columns), stream);
    }
}
