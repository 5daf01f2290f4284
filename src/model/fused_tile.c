/* fused_tile.c - a tile of scores, and what it adds to the rows that it belongs to. */
#include "fused_state.h"
#include "score_stats.h"

#include <math.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t row_length(const struct av_fused *f, size_t i)
{
    return av_row_length((enum av_mask)f->snapshot.params.mask, i, f->snapshot.n_q, f->snapshot.n_k);
}

struct av_fused_range av_fused_block_rows(const struct av_fused *f, size_t block)
{
    size_t begin = block * f->block_rows;
    return (struct av_fused_range){ begin, smaller(begin + f->block_rows, f->snapshot.n_q) };
}

size_t av_fused_tiles(const struct av_fused *f, size_t block)
{
    return (row_length(f, av_fused_block_rows(f, block).end - 1) + AV_FUSED_KEYS - 1) / AV_FUSED_KEYS;
}

struct av_fused_range av_fused_tile_rows(const struct av_fused *f, size_t block, size_t tile)
{
    struct av_fused_range rows = av_fused_block_rows(f, block);
    while (rows.begin < rows.end && row_length(f, rows.begin) <= tile * AV_FUSED_KEYS) {
        rows.begin++;
    }
    return rows;
}

size_t av_fused_tile_keys(const struct av_fused *f, size_t tile)
{
    return smaller(AV_FUSED_KEYS, f->snapshot.n_k - tile * AV_FUSED_KEYS);
}

/* ---- Reading ---------------------------------------------------------------- */

struct av_entries av_fused_entries(const struct av_fused *f, enum av_part part, const void *at)
{
    return f->wide[part] ? (struct av_entries){ .f64 = at, .pitch = f->snapshot.d_k }
                         : (struct av_entries){ .f32 = at, .pitch = f->snapshot.d_k };
}

/* With the lock. */
static enum av_status read_locked(struct av_fused *f, enum av_part part, struct av_fused_range range, void *to,
                                  struct av_error *e)
{
    const struct av_source *s = f->source;
    size_t head = part == AV_PART_K ? f->snapshot.k_head : f->snapshot.head;
    bool wide = f->wide[part];
    return s->read(s->state, f->layer, part, head, range.begin, range.end - range.begin, wide ? NULL : to,
                   wide ? to : NULL, e);
}

enum av_status av_fused_read(struct av_fused *f, enum av_part part, struct av_fused_range range, void *to,
                             struct av_error *e)
{
    pthread_mutex_lock(&f->lock);
    enum av_status status = read_locked(f, part, range, to, e);
    pthread_mutex_unlock(&f->lock);
    return status;
}

/* ---- A block begins and ends ---------------------------------------------- */

/* With a causal mask the last rows are the longest: they come first, so that no
 * thread is left with them at the end; but a stream is read as it comes. */
static void take_block(struct av_fused_worker *w)
{
    struct av_fused *f = w->of;
    w->busy = true;
    w->loaded = false;
    w->block = f->source->streamed ? f->taken : f->blocks - 1 - f->taken;
    w->tile = 0;
    f->taken++;
    struct av_fused_range range = av_fused_block_rows(f, w->block);
    for (size_t i = range.begin; i < range.end; i++) {
        w->rows[i - range.begin] = (struct av_fused_row){ .scores = AV_MOMENTS_INIT, .logits = AV_MOMENTS_INIT };
    }
}

/* A block and its queries, while there are any; in one go, so that threads read
 * blocks in the order in which they take them. */
static enum av_status get_block(struct av_fused_worker *w, bool *more, struct av_error *e)
{
    struct av_fused *f = w->of;
    enum av_status status = AV_OK;
    pthread_mutex_lock(&f->lock);
    if (!w->busy && f->taken < f->blocks) {
        take_block(w);
    }
    *more = w->busy;
    if (w->busy && !w->loaded) {
        status = read_locked(f, AV_PART_Q, av_fused_block_rows(f, w->block), w->q, e);
        w->loaded = status == AV_OK;
    }
    pthread_mutex_unlock(&f->lock);
    return status;
}

static void finish_row(struct av_fused *f, size_t i, const struct av_fused_row *row)
{
    const struct av_params *p = &f->snapshot.params;
    struct av_rowstats *out = &f->rows[i];
    f->invalid[i] = row->invalid;
    if (row->invalid || row->sums.keys == 0) {
        *out = (struct av_rowstats){ .keys = row_length(f, i) };
        return;
    }
    f->kernels->running_stats(out, &row->sums, f->multiplier);
    out->max_logit += p->offset / p->temperature;
}

/* Can the row's smallest weight, max exp(least - largest logit), be 0? Not when it is
 * above the smallest double that has all its digits. */
