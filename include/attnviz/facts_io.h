/* facts_io.h - measured claims written as text, JSON or CSV. */
#ifndef ATTNVIZ_FACTS_IO_H
#define ATTNVIZ_FACTS_IO_H

#include "attnviz/facts.h"
#include "attnviz/report_io.h"

/* Appends all claims to out, in the order of the table: as text in 80 columns,
 * as one JSON object, or as CSV with a header line and a row per claim. What
 * is NaN is null in JSON, empty in CSV. AV_NOMEM when out has failed. */
enum av_status av_facts_write(struct av_str *out, enum av_format format, const struct av_facts *facts,
                              struct av_error *e);

#endif
