/* attend_gradient.c - how far weights follow scores and queries.
 *
 * With J the form of the bend, f = multiplier / temperature and B the
 * derivative of what is done to a row of scores (1; 1 / std by head; by row
 * that of the layer normalisation),
 *
 *   dw/ds = f J B     dw/dq = f J B K N
 *
 * where N = dq^/dq is 1, or that of the query's normalisation. */
#include "attend_state.h"

#include <math.h>
#include <string.h>

/* ---- J times columns ----------------------------------------------------------- */

static size_t largest_size(const double *x, size_t n)
{
    size_t m = 0;
    for (size_t j = 1; j < n; j++) {
        m = fabs(x[j]) > fabs(x[m]) ? j : m;
    }
    return m;
}

/* Row j of J x for one column, of y = x_j - x_m, anchor = x_m and sum = sum_l
 * v_l (x_l - x_m), m the key of the largest |v|: a sum over differences, so that
 * saturation costs no digits. */
static double row_times(const struct av_form *f, size_t j, double y, double anchor, double sum)
{
    return f->diag[j] * y - f->u[j] * (sum - f->v[j] * y) + f->rest[j] * anchor;
}

/* |J x| of one column x [n]. unit: what J is multiplied by first. */
static double norm_times(const struct av_form *f, const double *x, size_t n, double unit)
{
    const double anchor = x[largest_size(f->v, n)];
    double sum = 0, squares = 0;
    for (size_t j = 0; j < n; j++) {
        sum += f->v[j] * (x[j] - anchor);
    }
    for (size_t j = 0; j < n; j++) {
        const double y = unit * row_times(f, j, x[j] - anchor, anchor, sum);
        squares += y * y;
    }
    return sqrt(squares);
}

/* ---- By scores -------------------------------------------------------------------- */

/* |J B|_F for B = (P + f t t^T) / r, where P projects off t and off a common
 * shift 1: |J P|^2 = |J|^2 - |J 1|^2 / n - |J t|^2, all over |J|^2 here, and 0
 * with two keys. */
static double fro_by_row(const struct av_attend_part *part, size_t n)
{
    const struct av_form *f = &part->form;
    const double fro = av_form_fro(f, n);
    if (!(fro > 0)) {
        return 0;
    }
    const double unit = 1 / fmax(fro, 0x1p-1022);
    double along = norm_times(f, part->along, n, unit), shift = 0, size_t_squared = 0;
    for (size_t j = 0; j < n; j++) {
        shift += (f->rest[j] * unit) * (f->rest[j] * unit) / (double)n;
        size_t_squared += part->along[j] * part->along[j];
    }
    const bool nothing_across = n == 1 || (n == 2 && size_t_squared > 0);
    const double across = nothing_across ? 0 : sqrt(fmax(0, 1 - shift - along * along));
    return hypot(part->tangent.across * across, part->tangent.along * along) * fro;
}

double av_attend_d_scores(const struct av_attend *a, const struct av_attend_row *row)
{
    const struct av_attend_plan *plan = &a->now;
    const bool by_row = plan->normalise->scores == AV_SCORES_BY_ROW;
    double fro = 0;
    for (size_t h = 0; h < plan->halves; h++) {
        const struct av_attend_part *part = &row->part[h];
        fro = hypot(fro, by_row ? fro_by_row(part, row->n) : av_form_fro(&part->form, row->n));
    }
    return fabs(row->multiplier) / plan->p.temperature / plan->score_std * fro;
}

/* ---- By queries, column by column ---------------------------------------------------- */

enum { COLUMNS = AV_FORM_COLUMNS };

/* wide [columns, COLUMNS] = columns [first, first + COLUMNS) of a half of all
 * keys, 0 beyond its last one. */
static void widen(struct av_attend *a, size_t h, size_t first)
{
    const struct av_attend_plan *plan = &a->now;
    const size_t left = plan->half_d - first, count = left < COLUMNS ? left : COLUMNS;
    struct av_entries k = av_attend_half(plan, plan->k, 0, h);
    for (size_t j = 0; j < plan->columns; j++) {
        double *row = a->work.wide + j * COLUMNS;
        const struct av_entries at = { k.f32 != NULL ? k.f32 + first : NULL, k.f64 != NULL ? k.f64 + first : NULL,
                                       k.pitch };
        av_attend_load(row, &at, j, count);
        memset(row + count, 0, (COLUMNS - count) * sizeof *row);
    }
}

/* x [n, COLUMNS] becomes B x. column [n]: scratch. */
static void through_scores(const struct av_attend_part *part, double *x, double *column, size_t n)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        for (size_t j = 0; j < n; j++) {
            column[j] = x[j * COLUMNS + c];
        }
        av_normalise_backward(column, column, &part->tangent, part->along, n);
        for (size_t j = 0; j < n; j++) {
            x[j * COLUMNS + c] = column[j];
        }
    }
}

