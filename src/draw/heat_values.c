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
    if (quantity > AV_HEAT_LOG_WEIGHTS && s->logits == NULL) {
        return AV_HEAT_WEIGHTS;
    }
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
        .seen = s->patterned && (!scores || s->from == AV_PART_SCORES) ? s->logits + i * s->n_k : NULL,
        .length = av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k),
        .valid = scores ? !s->invalid_scores[i] : !s->invalid[i],
        .sizes = (quantity == AV_HEAT_WEIGHTS && !s->simplex) || (logs && !by_softmax),
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

/* What is pooled so far; of a row only what the pool asks for. */
struct pool {
    enum av_heat_pool kind;
    enum av_heat_quantity quantity;
    size_t entries;
    double value; /* the largest, or the sum, mapped */
};

static double largest(const double *x, size_t n)
{
    double most = x[0];
    for (size_t i = 1; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

static double largest_size(const double *x, size_t n)
{
    double most = x[0];
    for (size_t i = 1; i < n; i++) {
        most = fabs(x[i]) > fabs(most) ? x[i] : most;
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

static double sum_of_logs(const double *x, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        total += log10(fabs(x[i]));
    }
    return total;
}

/* Adds n entries from column `col` on, all of them seen. The mean of linear
 * maps is the map of the mean. */
static void add_stretch(struct pool *p, const struct row *row, size_t col, size_t n)
{
    const double *x = row->x + col;
    bool logs_of_weights = p->quantity == AV_HEAT_LOG_WEIGHTS && !row->logits;
    if (p->kind == AV_HEAT_MAX) {
        double v = mapped(row, p->quantity, row->sizes ? largest_size(x, n) : largest(x, n));
        bool signs = row->sizes && p->quantity == AV_HEAT_WEIGHTS;
        bool more = signs ? fabs(v) > fabs(p->value) : v > p->value;
        p->value = p->entries == 0 || more ? v : p->value;
    } else {
        p->value += logs_of_weights ? sum_of_logs(x, n) : (double)n * mapped(row, p->quantity, sum(x, n) / (double)n);
    }
    p->entries += n;
}

/* Adds what is seen of columns [col, end), stretch by stretch. */
static void add_row(struct pool *p, const struct row *row, size_t col, size_t end)
{
    end = end < row->length ? end : row->length;
    while (col < end) {
        size_t n = row->seen == NULL ? end - col : 0;
        while (col + n < end && is_seen(row, col + n)) {
            n++;
        }
        if (n > 0) {
            add_stretch(p, row, col, n);
        }
        col += n + 1; /* behind the one that is not seen */
    }
}

enum av_heat_state av_heat_pooled(const struct av_snapshot *s, enum av_heat_quantity quantity, enum av_heat_pool pool,
                                  struct av_heat_block block, double *value)
{
    struct pool p = { pool, quantity, 0, 0 };
    size_t invalid = 0;
    for (size_t i = block.row; i < block.row + block.rows; i++) {
        struct row row = row_of(s, quantity, i);
        if (row.valid) {
            add_row(&p, &row, block.col, block.col + block.cols);
        }
        invalid += !row.valid;
    }
    if (p.entries == 0) {
        return invalid == block.rows ? AV_HEAT_INVALID : AV_HEAT_MASKED;
    }
    *value = pool == AV_HEAT_MAX ? p.value : p.value / (double)p.entries;
    return AV_HEAT_SHOWN;
}
