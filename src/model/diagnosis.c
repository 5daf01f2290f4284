/* diagnosis.c - a head read and measured, some rows at a time. */
#include "attnviz/diagnosis.h"

#include "attnviz/mem.h"
#include "diagnosis_state.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_MIN = 32,        /* looked at, however many keys there are */
    ROWS_MAX = 1 << 16,   /* and at most, however few */
    BLOCK_ROWS = 32,      /* rows of q.k held at a time, */
    BLOCK_PAIRS = 1 << 20 /* if they have no more pairs than this */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
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
    d->dots = take(where, &at, (av_diagnosis_has_entries(d) ? d->block * n_k : 0) * sizeof *d->dots);
    d->mean = take(where, &at, (d->average ? av_diagnosis_averaged_rows(d) : 0) * n_k * sizeof *d->mean);
    d->logs = take(where, &at, n_k * sizeof *d->logs);
    d->scores = take(where, &at, n_k * sizeof *d->scores);
    d->weights = take(where, &at, n_k * sizeof *d->weights);
    for (size_t i = 0; i < sizeof d->spare / sizeof d->spare[0]; i++) {
        d->spare[i] = take(where, &at, n_k * sizeof *d->spare[i]);
    }
    for (size_t i = 0; i < sizeof d->masked / sizeof d->masked[0]; i++) {
        d->masked[i] = take(where, &at, n_k * sizeof *d->masked[i]);
    }
    d->weight.columns = take(where, &at, n_k * sizeof *d->weight.columns);
    d->hidden.extents = take(where, &at, d->at->n_q * sizeof *d->hidden.extents);
    d->logit.fro = take(where, &at, d->at->n_q * sizeof *d->logit.fro);
    size_t sides = av_diagnosis_may_be_causal(d) ? d->rows : 0;
    d->causal.dots = take(where, &at, sides * sizeof *d->causal.dots);
    d->causal.logs = take(where, &at, sides * sizeof *d->causal.logs);
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

/* ---- From beginning to end ---------------------------------------------------------- */

void av_diagnosis_reset(struct av_diagnoser *d)
{
    double *fro = d->logit.fro, *columns = d->weight.columns;
    struct av_extent *extents = d->hidden.extents;
    d->dot = (struct av_dot_sums){ 0 };
    d->logit = (struct av_logit_sums){ .all = AV_MOMENTS_INIT, .fro = fro };
    d->weight = (struct av_weight_sums){ .row_sums = AV_MOMENTS_INIT, .twice_lowest = (double)INFINITY };
    d->weight.columns = columns;
    for (size_t j = 0; columns != NULL && j < d->at->n_k; j++) {
        columns[j] = 0;
    }
    d->hidden = (struct av_hidden_sums){ .extents = extents };
    for (size_t i = 0; extents != NULL && i < d->at->n_q; i++) {
        extents[i] = (struct av_extent){ 0 };
    }
    d->slope = d->second = (struct av_slope_sums){ 0 };
    d->leak = (struct av_leak_sums){ 0 };
    d->fill = (struct av_fill_sums){ 0 };
    d->unmasked = 0;
    d->lowest = 0;
    memset(d->wider, 0, sizeof d->wider);
    d->not_finite[AV_PART_SCORES] = d->not_finite[AV_PART_WEIGHTS] = (struct av_diagnosis_holes){ 0 };
    d->first = 0;
}

double av_diagnosis_work_of_pairs(const struct av_diagnoser *d)
{
    double dots = av_diagnosis_has_entries(d) ? (double)d->rows * (double)(d->at->d + 1) : 0;
    double given = av_diagnosis_has(d, AV_PART_WEIGHTS) || av_diagnosis_has(d, AV_PART_SCORES) ? (double)d->at->n_q : 0;
    return (dots + given) * (double)d->at->n_k;
}

static double work_of(const struct av_diagnoser *d)
{
    double entries = av_diagnosis_has_entries(d) ? (double)(d->at->n_q + d->at->n_k) * (double)d->at->d : 0;
    return entries + av_diagnosis_work_of_pairs(d);
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
    d->rows = av_diagnosis_has_entries(d) ? d->rows : l->n_q;
    d->result.sampled = d->rows < l->n_q;
    d->block = smaller(smaller(d->rows, BLOCK_ROWS), larger(1, BLOCK_PAIRS / larger(l->n_k, 1)));
    d->keys = smaller(l->n_k, larger(1, AV_DIAGNOSIS_ENTRIES / larger(l->d, 1)));
    d->average = av_diagnosis_has_entries(d) && av_diagnosis_has(d, AV_PART_WEIGHTS) && l->n_head > 1;
    d->entries[0] = d->entries[1] = (struct av_moments)AV_MOMENTS_INIT;
    d->result.of_file =
        av_diagnosis_has_entries(d) && (av_diagnosis_has(d, AV_PART_WEIGHTS) || av_diagnosis_has(d, AV_PART_SCORES));
    av_diagnosis_reset(d);
    av_free(old);
    d->memory = av_alloc(share_out(d, NULL), 1);
    d->phase = AV_PHASE_DONE;
    if (d->memory == NULL) {
        return av_fail_nomem(e, "the diagnosis of a head");
    }
    share_out(d, d->memory);
    d->all = work_of(d);
    av_diagnosis_enter(d, AV_PHASE_Q);
    return AV_OK;
}

enum av_status av_diagnoser_step(struct av_diagnoser *d, bool *more, struct av_error *e)
{
    *more = false;
    if (d->phase == AV_PHASE_DONE) {
        return AV_OK;
    }
    enum av_status status = av_diagnosis_run_unit(d, e);
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
    if (d == NULL) {
        return status;
    }
    status = av_diagnoser_begin(d, source, layer, head, p, e);
    for (bool more = status == AV_OK; more;) {
        status = av_diagnoser_step(d, &more, e);
    }
    if (status == AV_OK) {
        *out = *av_diagnoser_result(d);
    }
    av_diagnoser_free(d);
    return status;
}
