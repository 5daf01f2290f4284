/* diversity_state.h - the inside of the study `diversity`.
 *
 * States are measured in batches: the present one, then points of the curves,
 * coarse to fine, several at a time. For a batch one head after the other draws
 * its entries and leaves its weights in every state of the batch; then all
 * heads' weights are there to be compared. So no more than one head's entries
 * are ever held. */
#ifndef ATTNVIZ_DIVERSITY_STATE_H
#define ATTNVIZ_DIVERSITY_STATE_H

#include "attnviz/attend.h"
#include "attnviz/diversity.h"
#include "attnviz/source.h"

/* Bounds of memory and of time: weights held at a time, comparisons of two
 * weights for the present state and for a point of a curve. */
enum {
    AV_DIVERSITY_BATCH = 8,    /* points */
    AV_DIVERSITY_PORTION = 24, /* rows of a job */
    AV_DIVERSITY_WEIGHTS = 1 << 21,
    AV_DIVERSITY_COMPARISONS = 1 << 25,
    AV_DIVERSITY_CURVE_COMPARISONS = 1 << 23
};

/* A unit of work, and estimates of what things take, in nanoseconds. They
 * decide where work is cut, not what comes out. */
#define AV_DIVERSITY_UNIT 2e6
#define AV_DIVERSITY_NS_DRAW 2.0    /* an entry */
#define AV_DIVERSITY_NS_SCORE 0.1   /* a pair and column */
#define AV_DIVERSITY_NS_PREPARE 1.0 /* an entry of the keys, before a block of scores or a state */
#define AV_DIVERSITY_NS_ATTEND 0.5  /* a multiply-add of av_attend_row_cost */
#define AV_DIVERSITY_NS_COMPARE 12.0

/* What is known of a row of weights. */
struct av_diversity_row {
    bool counts;
    size_t argmax, keys;
    double max, entropy, entropy_norm;
};

/* Memory of one shape. */
struct av_diversity_buffers {
    size_t n_q, n_k, d, heads, rows; /* rows: as many as the weights have room for in the widest batch */
    bool q_wide, k_wide;             /* in double, as the source has them */
    float *q, *k;                    /* [n_q, d], [n_k, d] of the head at hand; NULL when wide */
    double *q_f64, *k_f64;           /* the same; NULL unless wide */
    float *draw;                     /* [d] */
    double *scores;                  /* [n_q, n_k], in the rows that are measured */
    double *weights;                 /* [states, heads, rows, n_k] of a batch */
    struct av_diversity_row *seen;   /* [states, heads, rows] */
};

/* Sums over rows of one state. */
struct av_diversity_sums {
    double pair[AV_DIVERSITY_HEADS][AV_DIVERSITY_HEADS]; /* above the diagonal */
    size_t shared[AV_DIVERSITY_HEADS][AV_DIVERSITY_HEADS];
    size_t rows[AV_DIVERSITY_HEADS][AV_DIVERSITY_HEADS];
};

enum av_diversity_phase { AV_DIVERSITY_DRAW, AV_DIVERSITY_SCORE, AV_DIVERSITY_WEIGH, AV_DIVERSITY_COMPARE };

struct av_diversity_state {
    const struct av_kernels *kernels;
    const struct av_source *source; /* NULL: entries are sampled */
    struct av_attend *attend;
    void *scores_scratch;
    struct av_diversity_buffers buffers;
    struct av_moments moments; /* of the head's scores, where the variant asks for them */
    struct av_diversity_sums sums;
    double begin_cost, row_cost; /* of beginning a state, and of turning a row of scores to weights, ns */

    /* Where the work stands: in this batch, at this head (the first of a pair),
     * this state of the batch, this row. */
    size_t batch, head, place, row;
    size_t column; /* of the scores of these rows */
    enum av_diversity_phase phase;
    bool lost;           /* there was no memory for the state at hand: it has no weights */
    double spent, whole; /* ns, estimated */

    struct av_diversity result;
};

/* ---- diversity_heads.c: from a head's entries to its weights --------------------- */

/* Makes memory for the sizes in s->result, or keeps what fits; none for one head. */
enum av_status av_diversity_make_room(struct av_diversity_state *s, struct av_error *e);
void av_diversity_free_room(struct av_diversity_state *s);

/* Rows that are measured in the batch at hand. */
size_t av_diversity_rows(const struct av_diversity_state *s);

/* Of so many rows the r-th: all n_q, or the middles of as many equal groups. */
size_t av_diversity_query(const struct av_diversity_state *s, size_t rows, size_t r);

/* Each does a part of the work for the head at hand (s->head), from s->row on,
 * which it moves on, and returns what it took, estimated: draws a row of
 * queries, then of keys, or reads some; scores of some rows; some rows of weights and what is
 * known of them, into place s->place. */
double av_diversity_draw(struct av_diversity_state *s);
double av_diversity_score(struct av_diversity_state *s);
double av_diversity_weigh(struct av_diversity_state *s);

/* How far s->row goes in each of them. */
size_t av_diversity_draws(const struct av_diversity_state *s);
size_t av_diversity_scored(const struct av_diversity_state *s);

/* Begins weights of the head at hand, whose scores are there, in state p. */
enum av_status av_diversity_begin_state(struct av_diversity_state *s, const struct av_params *p, struct av_error *e);

/* Weights of one row, and what is known of it. */
double *av_diversity_weights(const struct av_diversity_state *s, size_t place, size_t head, size_t row);
struct av_diversity_row *av_diversity_seen(const struct av_diversity_state *s, size_t place, size_t head, size_t row);

/* ---- diversity_pairs.c: comparing ------------------------------------------------- */

/* Compares the head at hand with those behind it, in the row and state at hand;
 * returns what it took. */
double av_diversity_compare(struct av_diversity_state *s);

/* The sums of a state, over all its rows, as means: into the result; into a
 * point. Clears the sums. */
void av_diversity_put_present(struct av_diversity_state *s);
void av_diversity_put_point(struct av_diversity_state *s, struct av_diversity_point *point);

#endif
