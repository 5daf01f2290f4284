/* variants_measure.c - what a variant makes of queries and keys, in numbers. */
#include "attnviz/mem.h"
#include "variants_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_MULTIPLY_ADD 0.5 /* of av_attend_row_cost */
#define NS_PAIR 8.0         /* logits that are looked at */

/* ---- Memory ---------------------------------------------------------------- */

void av_variants_rows_free(struct av_variants_rows *b)
{
    void *all[] = { b->stats, b->dq, b->nonzero, b->column, b->invalid, b->logits, b->weights, b->seen };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(b, 0, sizeof *b);
}

enum av_status av_variants_rows_make(struct av_variants_rows *b, size_t queries, size_t pairs, struct av_error *e)
{
    if (b->queries == queries && b->pairs == pairs) {
        return AV_OK;
    }
    struct av_variants_rows fresh = { .queries = queries, .pairs = pairs };
    fresh.stats = av_alloc(queries, sizeof *fresh.stats);
    fresh.dq = av_alloc(queries, sizeof *fresh.dq);
    fresh.nonzero = av_alloc(queries, sizeof *fresh.nonzero);
    fresh.column = av_alloc(queries, sizeof *fresh.column);
    fresh.invalid = av_alloc(queries, sizeof *fresh.invalid);
    fresh.logits = av_alloc(pairs, sizeof *fresh.logits);
    fresh.weights = av_alloc(pairs, sizeof *fresh.weights);
    fresh.seen = av_alloc(pairs, sizeof *fresh.seen);
    if (fresh.stats == NULL || fresh.dq == NULL || fresh.nonzero == NULL || fresh.column == NULL ||
        fresh.invalid == NULL || fresh.logits == NULL || fresh.weights == NULL || fresh.seen == NULL) {
        av_variants_rows_free(&fresh);
        return av_fail_nomem(e, "variants");
    }
    av_variants_rows_free(b);
    *b = fresh;
    return AV_OK;
}

size_t av_variants_fit(const struct av_variants_state *s, bool dq)
{
    const struct av_variants_rows *b = &s->rows;
    size_t n_k = s->head.n_k;
    double fit = AV_VARIANTS_UNIT / av_variants_row_cost(s, dq);
    size_t most = b->pairs / n_k < b->queries ? b->pairs / n_k : b->queries;
    return fit < 1 ? 1 : fit < (double)most ? (size_t)fit : most;
}

double av_variants_row_cost(const struct av_variants_state *s, bool dq)
{
    return NS_MULTIPLY_ADD * av_attend_row_cost(s->attend, dq) + NS_PAIR * (double)s->head.n_k;
}

bool av_variants_wanted(enum av_variant_state state, const struct av_variant_measure *m, bool dq)
{
    return dq ? state == AV_VARIANT_MEASURED && !m->has_dq : state == AV_VARIANT_WAITING;
}

/* ---- Beginning ----------------------------------------------------------------- */

struct av_params av_variant_params_of(const struct av_variant_subject *of, const struct av_params *p)
{
    struct av_params own = *p;
    own.variant = of->value;
    if (of->preset != NULL) {
        av_preset_apply(of->preset, &own);
    }
    return own;
}

enum av_status av_variants_attend(struct av_variants_state *s, const struct av_variants_head *h,
                                  const struct av_params *p, const struct av_variant_subject *of, struct av_error *e)
{
    s->subject = av_variant_params_of(of, p);
    s->head = (struct av_attend_head){
        .q = h->q, .k = h->k, .n_q = h->n_q, .n_k = h->n_k, .d = h->d, .scores = h->scores, .score_moments = &h->moments
    };
    s->sides.running = -1;
    return av_attend_begin(s->attend, &s->subject, &s->head, (double)NAN, e);
}

void av_variants_measure_begin(struct av_variants_state *s, const struct av_variants_head *h, const struct av_params *p,
                               const struct av_variant_subject *of, struct av_variants_work work)
{
    struct av_error e = { "" };
    if (av_variants_attend(s, h, p, of, &e) != AV_OK) {
        *work.state = AV_VARIANT_REFUSED;
        if (work.why != NULL) {
            snprintf(work.why, AV_VARIANT_WHY_MAX, "%s", e.text);
        }
        return;
    }
    s->work = work;
    s->work.on = true;
    s->work.row = 0;
    s->work.logits = (struct av_moments)AV_MOMENTS_INIT;
    s->work.spread = (struct av_spread){ 0, 0 };
    s->work.print = 0;
    memset(s->work.logit_counts, 0, sizeof s->work.logit_counts);
}

/* ---- Rows ------------------------------------------------------------------------ */

/* The query that is the r-th measured one: all of them, or the middles of as
 * many equal groups. */
static size_t query_of(const struct av_variants_state *s, size_t r)
{
    size_t n_q = s->head.n_q;
    size_t rows = s->work.queries;
    return (r * n_q + (n_q - rows) / 2) / rows;
}

static int bin_of(double part)
{
    double at = part * AV_VARIANT_BINS;
    return at < 0 ? 0 : at < AV_VARIANT_BINS ? (int)at : AV_VARIANT_BINS - 1;
}

/* Adds the logits of a query that are seen, but for one that is a constant. */
static void count_logits(struct av_variants_state *s, size_t query, const double *z)
{
    const size_t constant = av_attend_constant(s->attend, query);
    struct av_variants_work *w = &s->work;
    struct av_moments row = AV_MOMENTS_INIT;
    size_t n = 0;
    for (size_t j = 0; j < s->head.n_k; j++) {
        if (z[j] > -(double)INFINITY && j != constant) {
            s->rows.seen[n++] = z[j];
            w->logit_counts[bin_of((z[j] / AV_VARIANT_LOGITS_END + 1) / 2)]++;
        }
    }
    av_moments_add(&row, s->rows.seen, n);
    av_moments_merge(&w->logits, &row);
    av_spread_add(&w->spread, &row);
}

