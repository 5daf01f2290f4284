/* heads_progress.h - how far a report over heads is, told on a terminal. */
#ifndef ATTNVIZ_HEADS_PROGRESS_H
#define ATTNVIZ_HEADS_PROGRESS_H

#include "attnviz/source.h"
#include "progress.h"

/* A zeroed one tells nothing. */
struct av_heads_progress {
    struct av_progress line;
    char what[64]; /* "head 5 of 32" */
    const struct av_source *source;
    size_t heads, begun;    /* of them all, and how many were begun */
    double all, done, head; /* work: of all heads, of those that are done, of the one begun last */
};

/* Of all heads of a source, each of which will be begun once. */
void av_heads_progress_begin(struct av_heads_progress *p, const struct av_source *source);

/* A head of that layer begins, and so the one before is done. */
void av_heads_progress_head(struct av_heads_progress *p, size_t layer);

/* So much of it is done, 0 .. 1: "head 5 of 32:  14%, 12 s left", of all. */
void av_heads_progress_share(struct av_heads_progress *p, double share);

void av_heads_progress_end(struct av_heads_progress *p); /* clears the line */

#endif
