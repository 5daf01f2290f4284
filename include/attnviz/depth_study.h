/* depth_study.h - what the study `depth` finds: stacks of layers over five seeds.
 *
 * First the stack of the parameters, with the scale and without; then seven
 * stacks that differ in residual, norm and scale, of AV_DEPTH_SHALLOW layers and
 * of as many as the parameters have. These have `unit` init, no MLP and no
 * clipping; sizes, exponent, arithmetic and seed are the parameters'. */
#ifndef ATTNVIZ_DEPTH_STUDY_H
#define ATTNVIZ_DEPTH_STUDY_H

#include "attnviz/depth.h"

enum { AV_DEPTH_SEEDS = 5, AV_DEPTH_SHALLOW = 8, AV_DEPTH_STACKS = 7, AV_DEPTH_DEPTHS = 2 };

/* One stack, over the seeds done. */
struct av_depth_cell {
    struct av_depth_config config; /* with the first seed */
    size_t done;
    size_t overflows;             /* seeds that overflowed */
    struct av_depth_stack median; /* see av_depth_median; nothing is known of it while done is 0 */
};

/* One of the seven. */
struct av_depth_recipe {
    const char *name; /* "residual, pre-norm" */
    bool scale, residual, residual_scale;
    enum av_norm norm;
};
extern const struct av_depth_recipe av_depth_recipes[AV_DEPTH_STACKS];

struct av_depth_study {
    struct av_params params;
    const struct av_depth_cell *twins[2]; /* without the scale, with it */
    /* Of AV_DEPTH_SHALLOW layers, of the parameters' number; the same when that
     * is AV_DEPTH_SHALLOW. */
    const struct av_depth_cell *table[AV_DEPTH_STACKS][AV_DEPTH_DEPTHS];
};

/* The median, field by field, of `count` stacks of the same shape, over those
 * that know the field; unknown where fewer than half do. A layer is one-hot
 * where most are. Where more than half overflow, the median does, in the layer
 * that is the lower median of theirs. */
void av_depth_median(struct av_depth_stack *median, const struct av_depth_stack *stacks, size_t count);

/* What became of the gradient of w_q and w_k. */
enum av_depth_fate {
    AV_DEPTH_FATE_UNKNOWN,
    AV_DEPTH_FATE_OVERFLOW,
    AV_DEPTH_FATE_DEAD,     /* noise or 0 in a layer */
    AV_DEPTH_FATE_EXPLODES, /* the first layer's is AV_DEPTH_EXPLOSION times the last one's or more, and x's too */
    AV_DEPTH_FATE_FADES,    /* the same, but not x's: it is the last layers that get little */
    AV_DEPTH_FATE_VANISHES, /* the first layer's is less than 1 / AV_DEPTH_EXPLOSION of the last one's */
    AV_DEPTH_FATE_UNEVEN,   /* largest over smallest exceeds AV_DEPTH_FLAT */
    AV_DEPTH_FATE_FLAT
};

#define AV_DEPTH_EXPLOSION 100
#define AV_DEPTH_FLAT 3
#define AV_DEPTH_ALIKE 0.99 /* from this cosine on tokens count as alike */

struct av_depth_finding {
    enum av_depth_fate fate;
    size_t alike_from;      /* first layer whose output has tokens alike; count: none */
    size_t dead, dead_from; /* layers that are dead, and the first of them */
    double ratio;           /* largest over smallest norm of those alive */
    double growth;          /* the first layer's over the last one's, if both are alive */
    double growth_x;        /* the same of the gradient of x */
};

struct av_depth_finding av_depth_find(const struct av_depth_stack *s);

/* The ratio that the fate is judged by: growth, or largest over smallest; NaN
 * where the fate is none of a ratio. */
double av_depth_fate_ratio(const struct av_depth_finding *f);

/* "dead", "explodes", "flat" ... */
const char *av_depth_fate_name(enum av_depth_fate fate);

/* The finding in words, at most 76 cells. Writes to out and returns it. */
enum { AV_DEPTH_WORDS = 256 };
const char *av_depth_words(char out[AV_DEPTH_WORDS], const struct av_depth_cell *cell);

#endif
