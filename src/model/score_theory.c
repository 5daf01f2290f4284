/* score_theory.c - moments of a matrix of scores, and their standard errors. */
#include "score_theory.h"

#include "attnviz/snapshot.h"

#include <float.h>
#include <math.h>

/* The letters of the header. */
struct letters {
    double d, c;
    double a, b, g;
    double kappa, kappa_k;
};

static struct letters letters_of(const struct av_params *p)
{
    return (struct letters){
        .d = (double)p->d_k,
        .c = p->corr,
        .a = p->q_std * p->k_mean,
        .b = p->k_std * p->q_mean,
        .g = p->q_std * p->k_std,
        .kappa = av_expected_kappa((enum av_dist)p->dist),
        .kappa_k = av_expected_kappa_key(p),
    };
}

/* ---- Which pairs there are ------------------------------------------------ */

struct pairs {
    double all;                         /* P */
    double rows2, columns2, row_column; /* sums of r_i^2, c_j^2, r_i c_i */
    double paired, mirrored;            /* D, R */
};

/* Unmasked keys of row i, unmasked queries of column j: a mask that is none or
 * causal leaves the first keys, the last queries. */
static double row_length(const struct av_params *p, int64_t i)
{
    return (double)av_row_length((enum av_mask)p->mask, (size_t)i, (size_t)p->n_q, (size_t)p->n_k);
}

static double column_length(const struct av_params *p, int64_t j)
{
    int64_t first = p->mask == AV_MASK_CAUSAL ? j - (p->n_k - p->n_q) : 0;
    return (double)(first < 0 ? p->n_q : first < p->n_q ? p->n_q - first : 0);
}

static struct pairs count_pairs(const struct av_params *p)
{
    struct pairs n = { 0 };
    int64_t square = p->n_q < p->n_k ? p->n_q : p->n_k;
    for (int64_t i = 0; i < p->n_q; i++) {
        double r = row_length(p, i);
        n.all += r;
        n.rows2 += r * r;
        n.row_column += i < p->n_k ? r * column_length(p, i) : 0;
        n.paired += (double)i < r ? 1 : 0;
        /* Row j > i sees key i when row i sees key j: rows grow. */
        n.mirrored += 2 * fmax(0, fmin(r, (double)square) - 1 - (double)i);
    }
    for (int64_t j = 0; j < p->n_k; j++) {
        double c = column_length(p, j);
        n.columns2 += c * c;
    }
    return n;
}

/* ---- Standard errors -------------------------------------------------------- */

/* Of a mean over the pairs; `sum` is the variance of the sum. */
static double mean_error(double sum, const struct pairs *n)
{
    return n->all > 0 ? sqrt(fmax(sum, 0)) / n->all : (double)NAN;
}

static double sum_variance(const struct letters *l, const struct pairs *n)
{
    double c2 = l->c * l->c;
    double products = n->all + c2 * ((1 + l->kappa) * n->paired + n->mirrored);
    return l->d * (l->a * l->a * n->rows2 + l->b * l->b * n->columns2 + 2 * l->c * l->a * l->b * n->row_column +
                   l->g * l->g * products);
}

/* Var A for the letters (a, b) and kappa; Var B is that for (b, a). */
static double projected(double d, double a, double b, double g, double kappa)
{
    double a2 = a * a;
    double b2 = b * b;
    double g2 = g * g;
    return d * (4 * b2 * g2 + (2 + kappa) * g2 * g2 + a2 * a2 * (2 * d + kappa) + 2 * (2 + kappa) * a2 * g2);
}

/* Fourth cumulant of a x + b y + g x y for independent x, y. */
static double fourth_cumulant(const struct letters *l)
{
    double x4 = 3 + l->kappa;
    double y4 = 3 + l->kappa_k;
    double a2 = l->a * l->a;
    double b2 = l->b * l->b;
    double g2 = l->g * l->g;
    double var = a2 + b2 + g2;
    return a2 * a2 * x4 + b2 * b2 * y4 + g2 * g2 * x4 * y4 + 6 * (a2 * b2 + a2 * g2 * x4 + b2 * g2 * y4) -
           3 * var * var;
}

/* What correlation adds to the variance of the sum of all u, from above: rows
 * and columns of the same index vary together, mirror images too, and a pair
 * i = j, `shift` away from the others, varies with the length of its query and
 * key, which its row and column do. */
static double correlated(const struct letters *l, const struct pairs *n, const struct av_expected *e,
                         double projections, double rest)
{
    double c = fabs(l->c);
    double paired = n->paired * (4 * e->shift * e->shift + 2 * e->together) * e->together;
    double with_lengths = 8 * n->all * fabs(e->shift) * c * l->d * (2 + fmax(l->kappa, 0)) * l->g * l->g * l->g;
    return 2 * c * n->row_column * projections + c * n->mirrored * rest + paired + with_lengths;
}

/* Of the mean of u, hence of the variance. Taking the squares from the
 * measured mean instead of the true one lowers their mean by that mean's
 * variance, which is of second order: it counts as an error too. */
