/* jacobian.c - entries and norms of the softmax's Jacobian. */
#include "attnviz/jacobian.h"

#include <float.h>
#include <math.h>

/* Weights above it have all their digits, and so have products of two. */
static const double ORDINARY = 0x1p-500;

static const double NOTHING = -(double)INFINITY;

static bool has_choice(const struct av_softmax_row *row)
{
    return row->stats->keys >= 2;
}

static bool masked(const struct av_softmax_row *row, size_t i)
{
    return isinf(row->z[i]) && row->z[i] < 0;
}

/* ---- entries ---------------------------------------------------------- */

/* log10 p of the largest weight, precise when it is near 1 too. */
static double log10_max(const struct av_rowstats *stats)
{
    return stats->max > 0.5 ? log1p(-stats->one_minus_max) / log(10) : log10(stats->max);
}

double av_softmax_log10_weight(const struct av_softmax_row *row, size_t i)
{
    if (row->form != NULL) {
        return log10(fabs(row->p[i]));
    }
    if (i == row->stats->argmax && row->stats->keys > 0) {
        return log10_max(row->stats);
    }
    if (masked(row, i)) {
        return NOTHING;
    }
    if (row->p[i] > ORDINARY) {
        return log10(row->p[i]);
    }
    /* By halves, for the difference may be beyond the largest double. */
    double half = 0.5 * row->z[i] - 0.5 * row->z[row->stats->argmax];
    return half / log(10) * 2 + log10_max(row->stats);
}

/* 1 - p_i. */
static double complement(const struct av_softmax_row *row, size_t i)
{
    return i == row->stats->argmax ? row->stats->one_minus_max : 1 - row->p[i];
}

double av_jacobian_entry(const struct av_softmax_row *row, size_t i, size_t j)
{
    if (row->form != NULL) {
        return i == j ? row->form->diag[i] : -row->form->u[i] * row->form->v[j];
    }
    if (!has_choice(row) || masked(row, i) || masked(row, j)) {
        return 0;
    }
    return i == j ? row->p[i] * complement(row, i) : -row->p[i] * row->p[j];
}

double av_jacobian_log10_entry(const struct av_softmax_row *row, size_t i, size_t j)
{
    if (row->form != NULL) {
        return log10(fabs(av_jacobian_entry(row, i, j)));
    }
    if (!has_choice(row) || masked(row, i) || masked(row, j)) {
        return NOTHING;
    }
    double rest = i != j                    ? av_softmax_log10_weight(row, j)
                  : i == row->stats->argmax ? av_rowstats_log10_one_minus_max(row->stats)
                                            : log1p(-row->p[i]) / log(10);
    return av_softmax_log10_weight(row, i) + rest;
}

/* ---- the largest entry of a block ------------------------------------- */

/* The two largest logits of a stretch of keys; count tells how many are there. */
struct top_two {
    size_t first, second;
    size_t count; /* 0 .. 2 */
};

static struct top_two top_two(const double *z, size_t from, size_t end)
{
    struct top_two top = { from, from, 0 };
    for (size_t i = from; i < end; i++) {
        if (top.count == 0 || z[i] > z[top.first]) {
            top = (struct top_two){ i, top.first, top.count == 0 ? 1 : 2 };
        } else if (top.count == 1 || z[i] > z[top.second]) {
            top.second = i;
            top.count = 2;
        }
    }
    return top;
}

/* Off the diagonal; false when the block has nothing but the diagonal. */
static bool largest_off(const double *z, struct top_two rows, struct top_two cols, struct av_jacobian_place *at)
{
    *at = (struct av_jacobian_place){ rows.first, cols.first };
    if (rows.first != cols.first) {
        return true;
    }
    bool by_row = rows.count == 2 && (cols.count < 2 || z[rows.second] >= z[cols.second]);
    *at = by_row ? (struct av_jacobian_place){ rows.second, cols.first }
                 : (struct av_jacobian_place){ rows.first, cols.second };
    return by_row || cols.count == 2;
}

/* The two entries of the greatest size of x in a stretch; equal ones, when
 * there is but one. */
static void two_sizes(size_t out[2], const double *x, size_t from, size_t end)
{
    out[0] = out[1] = from;
    for (size_t i = from + 1; i < end; i++) {
        if (fabs(x[i]) > fabs(x[out[0]])) {
            out[1] = out[0];
            out[0] = i;
        } else if (out[1] == out[0] || fabs(x[i]) > fabs(x[out[1]])) {
            out[1] = i;
        }
    }
}

/* Off the diagonal sizes are products |u_i| |v_j|: of the two largest of each a
 * pair is the largest that is not on it. */
