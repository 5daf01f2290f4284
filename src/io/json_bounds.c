/* json_bounds.c - is a JSON text small and flat enough to be parsed? */
#include "json_bounds.h"

#include <string.h>

/* Moves *i from the quote that begins a string to the one that ends it, or to
 * the end of the text. */
static const char *skip_string(const char *text, size_t size, size_t *i)
{
    for (++*i; *i < size && text[*i] != '"'; ++*i) {
        if ((unsigned char)text[*i] < 0x20) {
            return "a control character in a string";
        }
        if (text[*i] == '\\') {
            if (size - *i > 5 && memcmp(text + *i, "\\u0000", 6) == 0) {
                return "a NUL in a string";
            }
            ++*i;
        }
    }
    return NULL;
}

/* Values are what stands between these: one more than commas in anything that is
 * not empty, and one behind each name. */
const char *av_json_bounds(const char *text, size_t size, const struct av_json_bounds *bounds, size_t *at)
{
    size_t depth = 0;
    size_t values = 1;
    const char *wrong = NULL;
    for (*at = 0; *at < size && wrong == NULL; ++*at) {
        switch (text[*at]) {
        case '"':
            wrong = skip_string(text, size, at);
            break;
        case '[':
        case '{':
            depth++;
            values++;
            break;
        case ']':
        case '}':
            depth -= depth > 0;
            break;
        case ',':
        case ':':
            values++;
            break;
        case '\0':
            wrong = "a NUL";
            break;
        default:
            break;
        }
        if (wrong == NULL && depth > bounds->depth) {
            wrong = "nested too deep";
        }
        if (wrong == NULL && values > bounds->values) {
            wrong = "too many values";
        }
    }
    *at -= wrong != NULL; /* the loop has moved on */
    return wrong;
}
