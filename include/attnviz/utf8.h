/* utf8.h - UTF-8 text, one code point at a time. */
#ifndef ATTNVIZ_UTF8_H
#define ATTNVIZ_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at *s and moves *s behind it. A byte that is not
 * valid UTF-8 gives U+FFFD and moves one byte; at the end (NUL) returns 0
 * and stays. */
uint32_t av_utf8_next(const char **s);

/* Writes code as 1..4 bytes to out (not terminated) and returns the count. */
size_t av_utf8_put(char out[4], uint32_t code);

/* Number of code points in s: its width on screen, as long as every one is
 * one cell wide, which holds for all text this program draws. */
size_t av_utf8_len(const char *s);

#endif
