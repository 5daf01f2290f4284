/* charset.h - which characters the locale of the terminal can show. */
#ifndef ATTNVIZ_CHARSET_H
#define ATTNVIZ_CHARSET_H

#include <stdbool.h>
#include <stdint.h>

/* Is the locale one of UTF-8? Where it is not and is wanted, another is taken
 * that is, if there is one. */
bool av_charset_utf8(bool wanted);

/* The character, or its ASCII stand-in where the locale lacks it or gives it
 * other columns than the canvas does: curses asks the locale where the next
 * one stands. utf8: what av_charset_utf8 said. */
uint32_t av_charset_character(bool utf8, uint32_t code);

#endif
