/* precision_overflow.c - the first d_k at which a score overflows f16.
 *
 * Unscaled, the scores at all d_k are one sum that goes on. With the query
 * scaled first they are not: every d_k scales and rounds it anew. But rounding
 * changes a sum by little, so only where the unscaled one, scaled, comes near
 * the end of f16 it is computed in full. */
#include "precision_state.h"

#include "attnviz/dtype.h"

#include <math.h>
#include <string.h>

enum { LANES = AV_PRECISION_LANES, BLOCK = AV_PRECISION_BLOCK };

/* From here on numbers round to infinity; what does not come so near, does not. */
#define BEYOND 65520.0F
#define NEAR 65490.0F
#define SLACK 0x1p-9F /* of the sizes of a sum's terms: what rounding may add to it, see go_on */

static double entry(const struct av_entries *e, size_t row, size_t c)
{
    size_t at = row * e->pitch + c;
    return e->f64 != NULL ? e->f64[at] : (double)e->f32[at];
}

/* Keys as f16 holds them, side by side; without their mean, if that is asked for. */
void av_precision_overflow_keys(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t block)
{
    (void)scale;
    (void)dtype;
    struct av_precision_buffers *b = &s->buffers;
    const struct av_entries k = s->head.k;
    size_t from = block * BLOCK;
    size_t to = from + BLOCK < b->columns ? from + BLOCK : b->columns;
    double mean[BLOCK] = { 0 };
    for (size_t j = 0; s->result.params.smooth_k && j < b->n_k; j++) {
        for (size_t c = from; c < to; c++) {
            mean[c - from] += entry(&k, j, c);
        }
    }
    for (size_t j = 0; j < b->n_k; j++) {
        float *lane = b->panel + j / LANES * LANES * b->columns + j % LANES;
        b->squares[j] = block > 0 ? b->squares[j] : 0;
        for (size_t c = from; c < to; c++) {
            double x = av_dtype_round(AV_DTYPE_F16, entry(&k, j, c) - mean[c - from] / (double)b->n_k);
            lane[c * LANES] = (float)x;
            b->squares[j] += x * x;
        }
    }
}

/* One query and some keys side by side, and the least d so far at which a score
 * overflows, or one beyond all columns. */
struct search {
    const struct av_precision_buffers *b;
    const float *panel;
    size_t lanes; /* that are seen */
    size_t first[AV_SCALE_ORDERS];
};

/* Sums over the first columns, and of the sizes of their terms. */
struct sums {
    float sum[LANES], size[LANES];
};

/* Goes on over columns [from, to). Returns how far a sum at one of them may
 * reach when the query is scaled and rounded first, over the scale: rounding
 * moves a term by 2^-11 of it, or by 2^-25 |k| where it is subnormal, which are
 * less than 8 in all and in NEAR; the sum of 4096 terms in single precision
 * moves by less than 2^-11 of their sizes, here and there. */
static float go_on(struct sums *s, const float *panel, const float *q, size_t from, size_t to)
{
    struct sums at = *s; /* in registers */
    float reach[LANES] = { 0 };
    for (size_t c = from; c < to; c++) {
        for (size_t l = 0; l < LANES; l++) {
            float term = q[c] * panel[c * LANES + l];
            at.sum[l] += term;
            at.size[l] += fabsf(term);
            float here = fabsf(at.sum[l]) + at.size[l] * SLACK;
            reach[l] = here > reach[l] ? here : reach[l];
        }
    }
    *s = at;
    float most = 0;
    for (size_t l = 0; l < LANES; l++) {
        most = reach[l] > most ? reach[l] : most;
    }
    return most;
}

