/* bend_gate.c - bends under which a row may give little weight to all of its keys: sigmoid and softpick. */
#include "attnviz/bend.h"

#include <float.h>
#include <math.h>

static void stats(struct av_rowstats *out, const struct av_bend_row *row, double one_minus_max,
                  const struct av_kernels *kernels)
{
    kernels->form_stats(out, row);
    if (out->keys > 0) {
        out->one_minus_max = out->scaled.one_minus_max = one_minus_max;
    }
    out->scaled.half_surprise = one_minus_max > 0 ? out->entropy / one_minus_max / 2 : 0;
}

/* w = 1 / (1 + e^-x), 1 - w the same of -x, J = diag(w (1 - w)), x = z + b. */
void av_bend_sigmoid(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                     struct av_rowstats *out)
{
    double *x = row->scratch, *e = x + row->n;
    double one_minus_max = 1;
    for (size_t j = 0; j < row->n; j++) {
        x[j] = row->z[j] + p->b;
    }
    kernels->exp(e, NULL, x, row->n);
    for (size_t j = 0; j < row->n; j++) {
        const double most = 1 / (1 + e[j]), least = e[j] * most;
        const double complement = x[j] > 0 ? least : most;
        row->w[j] = x[j] > 0 ? most : least;
        one_minus_max = complement < one_minus_max ? complement : one_minus_max;
        row->form.diag[j] = row->form.rest[j] = most * least;
        row->form.u[j] = row->form.v[j] = 0;
    }
    stats(out, row, one_minus_max, kernels);
}

/* ---- softpick ------------------------------------------------------------------------------
 *
 * In units of e^m, m = max(max z, 0), with e_j = e^(z_j - m), t = e^-m, s_j the
 * sign of z_j and a_j = |e_j - t|:
 *
 *   D = sum a + eps t           w_j = [s_j > 0] a_j / D
 *   u_j = w_j   v_l = s_l e_l / D   diag_j = [s_j > 0] e_j / D (1 - w_j)
 *   rest_j = [s_j > 0] t / D^2 (sum_l s_l (s_l a_l - a_j) + eps e_j)
 *
 * (Zuhri, Fuadi and Aji 2025.) A logit of exactly 0 counts as one just below. */

struct softpick {
    double t, D;
    double top;    /* a of the largest z, where that is positive */
    double signs;  /* sum of s */
    double spread; /* sum_l s_l (s_l a_l - top) */
};

/* Is z positive, is it not (masked: neither), as factors: signs are hard to
 * predict, and branches on them slow. */
struct side {
    double on, off;
};

static struct side side_of(double z)
{
    return (struct side){ z > 0, (z > -(double)INFINITY) - (z > 0) };
}

/* e_j go to e, a_j to a. With h = 1 - exp(-|z|), which keeps its digits near 0:
 * a_j = h_j e_j for positive z, h_j t for others. */
static struct softpick softpick_sums(const struct av_bend_row *row, size_t m, double eps,
                                     const struct av_kernels *kernels, double *e, double *a)
{
    const size_t n = row->n;
    const double most = row->z[m] > 0 ? row->z[m] : 0;
    kernels->exp(e, a, row->z, n);
    struct softpick s = { .t = exp(-most), .top = a[m] };
    for (size_t j = 0; j < n; j++) {
        e[j] = row->z[j] - most;
    }
    kernels->exp(e, NULL, e, n);
    s.D = eps * s.t;
    for (size_t j = 0; j < n; j++) {
        const struct side z = side_of(row->z[j]);
        a[j] *= z.on * e[j] + z.off * s.t;
        s.D += a[j];
        s.signs += z.on - z.off;
        s.spread += z.on * (a[j] - s.top) + z.off * (a[j] + s.top);
    }
    return s;
}

static size_t find_largest(const double *z, size_t n)
{
    size_t m = 0;
    for (size_t j = 1; j < n; j++) {
        m = z[j] > z[m] ? j : m;
    }
    return m;
}

void av_bend_softpick(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                      struct av_rowstats *out)
{
    const size_t n = row->n, m = find_largest(row->z, n);
    double *e = row->scratch, *a = e + n;
    const struct softpick s = softpick_sums(row, m, p->eps, kernels, e, a);
    const double unit = 1 / (s.D > DBL_MIN ? s.D : DBL_MIN); /* D is 0 where all logits are, and eps */
    const double share = s.t * unit;
    struct av_form *f = &row->form;
    double others = 0; /* D without the largest weight's part */
    for (size_t j = 0; j < n; j++) {
        const struct side z = side_of(row->z[j]);
        const double size = z.on * a[j] * unit, slope = e[j] * unit;
        others += j != m ? a[j] : 0;
        row->w[j] = f->u[j] = size;
        f->v[j] = (z.on - z.off) * slope;
        f->diag[j] = z.on * slope * (1 - size);
        f->rest[j] = z.on * (s.spread + s.signs * (s.top - a[j]) + p->eps * e[j]) * unit * share;
    }
    const bool any = row->z[m] > 0;
    const double one_minus_max = any ? (others + p->eps * s.t) * unit : 1;
    f->diag[m] = any ? e[m] * unit * one_minus_max : 0;
    stats(out, row, one_minus_max, kernels);
}
