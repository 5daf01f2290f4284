/* depth_io.h - stacks of layers written as CSV, JSON or text. */
#ifndef ATTNVIZ_DEPTH_IO_H
#define ATTNVIZ_DEPTH_IO_H

#include "attnviz/depth_study.h"
#include "attnviz/report_io.h"

/* Appends the twins that params.runs asks for, with all that is known so far:
 * medians over the seeds done.
 *
 * CSV: a header, then a row per layer and run, layers ascending, the scaled run
 * before its twin: run (1 for the first, 2 for its twin), scale (on, off), layer
 * (from 0, the input's side), all fields with 17 digits, and grad_qk: what the
 * norm of the gradient of w_q and w_k is, value, noise, zero, overflow (in the
 * layer where a number was too large) or empty (not known). A field is empty
 * where it is not known, and where it is noise, which is no number. JSON: the
 * same, with null for empty, and the sentence that is said of each run. AV_NOMEM
 * when out has failed. */
enum av_status av_depth_write(struct av_str *out, enum av_format format, const struct av_depth_study *study,
                              struct av_error *e);

#endif
