/* stage_varied.c - LOGITS and WEIGHTS by a variant or a dtype. */
#include "stages.h"
#include "summary.h"
#include "variant_hooks.h"

#include <math.h>

bool av_rows_by_engine(const struct av_snapshot *s)
{
    return s->varied || s->from == AV_PART_SCORES;
}

/* Queries, keys and scores as the model holds them, or the logits that are given. */
static struct av_attend_head head_of(const struct av_model *m)
{
    const struct av_snapshot *s = &m->snapshot;
    struct av_attend_head head = {
        .n_q = s->n_q,
        .n_k = s->n_k,
        .d = s->d_k,
        .scores = s->from_logits ? s->params.logits.at : s->scores,
        .score_moments = &s->score_moments,
        .by_hand = s->d_k == 0,
    };
    if (!head.by_hand) {
        head.q = av_model_queries(m);
        head.k = av_model_keys(m);
    }
    return head;
}

static enum av_status begin(struct av_model *m, enum av_state state, double alpha, struct av_error *e)
{
    struct av_engine *engine = &m->engines[state];
    const struct av_params *p = &m->snapshot.params;
    enum av_status status = AV_OK;
    if (engine->begun) {
        return AV_OK;
    }
    if (engine->attend == NULL) {
        status = av_attend_new(&engine->attend, m->kernels, e);
    }
    if (state == AV_STATE_OTHER) {
        m->other_params = *p;
        m->other_params.scale = p->scale == 0;
        p = &m->other_params;
    }
    if (status == AV_OK) {
        struct av_attend_head head = head_of(m);
        status = av_attend_begin(engine->attend, p, &head, alpha, e);
    }
    engine->begun = status == AV_OK;
    return status;
}

/* The glide goes from the multiplier that a variant has with scale off to that
 * with scale on, in equal ratios, as d_k^-exponent goes from 1: by as large a
 * part of the way as alpha has gone. */
static double glide_alpha(const struct av_model *m, double alpha)
{
    const struct av_snapshot *s = &m->snapshot;
    struct av_params p = s->params;
    p.scale = 1;
    double part = log(alpha) / log(av_params_multiplier(&p, true));
    double on = av_attend_alpha(&p, s->d_k, s->n_k);
    p.scale = 0;
    double off = av_attend_alpha(&p, s->d_k, s->n_k);
    double way = off * pow(on / off, part);
    return isfinite(way) ? way : alpha; /* a gain may be 0 or below */
}

enum av_status av_engines_begin(struct av_model *m, unsigned needs, double alpha, struct av_error *e)
{
    struct av_snapshot *s = &m->snapshot;
    double factor;
    s->by_row = s->varied && !av_attend_factor(&factor, &s->params, s->n_q, s->n_k);
    if (!av_rows_by_engine(s)) {
        return AV_OK;
    }
    enum av_status status = begin(m, AV_STATE_NOW, isnan(alpha) ? alpha : glide_alpha(m, alpha), e);
    if (status == AV_OK && (needs & AV_NEED_OTHER) != 0 && s->d_k > 0) {
        status = begin(m, AV_STATE_OTHER, (double)NAN, e);
    }
    if (status == AV_OK) {
        s->alpha = av_attend_multiplier(m->engines[AV_STATE_NOW].attend) * s->params.temperature;
    }
    return status;
}

/* ---- The current state -------------------------------------------------------- */

/* The form of a row given by hand: of its bend, at its logits; of a softmax in
 * narrow arithmetic, at its weights. */
static void make_form(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    const struct av_variant_hooks *hooks = av_variant_hooks_of(s->params.variant, AV_GROUP_BEND);
    if (b->invalid[0] || b->rows[0].keys == 0) {
        return;
    }
    if (hooks->bend != NULL) {
        struct av_bend_params params = { 0 };
        struct av_rowstats stats;
        struct av_bend_row row = { s->n_k, b->logits, b->row, b->form, b->dq_scratch };
        if (hooks->bend_params != NULL) {
            hooks->bend_params(&params, &s->params, b->rows[0].keys);
        }
        hooks->bend(&row, &params, m->kernels, &stats);
        s->form = &b->form;
    } else if (s->params.dtype != AV_DTYPE_F64) {
        av_form_of_weights(&b->form, b->weights, s->n_k);
        s->form = &b->form;
    }
}

