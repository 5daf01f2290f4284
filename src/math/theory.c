/* theory.c - means over the rows at hand: row lengths, then lengths of q. */
#include "attnviz/theory.h"

#include "attnviz/mem.h"
#include "theory_table.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { LENGTHS = 24 }; /* most row lengths that are computed; more are interpolated */

/* A mean, or something proportional to it. */
struct curve {
    double trace, entropy, entropy_norm;
};

static void add(struct curve *sum, double weight, struct curve c)
{
    sum->trace += weight * c.trace;
    sum->entropy += weight * c.entropy;
    sum->entropy_norm += weight * c.entropy_norm;
}

struct av_theory {
    size_t lo, hi; /* row lengths that the curves are for; 0: none yet */
    /* Chebyshev coefficients over position(sigma) of hypot(1, sigma) times the
     * mean over row lengths */
    struct curve coefficients[AV_THEORY_NODES];
    struct av_theory_node nodes[AV_THEORY_NODES];
};

enum av_status av_theory_new(struct av_theory **t, struct av_error *e)
{
    struct av_theory *made = av_alloc(1, sizeof *made);
    if (made == NULL) {
        return av_fail_nomem(e, "theory");
    }
    av_theory_table(made->nodes);
    *t = made;
    return AV_OK;
}

void av_theory_free(struct av_theory *t)
{
    av_free(t);
}

double av_theory_freezing(double n)
{
    return n > 1.0 ? sqrt(2.0 * log(n)) : 0.0;
}

/* ------------------------------------------------------------ row lengths */

/* The rows have lengths lo .. hi, equally many of each. False when no row has
 * two keys. */
static bool row_lengths(const struct av_theory_rows *rows, size_t *lo, size_t *hi)
{
    if (rows->n_q == 0 || rows->n_k < 2) {
        return false;
    }
    *hi = rows->n_k;
    if (rows->causal) {
        *lo = rows->n_q < rows->n_k ? rows->n_k - rows->n_q + 1 : 2;
    } else {
        *lo = rows->n_k;
    }
    *lo = *lo < 2 ? 2 : *lo;
    return true;
}

/* Lengths and weights such that a mean over lengths lo .. hi is a weighted sum:
 * Chebyshev nodes in ln n, weighted by the means of their cardinal polynomials.
 * Far out, the middle of a group of neighbours stands for all of them: an
 * error of (group / n)^2 / 24, about 4e-8, of what a factor e in n changes. */
static size_t sample_lengths(size_t lo, size_t hi, double n[LENGTHS], double weight[LENGTHS])
{
    if (hi - lo < LENGTHS) {
        for (size_t i = 0; i <= hi - lo; i++) {
            n[i] = (double)(lo + i);
            weight[i] = 1.0 / (double)(hi - lo + 1);
        }
        return hi - lo + 1;
    }
    const double middle = 0.5 * (log((double)hi) + log((double)lo)), half = 0.5 * (log((double)hi) - log((double)lo));
    double moment[LENGTHS] = { 0 }; /* means of T_j over the lengths */
    for (size_t first = lo, group; first <= hi; first += group) {
        group = first / 1024 + 1;
        group = group > hi - first ? hi - first + 1 : group;
        const double x = (log((double)first + 0.5 * (double)(group - 1)) - middle) / half;
        double before = 1.0, t = x;
        moment[0] += (double)group;
        for (size_t j = 1; j < LENGTHS; j++) {
            moment[j] += (double)group * t;
            const double next = 2.0 * x * t - before;
            before = t;
            t = next;
        }
    }
    for (size_t i = 0; i < LENGTHS; i++) {
        const double angle = PI * ((double)i + 0.5) / LENGTHS;
        double sum = 0.5 * moment[0];
        for (size_t j = 1; j < LENGTHS; j++) {
            sum += moment[j] * cos((double)j * angle);
        }
        n[i] = exp(middle + half * cos(angle));
        weight[i] = 2.0 / LENGTHS * sum / (double)(hi - lo + 1);
    }
    return LENGTHS;
}

/* Chebyshev coefficients of the function with these values at the nodes (by
 * the nodes' discrete orthogonality; node 0, an end, counts half). */
