/* density.c - densities of scores, and their means over histogram bins.
 *
 * Expectations over |q| are integrals over v = ln |q|. Their integrands are
 * analytic for |Im v| < pi / 4, have one peak and fall off at least
 * exponentially, so the error of the trapezoidal rule falls exponentially with
 * 1 / step, at a singular point of f as well: with 4.5 steps to the peak's
 * standard deviation it is below 1e-11. */
#include "attnviz/density.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2PI 2.50662827463100050242
#define LN_2 0.69314718055994530942
#define LN_SQRT_2PI 0.91893853320467274178

/* ------------------------------------------------ the chi distributed |q| */

/* An expectation over |q| of a function of x / |q|, expanded about r, where
 * the chi density times phi(x / |q|) peaks in v. u = v - ln r below. */
struct mixture {
    double d;          /* degrees of freedom */
    double r2, z, z2;  /* r^2, x / r, (x / r)^2 */
    double log_weight; /* logarithm of the density of v at ln r */
    double step;
};

/* ln of a^a exp(-a) / Gamma(a), from Stirling's series where lgamma, a number
 * as large as a ln a, would lose digits. */
static double log_gamma_ratio(double a)
{
    if (a < 16.0) {
        return a * log(a) - a - lgamma(a);
    }
    const double b = 1.0 / (a * a);
    const double series = (1.0 / 12.0 - b * (1.0 / 360.0 - b * (1.0 / 1260.0 - b / 1680.0))) / a;
    return 0.5 * log(a) - LN_SQRT_2PI - series;
}

/* False when f(x) is below the smallest double. x >= 0. */
static bool mixture_at(struct mixture *m, double d, double x)
{
    const double root = hypot(d, 2.0 * x);
    const double above = 0.5 * (root - d) / d; /* r^2 / d - 1, r the root of d - r^2 + x^2 / r^2 */
    m->d = d;
    m->r2 = d + d * above;
    m->z = x / sqrt(m->r2);
    m->z2 = m->z * m->z;
    m->log_weight = 0.5 * d * (log1p(above) - above) + log_gamma_ratio(0.5 * d) + LN_2;
    m->step = fmin(0.11, 0.55 / sqrt(2.0 * root)); /* 2 root: curvature of the exponent at its peak */
    return m->log_weight - 0.5 * m->z2 > -800.0;
}

/* Density of v at u, relative to its value at u = 0; grow = exp(u). */
static double weight(const struct mixture *m, double u, double grow)
{
    return exp(m->d * u - 0.5 * m->r2 * (grow * grow - 1.0));
}

/* The terms: a function of x / |q| times the weight; the first is relative to
 * its value at u = 0 too. */
static double term_density(const struct mixture *m, double u)
{
    const double grow = exp(u), z = m->z / grow;
    return exp((m->d - 1.0) * u - 0.5 * m->r2 * (grow * grow - 1.0) - 0.5 * (z * z - m->z2));
}

static double term_central(const struct mixture *m, double u)
{
    const double grow = exp(u);
    return 0.5 * erf(SQRT_HALF * m->z / grow) * weight(m, u, grow);
}

static double term_tail(const struct mixture *m, double u)
{
    const double grow = exp(u);
    return 0.5 * erfc(SQRT_HALF * m->z / grow) * weight(m, u, grow);
}

/* The trapezoidal rule outward from the peak until terms no longer count. */
static double integral(const struct mixture *m, double (*term)(const struct mixture *, double))
{
    double sum = term(m, 0.0);
    for (int side = -1; side <= 1; side += 2) {
        double t = sum;
        for (int i = 1; t > DBL_EPSILON * sum; i++) {
            t = term(m, side * i * m->step);
            sum += t;
        }
    }
    return sum * m->step;
}

double av_density_score(size_t d, double x)
{
    struct mixture m;
    if (d == 1 && x == 0.0) {
        return HUGE_VAL;
    }
    if (!mixture_at(&m, (double)d, fabs(x))) {
        return 0.0;
    }
    return exp(m.log_weight - 0.5 * m.z2) * integral(&m, term_density) / (SQRT_2PI * sqrt(m.r2));
}

/* ------------------------------------------------- means over equal bins */

/* A distance x >= 0 from the centre of a symmetric law and the mass on either
 * side of it. Whichever is small has its full relative precision. */
struct edge {
    double x;
    double central; /* P(0 < s < x) */
    double tail;    /* P(s > x) */
};

