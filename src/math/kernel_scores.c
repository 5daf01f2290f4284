/* kernel_scores.c - sums of products of queries and keys.
 *
 * Keys are transposed and widened into panels, so that a vector holds one
 * column of several keys; queries are widened. A tile of ROWS x 2 vectors of
 * sums stays in registers while all columns of a block go by. Sums run over
 * ascending columns and start from what stands in s, so that it does not
 * matter into which blocks the work is cut. */
#include "kernel_sets.h"
#include "vec.h"

#if defined AV_ISA_avx512
enum { ROWS = 12 }; /* of 32 registers 24 hold sums */
#elif defined AV_ISA_avx2
enum { ROWS = 6 }; /* of 16 registers 12 hold sums */
#else
enum { ROWS = 4 }; /* of 16 registers 8, as products need some too */
#endif

enum {
    PANEL = 2 * AV_LANES_D, /* keys of one panel */
    COLUMNS = 256,          /* of a block: a panel of keys stays in L1, */
    KEYS = 128              /* and all the panels of a block in L2 */
};

/* Widened entries, padded with zeros to whole tiles. */
struct packed {
    double q[ROWS * COLUMNS]; /* [ROWS][COLUMNS] */
    double k[KEYS * COLUMNS]; /* [KEYS / PANEL][COLUMNS][PANEL] */
};

_Static_assert(sizeof(struct packed) <= AV_SCORES_SCRATCH, "scratch is too small");
_Static_assert(KEYS % PANEL == 0, "a block is made of whole panels");

/* x[c * stride] = columns [c0, c0 + n) of one row. */
static inline void widen(double *x, size_t stride, const struct av_entries *m, size_t row, size_t c0, size_t n)
{
    if (m->f32 != NULL) {
        const float *from = m->f32 + row * m->pitch + c0;
        for (size_t c = 0; c < n; c++) {
            x[c * stride] = (double)from[c];
        }
    } else {
        const double *from = m->f64 + row * m->pitch + c0;
        for (size_t c = 0; c < n; c++) {
            x[c * stride] = from[c];
        }
    }
}

static void pack_queries(double *x, const struct av_entries *q, size_t i0, size_t rows, size_t c0, size_t n)
{
    for (size_t r = 0; r < ROWS; r++) {
        if (r < rows) {
            widen(x + r * COLUMNS, 1, q, i0 + r, c0, n);
        } else {
            memset(x + r * COLUMNS, 0, n * sizeof *x);
        }
    }
}

static void pack_keys(double *x, const struct av_entries *k, size_t j0, size_t keys, size_t c0, size_t n)
{
    size_t padded = (keys + PANEL - 1) / PANEL * PANEL;
    for (size_t j = 0; j < padded; j++) {
        double *lane = x + j / PANEL * (PANEL * COLUMNS) + j % PANEL;
        if (j < keys) {
            widen(lane, PANEL, k, j0 + j, c0, n);
        } else {
            for (size_t c = 0; c < n; c++) {
                lane[c * PANEL] = 0.0;
            }
        }
    }
}

/* s[r][lane] += sum over n >= 1 columns of q[r][c] k[c][lane]. Not inlined, it
 * has all registers to itself. */
static __attribute__((noinline)) void add_tile(double *const s[ROWS], const double *q, const double *k, size_t n)
{
    vd sum[ROWS][2];
    for (size_t r = 0; r < ROWS; r++) {
        sum[r][0] = vd_load(s[r]);
        sum[r][1] = vd_load(s[r] + AV_LANES_D);
    }
    size_t c = 0;
    do {
        vd k0 = vd_load(k + c * PANEL);
        vd k1 = vd_load(k + c * PANEL + AV_LANES_D);
        for (size_t r = 0; r < ROWS; r++) {
            vd a = vd_splat(q[r * COLUMNS + c]);
            sum[r][0] += a * k0;
            sum[r][1] += a * k1;
        }
    } while (++c < n);
    for (size_t r = 0; r < ROWS; r++) {
        vd_store(s[r], sum[r][0]);
        vd_store(s[r] + AV_LANES_D, sum[r][1]);
    }
}

/* Scores of `rows` queries (packed) with all keys of the block (packed). */
static void add_rows(double *s, size_t pitch, size_t rows, size_t keys, const struct packed *packed, size_t n)
{
    /* Rows that do not exist, and all of them in a panel that is not full,
     * are summed aside. */
    double aside[ROWS][PANEL] = { { 0 } };
    double *at[ROWS];
    size_t whole = keys - keys % PANEL;
    for (size_t r = 0; r < ROWS; r++) {
        at[r] = aside[r];
    }
    for (size_t j = 0; j < whole; j += PANEL) {
        for (size_t r = 0; r < rows; r++) {
            at[r] = s + r * pitch + j;
        }
        add_tile(at, packed->q, packed->k + j * COLUMNS, n);
    }
    if (whole < keys) {
        size_t size = (keys - whole) * sizeof *s;
        for (size_t r = 0; r < rows; r++) {
            at[r] = memcpy(aside[r], s + r * pitch + whole, size);
        }
        add_tile(at, packed->q, packed->k + whole * COLUMNS, n);
        for (size_t r = 0; r < rows; r++) {
            memcpy(s + r * pitch + whole, aside[r], size);
        }
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One block of columns and keys with all queries. */
static void add_block(double *s, size_t pitch, const struct av_entries *q, const struct av_entries *k,
                      const struct av_block *b, struct packed *packed)
{
    size_t n = b->c1 - b->c0;
    pack_keys(packed->k, k, b->j0, b->j1 - b->j0, b->c0, n);
    for (size_t i = b->i0; i < b->i1; i += ROWS) {
        size_t rows = smaller(ROWS, b->i1 - i);
        pack_queries(packed->q, q, i, rows, b->c0, n);
        add_rows(s + i * pitch + b->j0, pitch, rows, b->j1 - b->j0, packed, n);
    }
}

void AV_KERNEL(scores)(double *s, size_t pitch, const struct av_entries *q, const struct av_entries *k,
                       const struct av_block *block, void *scratch)
{
    if (block->c0 == 0) {
        for (size_t i = block->i0; i < block->i1; i++) {
            for (size_t j = block->j0; j < block->j1; j++) {
                s[i * pitch + j] = 0.0;
            }
        }
    }
    for (size_t c = block->c0; c < block->c1; c += COLUMNS) {
        for (size_t j = block->j0; j < block->j1; j += KEYS) {
            struct av_block part = { block->i0, block->i1,
                                     j,         smaller(j + KEYS, block->j1),
                                     c,         smaller(c + COLUMNS, block->c1) };
            add_block(s, pitch, q, k, &part, scratch);
        }
    }
}
