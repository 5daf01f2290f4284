/* diagnosis_score_masks.c - masks that scores hold as finite numbers. */
#include "diagnosis_state.h"

#include <math.h>

void av_diagnosis_add_fill(struct av_diagnoser *d, size_t seen)
{
    struct av_fill_sums *s = &d->fill;
    const double *x = d->scores;
    size_t n = d->at->n_k;
    if (seen == 0 || seen == n || !isfinite(x[n - 1])) {
        return;
    }
    s->number = s->rows == 0 ? x[n - 1] : s->number;
    double most = x[n - 1], others = 0, masked = 0;
    for (size_t j = 0; j < n; j++) {
        s->uneven = s->uneven || (j >= seen && x[j] != s->number);
        most = fmax(most, x[j]);
    }
    for (size_t j = 0; j < n; j++) {
        *(j < seen ? &others : &masked) += exp(x[j] - most);
    }
    s->share += masked / (masked + others);
    s->rows++;
}

void av_diagnosis_find_fill(struct av_diagnoser *d)
{
    const struct av_fill_sums *s = &d->fill;
    if (d->unmasked > 0) {
        av_diagnosis_add(&d->result, "mask_seen", AV_INFO,
                         "%llu scores are masks written as finite numbers, the lowest %.4g: they are left out",
                         (unsigned long long)d->unmasked, d->lowest);
    }
    if (s->rows >= 2 && !s->uneven && !av_diagnosis_has(d, AV_PART_WEIGHTS)) {
        double share = s->share / (double)s->rows;
        av_diagnosis_add(&d->result, "mask_leak", av_diagnosis_leak_severity(share),
                         "masked keys have the score %.4g in %zu rows, in the place of -infinity: mean share of the "
                         "weight %.3g%s",
                         s->number, s->rows, share,
                         av_diagnosis_leak_severity(share) == AV_INFO ? ", too little to change a sum" : "");
    }
}
