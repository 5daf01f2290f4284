/* run_depth.h - `attnviz train --set task=depth`: stacks of layers, without a terminal. */
#ifndef ATTNVIZ_RUN_DEPTH_H
#define ATTNVIZ_RUN_DEPTH_H

#include "attnviz/params.h"
#include "options.h"

/* Computes the twins over all seeds, or until C-c, and writes what is known:
 * the rows so far when interrupted (AV_INTERRUPTED). An overflow is a finding,
 * not a failure. */
enum av_status av_run_depth(const struct av_params *p, const struct av_options *o, struct av_error *e);

#endif
