/* files.h - files that hold queries and keys, scores or weights, as a source.
 *
 * One file holds everything; what is what is found by find.h. Of several files the
 * first holds the queries, the second the keys and a third weights or scores: the
 * only tensor of each, or of several those that find.h takes for them. The only tensor
 * of the third is weights unless its name or the options say scores. Files stay open,
 * and heads are read when they are asked for. */
#ifndef ATTNVIZ_FILES_H
#define ATTNVIZ_FILES_H

#include "attnviz/find.h"
#include "attnviz/source.h"

struct av_files_options {
    struct av_find_options find;
    size_t batch;       /* of tensors that hold several sequences, the one that is read, from 0 */
    const char *tokens; /* path of a file of labels; NULL: none */
};

struct av_files;

/* Opens one to three paths (dump.h; - is text on standard input). The file of
 * labels has one a line, as many as the longest layer has positions.
 *
 * AV_FAILED: a file cannot be read, what it holds cannot be found (find.h), or
 * does not go together: queries and keys of different d_k, scores or weights of
 * other sizes; AV_USAGE: options that contradict each other or the files;
 * AV_NOMEM. *out is NULL then. The caller closes it. */
enum av_status av_files_open(struct av_files **out, const char *const *paths, size_t count,
                             const struct av_files_options *options, struct av_error *e);
void av_files_close(struct av_files *f); /* NULL is fine */

/* Valid until the files are closed. Where scores or weights lack the axis of
 * heads, all heads of the layer have the same. */
const struct av_source *av_files_source(const struct av_files *f);

#endif
