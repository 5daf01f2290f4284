/* strbuf.c - a growing string. */
#include "attnviz/strbuf.h"

#include "attnviz/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for len more bytes and the NUL. */
static bool reserve(struct av_str *s, size_t len)
{
    if (s->failed) {
        return false;
    }
    if (len >= s->cap - s->len) {
        size_t cap = s->cap < 256 ? 256 : s->cap;
        while (cap - s->len <= len) {
            if (cap > SIZE_MAX / 2) {
                s->failed = true;
                return false;
            }
            cap *= 2;
        }
        char *text = realloc(s->text, cap);
        if (text == NULL) {
            s->failed = true;
            return false;
        }
        s->text = text;
        s->cap = cap;
    }
    return true;
}

void av_str_free(struct av_str *s)
{
    free(s->text);
    *s = (struct av_str)AV_STR_INIT;
}

void av_str_clear(struct av_str *s)
{
    s->len = 0;
    s->failed = false;
    if (s->text != NULL) {
        s->text[0] = '\0';
    }
}

void av_str_addn(struct av_str *s, const char *text, size_t len)
{
    if (!reserve(s, len)) {
        return;
    }
    memcpy(s->text + s->len, text, len);
    s->len += len;
    s->text[s->len] = '\0';
}

void av_str_add(struct av_str *s, const char *text)
{
    av_str_addn(s, text, strlen(text));
}

void av_str_addf(struct av_str *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0) {
        s->failed = true;
    } else if (reserve(s, (size_t)n)) {
        vsnprintf(s->text + s->len, (size_t)n + 1, fmt, again);
        s->len += (size_t)n;
    }
    va_end(again);
}

void av_str_utf8(struct av_str *s, uint32_t code)
{
    char bytes[4];
    av_str_addn(s, bytes, av_utf8_put(bytes, code));
}

const char *av_str_text(const struct av_str *s)
{
    return s->text != NULL ? s->text : "";
}
