/* status.c - messages of failures. */
#include "attnviz/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts a message that filled its buffer at the start of a character, so that
 * a long file name cannot leave half a UTF-8 sequence behind. */
static void trim_partial(char *text, size_t len)
{
    size_t end = len;
    while (end > 0 && ((unsigned char)text[end - 1] & 0xC0) == 0x80) {
        end--;
    }
    if (end > 0 && ((unsigned char)text[end - 1] & 0xC0) == 0xC0) {
        text[end - 1] = '\0';
    }
}

enum av_status av_fail(struct av_error *e, enum av_status s, const char *fmt, ...)
{
    if (e != NULL) {
        va_list args;
        va_start(args, fmt);
        int n = vsnprintf(e->text, sizeof e->text, fmt, args);
        va_end(args);
        if (n >= (int)sizeof e->text) {
            trim_partial(e->text, sizeof e->text - 1);
        }
    }
    return s;
}

enum av_status av_fail_nomem(struct av_error *e, const char *what)
{
    return av_fail(e, AV_NOMEM, "%s: out of memory", what);
}
