/* regular.h - opening files that have a size and an end. */
#ifndef ATTNVIZ_REGULAR_H
#define ATTNVIZ_REGULAR_H

#include "attnviz/status.h"

#include <stdint.h>
#include <sys/types.h>

/* Opens a regular file for reading, without ever waiting: *fd, which the caller
 * closes, and its size in bytes. AV_FAILED: `PATH: why`; nothing is open then. */
enum av_status av_regular_open(const char *path, int *fd, uint64_t *size, struct av_error *e);

/* Why a thing that is no regular file is not read; NULL: it is one. */
const char *av_regular_not(mode_t mode);

#endif
