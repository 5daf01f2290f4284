/* json.h - a writer of JSON: commas, indentation and escapes come right by themselves.
 *
 * Two spaces a level; an array that starts with a number stays on one line. A
 * newline follows the outermost bracket. Failures of memory stick in `out`
 * (strbuf.h). Numbers have a point in the C locale only: LC_NUMERIC must be
 * left at "C". */
#ifndef ATTNVIZ_JSON_H
#define ATTNVIZ_JSON_H

#include "attnviz/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct av_json {
    struct av_str *out;
    int depth;
    bool comma;      /* the next value needs a comma before it */
    int inline_from; /* from this depth on all is on one line; 0: nothing is */
};

/* out is the caller's and is appended to. */
void av_json_begin(struct av_json *j, struct av_str *out);

/* name: the member's name inside an object, NULL inside an array or at the
 * top. Every object is closed with '}', every array with ']'. */
void av_json_object(struct av_json *j, const char *name);
void av_json_array(struct av_json *j, const char *name);
void av_json_close(struct av_json *j, char bracket);

void av_json_number(struct av_json *j, const char *name, double x); /* %.17g; null unless finite */
void av_json_integer(struct av_json *j, const char *name, int64_t x);
void av_json_unsigned(struct av_json *j, const char *name, uint64_t x);
/* Bytes that are not UTF-8 become U+FFFD. */
void av_json_string(struct av_json *j, const char *name, const char *text);
void av_json_bool(struct av_json *j, const char *name, bool x);
void av_json_null(struct av_json *j, const char *name);

#endif
