/* report.h - the fields of `attnviz report`, one table row each.
 *
 * JSON, CSV, text and the manual's list are all written from this table. */
#ifndef ATTNVIZ_REPORT_H
#define ATTNVIZ_REPORT_H

#include "attnviz/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct av_field {
    const char *block; /* "scores", "logits", ... */
    const char *name;
    const char *unit;                           /* "", "keys", "log10", AV_UNIT_NATS ... */
    const char *text;                           /* meaning, one line */
    double (*get)(const struct av_snapshot *s); /* entropies in nats; NaN: not known (null) */
    bool whole;                                 /* an integer: written without a fraction */
};

/* Units of entropies, and of their logarithms. */
#define AV_UNIT_NATS "nats"
#define AV_UNIT_LOG10_NATS "log10 nats"

/* dq_rms is null in heads of more than AV_FUSED_PAIRS pairs, and nonzero_share_mean
 * may be, see fused.h. What a snapshot must hold for all of them: enum av_need, summed. */
enum { AV_REPORT_NEEDS = AV_NEED_DQ | AV_NEED_THEORY | AV_NEED_NONZERO };

/* All scalar fields in the order in which they are written. */
const struct av_field *av_report_fields(size_t *count);
const struct av_field *av_report_field(const char *block, const char *name); /* NULL: unknown */

/* The value and its unit as the report shows them: entropies by the parameter
 * entropy_unit. */
double av_report_value(const struct av_field *field, const struct av_snapshot *s);
const char *av_report_unit(const struct av_field *field, const struct av_params *p);

/* Does this block exist for this snapshot? theory may not, scores and logits not
 * where neither queries and keys nor they are given. */
bool av_report_has_block(const struct av_snapshot *s, const char *block);

#endif
