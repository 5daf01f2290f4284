/* theory_table.c - G, B and C of theory.h over (sigma, u).
 *
 * Each is the convolution of a function of y with a normal density of width
 * sigma. b and c are bumps; g is a step, made a bump by taking away a normal
 * distribution function, whose convolution is another one. All are analytic
 * for |Im y| < pi / 2, so the trapezoidal rule converges exponentially, in y
 * as in u: the steps below leave relative errors of 1e-9 (2e-8 at n = 131072). */
#include "theory_table.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846
#define SQRT_HALF 0.70710678118654752440
#define SQRT_2PI 2.50662827463100050242
#define EULER_GAMMA 0.57721566490153286061

#define MIDDLE 1.75     /* the sigma half way up in angle */
#define STEP 0.35       /* of y and u where the integrand is as wide as the bumps */
#define STEP_WIDE 0.09  /* of u / sigma where it is as wide as the logits */
#define STEP_NARROW 0.8 /* of y / sigma where the normal density is narrower than the bumps */
#define Y_LO (-40.0)    /* outside, the bumps are below 1e-17 of their peaks */
#define Y_HI 4.2
#define STEP_WIDTH 0.5 /* standard deviation of the normal step */

/* ------------------------------------------------------------- sigma axis */

double av_theory_position(double sigma)
{
    const double angle = atan(sigma / MIDDLE) * (2.0 / PI);
    return 2.0 * angle * angle - 1.0;
}

static double node_sigma(size_t k)
{
    /* position = 2 angle^2 - 1 = -cos(2 half), so angle = sin(half) */
    const double half = PI * (double)k / (2 * AV_THEORY_NODES - 1);
    return MIDDLE * tan(0.5 * PI * sin(half));
}

/* ------------------------------------------------------------------ bumps */

/* The three functions of y at equal steps. */
struct bumps {
    double y0, step;
    size_t count;
    double g[512], b[512], c[512]; /* g less the normal step; the least sigma needs 506 */
};

/* c(y) for t = e^y: E_1 by its series (Abramowitz & Stegun 5.1.11), in which
 * y + gamma cancels, or by its continued fraction (5.1.22). */
static double entropy_bump(double y, double t)
{
    if (t < 1.0) {
        double term = t, sum = t;
        for (int k = 2; k < 20; k++) {
            term *= -t / k;
            sum += term / k;
        }
        return sum + (y + EULER_GAMMA) * expm1(-t);
    }
    double tail = t;
    for (int k = 60; k > 0; k--) {
        tail = t + k / (1.0 + k / tail);
    }
    return exp(-t) * (y + EULER_GAMMA + 1.0 / tail);
}

static void fill_bumps(struct bumps *f, double step)
{
    const double first = floor(Y_LO / step);
    f->step = step;
    f->y0 = first * step;
    f->count = (size_t)(ceil(Y_HI / step) - first) + 1;
    for (size_t j = 0; j < f->count; j++) {
        const double y = f->y0 + (double)j * step, t = exp(y);
        f->g[j] = expm1(-t) + 0.5 * erfc(-y / STEP_WIDTH * SQRT_HALF);
        f->b[j] = t * exp(-t);
        f->c[j] = entropy_bump(y, t);
    }
}

/* ----------------------------------------------------------- convolutions */

/* Appends the point u to the node. The normal weights of successive y have a
 * ratio that shrinks by a constant factor: no exponential each. */
static void add_point(struct av_theory_node *node, const struct bumps *f, double sigma, double u, double u_step)
{
    const double reach = 9.0 * sigma; /* the normal density is below 1e-17 of its peak beyond */
    const double first = fmax(0.0, ceil((u - reach - f->y0) / f->step));
    const double last = fmin((double)f->count - 1.0, floor((u + reach - f->y0) / f->step));
    const double x = (f->y0 + first * f->step - u) / sigma, dx = f->step / sigma;
    const double shrink = exp(-dx * dx);
    double w = exp(-0.5 * x * x), ratio = exp(-dx * (x + 0.5 * dx));
    double g = 0.0, b = 0.0, c = 0.0;
    for (size_t j = (size_t)first; (double)j <= last; j++) {
        g += w * f->g[j];
        b += w * f->b[j];
        c += w * f->c[j];
        w *= ratio;
        ratio *= shrink;
    }
    const double density = f->step / (sigma * SQRT_2PI), scale = hypot(1.0, sigma) * u_step;
    g = density * g + 0.5 * erfc(u / hypot(STEP_WIDTH, sigma) * SQRT_HALF);
    b *= density;
    c *= density;
    node->log_g[node->count] = log(fmax(g, DBL_MIN));
    node->trace[node->count] = scale * b * b;
    node->entropy[node->count] = scale * b * c;
    node->count++;
}

static void fill_node(struct av_theory_node *node, struct bumps *f, double sigma)
{
    const double u_step = hypot(STEP, STEP_WIDE * sigma);
    fill_bumps(f, u_step / ceil(u_step / fmin(STEP, STEP_NARROW * sigma)));
    const int lo = (int)floor(-hypot(32.0, 8.0 * sigma) / u_step);
    const int hi = (int)ceil((Y_HI + 5.0 * sigma) / u_step);
    node->count = 0;
    for (int i = lo; i <= hi; i++) {
        add_point(node, f, sigma, i * u_step, u_step);
    }
}

void av_theory_table(struct av_theory_node nodes[AV_THEORY_NODES])
{
    struct bumps f;
    for (size_t k = 1; k < AV_THEORY_NODES; k++) {
        fill_node(&nodes[k], &f, node_sigma(k));
    }
}

/* ----------------------------------------------------------------- rows */

void av_theory_curves(const struct av_theory_node nodes[AV_THEORY_NODES], double n, double trace[AV_THEORY_NODES],
                      double entropy[AV_THEORY_NODES])
{
    trace[0] = 1.0 - 1.0 / n;
    entropy[0] = log(n);
    for (size_t k = 1; k < AV_THEORY_NODES; k++) {
        const struct av_theory_node *node = &nodes[k];
        double t = 0.0, h = 0.0;
        for (size_t i = 0; i < node->count; i++) {
            const double exponent = (n - 2.0) * node->log_g[i];
            if (exponent < -80.0) {
                break; /* and beyond it smaller still */
            }
            const double power = exp(exponent);
            t += power * node->trace[i];
            h += power * node->entropy[i];
        }
        trace[k] = n * (n - 1.0) * t;
        entropy[k] = n * (n - 1.0) * h;
    }
}
