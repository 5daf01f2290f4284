/* diagnosis.c - a head read and measured, some rows at a time. */
#include "attnviz/diagnosis.h"

#include "attnviz/mem.h"
#include "diagnosis_state.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_MIN = 32,         /* looked at, however many keys there are */
    ROWS_MAX = 1 << 16,    /* and at most, however few */
    BLOCK_ROWS = 32,       /* rows of q.k held at a time, */
    BLOCK_PAIRS = 1 << 20, /* if they have no more pairs than this */
    KEY_ENTRIES = 1 << 18, /* entries of K read at a time */
    UNIT_PAIRS = 1 << 16   /* measured in a unit */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

bool av_diagnosis_has(const struct av_diagnoser *d, enum av_part part)
{
    return d->at->part[part].there;
}

static bool has_qk(const struct av_diagnoser *d)
{
    return av_diagnosis_has(d, AV_PART_Q) && av_diagnosis_has(d, AV_PART_K);
}

size_t av_diagnosis_query(const struct av_diagnoser *d, size_t r)
{
    return (r * d->at->n_q + (d->at->n_q - d->rows) / 2) / d->rows;
}

/* ---- Reading ------------------------------------------------------------------------ */

static enum av_status read_rows(struct av_diagnoser *d, enum av_part part, size_t first, size_t rows, void *out,
                                struct av_error *e)
{
    bool wide = d->at->part[part].wide;
    size_t head = part == AV_PART_K ? d->k_head : d->result.head;
    return d->source->read(d->source->state, d->result.layer, part, head, first, rows, wide ? NULL : out,
                           wide ? out : NULL, e);
}

enum av_status av_diagnosis_read(struct av_diagnoser *d, enum av_part part, size_t row, double *out, struct av_error *e)
{
    size_t n = part == AV_PART_Q || part == AV_PART_K ? d->at->d : d->at->n_k;
    bool wide = d->at->part[part].wide;
    enum av_status status = read_rows(d, part, row, 1, wide ? (void *)out : (void *)d->f32, e);
    for (size_t j = 0; status == AV_OK && !wide && j < n; j++) {
        out[j] = (double)d->f32[j];
    }
    return status;
}

void av_diagnosis_count(struct av_diagnoser *d, enum av_part part, size_t row, const double *x, size_t n)
{
    struct av_diagnosis_holes *f = &d->not_finite[part];
    const size_t head = part == AV_PART_K ? d->k_head : d->result.head;
    for (size_t j = 0; j < n; j++) {
        if (isfinite(x[j]) || (part == AV_PART_SCORES && x[j] < 0)) {
            continue;
        }
        size_t *first = isnan(x[j]) ? f->first_nan : f->first_infinite;
        uint64_t *count = isnan(x[j]) ? &f->nan : &f->infinite;
        if ((*count)++ == 0) {
            memcpy(first, (size_t[]){ head, row, j }, sizeof f->first_nan);
        }
    }
}

/* ---- Memory ------------------------------------------------------------------------- */

/* The next `bytes` behind *at; where: NULL only counts. */
static void *take(char *where, size_t *at, size_t bytes)
{
    void *taken = where != NULL ? where + *at : NULL;
    *at += (bytes + AV_ALIGN - 1) / AV_ALIGN * AV_ALIGN;
    return taken;
}

/* Shares out the memory; returns how much that is. */
static size_t share_out(struct av_diagnoser *d, char *where)
{
    size_t at = 0, n_k = d->at->n_k, d_k = d->at->d, longest = larger(n_k, d_k);
    d->f32 = take(where, &at, longest * sizeof *d->f32);
    d->row = take(where, &at, longest * sizeof *d->row);
    d->q = take(where, &at, d->block * d_k * sizeof(double));
    d->k = take(where, &at, d->keys * d_k * sizeof(double));
    d->dots = take(where, &at, (has_qk(d) ? d->block * n_k : 0) * sizeof *d->dots);
    d->scores = take(where, &at, n_k * sizeof *d->scores);
    d->weights = take(where, &at, n_k * sizeof *d->weights);
    for (size_t i = 0; i < sizeof d->spare / sizeof d->spare[0]; i++) {
        d->spare[i] = take(where, &at, n_k * sizeof *d->spare[i]);
    }
    d->weight.columns = take(where, &at, n_k * sizeof *d->weight.columns);
    d->logit.fro = take(where, &at, d->rows * sizeof *d->logit.fro);
    d->scratch = take(where, &at, AV_SCORES_SCRATCH);
    return at;
}

