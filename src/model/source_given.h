/* source_given.h - what reading queries and keys, and reading scores and weights, share. */
#ifndef ATTNVIZ_SOURCE_GIVEN_H
#define ATTNVIZ_SOURCE_GIVEN_H

#include "attnviz/source.h"

/* Counts what is not finite in [rows, d]; masked: -infinity is not counted. */
void av_source_count(struct av_not_finite *out, const struct av_entries *m, size_t rows, size_t d, bool masked);

#endif
