/* stage_rows.c - MOMENTS, LOGITS, WEIGHTS and STATS: what is done row by row. */
#include "attnviz/theory.h"
#include "attnviz/variant.h"
#include "expected.h"
#include "stages.h"
#include "summary.h"
#include "verdicts.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Can weights be made of a row x [n] of scores, or of what stands for them? A
 * file's scores may be -infinity, which is a mask. */
static bool usable(const double *x, size_t n, bool masked)
{
    for (size_t j = 0; j < n; j++) {
        if (!isfinite(x[j]) && !(masked && x[j] < 0)) {
            return false;
        }
    }
    return true;
}

/* A row's scores are invalid when one that the mask leaves is not finite: an
 * entry that is NaN or infinite, or a product beyond the range of double. */
static void find_invalid(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    const double *x = s->from == AV_PART_Q ? b->scores : m->head.given;
    for (size_t i = 0; i < s->n_q; i++) {
        size_t len = av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k);
        b->invalid_scores[i] = !s->from_logits && !usable(x + i * s->n_k, len, s->from == AV_PART_SCORES);
    }
}

void av_stage_moments(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    find_invalid(m);
    s->score_moments = (struct av_moments)AV_MOMENTS_INIT;
    s->score_row_std = s->expected_mean = s->expected_var = s->expected_kurtosis = (double)NAN;
    if (s->scores != NULL) {
        struct av_spread spread;
        bool masked = av_score_moments(&s->score_moments, &spread, s);
        s->score_row_std = av_spread_std(&spread);
        s->patterned = s->patterned || masked;
    }
    if (!s->from_logits && !s->from_files) {
        struct av_expected expected = av_expected_scores(&s->params);
        s->expected_mean = expected.mean;
        s->expected_var = expected.var;
        s->expected_kurtosis = expected.kurtosis;
    }
    s->runs[AV_STAGE_MOMENTS]++;
}

/* The raw scores of a row, or the logits given by hand. */
static const double *row_source(const struct av_model *m, size_t i)
{
    const struct av_snapshot *s = &m->snapshot;
    return s->from_logits ? s->params.logits.at : m->buffers.scores + i * s->n_k;
}

/* What the softmax gets: logits up to a factor (alpha / temperature) and up to
 * a common shift, which cancels and would only cost digits. So the offset is
 * left out; and when the probed key's own offset has to be added to its score,
 * all scores are first taken from the largest of the others, lest that sum be
 * rounded at their size. Either what the model holds or a copy in its buffer. */
static const double *softmax_source(const struct av_model *m, size_t i, size_t len, double alpha)
{
    const struct av_params *p = &m->snapshot.params;
    const double *source = row_source(m, i);
    size_t key = (size_t)p->key;
    if (!m->snapshot.probed || key >= len || len < 2) {
        return source;
    }
    double anchor = source[key == 0];
    for (size_t j = 0; j < len; j++) {
        anchor = j != key && source[j] > anchor ? source[j] : anchor;
    }
    double *row = m->buffers.row;
    for (size_t j = 0; j < len; j++) {
        row[j] = fmax(source[j] - anchor, -DBL_MAX); /* -infinity would say masked */
    }
    row[key] = source[key] - anchor + p->key_offset / alpha;
    return isfinite(row[key]) ? row : source; /* beyond the largest double the offset is nothing */
}

/* The logits of a row with all offsets, -infinity where masked. */
static void make_logits(double *to, const struct av_model *m, size_t i, size_t len, size_t n_k, double alpha)
{
    const struct av_params *p = &m->snapshot.params;
    const double *source = row_source(m, i);
    double multiplier = alpha / p->temperature;
    double offset = p->offset / p->temperature;
    for (size_t j = 0; j < len; j++) {
        to[j] = multiplier * source[j] + offset;
    }
    if ((size_t)p->key < len) {
        to[p->key] += p->key_offset / p->temperature;
    }
    for (size_t j = len; j < n_k; j++) {
        to[j] = -(double)INFINITY;
    }
}

static void blank_row(double *weights, struct av_rowstats *row, size_t len, size_t n_k, bool invalid)
{
    memset(row, 0, sizeof *row);
    row->keys = len;
    for (size_t j = 0; j < n_k; j++) {
        weights[j] = invalid && j < len ? (double)NAN : 0;
    }
}

