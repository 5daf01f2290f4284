/* bend_sparse.c - bends that give many keys no weight at all: sparsemax and entmax.
 *
 * Both are functions of c_j = max(1 - a (top - z_j), 0), a = 1 or 1/2, which is
 * 1 for the largest and 0 for keys that never get weight; the threshold t in
 * these terms lies in [0, 1) and is found on the support {c_j > t} in closed
 * form, with sums over all but the largest, so that nothing cancels:
 *
 *   sparsemax   w = max(c - t, 0)     sum w = 1:   t = C / k, C = sum of the other c
 *   entmax15    w = max(c - t, 0)^2   sum w = 1:   k t^2 - 2 (1 + C) t + B = 0, B = sum of their squares
 *
 * (Martins and Astudillo 2016; Peters, Niculae and Martins 2019.) */
#include "attnviz/bend.h"

#include <math.h>

/* The first of the largest; n where all are masked. */
static size_t find_top(const double *z, size_t n)
{
    size_t m = 0;
    for (size_t j = 1; j < n; j++) {
        m = z[j] > z[m] ? j : m;
    }
    return z[m] > -(double)INFINITY ? m : n;
}

/* c of all keys; those above 0 but for `top` also go to `some`, whose number is
 * returned. */
static size_t find_c(double *c, double *some, const double *z, size_t n, size_t top, double a)
{
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        const double x = 1 - (z[top] - z[j]) * a;
        c[j] = x > 0 ? x : 0;
        some[count] = x;
        count += x > 0 && j != top;
    }
    return count;
}

/* A row without keys. */
static void nothing(struct av_bend_row *row, struct av_rowstats *out)
{
    for (size_t j = 0; j < row->n; j++) {
        row->w[j] = row->form.diag[j] = row->form.u[j] = row->form.v[j] = row->form.rest[j] = 0;
    }
    *out = (struct av_rowstats){ 0 };
}

/* Keys above t, the largest with them, and sums over the others. */
struct support {
    size_t keys;
    double least, sum, squares;
};

/* Of c of all that may be above t but the largest. */
static struct support find_support(const double *c, size_t n, double t)
{
    struct support s = { 1, 1, 0, 0 };
    for (size_t j = 0; j < n; j++) {
        if (c[j] > t) {
            s.keys++;
            s.least = c[j] < s.least ? c[j] : s.least;
            s.sum += c[j];
            s.squares += c[j] * c[j];
        }
    }
    return s;
}

/* ---- rows that are nearly flat -------------------------------------------------------
 *
 * In long rows of nearly equal logits t is near 1, and c - t has what 1 leaves
 * of its digits. There x = h - d is taken instead, d = a (top - z) and h = 1 - t,
 * whose last digits one step of Newton's finds from sums of the small x. */

/* x = h - d of the keys that have one. */
static void from_top(double *x, const struct av_bend_row *row, size_t top, double a, double h)
{
    for (size_t j = 0; j < row->n; j++) {
        const double left = h - (row->z[top] - row->z[j]) * a;
        x[j] = x[j] > 0 && left > 0 ? left : 0;
    }
}

/* x = c - t, anew where t is near 1, for weights x or, if squared, x^2; returns t. */
static double sharpen(double *x, const struct av_bend_row *row, size_t top, double a, double t, bool squared)
{
    if (t < 0.5) {
        return t;
    }
    const double h = 1 - t;
    double keys = 0, sum = 0, squares = 0;
    from_top(x, row, top, a, h);
    for (size_t j = 0; j < row->n; j++) {
        keys += x[j] > 0;
        sum += x[j];
        squares += x[j] * x[j];
    }
    const double better = h + (squared ? (1 - squares) / (2 * sum) : (1 - sum) / keys);
    from_top(x, row, top, a, better);
    return 1 - better;
}

static void stats(struct av_rowstats *out, const struct av_bend_row *row, double one_minus_max,
                  const struct av_kernels *kernels)
{
    kernels->form_stats(out, row);
    out->one_minus_max = out->scaled.one_minus_max = one_minus_max;
    out->scaled.half_surprise = one_minus_max > 0 ? out->entropy / one_minus_max / 2 : 0;
}

