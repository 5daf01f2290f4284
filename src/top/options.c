/* options.c - the table of options, and what each does. */
#include "options.h"

#include "attnviz/over.h"
#include "attnviz/snapshot.h"
#include "attnviz/view.h"
#include "commands.h"
#include "lists.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

/* ---- What an option does ---- */

static enum av_status set_text(const char **slot, const char *value)
{
    *slot = value;
    return AV_OK;
}

/* What messages call an option: its name in the settings file if it has one,
 * for that is where the value may have come from. */
static const char *shown(const struct av_option *row)
{
    return row->setting != NULL ? row->setting : row->name;
}

/* The index of `value` among names, or an error that lists them. */
static enum av_status pick(const struct av_option *row, const char *const *names, const char *value, int *index,
                           struct av_error *e)
{
    struct av_str list = AV_STR_INIT;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], value) == 0) {
            av_str_free(&list);
            *index = i;
            return AV_OK;
        }
        av_str_addf(&list, " %s", names[i]);
    }
    av_fail(e, AV_USAGE, "%s %s: not one of%s", shown(row), value, av_str_text(&list));
    av_str_free(&list);
    return AV_USAGE;
}

#define SETTER(name)                                                                                                   \
    static enum av_status name(struct av_options *o, const struct av_option *row, const char *value, struct av_error *e)
/* A setter that needs no more than the value. */
#define UNUSED_ROW ((void)row, (void)e)

static bool assigns(const char *assignment, const char *name)
{
    size_t len = strlen(name);
    return strncmp(assignment, name, len) == 0 && assignment[len] == '=';
}

SETTER(set_param)
{
    (void)row;
    static const char *const sizes[] = { "d_k", "n_q", "n_k" };
    static const char *const multipliers[] = { "scale", "exponent", "temperature", "variant" };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (assigns(value, sizes[i])) {
            o->size_set = sizes[i];
        }
    }
    for (size_t i = 0; i < sizeof multipliers / sizeof multipliers[0]; i++) {
        o->multiplier_set = o->multiplier_set || assigns(value, multipliers[i]);
    }
    o->logits_set = o->logits_set || assigns(value, "logits");
    o->mask_set = o->mask_set || assigns(value, "mask");
    return av_params_set_text(&o->params, value, e);
}

/* Of what is in files: a name. */
static enum av_status set_file_text(struct av_options *o, const struct av_option *row, const char **slot,
                                    const char *value)
{
    o->of_files = row->name;
    return set_text(slot, value);
}

/* Of what is in files: a whole number, `least` or more. */
static enum av_status set_file_number(struct av_options *o, const struct av_option *row, size_t *slot,
                                      const char *value, size_t least, struct av_error *e)
{
    static const size_t most = 1 << 24;
    size_t x = 0;
    const char *at = value;
    o->of_files = row->name;
    for (; *at >= '0' && *at <= '9' && x <= most; at++) {
        x = x * 10 + (size_t)(*at - '0');
    }
    if (at == value || *at != '\0' || x < least || x > most) {
        return av_fail(e, AV_USAGE, "--%s %s: not a whole number from %zu to %zu", row->name, value, least, most);
    }
    *slot = x;
    return AV_OK;
}

#define FILE_TEXT(name, slot)                                                                                          \
    SETTER(name)                                                                                                       \
    {                                                                                                                  \
        (void)e;                                                                                                       \
        return set_file_text(o, row, &o->files_as.slot, value);                                                        \
    }
#define FILE_NUMBER(name, slot, least)                                                                                 \
    SETTER(name)                                                                                                       \
    {                                                                                                                  \
        return set_file_number(o, row, &o->files_as.slot, value, least, e);                                            \
    }

FILE_TEXT(set_q, find.q)
FILE_TEXT(set_k, find.k)
FILE_TEXT(set_weights, find.weights)
FILE_TEXT(set_scores, find.scores)
FILE_TEXT(set_layout, find.layout)
FILE_TEXT(set_tokens, tokens)
FILE_NUMBER(set_n_head, find.n_head, 1)
FILE_NUMBER(set_n_head_kv, find.n_head_kv, 1)
FILE_NUMBER(set_d_k, find.d_k, 1)
FILE_NUMBER(set_batch, batch, 0)

static const char *const SEVERITIES[] = { "warn", "bad", NULL };

SETTER(set_fail_on)
{
    int i = 0;
    enum av_status s = pick(row, SEVERITIES, value, &i, e);
    if (s == AV_OK) {
        o->fail_on = i == 0 ? AV_WARN : AV_BAD;
    }
    return s;
}

SETTER(set_keys)
{
    UNUSED_ROW;
    return set_text(&o->keys, value);
}

SETTER(set_view)
{
    if (av_view_find(value) == NULL) {
        return av_fail(e, AV_USAGE, "%s %s: unknown view; --list views lists them", shown(row), value);
    }
    return set_text(&o->view, value);
}