/* A number from -1 to 1 that is fixed by a place. */
static double number_of(size_t place)
{
    uint64_t x = ((uint64_t)place + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
    return (double)(x >> 32) * 0x1p-31 - 1;
}

/* The weights of a query times such numbers, summed up. */
static double print_of(size_t query, const double *w, size_t n_k)
{
    double sum = 0;
    for (size_t j = 0; j < n_k; j++) {
        sum += w[j] * number_of(query * n_k + j);
    }
    return sum;
}

/* Runs measured rows [from, to), which follow each other in the matrix if there
 * are several. */
static void run_rows(struct av_variants_state *s, size_t from, size_t to)
{
    struct av_variants_rows *b = &s->rows;
    struct av_variants_work *w = &s->work;
    size_t query = query_of(s, from);
    struct av_attend_rows rows = { .from = query,
                                   .to = query + (to - from),
                                   .logits = b->logits,
                                   .weights = b->weights,
                                   .rows = b->stats + from,
                                   .invalid = b->invalid + from,
                                   .nonzero = b->nonzero + from,
                                   .dq = s->work.dq ? b->dq + from : NULL };
    av_attend_run(s->attend, &rows);
    for (size_t r = from; r < to; r++) {
        if (!b->invalid[r]) {
            count_logits(s, query + (r - from), b->logits + (r - from) * s->head.n_k);
            w->print += print_of(query + (r - from), b->weights + (r - from) * s->head.n_k, s->head.n_k);
        }
    }
}

/* ---- The sum of it ------------------------------------------------------------------ */

/* Adds the bins. */
static void share_out(struct av_variant_measure *out, const struct av_variants_state *s)
{
    const struct av_variants_rows *b = &s->rows;
    for (size_t r = 0; r < s->work.queries; r++) {
        if (av_row_counts(&s->summary, b->stats, r)) {
            const struct av_rowstats *row = &b->stats[r];
            out->shares[AV_VARIANT_OF_MAX][bin_of(row->max)] += 1 / (double)out->rows;
            if (!av_row_without_weight(row)) {
                out->shares[AV_VARIANT_OF_ENTROPY][bin_of(row->entropy / log((double)row->keys))] +=
                    1 / (double)(out->rows - out->without_weight);
            }
        }
    }
    for (int i = 0; i < AV_VARIANT_BINS && s->work.logits.count > 0; i++) {
        out->shares[AV_VARIANT_OF_LOGITS][i] = s->work.logit_counts[i] / (double)s->work.logits.count;
    }
}

static void finish(struct av_variants_state *s)
{
    const struct av_variants_work *w = &s->work;
    struct av_variants_rows *b = &s->rows;
    struct av_summary sum = { .alpha = 1 };
    s->summary.n_q = w->queries;
    s->summary.params.temperature = 1;
    s->summary.invalid = b->invalid;
    s->summary.rows = b->stats;
    s->summary.dq_rms = b->dq;
    av_summary_make(&sum, &s->summary, b->stats, b->column);
    av_summary_nonzero(&sum, &s->summary, b->stats, b->nonzero, b->column);
    if (w->dq) {
        av_summary_dq(&sum, &s->summary, b->column);
    }
    *w->out = (struct av_variant_measure){
        .rows = sum.rows,
        .without_weight = sum.rows_without_weight,
        .print = w->print,
        .has_dq = w->dq,
        .at = { [AV_VARIANT_LOGIT_STD] = av_moments_std(&w->logits),
                [AV_VARIANT_ROW_STD] = av_spread_std(&w->spread),
                [AV_VARIANT_ENTROPY] = sum.entropy_mean,
                [AV_VARIANT_ENTROPY_NORM] = sum.entropy_norm_mean,
                [AV_VARIANT_KEYS] = sum.effective_keys_mean,
                [AV_VARIANT_MAX_MEAN] = sum.max_mean,
                [AV_VARIANT_MAX_MEDIAN] = sum.max_median,
                [AV_VARIANT_FRO] = sum.jacobian_fro_median,
                [AV_VARIANT_DEAD] = sum.share_fro_lt_1e_3,
                [AV_VARIANT_DQ] = sum.dq_rms_median,
                [AV_VARIANT_ROW_SUM] = sum.row_sum_mean,
                [AV_VARIANT_NONZERO] = sum.nonzero_share_mean,
                [AV_VARIANT_LOGIT_MIN] = w->logits.count > 0 ? w->logits.min : (double)NAN,
                [AV_VARIANT_LOGIT_MAX] = w->logits.count > 0 ? w->logits.max : (double)NAN },
    };
    share_out(w->out, s);
    *w->state = AV_VARIANT_MEASURED;
}

bool av_variant_same_weights(const struct av_variant_measure *a, const struct av_variant_measure *b)
{
    const double rounding = 1e-12; /* of a row; what differs in earnest differs by more */
    return a->rows == b->rows && fabs(a->print - b->print) <= rounding * (double)a->rows;
}

double av_variants_measure_run(struct av_variants_state *s)
{
    struct av_variants_work *w = &s->work;
    bool all = w->queries == s->head.n_q;
    size_t left = w->queries - w->row;
    size_t fit = all ? av_variants_fit(s, w->dq) : 1;
    size_t count = fit < left ? fit : left;
    run_rows(s, w->row, w->row + count);
    w->row += count;
    if (w->row == w->queries) {
        finish(s);
        w->on = false;
    }
    return av_variants_row_cost(s, w->dq) * (double)count;
}
