/* over.h - the values that a sweep runs over: NAME=FROM:TO:STEPS[:log].
 *
 * Both ends are among the values and exact. Between them the values are
 * equally spaced, or equal ratios apart with `log`, and as round as they are
 * meant to be: 0.1:1:10 has 0.3, 1:4096:13:log has the powers of two. */
#ifndef ATTNVIZ_OVER_H
#define ATTNVIZ_OVER_H

#include "attnviz/params.h"

#define AV_OVER_FORM "NAME=FROM:TO:STEPS[:log]"

enum { AV_OVER_STEPS_MAX = 10000 };

struct av_over {
    const struct av_param *row; /* a number: an integer, a real or a seed */
    double from, to;            /* in range; both above 0 with log; from > to runs down */
    size_t steps;               /* values, both ends included; 1 only where from = to */
    bool log;
};

/* Can this parameter be swept? Numbers can, words and lists cannot, nor what
 * has a meaning only with files. */
bool av_over_takes(const struct av_param *row);

/* Reads the text and checks every value against the ranges that hold among
 * these parameters (key, query: with n_k, n_q). p itself is in range. What a
 * variant owns is refused unless p has that variant, and `auto` is no number.
 * Seeds end at 2^53, up to where every whole number is a double. AV_USAGE names
 * the part of the text, its value and what it takes. */
enum av_status av_over_parse(struct av_over *over, const char *text, const struct av_params *p, struct av_error *e);

/* Value i < steps, as av_param_set takes it. Equally spaced values are exact
 * and rounded once where the decimals of both ends, as whole numbers, times
 * steps stay below 2^53; values equal ratios apart are rounded to 14 digits,
 * which is beyond what they are known to. Those of integers are rounded to
 * whole ones, halves up. */
double av_over_value(const struct av_over *over, size_t i);

/* Is value i that of i - 1 again? Such values are left out of a sweep. */
bool av_over_repeats(const struct av_over *over, size_t i);

/* How many values there are without those. */
size_t av_over_count(const struct av_over *over);

#endif
