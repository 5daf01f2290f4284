/* bend_softmax.c - the softmax, and bends that are a softmax with something before or after it. */
#include "attnviz/bend.h"

#include <math.h>
#include <string.h>

/* J = diag(p) - p p^T, of weights with their statistics. */
static void softmax_form(struct av_bend_row *row, const struct av_rowstats *stats)
{
    struct av_form *f = &row->form;
    for (size_t j = 0; j < row->n; j++) {
        f->diag[j] = row->w[j] * (1 - row->w[j]);
        f->u[j] = f->v[j] = row->w[j];
        f->rest[j] = 0;
    }
    f->diag[stats->argmax] = stats->max * stats->one_minus_max;
}

void av_bend_softmax(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                     struct av_rowstats *out)
{
    (void)p;
    kernels->softmax(row->w, row->z, 1, row->n, out);
    softmax_form(row, out);
}

/* ---- trace and |J|_F where they underflow --------------------------------------- */

/* Beyond this gap D between the two largest logits, trace and |J|_F are
 * exp(-D) times what no longer depends on D, to within exp(-FAR). */
static const double FAR = 100;

/* From logits y to weights, form and statistics; trace and |J|_F over exp(-D)
 * hold up to D = FAR. */
typedef void bend_near(struct av_bend_row *row, const double *y, const struct av_bend_params *p,
                       const struct av_kernels *kernels, struct av_rowstats *out);

/* near = y with the largest at FAR and the second at 0. */
static void bring_near(double *near, const double *y, size_t n, size_t argmax)
{
    double second = -(double)INFINITY;
    for (size_t j = 0; j < n; j++) {
        second = j != argmax && y[j] > second ? y[j] : second;
    }
    for (size_t j = 0; j < n; j++) {
        near[j] = j != argmax ? y[j] - second : FAR;
    }
}

/* The same for any D. spare [n] is overwritten. */
static void bend_any(bend_near *bend, struct av_bend_row *row, const double *y, double *spare,
                     const struct av_bend_params *p, const struct av_kernels *kernels, struct av_rowstats *out)
{
    bend(row, y, p, kernels, out);
    if (out->scaled.half_gap > FAR / 2) {
        struct av_rowstats near;
        bring_near(spare, y, row->n, out->argmax);
        bend(row, spare, p, kernels, &near);
        bend(row, y, p, kernels, out);
        out->scaled.trace = near.scaled.trace;
        out->scaled.jacobian_fro = near.scaled.jacobian_fro;
    }
}

/* Trace and |J|_F over exp(-D), from both and half_gap. */
static void lift_sizes(struct av_rowstats *out)
{
    const double half = out->scaled.half_gap, lift = exp(2 * (half < FAR / 2 ? half : FAR / 2));
    out->scaled.trace = out->trace * lift;
    out->scaled.jacobian_fro = out->jacobian_fro * lift;
}

/* ---- softcap: softmax(y), y = c t, t = tanh(z / c) --------------------------------
 *
 * With g = dy/dz = 1 - t^2: J_jl = p_j ([j = l] - p_l) g_l, a row of which sums
 * to p_j sum_l p_l (g_j - g_l). */

/* c tanh(x), x = z / c; where it is small z (1 - x^2/3 + 2 x^4/15 ...), by which
 * it is near z to the last digit where c is large. */
static double capped(double z, double x, double c_tanh)
{
    const double x2 = x * x;
    if (x2 >= 1.0 / 256) {
        return c_tanh;
    }
    return z - z * x2 * (1.0 / 3 - x2 * (2.0 / 15 - x2 * (17.0 / 315 - x2 * (62.0 / 2835 - x2 * (1382.0 / 155925)))));
}

/* g_j - g_m, of small t from their difference. */
static double slope_difference(double t_j, double g_j, double t_m, double g_m)
{
    return fabs(t_j) + fabs(t_m) < 1 ? (t_m - t_j) * (t_m + t_j) : g_j - g_m;
}

