/* heads_state.h - the inside of the study `heads`.
 *
 * One head after the other is read, weighed row by row, and summed up; those of
 * a file are diagnosed as well. Where there is no source, one is made that draws its
 * entries, so that the rest need not know. Jobs return what they took in nanoseconds, estimated: that decides
 * where work is cut, not what comes out. */
#ifndef ATTNVIZ_HEADS_STATE_H
#define ATTNVIZ_HEADS_STATE_H

#include "attnviz/attend.h"
#include "attnviz/diagnosis.h"
#include "attnviz/heads_study.h"
#include "summary.h"

#define AV_HEADS_UNIT 2e6
enum {
    AV_HEADS_PORTION = 24,    /* rows of a job, */
    AV_HEADS_PAIRS = 1 << 18, /* if they have no more pairs than this, which limits the memory for long ones */
    AV_HEADS_WANTED = 512     /* heads that are wanted first, at most */
};

/* ---- heads_source.c: heads that are sampled -------------------------------------- */

struct av_heads_drawn {
    const struct av_kernels *kernels;
    struct av_params params;
    float *scratch; /* [room], room >= d_k */
    size_t room;
    struct av_source_layer layer;
    struct av_source source;
};

/* Makes the source of these parameters; it stays valid while *d does. */
enum av_status av_heads_draw(struct av_heads_drawn *d, const struct av_kernels *kernels, const struct av_params *p,
                             struct av_error *e);

/* ---- heads_head.c: one head ------------------------------------------------------- */

/* Memory for the largest head. */
struct av_heads_room {
    size_t q_bytes, k_bytes, n_k, queries; /* what there is room for */
    size_t portion;                        /* rows of a job */
    void *q, *k;
    double *logits, *weights; /* [portion, n_k] */
    double *read;             /* the same: rows as the file has them */
    double *zeros, *seen;     /* [n_k] */
    struct av_form form;      /* [n_k] each */
    double *scratch;          /* [AV_BEND_SCRATCH(n_k)] */
    struct av_rowstats *stats;
    bool *invalid;
    double *column; /* [queries] each */
};

/* Sums over rows of the head at hand. */
struct av_heads_sums {
    struct av_moments all;   /* logits */
    struct av_spread logits; /* within rows */
    size_t rows_long;
    double first, own, previous, moved;
    double weight[AV_HEADS_MAP][AV_HEADS_MAP];
    size_t pairs[AV_HEADS_MAP][AV_HEADS_MAP]; /* that are seen */
    size_t rows[AV_HEADS_MAP];
};

enum av_heads_phase {
    AV_HEADS_BEGIN, /* with the head at hand */
    AV_HEADS_READ_Q,
    AV_HEADS_READ_K,
    AV_HEADS_COUNT,
    AV_HEADS_WEIGH,
    AV_HEADS_DIAGNOSE
};

struct av_heads_state {
    const struct av_kernels *kernels;
    const struct av_source *file;   /* NULL: none */
    const struct av_source *source; /* that, or the one that draws */
    struct av_heads_drawn drawn;
    struct av_attend *attend;
    void *scores_scratch;
    struct av_heads_room room;
    struct av_diagnoser *diagnoser;

    size_t wanted[AV_HEADS_WANTED], wanted_count; /* places in the list */
    size_t from[2];                               /* no head before it is to be measured; diagnosed */
    size_t at;                                    /* the head at hand */
    enum av_heads_phase phase;
    size_t row; /* of the phase */
    double row_cost;
    struct av_params p; /* those of the head at hand, with its sizes */
    struct av_attend_head entries;
    struct av_moments moments; /* of its scores, if the variant asks for them */
    struct av_heads_sums sums;

    bool begun;
    double spent, all; /* cost of the heads that are over, of all */
    size_t kept;       /* heads there is memory for */
    struct av_head *heads;
    struct av_heads result;
};

/* Makes room for all heads counted, keeping what is there if it suffices. */
enum av_status av_heads_make_room(struct av_heads_state *s, struct av_error *e);
void av_heads_free_room(struct av_heads_room *room);

/* One job for the head at hand, which is over when s->phase is AV_HEADS_BEGIN again:
 * it is measured, or diagnosed if it has been measured. */
double av_heads_work(struct av_heads_state *s);

/* Estimates of what a head costs to be measured, and diagnosed. */
double av_heads_cost(const struct av_head *h);
double av_heads_diagnosis_cost(const struct av_head *h);

/* ---- heads_rows.c: what rows of weights tell -------------------------------------- */

/* Rows of the head at hand from query i on, `count` of them: their weights and
 * statistics are measured rows s->row .. of the room; they are added to the sums
 * and to the map. Without logits (NULL) a row sees the keys that the mask leaves. */
void av_heads_add_rows(struct av_heads_state *s, struct av_head *h, size_t i, size_t count, const double *logits);

/* From the rows and the sums to the numbers, the map, the verdicts and what it is called. */
void av_heads_sum_up(struct av_heads_state *s, struct av_head *h);

/* ---- heads_verdicts.c ----------------------------------------------------------------- */

/* The verdicts of a head that is summed up, of the rows in the room. */
void av_heads_judge(const struct av_heads_state *s, struct av_head *h, const struct av_summary *sum);

/* Adds what its diagnosis found beyond them. */
void av_heads_add_diagnosis(struct av_head *h, const struct av_diagnosis *d);

/* ---- heads_findings.c -------------------------------------------------------------- */

/* By the quantities of a head that is measured. */
enum av_head_kind av_heads_kind(const struct av_head *h);

#endif
