/* settings.c - the user's settings file. */
#include "settings.h"

#include "attnviz/config_path.h"
#include "attnviz/textfile.h"

#include <ctype.h>
#include <string.h>

/* Cuts blanks off both ends, in place. */
static char *trim(char *s)
{
    while (isspace((unsigned char)*s)) {
        s++;
    }
    size_t len = strlen(s);
    while (len > 0 && isspace((unsigned char)s[len - 1])) {
        len--;
    }
    s[len] = '\0';
    return s;
}

/* Ranges that other values move (key, query) are checked when all is set;
 * those that stand in the table here, where the line can be named. */
static enum av_status set_param(struct av_options *o, const struct av_param *row, const char *value, struct av_error *e)
{
    struct av_params read = o->params;
    enum av_status s = av_param_parse(row, &read, value, e);
    if (s != AV_OK) {
        return s;
    }
    double x = av_param_get(row, &read);
    if (x < row->min || x > row->max) {
        return av_fail(e, AV_USAGE, "%s=%s: out of range %.10g .. %.10g", row->name, value, row->min, row->max);
    }
    o->params = read;
    return AV_OK;
}

static enum av_status set_named(struct av_options *o, const char *name, const char *value, struct av_error *e)
{
    const struct av_param *param = av_param_find(name);
    if (param != NULL) {
        return set_param(o, param, value, e);
    }
    size_t count;
    const struct av_option *table = av_options_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].setting != NULL && strcmp(table[i].setting, name) == 0) {
            return table[i].set(o, &table[i], value, e);
        }
    }
    return av_fail(e, AV_USAGE, "%s: neither a parameter nor a setting", name);
}

static enum av_status set_line(struct av_options *o, char *line, struct av_error *e)
{
    char *name = trim(line);
    if (*name == '\0' || *name == '#') {
        return AV_OK;
    }
    char *equals = strchr(name, '=');
    if (equals == NULL) {
        return av_fail(e, AV_USAGE, "%s: not of the form NAME = VALUE", name);
    }
    *equals = '\0';
    return set_named(o, trim(name), trim(equals + 1), e);
}

enum av_status av_settings_parse(struct av_options *o, char *text, const char *where, struct av_error *e)
{
    int number = 1;
    for (char *line = text; line != NULL; number++) {
        char *next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        struct av_error why;
        enum av_status s = set_line(o, line, &why);
        if (s != AV_OK) {
            return av_fail(e, s, "%s:%d: %s", where, number, why.text);
        }
        line = next;
    }
    return AV_OK;
}

enum av_status av_settings_read(struct av_options *o, struct av_error *e)
{
    struct av_str usual = AV_STR_INIT;
    if (o->config == NULL) {
        av_config_path(&usual, "config");
    }
    if (usual.failed) {
        av_str_free(&usual);
        return av_fail_nomem(e, "the settings");
    }
    const char *path = o->config != NULL ? o->config : av_str_text(&usual);
    struct av_str text = AV_STR_INIT;
    bool missing;
    enum av_status s = av_textfile_read(&text, path, &missing, e);
    if (s == AV_OK) {
        o->settings = text.text;
        s = av_settings_parse(o, o->settings, path, e);
    } else {
        av_str_free(&text);
        s = missing && o->config == NULL ? AV_OK : s;
    }
    av_str_free(&usual);
    return s;
}
