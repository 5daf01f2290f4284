/* wrap.c - text broken into lines. */
#include "attnviz/wrap.h"

#include "attnviz/utf8.h"

size_t av_wrap_piece(const char *text, int cells)
{
    const char *at = text;
    const char *blank = text;
    for (int used = 0, columns; *at != '\0'; used += columns) {
        const char *next = at;
        av_utf8_drawn(&next, &columns);
        blank = *at == ' ' ? at : blank;
        if (used > 0 && used + columns > cells) {
            return (size_t)((blank > text ? blank : at) - text);
        }
        at = next;
    }
    return (size_t)(at - text);
}
