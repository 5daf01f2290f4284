/* report_formats.h - the three ways to write a report, and what they share. */
#ifndef ATTNVIZ_REPORT_FORMATS_H
#define ATTNVIZ_REPORT_FORMATS_H

#include "attnviz/json.h"
#include "attnviz/report_io.h"

/* The pieces of a report while its heads are gone through. */
struct av_report_sheet {
    struct av_str first; /* what stands first: a header, or a summary */
    struct av_str state; /* of the state that is shown */
    struct av_str rows;  /* of all heads, in their order */
    bool from_files;
    bool has_heads; /* rows hold them */
    struct av_findings found;
};

/* A way to write a report. None of them fails but by the memory of its strings,
 * which av_report_write looks at. */
struct av_report_writer {
    void (*state)(struct av_report_sheet *sheet, const struct av_snapshot *s); /* fills first and state */
    void (*row)(struct av_str *out, const struct av_snapshot *s, size_t i);    /* of head i of all */
    void (*join)(struct av_str *out, const struct av_report_sheet *sheet);
};
extern const struct av_report_writer av_report_text, av_report_json, av_report_csv;

/* Their parts, for reports of several states in one: the members of an object; a
 * line of names (files: with those of layer and head) and one of values, each
 * ended by a newline. */
void av_report_json_members(struct av_json *j, const struct av_snapshot *s);
void av_report_csv_header(struct av_str *out, bool files);
void av_report_csv_row(struct av_str *out, const struct av_snapshot *s);

/* A parameter as a member; choices as --set takes them, seeds with all 64 bits. */
void av_report_json_param(struct av_json *j, const struct av_param *row, const struct av_params *p);

/* A tensor of a layer of the snapshot's source; bad: what the head that it shows
 * holds, NULL where that is not known, and in other layers. Fills parts, returns how
 * many; s->from_files. */
struct av_report_part {
    const char *role; /* "q", "k", "scores", "weights" */
    const struct av_source_tensor *tensor;
    const struct av_not_finite *bad;
};
size_t av_report_parts(const struct av_snapshot *s, const struct av_source_layer *layer,
                       struct av_report_part parts[AV_PARTS]);

/* Has the parameter a value here? Without queries and keys there is no d_k. */
bool av_report_has_param(const struct av_snapshot *s, const struct av_param *row);

/* Behind the last of the `count` fields that is in the same block as field i. */
size_t av_report_block_end(const struct av_field *fields, size_t count, size_t i);

/* The n_k weights of the selected query; NULL when that row is not valid, or no
 * weights are held. */
const double *av_report_query_weights(const struct av_snapshot *s);

#endif
