/* lists.h - the program's tables as text, for people, scripts and the manual. */
#ifndef ATTNVIZ_LISTS_H
#define ATTNVIZ_LISTS_H

#include "attnviz/strbuf.h"

/* Names of all lists, NULL-terminated. */
extern const char *const av_list_names[];

/* Appends the list of that name (one of av_list_names): a header line, then a
 * line a row, columns separated by tabs. */
void av_list_write(struct av_str *out, const char *name);

#endif
