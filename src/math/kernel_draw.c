/* kernel_draw.c - entries of Q and K from counters.
 *
 * Column 64 g + 16 w + l, with l in 0 .. 15, is made of word w of the counter
 * (16 g + l, row, tensor, 0) under the seed as key. The words of one counter
 * thus land 16 columns apart, where vectors of every width can store them
 * as they are.
 *
 * Floats see only + - * / and square root, which are exactly rounded, and no
 * contraction: the same bits everywhere. */
#include "kernel_sets.h"
#include "philox.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "lanes are paired for a little-endian machine"
#endif

enum {
    WORD = 16,                           /* columns from one word of the counter to the next */
    GROUP = 4 * WORD,                    /* columns that are made together */
    VECTORS = AV_LANES_F < WORD ? 2 : 1, /* of counters, enciphered together */
    UNIT = VECTORS * AV_LANES_F
};

/* ---- random words ---- */

struct counter {
    struct philox_key key;
    uint32_t row, tensor;
};

/* words[0 .. GROUP) of one group. Even counters are enciphered in one vector
 * and odd ones in the next, each in half of a lane; then they are zipped. */
static void draw_words(uint32_t *words, uint32_t group, const struct counter *at)
{
    vu64 even = { 0 };
    for (int i = 0; i < AV_LANES_D; i++) {
        even[i] = 2 * (uint64_t)i;
    }
    for (uint32_t n = 0; n < WORD; n += UNIT) {
        vu64 c[2 * VECTORS][4];
        for (uint32_t v = 0; v < 2 * VECTORS; v++) {
            c[v][0] = even + (WORD * group + n + v / 2 * AV_LANES_F + v % 2);
            c[v][1] = (vu64){ 0 } + at->row;
            c[v][2] = (vu64){ 0 } + at->tensor;
            c[v][3] = (vu64){ 0 };
        }
        philox(c, 2 * VECTORS, &at->key);
        for (uint32_t v = 0; v < VECTORS; v++) {
            for (uint32_t w = 0; w < 4; w++) {
                vu64 zipped = (c[2 * v][w] & 0xffffffffu) | (c[2 * v + 1][w] << 32);
                memcpy(words + w * WORD + n + v * AV_LANES_F, &zipped, sizeof zipped);
            }
        }
    }
}

/* ---- distributions ---- */

static inline vf to_float(vi32 x)
{
    return __builtin_convertvector(x, vf);
}

static inline vu32 load_words(const uint32_t *words)
{
    vu32 w;
    memcpy(&w, words, sizeof w);
    return w;
}

/* -2 ln u with u = (w + 1/2) / 2^31 for w < 2^31, to 3e-7 relative: u in
 * (0, 1], a float, keeps all bits of a small w, so the result goes up to 44.4
 * in steps that fit the tail; near u = 1 its steps are 2^-23, from 0 on.
 * u = 2^e (1 + f) with 1 + f in [sqrt 1/2, sqrt 2); -2 ln (1 + f) / f by its
 * minimax polynomial (relative error, Remez), summed in pairs. */
static inline vf minus_2_ln(vu32 w)
{
    vi32 u = (vi32)(to_float((vi32)w) * 0x1p-31f + 0x1p-32f);
    vi32 e = (u - 0x3f3504f3) >> 23; /* the bits of sqrt 1/2 */
    vf f = (vf)(u - (e << 23)) - 1.0f;
    vf f2 = f * f;
    vf low = (f * 1.00000727f - 1.99999988f) + f2 * (f * 0.499398172f - 0.666701198f);
    vf high = (f * 0.345016599f - 0.39800331f) + f2 * (f * 0.202138036f - 0.324451655f);
    vf y = low + f2 * f2 * high;
    return y * f - to_float(e) * 1.38629436f;
}

/* A uniform direction: its components along x and y. 30 bits choose the angle
 * t pi/2 in a quarter turn around the x axis, t in [-1/2, 1/2], one bit the
 * sign of x and one exchanges x and y: together the whole circle.
 * Minimax polynomials in t^2. */
