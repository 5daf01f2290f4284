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

/* Number of code points in s. */
size_t av_utf8_len(const char *s);

/* Columns that a character takes on a terminal:
 *   2   East Asian wide and fullwidth ones, most emoji;
 *   1   every other one that is drawn;
 *   0   what joins the one before it: combining marks, joiners, variation
 *       selectors, skin tones, vowels and finals of taken-apart Hangul. It is
 *       left out, the character before it stands alone: U+0065 U+0301 is "e";
 *  -1   what is not drawn: control characters, private ones, halves of flags,
 *       and those written from right to left, for which some terminals turn
 *       what stands beside them. AV_UTF8_UNKNOWN stands for it, one column.
 * By Unicode 14.0.0: general category, bidirectional class, East_Asian_Width
 * (UAX 11; ambiguous ones are narrow). A code point that is not assigned there is
 * like those before it, in larger gaps -1. Other libraries may know another
 * version: who hands text to them compares. */
int av_utf8_width(uint32_t code);
enum { AV_UTF8_UNKNOWN = 0xFFFD };

/* The character at *s as it is drawn, in *columns 1 or 2; *s moves behind what
 * joins it. One that is not drawn, or joins nothing, gives AV_UTF8_UNKNOWN. At
 * the end 0, in 0 columns. */
uint32_t av_utf8_drawn(const char **s, int *columns);

/* Columns that s takes on a terminal. */
int av_utf8_columns(const char *s);

/* Bytes of the longest beginning of s that takes at most so many columns. */
size_t av_utf8_fit(const char *s, int columns);

#endif
