/* logit_list.c - a row of logits: inserting, deleting, adding, presets. */
#include "attnviz/logit_list.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool av_logit_list_insert(struct av_logit_list *l, size_t at, double value)
{
    if (l->n >= AV_LOGITS_MAX || !isfinite(value)) {
        return false;
    }
    size_t behind = (size_t)l->n - at - 1;
    memmove(l->at + at + 2, l->at + at + 1, behind * sizeof *l->at);
    l->at[at + 1] = value;
    l->n++;
    return true;
}

bool av_logit_list_delete(struct av_logit_list *l, size_t at)
{
    if (l->n <= 1) {
        return false;
    }
    memmove(l->at + at, l->at + at + 1, ((size_t)l->n - at - 1) * sizeof *l->at);
    l->n--;
    return true;
}

/* A sum that is rounding away from nine decimals becomes them: dividing gives
 * the double that is nearest to the decimal. */
static double sum(double x, double by)
{
    const double per_unit = 1e9;
    double plain = x + by;
    double decimal = round(plain * per_unit) / per_unit;
    bool told = fabs(plain * per_unit) < 0x1p53; /* else a double has no nine decimals */
    return told && fabs(decimal - plain) <= 2 * DBL_EPSILON * (fabs(x) + fabs(by)) ? decimal : plain;
}

/* A change of [from, end) that is made only if every number allows it. */
static bool change(struct av_logit_list *l, size_t from, size_t end, double (*f)(double x, double by), double by)
{
    bool changed = false;
    for (size_t i = from; i < end; i++) {
        double y = f(l->at[i], by);
        if (!isfinite(y)) {
            return false;
        }
        changed |= y < l->at[i] || y > l->at[i];
    }
    for (size_t i = from; i < end && changed; i++) {
        l->at[i] = f(l->at[i], by);
    }
    return changed;
}

bool av_logit_list_nudge(struct av_logit_list *l, size_t at, double by)
{
    return change(l, at, at + 1, sum, by);
}

bool av_logit_list_add(struct av_logit_list *l, double by)
{
    return change(l, 0, (size_t)l->n, sum, by);
}

static double product(double x, double by)
{
    return x * by;
}

bool av_logit_list_scale(struct av_logit_list *l, double by)
{
    return change(l, 0, (size_t)l->n, product, by);
}

bool av_logit_list_resize(struct av_logit_list *l, size_t n)
{
    if (n < 1 || n > AV_LOGITS_MAX || n == (size_t)l->n) {
        return false;
    }
    for (size_t i = (size_t)l->n; i < n; i++) {
        l->at[i] = 0;
    }
    l->n = (int64_t)n;
    return true;
}

bool av_logit_list_take(struct av_logit_list *l, const double *x, size_t n, double by)
{
    if (n < 1 || n > AV_LOGITS_MAX) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i] * by)) {
            return false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        l->at[i] = x[i] * by;
    }
    l->n = (int64_t)n;
    return true;
}

bool av_logit_list_take_seen(struct av_logit_list *l, const double *z, size_t n, const struct av_params *p)
{
    struct av_logit_list taken = { .n = 0 };
    for (size_t j = 0; j < n; j++) {
        double offset = p->offset + ((int64_t)j == p->key ? p->key_offset : 0);
        double x = z[j] * p->temperature - offset;
        if (isinf(z[j]) && z[j] < 0) {
            continue;
        }
        if (!isfinite(x) || taken.n == AV_LOGITS_MAX) {
            return false;
        }
        taken.at[taken.n++] = x;
    }
    if (taken.n > 0) {
        *l = taken;
    }
    return taken.n > 0;
}

bool av_logit_list_even(const struct av_logit_list *l)
{
    for (int64_t i = 1; i < l->n; i++) {
        if (l->at[i] < l->at[0] || l->at[i] > l->at[0]) {
            return false;
        }
    }
    return true;
}

/* ---- presets ---------------------------------------------------------- */

/* clang-format off */
static const struct av_logit_preset presets[] = {
    { "preset: 1, 0.5, -0.5", 3, { 1, 0.5, -0.5 } },
    { "preset: the same + 9: the same weights", 3, { 10, 9.5, 8.5 } },
    { "preset: the same + 99: the same weights", 3, { 100, 99.5, 98.5 } },
    { "preset: 1, 0.5, -0.5 times 10: other weights", 3, { 10, 5, -5 } },
    { "preset: four zeros: every key weighs the same", 4, { 0 } },
    { "preset: 3, 1, -2, 0.5", 4, { 3, 1, -2, 0.5 } },
    { "preset: 40, 39.999, 0: two keys share", 3, { 40, 39.999, 0 } },
    { "preset: 20, 0, 0: saturated", 3, { 20, 0, 0 } },
    { "preset: 1000, 0, 0: 1 - max is below the smallest double", 3, { 1000, 0, 0 } },
    { "preset: one key at 4, 99 keys at 0", 100, { 4 } },
    { "preset: one key at 10, 99 keys at 0", 100, { 10 } },
    { "preset: one key at 8, 2047 keys at 0", 2048, { 8 } },
};
/* clang-format on */

enum { PRESETS = sizeof presets / sizeof *presets };

const struct av_logit_preset *av_logit_presets(size_t *count)
{
    *count = PRESETS;
    return presets;
}

static double preset_at(const struct av_logit_preset *preset, size_t i)
{
    return i < sizeof preset->start / sizeof *preset->start ? preset->start[i] : 0;
}

void av_logit_list_preset(struct av_logit_list *l, const struct av_logit_preset *preset)
{
    for (size_t i = 0; i < preset->n; i++) {
        l->at[i] = preset_at(preset, i);
    }
    l->n = (int64_t)preset->n;
}

static bool same(const struct av_logit_list *l, const struct av_logit_preset *preset)
{
    bool same = (size_t)l->n == preset->n;
    for (size_t i = 0; i < preset->n && same; i++) {
        same = !(l->at[i] < preset_at(preset, i) || l->at[i] > preset_at(preset, i));
    }
    return same;
}

const struct av_logit_preset *av_logit_preset_of(const struct av_logit_list *l)
{
    for (size_t i = 0; i < PRESETS; i++) {
        if (same(l, &presets[i])) {
            return &presets[i];
        }
    }
    return NULL;
}
