/* variants_state.h - the inside of the study `variants`.
 *
 * Its work is cut into jobs; several small ones make a unit. Which job comes
 * next follows from what is known already (study_variants.c), so that what
 * still holds after a change is simply not done again. Jobs return what they
 * took in nanoseconds, estimated: that decides where work is cut, not what
 * comes out. 0 says that there was none, and sends on to the next kind of job:
 * what did anything, however little, returns more. */
#ifndef ATTNVIZ_VARIANTS_STATE_H
#define ATTNVIZ_VARIANTS_STATE_H

#include "attnviz/attend.h"
#include "attnviz/study.h"
#include "attnviz/theory.h"
#include "attnviz/variant_study.h"
#include "summary.h"

enum { AV_VARIANTS_UNIT = 2000000 };

/* Queries and keys with their scores. The sizes may be less than there is
 * memory for. */
struct av_variants_head {
    size_t n_q, n_k, d;
    struct av_entries q, k;
    double *scores; /* [n_q, n_k] */
    struct av_moments moments;
    size_t drawn;   /* rows of q, then of k, if they are drawn */
    size_t summed;  /* columns that are in the scores */
    size_t counted; /* rows that are in the moments */

    size_t most_q, most_k, most_d;   /* what there is memory for */
    bool own;                        /* entries are drawn */
    float *q_drawn, *k_drawn, *draw; /* [most_q, most_d], [most_k, most_d], [most_d]; NULL unless own */
};

/* A measurement in the making: rows [0, row) of those measured are done. */
struct av_variants_work {
    bool on;
    bool dq;        /* that too */
    size_t queries; /* that are measured */
    struct av_variant_measure *out;
    enum av_variant_state *state; /* of it */
    char *why;                    /* where to say why it is refused after all; may be NULL */

    size_t row;
    struct av_moments logits;
    struct av_spread spread;
    double print;
    uint32_t logit_counts[AV_VARIANT_BINS];
};

/* Memory for rows of it. */
struct av_variants_rows {
    size_t queries, pairs;
    struct av_rowstats *stats;       /* [queries] */
    double *dq, *nonzero, *column;   /* [queries] */
    bool *invalid;                   /* [queries] */
    double *logits, *weights, *seen; /* [pairs]: of as many rows as fit */
};

/* The inside of struct av_variant_pair. */
struct av_variants_sides {
    float *weights[AV_VARIANT_SIDES];
    size_t *argmax[AV_VARIANT_SIDES]; /* [n_q]; n_k: the row does not count */
    av_variant_value value[AV_VARIANT_SIDES];
    int running;     /* the side that `attend` was begun for, -1: none */
    size_t compared; /* rows whose differences are summed up */
    size_t pairs;
    double sum;
};

struct av_variants_state {
    const struct av_kernels *kernels;
    struct av_theory *theory;
    void *scores_scratch;
    const struct av_source *source; /* NULL: entries are drawn */
    struct av_loaded_head loaded;   /* of it */
    bool begun;
    unsigned parts; /* that are computed */

    struct av_attend *attend;
    struct av_params subject;   /* that it was begun for */
    struct av_attend_head head; /* the same */

    struct av_variants_head table, curve;
    size_t point; /* of the curves that `curve` is cut to; AV_VARIANT_POINTS_MAX: none */
    struct av_variants_rows rows;
    struct av_variants_work work;
    struct av_variants_sides sides;
    struct av_snapshot summary;           /* what av_summary_make reads of a snapshot */
    struct av_variant_curves curves_were; /* while they are begun anew */
    struct av_variants result;
};

/* ---- variants_head.c --------------------------------------------------------- */

/* Makes memory for these sizes unless it is just that; own: for drawn entries,
 * too. New memory has these sizes and nothing in it. On failure the old stands. */
enum av_status av_variants_head_make(struct av_variants_head *h, size_t n_q, size_t n_k, size_t d, bool own,
                                     struct av_error *e);
void av_variants_head_free(struct av_variants_head *h);

/* The first rows and columns of it; the scores are to be made anew. */
void av_variants_head_cut(struct av_variants_head *h, size_t n_q, size_t n_k, size_t d);

/* The moments are to be made anew. */
void av_variants_head_uncount(struct av_variants_head *h);

/* Does a measure want to be made, or dq that it has not? */
bool av_variants_wanted(enum av_variant_state state, const struct av_variant_measure *m, bool dq);

/* Does it want nothing more? If it does, does a part of that: draws, multiplies
 * or counts, as p has it. */
bool av_variants_head_ready(const struct av_variants_head *h);
double av_variants_head_run(struct av_variants_state *s, struct av_variants_head *h, const struct av_params *p);

/* ---- variants_measure.c ------------------------------------------------------ */

/* pairs: at least the largest n_k. On failure the old stands. */
enum av_status av_variants_rows_make(struct av_variants_rows *b, size_t queries, size_t pairs, struct av_error *e);
void av_variants_rows_free(struct av_variants_rows *b);

/* Begins `attend` for a variant on a head that is ready. */
enum av_status av_variants_attend(struct av_variants_state *s, const struct av_variants_head *h,
                                  const struct av_params *p, const struct av_variant_subject *of, struct av_error *e);

/* What a row of it takes, and how many rows fit a unit and the memory. */
double av_variants_row_cost(const struct av_variants_state *s, bool dq);
size_t av_variants_fit(const struct av_variants_state *s, bool dq);

/* Begins a measurement; when there is no memory, it is refused. Then rows of it,
 * until the measure is in its place and s->work.on false. */
void av_variants_measure_begin(struct av_variants_state *s, const struct av_variants_head *h, const struct av_params *p,
                               const struct av_variant_subject *of, struct av_variants_work work);
double av_variants_measure_run(struct av_variants_state *s);

/* ---- variants_pair.c ----------------------------------------------------------- */

/* Makes memory for matrices of that size, where they are not too large and there
 * is as much; unless it is just that. New memory has nothing in it. */
void av_variants_pair_make(struct av_variants_state *s, size_t n_q, size_t n_k);
void av_variants_pair_free(struct av_variants_state *s);

/* Forgets what the change from `was` has made stale; all: everything. */
void av_variants_pair_begin(struct av_variants_state *s, bool all, const struct av_params *was);

/* The next part, the table being measured; 0 when there is none left. */
double av_variants_pair_run(struct av_variants_state *s);

/* ---- variants_curves.c --------------------------------------------------------- */

/* Makes the curves of s->result.params; of those before it keeps what the change
 * from `was` has not made stale; all: nothing. */
void av_variants_curves_begin(struct av_variants_state *s, bool all, const struct av_params *was);

/* The next part, 0 when there is none left; dq: of those without. */
double av_variants_curves_run(struct av_variants_state *s, bool dq);

/* ---- study_variants.c ---------------------------------------------------------- */

/* Has a parameter changed that a row of this variant owns? */
bool av_variants_owned_differ(av_variant_value value, const struct av_params *was, const struct av_params *now);

#endif
