/* json.h - a writer of JSON that cannot nest wrongly. */
#ifndef ATTNVIZ_JSON_H
#define ATTNVIZ_JSON_H

#include "attnviz/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct av_json {
    struct av_str *out;
    int depth;
    bool comma;      /* the next value needs a comma before it */
    int inline_from; /* arrays of numbers stay on one line from this depth on */
};

void av_json_begin(struct av_json *j, struct av_str *out);
/* name: the member's name inside an object, NULL inside an array or at the top. */
void av_json_object(struct av_json *j, const char *name);
void av_json_array(struct av_json *j, const char *name);
void av_json_close(struct av_json *j, char bracket);                /* '}' or ']' */
void av_json_number(struct av_json *j, const char *name, double x); /* %.17g; null unless finite */
void av_json_integer(struct av_json *j, const char *name, int64_t x);
void av_json_unsigned(struct av_json *j, const char *name, uint64_t x);
void av_json_string(struct av_json *j, const char *name, const char *text);
void av_json_bool(struct av_json *j, const char *name, bool b);
void av_json_null(struct av_json *j, const char *name);

#endif
