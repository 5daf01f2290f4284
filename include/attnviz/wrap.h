/* wrap.h - text broken into lines. */
#ifndef ATTNVIZ_WRAP_H
#define ATTNVIZ_WRAP_H

#include <stddef.h>

/* Bytes of the piece of text (UTF-8, in the columns of av_utf8_columns) that
 * goes on a line of so many cells: all of it, or up to the last blank that fits,
 * or of a word that is too long as much as fits, at least one character of what
 * is not empty. Blanks behind the piece are the caller's to skip. */
size_t av_wrap_piece(const char *text, int cells);

#endif
