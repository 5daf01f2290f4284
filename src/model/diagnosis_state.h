/* diagnosis_state.h - what the parts of a diagnosis share. */
#ifndef ATTNVIZ_DIAGNOSIS_STATE_H
#define ATTNVIZ_DIAGNOSIS_STATE_H

#include "attnviz/diagnosis.h"
#include "attnviz/stats.h"
#include "slope.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers of a tensor that are none, counted over what was read of it. */
struct av_diagnosis_holes {
    uint64_t nan, infinite;
    size_t first_nan[3], first_infinite[3]; /* head, row, column */
};

/* Rows of q.k. */
struct av_dot_sums {
    struct av_spread within;
    double largest; /* |q.k| */
    size_t largest_at[2];
    uint64_t beyond; /* float16 */
    size_t rows, saturated_scaled, saturated_bare;
    double entropy_scaled, entropy_bare; /* sums of H / ln keys */
};

/* Rows of the logits, or weights, that the head is judged by. */
struct av_logit_sums {
    struct av_moments all;
    struct av_spread within;
    size_t rows, above, dead, one_key;
    double freezing, entropy_norm;
    double *fro; /* [n_q], jacobian_fro of those that count */
};

struct av_weight_sums {
    uint64_t negative, seen, zeros; /* zeros among seen keys */
    size_t first_negative[2];
    size_t blind, first_blind;  /* rows that see every key and give all the same though q.k differs */
    struct av_moments row_sums; /* of rows with weight */
    double row_error;           /* largest |sum - 1| */
    double off_squares;         /* sum of their squares */
    size_t off, first_off;      /* rows that do not sum to 1 */
    size_t above;               /* of them, those that sum to more */
    double sum_max, squares;    /* largest row sum; sum of w^2 and of the squares of what rows lack to 1 */
    /* Rows without weight: that hold zeros alone, and that hold NaN. */
    size_t empty, first_empty, empty_nan, first_empty_nan;
    size_t longest_empty;        /* seen keys of the longest of the former */
    uint64_t clear, clear_zeros; /* seen keys, and zeros, of rows in which nothing is near underflow */
    size_t underflowing;         /* rows that have zeros where something is */
    double *columns;             /* [n_k], sums */
    bool wider[AV_DTYPES];       /* a weight that this type does not hold */
    size_t twice_rows;
    double twice_lowest, twice_squares; /* squares: sum over rows of n sum p^2 */
    size_t behind_rows, behind_twice;   /* rows whose masked keys may be a second softmax's e^0; are */
    size_t keyless, first_keyless;      /* level rows with weight on keys that they do not see */
    double masked_max;
    size_t masked_at[2];
    double masked_share;         /* sum over the rows that have a masked key */
    size_t masked_rows, leaking; /* those rows; with weight there */
    size_t level, even;          /* the same on all; and below the largest */
};

/* Of all n_k keys of a row those with weight: [first, end). end 0: not looked at. */
struct av_extent {
    size_t first, end;
};

/* Seen keys without weight, in rows of q.k. */
struct av_hidden_sums {
    size_t rows, keys;         /* keys: that underflow does not explain, sum over rows; */
    double share;              /* what the multiplier of q.k gives to them; */
    double above;              /* and to those of them that are above a key with weight */
    struct av_extent *extents; /* [n_q] */
    bool gaps;                 /* a row has keys without weight between others */
};

enum av_diagnosis_phase {
    AV_PHASE_Q, /* entries */
    AV_PHASE_K,
    AV_PHASE_SEEN,    /* have keys behind their query any weight? */
    AV_PHASE_GIVEN,   /* scores and weights, row by row */
    AV_PHASE_DOTS,    /* q.k of a block of rows, some keys at a time; */
    AV_PHASE_ROWS,    /* these rows, one by one */
    AV_PHASE_HIDDEN,  /* some rows of q.k again, once the multiplier is known: which keys have no weight? */
    AV_PHASE_SUMS,    /* of weights over heads, where rows do not sum to 1 */
    AV_PHASE_SWAPPED, /* k.q, where q.k does not explain the weights */
    AV_PHASE_HEADS,   /* softmaxes of all heads, where the head's own does not explain its weights */
    AV_PHASE_DONE
};

