/* heads_study.h - what the study `heads` finds: every head of every layer, in numbers.
 *
 * A head is weighed as the pipeline does it, by attend.h, with the variant, the
 * dtype and everything else that the parameters say, row by row, so that one
 * head's queries and keys and a few rows of its weights are all that is held.
 * The heads are those of the source, layer by layer; without one the n_head
 * that are sampled, as one layer.
 *
 * A layer of a source that has no queries and keys is weighed from what it has:
 * weights are taken as they are, to be those of the softmax (no logit, no
 * multiplier, no variant); scores as logits, over temperature and with offset.
 *
 * "Rows that count" are those of struct av_summary: valid, with two keys or
 * more. Where weights are no distribution, shares are those of |w| / sum |w|. */
#ifndef ATTNVIZ_HEADS_STUDY_H
#define ATTNVIZ_HEADS_STUDY_H

#include "attnviz/params.h"
#include "attnviz/source.h"
#include "attnviz/verdict_rules.h"

/* The quantities of a head, NaN where no row counts or it is not defined. The
 * last four are means over the rows that count, have weight and see AV_HEADS_LONG
 * keys or more: in shorter ones the first key and the row's own are soon the same. A
 * query's position is i + n_k - n_q, as in attend.h; a share is 0 where there
 * is no key at that position, or the row does not see it. */
enum av_head_quantity {
    AV_HEAD_ENTROPY,    /* entropy / ln(keys seen), mean: 0 .. 1 */
    AV_HEAD_MAX_MEDIAN, /* of the largest weight */
    AV_HEAD_MAX_MEAN,
    AV_HEAD_SATURATED_ROWS, /* share of rows whose largest weight exceeds AV_LARGEST_ALARM */
    AV_HEAD_FRO,            /* |dw/dz|_F, median */
    AV_HEAD_DEAD_ROWS,      /* share of rows with less than AV_DEAD_FRO of that */
    AV_HEAD_LOGIT_STD,      /* within rows */
    AV_HEAD_ROW_SUM,        /* of the weights, mean */
    AV_HEAD_FIRST,          /* share of the weight that the first key gets */
    AV_HEAD_OWN,            /* that the key at the query's own position gets */
    AV_HEAD_PREVIOUS,       /* that the key one before it gets */
    AV_HEAD_MOVED,          /* half the sum of |w - 1/n|: what would have to move to make the row uniform, 0 .. 1 */
    AV_HEAD_QUANTITIES
};
enum { AV_HEADS_LONG = 8 };

/* What a head is called by the first rule that holds, of av_head_rules. */
enum av_head_kind {
    AV_HEAD_SINK,
    AV_HEAD_BEFORE,
    AV_HEAD_DIAGONAL,
    AV_HEAD_UNIFORM,
    AV_HEAD_PEAKED,
    AV_HEAD_KINDS,
    AV_HEAD_PLAIN = AV_HEAD_KINDS /* none holds */
};

struct av_head_rule {
    const char *name; /* "sink" */
    enum av_head_quantity of;
    bool below;          /* the rule holds below the limit, else above it */
    double limit;        /* excluded */
    const char *does[2]; /* what such a head does, such heads do: "give more than half of their weight to ..." */
};
extern const struct av_head_rule av_head_rules[AV_HEAD_KINDS];

/* What its verdicts come to. */
enum av_head_health {
    AV_HEAD_FINE,   /* none is a warning */
    AV_HEAD_SPREAD, /* nothing but AV_SATURATED_SPREAD is a warning */
    AV_HEAD_WARN,   /* others are warnings too, or instead: AV_SATURATED_ROWS */
    AV_HEAD_BAD,    /* one is bad */
    AV_HEAD_HEALTHS
};
enum { AV_HEAD_VERDICTS = 6 };

/* Weights pooled to blocks: block (a, b) of `rows` x `cols` holds the pairs with
 * i rows / n_q = a and j cols / n_k = b, rounded down. */
enum { AV_HEADS_MAP = 16 };
struct av_head_map {
    size_t rows, cols; /* at most AV_HEADS_MAP, and n_q, n_k */
    /* Over the rows of a block that were looked at and are valid: the weight that
     * a row gives to the keys of the block together, in the mean; the largest
     * weight. NaN where no row sees a key of the block. */
    float share[AV_HEADS_MAP][AV_HEADS_MAP], max[AV_HEADS_MAP][AV_HEADS_MAP];
};

enum av_head_state {
    AV_HEAD_WAITING,
    AV_HEAD_MEASURED,
    AV_HEAD_REFUSED /* cannot be had: `why` says it */
};

struct av_head {
    size_t layer, head; /* of the source, counted from 0: the parameters of that name */
    size_t number;      /* the layer's, as the file counts it */
    size_t n_q, n_k, d; /* d 0: no queries and keys */
    enum av_part from;  /* AV_PART_Q: from queries and keys; AV_PART_SCORES; AV_PART_WEIGHTS */
    enum av_head_state state;
    char why[AV_ERROR_MAX]; /* REFUSED */

    /* MEASURED: */
    size_t queries;         /* that were looked at: all n_q, or see AV_HEADS_QUERIES */
    size_t rows, rows_long; /* of these, that count; and see AV_HEADS_LONG keys or more */
    double at[AV_HEAD_QUANTITIES];
    enum av_head_kind kind;
    struct av_head_map map;

    /* What there is to say of it, the worst first, AV_HEAD_VERDICTS at most: by the
     * rules of the pipeline, `saturated` and `gradient_dead` (verdict_rules.h), of
     * the queries that were looked at; `rows_left_out` (bad), rows that hold a
     * number which is not finite; and, once it is diagnosed, what diagnosis.h finds
     * beyond, as the report has it. `saturated` is the worst of both. */
    enum av_saturated saturated;
    enum av_head_health health;
    size_t verdict_count;
    struct av_verdict verdicts[AV_HEAD_VERDICTS];
    enum av_head_state diagnosis; /* REFUSED: it cannot be had. Sampled heads have none and stay WAITING. */
};

/* Of longer heads so many queries are looked at, in groups of AV_HEADS_GROUP
 * neighbours whose middles are evenly spaced; so many heads are measured, the
 * first ones. */
enum { AV_HEADS_QUERIES = 1024, AV_HEADS_GROUP = 8, AV_HEADS_MEASURED = 4096 };

struct av_heads {
    struct av_params params;        /* that it is of; sizes are those of each head */
    const struct av_source *source; /* NULL: sampled */
    size_t layers, widest;          /* layers; heads of the one with most */
    size_t all;                     /* heads there are */
    size_t count;                   /* heads measured or to be: all, or AV_HEADS_MEASURED */
    const struct av_head *heads;    /* [count], by layer, then head */
    size_t done;                    /* of them, not waiting any more: those that are wanted come first */
    bool diagnoses;                 /* they are diagnosed too: there is a source; */
    size_t diagnosed;               /* so many are not waiting for that any more */
};

/* The head, NULL when it is none of those counted. */
const struct av_head *av_heads_find(const struct av_heads *h, size_t layer, size_t head);

/* What was found, in sentences: what the verdicts come to, "3 of 40 heads are
 * fine, 37 bad.", and which they are; and what heads do, "5 of 40 heads give more than half of their weight
 * to the first token." Writes at most `size` bytes and returns out; says of how
 * many heads while others wait. */
const char *av_heads_words(char *out, size_t size, const struct av_heads *h);

#endif
