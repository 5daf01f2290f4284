/* params_text.c - parameter values read from and written as text. */
#include "attnviz/variant.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A real number that follows from others. */
#define AUTO "auto"

/* Where the value of a row stands in *p. */
static void *value_at(const struct av_param *row, struct av_params *p)
{
    return (char *)p + row->offset;
}

/* A whole number in plain digits; false for anything else. */
static bool parse_whole(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits)) {
        return false;
    }
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end != '\0') {
        return false;
    }
    *out = value; /* a value beyond 64 bits is clamped there: out of any range */
    return true;
}

/* A decimal number, finite or not, that fills all of [text, end). */
static bool parse_real(const char *text, const char *end, double *out)
{
    if (text == end || isspace((unsigned char)*text)) {
        return false;
    }
    char *stop;
    *out = strtod(text, &stop);
    return stop == end && !isnan(*out);
}

static enum av_status parse_choice(const struct av_param *row, int64_t *out, const char *value, struct av_error *e)
{
    struct av_str names = AV_STR_INIT;
    for (int64_t i = 0; row->choices[i] != NULL; i++) {
        if (strcmp(row->choices[i], value) == 0) {
            av_str_free(&names);
            *out = i;
            return AV_OK;
        }
        av_str_addf(&names, " %s", row->choices[i]);
    }
    av_fail(e, AV_USAGE, "%s=%s: not one of%s", row->name, value, av_str_text(&names));
    av_str_free(&names);
    return AV_USAGE;
}

static enum av_status parse_seed(const struct av_param *row, uint64_t *out, const char *value, struct av_error *e)
{
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || value[digits] != '\0') {
        return av_fail(e, AV_USAGE, "%s=%s: not a whole number from 0 to 18446744073709551615", row->name, value);
    }
    errno = 0;
    unsigned long long seed = strtoull(value, NULL, 10);
    if (errno == ERANGE) {
        return av_fail(e, AV_USAGE, "%s=%s: out of range 0 .. 18446744073709551615", row->name, value);
    }
    *out = seed;
    return AV_OK;
}

/* Numbers with a comma or blanks between two. */
static enum av_status parse_logits(struct av_logit_list *list, const char *value, struct av_error *e)
{
    struct av_logit_list read = { 0, { 0 } };
    if (*value == '\0') {
        return av_fail(e, AV_USAGE, "logits=: an empty list; give 1 to %d numbers a,b,c", AV_LOGITS_MAX);
    }
    const char *at = value;
    for (;;) {
        at += strspn(at, " ");
        const char *end = at + strcspn(at, ", ");
        double x = 0;
        if (!parse_real(at, end, &x) || !isfinite(x)) {
            return av_fail(e, AV_USAGE, "logits: number %lld is '%.*s', not a finite number", (long long)read.n + 1,
                           (int)(end - at < 40 ? end - at : 40), at);
        }
        if (read.n == AV_LOGITS_MAX) {
            return av_fail(e, AV_USAGE, "logits: number %lld is one too many; at most %d are taken",
                           (long long)read.n + 1, AV_LOGITS_MAX);
        }
        read.at[read.n++] = x;
        at = end + strspn(end, " ");
        if (*at == '\0') {
            break;
        }
        at += *at == ',' ? 1 : 0;
    }
    *list = read;
    return AV_OK;
}

/* The parameter `variant` takes the name of a preset too, and with it the
 * parameters that belong to it. */
static enum av_status read_variant(const struct av_param *row, struct av_params *p, const char *value,
                                   struct av_error *e)
{
    const struct av_preset *preset = av_preset_find(value);
    if (row->kind == AV_PARAM_VARIANT_SET) {
        return av_variant_set_parse(value_at(row, p), value, e);
    }
    if (preset == NULL) {
        return av_variant_parse(value_at(row, p), value, e);
    }
    if (row->offset == offsetof(struct av_params, variant)) {
        av_preset_apply(preset, p);
        return AV_OK;
    }
    return av_variant_parse(value_at(row, p), preset->variant, e);
}

static enum av_status parse_variant(const struct av_param *row, struct av_params *p, const char *value,
                                    struct av_error *e)
{
    struct av_error why;
    enum av_status s = read_variant(row, p, value, &why);
    return s == AV_OK ? s : av_fail(e, s, "%s=%.80s: %s", row->name, value, why.text);
}

enum av_status av_param_parse(const struct av_param *row, struct av_params *p, const char *value, struct av_error *e)
{
    switch (row->kind) {
    case AV_PARAM_CHOICE:
        return parse_choice(row, value_at(row, p), value, e);
    case AV_PARAM_SEED:
        return parse_seed(row, value_at(row, p), value, e);
    case AV_PARAM_LOGITS:
        return parse_logits(value_at(row, p), value, e);
    case AV_PARAM_VARIANT:
    case AV_PARAM_VARIANT_SET:
        return parse_variant(row, p, value, e);
    case AV_PARAM_INT:
        if (!parse_whole(value, value_at(row, p))) {
            return av_fail(e, AV_USAGE, "%s=%s: not a whole number from %g to %g", row->name, value, row->min,
                           av_param_max(row, p));
        }
        return AV_OK;
    case AV_PARAM_REAL:
    default:
        if ((row->flags & AV_PARAM_AUTO) != 0 && strcmp(value, AUTO) == 0) {
            av_param_set(row, p, (double)NAN);
            return AV_OK;
        }
        if (!parse_real(value, value + strlen(value), value_at(row, p))) {
            return av_fail(e, AV_USAGE, "%s=%s: not a number from %g to %g%s", row->name, value, row->min, row->max,
                           (row->flags & AV_PARAM_AUTO) != 0 ? ", nor auto" : "");
        }
        return AV_OK;
    }
}

