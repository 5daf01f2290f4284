/* depth_median.c - stacks over several seeds, and what became of their gradients. */
#include "attnviz/depth_study.h"
#include "attnviz/facts.h"
#include "attnviz/stats.h"

#include <math.h>
#include <stdio.h>

/* ---- Medians ------------------------------------------------------------------- */

/* Of the finite ones; NaN where fewer than half are. */
static double median_known(const double *x, size_t count)
{
    double known[AV_DEPTH_SEEDS];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(x[i])) {
            known[n++] = x[i];
        }
    }
    return 2 * n >= count ? av_median(known, n) : (double)NAN;
}

static void median_layer(struct av_depth_stack *median, const struct av_depth_stack *stacks, size_t count, size_t at)
{
    struct av_depth_layer *to = &median->layers[at];
    double x[AV_DEPTH_SEEDS];
    size_t one_hot = 0;
    for (size_t f = 0; f < AV_DEPTH_FIELDS; f++) {
        for (size_t i = 0; i < count; i++) {
            x[i] = stacks[i].layers[at].at[f];
        }
        to->at[f] = median_known(x, count);
    }
    for (size_t f = 0; f < AV_DEPTH_CANCEL; f++) {
        for (size_t i = 0; i < count; i++) {
            x[i] = stacks[i].layers[at].uncancelled[f];
        }
        to->uncancelled[f] = median_known(x, count);
    }
    for (size_t i = 0; i < count; i++) {
        one_hot += stacks[i].layers[at].one_hot;
    }
    to->one_hot = 2 * one_hot > count;
}

/* The overflow that is the lower median of all, ordered by pass and layer. */
static void median_overflow(struct av_depth_stack *median, const struct av_depth_stack *stacks, size_t count)
{
    double layers[2][AV_DEPTH_SEEDS];
    size_t n[2] = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        enum av_depth_pass pass = stacks[i].overflow;
        if (pass != AV_DEPTH_NO_OVERFLOW) {
            layers[pass][n[pass]++] = (double)stacks[i].overflow_layer;
        }
    }
    median->overflow = AV_DEPTH_NO_OVERFLOW;
    median->overflow_layer = 0;
    if (2 * (n[0] + n[1]) > count) {
        median->overflow = n[AV_DEPTH_FORWARD] >= n[AV_DEPTH_BACKWARD] ? AV_DEPTH_FORWARD : AV_DEPTH_BACKWARD;
        median->overflow_layer = (size_t)av_median(layers[median->overflow], n[median->overflow]);
    }
}

void av_depth_median(struct av_depth_stack *median, const struct av_depth_stack *stacks, size_t count)
{
    double norm[AV_DEPTH_SEEDS] = { 0 };
    double clipped[AV_DEPTH_SEEDS] = { 0 };
    median->count = stacks[0].count;
    median->single = stacks[0].single;
    for (size_t at = 0; at < median->count; at++) {
        median_layer(median, stacks, count, at);
    }
    for (size_t i = 0; i < count; i++) {
        norm[i] = stacks[i].norm;
        clipped[i] = stacks[i].clipped;
    }
    median->norm = median_known(norm, count);
    median->clipped = median_known(clipped, count);
    median_overflow(median, stacks, count);
}

/* ---- Findings -------------------------------------------------------------------- */

static enum av_depth_fate judge(const struct av_depth_stack *s, const struct av_depth_finding *f, size_t alive)
{
    if (s->overflow != AV_DEPTH_NO_OVERFLOW) {
        return AV_DEPTH_FATE_OVERFLOW;
    }
    if (f->dead > 0) {
        return AV_DEPTH_FATE_DEAD;
    }
    if (alive == 0) {
        return AV_DEPTH_FATE_UNKNOWN;
    }
    if (f->growth >= AV_DEPTH_EXPLOSION) {
        return f->growth_x >= AV_DEPTH_EXPLOSION ? AV_DEPTH_FATE_EXPLODES : AV_DEPTH_FATE_FADES;
    }
    if (f->growth * AV_DEPTH_EXPLOSION < 1) {
        return AV_DEPTH_FATE_VANISHES;
    }
    return f->ratio > AV_DEPTH_FLAT ? AV_DEPTH_FATE_UNEVEN : AV_DEPTH_FATE_FLAT;
}

static double first_over_last(const struct av_depth_stack *s, enum av_depth_field field)
{
    return s->count > 0 ? s->layers[0].at[field] / s->layers[s->count - 1].at[field] : (double)NAN;
}

