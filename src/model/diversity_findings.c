/* diversity_findings.c - what can be said of heads beside each other: the rules behind the words. */
#include "attnviz/diversity.h"

#include <math.h>

/* Shares of ln 2, of ln n, and of rows. */
static const double alike = 0.1, apart = 0.75, flat = 0.9, saturated = 0.5, same = 0.5;

const char *av_diversity_words(const struct av_diversity *r)
{
    double share = r->divergence / AV_DIVERSITY_MOST;
    if (isnan(share)) {
        return "no row counts: two heads must give weight to two keys or more in it";
    }
    if (share < alike && r->entropy_norm > flat) {
        return "alike, for all are flat: every head gives all keys about the same weight";
    }
    if (share < alike && r->entropy_norm < saturated && r->shared > same) {
        return "alike, for all saturate on the same keys";
    }
    if (share < alike) {
        return "alike: the heads spread their weight in the same way";
    }
    if (share > apart) {
        return "apart: each head has its own keys, and few are shared";
    }
    return "they overlap: a part of every head's weight lies where others put theirs";
}
