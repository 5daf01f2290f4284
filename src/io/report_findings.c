/* report_findings.c - what the verdicts of several heads have in common. */
#include "attnviz/report_findings.h"

#include "attnviz/verdict_table.h"

#include <string.h>

/* Puts a verdict behind those that are as bad. */
static void put(const struct av_verdict *out[], size_t *count, const struct av_verdict *v)
{
    size_t at = (*count)++;
    for (; at > 0 && out[at - 1]->severity < v->severity; at--) {
        out[at] = out[at - 1];
    }
    out[at] = v;
}

static bool says(const struct av_verdict *const out[], size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(out[i]->text, text) == 0) {
            return true;
        }
    }
    return false;
}

size_t av_report_verdicts(const struct av_snapshot *s, const struct av_verdict *out[AV_REPORT_VERDICTS])
{
    size_t n = 0;
    for (size_t i = 0; i < s->verdict_count; i++) {
        if (!av_diagnosis_replaces(s->diagnosis, s->verdicts[i].code)) {
            put(out, &n, &s->verdicts[i]);
        }
    }
    for (size_t i = 0; s->diagnosis != NULL && i < s->diagnosis->finding_count; i++) {
        if (!says(out, n, s->diagnosis->findings[i].text)) {
            put(out, &n, &s->diagnosis->findings[i]);
        }
    }
    return n;
}

size_t av_report_codes(const struct av_snapshot *s, const struct av_verdict *out[AV_REPORT_VERDICTS])
{
    size_t n = 0, count = av_report_verdicts(s, out);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < n && strcmp(out[k]->code, out[i]->code) != 0) {
            k++;
        }
        if (k == n) {
            out[n++] = out[i];
        }
    }
    return n;
}

static bool goes_before(const struct av_finding *a, const struct av_finding *b)
{
    if (a->verdict.severity != b->verdict.severity) {
        return a->verdict.severity > b->verdict.severity;
    }
    size_t place_a = av_verdict_place(a->verdict.code), place_b = av_verdict_place(b->verdict.code);
    return a->heads != b->heads ? a->heads > b->heads
           : place_a != place_b ? place_a < place_b
                                : strcmp(a->verdict.code, b->verdict.code) < 0;
}

/* Moves a finding that has one head more to its place among those before it. */
static void move_up(const struct av_findings *f, struct av_finding *at)
{
    for (; at > f->at && goes_before(at, at - 1); at--) {
        struct av_finding before = at[-1];
        at[-1] = at[0];
        at[0] = before;
    }
}

static void add_verdict(struct av_findings *f, const struct av_verdict *v, const struct av_snapshot *s, size_t place)
{
    size_t at = 0;
    while (at < f->count &&
           (f->at[at].verdict.severity != v->severity || strcmp(f->at[at].verdict.code, v->code) != 0)) {
        at++;
    }
    if (at == AV_FINDINGS_MAX) {
        return;
    }
    struct av_finding *finding = &f->at[at];
    bool anew = at == f->count;
    if (anew || place < finding->first) {
        *finding = (struct av_finding){
            .verdict = *v,
            .heads = anew ? 0 : finding->heads,
            .first = place,
            .layer = s->from_files ? s->layer->number : 0,
            .head = s->head,
        };
    }
    f->count += anew;
    finding->heads++;
    move_up(f, finding);
}

void av_findings_add(struct av_findings *f, const struct av_snapshot *s, size_t place)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_codes(s, verdicts);
    f->heads++;
    for (size_t i = 0; i < count; i++) {
        add_verdict(f, verdicts[i], s, place);
    }
}

int av_findings_worst(const struct av_findings *f)
{
    return f->count > 0 ? (int)f->at[0].verdict.severity : -1;
}

void av_findings_words(struct av_str *out, const struct av_findings *f, enum av_severity least)
{
    for (size_t i = 0; i < f->count && f->at[i].verdict.severity >= least; i++) {
        av_str_addf(out, "%s%s %s", i > 0 ? ", " : "", av_report_severity(f->at[i].verdict.severity),
                    f->at[i].verdict.code);
        if (f->heads > 1) {
            av_str_addf(out, " in %zu of %zu heads", f->at[i].heads, f->heads);
        }
    }
}
