/* verdict_rules.h - rules that hold for the pipeline's head and for any other. */
#ifndef ATTNVIZ_VERDICT_RULES_H
#define ATTNVIZ_VERDICT_RULES_H

#include "attnviz/snapshot.h"

#include <stdbool.h>

/* The rows that count of a head. NaN where something is not known. */
struct av_judged_rows {
    double share;        /* with a largest weight above AV_LARGEST_ALARM */
    double std, row_std; /* of the logits: all of them, within rows */
    double freezing;     /* sqrt(2 ln n); NaN where there is no limit to hold the spread against */
    bool differ;         /* rows see different numbers of keys: freezing is a mean */
};

/* Each writes its finding to out, or returns false when there is none:
 *   saturated      warn: std > freezing or share > AV_LARGEST_SHARE; bad: share > 0.5
 *   gradient_dead  warn: more than AV_DEAD_SHARE of the rows have a Jacobian below
 *                  AV_DEAD_FRO; bad: their median is below it
 * bend: the name of what makes weights of logits. */
bool av_verdict_saturated(struct av_verdict *out, const struct av_judged_rows *rows);
bool av_verdict_dead(struct av_verdict *out, double share, double median, const char *bend);

#endif