#define AV_FLOAT16_MAX 65504.0

enum { AV_MEANS = 3 };         /* multipliers that a mean over heads is tried with */
enum { AV_AVERAGED_ROWS = 8 }; /* compared with the mean over heads, summed over heads, compared with k.q */

/* What says whether only the pairs up to their query follow q.k, where no mask is told. */
struct av_causal_sums {
    struct av_slope_sums before; /* of keys up to their query */
    /* Of the rows that have weight on both sides: what a key behind its query has less than one
     * before it, q.k and ln w; [rows to look at]. */
    double *dots, *logs;
    size_t rows;
};

/* Keys that are masked and have weight all the same, in rows of q.k. */
struct av_leak_sums {
    struct av_slope_sums line; /* of ln w on q.k of them */
    /* Sums over rows of the means of q.k and ln w, of the seen keys and of these. */
    double seen_dots, seen_logs, masked_dots, masked_logs;
    size_t rows;
};

/* Rows whose masked keys have a finite score. */
struct av_fill_sums {
    double number; /* that of the first; */
    bool uneven;   /* others have another */
    double share;  /* of the weight, sum over rows */
    size_t rows;
};

struct av_diagnoser {
    const struct av_kernels *kernels;
    const struct av_source *source;
    const struct av_source_layer *at;
    struct av_params params;
    size_t k_head;

    enum av_diagnosis_phase phase;
    bool ended;          /* there is a result */
    size_t next;         /* entry row, looked-at row or key that is next in the phase */
    size_t rows;         /* to look at */
    size_t first, block; /* rows of the block at hand, at most */
    size_t keys;         /* read at a time */
    double done, all;    /* work */
    double multiplier;   /* of q.k, by the parameters */
    bool causal_seen;    /* no key behind its query has weight */
    bool causal_fits;    /* or they have some, but do not follow q.k as the others do */
    bool zeros_behind;   /* a row has keys behind its query, without weight */
    bool average;        /* may AV_PHASE_HEADS come? */
    size_t number;       /* in AV_PHASE_HEADS: the head at hand, */
    size_t tried;        /* and which of AV_MEANS multipliers */
    size_t pairs;        /* in AV_PHASE_SUMS: those that have weight in some head; */
    double heads_error;  /* their largest |sum over heads - 1| */

    /* Memory, of the sizes of the head at hand. */
    void *memory;
    float *f32;                          /* [longest row] */
    double *row;                         /* [longest row] */
    void *q, *k;                         /* [block, d], [keys, d] */
    double *dots;                        /* [block, n_k] */
    double *mean;                        /* [AV_AVERAGED_ROWS, n_k], over heads */
    double *logs;                        /* [n_k], of d->weights: of the seen keys with weight, else -infinity */
    double *scores, *weights, *spare[4]; /* [n_k] */
    double *masked[2];                   /* [n_k], points of masked keys */
    void *scratch;

    struct av_diagnosis_holes not_finite[AV_PARTS];
    struct av_moments entries[2]; /* of Q, of K */
    struct av_dot_sums dot;
    struct av_logit_sums logit;
    struct av_slope_sums slope;
    struct av_slope_sums second;  /* of ln w on the softmax of q.k: 1 behind a second softmax */
    struct av_slope_sums swapped; /* of ln w, or scores, on k.q */
    struct av_causal_sums causal;
    struct av_leak_sums leak;
    struct av_fill_sums fill;
    uint64_t unmasked;     /* scores that stand for a masked key, */
    double lowest;         /* the lowest of them */
    bool wider[AV_DTYPES]; /* a score that this type does not hold */
    struct av_weight_sums weight;
    struct av_hidden_sums hidden;
    double own_distance, averaged_distance;     /* sum over rows; largest */
    double averaged_rounding[AV_AVERAGED_ROWS]; /* sum over heads of the mean |logit| */

    struct av_diagnosis result;
};

/* Of its phases that are repeated with another mask. */
double av_diagnosis_work_of_pairs(const struct av_diagnoser *d);

