/* diagnosis_units.c - what a diagnosis does in a unit, and what follows it. */
#include "diagnosis_state.h"

#include <math.h>
#include <string.h>

enum { UNIT_PAIRS = 1 << 16 }; /* measured in a unit */

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

bool av_diagnosis_has_entries(const struct av_diagnoser *d)
{
    return av_diagnosis_has(d, AV_PART_Q) && av_diagnosis_has(d, AV_PART_K);
}

size_t av_diagnosis_query(const struct av_diagnoser *d, size_t r)
{
    return (r * d->at->n_q + (d->at->n_q - d->rows) / 2) / d->rows;
}

/* ---- Reading ------------------------------------------------------------------------ */

static enum av_status read_rows(struct av_diagnoser *d, enum av_part part, size_t head, size_t first, size_t rows,
                                void *out, struct av_error *e)
{
    bool wide = d->at->part[part].wide;
    return d->source->read(d->source->state, d->result.layer, part, head, first, rows, wide ? NULL : out,
                           wide ? out : NULL, e);
}

static enum av_status read_row(struct av_diagnoser *d, enum av_part part, size_t head, size_t row, double *out,
                               struct av_error *e)
{
    size_t n = part == AV_PART_Q || part == AV_PART_K ? d->at->d : d->at->n_k;
    bool wide = d->at->part[part].wide;
    enum av_status status = read_rows(d, part, head, row, 1, wide ? (void *)out : (void *)d->f32, e);
    for (size_t j = 0; status == AV_OK && !wide && j < n; j++) {
        out[j] = (double)d->f32[j];
    }
    return status;
}

enum av_status av_diagnosis_read(struct av_diagnoser *d, enum av_part part, size_t row, double *out, struct av_error *e)
{
    return read_row(d, part, part == AV_PART_K ? d->k_head : d->result.head, row, out, e);
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
    case AV_PHASE_GIVEN:
        return av_diagnosis_has(d, AV_PART_SCORES) || av_diagnosis_has(d, AV_PART_WEIGHTS);
    case AV_PHASE_DOTS:
    case AV_PHASE_ROWS:
        return av_diagnosis_has_entries(d);
    case AV_PHASE_HIDDEN:
        return av_diagnosis_may_hide(d);
    case AV_PHASE_SUMS:
        return d->at->n_head > 1 && d->weight.off > 0 && d->weight.negative == 0;
    case AV_PHASE_SWAPPED:
        return d->result.of_file && d->at->n_q == d->at->n_k && d->weight.negative == 0 && av_diagnosis_unexplained(d);
    case AV_PHASE_HEADS:
        return d->average && d->weight.negative == 0 && av_diagnosis_unexplained(d);
    case AV_PHASE_DONE:
        break;
    }
    return true;
}

void av_diagnosis_enter(struct av_diagnoser *d, enum av_diagnosis_phase phase)
{
    while (!wanted(d, phase)) {
        phase++;
    }
    d->phase = phase;
    d->next = phase == AV_PHASE_ROWS ? d->first : 0;
}

/* ---- Units -------------------------------------------------------------------------- */

static enum av_status scan_entries(struct av_diagnoser *d, struct av_error *e)
{
    enum av_part part = d->phase == AV_PHASE_Q ? AV_PART_Q : AV_PART_K;
    size_t rows = part == AV_PART_Q ? d->at->n_q : d->at->n_k, n = d->at->d, first = d->next;
    size_t count = smaller(rows - first, d->keys), head = part == AV_PART_K ? d->k_head : d->result.head;
    enum av_status status = read_rows(d, part, head, first, count, d->k, e);
    if (status != AV_OK) {
        return status;
    }
    for (; d->next < first + count; d->next++) {
        for (size_t c = 0, at = (d->next - first) * n; c < n; c++) {
            d->row[c] = d->at->part[part].wide ? ((const double *)d->k)[at + c] : (double)((const float *)d->k)[at + c];
        }
        av_diagnosis_count(d, part, d->next, d->row, n);
        size_t finite = 0;
        for (size_t c = 0; c < n; c++) {
            d->row[finite] = d->row[c];
            finite += isfinite(d->row[c]) ? 1 : 0;
        }
        av_moments_add(&d->entries[part == AV_PART_K], d->row, finite);
        d->done += (double)n;
    }
    if (d->next == rows) {
        av_diagnosis_enter(d, d->phase + 1);
    }
    return AV_OK;
}

