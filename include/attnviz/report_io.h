/* report_io.h - a report written as JSON, CSV or text. */
#ifndef ATTNVIZ_REPORT_IO_H
#define ATTNVIZ_REPORT_IO_H

#include "attnviz/model.h"
#include "attnviz/report.h"
#include "attnviz/report_findings.h"
#include "attnviz/strbuf.h"

enum av_format { AV_FORMAT_TEXT, AV_FORMAT_JSON, AV_FORMAT_CSV, AV_FORMAT_COUNT };

/* The snapshots of all heads of all layers, one after another: called with
 * ascending i < av_source_heads, returns NULL with *e set when one cannot be
 * computed. */
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
 * gives the other heads for the block `heads`, the rows of CSV, or a table in
 * text; it is called after everything of `s`, which may end then, is known, and
 * not for the head that s is of. found (may be NULL): is set to the findings in
 * all of them. AV_NOMEM when out has failed, AV_FAILED with head's message when
 * it returned NULL for whatever reason; out then stays as it was. */
enum av_status av_report_write(struct av_str *out, enum av_format format, const struct av_snapshot *s,
                               av_report_head head, void *ctx, struct av_findings *found, struct av_error *e);

#endif