/* ---- sparsemax ----------------------------------------------------------------------- */

/* Of a larger set than the support, t is smaller than the right one, so that
 * keys that it leaves out are rightly out (Michelot 1986). At the end all c of
 * the support are above t. */
static struct support sparsemax_support(const double *c, size_t n, double *t)
{
    struct support s = find_support(c, n, 0);
    *t = s.sum / (double)s.keys;
    while (s.least <= *t) {
        s = find_support(c, n, *t);
        *t = s.sum / (double)s.keys;
    }
    return s;
}

/* J = diag(1_S) - 1_S 1_S^T / k on the support S. */
void av_bend_sparsemax(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                       struct av_rowstats *out)
{
    (void)p;
    const size_t n = row->n, top = find_top(row->z, n);
    if (top == n) {
        nothing(row, out);
        return;
    }
    double *c = row->scratch, *some = c + n;
    double t;
    const size_t count = find_c(c, some, row->z, n, top, 1);
    const struct support s = sparsemax_support(some, count, &t);
    for (size_t j = 0; j < n; j++) {
        row->w[j] = c[j] >= s.least ? c[j] - t : 0;
    }
    t = sharpen(row->w, row, top, 1, t, false);
    double k = 0;
    for (size_t j = 0; j < n; j++) {
        k += row->w[j] > 0;
    }
    const double share = 1 / k, diag = (k - 1) / k;
    for (size_t j = 0; j < n; j++) {
        const bool in = row->w[j] > 0;
        row->form.diag[j] = in ? diag : 0;
        row->form.u[j] = in ? 1 : 0;
        row->form.v[j] = in ? share : 0;
        row->form.rest[j] = 0;
    }
    stats(out, row, t, kernels);
}

/* ---- entmax15 -------------------------------------------------------------------------- */

/* The smaller root; that of a double root where rounding leaves none, and where
 * the set is too large to have one. */
static double entmax_root(const struct support *s)
{
    const double a = 1 + s->sum, k = (double)s->keys;
    const double square = a * a - k * s->squares;
    return s->squares / (a + sqrt(square > 0 ? square : 0));
}

/* Newton's steps on sum (c - t)^2 - 1, convex and falling, come from below and
 * never pass the right t; once the set {c > t} is the support, the root of the
 * set is t, which shows in that no key of the set is below it. */
static double entmax_threshold(const double *c, size_t n)
{
    double t = 0;
    for (;;) {
        const struct support s = find_support(c, n, t);
        const double k = (double)s.keys, a = 1 + s.sum, root = entmax_root(&s);
        const bool has_root = a * a >= k * s.squares;
        const double step = (s.squares - 2 * a * t + k * t * t) / (2 * (a - k * t));
        if ((has_root && root < s.least) || !(t + step > t)) {
            return root;
        }
        t += step;
    }
}

/* With s = sqrt(w) = c - t: J = diag(s) - s s^T / sum s. */
void av_bend_entmax15(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                      struct av_rowstats *out)
{
    (void)p;
    const size_t n = row->n, top = find_top(row->z, n);
    if (top == n) {
        nothing(row, out);
        return;
    }
    double *s = row->scratch, *some = s + n;
    const size_t count = find_c(s, some, row->z, n, top, 0.5);
    double t = entmax_threshold(some, count), others = 0;
    for (size_t j = 0; j < n; j++) {
        s[j] = s[j] > t ? s[j] - t : 0;
    }
    t = sharpen(s, row, top, 0.5, t, true);
    for (size_t j = 0; j < n; j++) {
        others += j != top ? s[j] : 0;
    }
    const double share = 1 / (s[top] + others);
    for (size_t j = 0; j < n; j++) {
        row->w[j] = s[j] * s[j];
        row->form.u[j] = s[j];
        row->form.v[j] = s[j] * share;
        row->form.diag[j] = s[j] * (1 - s[j] * share);
        row->form.rest[j] = 0;
    }
    row->form.diag[top] = s[top] * others * share;
    stats(out, row, t * (2 - t), kernels);
}
