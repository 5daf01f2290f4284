/* fused.c - one head of a source, its rows summed up in bounded memory. */
#include "attnviz/mem.h"
#include "attnviz/variant.h"
#include "fused_state.h"
#include "summary.h"
#include "verdicts.h"

#include <math.h>

enum {
    HELD_MAX = 16 << 20,   /* bytes of keys that are read once and kept */
    QUERIES_MAX = 2 << 20, /* bytes of the queries of a block, */
    ROWS_MIN = 16          /* but no fewer than so many */
};

/* ---- Memory ----------------------------------------------------------------- */

static size_t round_up(size_t bytes)
{
    return (bytes + AV_ALIGN - 1) / AV_ALIGN * AV_ALIGN;
}

static size_t entry_size(const struct av_source_layer *l, enum av_part part)
{
    return l->part[part].wide ? sizeof(double) : sizeof(float);
}

static size_t rows_of_block(const struct av_source_layer *l)
{
    size_t rows = QUERIES_MAX / (l->d * entry_size(l, AV_PART_Q));
    rows = rows < ROWS_MIN ? ROWS_MIN : rows > AV_FUSED_ROWS ? AV_FUSED_ROWS : rows;
    return rows < l->n_q ? rows : l->n_q;
}

/* Bytes of the keys; 0 where they are not to be held: they are read once for
 * each block of queries then, which a stream would have to begin anew. */
static size_t held_bytes(const struct av_source *s, const struct av_source_layer *l)
{
    size_t row = l->d * entry_size(l, AV_PART_K);
    return s->streamed || l->n_k <= HELD_MAX / row ? l->n_k * row : 0;
}

/* How a worker's memory is laid out. */
struct worker_sizes {
    size_t q, k, scores, rows, all;
};

static struct worker_sizes worker_sizes(const struct av_source *s, const struct av_source_layer *l)
{
    size_t rows = rows_of_block(l);
    struct worker_sizes size = {
        .q = round_up(rows * l->d * entry_size(l, AV_PART_Q)),
        .k = held_bytes(s, l) > 0 ? 0 : round_up(AV_FUSED_KEYS * l->d * entry_size(l, AV_PART_K)),
        .scores = round_up(rows * AV_FUSED_KEYS * sizeof(double)),
        .rows = round_up(rows * sizeof(struct av_fused_row)),
    };
    size.all = size.q + size.k + size.scores + size.rows + AV_SCORES_SCRATCH;
    return size;
}

size_t av_fused_bytes(const struct av_source *s, size_t layer, size_t threads)
{
    const struct av_source_layer *l = &s->layers[layer];
    size_t blocks = (l->n_q - 1) / rows_of_block(l) + 1;
    size_t per_row = sizeof(struct av_rowstats) + sizeof(bool) + sizeof(double);
    return sizeof(struct av_fused) + threads * (sizeof(struct av_fused_worker) + worker_sizes(s, l).all) +
           blocks * sizeof(struct av_fused_moments) + l->n_q * per_row + 2 * l->n_k * sizeof(double) + held_bytes(s, l);
}

static bool make_worker(struct av_fused_worker *w, struct av_fused *f, const struct av_source_layer *l)
{
    struct worker_sizes size = worker_sizes(f->source, l);
    w->of = f;
    w->memory = av_alloc(size.all, 1);
    if (w->memory == NULL) {
        return false;
    }
    char *at = w->memory;
    w->q = at;
    w->k = at += size.q;
    w->scores = (void *)(at += size.k);
    w->rows = (void *)(at += size.scores);
    w->scratch = at + size.rows;
    return true;
}

static enum av_status make_memory(struct av_fused *f, const struct av_source_layer *l, struct av_error *e)
{
    f->parts = av_alloc(f->blocks, sizeof *f->parts);
    f->rows = av_alloc(l->n_q, sizeof *f->rows);
    f->invalid = av_alloc(l->n_q, sizeof *f->invalid);
    f->column = av_alloc(l->n_q, sizeof *f->column);
    f->query_scores = av_alloc(l->n_k, sizeof *f->query_scores);
    f->query_weights = av_alloc(l->n_k, sizeof *f->query_weights);
    f->workers = av_alloc(f->threads, sizeof *f->workers);
    bool made = f->query_scores != NULL && f->query_weights != NULL && f->parts != NULL && f->rows != NULL &&
                f->invalid != NULL && f->column != NULL && f->workers != NULL;
    for (size_t i = 0; made && i < f->threads; i++) {
        made = make_worker(&f->workers[i], f, l);
    }
    return made ? AV_OK : av_fail_nomem(e, "statistics of a head's rows");
}

/* ---- Begin and end ---------------------------------------------------------- */

/* What the snapshot says of the head before its rows are known. */
static void make_snapshot(struct av_fused *f, const struct av_source_layer *l, size_t head,
                          const struct av_params *asked)
{
    struct av_snapshot *s = &f->snapshot;
    struct av_params *p = &s->params;
    *p = *asked;
    p->logits.n = 0;
    p->n_q = (int64_t)l->n_q;
    p->n_k = (int64_t)l->n_k;
    p->d_k = (int64_t)l->d;
    p->n_head = (int64_t)l->n_head;
    p->head = (int64_t)head;
    p->layer = (int64_t)f->layer;
    s->from_files = true;
    s->source = f->source;
    s->layer = l;
    s->probed = p->key_offset != 0;
    s->alpha = av_params_alpha(p);
    s->simplex = true;
    s->n_q = l->n_q;
    s->n_k = l->n_k;
    s->d_k = l->d;
    s->heads = l->n_head;
    s->head = head;
    s->k_head = av_source_k_head(l, head);
    s->expected_mean = s->expected_var = s->expected_kurtosis = (double)NAN;
    f->multiplier = s->alpha / p->temperature;
    f->key_score = p->key_offset / s->alpha;
}