/* Of all rows of the head, behind the last of a unit. */
static size_t rows_end(const struct av_diagnoser *d)
{
    return smaller(d->at->n_q, d->next + larger(1, UNIT_PAIRS / larger(d->at->n_k, 1)));
}

/* Stops at the first weight behind its query. */
static enum av_status look_behind(struct av_diagnoser *d, struct av_error *e)
{
    size_t end = rows_end(d);
    bool zeros = d->at->n_q > 1 && d->at->n_k > 1;
    for (; zeros && d->next < end; d->next++) {
        enum av_status status = av_diagnosis_read(d, AV_PART_WEIGHTS, d->next, d->weights, e);
        if (status != AV_OK) {
            return status;
        }
        enum av_behind behind = av_diagnosis_behind(d, d->next);
        zeros = behind != AV_BEHIND_WEIGHT;
        d->zeros_behind = d->zeros_behind || behind == AV_BEHIND_ZERO;
    }
    if (!zeros || d->next == d->at->n_q) {
        d->causal_seen = zeros && d->zeros_behind;
        av_diagnosis_enter(d, AV_PHASE_GIVEN);
    }
    return AV_OK;
}

static struct av_entries entries_at(const struct av_diagnoser *d, enum av_part part, const void *at)
{
    return d->at->part[part].wide ? (struct av_entries){ .f64 = at, .pitch = d->at->d }
                                  : (struct av_entries){ .f32 = at, .pitch = d->at->d };
}

/* The r-th row of some. */
typedef size_t (*row_query)(const struct av_diagnoser *d, size_t r);

/* Rows [first, first + count) of `rows`, of all keys of `keys`. */
struct product {
    enum av_part rows, keys;
    size_t rows_head, keys_head;
    row_query query;
    size_t first, count;
    bool new_keys; /* d->k holds other ones */
};

/* q.k of a head. */
static struct product product_of(const struct av_diagnoser *d, size_t head, row_query query, size_t first, size_t count)
{
    return (struct product){ AV_PART_Q, AV_PART_K, head, av_source_k_head(d->at, head), query, first, count, true };
}

/* Does it with the next keys. */
static enum av_status multiply(struct av_diagnoser *d, const struct product *of, struct av_error *e)
{
    size_t keys = smaller(d->keys, d->at->n_k - d->next);
    size_t row_bytes = d->at->d * (d->at->part[of->rows].wide ? sizeof(double) : sizeof(float));
    enum av_status status = AV_OK;
    for (size_t r = 0; d->next == 0 && status == AV_OK && r < of->count; r++) {
        status = read_rows(d, of->rows, of->rows_head, of->query(d, of->first + r), 1, (char *)d->q + r * row_bytes, e);
    }
    if (status == AV_OK && of->new_keys) {
        status = read_rows(d, of->keys, of->keys_head, d->next, keys, d->k, e);
    }
    if (status == AV_OK) {
        struct av_entries q = entries_at(d, of->rows, d->q), k = entries_at(d, of->keys, d->k);
        struct av_block block = { 0, of->count, 0, keys, 0, d->at->d };
        d->kernels->scores(d->dots + d->next, d->at->n_k, &q, &k, &block, d->scratch);
        d->next += keys;
    }
    return status;
}

static enum av_status multiply_block(struct av_diagnoser *d, struct av_error *e)
{
    size_t rows = smaller(d->block, d->rows - d->first), before = d->next;
    struct product of = product_of(d, d->result.head, av_diagnosis_query, d->first, rows);
    of.new_keys = d->first == 0 || d->keys < d->at->n_k; /* all keys of a small head stay where they are */
    enum av_status status = multiply(d, &of, e);
    if (status == AV_OK) {
        d->done += (double)(rows * (d->next - before)) * (double)d->at->d;
        if (d->next == d->at->n_k) {
            av_diagnosis_enter(d, AV_PHASE_ROWS);
        }
    }
    return status;
}

