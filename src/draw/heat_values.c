/* heat_values.c - the number that a heatmap's cell stands for.
 *
 * The logarithm of a weight of the softmax comes from its logit,
 *
 *   log10 p_ij = (z_ij - max z_i + ln max p_i) / ln 10
 *
 * which holds where the weight itself underflows. What other bends give, and
 * what a dtype rounds, is what is stored. */
#include "panels.h"

#include <math.h>

enum av_heat_quantity av_heat_quantity(const struct av_snapshot *s, const struct av_view_state *state)
{
    int q = state->quantity;
    enum av_heat_quantity quantity = q < 0 || q >= AV_HEAT_QUANTITIES ? AV_HEAT_WEIGHTS : (enum av_heat_quantity)q;
    return quantity == AV_HEAT_SCORES && s->scores == NULL ? AV_HEAT_LOGITS : quantity;
}

/* A row of stored entries: increasing maps of them are pooled as they are
 * stored, and then mapped. */
struct row {
    const double *x;    /* what is stored */
    const double *seen; /* its logits, -infinity where not seen; NULL: all of `length` are */
    size_t length;      /* keys that the mask leaves */
    bool valid;
    bool sizes;  /* the largest is the one of the greatest size */
    bool logits; /* a logarithm is made of the logit, else of the weight */
    const struct av_rowstats *stats;
};

static struct row row_of(const struct av_snapshot *s, enum av_heat_quantity quantity, size_t i)
{
    bool logs = quantity == AV_HEAT_LOG_WEIGHTS;
    bool by_softmax = av_panel_by_softmax(s);
    const double *const stored[AV_HEAT_QUANTITIES] = {
        [AV_HEAT_WEIGHTS] = s->weights,
        [AV_HEAT_LOG_WEIGHTS] = by_softmax ? s->logits : s->weights,
        [AV_HEAT_LOGITS] = s->logits,
        [AV_HEAT_SCORES] = s->scores,
    };
    bool scores = quantity == AV_HEAT_SCORES;
    return (struct row){
        .x = stored[quantity] + i * s->n_k,
        .seen = s->patterned && !scores ? s->logits + i * s->n_k : NULL,
        .length = av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k),
        .valid = scores ? !s->invalid_scores[i] : !s->invalid[i],
        .sizes = quantity == AV_HEAT_WEIGHTS || (logs && !by_softmax),
        .logits = by_softmax,
        .stats = &s->rows[i],
    };
}

static double mapped(const struct row *row, enum av_heat_quantity quantity, double stored)
{
    if (quantity != AV_HEAT_LOG_WEIGHTS) {
        return stored;
    }
    return row->logits ? (stored - row->stats->max_logit + log(row->stats->max)) / log(10) : log10(fabs(stored));
}

static bool is_seen(const struct row *row, size_t j)
{
    return j < row->length && (row->seen == NULL || row->seen[j] > -(double)INFINITY);
}

bool av_heat_value(const struct av_snapshot *s, enum av_heat_quantity quantity, size_t i, size_t j, double *value)
{
    struct row row = row_of(s, quantity, i);
    if (!row.valid || !is_seen(&row, j)) {
        return false;
    }
    *value = mapped(&row, quantity, row.x[j]);
    return true;
}

/* ---- pooled ------------------------------------------------------------- */

struct pool {
    size_t entries;
    double most; /* the largest so far, mapped */
    double total;
};

static bool exceeds(const struct row *row, double a, double b)
{
    return row->sizes ? fabs(a) > fabs(b) : a > b;
}

/* Adds columns [col, end) of a row. */
static void add_row(struct pool *p, const struct row *row, enum av_heat_quantity quantity, size_t col, size_t end)
{
    double most = 0;
    double total = 0;
    size_t n = 0;
    end = end < row->length ? end : row->length;
    for (size_t j = col; j < end; j++) {
        if (row->seen == NULL || row->seen[j] > -(double)INFINITY) {
            most = n == 0 || exceeds(row, row->x[j], most) ? row->x[j] : most;
            total += row->logits || quantity != AV_HEAT_LOG_WEIGHTS ? row->x[j] : log10(fabs(row->x[j]));
            n++;
        }
    }
    if (n == 0) {
        return;
    }
    double v = mapped(row, quantity, most);
    bool by_size = quantity == AV_HEAT_WEIGHTS;
    p->most = p->entries == 0 || (by_size ? fabs(v) > fabs(p->most) : v > p->most) ? v : p->most;
    bool as_stored = row->logits || quantity != AV_HEAT_LOG_WEIGHTS;
    p->total += as_stored ? (double)n * mapped(row, quantity, total / (double)n) : total;
    p->entries += n;
}

enum av_heat_state av_heat_pooled(const struct av_snapshot *s, enum av_heat_quantity quantity, enum av_heat_pool pool,
                                  struct av_heat_block block, double *value)
{
    struct pool p = { 0, 0, 0 };
    size_t invalid = 0;
    for (size_t i = block.row; i < block.row + block.rows; i++) {
        struct row row = row_of(s, quantity, i);
        if (row.valid) {
            add_row(&p, &row, quantity, block.col, block.col + block.cols);
        }
        invalid += !row.valid;
    }
    if (p.entries == 0) {
        return invalid == block.rows ? AV_HEAT_INVALID : AV_HEAT_MASKED;
    }
    *value = pool == AV_HEAT_MAX ? p.most : p.total / (double)p.entries;
    return AV_HEAT_SHOWN;
}
