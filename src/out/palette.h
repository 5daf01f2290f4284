/* palette.h - the few colour pairs that a theme needs, numbered once.
 *
 * Terminals of 8 colours have 64 pairs, and changing a pair repaints what was
 * painted with it: a theme's pairs are fixed, and never recycled. */
#ifndef ATTNVIZ_PALETTE_H
#define ATTNVIZ_PALETTE_H

#include "attnviz/theme.h"

enum { AV_PAIRS_MAX = 127 };

struct av_pair {
    int16_t fg, bg; /* colour indices or AV_COLOR_DEFAULT */
};

struct av_palette {
    struct av_pair pairs[AV_PAIRS_MAX]; /* pair i has number i + 1; 0 is the terminal's own */
    int count;
};

/* Collects the pairs of every cell that can be drawn on this theme: at most
 * `most`, the number of the last one. */
void av_palette_make(struct av_palette *p, const struct av_theme *t, enum av_depth depth, int most);

/* The number of a reduced style's pair; 0 when it has none. */
int av_palette_pair(const struct av_palette *p, const struct av_style *s);

#endif