enum { AV_DIAGNOSIS_ENTRIES = 1 << 18 }; /* of Q or K, read at a time */

/* Is this part there? Are Q and K? */
bool av_diagnosis_has(const struct av_diagnoser *d, enum av_part part);
bool av_diagnosis_has_entries(const struct av_diagnoser *d);

/* Begins a phase, or the next one after it in which there is something to do; and
 * does a unit of it. */
void av_diagnosis_enter(struct av_diagnoser *d, enum av_diagnosis_phase phase);
enum av_status av_diagnosis_run_unit(struct av_diagnoser *d, struct av_error *e);

/* Sums over rows from the beginning: nothing was looked at. */
void av_diagnosis_reset(struct av_diagnoser *d);

/* Query of row r of those looked at. */
size_t av_diagnosis_query(const struct av_diagnoser *d, size_t r);

/* One row of a part as doubles. */
enum av_status av_diagnosis_read(struct av_diagnoser *d, enum av_part part, size_t row, double *out,
                                 struct av_error *e);

/* Counts what is not finite in row `row` of a part. */
void av_diagnosis_count(struct av_diagnoser *d, enum av_part part, size_t row, const double *x, size_t n);

/* Finite numbers in d->scores that stand for a masked key become -infinity; and which
 * types hold what is left. */
void av_diagnosis_unmask_scores(struct av_diagnoser *d);

/* A sum of n weights that is 1 but for rounding. */
bool av_diagnosis_is_one(double sum, size_t n);

/* What rounding to the narrowest type that holds all weights so far does to their
 * logarithms at most; single precision's own is far below 2^-20. */
double av_diagnosis_rounding(const struct av_weight_sums *s);
double av_diagnosis_rounding_of(const bool wider[AV_DTYPES]);

/* Is anything of Q, K or the scores not finite, so that NaN follows from it? */
bool av_diagnosis_spoilt(const struct av_diagnoser *d);

/* Does the row d->weights give the same to more than half of all n_k keys, and 0 to the others? A softmax
 * over finite mask values alone does; where two of them add up beyond the type's range they are -infinity. */
bool av_diagnosis_level(const struct av_diagnoser *d);

/* Is row `query` of d->weights level, with weight on keys that it does not see? */
bool av_diagnosis_keyless(const struct av_diagnoser *d, size_t query);

/* Adds row `query` of scores, in d->scores, and of weights, in d->weights; and its q.k,
 * with d->scores less their masks and d->logs where they are there. */
void av_diagnosis_add_scores(struct av_diagnoser *d, size_t query);
void av_diagnosis_add_weights(struct av_diagnoser *d, size_t query);
void av_diagnosis_add_dots(struct av_diagnoser *d, size_t query, const double *dots);

/* Logarithms of row `query` of d->weights to d->logs. */
void av_diagnosis_log_weights(struct av_diagnoser *d, size_t query);

/* Adds row `query` of k.q, against d->weights or d->scores. */
void av_diagnosis_add_swapped(struct av_diagnoser *d, size_t query, const double *dots);

/* What row `query` of d->weights says of a causal mask. One that saw no key, NaN or
 * level, says nothing. */
enum av_behind { AV_BEHIND_SILENT, AV_BEHIND_ZERO, AV_BEHIND_WEIGHT };
enum av_behind av_diagnosis_behind(const struct av_diagnoser *d, size_t query);

/* May there be a causal mask that nobody told? */
bool av_diagnosis_may_be_causal(const struct av_diagnoser *d);

/* Adds a row's points (x, y), of heights h; the first `before` are of keys up to the query. */
void av_diagnosis_add_causal(struct av_diagnoser *d, const double *x, const double *y, const double *h, size_t before,
                             size_t count);

/* Do keys up to their query follow q.k, and those behind it lie far below? */
bool av_diagnosis_is_causal(const struct av_diagnoser *d);

/* Adds a row of sums over heads; were the weights a softmax over heads? */
void av_diagnosis_add_heads_sums(struct av_diagnoser *d, const double *sums);
bool av_diagnosis_is_over_heads(const struct av_diagnoser *d);

