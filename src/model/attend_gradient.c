/* attend_gradient.c - how far weights follow scores and queries.
 *
 * With J the form of the bend, f = multiplier / temperature and B the
 * derivative of what is done to a row of scores (1; 1 / std by head; by row
 * that of the layer normalisation),
 *
 *   dw/ds = f J B     dw/dq = f J B K N
 *
 * where N = dq^/dq is 1, or that of the query's normalisation: with A = J K, u
 * the direction of the query and P projecting off it (normalise.h)
 *
 *   N = (P + f u u^T) / r     |A N|^2 = (|A|^2 - |A u|^2 + f^2 |A u|^2) / r^2
 *
 * A common shift of columns, which P of layernorm projects off as well, the
 * keys do not have, being normalised alike; but halves of them do. */
#include "attend_state.h"

#include <float.h>
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

/* out += unit J x for one column x [n]. */
static void add_times(double *out, const struct av_form *f, const double *x, size_t n, double unit)
{
    const double anchor = x[largest_size(f->v, n)];
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        sum += f->v[j] * (x[j] - anchor);
    }
    for (size_t j = 0; j < n; j++) {
        out[j] += unit * row_times(f, j, x[j] - anchor, anchor, sum);
    }
}

static double sum_of_squares(const double *x, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        sum += x[j] * x[j];
    }
    return sum;
}

/* What brings something of that size near 1; of denormals the reciprocal would
 * overflow. */
static double unit_of(double size)
{
    return 1 / fmax(size, DBL_MIN);
}

/* ---- By scores -------------------------------------------------------------------- */

/* |J B|_F for B = (P + f t t^T) / r, where P projects off t and off a common
 * shift 1: |J P|^2 = |J|^2 - |J 1|^2 / n - |J t|^2, all over |J|^2 here, and 0
 * with two keys. product [n]: scratch. */
static double fro_by_row(const struct av_attend_part *part, size_t n, double *product)
{
    const struct av_form *f = &part->form;
    const double fro = av_form_fro(f, n), unit = unit_of(fro);
    memset(product, 0, n * sizeof *product);
    add_times(product, f, part->along, n, unit);
    const double along = sum_of_squares(product, n);
    for (size_t j = 0; j < n; j++) {
        product[j] = f->rest[j] * unit;
    }
    const double shift = sum_of_squares(product, n) / (double)n;
    const bool nothing_else = n == 1 || (n == 2 && sum_of_squares(part->along, n) > 0);
    const double across = nothing_else ? 0 : sqrt(fmax(0, 1 - shift - along));
    return hypot(part->tangent.across * across, part->tangent.along * sqrt(along)) * fro;
}

double av_attend_d_scores(const struct av_attend *a, const struct av_attend_row *row)
{
    const struct av_attend_plan *plan = &a->now;
    const bool by_row = plan->normalise->scores == AV_SCORES_BY_ROW;
    double fro = 0;
    for (size_t h = 0; h < plan->halves; h++) {
        const struct av_attend_part *part = &row->part[h];
        fro = hypot(fro, by_row ? fro_by_row(part, row->n, a->work.key) : av_form_fro(&part->form, row->n));
    }
    return fabs(row->multiplier) / plan->p.temperature / plan->score_std * fro;
}

/* ---- By queries, column by column ---------------------------------------------------- */

enum { COLUMNS = AV_FORM_COLUMNS };
_Static_assert((int)AV_FORM_COLUMNS == (int)AV_NORMALISE_COLUMNS, "columns go through both");

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
        av_normalise_backward_columns(w->gathered, &row->part[h].tangent, row->part[h].along, row->n);
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

/* ---- By queries that are normalised ---------------------------------------- */

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

/* |A N|_F of one row, each row of A by itself: no digit is lost, whatever A. u
 * [d], the query's direction. */
static double dq_by_rows(struct av_attend *a, const struct av_attend_row *row, const struct av_tangent *tangent,
                         const double *u)
{
    const struct av_attend_plan *plan = &a->now;
    struct av_form_squares sum = { 0, 0 };
    double *d_q = a->work.key;
    for (size_t h = 0; h < plan->halves; h++) {
        sum_keys(a, row, h);
    }
    for (size_t j = 0; j < row->n; j++) {
        times_keys(d_q, a, row, j);
        av_normalise_backward(d_q, d_q, tangent, u, plan->head.d);
        add_squares(&sum, d_q, plan->head.d);
    }
    return av_form_squares_root(&sum);
}

/* |A u|^2 over |A|^2; K u is in the scores of the row's place. */
static double share_along(const struct av_attend *a, const struct av_attend_row *row, double size)
{
    const struct av_attend_work *w = &a->work;
    double *product = w->logits[0], *x = w->weights[0];
    memset(product, 0, row->n * sizeof *product);
    for (size_t h = 0; h < a->now.halves; h++) {
        const double *along = w->scores[h] + row->place * w->n_k;
        for (size_t j = 0; j < row->n; j++) {
            x[j] = along[row->keys[j]];
        }
        add_times(product, &row->part[h].form, x, row->n, unit_of(size));
    }
    return sum_of_squares(product, row->n);
}

/* From |A| to |A N|, in dq [count]. Row by row where nearly all of A is along u,
 * as it may be with few columns, lest the difference lose digits; and for halves
 * with a common shift. */
static void dq_through_queries(struct av_attend *a, double *dq, size_t count)
{
    const double most = 1 - 0x1p-6;
    const struct av_attend_plan *plan = &a->now;
    const size_t d = plan->head.d;
    struct av_tangent tangents[AV_ATTEND_PORTION];
    for (size_t r = 0; r < count; r++) {
        double *u = a->work.q + r * d;
        av_attend_load(u, &plan->head.q, a->work.rows[r].query, d);
        tangents[r] = plan->normalise->entries->tangent(u, u, d, plan->eps);
    }
    const struct av_entries u = { .f64 = a->work.q, .pitch = d };
    av_attend_scores(a, &u, count);
    for (size_t r = 0; r < count; r++) {
        const struct av_attend_row *row = &a->work.rows[r];
        const double share = dq[r] > 0 ? share_along(a, row, dq[r]) : 0;
        if (share > most || (tangents[r].centred && plan->halves > 1)) {
            dq[r] = dq_by_rows(a, row, &tangents[r], a->work.q + r * d);
        } else {
            dq[r] *= hypot(tangents[r].across * sqrt(1 - share), tangents[r].along * sqrt(share));
        }
    }
}

void av_attend_dq(struct av_attend *a, double *dq, size_t count)
{
    const struct av_attend_plan *plan = &a->now;
    struct av_form_squares sums[AV_ATTEND_PORTION] = { { 0, 0 } };
    dq_by_columns(a, sums, count);
    for (size_t r = 0; r < count; r++) {
        dq[r] = av_form_squares_root(&sums[r]);
    }
    if (plan->normalise->entries != NULL) {
        dq_through_queries(a, dq, count);
    }
    for (size_t r = 0; r < count; r++) {
        dq[r] *= fabs(a->work.rows[r].multiplier) / plan->p.temperature / plan->score_std;
    }
}
