/* textfile.h - small text files that a user has written: settings, themes. */
#ifndef ATTNVIZ_TEXTFILE_H
#define ATTNVIZ_TEXTFILE_H

#include "attnviz/strbuf.h"

enum { AV_TEXTFILE_MAX = 1 << 20 }; /* bytes; what is larger was not typed by hand */

/* Reads all of a regular file, or of /dev/null, into *text, which starts as
 * AV_STR_INIT; the caller frees it with av_str_free in every case. On success
 * text->text is never NULL. Never waits: a FIFO, a device or a folder is
 * refused. AV_FAILED with `PATH: why`, also for more than AV_TEXTFILE_MAX bytes
 * and for a file that holds a NUL; AV_NOMEM. *missing: it failed because there
 * is no such file. */
enum av_status av_textfile_read(struct av_str *text, const char *path, bool *missing, struct av_error *e);

#endif
