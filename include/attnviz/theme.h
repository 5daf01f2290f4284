/* theme.h - roles to colours, and a ramp for heat. Pure: files are the matter
 * of theme_files.h.
 *
 * A theme file is text, one `name = value` a line, # starts a comment:
 *
 *   ground  = 234/0                (what is behind everything)
 *   title   = 117/14 bold
 *   select  = 240/7 on 231/0 reverse
 *   ramp    = 17 18 19 20 25 31 36 42 113 149 155 227       (12 entries, 256-colour)
 *   ramp16  = 0 0 4 4 12 12 6 6 14 14 11 11                (12 entries of 0 .. 15)
 *
 * Names are those of AV_ROLES and the three others above. Colours are indices
 * of the 256-colour palette, behind the slash the one for 16-colour terminals
 * (it may be left out below 16); `-` is the terminal's own. `on` gives a
 * background other than ground. bold, underline and reverse may follow; they
 * stay where colour is lost, so that what stands out by its background alone
 * should be written reverse. A role that is left out looks like text. The ramp
 * goes from the least to the most heat; without one (or with twelve `-`) heat
 * is shown by glyphs alone, in the colours of the role heat. */
#ifndef ATTNVIZ_THEME_H
#define ATTNVIZ_THEME_H

#include "attnviz/canvas.h"

enum { AV_COLOR_DEFAULT = -1 };  /* the terminal's own foreground or background */
enum { AV_THEME_NAME_MAX = 64 }; /* bytes of a name, with the NUL */
#define AV_THEME_DEFAULT "dark"  /* built in */

/* How many colours there are to show. */
enum av_depth { AV_DEPTH_NONE = 0, AV_DEPTH_8 = 8, AV_DEPTH_16 = 16, AV_DEPTH_256 = 256, AV_DEPTH_TRUE = 1 << 24 };

struct av_style {
    int16_t fg, bg;     /* 256-colour index or AV_COLOR_DEFAULT */
    int16_t fg16, bg16; /* 16-colour index or AV_COLOR_DEFAULT */
    bool bold, underline, reverse;
};

struct av_theme {
    char name[AV_THEME_NAME_MAX];
    struct av_style roles[AV_ROLE_COUNT]; /* complete: backgrounds are ground's unless given */
    struct av_style ground;               /* its foreground is text's */
    int16_t ramp[AV_HEAT_LEVELS];         /* 256-colour indices, or all -1: glyphs only */
    int16_t ramp16[AV_HEAT_LEVELS];       /* 16-colour indices, or all -1 */
    bool light;                           /* the ground is light: the ramp falls in lightness */
};

/* Reads a theme from the text of a file called `where`. AV_FAILED with the
 * message `where:line: what` when it is broken; then *t is not touched. */
enum av_status av_theme_parse(struct av_theme *t, const char *name, const char *text, const char *where,
                              struct av_error *e);

/* The built-in theme AV_THEME_DEFAULT; what is always there to go on with. */
void av_theme_default(struct av_theme *t);

/* Names of the built-in themes, NULL from their count on; and the text of the
 * one of that name (themes/name.theme at build time), NULL when there is none. */
const char *av_theme_builtin_name(size_t i);
const char *av_theme_builtin_text(const char *name);

/* The style of a cell on a theme, marks and heat resolved. A heat cell has its
 * level's colour behind a glyph in the next colour of the ramp (a glyph that
 * fills most of the cell the other way round), so that the colour is true to
 * the level and the glyph can still be seen; a marked one looks like select,
 * whose colours are not in the ramp. */
struct av_style av_theme_style(const struct av_theme *t, const struct av_cell *cell);

/* The same style for a terminal of so many colours: its fg and bg are what to
 * send (with AV_DEPTH_TRUE still indices, see av_color_rgb), fg16 and bg16 the
 * same, so that styles that look alike are equal. With 8 colours the upper
 * eight of the 16 are the lower ones, as foreground in bold. Reverse is carried
 * out by swapping where both colours are known. */
struct av_style av_style_reduce(struct av_style s, enum av_depth depth);

/* Red, green, blue of a 256-colour index (xterm's values), 0xRRGGBB. */
uint32_t av_color_rgb(int index);

#endif
