/* diversity_heads.c - from a head's entries to its weights, in every state of a batch. */
#include "attnviz/mem.h"
#include "attnviz/variant.h"
#include "diversity_state.h"
#include "entries.h"
#include "score_stats.h"

#include <math.h>
#include <string.h>

/* ---- Memory -------------------------------------------------------------------- */

static void free_buffers(struct av_diversity_buffers *b)
{
    void *all[] = { b->q, b->k, b->q_f64, b->k_f64, b->draw, b->scores, b->weights, b->seen };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(b, 0, sizeof *b);
}

void av_diversity_free_room(struct av_diversity_state *s)
{
    free_buffers(&s->buffers);
}

static bool wide(const struct av_diversity_state *s, enum av_part part)
{
    return s->source != NULL && s->source->layers[s->result.params.layer].part[part].wide;
}

static bool same_room(const struct av_diversity_buffers *a, const struct av_diversity_buffers *b)
{
    return a->n_q == b->n_q && a->n_k == b->n_k && a->d == b->d && a->rows == b->rows && a->q_wide == b->q_wide &&
           a->k_wide == b->k_wide;
}

enum av_status av_diversity_make_room(struct av_diversity_state *s, struct av_error *e)
{
    const struct av_diversity *r = &s->result;
    const struct av_params *p = &r->params;
    size_t few = AV_DIVERSITY_BATCH * r->curve_rows;
    struct av_diversity_buffers *old = &s->buffers;
    struct av_diversity_buffers b = { .n_q = (size_t)p->n_q, .n_k = (size_t)p->n_k, .d = (size_t)p->d_k };
    b.rows = r->heads * (few > r->rows ? few : r->rows);
    b.q_wide = wide(s, AV_PART_Q);
    b.k_wide = wide(s, AV_PART_K);
    if (r->heads < 2 || same_room(&b, old)) {
        return AV_OK;
    }
    b.q = av_alloc(b.q_wide ? 0 : b.n_q, b.d * sizeof *b.q);
    b.k = av_alloc(b.k_wide ? 0 : b.n_k, b.d * sizeof *b.k);
    b.q_f64 = av_alloc(b.q_wide ? b.n_q : 0, b.d * sizeof *b.q_f64);
    b.k_f64 = av_alloc(b.k_wide ? b.n_k : 0, b.d * sizeof *b.k_f64);
    b.draw = av_alloc(b.d, sizeof *b.draw);
    b.scores = av_alloc(b.n_q, b.n_k * sizeof *b.scores);
    b.weights = av_alloc(b.rows, b.n_k * sizeof *b.weights);
    b.seen = av_alloc(b.rows, sizeof *b.seen);
    const void *const made[] = { b.q, b.k, b.q_f64, b.k_f64, b.draw, b.scores, b.weights, b.seen };
    bool whole = true;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        whole = whole && made[i] != NULL;
    }
    if (!whole) {
        free_buffers(&b);
        return av_fail_nomem(e, "the weights of all heads");
    }
    free_buffers(old);
    *old = b;
    return AV_OK;
}

/* ---- Entries and scores ----------------------------------------------------------- */

size_t av_diversity_rows(const struct av_diversity_state *s)
{
    return s->batch == 0 ? s->result.rows : s->result.curve_rows;
}

size_t av_diversity_query(const struct av_diversity_state *s, size_t rows, size_t r)
{
    size_t n_q = s->buffers.n_q;
    return (r * n_q + (n_q - rows) / 2) / rows;
}

/* The parameters, with the head at hand. */
static struct av_params of_head(const struct av_diversity_state *s)
{
    struct av_params p = s->result.params;
    p.head = (int64_t)s->head;
    return p;
}

size_t av_diversity_draws(const struct av_diversity_state *s)
{
    return s->buffers.n_q + s->buffers.n_k;
}

/* Rows of the source's head, from `first` on; those that cannot be read have no
 * numbers, and count nowhere. */
