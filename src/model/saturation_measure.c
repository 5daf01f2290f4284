/* saturation_measure.c - entries, their scores, and what softmax makes of them. */
#include "attnviz/mem.h"
#include "saturation_state.h"

#include <math.h>
#include <string.h>

/* ---- memory -------------------------------------------------------------- */

void av_saturation_buffers_free(struct av_saturation_buffers *b)
{
    void *all[] = { b->q, b->k, b->draw, b->scores, b->weights, b->dq_scratch, b->stats, b->dq, b->column, b->invalid };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(b, 0, sizeof *b);
}

enum av_status av_saturation_buffers_make(struct av_saturation_buffers *b, size_t rows, size_t n_k, struct av_error *e)
{
    if (b->rows == rows && b->n_k == n_k) {
        return AV_OK;
    }
    struct av_saturation_buffers fresh = { .rows = rows, .n_k = n_k };
    fresh.q = av_alloc(rows, AV_DIM_MAX * sizeof *fresh.q);
    fresh.k = av_alloc(n_k, AV_DIM_MAX * sizeof *fresh.k);
    fresh.draw = av_alloc(AV_DIM_MAX, sizeof *fresh.draw);
    fresh.scores = av_alloc(rows * n_k, sizeof *fresh.scores);
    fresh.weights = av_alloc(AV_DQ_ROWS * n_k, sizeof *fresh.weights);
    fresh.dq_scratch = av_alloc(AV_DQ_SCRATCH(n_k), sizeof *fresh.dq_scratch);
    fresh.stats = av_alloc(rows, sizeof *fresh.stats);
    fresh.dq = av_alloc(rows, sizeof *fresh.dq);
    fresh.column = av_alloc(rows, sizeof *fresh.column);
    fresh.invalid = av_alloc(rows, sizeof *fresh.invalid);
    if (fresh.q == NULL || fresh.k == NULL || fresh.draw == NULL || fresh.scores == NULL || fresh.weights == NULL ||
        fresh.dq_scratch == NULL || fresh.stats == NULL || fresh.dq == NULL || fresh.column == NULL ||
        fresh.invalid == NULL) {
        av_saturation_buffers_free(&fresh);
        return av_fail_nomem(e, "saturation");
    }
    av_saturation_buffers_free(b);
    *b = fresh;
    return AV_OK;
}

/* ---- entries and scores -------------------------------------------------- */

/* The query that is the r-th measured one: all of them, or the middles of as
 * many equal groups. */
static size_t query_of(const struct av_saturation_state *s, size_t r)
{
    size_t n_q = (size_t)s->result.params.n_q;
    size_t rows = s->result.rows;
    return (r * n_q + (n_q - rows) / 2) / rows;
}

size_t av_saturation_row_length(const struct av_saturation_state *s, size_t r)
{
    const struct av_params *p = &s->result.params;
    return av_row_length((enum av_mask)p->mask, query_of(s, r), (size_t)p->n_q, (size_t)p->n_k);
}

double av_saturation_sample(struct av_saturation_state *s)
{
    struct av_saturation_buffers *b = &s->buffers;
    const struct av_params *p = &s->result.params;
    size_t at = s->sampled++;
    if (at < b->rows) {
        av_entries_query(s->kernels, p, query_of(s, at), 0, AV_DIM_MAX, b->q + at * AV_DIM_MAX);
    } else {
        size_t j = at - b->rows;
        av_entries_key(s->kernels, p, j, 0, AV_DIM_MAX, b->k + j * AV_DIM_MAX, b->draw);
    }
    return AV_SATURATION_NS_DRAW;
}

/* Sums go on to larger d; for a smaller one they begin anew. */
double av_saturation_scores(struct av_saturation_state *s, size_t d)
{
    struct av_saturation_buffers *b = &s->buffers;
    size_t from = s->scores_d < d ? s->scores_d : 0;
    double column_cost = AV_SATURATION_NS_SCORES * (double)(b->rows * b->n_k);
    double most = AV_SATURATION_UNIT / column_cost;
    size_t columns = most > 1 ? (size_t)most : 1;
    size_t to = d - from > columns ? from + columns : d;
    struct av_entries q = { .f32 = b->q, .pitch = AV_DIM_MAX };
    struct av_entries k = { .f32 = b->k, .pitch = AV_DIM_MAX };
    const struct av_block block = { 0, b->rows, 0, b->n_k, from, to };
    s->kernels->scores(b->scores, b->n_k, &q, &k, &block, s->scores_scratch);
    s->scores_d = to;
    return column_cost * (double)(to - from);
}

/* ---- points -------------------------------------------------------------- */

/* Of `count` rows from `row` on. */
static double block_cost(const struct av_saturation_state *s, size_t d, double count)
{
    double n_k = (double)s->buffers.n_k;
    double columns = n_k * (double)d;
    return columns * AV_SATURATION_NS_WIDEN + count * (columns * AV_SATURATION_NS_DQ + n_k * AV_SATURATION_NS_SOFTMAX);
}

