/* rowstats.c - logarithms of the quantities of a row: that of exp(-D), which
 * is -D, and that of a number of ordinary size. */
#include "attnviz/rowstats.h"

#include <float.h>
#include <math.h>

static double log10_value(const struct av_rowstats *row, double scaled)
{
    const double log10_e = 0x1.bcb7b1526e50ep-2;
    if (row->scaled.half_gap >= DBL_MAX) {
        return -(double)INFINITY; /* the gap itself was beyond the largest double */
    }
    return log10(scaled) - row->scaled.half_gap * (2 * log10_e);
}

double av_rowstats_log10_one_minus_max(const struct av_rowstats *row)
{
    return log10_value(row, row->scaled.one_minus_max);
}

double av_rowstats_log10_entropy(const struct av_rowstats *row)
{
    if (row->scaled.half_gap <= 0) {
        return log10(row->entropy); /* nothing is taken out; 1 - max may be 0 */
    }
    /* The factors apart, for their product may overflow. */
    return av_rowstats_log10_one_minus_max(row) + (log10(row->scaled.half_surprise) + log10(2));
}

double av_rowstats_log10_trace(const struct av_rowstats *row)
{
    return log10_value(row, row->scaled.trace);
}

double av_rowstats_log10_jacobian_fro(const struct av_rowstats *row)
{
    return log10_value(row, row->scaled.jacobian_fro);
}