enum av_status av_params_set_text(struct av_params *p, const char *assignment, struct av_error *e)
{
    size_t len = strcspn(assignment, "=");
    if (assignment[len] != '=') {
        return av_fail(e, AV_USAGE, "%s: not of the form NAME=VALUE", assignment);
    }
    char name[64];
    if (len >= sizeof name) {
        return av_fail(e, AV_USAGE, "%.40s...: unknown parameter; --list params lists them", assignment);
    }
    memcpy(name, assignment, len);
    name[len] = '\0';
    const struct av_param *row = av_param_find(name);
    if (row == NULL) {
        return av_fail(e, AV_USAGE, "%s: unknown parameter; --list params lists them", name);
    }
    /* A value that cannot be read must not leave half of itself behind. */
    struct av_params read = *p;
    enum av_status s = av_param_parse(row, &read, assignment + len + 1, e);
    if (s == AV_OK) {
        *p = read;
    }
    return s;
}

enum av_status av_params_check(const struct av_params *p, bool sizes_free, struct av_error *e)
{
    size_t count;
    const struct av_param *table = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_param *row = &table[i];
        double value = av_param_get(row, p);
        double max = sizes_free && (row->flags & AV_PARAM_SIZE) != 0 ? (double)INT64_MAX : av_param_max(row, p);
        if (value < row->min || value > max) {
            struct av_str text = AV_STR_INIT;
            av_param_format(row, p, &text);
            av_fail(e, AV_USAGE, "%s=%s: out of range %.10g .. %.10g", row->name, av_str_text(&text), row->min, max);
            av_str_free(&text);
            return AV_USAGE;
        }
    }
    /* Of a row that is given only what acts on it is taken (model.h). */
    return p->logits.n > 0 ? AV_OK : av_variant_check(p->variant, p, e);
}

/* The shortest of 15, 16 or 17 digits that reads back to the same double. */
static void format_real(struct av_str *out, double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        size_t len = out->len;
        av_str_addf(out, "%.*g", digits, x);
        if (out->failed || digits == 17) {
            return;
        }
        double back = strtod(out->text + len, NULL);
        if (memcmp(&back, &x, sizeof x) == 0) {
            return;
        }
        out->len = len;
        out->text[len] = '\0';
    }
}

const char *av_param_format_short(const struct av_param *row, const struct av_params *p, char out[AV_PARAM_SHORT_MAX])
{
    int64_t whole;
    memcpy(&whole, (const char *)p + row->offset, sizeof whole);
    switch (row->kind) {
    case AV_PARAM_CHOICE:
        snprintf(out, AV_PARAM_SHORT_MAX, "%s", row->choices[whole]);
        break;
    case AV_PARAM_SEED:
        snprintf(out, AV_PARAM_SHORT_MAX, "%llu", (unsigned long long)p->seed);
        break;
    case AV_PARAM_LOGITS:
        snprintf(out, AV_PARAM_SHORT_MAX, "%lld given", (long long)p->logits.n);
        break;
    case AV_PARAM_INT:
        snprintf(out, AV_PARAM_SHORT_MAX, "%lld", (long long)whole);
        break;
    case AV_PARAM_VARIANT: {
        char name[AV_VARIANT_TEXT_MAX];
        snprintf(out, AV_PARAM_SHORT_MAX, "%.*s", AV_PARAM_SHORT_MAX - 1, av_variant_format(whole, name));
        break;
    }
    case AV_PARAM_VARIANT_SET:
        if (whole == 0) {
            snprintf(out, AV_PARAM_SHORT_MAX, "all");
        } else {
            snprintf(out, AV_PARAM_SHORT_MAX, "%d chosen", __builtin_popcountll((unsigned long long)whole));
        }
        break;
    case AV_PARAM_REAL:
    default:
        if (isnan(av_param_get(row, p))) {
            snprintf(out, AV_PARAM_SHORT_MAX, AUTO);
        } else {
            snprintf(out, AV_PARAM_SHORT_MAX, "%.6g", av_param_get(row, p));
        }
        break;
    }
    return out;
}

void av_param_format(const struct av_param *row, const struct av_params *p, struct av_str *out)
{
    if (row->kind == AV_PARAM_REAL && !isnan(av_param_get(row, p))) {
        format_real(out, av_param_get(row, p));
    } else if (row->kind == AV_PARAM_VARIANT) {
        int64_t value;
        char name[AV_VARIANT_TEXT_MAX];
        memcpy(&value, (const char *)p + row->offset, sizeof value);
        av_str_add(out, av_variant_format(value, name));
    } else if (row->kind == AV_PARAM_VARIANT_SET) {
        av_variant_set_format(p->variants, out);
    } else if (row->kind == AV_PARAM_LOGITS) {
        for (int64_t i = 0; i < p->logits.n; i++) {
            av_str_add(out, i > 0 ? "," : "");
            format_real(out, p->logits.at[i]);
        }
    } else {
        char text[AV_PARAM_SHORT_MAX];
        av_str_add(out, av_param_format_short(row, p, text));
    }
}