struct av_depth_finding av_depth_find(const struct av_depth_stack *s)
{
    struct av_depth_finding f = { .alike_from = s->count, .dead_from = s->count };
    double least = (double)INFINITY;
    double most = 0;
    size_t alive = 0;
    for (size_t i = s->count; i-- > 0;) {
        const struct av_depth_layer *layer = &s->layers[i];
        const enum av_depth_kind kind = av_depth_kind(layer, AV_DEPTH_GRAD_QK, s->single);
        if (layer->at[AV_DEPTH_COSINE] >= AV_DEPTH_ALIKE) {
            f.alike_from = i;
        }
        if (kind == AV_DEPTH_NOISE || kind == AV_DEPTH_ZERO) {
            f.dead++;
            f.dead_from = i;
        } else if (kind == AV_DEPTH_NUMBER) {
            alive++;
            least = fmin(least, layer->at[AV_DEPTH_GRAD_QK]);
            most = fmax(most, layer->at[AV_DEPTH_GRAD_QK]);
        }
    }
    f.ratio = alive > 0 ? most / least : (double)NAN;
    f.growth = first_over_last(s, AV_DEPTH_GRAD_QK);
    f.growth_x = first_over_last(s, AV_DEPTH_GRAD_X);
    f.fate = judge(s, &f, alive);
    return f;
}

double av_depth_fate_ratio(const struct av_depth_finding *f)
{
    const bool growth = f->fate >= AV_DEPTH_FATE_EXPLODES && f->fate <= AV_DEPTH_FATE_VANISHES;
    return growth ? f->growth : f->fate >= AV_DEPTH_FATE_UNEVEN ? f->ratio : (double)NAN;
}

const char *av_depth_fate_name(enum av_depth_fate fate)
{
    static const char *const names[] = { "unknown", "overflows", "dead",   "explodes",
                                         "fades",   "vanishes",  "uneven", "flat" };
    return names[fate];
}

/* ---- Words ------------------------------------------------------------------------- */

/* "tokens alike from layer 2; " or nothing. */
static int say_alike(char out[AV_DEPTH_WORDS], const struct av_depth_finding *f, size_t count)
{
    out[0] = '\0';
    return f->alike_from < count ? snprintf(out, AV_DEPTH_WORDS, "tokens alike from layer %zu; ", f->alike_from) : 0;
}

static void say_overflow(char *out, size_t room, const struct av_depth_stack *s)
{
    const bool forward = s->overflow == AV_DEPTH_FORWARD;
    snprintf(out, room, "%s overflows %s in layer %zu%s", forward ? "the signal" : "the gradient",
             s->single ? "f32" : "f64", s->overflow_layer, forward ? ": no gradients" : "");
}

const char *av_depth_words(char out[AV_DEPTH_WORDS], const struct av_depth_cell *cell)
{
    static const char *const around[][2] = {
        [AV_DEPTH_FATE_EXPLODES] = { "explode: first layer", "times last" },
        [AV_DEPTH_FATE_FADES] = { "fade: first layer", "times last" },
        [AV_DEPTH_FATE_VANISHES] = { "vanish: first layer", "times last" },
        [AV_DEPTH_FATE_UNEVEN] = { "uneven: largest", "times smallest" },
        [AV_DEPTH_FATE_FLAT] = { "flat: largest", "times smallest" },
    };
    const struct av_depth_stack *s = &cell->median;
    const struct av_depth_finding f = av_depth_find(s);
    const int used = say_alike(out, &f, s->count);
    char *to = out + used;
    const size_t room = AV_DEPTH_WORDS - (size_t)used;
    if (f.fate == AV_DEPTH_FATE_UNKNOWN) {
        snprintf(to, room, "not computed yet");
    } else if (f.fate == AV_DEPTH_FATE_OVERFLOW) {
        say_overflow(to, room, s);
    } else if (f.fate == AV_DEPTH_FATE_DEAD) {
        snprintf(to, room, "w_q, w_k dead in %zu of %zu layers, from %zu on", f.dead, s->count, f.dead_from);
    } else {
        char number[AV_FACT_NUMBER];
        av_fact_number(number, av_depth_fate_ratio(&f), AV_FACT_DIGITS);
        snprintf(to, room, "w_q, w_k %s %s %s", around[f.fate][0], number, around[f.fate][1]);
    }
    return out;
}