void av_stage_varied_rows(struct av_model *m, unsigned needs)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    m->has_dq = (needs & AV_NEED_DQ) != 0 && !s->from_logits;
    struct av_attend_rows rows = {
        .from = 0,
        .to = s->n_q,
        .logits = b->logits,
        .weights = b->weights,
        .rows = b->rows,
        .invalid = b->invalid,
        .nonzero = b->nonzero,
        .d_scores = b->d_scores,
        .dq = m->has_dq ? b->dq_rms : NULL,
    };
    av_attend_run(m->engines[AV_STATE_NOW].attend, &rows);
    if (s->from_logits) {
        make_form(m);
    }
    s->runs[AV_STAGE_LOGITS]++;
    s->runs[AV_STAGE_WEIGHTS]++;
}

/* Statistics and validity come out as they are. */
void av_varied_dq(struct av_model *m)
{
    struct av_buffers *b = &m->buffers;
    struct av_attend_rows rows = {
        .from = 0, .to = m->snapshot.n_q, .rows = b->rows, .invalid = b->invalid, .dq = b->dq_rms
    };
    av_attend_run(m->engines[AV_STATE_NOW].attend, &rows);
    m->has_dq = true;
}

/* ---- Summaries ---------------------------------------------------------------- */

struct logits {
    struct av_moments all;
    struct av_spread spread;
};

/* Adds what a row sees, but for a logit that is a constant. seen: scratch, [n]. */
static void add_row(struct logits *sum, const double *z, size_t n, size_t constant, double *seen)
{
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        if (z[j] > -(double)INFINITY && j != constant) {
            seen[count++] = z[j];
        }
    }
    struct av_moments row = AV_MOMENTS_INIT;
    av_moments_add(&row, seen, count);
    av_moments_merge(&sum->all, &row);
    av_spread_add(&sum->spread, &row);
}

/* z [to - from, n_k]: logits of queries [from, to). Adds the rows whose weights
 * are valid. */
static void add_rows(struct logits *sum, struct av_model *m, enum av_state state, const double *z, size_t from,
                     size_t to)
{
    const struct av_attend *attend = m->engines[state].attend;
    const bool *invalid = state == AV_STATE_NOW ? m->buffers.invalid : m->buffers.other_invalid;
    size_t n_k = m->snapshot.n_k;
    for (size_t i = from; i < to; i++) {
        if (!invalid[i]) {
            add_row(sum, z + (i - from) * n_k, n_k, av_attend_constant(attend, i), m->buffers.row);
        }
    }
}

static void summarize(struct av_model *m, struct av_summary *out, const struct av_rowstats *rows,
                      const struct logits *logits)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    av_summary_make(out, s, rows, b->column);
    av_summary_nonzero(out, s, rows, b->nonzero, b->column);
    av_summary_d_scores(out, s, rows, b->d_scores, b->column);
    out->logits = logits->all;
    out->row_std = av_spread_std(&logits->spread);
    if (!s->simplex) {
        out->row_sum_error_max = (double)NAN;
    }
}

void av_varied_summary(struct av_model *m)
{
    struct av_buffers *b = &m->buffers;
    struct logits logits = { AV_MOMENTS_INIT, { 0, 0 } };
    add_rows(&logits, m, AV_STATE_NOW, b->logits, 0, m->snapshot.n_q);
    summarize(m, &m->snapshot.now, b->rows, &logits);
}

void av_varied_other(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    struct av_attend *attend = m->engines[AV_STATE_OTHER].attend;
    struct logits logits = { AV_MOMENTS_INIT, { 0, 0 } };
    for (size_t from = 0; from < s->n_q; from += AV_BLOCK_ROWS) {
        size_t count = s->n_q - from < AV_BLOCK_ROWS ? s->n_q - from : AV_BLOCK_ROWS;
        struct av_attend_rows rows = {
            .from = from,
            .to = from + count,
            .logits = b->block,
            .rows = b->other_rows + from,
            .invalid = b->other_invalid + from,
            .nonzero = b->nonzero + from,
            .d_scores = b->d_scores + from,
        };
        av_attend_run(attend, &rows);
        add_rows(&logits, m, AV_STATE_OTHER, b->block, from, from + count);
    }
    s->other.alpha = av_attend_multiplier(attend) * s->params.temperature;
    summarize(m, &s->other, b->other_rows, &logits);
}