/* So many rows that they fit a unit, two at least as keys are widened for all
 * of them. */
static size_t block_rows(const struct av_saturation_state *s, size_t d)
{
    double widen = block_cost(s, d, 0);
    double fit = (AV_SATURATION_UNIT - widen) / (block_cost(s, d, 1) - widen);
    return fit < 2 ? 2 : fit < AV_DQ_ROWS ? (size_t)fit : AV_DQ_ROWS;
}

double av_saturation_measure_cost(const struct av_saturation_state *s, size_t d, size_t row)
{
    double rows = (double)(s->buffers.rows - row);
    double count = (double)block_rows(s, d);
    return ceil(rows / count) * block_cost(s, d, count < rows ? count : rows);
}

/* Softmax, statistics and dq of rows [first, end): what av_model_update does. */
static void measure_rows(struct av_saturation_state *s, const struct av_saturation_work *w, size_t end)
{
    struct av_saturation_buffers *b = &s->buffers;
    const struct av_params *p = &s->result.params;
    double multiplier = av_saturation_multiplier(p, w->scale, (double)w->d) / p->temperature;
    struct av_dq_row rows[AV_DQ_ROWS];
    size_t of[AV_DQ_ROWS], count = 0;
    for (size_t r = w->row; r < end; r++) {
        size_t len = av_saturation_row_length(s, r);
        double *weights = b->weights + (r - w->row) * b->n_k;
        memset(&b->stats[r], 0, sizeof b->stats[r]);
        b->stats[r].keys = len;
        b->dq[r] = 0;
        if (len > 0) {
            s->kernels->softmax(weights, b->scores + r * b->n_k, multiplier, len, &b->stats[r]);
        }
        if (len >= 2) {
            of[count] = r;
            rows[count++] = (struct av_dq_row){ weights, len, b->stats[r].argmax, 0 };
        }
    }
    struct av_entries k = { .f32 = b->k, .pitch = AV_DIM_MAX };
    s->kernels->dq(rows, count, &k, w->d, b->dq_scratch);
    for (size_t i = 0; i < count; i++) {
        b->dq[of[i]] = multiplier * rows[i].dq;
    }
}

/* Sums the rows up, as the pipeline does. */
static void summarize(struct av_saturation_state *s, const struct av_saturation_work *w,
                      double value[AV_SATURATION_QUANTITIES])
{
    struct av_saturation_buffers *b = &s->buffers;
    struct av_summary sum = { .alpha = av_saturation_multiplier(&s->result.params, w->scale, (double)w->d) };
    av_summary_make(&sum, &s->summary, b->stats, b->column);
    av_summary_dq(&sum, &s->summary, b->column);
    value[AV_SATURATION_ENTROPY] = sum.entropy_norm_mean;
    value[AV_SATURATION_MAX_MEAN] = sum.max_mean;
    value[AV_SATURATION_MAX_MEDIAN] = sum.max_median;
    value[AV_SATURATION_REST_MEDIAN] = sum.one_minus_max_median;
    value[AV_SATURATION_LARGE] = sum.share_max_gt_0_9;
    value[AV_SATURATION_TRACE] = sum.trace_mean;
    value[AV_SATURATION_FRO_MEAN] = sum.jacobian_fro_mean;
    value[AV_SATURATION_FRO_MEDIAN] = sum.jacobian_fro_median;
    value[AV_SATURATION_DEAD] = sum.share_fro_lt_1e_3;
    value[AV_SATURATION_DQ_MEAN] = sum.dq_rms_mean;
    value[AV_SATURATION_DQ_MEDIAN] = sum.dq_rms_median;
}

/* One measurement may be of a column and of the present d_k as well. */
static void put_in_place(struct av_saturation_state *s, const struct av_saturation_work *w)
{
    struct av_saturation *r = &s->result;
    double value[AV_SATURATION_QUANTITIES];
    summarize(s, w, value);
    for (size_t i = 0; i <= AV_SATURATION_COLUMNS; i++) {
        struct av_saturation_point *point = i < AV_SATURATION_COLUMNS ? &r->points[i] : &r->at;
        if (point->d == w->d) {
            memcpy(point->value[w->scale], value, sizeof value);
            point->known[w->scale] = true;
        }
    }
}

double av_saturation_measure(struct av_saturation_state *s, size_t d, bool scale)
{
    if (s->scores_d != d) {
        return av_saturation_scores(s, d);
    }
    struct av_saturation_work *w = &s->work;
    if (!w->on) {
        *w = (struct av_saturation_work){ .on = true, .d = d, .scale = scale };
    }
    size_t end = w->row + block_rows(s, d);
    end = end < s->buffers.rows ? end : s->buffers.rows;
    double cost = block_cost(s, d, (double)(end - w->row));
    measure_rows(s, w, end);
    w->row = end;
    if (end == s->buffers.rows) {
        put_in_place(s, w);
        w->on = false;
    }
    return cost;
}
