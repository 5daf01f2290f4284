/* mask.c - which keys a row sees, and which rows count. */
#include "attnviz/snapshot.h"

size_t av_row_length(enum av_mask mask, size_t i, size_t n_q, size_t n_k)
{
    if (mask == AV_MASK_NONE) {
        return n_k;
    }
    size_t reach = i + n_k + 1; /* the last key that row i sees is reach - n_q - 1 */
    size_t len = reach > n_q ? reach - n_q : 0;
    return len < n_k ? len : n_k;
}

bool av_row_counts(const struct av_snapshot *s, const struct av_rowstats *rows, size_t i)
{
    return rows[i].keys >= 2 && !s->invalid[i];
}
