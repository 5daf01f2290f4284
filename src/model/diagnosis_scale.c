/* diagnosis_scale.c - which multiplier was in force, from how weights follow q.k. */
#include "diagnosis_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* d_k^d n_head^heads, and what it means. */
struct multiplier {
    const char *code;
    enum av_severity severity;
    const char *name, *meaning;
    double d, heads;
};

static const struct multiplier multipliers[] = {
    { "scale_ok", AV_INFO, "1/sqrt(d_k)", "as it should be", -0.5, 0 },
    { "scale_missing", AV_WARN, "1", "the scale 1/sqrt(d_k) is missing", 0, 0 },
    { "scale_twice", AV_WARN, "1/d_k", "the scale is applied twice", -1, 0 },
    { "scale_d_model", AV_WARN, "1/sqrt(d_model)", "d_model = n_head d_k stands in the place of d_k", -0.5, -0.5 },
    { "scale_inverted", AV_BAD, "sqrt(d_k)", "multiplied by sqrt(d_k), not divided", 0.5, 0 },
};

enum { MULTIPLIERS = sizeof multipliers / sizeof multipliers[0] };

static double value_of(const struct multiplier *m, const struct av_diagnoser *d)
{
    return pow((double)d->at->d, m->d) * pow((double)d->at->n_head, m->heads);
}

/* What was found to fit: a multiplier, over temperature or not. */
struct fit {
    const struct multiplier *m; /* NULL: none */
    double temperature;         /* 1: not */
    double distance;            /* |ln(slope / value)| */
};

static struct fit fit_of(const struct av_diagnoser *d, const struct multiplier *m, double temperature)
{
    const struct av_slope *s = &d->result.evidence.multiplier;
    double value = value_of(m, d) / temperature;
    struct fit fit = { .temperature = temperature, .distance = fabs(log(s->slope / value)) };
    fit.m = fabs(s->slope - value) <= AV_SLOPE_TOLERANCE * value + 3 * s->error ? m : NULL;
    return fit;
}

/* The nearest of those that fit, the first of equals, so that one over temperature
 * is named where none without fits; `also` is one that is the same number, or NULL. */
static struct fit nearest(const struct av_diagnoser *d, const struct multiplier **also)
{
    const double temperatures[] = { 1, d->params.temperature };
    struct fit best = { .distance = (double)INFINITY };
    *also = NULL;
    for (size_t t = 0; t < (temperatures[1] != 1 ? 2 : 1); t++) {
        for (size_t i = 0; i < MULTIPLIERS; i++) {
            struct fit fit = fit_of(d, &multipliers[i], temperatures[t]);
            if (fit.m != NULL && fit.distance < best.distance - 1e-9) {
                best = fit;
                *also = NULL;
            } else if (fit.m != NULL && t == 0 && fabs(fit.distance - best.distance) <= 1e-9) {
                *also = fit.m;
            }
        }
    }
    return best;
}

/* What rounding to the type of the weights, or scores, leaves at most: of their
 * logarithms, and of the logits, which were of that type before. */
static double rounding_left(const struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    double rounding = av_diagnosis_rounding_of(av_diagnosis_has(d, AV_PART_WEIGHTS) ? d->weight.wider : d->wider);
    return rounding * (1 + fabs(v->multiplier.slope) * v->dot_max);
}

static void tell_unexplained(struct av_diagnoser *d, const char *what)
{
    const struct av_slope *s = &d->result.evidence.multiplier, *swapped = &d->result.evidence.swapped;
    if (swapped->r2 >= AV_SLOPE_GOOD_R2) {
        av_diagnosis_add(&d->result, "weights_not_of_qk", AV_WARN,
                         "%s do not follow q_i.k_j (R^2 %.3f) but k_i.q_j times %.4g (R^2 %.4f, of %zu rows): queries "
                         "and keys are swapped",
                         what, s->r2, swapped->slope, swapped->r2, av_diagnosis_averaged_rows(d));
        return;
    }
    av_diagnosis_add(&d->result, "weights_not_of_qk", AV_INFO,
                     "%s do not follow q.k: the best multiplier, %.4g, explains %.1f%% of the variance within rows "
                     "(residual std %.3g); look for a rotary embedding or a bias added after the dump, a softcap, "
                     "another head's keys",
                     what, s->slope, 100 * s->r2, s->residual);
}

