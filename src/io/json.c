/* json.c - a writer of JSON. */
#include "attnviz/json.h"

#include "attnviz/utf8.h"

#include <inttypes.h>
#include <math.h>

void av_json_begin(struct av_json *j, struct av_str *out)
{
    *j = (struct av_json){ .out = out };
}

static bool is_inline(const struct av_json *j)
{
    return j->inline_from != 0 && j->depth >= j->inline_from;
}

static void new_line(struct av_json *j)
{
    av_str_addf(j->out, "\n%*s", 2 * j->depth, "");
}

static void quoted(struct av_json *j, const char *text)
{
    av_str_add(j->out, "\"");
    for (uint32_t code; (code = av_utf8_next(&text)) != 0;) {
        if (code == '"' || code == '\\') {
            av_str_addf(j->out, "\\%c", (int)code);
        } else if (code == '\n') {
            av_str_add(j->out, "\\n");
        } else if (code == '\t') {
            av_str_add(j->out, "\\t");
        } else if (code < 0x20 || code == 0x7F) {
            av_str_addf(j->out, "\\u%04" PRIx32, code);
        } else {
            av_str_utf8(j->out, code);
        }
    }
    av_str_add(j->out, "\"");
}

/* What stands before every value: the comma, the place, the name. */
static void lead(struct av_json *j, const char *name)
{
    if (is_inline(j)) {
        av_str_add(j->out, j->comma ? ", " : "");
    } else if (j->depth > 0) {
        av_str_add(j->out, j->comma ? "," : "");
        new_line(j);
    }
    if (name != NULL) {
        quoted(j, name);
        av_str_add(j->out, ": ");
    }
    j->comma = true;
}

/* The same before a number: one that comes first in an array keeps the array
 * on one line. */
static void lead_number(struct av_json *j, const char *name)
{
    if (name == NULL && j->depth > 0 && !j->comma && !is_inline(j)) {
        j->inline_from = j->depth;
    }
    lead(j, name);
}

static void enter(struct av_json *j, const char *name, const char *bracket)
{
    lead(j, name);
    av_str_add(j->out, bracket);
    j->depth++;
    j->comma = false;
}

void av_json_object(struct av_json *j, const char *name)
{
    enter(j, name, "{");
}

void av_json_array(struct av_json *j, const char *name)
{
    enter(j, name, "[");
}

void av_json_close(struct av_json *j, char bracket)
{
    bool same_line = is_inline(j) || !j->comma;
    if (j->inline_from == j->depth) {
        j->inline_from = 0;
    }
    j->depth--;
    if (!same_line) {
        new_line(j);
    }
    av_str_addn(j->out, &bracket, 1);
    j->comma = true;
    if (j->depth == 0) {
        av_str_add(j->out, "\n");
    }
}

void av_json_number(struct av_json *j, const char *name, double x)
{
    lead_number(j, name);
    if (isfinite(x)) {
        av_str_addf(j->out, "%.17g", x);
    } else {
        av_str_add(j->out, "null");
    }
}

void av_json_integer(struct av_json *j, const char *name, int64_t x)
{
    lead_number(j, name);
    av_str_addf(j->out, "%" PRId64, x);
}

void av_json_unsigned(struct av_json *j, const char *name, uint64_t x)
{
    lead_number(j, name);
    av_str_addf(j->out, "%" PRIu64, x);
}

void av_json_string(struct av_json *j, const char *name, const char *text)
{
    lead(j, name);
    quoted(j, text);
}

void av_json_bool(struct av_json *j, const char *name, bool x)
{
    lead(j, name);
    av_str_add(j->out, x ? "true" : "false");
}

void av_json_null(struct av_json *j, const char *name)
{
    lead(j, name);
    av_str_add(j->out, "null");
}
