/* kernel_form.c - of a row's weights and the form of its Jacobian: norm and statistics.
 *
 * Sums run in eight lanes, which are folded in one fixed order: the same bits
 * on every instruction set. */
#include "attnviz/bend.h"
#include "kernel_sets.h"
#include "lanes_log.h"
#include "lanes_size.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* ---- |J|_F -------------------------------------------------------------------- */

/* Sums of squares that neither under- nor overflow: see struct av_form_squares. */
struct squares {
    struct lanes large, small;
};

static inline void add_square(struct squares *sum, size_t u, vd x)
{
    const vi64 is_large = vd_abs(x) >= vd_splat(AV_FORM_LARGE);
    const vd large = (vd)(is_large & (vi64)x), small = (vd)(~is_large & (vi64)x) * AV_FORM_LIFT;
    sum->large.part[u] += large * large;
    sum->small.part[u] += small * small;
}

static double squares_root(const struct squares *sum)
{
    return av_form_squares_root(&(struct av_form_squares){ lanes_sum(sum->large), lanes_sum(sum->small) });
}

static void add_squares(struct squares *sum, const double *x, size_t n, double unit)
{
    for (size_t j = 0; j < n; j += AV_LANES) {
        const struct lanes v = lanes_load_to(x, j, n);
        for (size_t u = 0; u < AV_LANE_PARTS; u++)
            add_square(sum, u, v.part[u] * unit);
    }
}

/* |J|_F^2 = sum_j diag_j^2 + u_j^2 sum_{l != j} v_l^2. For keys of the largest
 * |v| the inner sum is made without one of them, and for the others, where it
 * is at least as large as what is taken away, by subtraction; in units of the
 * largest |v|. */
double AV_KERNEL(form_fro)(const struct av_form *f, size_t n)
{
    const double size = largest_size(f->v, n), scale = size > DBL_MIN ? size : DBL_MIN;
    const double unit = 1 / scale, largest = size * unit;
    const size_t m = find_size(f->v, n, size);
    struct squares others = { 0 }, sum = { 0 };
    add_squares(&others, f->v, m, unit);
    add_squares(&others, f->v + m + 1, n - m - 1, unit);
    const double share = squares_root(&others), all = largest * largest + share * share;
    for (size_t j = 0; j < n; j += AV_LANES) {
        const struct lanes diag = lanes_load_to(f->diag, j, n), u = lanes_load_to(f->u, j, n),
                           v = lanes_load_to(f->v, j, n);
        for (size_t p = 0; p < AV_LANE_PARTS; p++) {
            const vd w = vd_abs(v.part[p] * unit), rest = all - w * w;
            vd inner;
            for (size_t l = 0; l < AV_LANES_D; l++)
                inner[l] = sqrt(rest[l]);
            inner = vd_where_greater(vd_splat(largest), w, inner, vd_splat(share));
            add_square(&sum, p, diag.part[p]);
            add_square(&sum, p, u.part[p] * scale * inner);
        }
    }
    return squares_root(&sum);
}

/* ---- entropy -------------------------------------------------------------------- */

/* Over keys, q = |w| / sum |w|: of q and of -q ln q. */
struct shares {
    struct lanes q, surprise;
};

static inline void add_shares(struct shares *sum, const double *w, size_t n, double total)
{
    const double tiny = 0x1p-960, lift = 0x1p120, ln_lift = 120 * 0x1.62e42fefa39efp-1;
    for (size_t j = 0; j < n; j += AV_LANES) {
        const struct lanes v = lanes_load_to(w, j, n);
        for (size_t u = 0; u < AV_LANE_PARTS; u++) {
            const vd q = vd_abs(v.part[u]) / total;
            const vi64 is_tiny = q<vd_splat(tiny), any = q> vd_splat(0);
            const vd normal = (vd)((is_tiny & (vi64)(q * lift)) | (~is_tiny & (vi64)q));
            const vd log = vd_log(normal) - (vd)(is_tiny & (vi64)vd_splat(ln_lift));
            sum->q.part[u] += q;
            sum->surprise.part[u] -= q * (vd)(any & (vi64)log);
        }
    }
}

/* The logarithm of the largest q is that of 1 minus the sum of the others. */
static double entropy(const double *w, size_t n, double total)
{
    const double size = largest_size(w, n);
    const size_t m = find_size(w, n, size);
    struct shares others = { 0 };
    if (!(total > 0))
        return 0;
    add_shares(&others, w, m, total);
    add_shares(&others, w + m + 1, n - m - 1, total);
    return lanes_sum(others.surprise) - size / total * log1p(-lanes_sum(others.q));
}

/* ---- all statistics ---------------------------------------------------------------- */

struct sums {
    struct lanes keys, w, size, w2, trace; /* size: of |w| */
    struct lanes max, max_logit;
};

static inline void add_keys(struct sums *sum, struct lanes z, struct lanes w, struct lanes diag)
{
    const vd none = vd_splat(-(double)INFINITY);
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        const vd x = w.part[u];
        sum->keys.part[u] += vd_where_greater(z.part[u], none, vd_splat(1), vd_splat(0));
        sum->w.part[u] += x;
        sum->size.part[u] += vd_abs(x);
        sum->w2.part[u] += x * x;
        sum->trace.part[u] += diag.part[u];
        sum->max.part[u] = vd_max(vd_where_greater(z.part[u], none, x, none), sum->max.part[u]);
        sum->max_logit.part[u] = vd_max(z.part[u], sum->max_logit.part[u]);
    }
}

static size_t find_max(const struct av_bend_row *row, double max)
{
    for (size_t j = 0; j < row->n; j++)
        if (row->w[j] >= max && row->z[j] > -(double)INFINITY)
            return j;
    return 0;
}

void AV_KERNEL(form_stats)(struct av_rowstats *out, const struct av_bend_row *row)
{
    const size_t n = row->n;
    const struct lanes none = lanes_splat(-(double)INFINITY);
    struct sums sum = { .max = none, .max_logit = none };
    for (size_t j = 0; j < n; j += AV_LANES) {
        const struct lanes z =
            n - j >= AV_LANES ? lanes_load(row->z + j) : lanes_load_part(row->z + j, n - j, -(double)INFINITY);
        add_keys(&sum, z, lanes_load_to(row->w, j, n), lanes_load_to(row->form.diag, j, n));
    }
    *out = (struct av_rowstats){ .keys = (size_t)lanes_sum(sum.keys) };
    if (out->keys == 0)
        return;
    out->max_logit = lanes_largest(sum.max_logit);
    out->max = lanes_largest(sum.max);
    out->argmax = find_max(row, out->max);
    out->one_minus_max = 1 - out->max;
    out->entropy = entropy(row->w, n, lanes_sum(sum.size));
    out->sum_p2 = lanes_sum(sum.w2);
    out->trace = lanes_sum(sum.trace);
    out->jacobian_fro = AV_KERNEL(form_fro)(&row->form, n);
    out->row_sum = lanes_sum(sum.w);
    out->scaled = (struct av_rowstats_scaled){ .one_minus_max = out->one_minus_max,
                                               .trace = fabs(out->trace),
                                               .jacobian_fro = out->jacobian_fro };
}
