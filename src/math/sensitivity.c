/* sensitivity.c - the logistic curve of one key against the others. */
#include "attnviz/sensitivity.h"

#include <math.h>

static bool unmasked(double z)
{
    return !(isinf(z) && z < 0);
}

struct av_sensitivity av_sensitivity_make(const double *z, size_t n, size_t key)
{
    struct av_sensitivity s = { 0, -(double)INFINITY, 0, true };
    size_t at = key;
    for (size_t j = 0; j < n; j++) {
        if (j != key && unmasked(z[j])) {
            s.others++;
            at = at == key || z[j] > z[at] ? j : at;
        }
    }
    s.top = s.others > 0 ? z[at] : s.top;
    double rest = 0; /* beside the largest's exp(0) */
    for (size_t j = 0; j < n; j++) {
        if (j != key && j != at && unmasked(z[j])) {
            rest += z[j] < s.top ? exp(z[j] - s.top) : 1;
            s.equal &= !(z[j] < s.top);
        }
    }
    s.log_sum = log1p(rest);
    return s;
}

double av_sensitivity_peak(const struct av_sensitivity *s)
{
    return s->top + s->log_sum;
}

struct av_sensitivity_point av_sensitivity_at(const struct av_sensitivity *s, double z)
{
    const double ln10 = log(10);
    if (s->others == 0) {
        return (struct av_sensitivity_point){ 1, 0, 0, 0, -(double)INFINITY, -(double)INFINITY };
    }
    double t = z - s->top - s->log_sum;
    double e = exp(-fabs(t));
    double large = 1 / (1 + e); /* of p and 1 - p the larger one, and the other */
    double small = e / (1 + e);
    double log_large = -log1p(e) / ln10;
    double log_small = log_large - fabs(t) / ln10;
    return (struct av_sensitivity_point){
        .p = t >= 0 ? large : small,
        .one_minus_p = t >= 0 ? small : large,
        .slope = large * small,
        .log10_p = t >= 0 ? log_large : log_small,
        .log10_one_minus_p = t >= 0 ? log_small : log_large,
        .log10_slope = log_large + log_small,
    };
}

double av_sensitivity_steepest(const struct av_sensitivity *s, double from, double to)
{
    double peak = av_sensitivity_peak(s);
    if (s->others > 0 && from <= peak && peak <= to) {
        return 0.25;
    }
    return fmax(av_sensitivity_at(s, from).slope, av_sensitivity_at(s, to).slope);
}
