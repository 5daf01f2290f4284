/* vec.h - vectors of the native width of the instruction set being compiled.
 *
 * Wider types than the machine's are legal and slow, so each set has its own.
 * Comparisons of vd give vi64, of vf and vu32 give vi32: all ones for true. */
#ifndef ATTNVIZ_VEC_H
#define ATTNVIZ_VEC_H

#include <stdint.h>
#include <string.h>

#if defined AV_ISA_avx512
#define AV_VEC_BYTES 64
#elif defined AV_ISA_avx2
#define AV_VEC_BYTES 32
#else
#define AV_VEC_BYTES 16
#endif

/* Elements of a vector of doubles, of floats and 32-bit integers. */
enum { AV_LANES_D = AV_VEC_BYTES / 8, AV_LANES_F = AV_VEC_BYTES / 4 };

typedef double vd __attribute__((vector_size(AV_VEC_BYTES)));
typedef int64_t vi64 __attribute__((vector_size(AV_VEC_BYTES)));
typedef uint64_t vu64 __attribute__((vector_size(AV_VEC_BYTES)));
typedef float vf __attribute__((vector_size(AV_VEC_BYTES)));
typedef int32_t vi32 __attribute__((vector_size(AV_VEC_BYTES)));
typedef uint32_t vu32 __attribute__((vector_size(AV_VEC_BYTES)));

/* The same bits under another type, for unaligned loads and stores, the only
 * memory accesses: memcpy of a constant size is one instruction. */
static inline vd vd_load(const double *p)
{
    vd v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vd_store(double *p, vd v)
{
    memcpy(p, &v, sizeof v);
}

static inline vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vf_store(float *p, vf v)
{
    memcpy(p, &v, sizeof v);
}

/* Every lane x; subtracting +0 keeps every x, -0 included. */
static inline vd vd_splat(double x)
{
    return x - (vd){ 0 };
}

static inline vf vf_splat(float x)
{
    return x - (vf){ 0 };
}

#endif