SETTER(set_theme)
{
    UNUSED_ROW;
    return set_text(&o->theme, value);
}

static const char *const COLORS[] = { "auto", "never", "8", "16", "256", "true", NULL };

void av_options_auto_color(struct av_options *o)
{
    const char *no_color = getenv("NO_COLOR");
    o->depth_auto = no_color == NULL || *no_color == '\0';
    o->depth = o->depth_auto ? AV_DEPTH_256 : AV_DEPTH_NONE;
}

SETTER(set_color)
{
    static const enum av_depth depths[] = { [1] = AV_DEPTH_NONE, AV_DEPTH_8, AV_DEPTH_16, AV_DEPTH_256, AV_DEPTH_TRUE };
    int i = 0;
    enum av_status s = pick(row, COLORS, value, &i, e);
    if (s == AV_OK && i == 0) {
        av_options_auto_color(o);
    } else if (s == AV_OK) {
        o->depth_auto = false;
        o->depth = depths[i];
    }
    return s;
}

SETTER(set_no_color)
{
    UNUSED_ROW;
    (void)value;
    o->depth_auto = false;
    o->depth = AV_DEPTH_NONE;
    return AV_OK;
}

static const char *const CHARSETS[] = { "auto", "utf8", "ascii", NULL };

SETTER(set_charset)
{
    int i = 0;
    enum av_status s = pick(row, CHARSETS, value, &i, e);
    if (s == AV_OK) {
        o->charset = (enum av_charset)i;
    }
    return s;
}

SETTER(set_ascii)
{
    UNUSED_ROW;
    (void)value;
    o->charset = AV_CHARSET_ASCII;
    return AV_OK;
}

/* `on` and `off` come from the settings file; on the command line the option
 * itself says no. */
static const char *const SWITCH[] = { "off", "on", NULL };

static enum av_status set_switch(bool *slot, const struct av_option *row, const char *value, struct av_error *e)
{
    int i = 0;
    enum av_status s = value == NULL ? AV_OK : pick(row, SWITCH, value, &i, e);
    if (s == AV_OK) {
        *slot = i == 1;
    }
    return s;
}

SETTER(set_animation)
{
    return set_switch(&o->animation, row, value, e);
}

SETTER(set_mouse)
{
    return set_switch(&o->mouse, row, value, e);
}

SETTER(set_list)
{
    int i = 0;
    o->list = value;
    return pick(row, row->choices, value, &i, e);
}

SETTER(set_config)
{
    UNUSED_ROW;
    return set_text(&o->config, value);
}

SETTER(set_no_config)
{
    UNUSED_ROW;
    (void)value;
    o->no_config = true;
    return AV_OK;
}

SETTER(set_format)
{
    return pick(row, o->command->formats, value, &o->format, e);
}

SETTER(set_output)
{
    UNUSED_ROW;
    return set_text(&o->output, value);
}

enum { SIDE_MAX = 1000 };

/* A side of a screen: 1 .. SIDE_MAX in plain digits; 0 for anything else. */
static int parse_side(const char *text, const char *end)
{
    int side = 0;
    for (const char *s = text; s < end; s++) {
        if (*s < '0' || *s > '9' || side > SIDE_MAX) {
            return 0;
        }
        side = side * 10 + (*s - '0');
    }
    return side <= SIDE_MAX ? side : 0;
}

SETTER(set_size)
{
    const char *x = value + strcspn(value, "x");
    int cols = parse_side(value, x);
    int rows = *x == 'x' ? parse_side(x + 1, x + strlen(x)) : 0;
    if (cols == 0 || rows == 0) {
        return av_fail(e, AV_USAGE, "%s %s: not COLSxROWS, each a whole number from 1 to %d", shown(row), value,
                       SIDE_MAX);
    }
    o->cols = cols;
    o->rows = rows;
    return AV_OK;
}

SETTER(set_over)
{
    if (o->over != NULL) {
        return av_fail(e, AV_USAGE, "--%s %s: given twice; a sweep is over one parameter", row->name, value);
    }
    return set_text(&o->over, value);
}

SETTER(set_help)
{
    UNUSED_ROW;
    (void)value;
    o->help = true;
    return AV_OK;
}

SETTER(set_version)
{
    UNUSED_ROW;
    (void)value;
    o->version = true;
    return AV_OK;
}

/* ---- The table ---- */

enum {
    NUMBERS = AV_FOR_REPORT | AV_FOR_TRAIN | AV_FOR_SWEEP | AV_FOR_FACTS | AV_FOR_BENCH,
    FILES_OUT = NUMBERS | AV_FOR_SNAPSHOT,
    FILES_IN = AV_FOR_LIVE | AV_FOR_REPORT | AV_FOR_SNAPSHOT
};

