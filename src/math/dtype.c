/* dtype.c - numbers rounded as narrower types hold them. */
#include "attnviz/dtype.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Of each type: bits of the significand, the leading one included, and the
 * exponents of normal numbers; of f64 too, whose numbers need no rounding. */
static const struct format {
    int digits, least, most;
    double max, tiny;
} formats[AV_DTYPES] = {
    [AV_DTYPE_F64] = { 0, 0, 0, DBL_MAX, 0x1p-1074 },
    [AV_DTYPE_F32] = { 24, -126, 127, 0x1.fffffep127, 0x1p-149 },
    [AV_DTYPE_BF16] = { 8, -126, 127, 0x1.fep127, 0x1p-133 },
    [AV_DTYPE_F16] = { 11, -14, 15, 0x1.ffcp15, 0x1p-24 },
    [AV_DTYPE_INT8] = { 0, 0, 0, (double)NAN, (double)NAN },
};

enum { BIAS = 1023, FRACTION = 52 }; /* of a double */

/* Adding 1.5 * 2^p puts the last place of a double at 2^(p - 52), and rounds
 * there as the processor does, to nearest even; p is chosen so that this is the
 * last place of the narrow number, which below the normal ones is fixed. Above
 * them anything too large comes out too large. */
static double narrow(double x, const struct format *f)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> FRACTION & 0x7ff) - BIAS;
    exponent = exponent < f->least ? f->least : exponent;
    exponent = exponent > f->most + 1 ? f->most + 1 : exponent;
    uint64_t pivot_bits = (uint64_t)(exponent + BIAS + FRACTION + 1 - f->digits) << FRACTION | 1ULL << (FRACTION - 1);
    double pivot;
    memcpy(&pivot, &pivot_bits, sizeof pivot);
    double rounded = (x + pivot) - pivot;
    return copysign(fabs(rounded) > f->max ? (double)INFINITY : rounded, x);
}

double av_dtype_round(enum av_dtype dtype, double x)
{
    const struct format *f = &formats[dtype];
    return f->digits > 0 ? narrow(x, f) : x;
}

void av_dtype_round_all(enum av_dtype dtype, double *x, size_t n)
{
    const struct format f = formats[dtype];
    for (size_t i = 0; f.digits > 0 && i < n; i++) {
        x[i] = narrow(x[i], &f);
    }
}

double av_dtype_max(enum av_dtype dtype)
{
    return formats[dtype].max;
}

double av_dtype_tiny(enum av_dtype dtype)
{
    return formats[dtype].tiny;
}

double av_quantise(double *q, const double *x, size_t n)
{
    double largest = 0;
    for (size_t c = 0; c < n; c++) {
        if (fabs(x[c]) > largest || isnan(x[c])) { /* a NaN stays */
            largest = fabs(x[c]);
        }
    }
    double scale = largest / 127;
    if (!(scale >= DBL_MIN && scale <= DBL_MAX)) {
        memset(q, 0, n * sizeof *q);
        return isfinite(scale) ? 0 : (double)NAN;
    }
    for (size_t c = 0; c < n; c++) {
        q[c] = rint(x[c] / scale);
    }
    return scale;
}
