/* report_text.h - the parts of a report for people. */
#ifndef ATTNVIZ_REPORT_TEXT_H
#define ATTNVIZ_REPORT_TEXT_H

#include "report_formats.h"

/* Columns of a line, where words can be broken off, and where what is said
 * behind a severity goes on. */
enum { AV_REPORT_TEXT_W = 100, AV_REPORT_TEXT_AT = 7 };

/* Appends text that begins in column `x` and goes on in lines that begin in column
 * `indent`, and a newline. */
void av_report_text_wrap(struct av_str *out, const char *text, int x, int indent);

/* How the files are read, where that was guessed, and what is not used of them. */
void av_report_text_told(struct av_str *out, const struct av_source *source);

struct av_report_number {
    char text[32];
};

/* Six digits, or a whole number; "-" for what is not known. */
struct av_report_number av_report_text_number(double x, bool whole);

/* The verdicts, tensors, parameters and numbers of a state. */
void av_report_text_state(struct av_str *out, const struct av_snapshot *s);

#endif