static void tell_other(struct av_diagnoser *d, const char *what)
{
    const struct av_slope *s = &d->result.evidence.multiplier;
    double right = 1 / sqrt((double)d->at->d);
    if (s->residual > rounding_left(d)) {
        tell_unexplained(d, what);
        return;
    }
    bool turned = s->slope < 0;
    av_diagnosis_add(
        &d->result, "scale_other", turned ? AV_WARN : AV_INFO,
        "%s follow q.k times %.4g (R^2 %.4f, residual std %.2g): %.3g times 1/sqrt(d_k) = %.4g, %sas with a "
        "temperature of %.3g",
        what, s->slope, s->r2, s->residual, s->slope / right, right, turned ? "of the wrong sign, " : "",
        right / s->slope);
}

static void tell_fit(struct av_diagnoser *d, const char *what)
{
    const struct av_slope *s = &d->result.evidence.multiplier;
    const struct multiplier *also = NULL;
    struct fit fit = nearest(d, &also);
    if (fit.m == NULL) {
        tell_other(d, what);
        return;
    }
    char is[80] = "", same[96] = "", right[48] = "";
    if (fit.temperature != 1) {
        snprintf(is, sizeof is, " = %s over the temperature %.3g", fit.m->name, fit.temperature);
    } else if (strcmp(fit.m->name, "1") != 0) {
        snprintf(is, sizeof is, " = %s", fit.m->name);
    }
    if (also != NULL && fit.m != multipliers) { /* of one head d_model is d_k */
        snprintf(same, sizeof same, ", or %s, the same number here: %s", also->name, also->meaning);
    }
    if (fit.m != multipliers) {
        snprintf(right, sizeof right, ", not 1/sqrt(%zu) = %.4g", d->at->d, 1 / sqrt((double)d->at->d));
    }
    av_diagnosis_add(&d->result, fit.m->code, fit.m->severity,
                     "%s: %s follow q.k times %.4g%s%s%s (R^2 %.4f, residual std %.2g)", fit.m->meaning, what, s->slope,
                     is, right, same, s->r2, s->residual);
}

bool av_diagnosis_unexplained(const struct av_diagnoser *d)
{
    const struct av_slope s = av_slope_of(&d->slope);
    double rounding = av_diagnosis_has(d, AV_PART_WEIGHTS) ? av_diagnosis_rounding(&d->weight) : 0;
    return s.r2 < AV_SLOPE_GOOD_R2 && s.residual > rounding;
}

static void tell_averaged(struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    av_diagnosis_add(&d->result, "averaged_over_heads", AV_WARN,
                     "weights are the mean over the %zu heads' softmax of q.k times %.4g, in %zu rows to %.2g (half "
                     "the sum of |differences|); of this head alone: %.2g",
                     d->at->n_head, av_diagnosis_mean_multiplier(d), av_diagnosis_averaged_rows(d),
                     v->averaged_distance, v->own_distance);
}

void av_diagnosis_find_scale(struct av_diagnoser *d)
{
    const struct av_slope *s = &d->result.evidence.multiplier;
    bool weights = av_diagnosis_has(d, AV_PART_WEIGHTS);
    const struct av_diagnosis *r = &d->result;
    bool there = !isnan(r->evidence.dot_std) && (weights || av_diagnosis_has(d, AV_PART_SCORES));
    if (!there || d->weight.negative > 0 || av_diagnosis_found(r, "softmax_wrong_axis") ||
        av_diagnosis_found(r, "softmax_twice")) {
        return;
    }
    const char *what = weights ? "weights" : "scores";
    if (isnan(s->slope)) {
        av_diagnosis_add(&d->result, "scale_unknown", AV_INFO,
                         "too few keys have any weight beside the others of their row to tell the multiplier");
    } else if (s->r2 >= AV_SLOPE_GOOD_R2 && s->error <= AV_SLOPE_UNSURE * fabs(s->slope)) {
        tell_fit(d, what);
    } else if (av_diagnosis_unexplained(d)) {
        if (d->number > 0 && av_diagnosis_is_mean(d)) {
            tell_averaged(d);
        } else {
            tell_unexplained(d, what);
        }
    } else {
        av_diagnosis_add(&d->result, "scale_unknown", AV_INFO,
                         "%s are too even to tell the multiplier: rounding alone may leave what does not follow q.k "
                         "(residual std %.2g, R^2 %.3f)",
                         what, s->residual, s->r2);
    }
}
