/* outfile.h - files that are written whole or not at all. */
#ifndef ATTNVIZ_OUTFILE_H
#define ATTNVIZ_OUTFILE_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes all of data to `path` through a temporary file beside it and a
 * rename, so that a full disk or a crash leaves the old file. "-" or NULL is
 * standard output; a reader that closed the pipe is a quiet success. A path
 * that is no regular file (/dev/full, a FIFO) is written in place.
 * replace false: AV_FAILED when the path exists already. */
enum av_status av_outfile_write(const char *path, const char *data, size_t size, bool replace, struct av_error *e);

#endif