/* Adds those columns of f J B K. */
static void add_columns(struct av_attend *a, struct av_form_squares *sum, const struct av_attend_row *row, size_t h)
{
    const struct av_attend_work *w = &a->work;
    const bool all = row->n == 0 || row->keys[row->n - 1] == row->n - 1; /* the first n keys */
    const bool by_row = a->now.normalise->scores == AV_SCORES_BY_ROW;
    const double *x = w->wide;
    if (!all || by_row) {
        for (size_t j = 0; j < row->n; j++) {
            memcpy(w->gathered + j * COLUMNS, w->wide + row->keys[j] * COLUMNS, COLUMNS * sizeof *x);
        }
        x = w->gathered;
    }
    if (by_row) {
        through_scores(&row->part[h], w->gathered, w->key, row->n);
    }
    a->kernels->form_columns(sum, &row->part[h].form, x, row->n);
}

static void dq_by_columns(struct av_attend *a, struct av_form_squares *sums, size_t count)
{
    const struct av_attend_plan *plan = &a->now;
    for (size_t h = 0; h < plan->halves; h++) {
        for (size_t first = 0; first < plan->half_d; first += COLUMNS) {
            widen(a, h, first);
            for (size_t r = 0; r < count; r++) {
                if (a->work.rows[r].n > 0) {
                    add_columns(a, &sums[r], &a->work.rows[r], h);
                }
            }
        }
    }
}

/* ---- By queries that are normalised, row by row ---------------------------------------- */

/* For each half sum = sum_l v_l (k_l - k_m), anchor = k_m: see row_times. */
static void sum_keys(struct av_attend *a, const struct av_attend_row *row, size_t h)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_form *f = &row->part[h].form;
    const struct av_entries k = av_attend_half(plan, plan->k, 0, h);
    double *sum = a->work.sum[h], *anchor = a->work.anchor[h];
    av_attend_load(anchor, &k, row->keys[largest_size(f->v, row->n)], plan->half_d);
    memset(sum, 0, plan->half_d * sizeof *sum);
    for (size_t j = 0; j < row->n; j++) {
        const double *key = k.f64 + row->keys[j] * k.pitch;
        for (size_t c = 0; c < plan->half_d && f->v[j] != 0; c++) {
            sum[c] += f->v[j] * (key[c] - anchor[c]);
        }
    }
}

/* out [d] = row j of J K, halves side by side. */
static void times_keys(double *out, const struct av_attend *a, const struct av_attend_row *row, size_t j)
{
    const struct av_attend_plan *plan = &a->now;
    for (size_t h = 0; h < plan->halves; h++) {
        const struct av_entries k = av_attend_half(plan, plan->k, row->keys[j], h);
        const double *sum = a->work.sum[h], *anchor = a->work.anchor[h];
        for (size_t c = 0; c < plan->half_d; c++) {
            *out++ = row_times(&row->part[h].form, j, k.f64[c] - anchor[c], anchor[c], sum[c]);
        }
    }
}

/* Terms as kernels->form_columns counts them. */
static void add_squares(struct av_form_squares *sum, const double *x, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        if (fabs(x[c]) >= 0x1p-500) {
            sum->large += x[c] * x[c];
        } else {
            sum->small += (x[c] * 0x1p600) * (x[c] * 0x1p600);
        }
    }
}

/* Each row of J K goes back through the query's normalisation. */
static void dq_by_rows(struct av_attend *a, struct av_form_squares *sums, size_t count)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_normaliser *normaliser = plan->normalise->entries;
    double *u = a->work.direction, *d_q = a->work.key;
    const size_t d = plan->head.d;
    for (size_t r = 0; r < count; r++) {
        const struct av_attend_row *row = &a->work.rows[r];
        if (row->n == 0) {
            continue;
        }
        av_attend_load(u, &plan->head.q, row->query, d);
        const struct av_tangent tangent = normaliser->tangent(u, u, d, plan->eps);
        for (size_t h = 0; h < plan->halves; h++) {
            sum_keys(a, row, h);
        }
        for (size_t j = 0; j < row->n; j++) {
            times_keys(d_q, a, row, j);
            av_normalise_backward(d_q, d_q, &tangent, u, d);
            add_squares(&sums[r], d_q, d);
        }
    }
}

void av_attend_dq(struct av_attend *a, double *dq, size_t count)
{
    const struct av_attend_plan *plan = &a->now;
    struct av_form_squares sums[AV_ATTEND_PORTION] = { { 0, 0 } };
    if (plan->normalise->entries != NULL) {
        dq_by_rows(a, sums, count);
    } else {
        dq_by_columns(a, sums, count);
    }
    for (size_t r = 0; r < count; r++) {
        const double f = fabs(a->work.rows[r].multiplier) / plan->p.temperature / plan->score_std;
        dq[r] = f * av_form_squares_root(&sums[r]);
    }
}
