/* strbuf.h - a growing string with a sticky failure flag.
 *
 * Callers append without checking and look at `failed` once at the end: after
 * a failed allocation further appends do nothing and the text so far stands. */
#ifndef ATTNVIZ_STRBUF_H
#define ATTNVIZ_STRBUF_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct av_str {
    char *text; /* NUL-terminated once anything was added, else NULL */
    size_t len;
    size_t cap;
    bool failed;
};

#define AV_STR_INIT                                                                                                    \
    {                                                                                                                  \
        NULL, 0, 0, false                                                                                              \
    }

void av_str_free(struct av_str *s);  /* back to AV_STR_INIT */
void av_str_clear(struct av_str *s); /* keeps the memory */
void av_str_add(struct av_str *s, const char *text);
void av_str_addn(struct av_str *s, const char *text, size_t len);
void av_str_addf(struct av_str *s, const char *fmt, ...) AV_PRINTF(2, 3);
void av_str_utf8(struct av_str *s, uint32_t code); /* one code point */
const char *av_str_text(const struct av_str *s);   /* "" when empty */

#endif
