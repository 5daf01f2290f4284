/* theme.c - the themes built in, and what a cell looks like on a theme. */
#include "attnviz/theme.h"

#include <string.h>

static const struct {
    const char *name, *text;
} builtin[] = {
#define X(name, text) { name, text },
#include "themes.inc"
#undef X
};

const char *av_theme_builtin_name(size_t i)
{
    return i < sizeof builtin / sizeof *builtin ? builtin[i].name : NULL;
}

const char *av_theme_builtin_text(const char *name)
{
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++) {
        if (strcmp(builtin[i].name, name) == 0) {
            return builtin[i].text;
        }
    }
    return NULL;
}

void av_theme_default(struct av_theme *t)
{
    /* An empty theme is a valid one: what is left should the built-in text
     * not parse, which the tests rule out. */
    av_theme_parse(t, AV_THEME_DEFAULT, "", AV_THEME_DEFAULT, NULL);
    const char *text = av_theme_builtin_text(AV_THEME_DEFAULT);
    if (text != NULL) {
        av_theme_parse(t, AV_THEME_DEFAULT, text, AV_THEME_DEFAULT, NULL);
    }
}

/* Background and glyph of a heat level. Glyphs that cover more than half of
 * their cell carry the level's own colour. */
static void heat_colors(const int16_t *ramp, const struct av_cell *cell, int16_t *fg, int16_t *bg)
{
    if (ramp[0] == AV_COLOR_DEFAULT) {
        return;
    }
    int level = cell->level < AV_HEAT_LEVELS ? cell->level : AV_HEAT_LEVELS - 1;
    int next = level;
    /* A ramp of 16 colours repeats some: the next that differs. */
    while (next < AV_HEAT_LEVELS - 1 && ramp[next] == ramp[level]) {
        next++;
    }
    const uint32_t dark_shade = 0x2593, full_block = 0x2588;
    bool covered = cell->code == dark_shade || cell->code == full_block;
    *fg = ramp[covered ? level : next];
    *bg = ramp[covered ? next : level];
}

struct av_style av_theme_style(const struct av_theme *t, const struct av_cell *cell)
{
    enum av_role role = cell->role < AV_ROLE_COUNT ? (enum av_role)cell->role : AV_ROLE_TEXT;
    struct av_style s = t->roles[role];
    if (role == AV_ROLE_HEAT && cell->mark) {
        s = t->roles[AV_ROLE_SELECT];
    } else if (role == AV_ROLE_HEAT) {
        heat_colors(t->ramp, cell, &s.fg, &s.bg);
        heat_colors(t->ramp16, cell, &s.fg16, &s.bg16);
    }
    s.reverse = s.reverse || cell->mark;
    return s;
}
