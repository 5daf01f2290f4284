/* train_io.h - a training experiment written as CSV, JSON or text. */
#ifndef ATTNVIZ_TRAIN_IO_H
#define ATTNVIZ_TRAIN_IO_H

#include "attnviz/report_io.h"
#include "attnviz/train.h"

/* CSV: a header, then a row per epoch and run, epochs ascending, the scaled run
 * before its twin: run (1 for the first of the runs trained, 2 for its twin),
 * scale (on, off), epoch and step (both from 1; step is the last of the epoch)
 * and the first AV_TRAIN_COLUMNS fields with 17 digits, empty where not
 * defined. */
void av_train_csv_header(struct av_str *out);

/* Appends the rows of epochs [from, to), counted from 0, as far as each run has
 * come. */
void av_train_csv_rows(struct av_str *out, const struct av_train *t, size_t from, size_t to);

/* Appends all that is known so far: the header and all rows, one JSON object,
 * or text in 80 columns. p: what t was configured from. AV_NOMEM when out has
 * failed. */
enum av_status av_train_write(struct av_str *out, enum av_format format, const struct av_train *t,
                              const struct av_params *p, struct av_error *e);

/* A run's state in a word or two, and what a run is called: "scale on". */
const char *av_train_state_name(enum av_train_state state);
const char *av_twin_name(enum av_twin twin);

#endif