static void read_rows(struct av_diversity_state *s, enum av_part part, size_t first, size_t rows)
{
    const struct av_diversity_buffers *b = &s->buffers;
    const struct av_source_layer *l = &s->source->layers[s->result.params.layer];
    bool keys = part == AV_PART_K;
    float *f32 = keys ? b->k : b->q;
    double *f64 = keys ? b->k_f64 : b->q_f64;
    bool is_wide = keys ? b->k_wide : b->q_wide;
    f32 = is_wide ? NULL : f32 + first * b->d;
    f64 = is_wide ? f64 + first * b->d : NULL;
    size_t head = keys ? av_source_k_head(l, s->head) : s->head;
    size_t layer = (size_t)s->result.params.layer;
    if (s->source->read(s->source->state, layer, part, head, first, rows, f32, f64, NULL) != AV_OK) {
        for (size_t i = 0; i < rows * b->d; i++) {
            if (is_wide) {
                f64[i] = (double)NAN;
            } else {
                f32[i] = NAN;
            }
        }
    }
}

/* Queries, then keys, a portion at a time. */
static double read_some(struct av_diversity_state *s)
{
    const struct av_diversity_buffers *b = &s->buffers;
    bool keys = s->row >= b->n_q;
    size_t first = keys ? s->row - b->n_q : s->row;
    size_t left = (keys ? b->n_k : b->n_q) - first;
    size_t rows = left < AV_DIVERSITY_PORTION ? left : AV_DIVERSITY_PORTION;
    read_rows(s, keys ? AV_PART_K : AV_PART_Q, first, rows);
    s->row += rows;
    return AV_DIVERSITY_NS_DRAW * (double)(rows * b->d);
}

double av_diversity_draw(struct av_diversity_state *s)
{
    if (s->source != NULL) {
        return read_some(s);
    }
    const struct av_diversity_buffers *b = &s->buffers;
    const struct av_params p = of_head(s);
    size_t at = s->row++;
    if (at < b->n_q) {
        av_entries_query(s->kernels, &p, at, 0, b->d, b->q + at * b->d);
    } else {
        at -= b->n_q;
        av_entries_key(s->kernels, &p, at, 0, b->d, b->k + at * b->d, b->draw);
    }
    return AV_DIVERSITY_NS_DRAW * (double)b->d;
}

static struct av_entries queries(const struct av_diversity_state *s)
{
    const struct av_diversity_buffers *b = &s->buffers;
    return (struct av_entries){ b->q_wide ? NULL : b->q, b->q_wide ? b->q_f64 : NULL, b->d };
}

static struct av_entries keys(const struct av_diversity_state *s)
{
    const struct av_diversity_buffers *b = &s->buffers;
    return (struct av_entries){ b->k_wide ? NULL : b->k, b->k_wide ? b->k_f64 : NULL, b->d };
}

/* Does the variant look at scores that are not in the rows measured? */
static bool of_all_scores(const struct av_diversity_state *s)
{
    return (av_variant_flags(s->result.params.variant) & AV_VARIANT_SCORES) != 0;
}

size_t av_diversity_scored(const struct av_diversity_state *s)
{
    return of_all_scores(s) ? s->buffers.n_q : av_diversity_rows(s);
}

/* How many of `rows` measured ones from s->row on are neighbours, `most` at
 * most: keys are prepared once for all of them. */
static size_t neighbours(const struct av_diversity_state *s, size_t rows, size_t most)
{
    size_t first = av_diversity_query(s, rows, s->row);
    size_t count = 1;
    while (count < most && s->row + count < rows && av_diversity_query(s, rows, s->row + count) == first + count) {
        count++;
    }
    return count;
}

/* How much of something fits a unit, when one of it takes `cost`. */
static size_t fit(double cost, size_t most)
{
    double count = AV_DIVERSITY_UNIT / cost;
    return count < 1 ? 1 : count < (double)most ? (size_t)count : most;
}

/* Adds finite rows to the moments of all scores. */
static void add_moments(struct av_diversity_state *s, size_t from, size_t to)
{
    const struct av_diversity_buffers *b = &s->buffers;
    for (size_t i = from; i < to; i++) {
        size_t len = av_row_length((enum av_mask)s->result.params.mask, i, b->n_q, b->n_k);
        if (av_all_finite(b->scores + i * b->n_k, len)) {
            av_moments_add(&s->moments, b->scores + i * b->n_k, len);
        }
    }
}