/* t and g are the first 2 n numbers of row->scratch. */
static void softcap_near(struct av_bend_row *row, const double *y, const struct av_bend_params *p,
                         const struct av_kernels *kernels, struct av_rowstats *out)
{
    (void)p;
    const size_t n = row->n;
    const double *t = row->scratch, *g = t + n;
    struct av_form *f = &row->form;
    kernels->softmax(row->w, y, 1, n, out);
    const size_t m = out->argmax;
    double mean = 0, trace = 0; /* mean of g_l - g_m */
    for (size_t j = 0; j < n; j++) {
        const double w = row->w[j];
        f->rest[j] = slope_difference(t[j], g[j], t[m], g[m]);
        f->diag[j] = w * (1 - w) * g[j];
        mean += w * f->rest[j];
        trace += j != m ? f->diag[j] : 0;
    }
    for (size_t j = 0; j < n; j++) {
        f->rest[j] = row->w[j] * (f->rest[j] - mean);
        f->u[j] = row->w[j];
        f->v[j] = row->w[j] * g[j];
    }
    f->diag[m] = out->max * out->one_minus_max * g[m];
    out->trace = trace + f->diag[m];
    out->jacobian_fro = kernels->form_fro(f, n);
    lift_sizes(out);
}

/* With e = exp(-2 |x|), x = z / c: |t| = (1 - e) / (1 + e), and g = 4 e / (1 +
 * e)^2 keeps its digits where t is 1. */
void av_bend_softcap(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                     struct av_rowstats *out)
{
    const size_t n = row->n;
    double *t = row->scratch, *g = t + n, *y = g + n, *spare = y + n;
    const double twice = 2 / p->c;
    double max_logit = -(double)INFINITY;
    for (size_t j = 0; j < n; j++) {
        y[j] = row->z[j] * twice;
        max_logit = row->z[j] > max_logit ? row->z[j] : max_logit;
    }
    kernels->exp(g, t, y, n);
    for (size_t j = 0; j < n; j++) {
        const double z = row->z[j], part = 1 / (1 + g[j]);
        t[j] = copysign(t[j] * part, z);
        g[j] = 4 * g[j] * part * part;
        y[j] = z > -(double)INFINITY ? capped(z, y[j] / 2, p->c * t[j]) : z;
    }
    bend_any(softcap_near, row, y, spare, p, kernels, out);
    out->max_logit = out->keys > 0 ? max_logit : 0;
}

/* ---- sink ----------------------------------------------------------------------------
 *
 * With p the softmax without the sink, r the sink's share and k = 1 - r:
 *
 *   w = k p                  1 - w_j = r + k (1 - p_j)
 *   J = k^2 J_p + k r diag(p)
 *   trace = k (r + k trace_p)
 *   |J|^2 = k^4 |J_p|^2 + 2 k^3 r sum p_j^2 (1 - p_j) + k^2 r^2 sum p_j^2
 *
 * Every term is positive, and each has r or exp(-D) as a factor: what is larger
 * of them is taken out for the logarithms. */

struct sink {
    double k, r;
    double half;        /* -1/2 ln of what is taken out, 0 where the sink has most */
    double r_over, gap; /* r and exp(-D) over it */
};

/* r / k = exp(logit - max z) p_max, or the reciprocal, whichever cannot
 * overflow. A row of one key has D = infinity. */
static struct sink find_sink(const struct av_rowstats *softmax, double logit)
{
    const double half_gap = softmax->keys > 1 ? softmax->scaled.half_gap : (double)INFINITY;
    const double d = softmax->max_logit - logit;
    const double half = d > 0 ? fmin(half_gap, d / 2) : 0, gap = exp(2 * (half - half_gap));
    if (d <= 0) {
        const double other = exp(d) / softmax->max, r = 1 / (1 + other);
        return (struct sink){ other * r, r, half, r, gap };
    }
    const double odds = exp(-d) * softmax->max, k = 1 / (1 + odds);
    return (struct sink){ k, odds * k, half, exp(2 * half - d) * softmax->max * k, gap };
}

/* softmax: of the row without the sink; mixed: sum of p_j^2 (1 - p_j) but for
 * the largest, which is of the order of exp(-2D). */
static void sink_stats(struct av_rowstats *out, const struct av_rowstats *softmax, const struct sink *s, double mixed)
{
    const double root = exp(-s->half), k = s->k, max = softmax->max;
    const double others = softmax->scaled.one_minus_max * s->gap, one_minus_max = s->r_over + k * others;
    const double trace = k * (s->r_over + k * softmax->scaled.trace * s->gap);
    const double own = k * softmax->scaled.jacobian_fro * s->gap;
    const double cross = max * max * others + (s->half < FAR / 2 ? mixed * exp(2 * s->half) : 0);
    const double fro = k * sqrt(own * own + 2 * k * s->r_over * cross + s->r_over * s->r_over * softmax->sum_p2);
    *out = *softmax;
    out->max = k * max;
    out->one_minus_max = one_minus_max * root * root;
    out->sum_p2 = k * k * softmax->sum_p2;
    out->trace = trace * root * root;
    out->jacobian_fro = fro * root * root;
    out->row_sum = k * softmax->row_sum;
    out->scaled = (struct av_rowstats_scaled){ s->half, one_minus_max,
                                               others / one_minus_max * softmax->scaled.half_surprise, trace, fro };
}

