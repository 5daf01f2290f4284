/* diagnosis_findings.c - what is found, from the numbers: all but weights and scale. */
#include "diagnosis_state.h"

#include "attnviz/verdict_rules.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void av_diagnosis_add(struct av_diagnosis *r, const char *code, enum av_severity severity, const char *format, ...)
{
    assert(r->finding_count < AV_DIAGNOSIS_FINDINGS);
    struct av_verdict *v = &r->findings[r->finding_count++];
    v->code = code;
    v->severity = severity;
    va_list words;
    va_start(words, format);
    vsnprintf(v->text, sizeof v->text, format, words);
    va_end(words);
}

bool av_diagnosis_found(const struct av_diagnosis *r, const char *code)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        if (strcmp(r->findings[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

bool av_diagnosis_replaces(const struct av_diagnosis *diagnosis, const char *code)
{
    if (diagnosis == NULL) {
        return false;
    }
    return (diagnosis->of_file && (strcmp(code, "saturated") == 0 || strcmp(code, "gradient_dead") == 0)) ||
           (diagnosis->entries_not_finite && strcmp(code, "score_overflow") == 0);
}

bool av_diagnosis_spoilt(const struct av_diagnoser *d)
{
    uint64_t count = 0;
    for (size_t part = 0; part <= AV_PART_SCORES; part++) {
        count += d->not_finite[part].nan + d->not_finite[part].infinite;
    }
    return count > 0;
}

static void add_found(struct av_diagnosis *r, const struct av_verdict *found, const char *of)
{
    av_diagnosis_add(r, found->code, found->severity, "%s%s", of, found->text);
}

static void find_not_finite(struct av_diagnoser *d)
{
    for (size_t part = 0; part < AV_PARTS; part++) {
        const struct av_diagnosis_holes *f = &d->not_finite[part];
        for (int nan = 1; nan >= 0; nan--) {
            const size_t *first = nan ? f->first_nan : f->first_infinite;
            struct av_verdict_holes holes = { d->at->part[part].name,     d->at->number, first[0],
                                              nan ? f->nan : f->infinite, first[1],      first[2] };
            struct av_verdict found;
            if (holes.count > 0) {
                av_verdict_not_finite(&found, nan, &holes);
                add_found(&d->result, &found, "");
            }
        }
    }
}

/* Of the file's own weights or scores beside Q and K: what the pipeline makes of these,
 * or of weights or scores alone, is its own to judge. */
static void find_saturation(struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    bool weights = av_diagnosis_has(d, AV_PART_WEIGHTS);
    const char *of = weights ? "weights of the file: " : "scores of the file: ";
    const struct av_judged_rows rows = {
        .share = v->share_max_gt_0_9,
        .std = isnan(v->logit_std) ? v->logit_row_std : v->logit_std,
        .row_std = v->logit_row_std,
        .freezing = v->freezing,
        .differ = av_diagnosis_mask(d) == AV_MASK_CAUSAL,
    };
    struct av_verdict found;
    if (d->logit.rows == 0 || !d->result.of_file) {
        return;
    }
    if (isnan(v->logit_row_std) && v->share_max_gt_0_9 > AV_LARGEST_SHARE) {
        av_diagnosis_add(&d->result, "saturated", v->share_max_gt_0_9 > AV_FROZEN_SHARE ? AV_BAD : AV_WARN,
                         "%s%.0f%% of rows give more than 0.9 to one key; a weight of exactly 0 in every row hides how "
                         "far the logits lie apart",
                         of, 100 * v->share_max_gt_0_9);
    } else if (!isnan(v->logit_row_std) && av_verdict_saturated(&found, &rows)) {
        add_found(&d->result, &found, of);
    }
    if (av_verdict_dead(&found, v->share_fro_lt_1e_3, v->jacobian_fro_median, "softmax")) {
        add_found(&d->result, &found, of);
    }
}

static void find_dots(struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    if (v->dot_beyond_float16 > 0) {
        av_diagnosis_add(&d->result, "float16_overflow", AV_WARN,
                         "|q.k| of %.0f pairs%s is beyond 65504, the largest float16; the largest is %.6g, row %zu, "
                         "column %zu: %.6g over sqrt(d_k)",
                         v->dot_beyond_float16, d->result.sampled ? " of the rows looked at" : "", v->dot_max,
                         d->dot.largest_at[0], d->dot.largest_at[1], v->dot_max / sqrt((double)d->at->d));
    }
    if (isnan(v->dot_std)) {
        return;
    }
    if (!av_diagnosis_has(d, AV_PART_WEIGHTS) && !av_diagnosis_has(d, AV_PART_SCORES)) {
        av_diagnosis_add(&d->result, "scale_unknown", AV_INFO,
                         "Q and K do not tell whether the scale is applied: with 1/sqrt(d_k) %.0f%% of rows give more "
                         "than 0.9 to one key, mean H / ln keys %.3g; without %.0f%%, %.3g",
                         100 * v->saturated_scaled, v->entropy_scaled, 100 * v->saturated_bare, v->entropy_bare);
    }
    double m = d->multiplier;
    av_diagnosis_add(&d->result, "logit_std", AV_INFO,
                     "logits%s, q.k times %.3g, spread by %.3g within a row; independent entries of these means and "
                     "standard deviations would give %.3g: a trained model's logits are not N(0, 1)",
                     d->causal_seen || d->causal_fits ? " of causal pairs" : "", m, m * v->dot_std,
                     m * v->predicted_std);
}

void av_diagnosis_sort(struct av_diagnosis *r)
{
    for (size_t i = 1; i < r->finding_count; i++) {
        struct av_verdict v = r->findings[i];
        size_t at = i;
        for (; at > 0 && r->findings[at - 1].severity < v.severity; at--) {
            r->findings[at] = r->findings[at - 1];
        }
        r->findings[at] = v;
    }
}

static bool holes_in(const struct av_diagnosis_holes *f)
{
    return f->nan + f->infinite > 0;
}

void av_diagnosis_find(struct av_diagnoser *d)
{
    d->result.causal = d->causal_seen || d->causal_fits;
    d->result.entries_not_finite = holes_in(&d->not_finite[AV_PART_Q]) || holes_in(&d->not_finite[AV_PART_K]);
    find_not_finite(d);
    d->result.of_file = d->result.of_file || (d->unmasked > 0 && d->at->d == 0);
    find_saturation(d);
    av_diagnosis_find_fill(d);
    av_diagnosis_find_weights(d);
    av_diagnosis_find_hidden(d);
    av_diagnosis_find_scale(d);
    find_dots(d);
    av_diagnosis_sort(&d->result);
}
