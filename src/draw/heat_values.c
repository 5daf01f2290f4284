/* heat_values.c - the number that a heatmap's cell stands for.
 *
 * Every quantity is a linear map of stored entries, increasing, so entries are
 * pooled as they are stored and the result is mapped:
 *
 *   log10 p_ij = (z_ij - max z_i + ln max p_i) / ln 10
 *
 * which holds where the weight itself underflows. */
#include "panels.h"

#include <math.h>

enum av_heat_quantity av_heat_quantity(const struct av_snapshot *s, const struct av_view_state *state)
{
    int q = state->quantity;
    enum av_heat_quantity quantity = q < 0 || q >= AV_HEAT_QUANTITIES ? AV_HEAT_WEIGHTS : (enum av_heat_quantity)q;
    return quantity == AV_HEAT_SCORES && s->scores == NULL ? AV_HEAT_LOGITS : quantity;
}

static const double *stored_row(const struct av_snapshot *s, enum av_heat_quantity quantity, size_t i)
{
    const double *const stored[AV_HEAT_QUANTITIES] = {
        [AV_HEAT_WEIGHTS] = s->weights,
        [AV_HEAT_LOG_WEIGHTS] = s->logits,
        [AV_HEAT_LOGITS] = s->logits,
        [AV_HEAT_SCORES] = s->scores,
    };
    return stored[quantity] + i * s->n_k;
}

static double mapped(const struct av_snapshot *s, enum av_heat_quantity quantity, size_t i, double stored)
{
    if (quantity != AV_HEAT_LOG_WEIGHTS) {
        return stored;
    }
    const struct av_rowstats *row = &s->rows[i];
    return (stored - row->max_logit + log(row->max)) / log(10);
}

/* Unmasked keys of row i in [col, col + cols). */
static size_t unmasked(const struct av_snapshot *s, size_t i, size_t col, size_t cols)
{
    size_t length = av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k);
    return length <= col ? 0 : length - col < cols ? length - col : cols;
}

bool av_heat_value(const struct av_snapshot *s, enum av_heat_quantity quantity, size_t i, size_t j, double *value)
{
    if (s->invalid[i] || unmasked(s, i, j, 1) == 0) {
        return false;
    }
    *value = mapped(s, quantity, i, stored_row(s, quantity, i)[j]);
    return true;
}

static double largest(const double *x, size_t n)
{
    double most = x[0];
    for (size_t i = 1; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static double sum(const double *x, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        total += x[i];
    }
    return total;
}

enum av_heat_state av_heat_pooled(const struct av_snapshot *s, enum av_heat_quantity quantity, enum av_heat_pool pool,
                                  struct av_heat_block block, double *value)
{
    size_t entries = 0;
    size_t invalid = 0;
    double most = -(double)INFINITY;
    double total = 0;
    for (size_t i = block.row; i < block.row + block.rows; i++) {
        size_t n = unmasked(s, i, block.col, block.cols);
        invalid += s->invalid[i];
        if (n == 0 || s->invalid[i]) {
            continue;
        }
        const double *x = stored_row(s, quantity, i) + block.col;
        if (pool == AV_HEAT_MAX) {
            most = fmax(most, mapped(s, quantity, i, largest(x, n)));
        } else {
            total += (double)n * mapped(s, quantity, i, sum(x, n) / (double)n);
        }
        entries += n;
    }
    if (entries == 0) {
        return invalid == block.rows ? AV_HEAT_INVALID : AV_HEAT_MASKED;
    }
    *value = pool == AV_HEAT_MAX ? most : total / (double)entries;
    return AV_HEAT_SHOWN;
}
