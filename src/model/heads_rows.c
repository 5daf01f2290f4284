/* heads_rows.c - what rows of weights tell of a head. */
#include "attnviz/variant.h"
#include "heads_state.h"
#include "variant_hooks.h"

#include <math.h>

/* ---- Rows ------------------------------------------------------------------------- */

/* The weight at a position, of n_k; 0 where there is none. */
static double weight_at(const double *w, int64_t position, size_t n_k)
{
    return position >= 0 && position < (int64_t)n_k ? fabs(w[position]) : 0;
}

/* Where the row's weight lies, of |w| / sum |w|. Without logits it sees all keys. */
static void add_places(struct av_heads_sums *sums, const struct av_head *h, size_t i, const double *w,
                       const double *logits, size_t len)
{
    double sum = 0, moved = 0;
    size_t keys = 0;
    for (size_t j = 0; j < len; j++) {
        sum += fabs(w[j]);
        keys += logits == NULL || logits[j] > -(double)INFINITY;
    }
    if (!(sum > 0)) {
        return;
    }
    for (size_t j = 0; j < len; j++) {
        bool seen = logits == NULL || logits[j] > -(double)INFINITY;
        moved += seen ? fabs(fabs(w[j]) / sum - 1 / (double)keys) : 0;
    }
    int64_t own = (int64_t)i + (int64_t)h->n_k - (int64_t)h->n_q;
    sums->first += weight_at(w, 0, len) / sum;
    sums->own += weight_at(w, own, len) / sum;
    sums->previous += weight_at(w, own - 1, len) / sum;
    sums->moved += moved / 2;
    sums->rows_long++;
}

/* Adds what a row sees, but for a logit that is a constant. */
static void add_logits(struct av_heads_state *s, const double *logits, size_t len, size_t constant)
{
    struct av_moments row = AV_MOMENTS_INIT;
    size_t n = 0;
    for (size_t j = 0; j < len; j++) {
        if (logits[j] > -(double)INFINITY && j != constant) {
            s->room.seen[n++] = logits[j];
        }
    }
    av_moments_add(&row, s->room.seen, n);
    av_spread_add(&s->sums.logits, &row);
    av_moments_merge(&s->sums.all, &row);
}

static void add_to_map(struct av_heads_sums *sums, struct av_head *h, size_t i, const double *w, const double *logits,
                       size_t len)
{
    struct av_head_map *map = &h->map;
    size_t a = i * map->rows / h->n_q;
    sums->rows[a]++;
    for (size_t j = 0; j < len; j++) {
        if (logits == NULL || logits[j] > -(double)INFINITY) {
            size_t b = j * map->cols / h->n_k;
            float weight = (float)w[j];
            map->max[a][b] = sums->pairs[a][b] == 0 || weight > map->max[a][b] ? weight : map->max[a][b];
            sums->weight[a][b] += w[j];
            sums->pairs[a][b]++;
        }
    }
}

void av_heads_add_rows(struct av_heads_state *s, struct av_head *h, size_t i, size_t count, const double *logits)
{
    const struct av_heads_room *m = &s->room;
    for (size_t r = 0; r < count; r++) {
        const struct av_rowstats *stats = &m->stats[s->row + r];
        const double *w = m->weights + r * h->n_k;
        const double *z = logits != NULL ? logits + r * h->n_k : NULL;
        size_t len = z != NULL ? h->n_k : stats->keys;
        if (m->invalid[s->row + r]) {
            continue;
        }
        add_to_map(&s->sums, h, i + r, w, z, len);
        if (z != NULL) {
            add_logits(s, z, len, h->from == AV_PART_Q ? av_attend_constant(s->attend, i + r) : SIZE_MAX);
        }
        if (stats->keys >= AV_HEADS_LONG) {
            add_places(&s->sums, h, i + r, w, z, len);
        }
    }
}

/* ---- The sum of it ------------------------------------------------------------------ */

static void finish_map(const struct av_heads_sums *sums, struct av_head_map *map)
{
    for (size_t a = 0; a < map->rows; a++) {
        for (size_t b = 0; b < map->cols; b++) {
            size_t pairs = sums->pairs[a][b];
            map->share[a][b] = pairs > 0 ? (float)(sums->weight[a][b] / (double)sums->rows[a]) : (float)NAN;
            map->max[a][b] = pairs > 0 ? map->max[a][b] : (float)NAN;
        }
    }
}

/* Averages of keys in the places of keys have no positions. */
static bool has_positions(const struct av_heads_state *s, const struct av_head *h)
{
    return h->from != AV_PART_Q || av_variant_hooks_of(s->p.variant, AV_GROUP_PATTERN)->averages == NULL;
}

void av_heads_sum_up(struct av_heads_state *s, struct av_head *h)
{
    const struct av_heads_sums *sums = &s->sums;
    const struct av_snapshot rows = {
        .params = s->p, .n_q = h->queries, .rows = s->room.stats, .invalid = s->room.invalid
    };
    struct av_summary sum = { 0 };
    av_summary_make(&sum, &rows, s->room.stats, s->room.column);
    double n = (double)sums->rows_long;
    double n_placed = has_positions(s, h) ? n : (double)NAN;
    const double at[AV_HEAD_QUANTITIES] = {
        [AV_HEAD_ENTROPY] = sum.entropy_norm_mean,
        [AV_HEAD_MAX_MEDIAN] = sum.max_median,
        [AV_HEAD_MAX_MEAN] = sum.max_mean,
        [AV_HEAD_SATURATED_ROWS] = sum.share_max_gt_0_9,
        [AV_HEAD_FRO] = sum.jacobian_fro_median,
        [AV_HEAD_DEAD_ROWS] = sum.share_fro_lt_1e_3,
        [AV_HEAD_LOGIT_STD] = h->from != AV_PART_WEIGHTS ? av_spread_std(&sums->logits) : (double)NAN,
        [AV_HEAD_ROW_SUM] = sum.row_sum_mean,
        [AV_HEAD_FIRST] = n > 0 ? sums->first / n_placed : (double)NAN,
        [AV_HEAD_OWN] = n > 0 ? sums->own / n_placed : (double)NAN,
        [AV_HEAD_PREVIOUS] = n > 0 ? sums->previous / n_placed : (double)NAN,
        [AV_HEAD_MOVED] = n > 0 ? sums->moved / n : (double)NAN,
    };
    for (size_t q = 0; q < AV_HEAD_QUANTITIES; q++) {
        h->at[q] = at[q];
    }
    h->rows = sum.rows;
    h->rows_long = sums->rows_long;
    h->kind = av_heads_kind(h);
    av_heads_judge(s, h, &sum);
    finish_map(sums, &h->map);
}
