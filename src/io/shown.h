/* shown.h - names from outside, made fit for one line of a message. */
#ifndef ATTNVIZ_SHOWN_H
#define ATTNVIZ_SHOWN_H

#include "attnviz/status.h"

#include <stddef.h>

struct av_shown {
    char text[256];
};

/* The text with every control character, what turns the direction of text, and
 * every byte that is not UTF-8 replaced, so that it neither breaks the line nor
 * moves the cursor nor changes how the rest reads. A text
 * that is too long loses its beginning ("..." instead): of a path the end
 * says more, and room is left for the reason behind it. */
struct av_shown av_shown(const char *text);

/* The same in at most `limit` bytes, 4 to 255, for a line that holds more. */
struct av_shown av_shown_cut(const char *text, size_t limit);

/* AV_FAILED with `PATH: what errno says`. */
enum av_status av_fail_errno(struct av_error *e, const char *path);

#endif
