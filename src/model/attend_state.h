/* attend_state.h - the inside of attend.h: what begin prepares, and what a portion of rows needs.
 *
 * Queries and keys have one half, or with `differential` two: the columns [0,
 * d / 2) and [d / 2, d), with a row of scores, logits and weights each. */
#ifndef ATTNVIZ_ATTEND_STATE_H
#define ATTNVIZ_ATTEND_STATE_H

#include "attnviz/attend.h"
#include "attnviz/imitate.h"
#include "variant_hooks.h"

enum {
    AV_HALVES = 2,
    AV_ATTEND_PORTION = 24,   /* rows at a time: whole tiles of the kernel of scores; */
    AV_ATTEND_PAIRS = 1 << 18 /* fewer of rows that are longer: about 60 bytes a pair and half are held */
};

/* What begin makes and rows only read. Built aside and exchanged when whole. */
struct av_attend_plan {
    struct av_params p;
    struct av_attend_head head;
    const struct av_variant_hooks *normalise, *bend, *pattern;
    av_multiplier *row_multiplier; /* what differs between rows; NULL: nothing */
    double multiplier;             /* that apart, and before temperature */
    double eps;                    /* of normalise */
    size_t halves, half_d;         /* columns of a half */
    double share[AV_HALVES];       /* of each half's weights: 1, or 1 and -lambda */
    double score_mean, score_std;  /* what scores are normalised with by head; 0, 1 */
    double left_out;               /* offset that changes no weight, and would only cost digits */

    size_t columns;      /* keys, or averages of keys */
    struct av_entries k; /* [columns, d] */
    bool own_keys;       /* not the head's, but in */
    double *keys_memory; /* [columns, d] */
    size_t keys_size;    /* how many doubles that is room for */
    uint16_t *buckets;   /* [rounds, n_k], of lsh */
    size_t buckets_size; /* the same */
    bool own_scores;     /* not the head's: of own keys, normalised queries or halves, or it has none */
    bool imitated;       /* narrower arithmetic: by these */
    struct av_imitation *imitation[AV_HALVES];
};

enum av_status av_attend_plan_make(struct av_attend_plan *plan, const struct av_kernels *kernels, void *scores_scratch,
                                   const struct av_params *p, const struct av_attend_head *head, double alpha,
                                   struct av_error *e);
void av_attend_plan_free(struct av_attend_plan *plan);

/* One half of some entries, from a row on. */
struct av_entries av_attend_half(const struct av_attend_plan *plan, struct av_entries e, size_t row, size_t half);

/* x [d] = row i. */
void av_attend_load(double *x, const struct av_entries *e, size_t i, size_t d);

/* A row of the portion: what its gradient is made of. Arrays hold the keys that
 * the row sees, one after the other. */
struct av_attend_row {
    size_t place, query; /* in the portion, of the head */
    size_t n;            /* keys seen; 0: none, or the row is invalid */
    size_t *keys;        /* [n] which they are, ascending */
    size_t self;         /* which of them is the query's own, of lsh; SIZE_MAX: none */
    double multiplier;   /* before temperature */
    struct av_attend_part {
        struct av_form form;       /* of the bend, times the share of the half */
        struct av_tangent tangent; /* of scores that are normalised by row, */
        double *along;             /* [n] and u of it */
    } part[AV_HALVES];
};

/* Memory of a portion. */
struct av_attend_work {
    size_t n_k, d, halves; /* room for these */
    size_t portion;        /* rows of a portion, AV_ATTEND_PORTION at most */
    double *memory;
    double *q;                 /* [portion, d] normalised queries */
    double *scores[AV_HALVES]; /* [portion, n_k] */
    struct av_attend_row rows[AV_ATTEND_PORTION];
    double *add;                                    /* [n_k] bias and offset of a key, by key; then of keys seen */
    double *logits[AV_HALVES], *weights[AV_HALVES]; /* [n_k] of keys seen */
    double *bend_scratch;                           /* [AV_BEND_SCRATCH(n_k)] */
    double *wide, *gathered;                        /* [n_k, AV_FORM_COLUMNS] columns of keys: of all, of those seen */
    double *key;                                    /* [n_k or d], scratch */
    double *sum[AV_HALVES], *anchor[AV_HALVES];     /* [d] */
    double *direction;                              /* [d] */
};

enum av_status av_attend_work_make(struct av_attend_work *w, size_t n_k, size_t d, size_t halves, struct av_error *e);

struct av_attend {
    const struct av_kernels *kernels;
    void *scores_scratch;
    struct av_attend_plan now, next;
    struct av_attend_work work;
};

/* work.scores of the halves: products of `count` queries with all keys. */
void av_attend_scores(struct av_attend *a, const struct av_entries *q, size_t count);

/* |dw/ds|_F of a row. */
double av_attend_d_scores(const struct av_attend *a, const struct av_attend_row *row);

/* |dw/dq|_F of the first `count` rows of the portion. Overwrites work.q,
 * scores, logits and weights. */
void av_attend_dq(struct av_attend *a, double *dq, size_t count);

#endif