/* Adds a row that counts to those that the head is judged by. */
void av_diagnosis_judge_row(struct av_diagnoser *d, const struct av_rowstats *row);

/* The mask of the parameters, or the one that weights show; keys that row `query` sees by it. */
enum av_mask av_diagnosis_mask(const struct av_diagnoser *d);
size_t av_diagnosis_length(const struct av_diagnoser *d, size_t query);

/* From sums to numbers, and from numbers to findings. */
void av_diagnosis_sum_up(struct av_diagnoser *d);
void av_diagnosis_find(struct av_diagnoser *d);

/* Does no multiple of q.k explain the weights, or scores? */
bool av_diagnosis_unexplained(const struct av_diagnoser *d);

/* The rows that are compared with the mean over heads; the r-th of them. */
size_t av_diagnosis_averaged_rows(const struct av_diagnoser *d);
size_t av_diagnosis_averaged_query(const struct av_diagnoser *d, size_t r);

/* Adds the softmax of that row of head d->number to the mean, and, of the head's own,
 * compares it with d->weights; compares the mean with d->weights. */
void av_diagnosis_add_mean(struct av_diagnoser *d, size_t r, const double *dots);
void av_diagnosis_compare_mean(struct av_diagnoser *d, size_t r);

/* The multiplier of q.k behind the mean; is it the weights? If not, begins with the next
 * multiplier, and says whether there is one. */
double av_diagnosis_mean_multiplier(const struct av_diagnoser *d);
bool av_diagnosis_is_mean(const struct av_diagnoser *d);
bool av_diagnosis_next_mean(struct av_diagnoser *d);

/* Adds a finding; text: printf's. */
void av_diagnosis_add(struct av_diagnosis *r, const char *code, enum av_severity severity, const char *format, ...)
    AV_PRINTF(4, 5);

/* Worst first, else in the order in which they were found. */
void av_diagnosis_sort(struct av_diagnosis *r);

/* Adds a row of weights behind a mask: q.k of all keys, and the points (x, y), y = ln w, of
 * the heights h, of the `count` ones with weight among the `seen`. */
void av_diagnosis_add_leak(struct av_diagnoser *d, const double *dots, const double *x, const double *y,
                           const double *h, size_t count, size_t seen);

/* The logit that masked keys have by their weights, as a mean over rows; and what is
 * added to theirs, if that is the same in a row. NaN: q.k does not tell. */
double av_diagnosis_leak_set(const struct av_diagnoser *d);
double av_diagnosis_leak_added(const struct av_diagnoser *d);

/* Adds a row of d->scores of which keys [0, seen) are not masked; what masks there are. */
void av_diagnosis_add_fill(struct av_diagnoser *d, size_t seen);
void av_diagnosis_find_fill(struct av_diagnoser *d);

/* May there be seen keys without weight by another mask? The r-th of d->block rows that are
 * looked at for them; adds row `query` of q.k, against d->weights. */
bool av_diagnosis_may_hide(const struct av_diagnoser *d);
size_t av_diagnosis_hidden_query(const struct av_diagnoser *d, size_t r);
void av_diagnosis_add_hidden(struct av_diagnoser *d, size_t query, const double *dots);

/* Adds the extent of row `query` of d->weights; what mask there is. */
void av_diagnosis_add_extent(struct av_diagnoser *d, size_t query);
void av_diagnosis_find_hidden(struct av_diagnoser *d);

/* The name of the mask that the extents show, where it is another one than causal or none;
 * "" and false without. */
enum { AV_SHAPE_TEXT = 192 };
bool av_diagnosis_name_shape(char out[AV_SHAPE_TEXT], const struct av_diagnoser *d);

/* The smallest number above 0 of the narrowest type that holds all weights. */
double av_diagnosis_tiny(const struct av_weight_sums *s);

/* Of weight on masked keys, by its mean share. */
enum av_severity av_diagnosis_leak_severity(double share);

/* The rules of weights. */
void av_diagnosis_find_weights(struct av_diagnoser *d);
bool av_diagnosis_found(const struct av_diagnosis *r, const char *code);

/* The rules of the multiplier. */
void av_diagnosis_find_scale(struct av_diagnoser *d);

#endif