/* LOGITS, WEIGHTS and the row statistics of the current state. */
void av_stage_rows(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    const struct av_params *p = &s->params;
    double multiplier = s->alpha / p->temperature;
    for (size_t i = 0; i < s->n_q; i++) {
        size_t len = av_row_length((enum av_mask)p->mask, i, s->n_q, s->n_k);
        double *weights = b->weights + i * s->n_k;
        make_logits(b->logits + i * s->n_k, m, i, len, s->n_k, s->alpha);
        b->invalid[i] = b->invalid_scores[i];
        if (len == 0 || b->invalid[i]) {
            blank_row(weights, &b->rows[i], len, s->n_k, b->invalid[i]);
            continue;
        }
        m->kernels->softmax(weights, softmax_source(m, i, len, s->alpha), multiplier, len, &b->rows[i]);
        b->rows[i].max_logit = b->logits[i * s->n_k + b->rows[i].argmax];
        memset(weights + len, 0, (s->n_k - len) * sizeof *weights);
    }
    s->runs[AV_STAGE_LOGITS]++;
    s->runs[AV_STAGE_WEIGHTS]++;
}

/* Row statistics alone, of the state with another multiplier. */
static void run_other_rows(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    for (size_t i = 0; i < s->n_q; i++) {
        size_t len = av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k);
        struct av_rowstats *row = &b->other_rows[i];
        memset(row, 0, sizeof *row);
        row->keys = len;
        b->other_invalid[i] = b->invalid_scores[i];
        if (len > 0 && !b->other_invalid[i]) {
            double multiplier = s->other.alpha / s->params.temperature;
            m->kernels->softmax(NULL, softmax_source(m, i, len, s->other.alpha), multiplier, len, row);
        }
    }
}

static void run_dq(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    struct av_entries k = av_model_keys(m);
    double multiplier = s->alpha / s->params.temperature;
    for (size_t i = 0; i < s->n_q;) {
        struct av_dq_row rows[AV_DQ_ROWS];
        size_t of[AV_DQ_ROWS], count = 0;
        for (; i < s->n_q && count < AV_DQ_ROWS; i++) {
            b->dq_rms[i] = 0;
            if (b->rows[i].keys >= 2 && !b->invalid[i]) {
                of[count] = i;
                rows[count++] = (struct av_dq_row){ b->weights + i * s->n_k, b->rows[i].keys, b->rows[i].argmax, 0 };
            }
        }
        m->kernels->dq(rows, count, &k, s->d_k, b->dq_scratch);
        for (size_t r = 0; r < count; r++) {
            b->dq_rms[of[r]] = multiplier * rows[r].dq;
        }
    }
}

/* The share of its keys that each row gives any weight, as it is stored. */
static void make_nonzero(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    if (av_rows_by_engine(s)) {
        return; /* it comes with the rows */
    }
    for (size_t i = 0; i < s->n_q; i++) {
        const double *weights = b->weights + i * s->n_k;
        size_t n = 0;
        for (size_t j = 0; j < b->rows[i].keys; j++) {
            n += weights[j] != 0;
        }
        b->nonzero[i] = (double)n / (double)b->rows[i].keys; /* without keys it does not count */
    }
    av_summary_nonzero(&s->now, s, b->rows, b->nonzero, b->column);
}

static void make_dq(struct av_model *m)
{
    if (!m->snapshot.varied) {
        run_dq(m);
    } else if (!m->has_dq) {
        av_varied_dq(m);
    }
}

/* Moments of the logits of a plain softmax and their spread within rows: those
 * of the scores moved and stretched, unless one key is offset or the logits
 * were given by hand. */
static void logit_moments(struct av_summary *sum, struct av_model *m)
{
    struct av_moments *out = &sum->logits;
    double alpha = sum->alpha;
    const struct av_snapshot *s = &m->snapshot;
    const struct av_params *p = &s->params;
    double f = alpha / p->temperature;
    double offset = p->offset / p->temperature;
    if (!s->from_logits && !s->probed) {
        *out = s->score_moments;
        av_moments_stretch(out, f, offset);
        sum->row_std = f * s->score_row_std;
        return;
    }
    struct av_spread spread = { 0, 0 };
    *out = (struct av_moments)AV_MOMENTS_INIT;
    for (size_t i = 0; i < s->n_q; i++) {
        size_t len = av_row_length((enum av_mask)p->mask, i, s->n_q, s->n_k);
        if (!m->buffers.invalid_scores[i]) {
            make_logits(m->buffers.row, m, i, len, len, alpha);
            struct av_moments row = AV_MOMENTS_INIT;
            av_moments_add(&row, m->buffers.row, len);
            av_moments_merge(out, &row);
            av_spread_add(&spread, &row);
        }
    }
    sum->row_std = av_spread_std(&spread);
}

