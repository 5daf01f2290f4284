/* kernel_product.c - products of matrices of single precision.
 *
 * A tile of rows x vectors of sums stays in registers while a block of terms
 * goes by; each sum runs over ascending terms from 0 on, continued from block
 * to block where it stands in c. So no result depends on how the work is cut,
 * and sets that have fused multiply-add give the same bits. */
#include "kernel_sets.h"
#include "vec.h"

/* Rows of a tile of two vectors, of one: as many as there are registers. */
#if defined AV_ISA_avx512
enum { ROWS_2 = 12, ROWS_1 = 12 };
#elif defined AV_ISA_avx2
enum { ROWS_2 = 6, ROWS_1 = 12 };
#else
enum { ROWS_2 = 4, ROWS_1 = 8 };
#endif

/* Terms of a block: the columns of b that a tile reads stay in L1. */
enum { TERMS = 256 };

enum { ROWS_MAX = 12 };

/* Sums are in registers only once loops over rows are unrolled. gcc needs to be
 * told; clang does it by itself, and not if it is told a count. */
#if defined __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

/* One tile: c [rows, vectors] (+)= a [rows, terms] b [terms, vectors]. */
struct place {
    float *c;
    const float *a, *b;
    size_t c_pitch, a_pitch, b_pitch;
    size_t terms, columns; /* columns: of c that are written */
    bool from_zero;
};

/* The n first numbers of v, n < AV_LANES_F. */
static inline void store_part(float *p, vf v, size_t n)
{
    float all[AV_LANES_F];
    vf_store(all, v);
    const float *from = all;
#pragma GCC unroll 4
    for (size_t half = AV_LANES_F / 2; half > 0; half /= 2) {
        if ((n & half) != 0) {
            memcpy(p, from, half * sizeof *p);
            p += half;
            from += half;
        }
    }
}

static inline void store_columns(float *p, vf v, size_t n)
{
    if (n >= AV_LANES_F) {
        vf_store(p, v);
    } else {
        store_part(p, v, n);
    }
}

/* rows, vectors and turned are constants where this is inlined. */
static inline __attribute__((always_inline)) void add_tile(const struct place *t, size_t rows, size_t vectors,
                                                           bool turned)
{
    const vf zero = { 0 };
    vf sum[ROWS_MAX][2];
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        for (size_t v = 0; v < vectors; v++) {
            sum[r][v] = t->from_zero ? zero : vf_load(t->c + r * t->c_pitch + v * AV_LANES_F);
        }
    }
    const float *a = t->a, *b = t->b;
    const size_t row = turned ? 1 : t->a_pitch, term = turned ? t->a_pitch : 1;
    for (size_t p = 0; p < t->terms; p++) {
        const vf b0 = vf_load(b), b1 = vectors > 1 ? vf_load(b + AV_LANES_F) : b0;
        UNROLL
        for (size_t r = 0; r < rows; r++) {
            const vf x = vf_splat(a[r * row]);
            sum[r][0] += x * b0;
            if (vectors > 1) {
                sum[r][1] += x * b1;
            }
        }
        a += term;
        b += t->b_pitch;
    }
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        float *c = t->c + r * t->c_pitch;
        store_columns(c, sum[r][0], t->columns);
        if (vectors > 1) {
            vf_store(c + AV_LANES_F, sum[r][1]);
        }
    }
}

/* One function for every height and width; not inlined, each has all registers
 * to itself. Tiles of one vector may be narrower, those of two never are. */
#define TILE(rows)                                                                                                     \
    static __attribute__((noinline)) void tile_##rows##_1(const struct place *t)                                       \
    {                                                                                                                  \
        add_tile(t, rows, 1, false);                                                                                   \
    }                                                                                                                  \
    static __attribute__((noinline)) void tile_##rows##_1_turned(const struct place *t)                                \
    {                                                                                                                  \
        add_tile(t, rows, 1, true);                                                                                    \
    }                                                                                                                  \
    static __attribute__((noinline)) void tile_##rows##_2(const struct place *t)                                       \
    {                                                                                                                  \
        add_tile(t, rows, 2, false);                                                                                   \
    }                                                                                                                  \
    static __attribute__((noinline)) void tile_##rows##_2_turned(const struct place *t)                                \
    {                                                                                                                  \
        add_tile(t, rows, 2, true);                                                                                    \
    }
#define HEIGHTS TILE(12) TILE(8) TILE(6) TILE(4) TILE(2) TILE(1)
HEIGHTS
#undef TILE

/* Highest first; [vectors - 1][turned]. */
static const struct {
    size_t rows;
    void (*add[2][2])(const struct place *t);
} TILES[] = {
#define TILE(rows)                                                                                                     \
    { rows, { { tile_##rows##_1, tile_##rows##_1_turned }, { tile_##rows##_2, tile_##rows##_2_turned } } },
    HEIGHTS
#undef TILE
};

/* All rows of a strip of `vectors` vectors of columns. */
static void add_strip(struct place *t, size_t vectors, size_t rows, bool turned)
{
    const size_t highest = vectors > 1 ? ROWS_2 : ROWS_1;
    size_t i = 0;
    for (size_t r = 0; r < rows; r += TILES[i].rows) {
        while (TILES[i].rows > highest || TILES[i].rows > rows - r) {
            i++;
        }
        TILES[i].add[vectors - 1][turned](t);
        t->c += TILES[i].rows * t->c_pitch;
        t->a += TILES[i].rows * (turned ? 1 : t->a_pitch);
    }
}

void AV_KERNEL(product)(const struct av_product *product)
{
    const struct av_product *x = product;
    for (size_t p = 0; p < x->k; p += TERMS) {
        const size_t terms = x->k - p < TERMS ? x->k - p : TERMS;
        for (size_t j = 0; j < x->n;) {
            const size_t vectors = x->n - j >= 2 * AV_LANES_F ? 2 : 1;
            struct place t = {
                .c = x->c + j,
                .a = x->a + p * (x->a_turned ? x->a_pitch : 1),
                .b = x->b + p * x->b_pitch + j,
                .c_pitch = x->c_pitch,
                .a_pitch = x->a_pitch,
                .b_pitch = x->b_pitch,
                .terms = terms,
                .columns = x->n - j,
                .from_zero = p == 0,
            };
            add_strip(&t, vectors, x->m, x->a_turned);
            j += vectors * AV_LANES_F;
        }
    }
}
