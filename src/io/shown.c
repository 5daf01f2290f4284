/* shown.c - names from outside, made fit for one line of a message. */
#include "shown.h"

#include "attnviz/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };

static const char ellipsis[] = "...";

/* Controls, and what turns the direction of the text behind it (Unicode Standard
 * Annex 9), which would let a name change how a message reads. */
static bool is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/* The next character as it is shown; 0 at the end. */
static uint32_t next_shown(const char **s)
{
    uint32_t code = av_utf8_next(s);
    if (code == 0) {
        return 0;
    }
    return is_hidden(code) ? REPLACEMENT : code;
}

struct av_shown av_shown_cut(const char *text, size_t limit)
{
    struct av_shown shown;
    char bytes[4];
    size_t len = 0;
    for (const char *s = text; *s != '\0';) {
        len += av_utf8_put(bytes, next_shown(&s));
    }

    const char *s = text;
    size_t out = 0;
    if (len > limit) {
        out = sizeof ellipsis - 1;
        memcpy(shown.text, ellipsis, out);
        while (len + out > limit) {
            len -= av_utf8_put(bytes, next_shown(&s));
        }
    }
    while (*s != '\0') {
        size_t n = av_utf8_put(bytes, next_shown(&s));
        memcpy(shown.text + out, bytes, n);
        out += n;
    }
    shown.text[out] = '\0';
    return shown;
}

struct av_shown av_shown(const char *text)
{
    struct av_shown shown;
    return av_shown_cut(text, sizeof shown.text - 1);
}

enum av_status av_fail_errno(struct av_error *e, const char *path)
{
    const char *why = strerror(errno);
    return av_fail(e, AV_FAILED, "%s: %s", av_shown(path).text, why);
}
