/* bend_gate.c - bends under which a row may give little weight to all of its keys: sigmoid and softpick. */
#include "attnviz/bend.h"

#include <math.h>

static bool seen(const struct av_bend_row *row, size_t j)
{
    return row->z[j] > -(double)INFINITY;
}

static void stats(struct av_rowstats *out, const struct av_bend_row *row, double one_minus_max)
{
    av_form_stats(out, row);
    if (out->keys > 0) {
        out->one_minus_max = out->scaled.one_minus_max = one_minus_max;
    }
    out->scaled.half_surprise = one_minus_max > 0 ? out->entropy / one_minus_max / 2 : 0;
}

/* w = 1 / (1 + e^-x), 1 - w the same of -x, J = diag(w (1 - w)), x = z + b. */
void av_bend_sigmoid(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                     struct av_rowstats *out)
{
    (void)kernels;
    double one_minus_max = 1;
    for (size_t j = 0; j < row->n; j++) {
        const double x = row->z[j] + p->b, e = exp(-fabs(x));
        const double most = 1 / (1 + e), least = e / (1 + e);
        row->w[j] = x > 0 ? most : least;
        one_minus_max = fmin(one_minus_max, x > 0 ? least : most);
        row->form.diag[j] = row->form.rest[j] = most * least;
        row->form.u[j] = row->form.v[j] = 0;
    }
    stats(out, row, one_minus_max);
}

/* ---- softpick ------------------------------------------------------------------------------
 *
 * In units of e^m, m = max(max z, 0), with e_j = e^(z_j - m), t = e^-m, s_j the
 * sign of z_j and a_j = |e_j - t|:
 *
 *   D = sum a + eps t           w_j = [s_j > 0] a_j / D
 *   u_j = w_j   v_l = s_l e_l / D   diag_j = [s_j > 0] e_j / D (1 - w_j)
 *   rest_j = [s_j > 0] t / D^2 (sum_l s_l (e_l - e_j) + eps e_j)
 *
 * (Zuhri, Fuadi and Aji 2025.) A logit of exactly 0 counts as one just below. */

struct softpick {
    double m, t, D;
    double signs;  /* sum of s */
    double spread; /* sum_l s_l (e_l - e^(max z - m)) */
};

/* |e^z - 1| e^-m, without overflow, and without cancellation near z = 0. */
static double excess(double z, double m)
{
    return z > 0 ? -expm1(-z) * exp(z - m) : -expm1(z) * exp(-m);
}

static double sign(double z)
{
    return z > 0 ? 1 : -1;
}

/* e_j go to e, a_j to a. */
static struct softpick softpick_sums(const struct av_bend_row *row, double eps, double *e, double *a)
{
    double top = -(double)INFINITY;
    for (size_t j = 0; j < row->n; j++) {
        top = fmax(top, row->z[j]);
    }
    struct softpick s = { .m = fmax(top, 0) };
    const double e_top = exp(top - s.m);
    s.t = exp(-s.m);
    s.D = eps * s.t;
    for (size_t j = 0; j < row->n; j++) {
        const double z = row->z[j], g = seen(row, j) ? sign(z) : 0;
        e[j] = exp(z - s.m);
        a[j] = g != 0 ? excess(z, s.m) : 0;
        s.D += a[j];
        s.signs += g;
        s.spread += g * (e[j] - e_top);
    }
    return s;
}

void av_bend_softpick(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                      struct av_rowstats *out)
{
    (void)kernels;
    const size_t n = row->n;
    double *e = row->scratch, *a = e + n;
    const struct softpick s = softpick_sums(row, p->eps, e, a);
    const double D = s.D > 0 ? s.D : 1; /* 0: all logits are 0, and eps */
    struct av_form *f = &row->form;
    size_t m = 0;
    double others = 0; /* D without the largest weight's part */
    for (size_t j = 0; j < n; j++) {
        m = row->z[j] > row->z[m] ? j : m;
    }
    for (size_t j = 0; j < n; j++) {
        const bool on = row->z[j] > 0;
        others += j != m || !on ? a[j] : 0;
        row->w[j] = f->u[j] = on ? a[j] / D : 0;
        f->v[j] = seen(row, j) ? sign(row->z[j]) * e[j] / D : 0;
        f->diag[j] = on ? e[j] / D * (1 - row->w[j]) : 0;
        f->rest[j] = on ? s.t / D * ((s.spread + s.signs * (1 - e[j]) + p->eps * e[j]) / D) : 0;
    }
    if (row->z[m] > 0) {
        const double one_minus_max = (others + p->eps * s.t) / D;
        f->diag[m] = e[m] / D * one_minus_max;
        stats(out, row, one_minus_max);
    } else {
        stats(out, row, 1);
    }
}
