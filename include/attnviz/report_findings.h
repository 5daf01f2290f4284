/* report_findings.h - what the verdicts of several heads have in common. */
#ifndef ATTNVIZ_REPORT_FINDINGS_H
#define ATTNVIZ_REPORT_FINDINGS_H

#include "attnviz/diagnosis.h"
#include "attnviz/strbuf.h"

/* What there is to say of a state, the worst first: the pipeline's verdicts but those
 * that the head's diagnosis replaces, if it was made, and of that the findings
 * whose text is not among them. Fills out, returns how many. */
enum { AV_REPORT_VERDICTS = AV_VERDICTS_MAX + AV_DIAGNOSIS_FINDINGS };
size_t av_report_verdicts(const struct av_snapshot *s, const struct av_verdict *out[AV_REPORT_VERDICTS]);

/* The same, but of each code the worst alone: of several tensors that hold NaN, the first. */
size_t av_report_codes(const struct av_snapshot *s, const struct av_verdict *out[AV_REPORT_VERDICTS]);

const char *av_report_severity(enum av_severity severity); /* "info", "warn", "bad" */

/* A code in one of its severities, and the first head that has it: the layer as
 * the file counts it, and the head's verdict. */
struct av_finding {
    struct av_verdict verdict;
    size_t heads; /* that have it */
    size_t first; /* of all heads of a source the first one that has it */
    size_t layer, head;
};

/* Of heads that were added one by one; zeroed: of none. There are fewer codes
 * than there is room for. */
enum { AV_FINDINGS_MAX = 96 };
struct av_findings {
    size_t heads;
    size_t count;
    struct av_finding at[AV_FINDINGS_MAX]; /* the worst first, then those of most heads, then as in verdict_table.h */
};

/* Adds head `place` of its source's, or a state without files; each once, in
 * any order. */
void av_findings_add(struct av_findings *f, const struct av_snapshot *s, size_t place);

/* The worst severity; -1: there are none. */
int av_findings_worst(const struct av_findings *f);

/* "nan_input in 1 of 4 heads, saturated in 2 of 4 heads": those of `least` and
 * worse; without the heads where there is one. */
void av_findings_words(struct av_str *out, const struct av_findings *f, enum av_severity least);

#endif
