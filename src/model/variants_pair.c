/* variants_pair.c - the weights of two variants, entry by entry, and how they differ. */
#include "attnviz/mem.h"
#include "variants_state.h"

#include <math.h>
#include <string.h>

#define NS_DIFFERENCE 1.5 /* a pair */

/* ---- Memory, and what still holds ------------------------------------------ */

void av_variants_pair_free(struct av_variants_state *s)
{
    for (int side = 0; side < AV_VARIANT_SIDES; side++) {
        av_free(s->sides.weights[side]);
        av_free(s->sides.argmax[side]);
        s->sides.weights[side] = NULL;
        s->sides.argmax[side] = NULL;
        s->result.pair.weights[side] = NULL;
    }
}

static bool make(struct av_variants_state *s, size_t n_q, size_t n_k)
{
    bool made = true;
    for (int side = 0; side < AV_VARIANT_SIDES; side++) {
        s->sides.weights[side] = av_alloc(n_q, n_k * sizeof *s->sides.weights[side]);
        s->sides.argmax[side] = av_alloc(n_q, sizeof *s->sides.argmax[side]);
        made = made && s->sides.weights[side] != NULL && s->sides.argmax[side] != NULL;
    }
    return made;
}

void av_variants_pair_make(struct av_variants_state *s, size_t n_q, size_t n_k)
{
    struct av_variant_pair *pair = &s->result.pair;
    if (pair->n_q == n_q && pair->n_k == n_k) {
        return;
    }
    av_variants_pair_free(s);
    *pair = (struct av_variant_pair){ .n_q = n_q, .n_k = n_k };
    if (n_q <= AV_VARIANT_PAIRS_MAX / n_k && make(s, n_q, n_k)) {
        pair->weights[AV_VARIANT_NOW] = s->sides.weights[AV_VARIANT_NOW];
        pair->weights[AV_VARIANT_OTHER] = s->sides.weights[AV_VARIANT_OTHER];
    } else {
        av_variants_pair_free(s);
    }
}

static void forget_comparison(struct av_variants_state *s)
{
    struct av_variant_pair *pair = &s->result.pair;
    s->sides.compared = 0;
    s->sides.pairs = 0;
    s->sides.sum = 0;
    pair->compared = false;
    pair->rows = pair->argmax_differs = pair->row = pair->col = 0;
    pair->mean = pair->half_sum = (double)NAN;
    pair->largest = 0;
}

void av_variants_pair_begin(struct av_variants_state *s, bool all, const struct av_params *was)
{
    const struct av_params *p = &s->result.params;
    const av_variant_value wanted[AV_VARIANT_SIDES] = { p->variant, p->compare };
    for (int side = 0; side < AV_VARIANT_SIDES; side++) {
        av_variant_value value = wanted[side];
        if (all || s->sides.value[side] != value || av_variants_owned_differ(value, was, p)) {
            s->sides.value[side] = value;
            s->result.pair.done[side] = 0;
            forget_comparison(s);
        }
    }
}

/* ---- Weights --------------------------------------------------------------------- */

static const struct av_variant_row *row_of(const struct av_variants_state *s, int side)
{
    const struct av_variant_table *t = &s->result.table;
    return &t->rows[side == AV_VARIANT_NOW ? t->now : t->compare];
}

/* Keeps rows of weights, and where the largest is. */
static void keep(struct av_variants_state *s, int side, size_t from, size_t count)
{
    const struct av_variants_rows *b = &s->rows;
    size_t n_k = s->head.n_k;
    float *to = s->sides.weights[side] + from * n_k;
    for (size_t i = 0; i < count * n_k; i++) {
        to[i] = (float)b->weights[i];
    }
    for (size_t r = 0; r < count; r++) {
        bool counts = b->stats[r].keys >= 2 && !b->invalid[r];
        s->sides.argmax[side][from + r] = counts ? b->stats[r].argmax : n_k;
    }
}