enum av_status av_diagnoser_new(struct av_diagnoser **out, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_diagnoser *d = av_alloc(1, sizeof *d);
    if (d == NULL) {
        return av_fail_nomem(e, "a diagnosis");
    }
    d->kernels = kernels != NULL ? kernels : av_kernels_best();
    d->phase = AV_PHASE_DONE;
    *out = d;
    return AV_OK;
}

void av_diagnoser_free(struct av_diagnoser *d)
{
    if (d != NULL) {
        av_free(d->memory);
        av_free(d);
    }
}

/* ---- Order of the work ---------------------------------------------------------------- */

/* Does the head at hand have anything to do in this phase? */
static bool wanted(const struct av_diagnoser *d, enum av_diagnosis_phase phase)
{
    switch (phase) {
    case AV_PHASE_Q:
        return av_diagnosis_has(d, AV_PART_Q);
    case AV_PHASE_K:
        return av_diagnosis_has(d, AV_PART_K);
    case AV_PHASE_SEEN:
        return av_diagnosis_has(d, AV_PART_WEIGHTS) && d->params.mask == AV_MASK_NONE;
    case AV_PHASE_DOTS:
        return has_qk(d);
    case AV_PHASE_ROWS:
    case AV_PHASE_DONE:
        break;
    }
    return true;
}

static void enter(struct av_diagnoser *d, enum av_diagnosis_phase phase)
{
    while (!wanted(d, phase)) {
        phase++;
    }
    d->phase = phase;
    d->next = phase == AV_PHASE_ROWS ? d->first : 0;
}

static double work_of(const struct av_diagnoser *d)
{
    double pairs = (double)d->rows * (double)d->at->n_k;
    double entries = has_qk(d) ? (double)(d->at->n_q + d->at->n_k) * (double)d->at->d : 0;
    return entries + (has_qk(d) ? pairs * (double)d->at->d : 0) + pairs;
}

enum av_status av_diagnoser_begin(struct av_diagnoser *d, const struct av_source *source, size_t layer, size_t head,
                                  const struct av_params *p, struct av_error *e)
{
    void *old = d->memory;
    *d = (struct av_diagnoser){ .kernels = d->kernels, .source = source, .at = &source->layers[layer], .params = *p };
    const struct av_source_layer *l = d->at;
    d->result.layer = layer;
    d->result.head = head;
    d->k_head = av_source_k_head(l, head);
    d->multiplier = (p->scale != 0 ? pow((double)l->d, -p->exponent) : 1) / p->temperature;
    d->rows = smaller(smaller(l->n_q, ROWS_MAX), larger(ROWS_MIN, AV_DIAGNOSIS_PAIRS / larger(l->n_k, 1)));
    d->result.sampled = d->rows < l->n_q;
    d->block = smaller(smaller(d->rows, BLOCK_ROWS), larger(1, BLOCK_PAIRS / larger(l->n_k, 1)));
    d->keys = smaller(l->n_k, larger(1, KEY_ENTRIES / larger(l->d, 1)));
    d->weight.twice_lowest = (double)INFINITY;
    d->entries[0] = d->entries[1] = (struct av_moments)AV_MOMENTS_INIT;
    d->logit.all = d->weight.row_sums = (struct av_moments)AV_MOMENTS_INIT;
    av_free(old);
    d->memory = av_alloc(share_out(d, NULL), 1);
    d->phase = AV_PHASE_DONE;
    if (d->memory == NULL) {
        return av_fail_nomem(e, "the diagnosis of a head");
    }
    share_out(d, d->memory);
    d->all = work_of(d);
    enter(d, AV_PHASE_Q);
    return AV_OK;
}

