/* depth_math.c - the operations that a stack of layers is made of, each with its way back. */
#include "depth_math.h"

#include <math.h>
#include <string.h>

#define NORM_EPS 1e-5
#define SQRT_HALF 0.70710678118654752440
#define INV_SQRT_2PI 0.39894228040143267794

void av_depth_round(const struct av_depth_math *m, double *x, size_t n)
{
    for (size_t i = 0; m->single && i < n; i++) {
        x[i] = (double)(float)x[i];
    }
}

/* ---- Products ------------------------------------------------------------------ */

void av_depth_transpose(double *out, const double *in, size_t height, size_t width)
{
    for (size_t i = 0; i < height; i++) {
        for (size_t j = 0; j < width; j++) {
            out[j * height + i] = in[i * width + j];
        }
    }
}

/* The scores of queries a and keys b are a b^T. */
void av_depth_times_turned(const struct av_depth_math *m, double *c, const double *a, const double *b, size_t rows,
                           size_t columns, size_t terms)
{
    const struct av_entries left = { .f64 = a, .pitch = terms };
    const struct av_entries right = { .f64 = b, .pitch = terms };
    const struct av_block all = { 0, rows, 0, columns, 0, terms };
    m->kernels->scores(c, columns, &left, &right, &all, m->scratch);
    av_depth_round(m, c, rows * columns);
}

void av_depth_times(const struct av_depth_math *m, double *c, const double *a, const double *b, size_t rows,
                    size_t columns, size_t terms)
{
    av_depth_transpose(m->turned[1], b, terms, columns);
    av_depth_times_turned(m, c, a, m->turned[1], rows, columns, terms);
}

void av_depth_turned_times(const struct av_depth_math *m, double *c, const double *a, const double *b, size_t rows,
                           size_t columns, size_t terms)
{
    av_depth_transpose(m->turned[0], a, terms, rows);
    av_depth_times(m, c, m->turned[0], b, rows, columns, terms);
}

void av_depth_add(const struct av_depth_math *m, double *x, double factor, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += factor * y[i];
    }
    av_depth_round(m, x, n);
}

/* ---- LayerNorm ------------------------------------------------------------------- */

void av_depth_norm_forward(const struct av_depth_math *m, double *y, double *s, const double *x, size_t n, size_t d)
{
    for (size_t i = 0; i < n; i++) {
        const double *from = x + i * d;
        double *to = y + i * d;
        double mean = 0;
        double var = 0;
        for (size_t c = 0; c < d; c++) {
            mean += from[c] / (double)d;
        }
        for (size_t c = 0; c < d; c++) {
            var += (from[c] - mean) * (from[c] - mean) / (double)d;
        }
        s[i] = sqrt(var + NORM_EPS);
        for (size_t c = 0; c < d; c++) {
            to[c] = (from[c] - mean) / s[i];
        }
    }
    av_depth_round(m, y, n * d);
}

void av_depth_norm_backward(const struct av_depth_math *m, double *d_x, const double *d_y, const double *y,
                            const double *s, size_t n, size_t d)
{
    for (size_t i = 0; i < n; i++) {
        const size_t row = i * d;
        double mean = 0;
        double along = 0;
        for (size_t c = row; c < row + d; c++) {
            mean += d_y[c] / (double)d;
            along += d_y[c] * y[c] / (double)d;
        }
        for (size_t c = row; c < row + d; c++) {
            d_x[c] = (d_y[c] - mean - y[c] * along) / s[i];
        }
    }
    av_depth_round(m, d_x, n * d);
}

/* ---- The MLP's curve ---------------------------------------------------------------- */

static double normal_cdf(double u)
{
    return 0.5 * erfc(-u * SQRT_HALF);
}

void av_depth_gelu_forward(const struct av_depth_math *m, double *g, const double *u, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        g[i] = u[i] * normal_cdf(u[i]);
    }
    av_depth_round(m, g, n);
}

void av_depth_gelu_backward(const struct av_depth_math *m, double *d_u, const double *d_g, const double *u, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        d_u[i] = d_g[i] * (normal_cdf(u[i]) + u[i] * INV_SQRT_2PI * exp(-0.5 * u[i] * u[i]));
    }
    av_depth_round(m, d_u, n);
}

/* ---- Softmax ------------------------------------------------------------------------- */

/* With m the largest weight and e_j = d_p_j - d_p_m: the mean over the row is
 * d_p_m + sum p e, and e_m = 0. */
void av_depth_softmax_backward(double *d_z, const double *d_p, const double *p, size_t n)
{
    size_t m = 0;
    double mean = 0;
    for (size_t j = 1; j < n; j++) {
        m = p[j] > p[m] ? j : m;
    }
    for (size_t j = 0; j < n; j++) {
        mean += p[j] * (d_p[j] - d_p[m]);
    }
    for (size_t j = 0; j < n; j++) {
        d_z[j] = p[j] * (d_p[j] - d_p[m] - mean);
    }
}

/* ---- Sizes ----------------------------------------------------------------------------- */

/* Where squares overflow, or vanish: relative to the largest number. */
static double careful_norm(const double *x, size_t n)
{
    double largest = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return fabs(x[i]);
        }
        largest = fmax(largest, fabs(x[i]));
    }
    for (size_t i = 0; i < n && largest > 0; i++) {
        sum += x[i] / largest * (x[i] / largest);
    }
    return largest * sqrt(sum);
}

double av_depth_norm(const double *x, size_t n)
{
    const double least = 1e-250; /* squares that are lost beside it are below a rounding */
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum >= least && isfinite(sum) ? sqrt(sum) : careful_norm(x, n);
}

/* The sum of all cosines is |sum of the directions|^2; n of them are a row's
 * with itself. */
double av_depth_cosine(const double *x, size_t n, size_t d, double *direction)
{
    double own = 0;
    memset(direction, 0, d * sizeof *direction);
    for (size_t i = 0; i < n; i++) {
        double size = av_depth_norm(x + i * d, d);
        own += size > 0;
        for (size_t c = 0; c < d && size > 0; c++) {
            direction[c] += x[i * d + c] / size;
        }
    }
    double all = av_depth_norm(direction, d);
    return n > 1 ? (all * all - own) / ((double)n * ((double)n - 1)) : (double)NAN;
}
