/* variant_value.c - variants as values of a parameter: packed, joined, read and written. */
#include "variant_hooks.h"

#include <stdio.h>
#include <string.h>

enum { GROUP_BITS = 8 };
#define SOFTMAX "softmax" /* no row at all */
#define ALL "all"         /* no set at all */

static const struct av_variant *table(void)
{
    size_t count;
    return av_variants_table(&count);
}

/* ---- A value ------------------------------------------------------------------ */

static int64_t byte_of(av_variant_value value, enum av_variant_group group)
{
    return value >> (GROUP_BITS * (int)group) & ((1 << GROUP_BITS) - 1);
}

const struct av_variant *av_variant_of(av_variant_value value, enum av_variant_group group)
{
    int64_t byte = byte_of(value, group);
    return byte > 0 ? &table()[byte - 1] : NULL;
}

av_variant_value av_variant_without(av_variant_value value, enum av_variant_group group)
{
    return value - (byte_of(value, group) << (GROUP_BITS * (int)group));
}

av_variant_value av_variant_with(av_variant_value value, const struct av_variant *row)
{
    int64_t byte = row - table() + 1;
    return av_variant_without(value, row->group) + (byte << (GROUP_BITS * (int)row->group));
}

unsigned av_variant_flags(av_variant_value value)
{
    unsigned flags = 0;
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(value, g);
        flags |= row != NULL ? row->flags : 0;
    }
    return flags;
}

bool av_variant_owns(av_variant_value value, const char *param_name)
{
    size_t len = strcspn(param_name, ".");
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(value, g);
        if (row != NULL && strlen(row->name) == len && memcmp(row->name, param_name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- As text -------------------------------------------------------------------- */

const char *av_variant_format(av_variant_value value, char out[AV_VARIANT_TEXT_MAX])
{
    size_t len = 0;
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(value, g);
        if (row != NULL) {
            len += (size_t)snprintf(out + len, AV_VARIANT_TEXT_MAX - len, "%s%s", len > 0 ? "+" : "", row->name);
        }
    }
    if (len == 0) {
        snprintf(out, AV_VARIANT_TEXT_MAX, SOFTMAX);
    }
    return out;
}

/* One name of [text, text + len). */
static enum av_status join(av_variant_value *value, const char *text, size_t len, struct av_error *e)
{
    char name[40] = "";
    if (len < sizeof name) {
        memcpy(name, text, len);
    }
    if (strcmp(name, SOFTMAX) == 0) {
        return AV_OK;
    }
    if (len == 0) {
        return av_fail(e, AV_USAGE, "a name is missing");
    }
    const struct av_variant *row = av_variant_find(name);
    const struct av_preset *preset = av_preset_find(name);
    if (row == NULL && preset != NULL) {
        return av_fail(e, AV_USAGE, "%s is a model and stands alone: it is %s", name, preset->variant);
    }
    if (row == NULL) {
        return av_fail(e, AV_USAGE, "%.*s is unknown; --list variants lists them", (int)(len < 60 ? len : 60), text);
    }
    const struct av_variant *other = av_variant_of(*value, row->group);
    if (other != NULL) {
        return av_fail(e, AV_USAGE, "%s and %s both are of the group %s, and one is taken of each", other->name,
                       row->name, av_variant_group_names[row->group]);
    }
    *value = av_variant_with(*value, row);
    return AV_OK;
}

enum av_status av_variant_parse(av_variant_value *value, const char *text, struct av_error *e)
{
    av_variant_value read = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, "+");
        enum av_status s = join(&read, at, len, e);
        if (s != AV_OK) {
            return s;
        }
        at += len;
        if (*at == '\0') {
            *value = read;
            return AV_OK;
        }
    }
}

av_variant_value av_variant_step(av_variant_value value, int count)
{
    size_t rows;
    const struct av_variant *first = av_variants_table(&rows);
    int64_t at = 0;
    for (enum av_variant_group g = 0; at == 0 && g < AV_VARIANT_GROUPS; g++) {
        at = byte_of(value, g);
    }
    int64_t places = (int64_t)rows + 1;
    at = ((at + count) % places + places) % places;
    return at > 0 ? av_variant_with(0, &first[at - 1]) : 0;
}

void av_preset_apply(const struct av_preset *preset, struct av_params *p)
{
    av_variant_parse(&p->variant, preset->variant, NULL);
    for (const char *const *a = preset->assignments; *a != NULL; a++) {
        av_params_set_text(p, *a, NULL);
    }
}

/* ---- What can be had -------------------------------------------------------------- */

static bool acts_on_logits(const struct av_variant *row)
{
    static const unsigned more = AV_VARIANT_ENTRIES | AV_VARIANT_SCORES | AV_VARIANT_POSITIONAL;
    return (row->flags & more) == 0 && (row->group != AV_GROUP_SCALE || (row->flags & AV_VARIANT_MULTIPLIES) != 0);
}

