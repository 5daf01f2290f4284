/* given_rows.h - a row of weights that a file holds, whatever made it. */
#ifndef ATTNVIZ_GIVEN_ROWS_H
#define ATTNVIZ_GIVEN_ROWS_H

#include "attnviz/bend.h"

#include <stdbool.h>
#include <stddef.h>

/* Memory for rows of up to n keys; the caller owns it. */
struct av_given_room {
    const double *zeros; /* [n] zeros, in the place of logits */
    struct av_form form; /* [n] each */
    double *scratch;     /* [AV_BEND_SCRATCH(n)] */
};

/* Statistics of the weights w [len] of the keys that a row sees, which are taken
 * to be those of the softmax; max_logit is 0. Returns whether all are finite;
 * of others, and of len 0, only stats->keys = len is set, the rest is 0. w stays
 * as it is. */
bool av_given_weights(struct av_rowstats *stats, double *w, size_t len, const struct av_given_room *room);

#endif