/* Row `query` of the scores and weights that are there. */
static enum av_status read_given(struct av_diagnoser *d, size_t query, struct av_error *e)
{
    double *const into[AV_PARTS] = { [AV_PART_SCORES] = d->scores, [AV_PART_WEIGHTS] = d->weights };
    for (enum av_part part = AV_PART_SCORES; part < AV_PARTS; part++) {
        if (av_diagnosis_has(d, part)) {
            enum av_status status = av_diagnosis_read(d, part, query, into[part], e);
            if (status != AV_OK) {
                return status;
            }
        }
    }
    return AV_OK;
}

/* The masks of the scores as -infinity. */
static enum av_status read_unmasked(struct av_diagnoser *d, size_t query, struct av_error *e)
{
    enum av_status status = read_given(d, query, e);
    if (status == AV_OK && av_diagnosis_has(d, AV_PART_SCORES)) {
        av_diagnosis_unmask_scores(d);
    }
    return status;
}

/* All rows of scores and weights: what they say without q.k. */
static enum av_status measure_given_rows(struct av_diagnoser *d, struct av_error *e)
{
    size_t end = rows_end(d), n = d->at->n_k;
    for (; d->next < end; d->next++) {
        enum av_status status = read_given(d, d->next, e);
        if (status != AV_OK) {
            return status;
        }
        if (av_diagnosis_has(d, AV_PART_SCORES)) {
            av_diagnosis_count(d, AV_PART_SCORES, d->next, d->scores, n);
            av_diagnosis_add_scores(d, d->next);
        }
        if (av_diagnosis_has(d, AV_PART_WEIGHTS)) {
            av_diagnosis_count(d, AV_PART_WEIGHTS, d->next, d->weights, n);
            av_diagnosis_add_weights(d, d->next);
        }
        d->done += (double)n;
    }
    if (d->next == d->at->n_q) {
        av_diagnosis_enter(d, AV_PHASE_DOTS);
    }
    return AV_OK;
}

static enum av_status measure_row(struct av_diagnoser *d, size_t r, struct av_error *e)
{
    size_t query = av_diagnosis_query(d, r);
    enum av_status status = read_unmasked(d, query, e);
    if (status != AV_OK) {
        return status;
    }
    if (av_diagnosis_has(d, AV_PART_WEIGHTS)) {
        av_diagnosis_log_weights(d, query);
    }
    av_diagnosis_add_dots(d, query, d->dots + (r - d->first) * d->at->n_k);
    d->done += (double)d->at->n_k;
    return AV_OK;
}

static enum av_status measure_rows(struct av_diagnoser *d, struct av_error *e)
{
    size_t block_end = smaller(d->rows, d->first + d->block);
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
    bool again = block_end == d->rows && av_diagnosis_may_be_causal(d) && av_diagnosis_is_causal(d);
    if (again) {
        d->all += av_diagnosis_work_of_pairs(d);
        d->causal_fits = true;
        av_diagnosis_reset(d);
    }
    av_diagnosis_enter(d, again ? AV_PHASE_GIVEN : block_end < d->rows ? AV_PHASE_DOTS : AV_PHASE_HIDDEN);
    return AV_OK;
}

/* The weights of a row, over all heads. */
static enum av_status sum_heads(struct av_diagnoser *d, struct av_error *e)
{
    double *sums = d->spare[0];
    size_t query = av_diagnosis_averaged_query(d, d->next);
    memset(sums, 0, d->at->n_k * sizeof *sums);
    for (size_t head = 0; head < d->at->n_head; head++) {
        enum av_status status = read_row(d, AV_PART_WEIGHTS, head, query, d->weights, e);
        if (status != AV_OK) {
            return status;
        }
        for (size_t j = 0; j < d->at->n_k; j++) {
            sums[j] += d->weights[j];
        }
    }
    av_diagnosis_add_heads_sums(d, sums);
    if (++d->next == av_diagnosis_averaged_rows(d)) {
        av_diagnosis_enter(d, AV_PHASE_SWAPPED);
    }
    return AV_OK;
}

