/* saturation.h - what the study `saturation` finds: curves over d_k, and the
 * plane of d_k and temperature.
 *
 * Both run over a grid of d_k that is even in log d_k, column i standing for
 * d_k = 2^(i / 8) rounded, 1 .. 4096; all other parameters are the present
 * ones. Every quantity is there with scale on and off, index 1 and 0.
 *
 * Measured is as the pipeline measures, from the same queries and keys: with
 * the same parameters it comes to the same bits. Of large matrices some rows
 * are left out: see `rows`. */
#ifndef ATTNVIZ_SATURATION_H
#define ATTNVIZ_SATURATION_H

#include "attnviz/params.h"
#include "attnviz/theory.h"

enum {
    AV_SATURATION_OCTAVE = 8,                              /* columns */
    AV_SATURATION_COLUMNS = 12 * AV_SATURATION_OCTAVE + 1, /* d_k 1 .. 4096 */
    AV_SATURATION_DECADE = 20,                             /* rows of the plane */
    AV_SATURATION_ROWS = 4 * AV_SATURATION_DECADE + 1,     /* temperature 0.01 .. 100 */
    AV_SATURATION_PAIRS = 1 << 18                          /* pairs of queries and keys that are measured, at most */
};

/* Over the rows that count, as struct av_summary has them; NaN when none does. */
enum av_saturation_quantity {
    AV_SATURATION_ENTROPY, /* entropy / ln(unmasked keys), mean: 0 .. 1 */
    AV_SATURATION_MAX_MEAN,
    AV_SATURATION_MAX_MEDIAN,
    AV_SATURATION_REST_MEDIAN, /* median of 1 - largest weight */
    AV_SATURATION_LARGE,       /* share of rows with a largest weight above AV_LARGEST_ALARM */
    AV_SATURATION_TRACE,       /* sum p (1 - p), mean */
    AV_SATURATION_FRO_MEAN,
    AV_SATURATION_FRO_MEDIAN,
    AV_SATURATION_DEAD,    /* share of rows with a jacobian_fro below AV_DEAD_FRO */
    AV_SATURATION_DQ_MEAN, /* multiplier / temperature included */
    AV_SATURATION_DQ_MEDIAN,
    AV_SATURATION_QUANTITIES
};

/* One d_k, measured. */
struct av_saturation_point {
    size_t d;
    bool known[2]; /* false: not measured yet, its values are unset */
    double value[2][AV_SATURATION_QUANTITIES];
};

/* Normalised entropy over d_k (columns) and temperature (rows, row j standing
 * for 0.01 * 10^(j / 20)). The picture is always full: what is not computed
 * yet has the value of the nearest cell of a coarser grid, NaN while there is
 * none. */
struct av_saturation_plane {
    double value[AV_SATURATION_ROWS][AV_SATURATION_COLUMNS];
    int stride; /* every stride-th row and column is computed: 16, 8, 4, 2, 1; 0: nothing is */
};

struct av_saturation {
    struct av_params params; /* that it is of */
    size_t rows;             /* queries that are measured: all n_q, or, of more than AV_SATURATION_PAIRS
                                pairs, evenly spaced ones that make no more */
    size_t rows_counting;    /* of these, rows with two or more keys */

    /* Exact means, where the theory holds: independent normal entries, q_mean
     * 0, a row with two keys. Then the plane is of theory, else measured. */
    bool has_theory;
    struct av_theory_means theory[2][AV_SATURATION_COLUMNS];

    /* Measured at powers of two, then half-way between them: in columns that
     * are multiples of 4. In all columns d is set. */
    struct av_saturation_point points[AV_SATURATION_COLUMNS];

    /* At the present d_k. */
    struct av_saturation_point at;
    struct av_theory_means at_theory[2];
    double at_std[2]; /* av_saturation_std */

    /* Where the logits of a row freeze: where their standard deviation is
     * sqrt(2 ln n), averaged over the rows that count. freezing_d: that d_k, NaN
     * when it is the same on all of them, else maybe beyond 1 .. 4096. */
    double freezing_std, freezing_d[2];
    struct av_saturation_plane plane[2];
};

size_t av_saturation_d(size_t column);        /* d_k of a column */
double av_saturation_temperature(size_t row); /* of a row of the plane */

/* The multiplier of the scores at real d >= 1: d^-exponent with scale on, else 1. */
double av_saturation_multiplier(const struct av_params *p, bool scale, double d);

/* Standard deviation of a row's logits at real d >= 1 and that temperature,
 * the root of its mean square over the rows:
 * multiplier sqrt(d (q_mean^2 + q_std^2)) k_std / temperature, from
 * Var[q . k | q] = |q|^2 k_std^2. */
double av_saturation_std(const struct av_params *p, bool scale, double d, double temperature);

/* The temperature below which rows freeze at that d: where
 * av_saturation_std is r->freezing_std. NaN when no row counts. */
double av_saturation_contour(const struct av_saturation *r, bool scale, double d);

#endif