/* The summary of the current state but for dq. */
static void summarize(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    struct av_summary *now = &s->now;
    now->scale = s->params.scale != 0;
    now->alpha = s->alpha;
    if (av_rows_by_engine(s)) {
        av_varied_summary(m);
        return;
    }
    if (s->from == AV_PART_WEIGHTS) {
        now->logits = (struct av_moments)AV_MOMENTS_INIT;
        now->row_std = (double)NAN;
    } else {
        logit_moments(now, m);
    }
    av_summary_make(now, s, b->rows, b->column);
}

/* That of the state with scale toggled, whose rows it makes. */
static void make_other(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    s->other.scale = s->params.scale == 0;
    s->other_rows = b->other_rows;
    s->other_invalid = b->other_invalid;
    if (s->varied) {
        av_varied_other(m);
        return;
    }
    s->other.alpha = av_params_multiplier(&s->params, s->other.scale);
    run_other_rows(m);
    logit_moments(&s->other, m);
    av_summary_make(&s->other, s, b->other_rows, b->column);
}

static void run_theory(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    const struct av_params *p = &s->params;
    struct av_theory_rows rows = { s->n_q, s->n_k, s->d_k, p->mask == AV_MASK_CAUSAL };
    s->theory_std = s->alpha * sqrt((double)s->d_k) * p->q_std * p->k_std / p->temperature;
    s->has_theory = p->dist == AV_DIST_NORMAL && p->corr == 0 && p->q_mean == 0 && !s->probed && !s->from_files &&
                    !s->from_logits && !s->varied && av_theory_means(m->theory, &rows, s->theory_std, &s->theory);
}

void av_stage_stats(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    s->theory_freezing = s->from == AV_PART_WEIGHTS ? (double)NAN /* there are no logits */
                                                    : av_verdicts_freezing(s->rows, s->n_q, s->params.variant);
    summarize(m);
    av_verdicts_make(s);
    s->runs[AV_STAGE_STATS]++;
}

void av_stage_needs(struct av_model *m, unsigned needs)
{
    struct av_snapshot *s = &m->snapshot;
    bool whole = (needs & AV_NEED_WHOLE_AXIS) != 0;
    if (s->histogram.whole != whole) {
        m->done &= ~(unsigned)AV_NEED_HISTOGRAM;
    }
    unsigned todo = needs & ~m->done;
    if ((todo & AV_NEED_HISTOGRAM) && !s->from_logits) {
        av_score_histogram_make(&s->histogram, &m->histogram, s, whole);
    }
    if ((todo & AV_NEED_OTHER) && !s->from_logits) {
        make_other(m);
    }
    if ((todo & AV_NEED_DQ) && !s->from_logits) {
        make_dq(m);
        s->dq_rms = m->buffers.dq_rms;
        av_summary_dq(&s->now, s, m->buffers.column);
    }
    if (todo & AV_NEED_THEORY) {
        run_theory(m);
    }
    if (todo & AV_NEED_NONZERO) {
        make_nonzero(m);
    }
    m->done |= todo;
}

void av_stage_forget(struct av_model *m, enum av_stage stale, bool glide)
{
    struct av_snapshot *s = &m->snapshot;
    unsigned gone = 0;
    const struct av_score_histogram *h = &s->histogram;
    bool same_factors = h->unscaled_factor == av_score_factor(s, false) && h->scaled_factor == av_score_factor(s, true);
    if (stale <= AV_STAGE_MOMENTS || (int64_t)h->bins != s->params.bins || !same_factors) {
        gone |= AV_NEED_HISTOGRAM;
        s->histogram.bins = 0;
    }
    if (stale <= AV_STAGE_STATS) {
        gone |= AV_NEED_DQ | AV_NEED_THEORY | AV_NEED_NONZERO;
        s->dq_rms = NULL;
        s->has_theory = false;
    }
    if (stale <= AV_STAGE_STATS && !glide) {
        gone |= AV_NEED_OTHER;
        s->other_rows = NULL;
        s->other.rows = 0;
    }
    m->done &= ~gone;
}
