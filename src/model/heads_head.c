/* heads_head.c - one head: read, then weighed row by row; or diagnosed. */
#include "attnviz/mem.h"
#include "attnviz/snapshot.h"
#include "attnviz/variant.h"
#include "given_rows.h"
#include "heads_state.h"
#include "score_stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_READ 2.0   /* an entry */
#define NS_ATTEND 0.5 /* a multiply-add of av_attend_row_cost */
#define NS_SCORE 0.2  /* a pair and column */
#define NS_PAIR 12.0  /* a pair that is looked at */

enum { READ_ENTRIES = 1 << 18 };

/* ---- Memory ---------------------------------------------------------------------- */

void av_heads_free_room(struct av_heads_room *r)
{
    void *all[] = { r->q,      r->k,      r->logits,    r->weights, r->read,  r->zeros,   r->seen,  r->form.diag,
                    r->form.u, r->form.v, r->form.rest, r->scratch, r->stats, r->invalid, r->column };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(r, 0, sizeof *r);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t queries_of(const struct av_source_layer *l)
{
    return l->n_q < AV_HEADS_QUERIES ? l->n_q : AV_HEADS_QUERIES;
}

static size_t entry_size(const struct av_source_layer *l, enum av_part part)
{
    return l->part[part].wide ? sizeof(double) : sizeof(float);
}

/* What the largest head of each kind of memory needs. */
static struct av_heads_room needed(const struct av_source *s)
{
    struct av_heads_room r = { 0 };
    for (size_t i = 0; i < s->layer_count; i++) {
        const struct av_source_layer *l = &s->layers[i];
        r.q_bytes = larger(r.q_bytes, l->n_q * l->d * entry_size(l, AV_PART_Q));
        r.k_bytes = larger(r.k_bytes, l->n_k * l->d * entry_size(l, AV_PART_K));
        r.n_k = larger(r.n_k, l->n_k);
        r.queries = larger(r.queries, queries_of(l));
    }
    size_t fit = larger(1, AV_HEADS_PAIRS / larger(1, r.n_k));
    r.portion = fit < AV_HEADS_PORTION ? fit : AV_HEADS_PORTION;
    return r;
}

enum av_status av_heads_make_room(struct av_heads_state *s, struct av_error *e)
{
    struct av_heads_room *old = &s->room;
    struct av_heads_room r = needed(s->source);
    if (old->q != NULL && old->q_bytes == r.q_bytes && old->k_bytes == r.k_bytes && old->n_k == r.n_k &&
        old->queries == r.queries) {
        return AV_OK;
    }
    double **rows[] = { &r.logits, &r.weights, &r.read };
    double **row[] = { &r.zeros, &r.seen, &r.form.diag, &r.form.u, &r.form.v, &r.form.rest };
    bool made = (r.q = av_alloc(r.q_bytes, 1)) != NULL && (r.k = av_alloc(r.k_bytes, 1)) != NULL;
    for (size_t i = 0; made && i < sizeof rows / sizeof rows[0]; i++) {
        made = (*rows[i] = av_alloc(r.n_k, r.portion * sizeof **rows[i])) != NULL;
    }
    for (size_t i = 0; made && i < sizeof row / sizeof row[0]; i++) {
        made = (*row[i] = av_alloc(r.n_k, sizeof **row[i])) != NULL;
    }
    made = made && (r.scratch = av_alloc(AV_BEND_SCRATCH(r.n_k), sizeof *r.scratch)) != NULL &&
           (r.stats = av_alloc(r.queries, sizeof *r.stats)) != NULL &&
           (r.invalid = av_alloc(r.queries, sizeof *r.invalid)) != NULL &&
           (r.column = av_alloc(r.queries, sizeof *r.column)) != NULL;
    if (!made) {
        av_heads_free_room(&r);
        return av_fail_nomem(e, "the largest head");
    }
    av_heads_free_room(old);
    *old = r;
    return AV_OK;
}

/* ---- Beginning and ending a head ----------------------------------------------------- */

static struct av_head *at_hand(const struct av_heads_state *s)
{
    return &s->heads[s->at];
}

static void go_on(struct av_heads_state *s, enum av_heads_phase phase)
{
    s->phase = phase;
    s->row = 0;
}

static double end(struct av_heads_state *s, enum av_head_state state)
{
    struct av_head *h = at_hand(s);
    h->state = state;
    s->result.done++;
    s->spent += av_heads_cost(h);
    go_on(s, AV_HEADS_BEGIN);
    return 0;
}

static double end_diagnosis(struct av_heads_state *s, enum av_head_state state)
{
    struct av_head *h = at_hand(s);
    h->diagnosis = state;
    s->result.diagnosed++;
    s->spent += av_heads_diagnosis_cost(h);
    go_on(s, AV_HEADS_BEGIN);
    return 0;
}

static double refuse(struct av_heads_state *s, const struct av_error *e)
{
    struct av_head *h = at_hand(s);
    snprintf(h->why, sizeof h->why, "%s", e->text);
    if (s->result.diagnoses) {
        end_diagnosis(s, AV_HEAD_REFUSED);
    }
    return end(s, AV_HEAD_REFUSED);
}

static double refuse_diagnosis(struct av_heads_state *s, const struct av_error *e)
{
    struct av_head *h = at_hand(s);
    snprintf(h->why, sizeof h->why, "%s", e->text);
    return end_diagnosis(s, AV_HEAD_REFUSED);
}

/* Entries [at, d) of a part's memory. */
static struct av_entries entries_of(const struct av_source_layer *l, enum av_part part, const void *memory)
{
    bool wide = l->part[part].wide;
    return (struct av_entries){ wide ? NULL : memory, wide ? memory : NULL, l->d };
}

static double begin_diagnosis(struct av_heads_state *s)
{
    const struct av_head *h = at_hand(s);
    struct av_error e = { "" };
    if (av_diagnoser_begin(s->diagnoser, s->source, h->layer, h->head, &s->p, &e) != AV_OK) {
        return refuse_diagnosis(s, &e);
    }
    go_on(s, AV_HEADS_DIAGNOSE);
    return 0;
}

static double begin_head(struct av_heads_state *s)
{
    struct av_head *h = at_hand(s);
    const struct av_source_layer *l = &s->source->layers[h->layer];
    struct av_error e = { "" };
    s->p = s->result.params;
    s->p.n_q = (int64_t)h->n_q;
    s->p.n_k = (int64_t)h->n_k;
    s->p.d_k = (int64_t)h->d;
    s->p.n_head = (int64_t)l->n_head;
    s->p.head = (int64_t)h->head;
    s->p.layer = (int64_t)h->layer;
    av_source_limit(&s->p, l);
    if (h->state != AV_HEAD_WAITING) {
        return begin_diagnosis(s);
    }
    s->moments = (struct av_moments)AV_MOMENTS_INIT;
    memset(&s->sums, 0, sizeof s->sums);
    s->sums.all = (struct av_moments)AV_MOMENTS_INIT;
    if (h->from == AV_PART_Q) {
        s->entries = (struct av_attend_head){ .q = entries_of(l, AV_PART_Q, s->room.q),
                                              .k = entries_of(l, AV_PART_K, s->room.k),
                                              .n_q = h->n_q,
                                              .n_k = h->n_k,
                                              .d = h->d,
                                              .score_moments = &s->moments };
        if (av_variant_check(s->p.variant, &s->p, &e) != AV_OK) {
            return refuse(s, &e);
        }
    }
    go_on(s, h->from == AV_PART_Q ? AV_HEADS_READ_Q : AV_HEADS_WEIGH);
    s->row_cost = NS_PAIR * (double)h->n_k;
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------- */

static enum av_status read_rows(struct av_heads_state *s, enum av_part part, void *to, size_t first, size_t rows,
                                struct av_error *e)
{
    const struct av_head *h = at_hand(s);
    const struct av_source_layer *l = &s->source->layers[h->layer];
    bool wide = l->part[part].wide;
    size_t head = part == AV_PART_K ? av_source_k_head(l, h->head) : h->head;
    return s->source->read(s->source->state, h->layer, part, head, first, rows, wide ? NULL : to, wide ? to : NULL, e);
}

/* Some rows of queries or keys. */
static double read_part(struct av_heads_state *s, enum av_part part, size_t n, void *memory, enum av_heads_phase then)
{
    const struct av_head *h = at_hand(s);
    const struct av_source_layer *l = &s->source->layers[h->layer];
    struct av_error e = { "" };
    size_t fit = READ_ENTRIES / h->d + 1;
    size_t rows = fit < n - s->row ? fit : n - s->row;
    char *to = (char *)memory + s->row * h->d * entry_size(l, part);
    if (read_rows(s, part, to, s->row, rows, &e) != AV_OK) {
        return refuse(s, &e);
    }
    s->row += rows;
    if (s->row == n) {
        go_on(s, then);
    }
    return NS_READ * (double)rows * (double)h->d;
}

/* With queries and keys in memory; score_moments may still be to come. */
static double begin_rows(struct av_heads_state *s)
{
    struct av_error e = { "" };
    if (av_attend_begin(s->attend, &s->p, &s->entries, (double)NAN, &e) != AV_OK) {
        return refuse(s, &e);
    }
    s->row_cost = NS_ATTEND * av_attend_row_cost(s->attend, false) + NS_PAIR * (double)s->entries.n_k;
    return NS_READ * (double)s->entries.n_k * (double)s->entries.d;
}

static double read_q(struct av_heads_state *s)
{
    return read_part(s, AV_PART_Q, at_hand(s)->n_q, s->room.q, AV_HEADS_READ_K);
}

static double read_k(struct av_heads_state *s)
{
    bool counts = (av_variant_flags(s->p.variant) & AV_VARIANT_SCORES) != 0;
    double cost = read_part(s, AV_PART_K, at_hand(s)->n_k, s->room.k, counts ? AV_HEADS_COUNT : AV_HEADS_WEIGH);
    return s->phase == AV_HEADS_WEIGH ? cost + begin_rows(s) : cost;
}

/* Moments of all scores, as the pipeline takes them. */
static double count_scores(struct av_heads_state *s)
{
    const struct av_head *h = at_hand(s);
    size_t left = h->n_q - s->row;
    size_t count = left < s->room.portion ? left : s->room.portion;
    double *scores = s->room.weights;
    struct av_entries q = s->entries.q;
    q.f32 = q.f32 != NULL ? q.f32 + s->row * q.pitch : NULL;
    q.f64 = q.f64 != NULL ? q.f64 + s->row * q.pitch : NULL;
    const struct av_block block = { 0, count, 0, h->n_k, 0, h->d };
    s->kernels->scores(scores, h->n_k, &q, &s->entries.k, &block, s->scores_scratch);
    for (size_t r = 0; r < count; r++) {
        size_t len = av_row_length((enum av_mask)s->p.mask, s->row + r, h->n_q, h->n_k);
        if (av_all_finite(scores + r * h->n_k, len)) {
            struct av_moments row = AV_MOMENTS_INIT;
            av_moments_add(&row, scores + r * h->n_k, len);
            av_moments_merge(&s->moments, &row);
        }
    }
    s->row += count;
    double cost = (double)count * (double)h->n_k * (NS_SCORE * (double)h->d + NS_PAIR);
    if (s->row == h->n_q) {
        go_on(s, AV_HEADS_WEIGH);
        cost += begin_rows(s);
    }
    return cost;
}

/* ---- Weighing ---------------------------------------------------------------------------- */

/* The r-th query that is looked at, and how many are in one row behind it. */
static size_t query_of(const struct av_head *h, size_t r, size_t *neighbours)
{
    if (h->queries == h->n_q) {
        *neighbours = h->queries - r;
        return r;
    }
    size_t groups = h->queries / AV_HEADS_GROUP;
    size_t middle = (2 * (r / AV_HEADS_GROUP) + 1) * h->n_q / (2 * groups);
    *neighbours = AV_HEADS_GROUP - r % AV_HEADS_GROUP;
    return middle - AV_HEADS_GROUP / 2 + r % AV_HEADS_GROUP;
}

/* From what the attention was begun with. */
static void run_rows(struct av_heads_state *s, size_t i, size_t count)
{
    struct av_heads_room *m = &s->room;
    av_attend_run(s->attend, &(struct av_attend_rows){ .from = i,
                                                       .to = i + count,
                                                       .logits = m->logits,
                                                       .weights = m->weights,
                                                       .rows = m->stats + s->row,
                                                       .invalid = m->invalid + s->row });
}

/* From rows of weights of a file. */
static void take_weights(struct av_heads_state *s, size_t i, size_t count)
{
    struct av_heads_room *m = &s->room;
    const struct av_head *h = at_hand(s);
    const struct av_given_room room = { m->zeros, m->form, m->scratch };
    for (size_t r = 0; r < count; r++) {
        size_t len = av_row_length((enum av_mask)s->p.mask, i + r, h->n_q, h->n_k);
        m->invalid[s->row + r] = !av_given_weights(&m->stats[s->row + r], m->weights + r * h->n_k, len, &room);
    }
}

/* From rows of scores of a file: logits that are given. */
static enum av_status take_scores(struct av_heads_state *s, size_t i, size_t count, struct av_error *e)
{
    struct av_heads_room *m = &s->room;
    const struct av_head *h = at_hand(s);
    s->entries =
        (struct av_attend_head){ .n_q = h->n_q, .n_k = h->n_k, .scores = m->read, .scores_from = i, .by_hand = true };
    enum av_status status = av_attend_begin(s->attend, &s->p, &s->entries, (double)NAN, e);
    if (status == AV_OK) {
        run_rows(s, i, count);
    }
    return status;
}

/* From rows of a file's scores or weights. */
static enum av_status take(struct av_heads_state *s, size_t i, size_t count, struct av_error *e)
{
    struct av_heads_room *m = &s->room;
    const struct av_head *h = at_hand(s);
    bool scores = h->from == AV_PART_SCORES;
    bool wide = s->source->layers[h->layer].part[h->from].wide;
    double *rows = scores ? m->read : m->weights;
    void *raw = wide ? rows : m->logits;
    enum av_status status = read_rows(s, h->from, raw, i, count, e);
    for (size_t at = 0; !wide && status == AV_OK && at < count * h->n_k; at++) {
        rows[at] = (double)((const float *)raw)[at];
    }
    if (status == AV_OK && scores) {
        status = take_scores(s, i, count, e);
    } else if (status == AV_OK) {
        take_weights(s, i, count);
    }
    return status;
}

static double weigh(struct av_heads_state *s)
{
    struct av_head *h = at_hand(s);
    struct av_error e = { "" };
    double fit = AV_HEADS_UNIT / s->row_cost;
    size_t count;
    size_t i = query_of(h, s->row, &count);
    count = count < s->room.portion ? count : s->room.portion;
    count = fit < 1 ? 1 : fit < (double)count ? (size_t)fit : count;
    if (h->from == AV_PART_Q) {
        run_rows(s, i, count);
    } else if (take(s, i, count, &e) != AV_OK) {
        return refuse(s, &e);
    }
    av_heads_add_rows(s, h, i, count, h->from != AV_PART_WEIGHTS ? s->room.logits : NULL);
    s->row += count;
    double cost = s->row_cost * (double)count;
    if (s->row == h->queries) {
        av_heads_sum_up(s, h);
        end(s, AV_HEAD_MEASURED);
    }
    return cost;
}

/* ---- Diagnosing -------------------------------------------------------------------------- */

static double diagnose(struct av_heads_state *s)
{
    struct av_error e = { "" };
    bool more;
    if (av_diagnoser_step(s->diagnoser, &more, &e) != AV_OK) {
        return refuse_diagnosis(s, &e);
    }
    if (!more) {
        av_heads_add_diagnosis(at_hand(s), av_diagnoser_result(s->diagnoser));
        end_diagnosis(s, AV_HEAD_MEASURED);
    }
    return AV_HEADS_UNIT; /* its units are units */
}

double av_heads_work(struct av_heads_state *s)
{
    static double (*const jobs[])(
        struct av_heads_state *) = { begin_head, read_q, read_k, count_scores, weigh, diagnose };
    return jobs[s->phase](s);
}

/* ---- What it costs ------------------------------------------------------------------------ */

static double pairs_cost(const struct av_head *h, double pairs)
{
    return pairs * (NS_PAIR + NS_ATTEND * (double)h->d) + NS_READ * (double)(h->n_q + h->n_k) * (double)h->d;
}

double av_heads_cost(const struct av_head *h)
{
    return pairs_cost(h, (double)h->queries * (double)h->n_k);
}

double av_heads_diagnosis_cost(const struct av_head *h)
{
    return pairs_cost(h, fmin((double)h->n_q * (double)h->n_k, AV_DIAGNOSIS_PAIRS));
}
