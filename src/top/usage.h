/* usage.h - what --help prints. */
#ifndef ATTNVIZ_USAGE_H
#define ATTNVIZ_USAGE_H

#include "attnviz/strbuf.h"

void av_usage_write(struct av_str *out);

#endif
