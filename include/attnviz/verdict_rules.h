/* verdict_rules.h - rules that hold for the pipeline's head and for any other. */
#ifndef ATTNVIZ_VERDICT_RULES_H
#define ATTNVIZ_VERDICT_RULES_H

#include "attnviz/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

/* The rows that count of a head. NaN where something is not known. */
struct av_judged_rows {
    double share;        /* with a largest weight above AV_LARGEST_ALARM */
    double std, row_std; /* of the logits: all of them, within rows; beyond double counts as wide */
    double freezing;     /* sqrt(2 ln n); NaN where there is no limit to hold the spread against */
    bool differ;         /* rows see different numbers of keys: freezing is a mean */
    bool no_logits;      /* weights are all there is: of spread nothing is said */
};

/* Why such a head is called saturated, by the worst of these that holds. Of the
 * spread alone: with logits N(0, s^2) of many keys the largest weight is near 1
 * once s exceeds sqrt(2 ln n) (theory.h), but a trained model's logits are not
 * N(0, 1), and the rows that it holds for must be counted. */
enum av_saturated {
    AV_SATURATED_NOT,
    AV_SATURATED_SPREAD, /* warn: std > freezing, and no more than AV_LARGEST_SHARE of the rows */
    AV_SATURATED_ROWS,   /* warn: share > AV_LARGEST_SHARE */
    AV_SATURATED_FROZEN  /* bad: share > AV_FROZEN_SHARE */
};

#define AV_FROZEN_SHARE 0.5

enum av_saturated av_verdict_saturation(const struct av_judged_rows *rows);

/* Each writes its finding to out, or returns false when there is none:
 *   saturated      as av_verdict_saturation says; the text tells which it is
 *   gradient_dead  warn: more than AV_DEAD_SHARE of the rows have a Jacobian below
 *                  AV_DEAD_FRO; bad: their median is below it
 * bend: the name of what makes weights of logits. */
bool av_verdict_saturated(struct av_verdict *out, const struct av_judged_rows *rows);
bool av_verdict_dead(struct av_verdict *out, double share, double median, const char *bend);

/* Numbers of one kind in a head of a tensor, and the first of them. */
struct av_verdict_holes {
    const char *tensor; /* its name */
    size_t layer, head; /* as the file counts layers; from 0 */
    uint64_t count;     /* > 0 */
    size_t row, column; /* of the first */
};

/* nan_input, or inf_input: bad, with the first position. */
void av_verdict_not_finite(struct av_verdict *out, bool nan, const struct av_verdict_holes *holes);

#endif