static void count_pairs(struct av_fused *f)
{
    for (size_t block = 0; block < f->blocks; block++) {
        for (size_t tile = 0; tile < av_fused_tiles(f, block); tile++) {
            struct av_fused_range rows = av_fused_tile_rows(f, block, tile);
            f->pairs += (uint64_t)(rows.end - rows.begin) * av_fused_tile_keys(f, tile);
        }
    }
}

static enum av_status hold_keys(struct av_fused *f, const struct av_source_layer *l, struct av_error *e)
{
    size_t bytes = held_bytes(f->source, l);
    if (bytes == 0) {
        return AV_OK;
    }
    f->held = av_alloc(bytes, 1);
    return f->held == NULL ? av_fail_nomem(e, "keys of a head")
                           : av_fused_read(f, AV_PART_K, (struct av_fused_range){ 0, l->n_k }, f->held, e);
}

enum av_status av_fused_begin(struct av_fused **out, const struct av_source *source, size_t layer, size_t head,
                              const struct av_params *p, size_t threads, const struct av_kernels *kernels,
                              struct av_error *e)
{
    const struct av_source_layer *l = &source->layers[layer];
    *out = NULL;
    if (av_variant_without(p->variant, AV_GROUP_TRAINING) != 0 || p->dtype != AV_DTYPE_F64) {
        return av_fail(e, AV_USAGE, "rows are summed up tile by tile for the plain softmax in f64 only");
    }
    struct av_fused *f = av_alloc(1, sizeof *f);
    if (f == NULL) {
        return av_fail_nomem(e, "statistics of a head's rows");
    }
    pthread_mutex_init(&f->lock, NULL);
    f->source = source;
    f->kernels = kernels != NULL ? kernels : av_kernels_best();
    f->layer = layer;
    f->wide[AV_PART_Q] = l->part[AV_PART_Q].wide;
    f->wide[AV_PART_K] = l->part[AV_PART_K].wide;
    f->block_rows = rows_of_block(l);
    f->blocks = (l->n_q - 1) / f->block_rows + 1;
    f->threads = threads;
    make_snapshot(f, l, head, p);
    count_pairs(f);
    enum av_status status = make_memory(f, l, e);
    if (status == AV_OK) {
        status = hold_keys(f, l, e);
    }
    if (status != AV_OK) {
        av_fused_free(f);
        return status;
    }
    *out = f;
    return AV_OK;
}

void av_fused_free(struct av_fused *f)
{
    if (f == NULL) {
        return;
    }
    for (size_t i = 0; f->workers != NULL && i < f->threads; i++) {
        av_free(f->workers[i].memory);
    }
    av_free(f->held);
    av_free(f->workers);
    av_free(f->parts);
    av_free(f->rows);
    av_free(f->invalid);
    av_free(f->column);
    av_free(f->query_scores);
    av_free(f->query_weights);
    pthread_mutex_destroy(&f->lock);
    av_free(f);
}

/* ---- The result ------------------------------------------------------------- */

/* Blocks in order, whoever has made them. */
static struct av_fused_moments merge_parts(const struct av_fused *f)
{
    struct av_fused_moments all = { AV_MOMENTS_INIT, AV_MOMENTS_INIT, { 0, 0 }, { 0, 0 }, false };
    for (size_t b = 0; b < f->blocks; b++) {
        const struct av_fused_moments *part = &f->parts[b];
        av_moments_merge(&all.scores, &part->scores);
        av_moments_merge(&all.logits, &part->logits);
        av_spread_merge(&all.score_spread, &part->score_spread);
        av_spread_merge(&all.logit_spread, &part->logit_spread);
        all.may_underflow |= part->may_underflow;
    }
    return all;
}

/* The selected row's weights; keys that it does not see have been left at 0. */
static void weigh_query(struct av_fused *f)
{
    const size_t query = (size_t)f->snapshot.params.query;
    struct av_rowstats unused;
    if (query < f->snapshot.n_q && !f->invalid[query] && f->rows[query].keys > 0) {
        f->kernels->softmax(f->query_weights, f->query_scores, f->multiplier, f->rows[query].keys, &unused);
        f->snapshot.query_weights = f->query_weights;
    }
}

void av_fused_finish(struct av_fused *f)
{
    if (f->finished || atomic_load(&f->done) < f->pairs) {
        return;
    }
    struct av_snapshot *s = &f->snapshot;
    const struct av_params *p = &s->params;
    struct av_fused_moments all = merge_parts(f);
    s->rows = f->rows;
    s->invalid = s->invalid_scores = f->invalid;
    s->score_moments = all.scores;
    s->score_row_std = av_spread_std(&all.score_spread);
    s->theory_freezing = av_rows_freezing((enum av_mask)p->mask, s->n_q, s->n_k);
    s->now.scale = p->scale != 0;
    s->now.alpha = s->alpha;
    s->now.logits = s->probed ? all.logits : all.scores;
    av_moments_stretch(&s->now.logits, f->multiplier, p->offset / p->temperature);
    s->now.row_std = f->multiplier * av_spread_std(s->probed ? &all.logit_spread : &all.score_spread);
    av_summary_make(&s->now, s, s->rows, f->column);
    s->now.nonzero_share_mean = s->now.rows > 0 && !all.may_underflow ? 1 : (double)NAN;
    weigh_query(f);
    av_verdicts_make(s);
    f->finished = true;
}

double av_fused_progress(const struct av_fused *f)
{
    return (double)atomic_load(&f->done) / (double)f->pairs;
}

const struct av_snapshot *av_fused_snapshot(const struct av_fused *f)
{
    return f->finished ? &f->snapshot : NULL;
}
