/* saturation_state.h - the inside of the study `saturation`.
 *
 * Its work is cut into jobs; several small ones make a unit. Which job comes
 * next follows from what is known already (study_saturation.c), so that what
 * still holds after a change is simply not done again. */
#ifndef ATTNVIZ_SATURATION_STATE_H
#define ATTNVIZ_SATURATION_STATE_H

#include "attnviz/saturation.h"
#include "entries.h"
#include "summary.h"

/* A unit of work, and estimates of what things take, all in nanoseconds. They
 * decide where work is cut, not what comes out. */
enum {
    AV_SATURATION_UNIT = 3000000,
    AV_SATURATION_NS_DRAW = 8192,   /* a row of AV_DIM_MAX entries */
    AV_SATURATION_NS_THEORY = 4096, /* the means for one d */
    AV_SATURATION_NS_SOFTMAX = 6    /* a pair */
};
#define AV_SATURATION_NS_SCORES 0.08 /* a pair and column */
#define AV_SATURATION_NS_DQ 0.4      /* a pair and column, keys being widened already */
#define AV_SATURATION_NS_WIDEN 0.3   /* a key and column */

/* Memory of one shape. */
struct av_saturation_buffers {
    size_t rows, n_k;
    float *q, *k;                 /* [rows, AV_DIM_MAX], [n_k, AV_DIM_MAX] */
    float *draw;                  /* [AV_DIM_MAX] */
    double *scores;               /* [rows, n_k] */
    double *weights, *dq_scratch; /* of AV_DQ_ROWS rows */
    struct av_rowstats *stats;    /* [rows] */
    double *dq, *column;          /* [rows] */
    bool *invalid;                /* [rows], all false */
};

/* A point in the making: rows [0, row) are done. */
struct av_saturation_work {
    bool on;
    size_t d, row;
    bool scale;
};

struct av_saturation_state {
    const struct av_kernels *kernels;
    struct av_theory *theory;
    void *scores_scratch;
    struct av_saturation_buffers buffers;
    bool begun;
    struct av_snapshot summary; /* what av_summary_make reads of a snapshot */
    size_t sampled;             /* rows of q, then of k, that are drawn */
    size_t scores_d;            /* columns that the scores are summed over; 0: none */
    struct av_saturation_work work;
    bool cell_known[2][AV_SATURATION_ROWS][AV_SATURATION_COLUMNS];
    struct av_saturation result;
};

/* ---- saturation_measure.c ------------------------------------------------ */

/* Makes memory for that shape, or keeps what fits. On failure the old stands. */
enum av_status av_saturation_buffers_make(struct av_saturation_buffers *b, size_t rows, size_t n_k, struct av_error *e);
void av_saturation_buffers_free(struct av_saturation_buffers *b);

/* Keys that the r-th measured row sees. */
size_t av_saturation_row_length(const struct av_saturation_state *s, size_t r);

/* Each does a part of some work and returns what it took, estimated: draws
 * rows of entries; brings the scores to d columns; measures a point, which is
 * put in its place when it is whole. */
double av_saturation_sample(struct av_saturation_state *s);
double av_saturation_scores(struct av_saturation_state *s, size_t d);
double av_saturation_measure(struct av_saturation_state *s, size_t d, bool scale);

/* What measuring a point takes from row `row` on, with its scores. */
double av_saturation_measure_cost(const struct av_saturation_state *s, size_t d, size_t row);

/* ---- saturation_theory.c -------------------------------------------------- */

/* Fills in all that theory says but the plane: microseconds a point. */
void av_saturation_theory(struct av_saturation_state *s);

/* The exact means at that d and temperature; false, out untouched, when no
 * row has two keys. */
bool av_saturation_means(struct av_saturation_state *s, bool scale, size_t d, double temperature,
                         struct av_theory_means *out);

/* ---- saturation_plane.c --------------------------------------------------- */

void av_saturation_plane_forget(struct av_saturation_state *s, bool scale);

/* The first column of that grid that has a cell left; AV_SATURATION_COLUMNS: none. */
size_t av_saturation_plane_next(const struct av_saturation_state *s, bool scale, size_t stride);

/* Computes what is left of one column, or brings the scores there; returns
 * what it took, estimated. */
double av_saturation_plane_column(struct av_saturation_state *s, bool scale, size_t stride, size_t column);

double av_saturation_cell_cost(const struct av_saturation_state *s);

#endif