/* Some rows of a product, with the next keys; all there, each is added beside what is given. */
static enum av_status measure_some(struct av_diagnoser *d, const struct product *of,
                                   void (*add)(struct av_diagnoser *d, size_t query, const double *dots),
                                   struct av_error *e)
{
    enum av_status status = multiply(d, of, e);
    if (status != AV_OK || d->next < d->at->n_k) {
        return status;
    }
    for (size_t r = 0; status == AV_OK && r < of->count; r++) {
        size_t query = of->query(d, r);
        status = read_unmasked(d, query, e);
        if (status == AV_OK) {
            add(d, query, d->dots + r * d->at->n_k);
        }
    }
    av_diagnosis_enter(d, d->phase + 1);
    return status;
}

static enum av_status look_hidden(struct av_diagnoser *d, struct av_error *e)
{
    struct product of = product_of(d, d->result.head, av_diagnosis_hidden_query, 0, d->block);
    return measure_some(d, &of, av_diagnosis_add_hidden, e);
}

static enum av_status swap(struct av_diagnoser *d, struct av_error *e)
{
    size_t rows = av_diagnosis_averaged_rows(d);
    struct product of = { AV_PART_K, AV_PART_Q, d->k_head, d->result.head, av_diagnosis_averaged_query, 0, rows, true };
    return measure_some(d, &of, av_diagnosis_add_swapped, e);
}

/* Rows of the next head, and behind the last one the weights that may be their mean. */
static enum av_status average(struct av_diagnoser *d, struct av_error *e)
{
    size_t rows = av_diagnosis_averaged_rows(d);
    struct product of = product_of(d, d->number, av_diagnosis_averaged_query, 0, rows);
    enum av_status status = multiply(d, &of, e);
    if (status != AV_OK || d->next < d->at->n_k) {
        return status;
    }
    for (size_t r = 0; status == AV_OK && r < rows; r++) {
        if (d->number == d->result.head) {
            status = av_diagnosis_read(d, AV_PART_WEIGHTS, av_diagnosis_averaged_query(d, r), d->weights, e);
        }
        av_diagnosis_add_mean(d, r, d->dots + r * d->at->n_k);
    }
    d->next = 0;
    if (status != AV_OK || ++d->number < d->at->n_head) {
        return status;
    }
    for (size_t r = 0; status == AV_OK && r < rows; r++) {
        status = av_diagnosis_read(d, AV_PART_WEIGHTS, av_diagnosis_averaged_query(d, r), d->weights, e);
        if (status == AV_OK) {
            av_diagnosis_compare_mean(d, r);
        }
    }
    if (status != AV_OK || !av_diagnosis_next_mean(d)) {
        d->phase = AV_PHASE_DONE;
    }
    return status;
}

enum av_status av_diagnosis_run_unit(struct av_diagnoser *d, struct av_error *e)
{
    switch (d->phase) {
    case AV_PHASE_Q:
    case AV_PHASE_K:
        return scan_entries(d, e);
    case AV_PHASE_SEEN:
        return look_behind(d, e);
    case AV_PHASE_GIVEN:
        return measure_given_rows(d, e);
    case AV_PHASE_DOTS:
        return multiply_block(d, e);
    case AV_PHASE_ROWS:
        return measure_rows(d, e);
    case AV_PHASE_HIDDEN:
        return look_hidden(d, e);
    case AV_PHASE_SUMS:
        return sum_heads(d, e);
    case AV_PHASE_SWAPPED:
        return swap(d, e);
    case AV_PHASE_HEADS:
        return average(d, e);
    case AV_PHASE_DONE:
        break;
    }
    return AV_OK;
}
