/* logit_list.h - a row of logits edited by hand.
 *
 * Lists hold 1 to AV_LOGITS_MAX finite numbers. Each operation either does
 * what it says and returns true, or returns false and leaves the list as it
 * was: because it would become too short or too long, because a number would
 * pass the largest double, or because nothing would change. */
#ifndef ATTNVIZ_LOGIT_LIST_H
#define ATTNVIZ_LOGIT_LIST_H

#include "attnviz/params.h"

/* Puts `value` behind key `at`, 0 <= at < n. */
bool av_logit_list_insert(struct av_logit_list *l, size_t at, double value);

/* Takes key `at` out, 0 <= at < n; the last one stays. */
bool av_logit_list_delete(struct av_logit_list *l, size_t at);

/* Adds to one, 0 <= at < n, or to all. A sum that only rounding keeps from a
 * number of nine decimals becomes that: 0.1 and 0.2 make 0.3, and the same
 * back. */
bool av_logit_list_nudge(struct av_logit_list *l, size_t at, double by);
bool av_logit_list_add(struct av_logit_list *l, double by);

/* Multiplies all. */
bool av_logit_list_scale(struct av_logit_list *l, double by);

/* Makes it n long, 1 <= n: new ones at 0, or the last ones dropped. */
bool av_logit_list_resize(struct av_logit_list *l, size_t n);

/* Takes n numbers times `by`: a row of scores and its multiplier. */
bool av_logit_list_take(struct av_logit_list *l, const double *x, size_t n, double by);

/* Takes those of n logits z that are seen, not -infinity, with the temperature
 * and the offsets of p taken back. False, and nothing changed, when none is,
 * when they are too many, or one is not finite. */
bool av_logit_list_take_seen(struct av_logit_list *l, const double *z, size_t n, const struct av_params *p);

/* Are all the same? Then no factor changes the weights. */
bool av_logit_list_even(const struct av_logit_list *l);

/* Rows worth looking at; each starts with the numbers given, the rest 0. */
struct av_logit_preset {
    const char *say; /* what it is, for the message line */
    size_t n;
    double start[4];
};

const struct av_logit_preset *av_logit_presets(size_t *count);
void av_logit_list_preset(struct av_logit_list *l, const struct av_logit_preset *preset);

/* The preset that the list is equal to; NULL: none. */
const struct av_logit_preset *av_logit_preset_of(const struct av_logit_list *l);

#endif