/* Does a score overflow at d, the query scaled first? s: the sums up to there. */
static bool scaled_overflows(const struct search *at, const struct sums *s, size_t d)
{
    double multiplier = at->b->multiplier[d - 1];
    for (size_t l = 0; l < at->lanes; l++) {
        float reach = fabsf(s->sum[l]) + s->size[l] * SLACK;
        if (!(multiplier * (double)reach >= (double)NEAR)) {
            continue;
        }
        float sum = 0;
        for (size_t c = 0; c < d; c++) {
            double scaled = av_dtype_round(AV_DTYPE_F16, (double)at->b->query[c] * multiplier);
            sum += (float)scaled * at->panel[c * LANES + l];
        }
        if (fabsf(sum) >= BEYOND) {
            return true;
        }
    }
    return false;
}

static bool plain_overflows(const struct search *at, const struct sums *s)
{
    for (size_t l = 0; l < at->lanes; l++) {
        if (fabsf(s->sum[l]) >= BEYOND) {
            return true;
        }
    }
    return false;
}

/* Column by column over [from, to). s: the sums before them. */
static void look(struct search *at, struct sums s, size_t from, size_t to)
{
    for (size_t d = from + 1; d <= to; d++) {
        go_on(&s, at->panel, at->b->query, d - 1, d);
        if (d < at->first[AV_SCALE_PRODUCT] && plain_overflows(at, &s)) {
            at->first[AV_SCALE_PRODUCT] = d;
        }
        if (d < at->first[AV_SCALE_QUERY] && scaled_overflows(at, &s, d)) {
            at->first[AV_SCALE_QUERY] = d;
        }
    }
}

/* Up to where the scaled query is known to overflow: the plain one does not
 * later, as no multiplier is above 1. */
static void search(struct search *at)
{
    const struct av_precision_buffers *b = at->b;
    struct sums s = { { 0 }, { 0 } };
    for (size_t from = 0; from < b->columns && from + 1 < at->first[AV_SCALE_QUERY]; from += BLOCK) {
        size_t to = from + BLOCK < b->columns ? from + BLOCK : b->columns;
        struct sums before = s;
        float reach = go_on(&s, at->panel, b->query, from, to);
        bool plain = reach >= NEAR && from + 1 < at->first[AV_SCALE_PRODUCT];
        if (plain || b->multiplier[from] * (double)reach >= (double)NEAR) {
            look(at, before, from, to);
        }
    }
}

/* No score at any d is larger than |q| |k| (Cauchy and Schwarz): keys too short
 * for NEAR are left out, with room for what rounding does. */
static bool within_reach(const struct search *at, const double *key_squares, double query_square)
{
    double reach = (double)NEAR * (1 - 2 * (double)SLACK);
    for (size_t l = 0; l < at->lanes; l++) {
        if (!(query_square * key_squares[l] < reach * reach)) {
            return true;
        }
    }
    return false;
}

void av_precision_overflow_row(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t i)
{
    (void)scale;
    (void)dtype;
    struct av_precision_buffers *b = &s->buffers;
    size_t *out = s->result.overflow.first;
    size_t len = av_row_length((enum av_mask)s->result.params.mask, i, b->n_q, b->n_k);
    struct search at = { .b = b };
    for (int order = 0; order < AV_SCALE_ORDERS; order++) {
        at.first[order] = out[order] > 0 ? out[order] : b->columns + 1;
    }
    double square = 0;
    for (size_t c = 0; c < b->columns; c++) {
        double x = av_dtype_round(AV_DTYPE_F16, entry(&s->head.q, i, c));
        b->query[c] = (float)x;
        square += x * x;
    }
    for (size_t j = 0; j < len; j += LANES) {
        at.panel = b->panel + j * b->columns;
        at.lanes = len - j < LANES ? len - j : LANES;
        if (within_reach(&at, b->squares + j, square)) {
            search(&at);
        }
    }
    for (int order = 0; order < AV_SCALE_ORDERS; order++) {
        out[order] = at.first[order] <= b->columns ? at.first[order] : 0;
    }
}

void av_precision_overflow_end(struct av_precision_state *s, bool scale, enum av_dtype dtype)
{
    (void)scale;
    (void)dtype;
    s->result.overflow.whole = true;
}
