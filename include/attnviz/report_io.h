/* report_io.h - a report written as JSON, CSV or text. */
#ifndef ATTNVIZ_REPORT_IO_H
#define ATTNVIZ_REPORT_IO_H

#include "attnviz/diagnosis.h"
#include "attnviz/model.h"
#include "attnviz/report.h"
#include "attnviz/strbuf.h"

/* What there is to say of a state: the pipeline's verdicts, and of the head's
 * diagnosis, if it was made, the findings that the pipeline does not have. Fills
 * out, returns how many. */
enum { AV_REPORT_VERDICTS = AV_VERDICTS_MAX + AV_DIAGNOSIS_FINDINGS };
size_t av_report_verdicts(const struct av_snapshot *s, const struct av_verdict *out[AV_REPORT_VERDICTS]);

/* The severity of the worst of them; -1: there are none. */
int av_report_worst(const struct av_snapshot *s);

enum av_format { AV_FORMAT_TEXT, AV_FORMAT_JSON, AV_FORMAT_CSV, AV_FORMAT_COUNT };

/* The snapshots of all heads of all layers, one after another: called with
 * i = 0 .. av_source_heads - 1, returns NULL with *e set when one cannot be computed. */
typedef const struct av_snapshot *(*av_report_head)(void *ctx, size_t i, struct av_error *e);

/* An av_report_head for the source that a model uses: ctx is a struct
 * av_report_heads, whose parameters it moves from head to head. The model's
 * snapshot is that of the last head then. */
struct av_report_heads {
    struct av_model *model;
    const struct av_source *source;
    struct av_params params;
};
void av_report_place(struct av_report_heads *heads, size_t i); /* the parameters to head i */
const struct av_snapshot *av_report_model_head(void *ctx, size_t i, struct av_error *e);

/* Appends the report of `s` to out. With files, `head` (may be NULL: none)
 * gives each head for the block `heads`, the rows of CSV, or a table in text;
 * it is called after everything of `s` has been written, which may end then.
 * AV_NOMEM when out has failed, AV_FAILED with head's message when it returned
 * NULL for whatever reason; out then holds a part. */
enum av_status av_report_write(struct av_str *out, enum av_format format, const struct av_snapshot *s,
                               av_report_head head, void *ctx, struct av_error *e);

#endif
