/* diagnosis_scale.c - which multiplier was in force, from how weights follow q.k. */
#include "diagnosis_state.h"

#include <math.h>
#include <stdio.h>

#define GOOD_R2 0.99
#define AVERAGED 0x1p-8 /* a distance that rounding to bfloat16 explains */
#define TOLERANCE 0.02
#define UNSURE 0.1 /* relative standard error of a slope that tells nothing */

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
    fit.m = fabs(s->slope - value) <= TOLERANCE * value + 3 * s->error ? m : NULL;
    return fit;
}

/* The nearest of those that fit, the first of equals; `also` names one that is
 * the same number, or is NULL. */
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
            } else if (fit.m != NULL && fabs(fit.distance - best.distance) <= 1e-9) {
                *also = fit.m;
            }
        }
    }
    return best;
}

static void tell_fit(struct av_diagnoser *d, const char *what)
{
    const struct av_slope *s = &d->result.evidence.multiplier;
    const struct multiplier *also = NULL;
    struct fit fit = nearest(d, &also);
    double right = 1 / sqrt((double)d->at->d);
    if (fit.m == NULL) {
        av_diagnosis_add(&d->result, "scale_other", AV_INFO,
                         "%s follow q.k times %.4g (R^2 %.4f): %.3g times 1/sqrt(d_k) = %.4g, and no multiplier that "
                         "is known",
                         what, s->slope, s->r2, s->slope / right, right);
        return;
    }
    char over[48] = "", same[64] = "";
    if (fit.temperature != 1) {
        snprintf(over, sizeof over, " over the temperature %.3g", fit.temperature);
    }
    if (also != NULL) {
        snprintf(same, sizeof same, " (%s is the same number)", also->name);
    }
    av_diagnosis_add(&d->result, fit.m->code, fit.m->severity,
                     "%s follow q.k times %.4g (R^2 %.4f), which is %s%s%s: %s", what, s->slope, s->r2, fit.m->name,
                     over, same, fit.m->meaning);
}

bool av_diagnosis_unexplained(const struct av_diagnoser *d)
{
    const struct av_slope s = av_slope_of(&d->slope);
    double rounding = av_diagnosis_has(d, AV_PART_WEIGHTS) ? av_diagnosis_rounding(&d->weight) : 0;
    return s.r2 < GOOD_R2 && s.residual > rounding;
}

static void tell_unexplained(struct av_diagnoser *d, const char *what)
{
    const struct av_evidence *v = &d->result.evidence;
    const struct av_slope *s = &v->multiplier;
    if (v->averaged_distance < AVERAGED && v->own_distance > 4 * AVERAGED) {
        av_diagnosis_add(
            &d->result, "averaged_over_heads", AV_WARN,
            "weights are the mean over the %zu heads' softmax of q.k times %.4g, in %zu rows to %.2g (half "
            "the sum of |differences|); of this head alone: %.2g",
            d->at->n_head, d->multiplier, av_diagnosis_averaged_rows(d), v->averaged_distance, v->own_distance);
    } else {
        av_diagnosis_add(&d->result, "weights_not_of_qk", AV_INFO,
                         "%s do not follow q.k: the best multiplier, %.4g, explains %.1f%% of the variance within rows "
                         "(std left %.3g)",
                         what, s->slope, 100 * s->r2, s->residual);
    }
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
                         "too few keys have any weight beside the largest of their row to tell the multiplier");
    } else if (s->r2 >= GOOD_R2 && s->error <= UNSURE * fabs(s->slope)) {
        tell_fit(d, what);
    } else if (av_diagnosis_unexplained(d)) {
        tell_unexplained(d, what);
    } else {
        av_diagnosis_add(&d->result, "scale_unknown", AV_INFO,
                         "%s are too even to tell the multiplier: rounding alone may leave what does not follow q.k "
                         "(std %.2g, R^2 %.3f)",
                         what, s->residual, s->r2);
    }
}