static void to_coefficients(const struct curve values[AV_THEORY_NODES], struct curve coefficients[AV_THEORY_NODES])
{
    const double period = 2 * AV_THEORY_NODES - 1;
    for (size_t j = 0; j < AV_THEORY_NODES; j++) {
        const double norm = (j == 0 ? 2.0 : 4.0) / period * (j % 2 == 0 ? 1.0 : -1.0);
        coefficients[j] = (struct curve){ 0 };
        add(&coefficients[j], 0.5 * norm, values[0]);
        for (size_t k = 1; k < AV_THEORY_NODES; k++) {
            /* T_j(-cos a) = (-1)^j cos(j a) */
            add(&coefficients[j], norm * cos(2.0 * PI * (double)(j * k) / period), values[k]);
        }
    }
}

static void make_curves(struct av_theory *t, size_t lo, size_t hi)
{
    double n[LENGTHS], weight[LENGTHS];
    struct curve values[AV_THEORY_NODES] = { 0 };
    const size_t count = sample_lengths(lo, hi, n, weight);
    for (size_t i = 0; i < count; i++) {
        double trace[AV_THEORY_NODES], entropy[AV_THEORY_NODES];
        av_theory_curves(t->nodes, n[i], trace, entropy);
        for (size_t k = 0; k < AV_THEORY_NODES; k++) {
            add(&values[k], weight[i], (struct curve){ trace[k], entropy[k], entropy[k] / log(n[i]) });
        }
    }
    to_coefficients(values, t->coefficients);
    t->lo = lo;
    t->hi = hi;
}

/* --------------------------------------------------------- lengths of |q| */

/* The means in rows whose logits all have standard deviation sigma. */
static struct curve means_at(const struct av_theory *t, double sigma)
{
    const double x = av_theory_position(sigma), scale = 1.0 / hypot(1.0, sigma);
    double before = 1.0, chebyshev = x;
    struct curve mean = { 0 };
    add(&mean, scale, t->coefficients[0]);
    for (size_t k = 1; k < AV_THEORY_NODES; k++) {
        add(&mean, scale * chebyshev, t->coefficients[k]);
        const double next = 2.0 * x * chebyshev - before;
        before = chebyshev;
        chebyshev = next;
    }
    return mean;
}

/* Means over r = |x| / sqrt(d), x ~ N(0, I_d), of the means at sigma r: the
 * trapezoidal rule over v = ln r, in which r has a density in proportion to
 * r^d exp(-d r^2 / 2), outward from its peak r = 1 until terms no longer
 * count. They are held against the sum of means, not of weights: at d = 1 and
 * a huge sigma the entropy is that of the few rows with a tiny r. */
static struct curve average_lengths(const struct av_theory *t, double d, double sigma)
{
    const double step = fmin(0.2, 0.6 / sqrt(2.0 * d));
    struct curve sum = means_at(t, sigma), mean = { 0 };
    double total = 1.0;
    for (int side = -1; side <= 1; side += 2) {
        double added = sum.entropy;
        for (int i = 1; added > 1e-12 * sum.entropy; i++) {
            const double v = side * i * step;
            const double weight = exp(d * (v - 0.5 * expm1(2.0 * v)));
            const struct curve at = means_at(t, sigma * exp(v));
            add(&sum, weight, at);
            added = weight * at.entropy;
            total += weight;
        }
    }
    add(&mean, 1.0 / total, sum);
    return mean;
}

bool av_theory_means(struct av_theory *t, const struct av_theory_rows *rows, double sigma, struct av_theory_means *out)
{
    size_t lo, hi;
    if (!row_lengths(rows, &lo, &hi)) {
        return false;
    }
    if (lo != t->lo || hi != t->hi) {
        make_curves(t, lo, hi);
    }
    const bool varied = rows->d > 0 && sigma > 0.0;
    const struct curve mean = varied ? average_lengths(t, (double)rows->d, sigma) : means_at(t, sigma);
    *out = (struct av_theory_means){
        .entropy = mean.entropy, .sum_p2 = 1.0 - mean.trace, .trace = mean.trace, .entropy_norm = mean.entropy_norm
    };
    return true;
}