/* ---- Units -------------------------------------------------------------------------- */

static enum av_status scan_entries(struct av_diagnoser *d, struct av_error *e)
{
    enum av_part part = d->phase == AV_PHASE_Q ? AV_PART_Q : AV_PART_K;
    size_t rows = part == AV_PART_Q ? d->at->n_q : d->at->n_k, n = d->at->d;
    size_t end = smaller(rows, d->next + larger(1, KEY_ENTRIES / larger(n, 1)));
    for (; d->next < end; d->next++) {
        enum av_status status = av_diagnosis_read(d, part, d->next, d->row, e);
        if (status != AV_OK) {
            return status;
        }
        av_diagnosis_count(d, part, d->next, d->row, n);
        size_t finite = 0;
        for (size_t c = 0; c < n; c++) {
            d->row[finite] = d->row[c];
            finite += isfinite(d->row[c]);
        }
        av_moments_add(&d->entries[part == AV_PART_K], d->row, finite);
        d->done += (double)n;
    }
    if (d->next == rows) {
        enter(d, d->phase + 1);
    }
    return AV_OK;
}

/* Stops at the first weight behind its query. */
static enum av_status look_behind(struct av_diagnoser *d, struct av_error *e)
{
    size_t end = smaller(d->rows, d->next + larger(1, UNIT_PAIRS / d->at->n_k));
    bool zeros = d->at->n_q > 1 && d->at->n_k > 1;
    for (; zeros && d->next < end; d->next++) {
        size_t query = av_diagnosis_query(d, d->next);
        enum av_status status = av_diagnosis_read(d, AV_PART_WEIGHTS, query, d->weights, e);
        if (status != AV_OK) {
            return status;
        }
        for (size_t j = av_row_length(AV_MASK_CAUSAL, query, d->at->n_q, d->at->n_k); j < d->at->n_k; j++) {
            zeros = zeros && d->weights[j] == 0;
        }
    }
    if (!zeros || d->next == d->rows) {
        d->causal_seen = zeros;
        enter(d, AV_PHASE_DOTS);
    }
    return AV_OK;
}

static struct av_entries entries_at(const struct av_diagnoser *d, enum av_part part, const void *at)
{
    return d->at->part[part].wide ? (struct av_entries){ .f64 = at, .pitch = d->at->d }
                                  : (struct av_entries){ .f32 = at, .pitch = d->at->d };
}

/* The block's queries against some keys. */
static enum av_status multiply(struct av_diagnoser *d, struct av_error *e)
{
    size_t rows = smaller(d->block, d->rows - d->first), keys = smaller(d->keys, d->at->n_k - d->next);
    size_t row_bytes = d->at->d * (d->at->part[AV_PART_Q].wide ? sizeof(double) : sizeof(float));
    enum av_status status = AV_OK;
    for (size_t r = 0; d->next == 0 && status == AV_OK && r < rows; r++) {
        char *at = (char *)d->q + r * row_bytes;
        status = read_rows(d, AV_PART_Q, av_diagnosis_query(d, d->first + r), 1, at, e);
    }
    /* All keys of a small head stay where they are. */
    if (status == AV_OK && (d->first == 0 || d->keys < d->at->n_k)) {
        status = read_rows(d, AV_PART_K, d->next, keys, d->k, e);
    }
    if (status != AV_OK) {
        return status;
    }
    struct av_entries q = entries_at(d, AV_PART_Q, d->q), k = entries_at(d, AV_PART_K, d->k);
    struct av_block block = { 0, rows, 0, keys, 0, d->at->d };
    d->kernels->scores(d->dots + d->next, d->at->n_k, &q, &k, &block, d->scratch);
    d->done += (double)(rows * keys) * (double)d->at->d;
    d->next += keys;
    if (d->next == d->at->n_k) {
        enter(d, AV_PHASE_ROWS);
    }
    return AV_OK;
}

