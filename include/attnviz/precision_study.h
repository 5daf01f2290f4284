/* precision_study.h - what narrower arithmetic does to attention: the result of
 * the study `precision`.
 *
 * The queries and keys at hand, sampled or of files, under the present variant,
 * in every dtype (imitate.h), with scale on and off, row by row against f64
 * (attend.h); from which d_k on a score overflows f16; and what becomes of the
 * finite numbers that stand in for masks. */
#ifndef ATTNVIZ_PRECISION_STUDY_H
#define ATTNVIZ_PRECISION_STUDY_H

#include "attnviz/params.h"
#include "attnviz/snapshot.h"

/* ---- against f64 --------------------------------------------------------------- */

/* One dtype under one state of scale. Rows that count have two keys or more,
 * and in f64 no logit that is not finite. smooth_k shifts all logits of a row by
 * the same: the mean of their differences is taken off before they count as
 * errors. */
struct av_precision_cell {
    size_t rows;                                /* that count, compared so far */
    bool whole;                                 /* all of them are */
    double weight_error_max, weight_error_mean; /* |w - w of f64|, seen keys of rows without NaN; NaN: none */
    double logit_error_max;                     /* |z - z of f64|; infinite where a logit overflowed */
    size_t nan_rows;                            /* with a weight that is NaN */
    size_t argmax_lost; /* another key weighs as much as the first one of f64, or more; not of NaN rows */
    size_t dead_rows;   /* J is exactly 0, and is not in truth: of f64 it may underflow */
};

/* ---- the first d_k that overflows -------------------------------------------------- */

/* Scores q.k of f16, products summed in f32, at d_k 1, 2, 3 ...: the entries of
 * the present queries and keys, more columns of them than d_k. Pairs that the
 * mask leaves; the plain product, whatever the variant normalises. With the
 * scale on the product the score overflows before it is scaled, so this is the
 * d_k of scale off as well; on the query q is scaled by d_k^-exponent first. */
struct av_precision_overflow {
    bool whole;
    size_t columns;                /* searched: AV_DIM_MAX, or those of files */
    size_t first[AV_SCALE_ORDERS]; /* 0: none up to there, as far as it has got */
};

/* ---- numbers in the place of masks --------------------------------------------------- */

enum av_mask_value {
    AV_MASK_1E4, /* -1e4 */
    AV_MASK_1E8,
    AV_MASK_1E9,
    AV_MASK_MIN,       /* the least finite number of the dtype, finfo.min */
    AV_MASK_TWICE_MIN, /* two such masks added up */
    AV_MASK_VALUES
};
extern const char *const av_mask_value_names[AV_MASK_VALUES]; /* "-1e4", "finfo.min" */

/* One of them in one dtype: added to the logits that a causal mask would mask,
 * whatever the parameter `mask`, the sum rounded; then the softmax, whatever
 * the variant bends. And added to every logit of the selected query: a fully
 * masked row. */
struct av_mask_trial {
    double held; /* as the dtype holds it; may be -infinity */
    size_t rows; /* with keys both masked and seen */
    size_t nan_rows;
    size_t overflown;   /* of these, NaN under a mask that leaves keys out as well */
    double leak;        /* largest sum of the masked keys' weights in a row without NaN */
    double full_error;  /* fully masked row: largest |w - w without the mask|; NaN: of a weight that is NaN */
    double full_spread; /* its largest weight less its smallest */
    size_t full_keys, full_logits, full_left; /* keys; different logits before and behind the mask */
};

/* Words about a trial, by one rule each, and how bad that is. Of causal rows:
 * what masked keys get of one, "0.31", or "NaN: 3/31" rows. Of the fully masked
 * row: "uniform"; "20/32 as is": of 32 different logits so many are different
 * still; "as is ±4e-5": all, its weights are as if not masked but for so much.
 * Write to out and return it. */
enum { AV_MASK_WORDS_MAX = 64 };
const char *av_mask_words_causal(char out[AV_MASK_WORDS_MAX], const struct av_mask_trial *t, enum av_severity *how);
const char *av_mask_words_full(char out[AV_MASK_WORDS_MAX], const struct av_mask_trial *t, enum av_severity *how);

/* ---- all of it ----------------------------------------------------------------------- */

enum { AV_MASK_DTYPES = AV_DTYPE_INT8 }; /* int8 has logits of f32 */

struct av_precision {
    struct av_params params; /* sizes of the files, if any */
    size_t rows;             /* queries */
    double score_max;        /* largest |q.k|, of the pairs that the mask leaves, in f64; NaN: not known yet */
    struct av_precision_cell at[2][AV_DTYPES]; /* [scale] */
    struct av_precision_overflow overflow;
    bool masks_whole[AV_MASK_DTYPES];
    struct av_mask_trial masks[AV_MASK_DTYPES][AV_MASK_VALUES]; /* under the present state of scale */
};

/* ---- what can be said of it ------------------------------------------------------------ */

struct av_precision_finding {
    enum av_severity severity;
    bool figure; /* neither good nor bad */
    char text[160];
};

/* Of dtypes that have been compared, under the present state of scale unless
 * they say otherwise; the worst first. Returns their number. */
enum { AV_PRECISION_FINDINGS = 7 };
size_t av_precision_findings(struct av_precision_finding out[AV_PRECISION_FINDINGS], const struct av_precision *r);

/* The rows that argmax and gradient can be lost of: those without NaN. */
size_t av_precision_rows(const struct av_precision_cell *cell);

/* How a dtype fares: bad with a row that is NaN; a warning with one whose argmax
 * or gradient is lost. */
enum av_severity av_precision_judge(const struct av_precision_cell *cell);

#endif
