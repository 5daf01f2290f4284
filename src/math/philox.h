/* philox.h - Philox4x32-10, a random number as a pure function of a counter.
 *
 * Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011. A counter of four 32-bit words is enciphered under a key of two.
 *
 * Each word sits in the low half of a 64-bit lane. The high half is garbage:
 * the multiplication reads low halves alone, so nothing needs to be cleared
 * or moved between the rounds. */
#ifndef ATTNVIZ_PHILOX_H
#define ATTNVIZ_PHILOX_H

#include "vec.h"

#if defined __x86_64__ && !defined __clang__
#include <immintrin.h>
#endif

enum { PHILOX_ROUNDS = 10 };

/* The key of every round, in all lanes. */
struct philox_key {
    vu64 k[PHILOX_ROUNDS][2];
};

static inline struct philox_key philox_schedule(uint64_t seed)
{
    struct philox_key key;
    uint32_t k0 = (uint32_t)seed;
    uint32_t k1 = (uint32_t)(seed >> 32);
    for (int r = 0; r < PHILOX_ROUNDS; r++) {
        key.k[r][0] = (vu64){ 0 } + k0;
        key.k[r][1] = (vu64){ 0 } + k1;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return key;
}

/* The full products of the low halves. Every x86 has an instruction for it,
 * which gcc makes of three multiplications and sums unless it is told. */
static inline vu64 philox_mul(vu64 a, uint32_t m)
{
    vu64 b = (vu64){ 0 } + m;
#if !defined __x86_64__ || defined __clang__
    return (a & 0xffffffffu) * b;
#elif defined AV_ISA_avx512
    return (vu64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined AV_ISA_avx2
    return (vu64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (vu64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

/* Enciphers c[0 .. chains), which do not depend on each other and so hide
 * each other's latency. */
static inline void philox(vu64 c[][4], int chains, const struct philox_key *key)
{
#pragma GCC unroll 10
    for (int r = 0; r < PHILOX_ROUNDS; r++) {
        for (int i = 0; i < chains; i++) {
            vu64 p0 = philox_mul(c[i][0], 0xD2511F53u);
            vu64 p1 = philox_mul(c[i][2], 0xCD9E8D57u);
            c[i][0] = (p1 >> 32) ^ (c[i][1] ^ key->k[r][0]);
            c[i][1] = p1;
            c[i][2] = (p0 >> 32) ^ (c[i][3] ^ key->k[r][1]);
            c[i][3] = p0;
        }
    }
}

#endif
