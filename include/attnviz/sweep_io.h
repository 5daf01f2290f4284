/* sweep_io.h - the reports of a sweep, a value after another, as one text. */
#ifndef ATTNVIZ_SWEEP_IO_H
#define ATTNVIZ_SWEEP_IO_H

#include "attnviz/json.h"
#include "attnviz/over.h"
#include "attnviz/report_io.h"

struct av_sweep_out {
    struct av_str *out;
    enum av_format format;
    const struct av_over *over;
    struct av_json json;
};

/* Begins: CSV with the header of a report, JSON with the bracket of an array,
 * text with the headings of a table. p: the parameters beside the one that is
 * swept. out and over are borrowed until the end. */
void av_sweep_begin(struct av_sweep_out *w, struct av_str *out, enum av_format format, const struct av_over *over,
                    const struct av_params *p);

/* Appends one state, without files: a row of a report in CSV, an object of a
 * report in JSON, a few columns of it in text. AV_NOMEM when out has failed. */
enum av_status av_sweep_add(struct av_sweep_out *w, const struct av_snapshot *s, struct av_error *e);

/* Ends: JSON with the bracket, text with what the columns mean. */
enum av_status av_sweep_end(struct av_sweep_out *w, struct av_error *e);

#endif
