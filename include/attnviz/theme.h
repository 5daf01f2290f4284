/* theme.h - roles to colours, and a ramp for heat.
 *
 * A theme file is text, one `name = value` a line, # starts a comment:
 *
 *   title   = 117/14 bold
 *   warn    = 214/11 on 235/0
 *   ground  = 16/0                 (what is behind everything)
 *   ramp    = 53 54 25 60 242 30 36 72 42 113 148 220      (12 entries, 256-colour)
 *   ramp16  = 0 4 6 2 3 7 ...       (12 entries of 0 .. 15)
 *
 * Colours are indices of the 256-colour palette, behind the slash the one for
 * 16-colour terminals (of which 8-colour ones use the lower eight); `-` is
 * the terminal's own. bold, underline and reverse may follow. */
#ifndef ATTNVIZ_THEME_H
#define ATTNVIZ_THEME_H

#include "attnviz/canvas.h"

enum { AV_COLOR_DEFAULT = -1 };

struct av_style {
    int16_t fg, bg;     /* 256-colour index or AV_COLOR_DEFAULT */
    int16_t fg16, bg16; /* 16-colour index or AV_COLOR_DEFAULT */
    bool bold, underline, reverse;
};

struct av_theme {
    char name[64];
    struct av_style roles[AV_ROLE_COUNT];
    struct av_style ground;
    int16_t ramp[AV_HEAT_LEVELS]; /* 256-colour indices, or all -1: glyphs only */
    int16_t ramp16[AV_HEAT_LEVELS];
    bool light; /* the ground is light: the ramp falls in lightness */
};

/* Reads a theme from the text of a file called `where` (for messages:
 * `where:line: what`). On failure *t is not touched. */
enum av_status av_theme_parse(struct av_theme *t, const char *name, const char *text, const char *where,
                              struct av_error *e);

/* The themes built in (from themes/ at build time), dark first. */
const struct av_theme *av_themes_builtin(size_t *count);

/* Finds `name_or_path`: a path when it has a slash, else the user's folder
 * ($XDG_CONFIG_HOME/attnviz/themes or ~/.config/...), the system's, the
 * built-in ones. On failure *t is not touched. */
enum av_status av_theme_load(struct av_theme *t, const char *name_or_path, struct av_error *e);

/* The style of a cell on a theme, marks and heat resolved. */
struct av_style av_theme_style(const struct av_theme *t, const struct av_cell *cell);

/* Red, green, blue of a 256-colour index (xterm's values), 0xRRGGBB. */
uint32_t av_color_rgb(int index);

#endif
