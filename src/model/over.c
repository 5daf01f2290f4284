/* over.c - the values that a sweep runs over. */
#include "attnviz/over.h"
#include "attnviz/variant.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 9007199254740992.0 /* 2^53: whole numbers up to it are doubles */

enum { DECIMALS_MAX = 15, LOG_DIGITS = 14 };

/* ---- Values ---------------------------------------------------------------- */

static bool is_whole(const struct av_param *row)
{
    return row->kind != AV_PARAM_REAL;
}

/* x times 10^decimals when that is a whole number for which x is the nearest
 * double to the decimal fraction, so that x can be told by it. */
static bool as_decimal(double x, double power, double *whole)
{
    *whole = round(x * power);
    return fabs(*whole) < WHOLE_MAX && *whole / power == x;
}

/* The ends as whole numbers in units of 10^-decimals, the fewest decimals that
 * both can be written with. False when there are none so few. */
static bool as_decimals(const struct av_over *o, double *from, double *to, double *power)
{
    *power = 1;
    for (int decimals = 0; decimals <= DECIMALS_MAX; decimals++) {
        if (as_decimal(o->from, *power, from) && as_decimal(o->to, *power, to)) {
            return true;
        }
        *power *= 10;
    }
    return false;
}

/* from + (to - from) i / gaps. With whole numbers a and b for the ends, it is
 * the fraction (a (gaps - i) + b i) / (gaps 10^decimals): of two whole numbers,
 * whose quotient is rounded once. */
static double spaced(const struct av_over *o, size_t i)
{
    double gaps = (double)(o->steps - 1);
    double before = (double)i, after = gaps - before;
    double from, to, power;
    if (!as_decimals(o, &from, &to, &power) || fmax(fabs(from), fabs(to)) * gaps >= WHOLE_MAX ||
        gaps * power >= WHOLE_MAX) {
        return o->from + (o->to - o->from) * (before / gaps); /* rounded, but never out of order */
    }
    return (from * after + to * before) / (gaps * power);
}

/* The same for whole ends, to the nearest whole number; products stay below
 * 2^53 by taking the span apart: span = quotient gaps + rest. */
static double spaced_whole(const struct av_over *o, size_t i)
{
    double gaps = (double)(o->steps - 1);
    double low = fmin(o->from, o->to), span = fabs(o->to - o->from);
    double above = o->from <= o->to ? (double)i : gaps - (double)i;
    double quotient = floor(span / gaps);
    double rest = span - quotient * gaps;
    return low + quotient * above + floor(rest * above / gaps + 0.5);
}

/* from (to / from)^(i / gaps), whose powers of ten and two come out as such. */
static double spaced_log(const struct av_over *o, size_t i)
{
    long double share = (long double)i / (long double)(o->steps - 1);
    double value = (double)(powl((long double)o->from, 1 - share) * powl((long double)o->to, share));
    if (is_whole(o->row)) {
        return floor(value + 0.5);
    }
    char digits[32];
    snprintf(digits, sizeof digits, "%.*e", LOG_DIGITS - 1, value);
    return strtod(digits, NULL);
}

double av_over_value(const struct av_over *over, size_t i)
{
    if (i == 0) {
        return over->from;
    }
    if (i + 1 == over->steps) {
        return over->to;
    }
    double value = over->log ? spaced_log(over, i) : is_whole(over->row) ? spaced_whole(over, i) : spaced(over, i);
    /* Rounding must not lead out of a range that the ends are in. */
    return fmin(fmax(value, fmin(over->from, over->to)), fmax(over->from, over->to));
}

bool av_over_repeats(const struct av_over *over, size_t i)
{
    return i > 0 && av_over_value(over, i) == av_over_value(over, i - 1);
}

size_t av_over_count(const struct av_over *over)
{
    size_t count = 0;
    for (size_t i = 0; i < over->steps; i++) {
        count += !av_over_repeats(over, i);
    }
    return count;
}

/* ---- Text ------------------------------------------------------------------ */

bool av_over_takes(const struct av_param *row)
{
    bool number = row->kind == AV_PARAM_INT || row->kind == AV_PARAM_REAL || row->kind == AV_PARAM_SEED;
    return number && (row->flags & AV_PARAM_FILES) == 0;
}

/* The parts of the text: NAME=FROM:TO:STEPS[:log]. */
enum part { NAME, FROM, TO, STEPS, LOG, PARTS };

struct parts {
    struct av_str copy; /* which the texts stand in */
    char *text[PARTS];  /* LOG: NULL when there is none */
};

/* Cuts the text up, whatever its parts hold. The caller frees the copy. */
static enum av_status cut(struct parts *parts, const char *text, struct av_error *e)
{
    static const char stops[PARTS] = { '=', ':', ':', ':', '\0' };
    av_str_add(&parts->copy, text);
    if (parts->copy.failed) {
        return av_fail_nomem(e, "--over");
    }
    char *at = parts->copy.text;
    for (enum part part = NAME; at != NULL && part < PARTS; part++) {
        char *stop = stops[part] != '\0' ? strchr(at, stops[part]) : NULL;
        parts->text[part] = at;
        if (stop != NULL) {
            *stop++ = '\0';
        }
        at = stop;
    }
    if (parts->text[STEPS] == NULL) {
        return av_fail(e, AV_USAGE, "--over %s: not of the form " AV_OVER_FORM, text);
    }
    return AV_OK;
}

