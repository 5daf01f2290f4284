/* glyph.c - characters and their ASCII stand-ins. */
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
    { 0x3000, " " },      /* a wide blank */
    { 0xFF01, "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~" },
    { AV_GLYPH_REST, " " },
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