static inline void direction(vu32 w, vf *x, vf *y)
{
    vf t = to_float((vi32)(w << 2)) * 0x1p-32f;
    vf z = t * t;
    vf s = (z * -0.64596349f + 1.57079637f) + z * z * (z * -0.00460165786f + 0.079680033f);
    vf c = (z * -1.23369706f + 1.0f) + z * z * (z * -0.0204083528f + 0.25359863f);
    vu32 sine = (vu32)(s * t);
    vu32 cosine = (vu32)c ^ (w & 0x80000000u);
    vu32 exchange = (sine ^ cosine) & (vu32)((vi32)(w << 1) < 0);
    *x = (vf)(cosine ^ exchange);
    *y = (vf)(sine ^ exchange);
}

/* Box and Muller: words 0 and 1, 2 and 3 of a counter each give two. The
 * square root has no vector form in C but a loop of its own, which compilers
 * know (with -fno-math-errno). */
static void normal(float *x, const uint32_t *words)
{
    for (int pair = 0; pair < GROUP; pair += 2 * WORD) {
        _Alignas(AV_VEC_BYTES) float r[WORD];
        for (int i = 0; i < WORD; i += AV_LANES_F) {
            vf_store(r + i, minus_2_ln(load_words(words + pair + i) >> 1));
        }
        for (int i = 0; i < WORD; i++) {
            r[i] = __builtin_sqrtf(r[i]);
        }
        for (int i = 0; i < WORD; i += AV_LANES_F) {
            vf a, b;
            direction(load_words(words + pair + WORD + i), &a, &b);
            vf_store(x + pair + i, vf_load(r + i) * a);
            vf_store(x + pair + WORD + i, vf_load(r + i) * b);
        }
    }
}

/* On [-sqrt 3, sqrt 3]; an odd number is never 0, so the mean is exact. */
static void uniform(float *x, const uint32_t *words)
{
    for (int i = 0; i < GROUP; i += AV_LANES_F) {
        vf_store(x + i, to_float((vi32)(load_words(words + i) | 1)) * (0x1p-31f * 1.73205081f));
    }
}

/* -1 or 1 */
static void rademacher(float *x, const uint32_t *words)
{
    for (int i = 0; i < GROUP; i += AV_LANES_F) {
        vf_store(x + i, (vf)((load_words(words + i) & 0x80000000u) | (vu32)vf_splat(1.0f)));
    }
}

/* Density exp(-sqrt 2 |x|) / sqrt 2: one bit is the sign, the rest choose |x|
 * by the inverse of its distribution function, -ln u / sqrt 2. */
static void laplace(float *x, const uint32_t *words)
{
    for (int i = 0; i < GROUP; i += AV_LANES_F) {
        vu32 w = load_words(words + i);
        vf size = minus_2_ln(w & 0x7fffffffu) * 0.353553391f;
        vf_store(x + i, (vf)((vu32)size | (w & 0x80000000u)));
    }
}

static void (*const transforms[AV_DIST_COUNT])(float *x, const uint32_t *words) = {
    [AV_DIST_NORMAL] = normal,
    [AV_DIST_UNIFORM] = uniform,
    [AV_DIST_RADEMACHER] = rademacher,
    [AV_DIST_LAPLACE] = laplace,
};

/* ---- */

void AV_KERNEL(draw)(float *x, size_t first, size_t count, enum av_dist dist, struct av_stream stream)
{
    struct counter at = { philox_schedule(stream.seed), stream.row, stream.tensor };
    _Alignas(AV_VEC_BYTES) uint32_t words[GROUP];
    size_t last = first + count;
    for (size_t column = first - first % GROUP; column < last; column += GROUP) {
        draw_words(words, (uint32_t)(column / GROUP), &at);
        if (column >= first && last - column >= GROUP) {
            transforms[dist](x + (column - first), words);
            continue;
        }
        float whole[GROUP];
        transforms[dist](whole, words);
        size_t from = column < first ? first - column : 0;
        size_t to = last - column < GROUP ? last - column : GROUP;
        memcpy(x + (column + from - first), whole + from, (to - from) * sizeof *x);
    }
}
