/* theme_parse.c - from a theme file's text to a theme. */
#include "attnviz/theme.h"

#include <string.h>

enum { NOT_GIVEN = -2 }; /* a colour that the file does not name: ground's, in the end */

struct parser {
    struct av_theme theme;
    const char *where;
    int line;
    struct av_error *e;
};

/* What is left of a line, or one word of it. */
struct words {
    const char *at;
    size_t len;
};

/* Messages quote at most this much of a word. */
enum { QUOTE_MAX = 40 };

static int quoted(struct words w)
{
    return w.len < QUOTE_MAX ? (int)w.len : QUOTE_MAX;
}

/* --- words ---------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct words trim(struct words w)
{
    while (w.len > 0 && is_blank(w.at[0])) {
        w.at++;
        w.len--;
    }
    while (w.len > 0 && is_blank(w.at[w.len - 1])) {
        w.len--;
    }
    return w;
}

/* Takes the first word off *rest; an empty one at the end. */
static struct words next_word(struct words *rest)
{
    *rest = trim(*rest);
    struct words word = { rest->at, 0 };
    while (word.len < rest->len && !is_blank(word.at[word.len])) {
        word.len++;
    }
    rest->at += word.len;
    rest->len -= word.len;
    return word;
}

static bool is_word(struct words w, const char *text)
{
    return w.len == strlen(text) && memcmp(w.at, text, w.len) == 0;
}

/* Splits w at the first c: w keeps what is before it, the rest is returned;
 * its `at` is NULL when there is no c. */
static struct words split(struct words *w, char c)
{
    const char *mark = w->len > 0 ? memchr(w->at, c, w->len) : NULL;
    if (mark == NULL) {
        return (struct words){ NULL, 0 };
    }
    struct words rest = { mark + 1, w->len - (size_t)(mark + 1 - w->at) };
    w->len = (size_t)(mark - w->at);
    return rest;
}

/* --- colours -------------------------------------------------------------- */

/* "-" or a number below count. */
static bool read_index(struct words w, int count, int16_t *index)
{
    if (is_word(w, "-")) {
        *index = AV_COLOR_DEFAULT;
        return true;
    }
    int value = 0;
    for (size_t i = 0; i < w.len; i++) {
        if (w.at[i] < '0' || w.at[i] > '9') {
            return false;
        }
        value = value * 10 + (w.at[i] - '0');
        if (value >= count) {
            return false;
        }
    }
    *index = (int16_t)value;
    return w.len > 0;
}

/* N/M, "-", or a number below 16. */
static enum av_status read_color(struct parser *p, struct words w, int16_t *index, int16_t *index16)
{
    struct words word = w;
    struct words behind = split(&w, '/');
    if (w.len == 0) {
        return av_fail(p->e, AV_FAILED, "%s:%d: a colour is missing", p->where, p->line);
    }
    if (!read_index(w, 256, index)) {
        return av_fail(p->e, AV_FAILED, "%s:%d: '%.*s' is no colour (0 to 255, or -)", p->where, p->line, quoted(w),
                       w.at);
    }
    if (behind.at == NULL && *index < 16) {
        *index16 = *index;
        return AV_OK;
    }
    if (behind.at == NULL || !read_index(behind, 16, index16)) {
        return av_fail(p->e, AV_FAILED, "%s:%d: '%.*s' needs a colour of 0 to 15 (or -) behind a slash", p->where,
                       p->line, quoted(word), word.at);
    }
    return AV_OK;
}

/* --- values --------------------------------------------------------------- */

static enum av_status read_style(struct parser *p, struct words value, struct av_style *s)
{
    enum av_status status = read_color(p, next_word(&value), &s->fg, &s->fg16);
    while (status == AV_OK) {
        struct words word = next_word(&value);
        if (word.len == 0) {
            break;
        }
        if (is_word(word, "on")) {
            status = read_color(p, next_word(&value), &s->bg, &s->bg16);
        } else if (is_word(word, "bold")) {
            s->bold = true;
        } else if (is_word(word, "underline")) {
            s->underline = true;
        } else if (is_word(word, "reverse")) {
            s->reverse = true;
        } else {
            status = av_fail(p->e, AV_FAILED, "%s:%d: '%.*s' is none of: on bold underline reverse", p->where, p->line,
                             quoted(word), word.at);
        }
    }
    return status;
}

static enum av_status read_ground(struct parser *p, struct words value, struct av_style *ground)
{
    enum av_status status = read_color(p, next_word(&value), &ground->bg, &ground->bg16);
    struct words word = next_word(&value);
    if (status == AV_OK && word.len > 0) {
        return av_fail(p->e, AV_FAILED, "%s:%d: '%.*s' behind the colour of ground", p->where, p->line, quoted(word),
                       word.at);
    }
    return status;
}

