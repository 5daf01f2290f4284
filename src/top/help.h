/* help.h - what --help prints. */
#ifndef ATTNVIZ_HELP_H
#define ATTNVIZ_HELP_H

#include "attnviz/strbuf.h"

void av_help_write(struct av_str *out);

#endif
