/* variant_study.h - what the study `variants` finds: every variant on the same
 * queries and keys, two of them entry by entry, and curves of some of them.
 *
 * A quantity is defined as in struct av_summary, over the rows that count (two
 * or more keys, no score that is not finite); NaN where none does. Where
 * a variant's weights are not >= 0 with sum 1, the entropy is that of
 * |w| / sum |w|. Measured is by attend.h, as the pipeline does: the same
 * parameters come to the same numbers. */
#ifndef ATTNVIZ_VARIANT_STUDY_H
#define ATTNVIZ_VARIANT_STUDY_H

#include "attnviz/variant.h"

#include <stdbool.h>
#include <stddef.h>

enum av_variant_quantity {
    AV_VARIANT_LOGIT_STD,    /* of all logits that are seen */
    AV_VARIANT_ROW_STD,      /* within rows */
    AV_VARIANT_ENTROPY,      /* nats, mean */
    AV_VARIANT_ENTROPY_NORM, /* entropy / ln(keys seen), mean: 0 .. 1 */
    AV_VARIANT_KEYS,         /* exp(entropy), mean: effective keys */
    AV_VARIANT_MAX_MEAN,     /* of the largest weight */
    AV_VARIANT_MAX_MEDIAN,
    AV_VARIANT_FRO,     /* |dw/dz|_F, median */
    AV_VARIANT_DEAD,    /* share of rows with less than AV_DEAD_FRO of that */
    AV_VARIANT_DQ,      /* |dw/dq|_F, median */
    AV_VARIANT_ROW_SUM, /* of the weights, mean */
    AV_VARIANT_NONZERO, /* share of the seen keys whose weight is not 0, mean */
    AV_VARIANT_LOGIT_MIN,
    AV_VARIANT_LOGIT_MAX,
    AV_VARIANT_QUANTITIES
};

/* What is counted in bins, as shares of the rows that count, of entropies of
 * those with weight, of logits of the pairs they see. The two of weights go from 0 to 1, logits from
 * -AV_VARIANT_LOGITS_END to AV_VARIANT_LOGITS_END; what lies beyond is in the
 * bins at the ends. */
enum av_variant_histogram {
    AV_VARIANT_OF_MAX,     /* largest weights */
    AV_VARIANT_OF_ENTROPY, /* entropy / ln(keys seen) */
    AV_VARIANT_OF_LOGITS,
    AV_VARIANT_HISTOGRAMS
};
enum { AV_VARIANT_BINS = 12, AV_VARIANT_LOGITS_END = 12 };

struct av_variant_measure {
    size_t rows;           /* that count */
    size_t without_weight; /* of those: all weights are 0, and there is no entropy */
    double print;          /* a sum over all weights that differs where any of them does */
    bool has_dq;           /* false: AV_VARIANT_DQ is yet to come, and NaN: it takes longest */
    double at[AV_VARIANT_QUANTITIES];
    double shares[AV_VARIANT_HISTOGRAMS][AV_VARIANT_BINS];
};

/* Are two variants' weights on the same queries and keys equal, but for rounding? */
bool av_variant_same_weights(const struct av_variant_measure *a, const struct av_variant_measure *b);

/* What is measured: a variant, of a preset with the preset's own parameters. */
struct av_variant_subject {
    char name[AV_VARIANT_TEXT_MAX];
    av_variant_value value;
    const struct av_preset *preset; /* NULL: none */
};

/* p with its variant, and what its preset sets. */
struct av_params av_variant_params_of(const struct av_variant_subject *of, const struct av_params *p);

enum av_variant_state {
    AV_VARIANT_ABSENT,  /* nothing is asked: not chosen, or no need of it */
    AV_VARIANT_REFUSED, /* cannot be had with these parameters: `why` says it */
    AV_VARIANT_WAITING, /* not measured yet */
    AV_VARIANT_MEASURED
};

/* ---- The table -------------------------------------------------------------- */

enum { AV_VARIANT_WHY_MAX = AV_ERROR_MAX };

