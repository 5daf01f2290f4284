/* bend_rows.h - memory for rows under a bend, and comparisons, for the tests of bends. */
#ifndef ATTNVIZ_TESTS_BEND_ROWS_H
#define ATTNVIZ_TESTS_BEND_ROWS_H

#include "attnviz/bend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BEND_ROW_MOST = 64 };
#define INF ((double)INFINITY)

/* What a row became. */
struct bent_row {
    double z[BEND_ROW_MOST], w[BEND_ROW_MOST], form[4][BEND_ROW_MOST], scratch[AV_BEND_SCRATCH(BEND_ROW_MOST)];
    struct av_bend_row row;
    struct av_rowstats stats;
};

/* Everything that a bend must fill in is NaN before. */
static inline void bend_row(struct bent_row *b, av_bend *bend, const double *z, size_t n,
                            const struct av_bend_params *p)
{
    memset(b, 0xff, sizeof *b);
    memcpy(b->z, z, n * sizeof *z);
    b->row = (struct av_bend_row){ n, b->z, b->w, { b->form[0], b->form[1], b->form[2], b->form[3] }, b->scratch };
    bend(&b->row, p, av_kernels_best(), &b->stats);
}

/* J_jl of the form. */
static inline double bent_entry(const struct bent_row *b, size_t j, size_t l)
{
    const struct av_form *f = &b->row.form;
    return j == l ? f->diag[j] : -f->u[j] * f->v[l];
}

static inline double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 33) / 2147483648.0;
}

#endif
