/* outfile.h - files that are written whole or not at all. */
#ifndef ATTNVIZ_OUTFILE_H
#define ATTNVIZ_OUTFILE_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes all of data to `path` through a temporary file beside it and a
 * rename, so that a full disk or a crash leaves the old file; C-c and the like
 * come before it or after it. A new file gets the mode that the umask allows,
 * a replaced one keeps its own; a symbolic link stays and the file it leads to
 * is written. A path that is no regular file (/dev/full, a FIFO) is written in
 * place. "-" or NULL is standard output; a reader that closed the pipe is a
 * quiet success (with SIGPIPE ignored; by default the signal ends the process
 * first).
 * replace false: AV_FAILED when the path exists already, as whatever, also
 * when it comes into being at the same moment.
 * AV_FAILED with `PATH: why` or `standard output: why`; then nothing has
 * changed, but for what is written in place. */
enum av_status av_outfile_write(const char *path, const char *data, size_t size, bool replace, struct av_error *e);

#endif
