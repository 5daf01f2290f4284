/* estimate.c - measured against theory, in standard errors. */
#include "attnviz/estimate.h"

#include <math.h>

struct av_estimate av_estimate_times(const struct av_estimate *e, double factor)
{
    return (struct av_estimate){ factor * e->theory, factor * e->measured, factor * e->error };
}

double av_estimate_deviation(const struct av_estimate *e)
{
    return e->error > 0 ? (e->measured - e->theory) / e->error : (double)NAN;
}

enum av_estimate_verdict av_estimate_judge(const struct av_estimate *e, double limit)
{
    const double most = 0.2;
    const double rounding = 1e-6;
    double off = fabs(e->measured - e->theory);
    if (isnan(off) || isnan(e->error) || isnan(limit) || e->error > most * e->theory) {
        return AV_ESTIMATE_FEW;
    }
    return off <= limit * e->error + rounding * e->theory ? AV_ESTIMATE_AGREES : AV_ESTIMATE_OFF;
}