struct av_variant_row {
    struct av_variant_subject of;
    bool now; /* the present variant, with its parameters; besides rows[now] maybe a model */
    enum av_variant_state state;
    char why[AV_VARIANT_WHY_MAX]; /* REFUSED */
    struct av_variant_measure measure;
};

/* Row i is of av_variant_entry(i); behind these, rows for the present variant
 * and for the one it is compared with, in use where no entry is the same. A
 * preset is when the present parameters are its own. Both are measured whatever is chosen. Of more than
 * AV_VARIANT_MEASURED_PAIRS pairs some rows of queries are measured, evenly
 * spaced. */
enum { AV_VARIANT_ROWS_MAX = 64, AV_VARIANT_MEASURED_PAIRS = 1 << 18 };

struct av_variant_table {
    size_t queries;      /* that are measured */
    size_t count;        /* av_variant_entries() + 2 */
    size_t now, compare; /* rows of the present variant and of the other; maybe the same */
    struct av_variant_row rows[AV_VARIANT_ROWS_MAX];
};

/* ---- Two of them -------------------------------------------------------------- */

/* Weights of all pairs, in single precision, of the present variant and of the
 * other. Matrices of more than AV_VARIANT_PAIRS_MAX pairs are not kept. */
enum { AV_VARIANT_PAIRS_MAX = 1 << 22 };
enum av_variant_side { AV_VARIANT_NOW, AV_VARIANT_OTHER, AV_VARIANT_SIDES };

struct av_variant_pair {
    size_t n_q, n_k;
    /* [n_q, n_k], NULL: not kept. 0 where a key is not seen, NaN in a row with a score that is not finite. */
    const float *weights[AV_VARIANT_SIDES];
    size_t done[AV_VARIANT_SIDES]; /* rows [0, done) are there; of a variant that cannot be had none ever are */

    /* Once `compared`: |w_now - w_other| over the pairs that the mask leaves of
     * the rows that count on both sides. half_sum: of a row, half the sum of its
     * differences, in the mean over the rows: the total variation distance, from 0
     * to 1, where both are distributions. */
    bool compared;
    size_t rows;
    double mean, largest, half_sum;
    size_t row, col;       /* of the largest, the first of equals */
    size_t argmax_differs; /* rows whose largest weight is at another key */
};

/* ---- Curves --------------------------------------------------------------------- */

/* Over n_k: 16, 32 .. 2048 keys, up to 64 queries, no mask; over d_k: 1, 2 ..
 * 4096. Of files their first keys or columns, as many as there are. */
enum { AV_VARIANT_CURVES_MAX = 8, AV_VARIANT_POINTS_MAX = 14, AV_VARIANT_CURVE_QUERIES = 64 };

struct av_variant_curve {
    struct av_variant_subject of;
    enum av_variant_state state[AV_VARIANT_POINTS_MAX];
    struct av_variant_measure points[AV_VARIANT_POINTS_MAX];
};

struct av_variant_curves {
    enum av_curve_over over;
    bool kept;                        /* false: there was no memory, and there are no points */
    size_t n_q, n_k, d;               /* of the last point; at the others fewer of one or two of these */
    size_t points;                    /* how many */
    size_t at[AV_VARIANT_POINTS_MAX]; /* n_k or d_k, ascending */
    size_t count;                     /* curves; the first is of the present variant */
    size_t left_out;                  /* chosen ones beyond AV_VARIANT_CURVES_MAX */
    struct av_variant_curve curves[AV_VARIANT_CURVES_MAX];

    /* Mean entropy of the softmax, exact (theory.h), nats: where it holds, of
     * independent normal entries with q_mean 0. */
    bool has_theory;
    double theory[AV_VARIANT_POINTS_MAX];
};

/* ---- The result ------------------------------------------------------------------- */

/* Its parts, as av_studies_limit counts them. Of a pair also the two rows of the
 * table. */
enum { AV_VARIANTS_TABLE = 1, AV_VARIANTS_PAIR = 2, AV_VARIANTS_CURVES = 4 };

struct av_variants {
    struct av_params params; /* that it is of; the sizes are those of files when there are any */
    bool from_files;
    struct av_variant_table table;
    struct av_variant_pair pair;
    struct av_variant_curves curves;
};

#endif