void av_bend_sink(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                  struct av_rowstats *out)
{
    struct av_rowstats softmax;
    av_bend_softmax(row, p, kernels, &softmax);
    *out = softmax;
    if (softmax.keys == 0 || isinf(p->logit)) {
        return;
    }
    const struct sink s = find_sink(&softmax, p->logit);
    struct av_form *f = &row->form;
    double mixed = 0;
    for (size_t j = 0; j < row->n; j++) {
        const double share = row->w[j], w = s.k * share;
        mixed += j != softmax.argmax ? share * f->diag[j] : 0;
        row->w[j] = f->u[j] = f->v[j] = w;
        f->diag[j] = w * (s.r + s.k * (1 - share));
        f->rest[j] = w * s.r;
    }
    sink_stats(out, &softmax, &s, mixed);
    f->diag[out->argmax] = out->max * out->one_minus_max;
}

/* ---- clipped --------------------------------------------------------------------------
 *
 * x_j = stretch p_j + gamma, stretch = eta - gamma. 1 - x of the largest is
 * (1 - eta) + stretch (1 - p). */

/* How far the largest stays below 1, and what is to be divided by exp(-D) for
 * the logarithms: with eta = 1 all that underflows falls with it. */
struct room {
    bool falls;
    double value, scaled;
};

static struct room find_room(const struct av_rowstats *softmax, const struct av_bend_params *p)
{
    const double stretch = p->eta - p->gamma;
    const double value = (1 - p->eta) + stretch * softmax->one_minus_max;
    const bool falls = p->eta == 1 && softmax->keys > 1;
    return (struct room){ falls, value, falls ? stretch * softmax->scaled.one_minus_max : value };
}

static void clipped_stats(struct av_rowstats *out, const struct av_bend_row *row, const struct room *room,
                          double half_gap, const struct av_kernels *kernels)
{
    kernels->form_stats(out, row);
    out->scaled.half_gap = room->falls ? half_gap : 0;
    lift_sizes(out);
    if (out->max > 0 && room->scaled > 0) {
        out->one_minus_max = room->value;
        out->scaled.one_minus_max = room->scaled;
    } else {
        out->scaled.one_minus_max = out->one_minus_max * exp(2 * out->scaled.half_gap);
    }
    out->scaled.half_surprise = out->one_minus_max > 0 ? out->entropy / out->one_minus_max / 2 : 0;
}

static void clipped_near(struct av_bend_row *row, const double *y, const struct av_bend_params *p,
                         const struct av_kernels *kernels, struct av_rowstats *out)
{
    const double stretch = p->eta - p->gamma;
    struct av_rowstats softmax;
    struct av_form *f = &row->form;
    kernels->softmax(row->w, y, 1, row->n, &softmax);
    softmax_form(row, &softmax);
    const struct room room = find_room(&softmax, p);
    for (size_t j = 0; j < row->n; j++) {
        const double x = stretch * row->w[j] + p->gamma;
        const bool below_one = j == softmax.argmax ? room.scaled > 0 : x < 1;
        const double slope = x > 0 && below_one ? stretch : 0;
        row->w[j] = x > 0 && y[j] > -(double)INFINITY ? (x < 1 ? x : 1) : 0;
        f->diag[j] *= slope;
        f->u[j] *= slope;
    }
    clipped_stats(out, row, &room, softmax.scaled.half_gap, kernels);
}

void av_bend_clipped(struct av_bend_row *row, const struct av_bend_params *p, const struct av_kernels *kernels,
                     struct av_rowstats *out)
{
    if (p->eta == 1 && !(p->gamma < 0 || p->gamma > 0)) {
        av_bend_softmax(row, p, kernels, out);
    } else {
        bend_any(clipped_near, row, row->z, row->scratch, p, kernels, out);
    }
}
