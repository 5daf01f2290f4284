/* lanes_log.h - the logarithm of positive numbers.
 *
 * The same bits on every instruction set: only + - * / and integers, never
 * contracted. */
#ifndef ATTNVIZ_LANES_LOG_H
#define ATTNVIZ_LANES_LOG_H

#include "lanes.h"

/* ln(1 + f) = 2 atanh(s) = f - s (f - R), s = f / (2 + f), by its series
 * R = 2/3 s^2 + 2/5 s^4 + ..., cut off below 2^-60 of ln(1 + f) for
 * |s| <= 0.1716. */
static inline vd log_series(vd f)
{
    const vd s = f / (2 + f), s2 = s * s, s4 = s2 * s2, s8 = s4 * s4;
    const vd r01 = 2.0 / 3 + s2 * (2.0 / 5), r23 = 2.0 / 7 + s2 * (2.0 / 9);
    const vd r45 = 2.0 / 11 + s2 * (2.0 / 13), r67 = 2.0 / 15 + s2 * (2.0 / 17);
    const vd r89 = 2.0 / 19 + s2 * (2.0 / 21);
    const vd r = s2 * ((r01 + s4 * r23) + s8 * ((r45 + s4 * r67) + s8 * r89));
    return s * (f - r);
}

/* ln x of normal x > 0: x = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2). */
static inline vd vd_log(vd x)
{
    const uint64_t one = 0x3ff0000000000000, root_half = 0x3fe6a09e667f3bcd;
    const double ln2_high = 0x1.62e42fefa2p-1, ln2_low = 0x1.9ef35793c7673p-41;
    const vu64 biased = ((vu64)x + (one - root_half)) >> 52;
    const vd k = (vd)(biased | 0x4330000000000000) - (0x1p52 + 1023);
    const vd f = (vd)((vu64)x - (biased << 52) + one) - 1;
    return k * ln2_high + (f - (log_series(f) - k * ln2_low));
}

#endif