static struct av_jacobian_place largest_of_form(const struct av_softmax_row *row, struct av_jacobian_block block)
{
    size_t row_end = block.row + block.rows;
    size_t col_end = block.col + block.cols;
    size_t rows[2];
    size_t cols[2];
    struct av_jacobian_place best = { block.row, block.col };
    two_sizes(rows, row->form->u, block.row, row_end);
    two_sizes(cols, row->form->v, block.col, col_end);
    for (size_t k = 0; k < 4; k++) {
        struct av_jacobian_place at = { rows[k / 2], cols[k % 2] };
        bool larger = fabs(av_jacobian_entry(row, at.row, at.col)) > fabs(av_jacobian_entry(row, best.row, best.col));
        best = larger ? at : best;
    }
    for (size_t i = block.row > block.col ? block.row : block.col; i < row_end && i < col_end; i++) {
        bool larger = fabs(row->form->diag[i]) > fabs(av_jacobian_entry(row, best.row, best.col));
        best = larger ? (struct av_jacobian_place){ i, i } : best;
    }
    return best;
}

struct av_jacobian_place av_jacobian_largest(const struct av_softmax_row *row, struct av_jacobian_block block)
{
    if (row->form != NULL) {
        return largest_of_form(row, block);
    }
    size_t row_end = block.row + block.rows;
    size_t col_end = block.col + block.cols;
    size_t from = block.row > block.col ? block.row : block.col;
    size_t end = row_end < col_end ? row_end : col_end;
    struct top_two both = top_two(row->z, from, end);
    struct av_jacobian_place on = { both.first, both.first };
    struct av_jacobian_place off;
    bool has_off = largest_off(row->z, top_two(row->z, block.row, row_end), top_two(row->z, block.col, col_end), &off);
    if (both.count == 0 || !has_off) {
        return has_off ? off : on;
    }
    bool diagonal = av_jacobian_log10_entry(row, on.row, on.col) >= av_jacobian_log10_entry(row, off.row, off.col);
    return diagonal ? on : off;
}

/* ---- norms ------------------------------------------------------------ */

static const struct av_jacobian_norm ZERO = { 0, -(double)INFINITY };

struct av_jacobian_norm av_jacobian_norm_1(const struct av_rowstats *stats)
{
    if (stats->keys < 2) {
        return ZERO;
    }
    return (struct av_jacobian_norm){ 2 * stats->max * stats->one_minus_max,
                                      log10(2) + log10_max(stats) + av_rowstats_log10_one_minus_max(stats) };
}

struct av_jacobian_norm av_jacobian_norm_inf(const struct av_softmax_row *row)
{
    const struct av_form *f = row->form;
    double all = 0;
    double most = 0;
    if (f == NULL) {
        return av_jacobian_norm_1(row->stats);
    }
    for (size_t j = 0; j < row->n; j++) {
        all += fabs(f->v[j]);
    }
    for (size_t i = 0; i < row->n; i++) {
        most = fmax(most, fabs(f->diag[i]) + fabs(f->u[i]) * (all - fabs(f->v[i])));
    }
    return (struct av_jacobian_norm){ most, log10(most) };
}

/* Weights but the largest, in units of the second largest: see av_jacobian_norm_2. */
struct secular {
    const struct av_softmax_row *row;
    size_t second;
    double total; /* W */
    double gap;   /* g */
};

static double ratio(const struct secular *s, size_t j)
{
    const struct av_softmax_row *row = s->row;
    if (row->p[s->second] > ORDINARY) {
        return row->p[j] / row->p[s->second];
    }
    /* Equal logits first: both may be beyond the largest double. */
    return row->z[j] < row->z[s->second] ? exp(row->z[j] - row->z[s->second]) : 1;
}

static struct secular make_secular(const struct av_softmax_row *row)
{
    size_t a = row->stats->argmax;
    struct secular s = { row, a == 0 ? 1 : 0, 0, 0 };
    for (size_t j = 0; j < row->n; j++) {
        s.second = j != a && row->z[j] > row->z[s.second] ? j : s.second;
    }
    for (size_t j = 0; j < row->n; j++) {
        s.total += j != a ? ratio(&s, j) : 0;
    }
    s.gap = fmin(row->stats->one_minus_max / (s.total * row->stats->max), 1);
    return s;
}

/* Is y below the root? */
static bool below_root(const struct secular *s, double y)
{
    double sum = 0;
    for (size_t j = 0; j < s->row->n; j++) {
        double w = j != s->row->stats->argmax ? ratio(s, j) : 0;
        sum += w > 0 ? w / (y - w) : 0;
    }
    return (1 - s->gap * y) * sum > 1;
}

struct av_jacobian_norm av_jacobian_norm_2(const struct av_softmax_row *row)
{
    if (!has_choice(row)) {
        return ZERO;
    }
    struct secular s = make_secular(row);
    double lo = 1;
    double hi = fmax(1, fmin(1 / s.gap, 2 * row->stats->max * s.total));
    double y = lo + (hi - lo) / 2;
    while (y > lo && y < hi) { /* until no double lies between */
        *(below_root(&s, y) ? &lo : &hi) = y;
        y = lo + (hi - lo) / 2;
    }
    double part = hi / s.total;
    return (struct av_jacobian_norm){ row->stats->one_minus_max * part,
                                      av_rowstats_log10_one_minus_max(row->stats) + log10(part) };
}