/* Sums go on over the columns, as many at a time as fit a unit. */
double av_diversity_score(struct av_diversity_state *s)
{
    const struct av_diversity_buffers *b = &s->buffers;
    size_t rows = av_diversity_scored(s);
    size_t i0 = av_diversity_query(s, rows, s->row);
    size_t i1 = i0 + neighbours(s, rows, AV_DIVERSITY_PORTION);
    double cost = (double)b->n_k * (AV_DIVERSITY_NS_PREPARE + AV_DIVERSITY_NS_SCORE * (double)(i1 - i0));
    size_t columns = fit(cost, b->d - s->column);
    struct av_entries q = queries(s);
    struct av_entries k = keys(s);
    const struct av_block block = { i0, i1, 0, b->n_k, s->column, s->column + columns };
    s->kernels->scores(b->scores, b->n_k, &q, &k, &block, s->scores_scratch);
    s->column += columns;
    if (s->column == b->d) {
        s->column = 0;
        s->row += i1 - i0;
        if (of_all_scores(s)) {
            add_moments(s, i0, i1);
        }
    }
    return cost * (double)columns;
}

/* ---- Weights ------------------------------------------------------------------------ */

static size_t place_of(const struct av_diversity_state *s, size_t place, size_t head, size_t row)
{
    return (place * s->result.heads + head) * av_diversity_rows(s) + row;
}

double *av_diversity_weights(const struct av_diversity_state *s, size_t place, size_t head, size_t row)
{
    return s->buffers.weights + place_of(s, place, head, row) * s->buffers.n_k;
}

struct av_diversity_row *av_diversity_seen(const struct av_diversity_state *s, size_t place, size_t head, size_t row)
{
    return s->buffers.seen + place_of(s, place, head, row);
}

enum av_status av_diversity_begin_state(struct av_diversity_state *s, const struct av_params *p, struct av_error *e)
{
    const struct av_diversity_buffers *b = &s->buffers;
    struct av_params now = *p;
    now.head = (int64_t)s->head;
    const struct av_attend_head head = { .q = queries(s),
                                         .k = keys(s),
                                         .n_q = b->n_q,
                                         .n_k = b->n_k,
                                         .d = b->d,
                                         .scores = b->scores,
                                         .score_moments = &s->moments };
    return av_attend_begin(s->attend, &now, &head, (double)NAN, e);
}

/* Weights w as a distribution: the sizes of those that are none. False when
 * they are all 0, or not numbers. */
static bool make_distribution(double *w, size_t n, bool simplex)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        w[j] = fabs(w[j]);
        sum += w[j];
    }
    for (size_t j = 0; j < n && !simplex; j++) {
        w[j] /= sum;
    }
    return sum > 0 && isfinite(sum);
}

/* What is known of a row of weights w, which become a distribution. */
static struct av_diversity_row look(const struct av_diversity_state *s, double *w, const struct av_rowstats *stats,
                                    bool invalid)
{
    struct av_diversity_row row = { .counts = !invalid && stats->keys >= 2, .keys = stats->keys };
    size_t n = s->buffers.n_k;
    row.counts = row.counts && make_distribution(w, n, s->result.simplex);
    if (row.counts) {
        for (size_t j = 1; j < n; j++) {
            row.argmax = w[j] > w[row.argmax] ? j : row.argmax;
        }
        row.max = w[row.argmax];
        row.entropy = stats->entropy;
        row.entropy_norm = stats->entropy / log((double)stats->keys);
    }
    return row;
}

double av_diversity_weigh(struct av_diversity_state *s)
{
    struct av_rowstats stats[AV_DIVERSITY_PORTION] = { { 0 } };
    bool invalid[AV_DIVERSITY_PORTION];
    size_t i = av_diversity_query(s, av_diversity_rows(s), s->row);
    size_t count = neighbours(s, av_diversity_rows(s), fit(s->row_cost, AV_DIVERSITY_PORTION));
    double *w = av_diversity_weights(s, s->place, s->head, s->row);
    struct av_diversity_row *seen = av_diversity_seen(s, s->place, s->head, s->row);
    memset(invalid, s->lost, sizeof invalid);
    if (!s->lost) {
        av_attend_run(s->attend, &(struct av_attend_rows){
                                     .from = i, .to = i + count, .weights = w, .rows = stats, .invalid = invalid });
    }
    for (size_t r = 0; r < count; r++) {
        seen[r] = look(s, w + r * s->buffers.n_k, &stats[r], invalid[r]);
    }
    s->row += count;
    return (double)count * s->row_cost + s->begin_cost;
}
