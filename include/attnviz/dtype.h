/* dtype.h - numbers rounded as narrower types hold them.
 *
 * Values stay doubles; rounding is to nearest, ties to even, with subnormals,
 * and beyond the largest number to infinity, as IEEE 754 has it:
 *
 *   f32   24 bits of significand, exponents -126 .. 127
 *   bf16   8 bits, -126 .. 127       (the upper half of an f32)
 *   f16   11 bits, -14 .. 15         (largest 65504, smallest 2^-24)
 *
 * Each rounding is of the double itself, never of an f32 on the way: no double
 * rounding. int8 is no such type: see av_quantise. */
#ifndef ATTNVIZ_DTYPE_H
#define ATTNVIZ_DTYPE_H

#include <stddef.h>

/* Arithmetic that can be imitated. */
enum av_dtype { AV_DTYPE_F64, AV_DTYPE_F32, AV_DTYPE_BF16, AV_DTYPE_F16, AV_DTYPE_INT8, AV_DTYPES };

/* x rounded; f64: x itself; int8: x itself. */
double av_dtype_round(enum av_dtype dtype, double x);
void av_dtype_round_all(enum av_dtype dtype, double *x, size_t n);

/* The largest finite number, and the smallest positive one; NaN for int8. */
double av_dtype_max(enum av_dtype dtype);
double av_dtype_tiny(enum av_dtype dtype);

/* Symmetric 8-bit integers: q_c = x_c / scale, rounded to nearest, ties to
 * even; scale = max |x| / 127, so that x is about scale * q. q: whole numbers
 * from -127 to 127; may be x. Returns scale; 0 when all of x are zeros, or so
 * small that scale would be below the normal doubles; NaN with a NaN or an
 * infinity in x. All q are 0 then. */
double av_quantise(double *q, const double *x, size_t n);

#endif