static enum av_status measure_row(struct av_diagnoser *d, size_t r, struct av_error *e)
{
    size_t query = av_diagnosis_query(d, r);
    double *const into[AV_PARTS] = { [AV_PART_SCORES] = d->scores, [AV_PART_WEIGHTS] = d->weights };
    for (enum av_part part = AV_PART_SCORES; part < AV_PARTS; part++) {
        if (av_diagnosis_has(d, part)) {
            enum av_status status = av_diagnosis_read(d, part, query, into[part], e);
            if (status != AV_OK) {
                return status;
            }
            av_diagnosis_count(d, part, query, into[part], d->at->n_k);
        }
    }
    if (av_diagnosis_has(d, AV_PART_WEIGHTS)) {
        av_diagnosis_add_weights(d, query);
    }
    av_diagnosis_add_row(d, query, has_qk(d) ? d->dots + (r - d->first) * d->at->n_k : NULL);
    d->done += (double)d->at->n_k;
    return AV_OK;
}

static enum av_status measure_rows(struct av_diagnoser *d, struct av_error *e)
{
    size_t block_end = has_qk(d) ? smaller(d->rows, d->first + d->block) : d->rows;
    size_t end = smaller(block_end, d->next + larger(1, UNIT_PAIRS / larger(d->at->n_k, 1)));
    for (; d->next < end; d->next++) {
        enum av_status status = measure_row(d, d->next, e);
        if (status != AV_OK) {
            return status;
        }
    }
    if (d->next < block_end) {
        return AV_OK;
    }
    d->first = block_end;
    enter(d, block_end < d->rows ? AV_PHASE_DOTS : AV_PHASE_DONE);
    return AV_OK;
}

static enum av_status run_unit(struct av_diagnoser *d, struct av_error *e)
{
    switch (d->phase) {
    case AV_PHASE_Q:
    case AV_PHASE_K:
        return scan_entries(d, e);
    case AV_PHASE_SEEN:
        return look_behind(d, e);
    case AV_PHASE_DOTS:
        return multiply(d, e);
    case AV_PHASE_ROWS:
        return measure_rows(d, e);
    case AV_PHASE_DONE:
        break;
    }
    return AV_OK;
}

enum av_status av_diagnoser_step(struct av_diagnoser *d, bool *more, struct av_error *e)
{
    *more = false;
    if (d->phase == AV_PHASE_DONE) {
        return AV_OK;
    }
    enum av_status status = run_unit(d, e);
    if (status != AV_OK) {
        d->phase = AV_PHASE_DONE;
        return status;
    }
    *more = d->phase != AV_PHASE_DONE;
    if (!*more) {
        av_diagnosis_sum_up(d);
        av_diagnosis_find(d);
        d->ended = true;
    }
    return AV_OK;
}

double av_diagnoser_progress(const struct av_diagnoser *d)
{
    return d->phase == AV_PHASE_DONE || !(d->all > 0) ? 1 : fmin(1, d->done / d->all);
}

const struct av_diagnosis *av_diagnoser_result(const struct av_diagnoser *d)
{
    return d->ended ? &d->result : NULL;
}

enum av_status av_diagnose_head(struct av_diagnosis *out, const struct av_source *source, size_t layer, size_t head,
                                const struct av_params *p, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_diagnoser *d = NULL;
    enum av_status status = av_diagnoser_new(&d, kernels, e);
    if (status == AV_OK) {
        status = av_diagnoser_begin(d, source, layer, head, p, e);
    }
    for (bool more = status == AV_OK; more;) {
        status = av_diagnoser_step(d, &more, e);
    }
    if (status == AV_OK) {
        *out = *av_diagnoser_result(d);
    }
    av_diagnoser_free(d);
    return status;
}
