#!/usr/bin/python3
"""Columns of characters: src/base/utf8_widths.h, and with the argument "test" the
table of tests/unit/test_utf8_width.c. Run: python3 width_reference.py [test]

The rule below is applied to the Unicode Character Database that Python's
unicodedata holds (Python 3.11: Unicode 14.0.0)."""
import random
import sys
import unicodedata

LAST = 0x10FFFF
GAP = 256  # so many unassigned code points are no gap within a block any more


def unassigned(code):
    return unicodedata.category(chr(code)) == "Cn"


def width(code):
    """2, 1, 0: joined to the one before; -1: not drawn."""
    c = chr(code)
    category = unicodedata.category(c)
    if category in ("Mn", "Me"):
        return 0
    if unicodedata.bidirectional(c) in ("R", "AL", "AN"):
        return -1  # written leftwards: some terminals turn what stands beside it too
    if category == "Cf" or 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF or 0x1F3FB <= code <= 0x1F3FF:
        return 0  # joiners; Hangul vowels and finals of a syllable; skin tones
    if category in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") or 0x1F1E6 <= code <= 0x1F1FF:
        return -1  # the latter make flags in pairs, one or two columns each
    return 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1


def ranges():
    """[first, width] of each range. Small gaps go to what is before them."""
    out = [[0, -1]]
    code = 0
    while code <= LAST:
        end = code
        while end <= LAST and unassigned(end):
            end += 1
        if end - code >= GAP and out[-1][1] != -1:
            out.append([code, -1])
        code = end
        if code <= LAST:
            if out[-1][1] != width(code):
                out.append([code, width(code)])
            code += 1
    return out


def samples():
    """Assigned characters: known ones, and some at random beside an edge of the table."""
    known = "\t A~\x7f é\u00ad√█…␣\u0301Яקم٣กिक\u200b\u200d\u2028\u231a─\u2764\ufe0f、あカ\u3099\u3000注意力한\u1100\u1161"
    known += "\ue000\ufb01\uff21\uff61\uffe9\ufffd\U0001d400\U0001f1e9\U0001f3fd\U0001f600\U00020000\U000e0041\U0010fffd"
    codes = {ord(c) for c in known}
    edges = [first for first, _ in ranges()[1:]]
    random.seed(1)
    for first in random.sample(edges, 60):
        codes |= {code for code in (first - 1, first) if not unassigned(code) and not 0xD800 <= code < 0xE000}
    return sorted(codes)


def rows(pairs):
    for i in range(0, len(pairs), 6):
        print("    " + " ".join("{ 0x%04X, %d }," % tuple(pair) for pair in pairs[i : i + 6]))


if sys.argv[1:] == ["test"]:
    rows([(code, width(code)) for code in samples()])
else:
    print("""/* utf8_widths.h - columns of characters, made by tests/reference/width_reference.py
 * from the Unicode Character Database %s. */
#ifndef ATTNVIZ_UTF8_WIDTHS_H
#define ATTNVIZ_UTF8_WIDTHS_H

#include <stdint.h>

/* In ascending order: the columns of the characters from `first` on. */
static const struct av_width_range {
    uint32_t first;
    int width;
} av_width_ranges[] = {""" % unicodedata.unidata_version)
    rows(ranges())
    print("};\n\n#endif")
