/* train_formats.h - the ways to write a training experiment. */
#ifndef ATTNVIZ_TRAIN_FORMATS_H
#define ATTNVIZ_TRAIN_FORMATS_H

#include "attnviz/train_io.h"

/* Each appends to out, whose failures of memory the caller checks. */
void av_train_json(struct av_str *out, const struct av_train *t, const struct av_params *p);
void av_train_text(struct av_str *out, const struct av_train *t, const struct av_params *p);

#endif
