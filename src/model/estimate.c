/* estimate.c - measured against theory, in standard errors. */
#include "attnviz/estimate.h"

#include <math.h>
#include <stdio.h>

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

/* ---- Text ------------------------------------------------------------------- */

/* Decimals that show `digits` significant ones of a standard error as it is
 * rounded to them: of 0.0137 with one digit 2, of 0.0098 also 2, of 12.8 none. */
static int decimals_of(double se, int digits)
{
    double power = floor(log10(se));
    double unit = pow(10, power + 1 - digits);
    power += round(se / unit) * unit >= pow(10, power + 1) * (1 - 1e-9) ? 1 : 0;
    return digits - 1 > power ? digits - 1 - (int)power : 0;
}

/* Without the sign of a number that rounds to 0. */
static double unsigned_zero(double v, int decimals)
{
    return fabs(v) < 0.5 * pow(10, -decimals) ? 0 : v;
}

bool av_estimate_text(char value_text[AV_ESTIMATE_TEXT_MAX], char error_text[AV_ESTIMATE_TEXT_MAX], double value,
                      double error, int digits)
{
    if (!(error > 1e-5 && error < 1e6 && fabs(value) < 1e6)) {
        return false;
    }
    int decimals = decimals_of(error, digits);
    snprintf(value_text, AV_ESTIMATE_TEXT_MAX, "%.*f", decimals, unsigned_zero(value, decimals));
    snprintf(error_text, AV_ESTIMATE_TEXT_MAX, "%.*f", decimals, error);
    return true;
}
