/* facts.h - claims about the sqrt(d_k) scale, put to the test.
 *
 * A claim is a row of a table: what is said, the quantity that decides, the
 * range of values in which the claim is right, and one to four settings in
 * which it is measured, over AV_FACT_SEEDS seeds each. One rule makes every
 * verdict of these measurements:
 *
 *   a setting agrees when the mean of the quantity over the seeds is in the
 *   range; the claim holds when all settings agree, holds only when ... when
 *   some do, and is false when none does.
 *
 * No verdict and no number of a text is stored. The study `facts` (study.h)
 * measures; its result is a struct av_facts. */
#ifndef ATTNVIZ_FACTS_H
#define ATTNVIZ_FACTS_H

#include "attnviz/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AV_FACT_SEEDS = 5, AV_FACT_SETTINGS = 4, AV_FACT_LINE = 256, AV_FACT_NUMBER = 32 };

struct av_trial; /* what measuring works with (src/model/trial.h) */
struct av_fact_setting;

/* The quantity in that setting: a pure function of setting and seed, timings
 * apart. NaN where arithmetic ends in NaN. What takes longer than a unit of a
 * study is measured in several calls: while trial->part is not 0 afterwards, so
 * much of it is done, the value is none, and it is to be called again. */
typedef double av_fact_measure(struct av_trial *trial, const struct av_fact_setting *at, uint64_t seed);

/* Where a claim is measured. Q [n_q, d_k] and K [n_k, d_k] are those that the
 * pipeline draws for these parameters. */
struct av_fact_setting {
    const char *label; /* what tells it from the others: "8 keys"; NULL: there are no more */
    av_fact_measure *measure;
    size_t n_q, n_k, d_k;
    double exponent;     /* of the multiplier d_k^-exponent; 0: scale off */
    double q_std, k_std; /* of the entries */
    double mean;         /* of the entries, q and k */
    enum av_dist dist;   /* of the entries */
    double x;            /* what else the measure takes: see there */
    double clip;         /* largest norm of a stack's gradient; 0: any */
};

struct av_claim {
    const char *name;       /* "weight-512" */
    const char *text;       /* as it is said, at most AV_CLAIM_MOST cells */
    const char *experiment; /* what is done in every setting */
    const char *quantity;   /* what is measured: "rows with largest weight > 0.9" */
    const char *unit;       /* "", "%", "orders" ... */
    double lo, hi;          /* the claim is right where lo <= quantity <= hi */
    const char *truth;      /* what is found; {1} .. {4}: the mean in that setting */
    bool timed;             /* a time on this machine: not the same in every run */
    struct av_fact_setting settings[AV_FACT_SETTINGS];
};

enum { AV_CLAIM_MOST = 48 };

/* The table, and its number of rows. */
const struct av_claim *av_claims(size_t *count);

/* Settings of a claim: 1 .. AV_FACT_SETTINGS. */
size_t av_claim_settings(const struct av_claim *claim);

/* When a setting agrees, in words: "Var[q.k] / d_k: 0.9 to 1.1". Writes to out
 * and returns it. */
const char *av_claim_rule(const struct av_claim *claim, char out[AV_FACT_LINE]);

enum av_fact_verdict { AV_FACT_OPEN, AV_FACT_HOLDS, AV_FACT_WHEN, AV_FACT_FALSE };

/* "not measured yet", "holds", "holds only when", "false". */
const char *av_fact_verdict_name(enum av_fact_verdict verdict);

/* What was measured in one setting. */
struct av_fact_measured {
    double values[AV_FACT_SEEDS]; /* by seed; the first `done` are there */
    size_t done;
    double mean, sd, min, max; /* over the seeds; NaN as soon as a value is. sd over N - 1 */
    bool agrees;               /* mean in the claim's range */
};

struct av_fact {
    const struct av_claim *claim;
    struct av_fact_measured at[AV_FACT_SETTINGS];
    enum av_fact_verdict verdict; /* AV_FACT_OPEN until everything is measured */
    char condition[AV_FACT_LINE]; /* of "holds only when": the settings; else empty */
    char truth[AV_FACT_LINE];     /* the claim's, with the numbers; empty while open */
};

struct av_facts {
    uint64_t seed;               /* the first; the others follow it, modulo 2^64 */
    size_t count;                /* of claims */
    size_t measured;             /* claims with a verdict */
    const struct av_fact *facts; /* [count] */
};

/* How many claims have that verdict. */
size_t av_facts_count(const struct av_facts *facts, enum av_fact_verdict verdict);
size_t av_facts_timed(const struct av_facts *facts);

/* The setting to name first: one that speaks against the claim, when there is
 * one, else the first. */
size_t av_fact_decisive(const struct av_fact *f);

/* A number with so many significant digits, "NaN". Writes to out and returns it. */
enum { AV_FACT_DIGITS = 3 };
const char *av_fact_number(char out[AV_FACT_NUMBER], double v, int digits);

/* Mean and spread: two digits of the spread, the mean to the same place, or
 * with AV_FACT_DIGITS where powers of ten are needed, one more when all seeds
 * gave the same. */
void av_fact_mean(char mean[AV_FACT_NUMBER], char spread[AV_FACT_NUMBER], const struct av_fact_measured *m);

/* What was measured, with its spread: "0.987 +- 0.025", "NaN", "not measured". */
const char *av_fact_value(char out[AV_FACT_LINE], const struct av_fact_measured *m);

/* Makes everything of *f that follows from claim and values: a pure function
 * of the measurements. */
void av_fact_judge(struct av_fact *f);

#endif