/* Rows of a side; begins it first, which may fail for want of memory: then it is
 * refused in the table as well. */
static double run_side(struct av_variants_state *s, int side)
{
    struct av_variants_rows *b = &s->rows;
    size_t *done = &s->result.pair.done[side];
    struct av_variant_row *of = &s->result.table.rows[row_of(s, side) - s->result.table.rows];
    if (s->sides.running != side) {
        if (av_variants_attend(s, &s->table, &s->result.params, &of->of, NULL) != AV_OK) {
            of->state = AV_VARIANT_REFUSED;
            return 1;
        }
        s->sides.running = side;
    }
    size_t left = s->head.n_q - *done;
    size_t fit = av_variants_fit(s, false);
    size_t count = fit < left ? fit : left;
    struct av_attend_rows rows = {
        .from = *done, .to = *done + count, .weights = b->weights, .rows = b->stats, .invalid = b->invalid
    };
    av_attend_run(s->attend, &rows);
    keep(s, side, *done, count);
    *done += count;
    return av_variants_row_cost(s, false) * (double)count;
}

/* ---- Differences ------------------------------------------------------------------- */

static void compare_row(struct av_variants_state *s, size_t i)
{
    struct av_variant_pair *pair = &s->result.pair;
    size_t n_k = pair->n_k;
    size_t now = s->sides.argmax[AV_VARIANT_NOW][i];
    size_t other = s->sides.argmax[AV_VARIANT_OTHER][i];
    if (now == n_k || other == n_k) {
        return;
    }
    size_t len = av_row_length((enum av_mask)s->result.params.mask, i, pair->n_q, n_k);
    pair->rows++;
    pair->argmax_differs += now != other;
    s->sides.pairs += len;
    for (size_t j = 0; j < len; j++) {
        double a = (double)pair->weights[AV_VARIANT_NOW][i * n_k + j];
        double b = (double)pair->weights[AV_VARIANT_OTHER][i * n_k + j];
        double difference = fabs(a - b);
        s->sides.sum += difference;
        if (difference > pair->largest) {
            pair->largest = difference;
            pair->row = i;
            pair->col = j;
        }
    }
}

static double compare_rows(struct av_variants_state *s)
{
    struct av_variant_pair *pair = &s->result.pair;
    double cost = NS_DIFFERENCE * (double)pair->n_k;
    double fit = AV_VARIANTS_UNIT / cost;
    size_t from = s->sides.compared;
    size_t left = pair->n_q - from;
    size_t count = fit < 1 ? 1 : fit < (double)left ? (size_t)fit : left;
    for (size_t i = from; i < from + count; i++) {
        compare_row(s, i);
    }
    s->sides.compared += count;
    if (s->sides.compared == pair->n_q) {
        pair->mean = s->sides.pairs > 0 ? s->sides.sum / (double)s->sides.pairs : (double)NAN;
        pair->half_sum = pair->rows > 0 ? s->sides.sum / 2 / (double)pair->rows : (double)NAN;
        pair->compared = true;
    }
    return cost * (double)count;
}

/* The side that has rows left. */
static int side_left(const struct av_variants_state *s)
{
    for (int side = 0; side < AV_VARIANT_SIDES; side++) {
        if (row_of(s, side)->state == AV_VARIANT_MEASURED && s->result.pair.done[side] < s->result.pair.n_q) {
            return side;
        }
    }
    return -1;
}

double av_variants_pair_run(struct av_variants_state *s)
{
    const struct av_variant_pair *pair = &s->result.pair;
    if (pair->weights[AV_VARIANT_NOW] == NULL) {
        return 0;
    }
    int side = side_left(s);
    if (side >= 0) {
        return run_side(s, side);
    }
    bool both = pair->done[AV_VARIANT_NOW] == pair->n_q && pair->done[AV_VARIANT_OTHER] == pair->n_q;
    return both && !pair->compared ? compare_rows(s) : 0;
}
