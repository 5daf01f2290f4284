/* json_bounds.h - is a JSON text small and flat enough to be parsed? */
#ifndef ATTNVIZ_JSON_BOUNDS_H
#define ATTNVIZ_JSON_BOUNDS_H

#include <stddef.h>

/* What a parser may meet. */
struct av_json_bounds {
    size_t depth;  /* of objects and arrays in each other */
    size_t values; /* all of them, and names of members */
};

/* Looks through the text without building anything, so that what a parser
 * allocates and how deep it recurses are known before. NULL: within the bounds,
 * and without NUL, raw or escaped, which ends strings for C; *at is unspecified.
 * Else what is wrong, at the byte *at. Whether it is JSON is the parser's to say. */
const char *av_json_bounds(const char *text, size_t size, const struct av_json_bounds *bounds, size_t *at);

#endif