av_variant_value av_variant_on_logits(av_variant_value value)
{
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(value, g);
        if (row != NULL && !acts_on_logits(row)) {
            value = av_variant_without(value, g);
        }
    }
    return value;
}

static enum av_status check_row(const struct av_variant *row, const struct av_params *p, struct av_error *e)
{
    if (p->logits.n > 0) {
        return acts_on_logits(row)
                   ? AV_OK
                   : av_fail(e, AV_USAGE, "variant=%s: it does not act on logits that are given", row->name);
    }
    if ((row->flags & AV_VARIANT_SQUARE) != 0 && p->n_q != p->n_k) {
        return av_fail(e, AV_USAGE, "variant=%s: it needs n_q = n_k, and they are %lld and %lld", row->name,
                       (long long)p->n_q, (long long)p->n_k);
    }
    if ((row->flags & AV_VARIANT_EVEN_D) != 0 && p->d_k % 2 != 0) {
        return av_fail(e, AV_USAGE, "variant=%s: it needs an even d_k, and it is %lld", row->name, (long long)p->d_k);
    }
    return AV_OK;
}

/* What only rows together, or a row's own parameters, rule out. */
static enum av_status check_together(av_variant_value value, const struct av_params *p, struct av_error *e)
{
    const struct av_variant_hooks *normalise = av_variant_hooks_of(value, AV_GROUP_NORMALISE);
    const struct av_variant_hooks *pattern = av_variant_hooks_of(value, AV_GROUP_PATTERN);
    if (normalise->scores == AV_SCORES_BY_HEAD && (av_variant_flags(value) & AV_VARIANT_ENTRIES) != 0) {
        return av_fail(e, AV_USAGE,
                       "variant: score_batchnorm takes the scores q.k, and another row makes scores of its own");
    }
    if (pattern->averages != NULL && pattern->averages(p) > (size_t)p->n_k) {
        return av_fail(e, AV_USAGE, "linformer.k=%zu: it takes n_k at most, which is %lld", pattern->averages(p),
                       (long long)p->n_k);
    }
    if (pattern->buckets != NULL && pattern->buckets(p) > 1 && pattern->buckets(p) % 2 != 0) {
        return av_fail(e, AV_USAGE, "lsh.buckets=%zu: it takes 1 or an even number, for buckets come in pairs",
                       pattern->buckets(p));
    }
    return AV_OK;
}

enum av_status av_variant_check(av_variant_value value, const struct av_params *p, struct av_error *e)
{
    enum av_status s = AV_OK;
    for (enum av_variant_group g = 0; s == AV_OK && g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(value, g);
        s = row != NULL ? check_row(row, p, e) : AV_OK;
    }
    return s == AV_OK ? check_together(value, p, e) : s;
}

/* ---- Lists of variants ---------------------------------------------------------------- */

/* Rows of the table that can be listed: training's are the last. */
static size_t listed_rows(void)
{
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    while (count > 0 && rows[count - 1].group == AV_GROUP_TRAINING) {
        count--;
    }
    return count;
}

size_t av_variant_entries(void)
{
    size_t presets;
    av_presets_table(&presets);
    return 1 + listed_rows() + presets;
}

struct av_variant_entry av_variant_entry(size_t place)
{
    if (place == 0) {
        return (struct av_variant_entry){ SOFTMAX, 0, NULL };
    }
    if (place <= listed_rows()) {
        const struct av_variant *row = &table()[place - 1];
        return (struct av_variant_entry){ row->name, av_variant_with(0, row), NULL };
    }
    size_t count;
    const struct av_preset *preset = &av_presets_table(&count)[place - 1 - listed_rows()];
    struct av_variant_entry entry = { preset->name, 0, preset };
    av_variant_parse(&entry.value, preset->variant, NULL);
    return entry;
}

void av_variant_set_format(int64_t set, struct av_str *out)
{
    if (set == 0) {
        av_str_add(out, ALL);
        return;
    }
    const char *comma = "";
    for (size_t i = 0; i < av_variant_entries(); i++) {
        if ((set >> i & 1) != 0) {
            av_str_addf(out, "%s%s", comma, av_variant_entry(i).name);
            comma = ",";
        }
    }
}

enum av_status av_variant_set_parse(int64_t *set, const char *text, struct av_error *e)
{
    int64_t read = 0;
    if (strcmp(text, ALL) == 0) {
        *set = 0;
        return AV_OK;
    }
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        size_t place = 0;
        while (place < av_variant_entries() &&
               (strlen(av_variant_entry(place).name) != len || memcmp(av_variant_entry(place).name, at, len) != 0)) {
            place++;
        }
        if (len == 0) {
            return av_fail(e, AV_USAGE, "a name is missing");
        }
        if (place == av_variant_entries()) {
            return av_fail(e, AV_USAGE, "%.*s is unknown; --list variants lists them, all: every one",
                           (int)(len < 60 ? len : 60), at);
        }
        read |= (int64_t)1 << place;
        at += len;
        if (*at == '\0') {
            *set = read;
            return AV_OK;
        }
    }
}
