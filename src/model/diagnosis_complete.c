/* diagnosis_complete.c - what a pass over all pairs adds to a diagnosis of some rows. */
#include "diagnosis_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The finding of that code, or a new one; NULL: there is no room. */
static struct av_verdict *overflow_of(struct av_diagnosis *d)
{
    static const char CODE[] = "float16_overflow";
    for (size_t i = 0; i < d->finding_count; i++) {
        if (strcmp(d->findings[i].code, CODE) == 0) {
            return &d->findings[i];
        }
    }
    if (d->finding_count == AV_DIAGNOSIS_FINDINGS) {
        return NULL;
    }
    av_diagnosis_add(d, CODE, AV_WARN, "%s", "");
    av_diagnosis_sort(d);
    return overflow_of(d);
}

void av_diagnosis_complete(struct av_diagnosis *d, const struct av_snapshot *s)
{
    const struct av_moments *m = &s->score_moments;
    double largest = fmax(fabs(m->min), fabs(m->max));
    if (!d->sampled || s->from != AV_PART_Q || m->count == 0 || !(largest > d->evidence.dot_max)) {
        return;
    }
    d->evidence.dot_max = largest;
    struct av_verdict *v = largest > AV_FLOAT16_MAX ? overflow_of(d) : NULL;
    if (v != NULL) {
        snprintf(v->text, sizeof v->text,
                 "the largest |q.k| of all pairs is %.6g, beyond 65504, the largest float16: %.6g over sqrt(d_k); of "
                 "the %.0f rows looked at %.0f pairs are",
                 largest, largest / sqrt((double)s->d_k), d->evidence.rows, d->evidence.dot_beyond_float16);
    }
}
