/* palette.c - the few colour pairs that a theme needs, numbered once. */
#include "palette.h"

int av_palette_pair(const struct av_palette *p, const struct av_style *s)
{
    for (int i = 0; i < p->count; i++) {
        if (p->pairs[i].fg == s->fg && p->pairs[i].bg == s->bg) {
            return i + 1;
        }
    }
    return 0;
}

static void add(struct av_palette *p, const struct av_theme *t, enum av_depth depth, const struct av_cell *cell,
                int most)
{
    struct av_style s = av_style_reduce(av_theme_style(t, cell), depth);
    bool own = s.fg == AV_COLOR_DEFAULT && s.bg == AV_COLOR_DEFAULT;
    if (!own && av_palette_pair(p, &s) == 0 && p->count < most && p->count < AV_PAIRS_MAX) {
        p->pairs[p->count++] = (struct av_pair){ s.fg, s.bg };
    }
}

void av_palette_make(struct av_palette *p, const struct av_theme *t, enum av_depth depth, int most)
{
    p->count = 0;
    for (int mark = 0; mark < 2; mark++) {
        for (int role = 0; role < AV_ROLE_COUNT; role++) {
            struct av_cell cell = { .code = ' ', .role = (uint8_t)role, .mark = mark != 0 };
            add(p, t, depth, &cell, most);
        }
        for (int level = 0; level < AV_HEAT_LEVELS; level++) {
            static const uint32_t glyphs[] = { ' ', 0x2588 }; /* light ones and heavy ones swap colours */
            for (size_t i = 0; i < sizeof glyphs / sizeof glyphs[0]; i++) {
                struct av_cell cell = { glyphs[i], AV_ROLE_HEAT, (uint8_t)level, mark != 0 };
                add(p, t, depth, &cell, most);
            }
        }
    }
}
