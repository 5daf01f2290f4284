/* facts_formats.h - the three ways to write measured claims. */
#ifndef ATTNVIZ_FACTS_FORMATS_H
#define ATTNVIZ_FACTS_FORMATS_H

#include "attnviz/facts_io.h"

/* Each appends to out, whose failures of memory the caller checks. */
void av_facts_text(struct av_str *out, const struct av_facts *facts);
void av_facts_json(struct av_str *out, const struct av_facts *facts);
void av_facts_csv(struct av_str *out, const struct av_facts *facts);

#endif