/* A law symmetric about 0; param is what its functions need to know. */
struct law {
    double param;
    double steepest; /* |f'(x) / f(x)| is at most this, and at most x but for a singularity at 0 */
    double (*density)(double param, double x);
    struct edge (*edge)(double param, double x);
};

static double score_density(double d, double x)
{
    return av_density_score((size_t)d, x);
}

static struct edge score_edge(double d, double x)
{
    struct mixture m;
    if (!mixture_at(&m, d, x)) {
        return (struct edge){ x, 0.5, 0.0 };
    }
    const double peak = exp(m.log_weight);
    if (x < 0.5 * sqrt(d)) {
        const double central = x > 0.0 ? peak * integral(&m, term_central) : 0.0;
        return (struct edge){ x, central, 0.5 - central };
    }
    const double tail = peak * integral(&m, term_tail);
    return (struct edge){ x, 0.5 - tail, tail };
}

static double normal_density(double unused, double x)
{
    (void)unused;
    return exp(-0.5 * x * x) / SQRT_2PI;
}

static struct edge normal_edge(double unused, double x)
{
    (void)unused;
    return (struct edge){ x, 0.5 * erf(x * SQRT_HALF), 0.5 * erfc(x * SQRT_HALF) };
}

/* Mass between a < b by three Gauss-Legendre points. */
static double mass_gauss(const struct law *law, double a, double b)
{
    const double mid = 0.5 * (a + b), half = 0.5 * (b - a), off = 0.77459666924148337704 * half; /* sqrt(3/5) */
    const double outer = law->density(law->param, mid - off) + law->density(law->param, mid + off);
    return half / 9.0 * (5.0 * outer + 8.0 * law->density(law->param, mid));
}

/* Mass between near and far, on one side of the centre. A difference of
 * masses, unless the bin is so narrow that the difference would lose digits
 * and the density is a quintic in it (its singularity at 0 being far off). */
static double mass_one_side(const struct law *law, const struct edge *near, const struct edge *far)
{
    const double width = far->x - near->x;
    if (width < 0.02 * near->x && width * fmax(1.0, fmin(law->steepest, far->x)) < 0.02) {
        return mass_gauss(law, near->x, far->x);
    }
    return near->central < near->tail ? far->central - near->central : near->tail - far->tail;
}

/* Mass of [a, b] given the edges at |a| and |b|. */
static double mass(const struct law *law, double a, const struct edge *at_a, double b, const struct edge *at_b)
{
    if (a >= 0.0) {
        return mass_one_side(law, at_a, at_b);
    }
    if (b <= 0.0) {
        return mass_one_side(law, at_b, at_a);
    }
    return at_a->central + at_b->central;
}

static double bin_edge(double lo, double hi, size_t i, size_t bins)
{
    return i == bins ? hi : lo + (hi - lo) * ((double)i / (double)bins);
}

/* Means over bins of the density of center + spread * s, s of that law. */
static void bin_means(const struct law *law, double center, double spread, double lo, double hi, size_t bins,
                      double *out)
{
    const double width = (hi - lo) / (double)bins;
    double a = (lo - center) / spread;
    struct edge at_a = law->edge(law->param, fabs(a));
    for (size_t i = 0; i < bins; i++) {
        const double b = (bin_edge(lo, hi, i + 1, bins) - center) / spread;
        const struct edge at_b = law->edge(law->param, fabs(b));
        out[i] = mass(law, a, &at_a, b, &at_b) / width;
        a = b;
        at_a = at_b;
    }
}

void av_density_bins(size_t d, double factor, double lo, double hi, size_t bins, double *out)
{
    const struct law law = { (double)d, 1.0, score_density, score_edge };
    bin_means(&law, 0.0, factor, lo, hi, bins, out);
}

void av_density_normal_bins(double mean, double std, double lo, double hi, size_t bins, double *out)
{
    if (std > 0.0) {
        const struct law law = { 0.0, HUGE_VAL, normal_density, normal_edge };
        bin_means(&law, mean, std, lo, hi, bins, out);
        return;
    }
    for (size_t i = 0; i < bins; i++) {
        const bool below = mean < bin_edge(lo, hi, i + 1, bins) || (i + 1 == bins && mean <= hi);
        const bool holds = bin_edge(lo, hi, i, bins) <= mean && below;
        out[i] = holds ? (double)bins / (hi - lo) : 0.0;
    }
}
