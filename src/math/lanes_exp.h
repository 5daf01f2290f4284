/* lanes_exp.h - the exponential of numbers that are not positive.
 *
 * The error is below one unit in the last place for every normal result (0.94
 * at worst in 10^8 tries) and below one smallest denormal for the others, and
 * the bits are the same on every instruction set: only + - * and integers,
 * never contracted. */
#ifndef ATTNVIZ_LANES_EXP_H
#define ATTNVIZ_LANES_EXP_H

#include "lanes.h"

/* q(r) in exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2, to a relative error of
 * exp of 1.1e-17: tests/reference/exp_polynomial.py computes the coefficients. */
static inline vd exp_remainder(vd r, vd r2)
{
    const vd q01 = 0x1.000000000000ap-1 + 0x1.55555555554fap-3 * r;
    const vd q23 = 0x1.555555555087cp-5 + 0x1.1111111127be5p-7 * r;
    const vd q45 = 0x1.6c16c1842a11dp-10 + 0x1.a01a012a57b51p-13 * r;
    const vd q67 = 0x1.a0199a0c677acp-16 + 0x1.71df2552390c2p-19 * r;
    const vd q89 = 0x1.28ad72cc30daap-22 + 0x1.ad7f6f0799ee2p-26 * r;
    const vd r4 = r2 * r2;
    return (q01 + q23 * r2) + r4 * ((q45 + q67 * r2) + r4 * q89);
}

/* 2^power exp(x), where x <= 0 and the result is normal.
 *
 * x = k ln 2 + r with |r| <= ln(2)/2. r stays split as high - low, so that its
 * rounding only enters through the small r^2 q(r). The power of two is put on
 * by adding to the exponent's bits. */
static inline vd exp_times_power(vd x, int power)
{
    /* Adding `shift` rounds to an integer, which then stands in the low bits
     * of the sum, larger by `power`. */
    const double shift = 0x1.8p52 + power;
    const double log2_e = 0x1.71547652b82fep0;
    const double ln2_high = 0x1.62e42fefa2p-1, ln2_low = 0x1.9ef35793c7673p-41;
    const vd sum = x * log2_e + shift;
    const vd k = sum - shift;
    const vd high = x - k * ln2_high, low = k * ln2_low;
    const vd r = high - low, r2 = r * r;
    const vd exp_r = 1 + (high + (r2 * exp_remainder(r, r2) - low));
    return (vd)((vu64)exp_r + ((vu64)sum << 52));
}

/* exp(x) for -708 <= x <= 0, the same bits as vd_exp_neg gives, sooner. */
static inline vd vd_exp_near(vd x)
{
    return exp_times_power(x, 0);
}

/* exp(x) for x <= 0; exactly 0 where x < ln(2^-1075), -infinity included,
 * for there 0 is the nearest double. */
static inline vd vd_exp_neg(vd x)
{
    /* What is far below is computed as exp(0) and wiped out: operations that
     * underflow are slow on many machines. The one multiplication rounds where
     * the result is denormal. */
    const vi64 keep = x > vd_splat(-0x1.74910d52d3051p9);
    const vd scaled = exp_times_power((vd)(keep & (vi64)x), 512);
    return (vd)(keep & (vi64)(scaled * 0x1p-512));
}

#endif
