/* text_matrix.h - rows of numbers, written as text.
 *
 *   # a comment, to the end of the line
 *   0.5 -1.25 3
 *   1e-3, 2, nan
 *
 * Numbers as strtod reads them, separated by blanks, tabs or a comma with or
 * without these; a line a row, as many numbers in each; lines without numbers
 * do not count. */
#ifndef ATTNVIZ_TEXT_MATRIX_H
#define ATTNVIZ_TEXT_MATRIX_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, but for the name, before the first bytes come. */
struct av_text_matrix {
    const char *name; /* printable, for messages */
    double *values;   /* [rows, columns]; the caller frees them with free() */
    size_t rows, columns;

    /* Where the reader is; nobody else's. */
    size_t room, count; /* of values */
    size_t line, column, in_row;
    bool comment, comma, filled;
    char token[64];
    size_t token_len, token_column;
};

/* Takes the next bytes of the text, however it is cut. AV_FAILED: `NAME: line 3,
 * column 5: why`, columns in characters; AV_NOMEM. */
enum av_status av_text_matrix_feed(struct av_text_matrix *m, const unsigned char *bytes, size_t size,
                                   struct av_error *e);

/* The text has come to its end. AV_FAILED also when there was no number. */
enum av_status av_text_matrix_end(struct av_text_matrix *m, struct av_error *e);

#endif
