/* variant_normalise.c - a row of numbers normalised, and the way back. */
#include "variant_hooks.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double L2_MIN = 1e-12; /* smallest norm that l2 divides by */

/* ---- Norms ----------------------------------------------------------------- */

/* |x|, whatever the size of the entries: they are squared at about 1, by powers
 * of two. */
static double norm(const double *x, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    }
    const int e = largest > 0 && isfinite(largest) ? ilogb(largest) : 0;
    const double down = ldexp(1, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (down * x[i]) * (down * x[i]);
    }
    return sqrt(sum) / down;
}

/* sqrt(mean x^2 + eps) */
static double root(double norm_of_x, size_t n, double eps)
{
    return hypot(norm_of_x / sqrt((double)n), sqrt(eps));
}

/* In two steps: the mean of what is left makes up for the first one's rounding. */
static void centre(double *y, const double *x, size_t n)
{
    const double share = 1 / (double)n;
    for (int step = 0; step < 2; step++, x = y) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) {
            mean += share * x[i];
        }
        for (size_t i = 0; i < n; i++) {
            y[i] = x[i] - mean;
        }
    }
}

static void divide(double *y, const double *x, size_t n, double by)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] / by;
    }
}

/* u = c / |c|, 0 where |c| is. */
static void direction(double *u, const double *c, size_t n, double norm_of_c)
{
    divide(u, c, n, norm_of_c > 0 ? norm_of_c : 1);
}

/* ---- The three ----------------------------------------------------------------- */

static void l2_forward(double *y, const double *x, size_t n, double eps)
{
    (void)eps;
    divide(y, x, n, fmax(norm(x, n), L2_MIN));
}

static struct av_tangent l2_tangent(double *u, const double *x, size_t n, double eps)
{
    (void)eps;
    double size = norm(x, n);
    direction(u, x, n, size);
    return size > L2_MIN ? (struct av_tangent){ 1 / size, 0, false }
                         : (struct av_tangent){ 1 / L2_MIN, 1 / L2_MIN, false };
}

static void rms_forward(double *y, const double *x, size_t n, double eps)
{
    divide(y, x, n, root(norm(x, n), n, eps));
}

/* Of c with that norm, in u. */
static struct av_tangent root_tangent(double *u, const double *c, size_t n, double eps, bool centred)
{
    double size = norm(c, n);
    double r = root(size, n, eps);
    double f = sqrt(eps) / r;
    direction(u, c, n, size);
    return (struct av_tangent){ 1 / r, f * f / r, centred };
}

static struct av_tangent rms_tangent(double *u, const double *x, size_t n, double eps)
{
    return root_tangent(u, x, n, eps, false);
}

static void layernorm_forward(double *y, const double *x, size_t n, double eps)
{
    centre(y, x, n);
    rms_forward(y, y, n, eps);
}

static struct av_tangent layernorm_tangent(double *u, const double *x, size_t n, double eps)
{
    centre(u, x, n);
    return root_tangent(u, u, n, eps, true);
}

const struct av_normaliser av_normalise_l2 = { l2_forward, l2_tangent };
const struct av_normaliser av_normalise_rms = { rms_forward, rms_tangent };
const struct av_normaliser av_normalise_layernorm = { layernorm_forward, layernorm_tangent };

/* ---- The way back ------------------------------------------------------------------- */

enum { COLUMNS = AV_NORMALISE_COLUMNS };

/* Columns x [n, width] lose what they have along u, which is added to along,
 * and their means, if these have a share. */
static inline void take_off(double *restrict x, double *restrict along, const double *restrict u, double share,
                            size_t n, size_t width)
{
    double part[COLUMNS] = { 0 }, mean[COLUMNS] = { 0 };
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < width; c++) {
            part[c] += u[i] * x[i * width + c];
            mean[c] += share * x[i * width + c];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < width; c++) {
            x[i * width + c] -= mean[c] + u[i] * part[c];
        }
    }
    for (size_t c = 0; c < width; c++) {
        along[c] += part[c];
    }
}

static inline void backward(double *restrict x, const struct av_tangent *t, const double *restrict u, size_t n,
                            size_t width)
{
    const double share = t->centred ? 1 / (double)n : 0;
    double along[COLUMNS] = { 0 };
    take_off(x, along, u, share, n, width);
    take_off(x, along, u, share, n, width); /* once more: what rounding has left */
    for (size_t i = 0; i < n; i++) {
        const double f = t->along * u[i];
        for (size_t c = 0; c < width; c++) {
            x[i * width + c] = t->across * x[i * width + c] + f * along[c];
        }
    }
}

void av_normalise_backward(double *d_x, const double *d_y, const struct av_tangent *t, const double *u, size_t n)
{
    if (d_x != d_y) {
        memcpy(d_x, d_y, n * sizeof *d_x);
    }
    backward(d_x, t, u, n, 1);
}

void av_normalise_backward_columns(double *d, const struct av_tangent *t, const double *u, size_t n)
{
    backward(d, t, u, n, COLUMNS);
}

/* ---- The parameters of its rows ------------------------------------------------------- */

double av_eps_rms(const struct av_params *p)
{
    return p->of.qk_rms_eps;
}

double av_eps_layernorm(const struct av_params *p)
{
    return p->of.qk_layernorm_eps;
}

double av_eps_scores_by_row(const struct av_params *p)
{
    return p->of.score_layernorm_eps;
}

double av_eps_scores_by_head(const struct av_params *p)
{
    return p->of.score_batchnorm_eps;
}