static enum av_status read_ramp(struct parser *p, struct words value, int count, int16_t *ramp)
{
    int entries = 0, defaults = 0;
    for (struct words word = next_word(&value); word.len > 0; word = next_word(&value)) {
        int16_t index;
        if (!read_index(word, count, &index)) {
            return av_fail(p->e, AV_FAILED, "%s:%d: '%.*s' is no colour (0 to %d, or -)", p->where, p->line,
                           quoted(word), word.at, count - 1);
        }
        if (entries < AV_HEAT_LEVELS) {
            ramp[entries] = index;
        }
        entries++;
        defaults += index == AV_COLOR_DEFAULT;
    }
    if (entries != AV_HEAT_LEVELS) {
        return av_fail(p->e, AV_FAILED, "%s:%d: %d colours where a ramp has %d", p->where, p->line, entries,
                       AV_HEAT_LEVELS);
    }
    if (defaults != 0 && defaults != AV_HEAT_LEVELS) {
        return av_fail(p->e, AV_FAILED, "%s:%d: a ramp has colours or - but not both", p->where, p->line);
    }
    return AV_OK;
}

/* --- lines ---------------------------------------------------------------- */

/* Settings are the roles in their order, then these. */
enum { GROUND = AV_ROLE_COUNT, RAMP, RAMP16, SETTING_COUNT };

static const char *const setting_names[SETTING_COUNT] = {
#define AV_ROLE_NAME(id, name, text) name,
    AV_ROLES(AV_ROLE_NAME)
#undef AV_ROLE_NAME
        [GROUND] = "ground",
    [RAMP] = "ramp",
    [RAMP16] = "ramp16",
};

static int find_setting(struct words name)
{
    int i = 0;
    while (i < SETTING_COUNT && !is_word(name, setting_names[i])) {
        i++;
    }
    return i;
}

static enum av_status read_value(struct parser *p, int setting, struct words value)
{
    switch (setting) {
    case GROUND:
        return read_ground(p, value, &p->theme.ground);
    case RAMP:
        return read_ramp(p, value, 256, p->theme.ramp);
    case RAMP16:
        return read_ramp(p, value, 16, p->theme.ramp16);
    default:
        return read_style(p, value, &p->theme.roles[setting]);
    }
}

/* given[setting]: the line that gave it, 0 for none. */
static enum av_status read_line(struct parser *p, struct words line, int given[SETTING_COUNT])
{
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.at[i];
        if ((c < 0x20 && !is_blank(line.at[i])) || c == 0x7F) {
            return av_fail(p->e, AV_FAILED, "%s:%d: a control character: this is no theme", p->where, p->line);
        }
    }
    split(&line, '#');
    line = trim(line);
    if (line.len == 0) {
        return AV_OK;
    }
    struct words value = split(&line, '=');
    struct words name = trim(line);
    if (value.at == NULL) {
        return av_fail(p->e, AV_FAILED, "%s:%d: a line should be: name = value", p->where, p->line);
    }
    int setting = find_setting(name);
    if (setting == SETTING_COUNT) {
        return av_fail(p->e, AV_FAILED, "%s:%d: '%.*s' is no role", p->where, p->line, quoted(name), name.at);
    }
    if (given[setting] != 0) {
        return av_fail(p->e, AV_FAILED, "%s:%d: '%s' was given in line %d already", p->where, p->line,
                       setting_names[setting], given[setting]);
    }
    given[setting] = p->line;
    return read_value(p, setting, value);
}

/* --- the whole ------------------------------------------------------------ */

static const struct av_style plain = {
    .fg = AV_COLOR_DEFAULT, .bg = NOT_GIVEN, .fg16 = AV_COLOR_DEFAULT, .bg16 = NOT_GIVEN
};

static void fill_missing(struct av_theme *t, const int given[SETTING_COUNT])
{
    for (int i = 0; i < AV_ROLE_COUNT; i++) {
        struct av_style *s = &t->roles[i];
        if (given[i] == 0) {
            *s = t->roles[AV_ROLE_TEXT];
        }
        if (s->bg == NOT_GIVEN) {
            s->bg = t->ground.bg;
            s->bg16 = t->ground.bg16;
        }
    }
    t->ground.fg = t->roles[AV_ROLE_TEXT].fg;
    t->ground.fg16 = t->roles[AV_ROLE_TEXT].fg16;
}

/* Rec. 709 luma above one half. */
static bool is_light(int index)
{
    uint32_t rgb = av_color_rgb(index);
    return 2126 * (rgb >> 16) + 7152 * (rgb >> 8 & 0xFF) + 722 * (rgb & 0xFF) > 10000 * 255 / 2;
}

enum av_status av_theme_parse(struct av_theme *t, const char *name, const char *text, const char *where,
                              struct av_error *e)
{
    struct parser p = { .where = where, .line = 0, .e = e };
    int given[SETTING_COUNT] = { 0 };
    for (int i = 0; i < AV_ROLE_COUNT; i++) {
        p.theme.roles[i] = plain;
    }
    p.theme.ground = (struct av_style){ .fg = AV_COLOR_DEFAULT, .bg = AV_COLOR_DEFAULT, .fg16 = -1, .bg16 = -1 };
    for (int i = 0; i < AV_HEAT_LEVELS; i++) {
        p.theme.ramp[i] = p.theme.ramp16[i] = AV_COLOR_DEFAULT;
    }
    struct words rest = { text, strlen(text) };
    while (rest.at != NULL) {
        struct words line = rest;
        rest = split(&line, '\n');
        p.line++;
        enum av_status status = read_line(&p, line, given);
        if (status != AV_OK) {
            return status;
        }
    }
    fill_missing(&p.theme, given);
    p.theme.light = is_light(p.theme.ground.bg);
    strncpy(p.theme.name, name, AV_THEME_NAME_MAX - 1);
    *t = p.theme;
    return AV_OK;
}