static double variance_error(const struct letters *l, const struct pairs *n, const struct av_expected *e)
{
    double row = projected(l->d, l->a, l->b, l->g, l->kappa);
    double column = projected(l->d, l->b, l->a, l->g, l->kappa_k);
    double var = l->d * (l->a * l->a + l->b * l->b + l->g * l->g);
    double rest = fmax(0, 2 * var * var + l->d * fourth_cumulant(l) - row - column);
    double sum = n->rows2 * row + n->columns2 * column + n->all * rest;
    if (l->c != 0) {
        sum += correlated(l, n, e, sqrt(row * column), rest);
    }
    double mean = mean_error(sum_variance(l, n), n);
    return hypot(mean_error(sum, n), mean * mean);
}

/* Of the excess kurtosis of nearly normal scores, by its influence function
 * z^4 - 6 z^2 + 3 (z = s / std): 24 / P for independent ones, and since the
 * scores of a query with |x|^2 = v d_k have variance v, on average 3 (v - 1)^2
 * for a whole row, whose variance is 18 ((2 + kappa) / d_k)^2. */
static double kurtosis_error(const struct letters *l, const struct pairs *n)
{
    double row = (2 + l->kappa) / l->d;
    double column = (2 + l->kappa_k) / l->d;
    return mean_error(24 * n->all + 18 * (row * row * n->rows2 + column * column * n->columns2), n);
}

/* ---- Within rows ------------------------------------------------------------ */

/* Given q_i, key j != i scores about k_mean X_i with variance k_std^2 |q_i|^2,
 * on average v = d k_std^2 (q_std^2 + q_mean^2). Key i lies about the same
 * point with a mean square of
 *   w = k_std^2 [ c^2 (d q_mean^2 + q_std^2 (d^2 + d (2 + kappa)))
 *                 + (1 - c^2) d (q_std^2 + q_mean^2) ],
 * and the variance of a row is, on average, the mean of all those squares. */
static double row_variance(const struct av_params *p, const struct letters *l)
{
    double k2 = p->k_std * p->k_std;
    double q2 = p->q_std * p->q_std;
    double m2 = p->q_mean * p->q_mean;
    double c2 = l->c * l->c;
    double v = l->d * k2 * (q2 + m2);
    double w = k2 * c2 * l->d * (m2 + q2 * (l->d + 2 + l->kappa)) + (1 - c2) * v;
    double sum = 0;
    double freedom = 0;
    for (int64_t i = 0; i < p->n_q; i++) {
        double r = row_length(p, i);
        if (r >= 2) {
            double paired = (double)i < r ? w - v : 0;
            sum += (r - 1) * (v + paired / r);
            freedom += r - 1;
        }
    }
    return freedom > 0 ? sum / freedom : (double)NAN;
}

/* What is left when a row's own mean is taken from its scores instead of the
 * true one: sum over pairs j != l of u_ij u_il / r_i, over the freedom, where
 * u_ij is q_i times (k_j - k_mean). It has mean 0, is uncorrelated with the
 * squares, and for c = 0 its variance is, exactly,
 *   2 k_std^4 sum over i, i' of m (m - 1) / (r_i r_i') E (q_i.q_i')^2,
 * over the squared freedom, m being the smaller of r_i, r_i': rows see the
 * first keys. All that rows of few keys, and Rademacher entries, have. */
static double row_means_error(const struct av_params *p, const struct letters *l)
{
    double k2 = p->k_std * p->k_std;
    double q2 = p->q_std * p->q_std;
    double m2 = p->q_mean * p->q_mean;
    double squared = l->d * (q2 + m2);
    double same = l->d * (4 * m2 + (2 + l->kappa) * q2) * q2 + squared * squared;
    double other = l->d * (q2 + 2 * m2) * q2 + l->d * m2 * l->d * m2;
    double sum = 0;
    double freedom = 0;
    double behind = 0; /* sum of 1 / r over the rows below, which are no shorter */
    for (int64_t i = p->n_q - 1; i >= 0; i--) {
        double r = row_length(p, i);
        if (r >= 2) {
            sum += (r - 1) * (same / r + 2 * other * behind);
            freedom += r - 1;
            behind += 1 / r;
        }
    }
    return freedom > 0 ? k2 * sqrt(2 * sum) / freedom : (double)NAN;
}

struct av_score_theory av_score_theory(const struct av_params *p)
{
    struct letters l = letters_of(p);
    struct pairs n = count_pairs(p);
    struct av_expected e = av_expected_scores(p);
    struct letters within = l;
    within.a = 0;
    double row_error = hypot(variance_error(&within, &n, &e), row_means_error(p, &l));
    double kurtosis = l.c == 0 ? l.d * fourth_cumulant(&l) / (e.var * e.var) : (double)NAN;
    /* Entries are rounded to single precision, and so are their mean and spread. */
    double size = l.d * (fabs(p->q_mean) + p->q_std) * (fabs(p->k_mean) + p->k_std) * (double)FLT_EPSILON;
    return (struct av_score_theory){
        .expected = e,
        .mean = { e.mean, hypot(mean_error(sum_variance(&l, &n), &n), size) },
        .var = { e.var, hypot(variance_error(&l, &n, &e), size * sqrt(e.var)) },
        .row_var = { row_variance(p, &l), hypot(row_error, size * sqrt(e.var)) },
        .kurtosis = { e.var > 0 ? kurtosis : (double)NAN, kurtosis_error(&l, &n) },
    };
}