/* A number that a variant owns is nothing without that variant. */
static enum av_status check_owner(const struct av_param *row, const struct av_params *p, struct av_error *e)
{
    char text[AV_VARIANT_TEXT_MAX];
    if ((row->flags & AV_PARAM_OWNED) == 0 || av_variant_owns(p->variant, row->name)) {
        return AV_OK;
    }
    return av_fail(e, AV_USAGE, "--over %s: has a meaning only with the variant %.*s, and variant is %s", row->name,
                   (int)strcspn(row->name, "."), row->name, av_variant_format(p->variant, text));
}

static enum av_status find_row(struct av_over *over, const char *name, const struct av_params *p, struct av_error *e)
{
    over->row = av_param_find(name);
    if (over->row == NULL) {
        return av_fail(e, AV_USAGE, "--over %s: unknown parameter; --list params lists them", name);
    }
    if (av_over_takes(over->row)) {
        return check_owner(over->row, p, e);
    }
    struct av_str names = AV_STR_INIT;
    size_t count;
    const struct av_param *table = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (av_over_takes(&table[i])) {
            av_str_addf(&names, " %s", table[i].name);
        }
    }
    av_fail(e, AV_USAGE, "--over %s: %s; these can be swept:%s", name,
            (over->row->flags & AV_PARAM_FILES) != 0 ? "has a meaning only with files" : "not a number",
            av_str_text(&names));
    av_str_free(&names);
    return AV_USAGE;
}

/* One end: a number as --set takes it, in the range that holds among p. */
static enum av_status read_end(double *end, const struct av_param *row, const char *which, const char *text,
                               const struct av_params *p, struct av_error *e)
{
    struct av_params read = *p;
    struct av_error why;
    if (av_param_parse(row, &read, text, &why) != AV_OK) {
        return av_fail(e, AV_USAGE, "--over %s: %s", which, why.text);
    }
    double max = row->kind == AV_PARAM_SEED ? WHOLE_MAX : av_param_max(row, p);
    bool beyond = row->kind == AV_PARAM_SEED && read.seed > (uint64_t)WHOLE_MAX; /* which a double may not show */
    *end = av_param_get(row, &read);
    if (isnan(*end)) {
        return av_fail(e, AV_USAGE, "--over %s: %s=%s: not a number", which, row->name, text);
    }
    if (*end < row->min || *end > max || beyond) {
        return av_fail(e, AV_USAGE, "--over %s: %s=%s: out of range %.16g .. %.16g", which, row->name, text, row->min,
                       max);
    }
    return AV_OK;
}

static enum av_status read_steps(struct av_over *over, const char *text, struct av_error *e)
{
    bool digits = isdigit((unsigned char)*text) && text[strspn(text, "0123456789")] == '\0';
    unsigned long steps = digits ? strtoul(text, NULL, 10) : 0;
    if (steps < 1 || steps > AV_OVER_STEPS_MAX) {
        return av_fail(e, AV_USAGE, "--over STEPS: '%s': not a whole number from 1 to %d", text, AV_OVER_STEPS_MAX);
    }
    over->steps = steps;
    if (steps == 1 && over->from != over->to) {
        return av_fail(e, AV_USAGE, "--over STEPS: 1: both ends are among the values, so it takes FROM = TO");
    }
    return AV_OK;
}

static enum av_status read_log(struct av_over *over, const struct parts *parts, struct av_error *e)
{
    const char *word = parts->text[LOG];
    over->log = word != NULL;
    if (over->log && strcmp(word, "log") != 0) {
        return av_fail(e, AV_USAGE, "--over '%s': behind STEPS stands log or nothing", word);
    }
    if (over->log && (over->from <= 0 || over->to <= 0)) {
        return av_fail(e, AV_USAGE, "--over %s=%s:%s: log needs FROM and TO above 0", over->row->name,
                       parts->text[FROM], parts->text[TO]);
    }
    return AV_OK;
}

/* What the values do to the ranges of other parameters: a smaller n_k may
 * leave key behind. */
static enum av_status check_others(const struct av_over *over, const struct av_params *p, struct av_error *e)
{
    struct av_params with = *p;
    for (size_t i = 0; i < over->steps; i++) {
        struct av_error why;
        av_param_set(over->row, &with, av_over_value(over, i));
        if (av_params_check(&with, false, &why) != AV_OK) {
            char value[AV_PARAM_SHORT_MAX];
            return av_fail(e, AV_USAGE, "--over at %s=%s: %s", over->row->name,
                           av_param_format_short(over->row, &with, value), why.text);
        }
    }
    return AV_OK;
}

static enum av_status read_parts(struct av_over *over, const struct parts *parts, const struct av_params *p,
                                 struct av_error *e)
{
    enum av_status s = find_row(over, parts->text[NAME], p, e);
    if (s == AV_OK) {
        s = read_end(&over->from, over->row, "FROM", parts->text[FROM], p, e);
    }
    if (s == AV_OK) {
        s = read_end(&over->to, over->row, "TO", parts->text[TO], p, e);
    }
    if (s == AV_OK) {
        s = read_steps(over, parts->text[STEPS], e);
    }
    if (s == AV_OK) {
        s = read_log(over, parts, e);
    }
    return s == AV_OK ? check_others(over, p, e) : s;
}

enum av_status av_over_parse(struct av_over *over, const char *text, const struct av_params *p, struct av_error *e)
{
    struct parts parts = { AV_STR_INIT, { NULL } };
    struct av_over read = { NULL, 0, 0, 0, false };
    enum av_status s = cut(&parts, text, e);
    if (s == AV_OK) {
        s = read_parts(&read, &parts, p, e);
    }
    if (s == AV_OK) {
        *over = read;
    }
    av_str_free(&parts.copy);
    return s;
}