/* clang-format off */
static const struct av_option TABLE[] = {
    { "set", 's', "NAME=VALUE", AV_FOR_ALL, NULL, NULL, false, "set a parameter; may be repeated", set_param },
    { "keys", 'k', "KEYS", AV_FOR_ALL, NULL, NULL, false,
      "press these keys first; names as the help screen prints them, separated by blanks", set_keys },
    { "q", '\0', "NAME", FILES_IN, NULL, NULL, false, "the queries in a file; a * stands for the layer's number", set_q },
    { "k", '\0', "NAME", FILES_IN, NULL, NULL, false, "the keys; the same name as --q: all in one tensor", set_k },
    { "weights", '\0', "NAME", FILES_IN, NULL, NULL, false, "attention weights that a model computed", set_weights },
    { "scores", '\0', "NAME", FILES_IN, NULL, NULL, false, "its scores, before the softmax", set_scores },
    { "layout", '\0', "LAYOUT", FILES_IN, NULL, NULL, false,
      "axes of queries and keys: b batch, h heads, n tokens, d entries, c heads side by side, f all three fused; hnd, bnhd, nbc ...",
      set_layout },
    { "n-head", '\0', "N", FILES_IN, NULL, NULL, false, "query heads in the file", set_n_head },
    { "n-head-kv", '\0', "N", FILES_IN, NULL, NULL, false, "key heads in the file, if fewer", set_n_head_kv },
    { "d-k", '\0', "N", FILES_IN, NULL, NULL, false, "entries of a query in the file", set_d_k },
    { "batch", '\0', "N", FILES_IN, NULL, NULL, false, "which sequence of a batch to look at, from 0", set_batch },
    { "tokens", '\0', "PATH", FILES_IN, NULL, NULL, false, "labels of the positions, one a line", set_tokens },
    { "fail-on", '\0', "SEVERITY", AV_FOR_REPORT, NULL, SEVERITIES, false,
      "exit with status 3 when a verdict is as bad as that, or worse", set_fail_on },
    { "view", 'v', "NAME", AV_FOR_ALL, "view", NULL, false, "start with this view", set_view },
    { "theme", '\0', "NAME|PATH", AV_FOR_ALL, "theme", NULL, false, "colours; a name with a slash is a file", set_theme },
    { "color", '\0', "DEPTH", AV_FOR_ALL, "color", COLORS, false, "how many colours to use", set_color },
    { "no-color", 'C', NULL, AV_FOR_ALL, NULL, NULL, false, "the same as --color never", set_no_color },
    { "charset", '\0', "CHARSET", AV_FOR_ALL, "charset", CHARSETS, false, "glyphs to draw with; auto is what the locale says",
      set_charset },
    { "ascii", 'U', NULL, AV_FOR_ALL, NULL, NULL, false, "the same as --charset ascii", set_ascii },
    { "no-animation", '\0', NULL, AV_FOR_ALL, "animation", NULL, false, "no gliding between states", set_animation },
    { "no-mouse", '\0', NULL, AV_FOR_ALL, "mouse", NULL, false, "leave the mouse to the terminal", set_mouse },
    { "format", 'f', "FORMAT", FILES_OUT, NULL, NULL, false, "what to write", set_format },
    { "size", '\0', "COLSxROWS", AV_FOR_SNAPSHOT, NULL, NULL, false, "size of the screen (default 100x30)", set_size },
    { "output", 'o', "PATH", FILES_OUT, NULL, NULL, false, "write there, whole or not at all; - is standard output",
      set_output },
    { "over", '\0', AV_OVER_FORM, AV_FOR_SWEEP, NULL, NULL, false,
      "sweep this parameter: STEPS values, FROM and TO among them; log: equal ratios apart", set_over },
    { "list", '\0', "TABLE", AV_FOR_ALL, NULL, av_list_names, false, "print a table, its columns separated by tabs", set_list },
    { "config", '\0', "PATH", AV_FOR_ALL, NULL, NULL, true, "settings file to read instead of the usual one", set_config },
    { "no-config", '\0', NULL, AV_FOR_ALL, NULL, NULL, true, "read no settings file", set_no_config },
    { "help", 'h', NULL, AV_FOR_ALL, NULL, NULL, true, "print this help", set_help },
    { "version", 'V', NULL, AV_FOR_ALL, NULL, NULL, true, "print the version", set_version },
};
/* clang-format on */

enum { TABLE_ROWS = sizeof TABLE / sizeof TABLE[0] };

const struct av_option *av_options_table(size_t *count)
{
    *count = TABLE_ROWS;
    return TABLE;
}

bool av_options_ascii(const struct av_options *o)
{
    if (o->charset == AV_CHARSET_AUTO) {
        return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    }
    return o->charset == AV_CHARSET_ASCII;
}
