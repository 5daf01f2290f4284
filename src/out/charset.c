/* charset.c - which characters the locale of the terminal can show. */
#include "charset.h"

#include "attnviz/canvas.h"
#include "attnviz/utf8.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>

bool av_charset_utf8(bool wanted)
{
    static const char *const names[] = { "C.UTF-8", "en_US.UTF-8", "UTF-8" };
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    for (size_t i = 0; wanted && !utf8 && i < sizeof names / sizeof names[0]; i++) {
        utf8 = setlocale(LC_CTYPE, names[i]) != NULL;
    }
    return utf8;
}

uint32_t av_charset_character(bool utf8, uint32_t code)
{
    int width = av_utf8_width(code);
    bool has = code < 0x7F || (utf8 && width > 0 && wcwidth((wchar_t)code) == width);
    return has ? code : av_glyph_ascii(code);
}
