/* utf8.c - decoding and encoding of UTF-8, and the columns that it takes. */
#include "attnviz/utf8.h"

#include "utf8_widths.h"

uint32_t av_utf8_next(const char **s)
{
    /* First code point that a sequence of 1 + more bytes may carry: shorter
     * ones in longer clothes are invalid. */
    static const uint32_t least[4] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *at = (const unsigned char *)*s;
    if (at[0] == 0) {
        return 0;
    }
    int more = at[0] < 0x80 ? 0 : at[0] < 0xC0 ? -1 : at[0] < 0xE0 ? 1 : at[0] < 0xF0 ? 2 : at[0] < 0xF8 ? 3 : -1;
    if (more < 0) {
        *s += 1;
        return AV_UTF8_UNKNOWN;
    }
    uint32_t code = more == 0 ? at[0] : at[0] & (0x3FU >> more);
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            *s += 1;
            return AV_UTF8_UNKNOWN;
        }
        code = code << 6 | (at[i] & 0x3FU);
    }
    if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        *s += 1;
        return AV_UTF8_UNKNOWN;
    }
    *s += more + 1;
    return code;
}

size_t av_utf8_put(char out[4], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned lead[5] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (char)(lead[n] | code);
    return n;
}

size_t av_utf8_len(const char *s)
{
    size_t n = 0;
    while (av_utf8_next(&s) != 0) {
        n++;
    }
    return n;
}

int av_utf8_width(uint32_t code)
{
    if (code >= 0x20 && code < 0x7F) {
        return 1;
    }
    /* The last range that begins at or before code lies in [low, high). */
    size_t low = 0, high = sizeof av_width_ranges / sizeof av_width_ranges[0];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (av_width_ranges[middle].first <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return av_width_ranges[low].width;
}

/* Moves *s behind the characters there that join the one before. */
static void skip_joined(const char **s)
{
    for (const char *next = *s; *next != '\0' && av_utf8_width(av_utf8_next(&next)) == 0;) {
        *s = next;
    }
}

uint32_t av_utf8_drawn(const char **s, int *columns)
{
    uint32_t code = av_utf8_next(s);
    if (code == 0) {
        *columns = 0;
        return 0;
    }
    skip_joined(s);
    int width = av_utf8_width(code);
    *columns = width < 1 ? 1 : width;
    return width < 1 ? AV_UTF8_UNKNOWN : code;
}

int av_utf8_columns(const char *s)
{
    int sum = 0;
    for (int columns; av_utf8_drawn(&s, &columns) != 0;) {
        sum += columns;
    }
    return sum;
}

size_t av_utf8_fit(const char *s, int columns)
{
    const char *end = s;
    for (int width; *end != '\0' && columns > 0;) {
        const char *next = end;
        av_utf8_drawn(&next, &width);
        if (width > columns) {
            break;
        }
        columns -= width;
        end = next;
    }
    return (size_t)(end - s);
}
