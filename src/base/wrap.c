/* wrap.c - text broken into lines. */
#include "attnviz/wrap.h"

#include "attnviz/utf8.h"

size_t av_wrap_piece(const char *text, int cells)
{
    const char *at = text;
    const char *blank = text;
    for (int n = 0; *at != '\0'; n++) {
        blank = *at == ' ' ? at : blank;
        if (n > 0 && n >= cells) {
            return (size_t)((blank > text ? blank : at) - text);
        }
        av_utf8_next(&at);
    }
    return (size_t)(at - text);
}
