/* bend_form.c - Jacobians of rows as a diagonal plus a matrix of rank one. */
#include "attnviz/bend.h"

#include <math.h>

static size_t largest_size(const double *x, size_t n)
{
    size_t m = 0;
    for (size_t j = 1; j < n; j++) {
        m = fabs(x[j]) > fabs(x[m]) ? j : m;
    }
    return m;
}

/* All instruction sets give the same bits. */
double av_form_fro(const struct av_form *f, size_t n)
{
    return av_kernels_best()->form_fro(f, n);
}

void av_form_stats(struct av_rowstats *out, const struct av_bend_row *row)
{
    av_kernels_best()->form_stats(out, row);
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
    return sum->large > 0 ? sqrt(sum->large + sum->small / AV_FORM_LIFT / AV_FORM_LIFT)
                          : sqrt(sum->small) / AV_FORM_LIFT;
}
