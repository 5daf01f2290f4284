/* csv.h - cells of comma-separated values, quoted as in RFC 4180.
 *
 * Commas come by themselves; the caller ends each line with a newline alone.
 * Failures of memory stick in `out` (strbuf.h). */
#ifndef ATTNVIZ_CSV_H
#define ATTNVIZ_CSV_H

#include "attnviz/strbuf.h"

#include <stdbool.h>

void av_csv_comma(struct av_str *out); /* unless the line has no cell yet */
void av_csv_text(struct av_str *out, const char *text);
void av_csv_number(struct av_str *out, double x, bool whole); /* %.17g, or %.0f; empty unless finite */

#endif