static bool may_underflow(const struct av_fused *f, size_t i, const struct av_fused_row *row)
{
    static const double LOG_LEAST = -700; /* that double is exp(-708.4) */
    double least = f->snapshot.probed ? row->logits.min : row->scores.min;
    return !(f->multiplier * (least - row->sums.first) + log(f->rows[i].max) > LOG_LEAST);
}

static void finish_block(struct av_fused_worker *w)
{
    struct av_fused *f = w->of;
    struct av_fused_range range = av_fused_block_rows(f, w->block);
    struct av_fused_moments part = { AV_MOMENTS_INIT, AV_MOMENTS_INIT, { 0, 0 }, { 0, 0 }, false };
    for (size_t i = range.begin; i < range.end; i++) {
        const struct av_fused_row *row = &w->rows[i - range.begin];
        finish_row(f, i, row);
        if (!row->invalid) {
            av_moments_merge(&part.scores, &row->scores);
            av_moments_merge(&part.logits, &row->logits);
            av_spread_add(&part.score_spread, &row->scores);
            av_spread_add(&part.logit_spread, &row->logits);
            part.may_underflow |= row->sums.keys > 0 && may_underflow(f, i, row);
        }
    }
    f->parts[w->block] = part;
    w->busy = false;
}

/* ---- A tile ---------------------------------------------------------------- */

/* Adds n scores of keys [first, first + n) to row i. */
static void add_scores(const struct av_fused *f, size_t i, struct av_fused_row *row, double *s, size_t first, size_t n)
{
    size_t key = (size_t)f->snapshot.params.key;
    row->invalid |= !av_all_finite(s, n);
    if (row->invalid) {
        return;
    }
    av_moments_add(&row->scores, s, n);
    if (f->snapshot.probed) {
        if (key >= first && key < first + n && isfinite(s[key - first] + f->key_score)) {
            s[key - first] += f->key_score;
        }
        av_moments_add(&row->logits, s, n);
    }
    f->kernels->running_add(&row->sums, s, f->multiplier, n);
    if (i == (size_t)f->snapshot.params.query) {
        memcpy(f->query_scores + first, s, n * sizeof *s);
    }
}

/* The entries of keys [first, first + keys), read unless they are held. */
static enum av_status tile_keys(struct av_entries *k, struct av_fused_worker *w, size_t first, size_t keys,
                                struct av_error *e)
{
    struct av_fused *f = w->of;
    if (f->held != NULL) {
        size_t row = f->snapshot.d_k * (f->wide[AV_PART_K] ? sizeof(double) : sizeof(float));
        *k = av_fused_entries(f, AV_PART_K, f->held + first * row);
        return AV_OK;
    }
    *k = av_fused_entries(f, AV_PART_K, w->k);
    return av_fused_read(f, AV_PART_K, (struct av_fused_range){ first, first + keys }, w->k, e);
}

static enum av_status add_tile(struct av_fused_worker *w, struct av_error *e)
{
    struct av_fused *f = w->of;
    size_t first = w->tile * AV_FUSED_KEYS, keys = av_fused_tile_keys(f, w->tile);
    struct av_entries q = av_fused_entries(f, AV_PART_Q, w->q), k;
    enum av_status status = tile_keys(&k, w, first, keys, e);
    if (status != AV_OK) {
        return status;
    }
    size_t begin = av_fused_block_rows(f, w->block).begin;
    struct av_fused_range rows = av_fused_tile_rows(f, w->block, w->tile);
    struct av_block block = { rows.begin - begin, rows.end - begin, 0, keys, 0, f->snapshot.d_k };
    f->kernels->scores(w->scores, AV_FUSED_KEYS, &q, &k, &block, w->scratch);
    for (size_t i = rows.begin; i < rows.end; i++) {
        size_t at = i - begin;
        add_scores(f, i, &w->rows[at], w->scores + at * AV_FUSED_KEYS, first, smaller(keys, row_length(f, i) - first));
    }
    atomic_fetch_add(&f->done, (uint64_t)(rows.end - rows.begin) * keys);
    w->tile++;
    return AV_OK;
}

enum av_status av_fused_tile(struct av_fused_worker *w, bool *more, struct av_error *e)
{
    *more = true;
    enum av_status status = w->busy && w->loaded ? AV_OK : get_block(w, more, e);
    if (status != AV_OK || !*more) {
        return status;
    }
    if (w->tile < av_fused_tiles(w->of, w->block)) {
        status = add_tile(w, e);
    }
    if (status == AV_OK && w->tile >= av_fused_tiles(w->of, w->block)) {
        finish_block(w);
    }
    return status;
}
