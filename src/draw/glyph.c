/* glyph.c - which characters fit a cell, and their ASCII stand-ins. */
#include "attnviz/canvas.h"

#include <string.h>

struct stand_ins {
    uint32_t first;    /* code point of the first character */
    const char *ascii; /* one stand-in for each code point from there on */
};

/* In ascending order. A '?' is a gap: a character without a stand-in. Bars
 * grow as . : - = + * % # in eighths; shades as : * % #, apart from the dots of
 * the least heat. */
static const struct stand_ins table[] = {
    { 0x00A0, " !cL$Y|S\"ca<!-r-o~23'uP.,1o>????" },
    { 0x00C0, "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty" },
    { 0x0391, "ABGDEZHQIKLMNXOPR?STUFXYW" }, /* Alpha .. Omega */
    { 0x03B1, "abgdezhqiklmnxoprsstufxyw" }, /* alpha .. omega */
    { 0x1D40, "T" },                         /* transposed */
    { 0x2010, "------|_'',''\"\"\"++o>..." },
    { 0x2032, "'\"" },
    { 0x2039, "<>" },
    { 0x2070, "0i??456789+-=()n0123456789+-=()?aeoxehklmnpst" },
    { 0x2190, "<^>v-|" },
    { 0x2202, "d" },                 /* partial */
    { 0x2206, "DVe" },               /* increment, nabla, element of */
    { 0x220F, "P?S-~?/?*o.v??~o" },  /* product .. infinity: the root is a v */
    { 0x2248, "~" },                 /* almost equal */
    { 0x2260, "!=" },                /* not equal, identical */
    { 0x2264, "<>" },                /* less or equal, greater or equal */
    { 0x226A, "<>" },                /* much less, much greater */
    { 0x22C5, "." },                 /* dot operator */
    { 0x22EE, ":." },                /* ellipses */
    { 0x2423, "_" },                 /* open box: a blank made visible */
    { 0x2500, "-=||--||--::++++" },  /* lines: light, heavy, dashed */
    { 0x2510, "++++++++++++++++" },  /* corners and tees */
    { 0x2520, "++++++++++++++++" },  /* tees */
    { 0x2530, "++++++++++++++++" },  /* tees and crosses */
    { 0x2540, "++++++++++++--::" },  /* crosses, double dashes */
    { 0x2550, "=|++++++++++++++" },  /* double lines */
    { 0x2560, "++++++++++++++++" },  /* double lines, arcs */
    { 0x2570, "+/\\X-|-|-|-|-|-|" }, /* diagonals, half lines */
    { 0x2580, "\".:-=+*%#%*+=-:|=:*%-|..'#\\##'/#" },
    { 0x25A0, "#oo#######..--||--^^^^>>>>>>vvvv<<<<<<*x**ooooo*" },
    { 0x25D0, "~" },      /* half a circle */
    { 0x2713, "++xxxx" }, /* checks and crosses */
};

uint32_t av_glyph_ascii(uint32_t code)
{
    if (code >= 0x20 && code < 0x7F) {
        return code;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table && table[i].first <= code; i++) {
        uint32_t offset = code - table[i].first;
        if (offset < strlen(table[i].ascii)) {
            return (uint32_t)table[i].ascii[offset];
        }
    }
    return '?';
}

bool av_glyph_narrow(uint32_t code)
{
    /* Printable, never combining, and neutral or ambiguous in Unicode's
     * EastAsianWidth.txt. Alternating: first of a range, first behind it. */
    static const uint32_t edges[] = {
        0x0020, 0x007F, 0x00A1, 0x00AD, 0x00AE, 0x0300, 0x0370, 0x0378, 0x0384, 0x038B, 0x038E, 0x03A2,
        0x03A3, 0x0483, 0x048A, 0x0530, 0x1D00, 0x1DC0, 0x1E00, 0x1F16, 0x2010, 0x2028, 0x2030, 0x205F,
        0x2070, 0x2072, 0x2074, 0x208F, 0x2090, 0x209D, 0x20A0, 0x20C1, 0x2100, 0x218C, 0x2190, 0x231A,
        0x2423, 0x2424, 0x2500, 0x25FD, 0x2713, 0x2719, 0x2800, 0x2900, 0xFFFD, 0xFFFE,
    };
    size_t i = 0;
    while (i < sizeof edges / sizeof *edges && edges[i] <= code) {
        i++;
    }
    return i % 2 == 1;
}
