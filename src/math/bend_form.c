/* bend_form.c - Jacobians of rows as diagonal plus rank one, and the statistics of any weights. */
#include "attnviz/bend.h"

#include <float.h>
#include <math.h>

/* ---- the form itself ------------------------------------------------------ */

static size_t largest_size(const double *x, size_t n)
{
    size_t m = 0;
    for (size_t j = 1; j < n; j++) {
        m = fabs(x[j]) > fabs(x[m]) ? j : m;
    }
    return m;
}

/* 1 over |x| as a power of two or so, 1 for 0: what brings x near 1. Of
 * denormals the reciprocal would overflow. */
static double unit_of(double x)
{
    return x != 0 ? 1 / fmax(fabs(x), DBL_MIN) : 1;
}

/* Sum of squares of unit x over all j but `without`. */
static double squares(const double *x, double unit, size_t n, size_t without)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double y = j != without ? x[j] * unit : 0;
        sum += y * y;
    }
    return sum;
}

/* |J|_F^2 = sum_j diag_j^2 + u_j^2 sum_{l != j} v_l^2. Of the key m of the
 * largest |v| the sum is made by itself, and for the others, where it is at
 * least v_m^2, by subtraction. */
double av_form_fro(const struct av_form *f, size_t n)
{
    const size_t m = largest_size(f->v, n);
    double second = 0, largest = 0;
    for (size_t j = 0; j < n; j++) {
        second = j != m ? fmax(second, fabs(f->v[j])) : second;
    }
    const double unit = unit_of(f->v[m]), second_unit = unit_of(second);
    const double others = sqrt(squares(f->v, second_unit, n, m)) / second_unit;
    const double share = others * unit, all = 1 + share * share;
    for (size_t j = 0; j < n; j++) {
        largest = fmax(largest, fmax(fabs(f->diag[j]), fabs(f->u[j] * (j != m ? f->v[m] : others))));
    }
    const double scale = unit_of(largest), u_scale = scale * fabs(f->v[m]);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double d = f->diag[j] * scale, v = f->v[j] * unit, u = f->u[j] * u_scale;
        sum += d * d + (j != m ? u * u * (all - v * v) : 0);
    }
    const double winner = f->u[m] * others * scale;
    return sqrt(sum + winner * winner) / scale;
}

void av_form_of_weights(struct av_form *f, const double *p, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        sum += p[j];
    }
    for (size_t j = 0; j < n; j++) {
        f->diag[j] = p[j] * (1 - p[j]);
        f->u[j] = f->v[j] = p[j];
        f->rest[j] = p[j] * (1 - sum);
    }
}

/* (J^T g)_l = diag_l g_l - v_l sum_{j != l} u_j g_j. */
void av_form_backward(double *d_z, const double *d_w, const struct av_form *f, size_t n)
{
    const size_t m = largest_size(f->u, n);
    double others = 0;
    for (size_t j = 0; j < n; j++) {
        others += j != m ? f->u[j] * d_w[j] : 0;
    }
    const double all = others + f->u[m] * d_w[m], d_winner = f->diag[m] * d_w[m] - f->v[m] * others;
    for (size_t l = 0; l < n; l++) {
        d_z[l] = f->diag[l] * d_w[l] - f->v[l] * (all - f->u[l] * d_w[l]);
    }
    d_z[m] = d_winner;
}

double av_form_squares_root(const struct av_form_squares *sum)
{
    return sum->large > 0 ? sqrt(sum->large + sum->small * 0x1p-600 * 0x1p-600) : sqrt(sum->small) * 0x1p-600;
}

/* ---- statistics ------------------------------------------------------------- */

/* -sum q ln q, q = |w| / sum |w|. The logarithm of the largest q is that of
 * 1 minus the sum of the others. */
static double entropy_of(const double *w, size_t n)
{
    const size_t m = largest_size(w, n);
    double total = 0, rest = 0, sum = 0;
    for (size_t j = 0; j < n; j++) {
        total += fabs(w[j]);
    }
    for (size_t j = 0; j < n; j++) {
        const double q = fabs(w[j]) / total;
        if (j != m && q > 0) {
            rest += q;
            sum -= q * log(q);
        }
    }
    return total > 0 ? sum - fabs(w[m]) / total * log1p(-rest) : 0;
}

static bool seen(const struct av_bend_row *row, size_t j)
{
    return row->z[j] > -(double)INFINITY;
}

void av_form_stats(struct av_rowstats *out, const struct av_bend_row *row)
{
    *out = (struct av_rowstats){ 0 };
    for (size_t j = 0; j < row->n; j++) {
        if (!seen(row, j)) {
            continue;
        }
        out->argmax = out->keys == 0 || row->w[j] > row->w[out->argmax] ? j : out->argmax;
        out->max_logit = out->keys == 0 ? row->z[j] : fmax(out->max_logit, row->z[j]);
        out->keys++;
        out->sum_p2 += row->w[j] * row->w[j];
        out->row_sum += row->w[j];
        out->trace += row->form.diag[j];
    }
    if (out->keys == 0) {
        return;
    }
    out->max = row->w[out->argmax];
    out->entropy = entropy_of(row->w, row->n);
    out->jacobian_fro = av_form_fro(&row->form, row->n);
    out->one_minus_max = 1 - out->max;
    out->scaled = (struct av_rowstats_scaled){ .one_minus_max = out->one_minus_max,
                                               .trace = fabs(out->trace),
                                               .jacobian_fro = out->jacobian_fro };
}
