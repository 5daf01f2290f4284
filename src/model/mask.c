/* mask.c - which keys a row sees, and which rows count. */
#include "attnviz/snapshot.h"

#include <math.h>

size_t av_row_length(enum av_mask mask, size_t i, size_t n_q, size_t n_k)
{
    if (mask == AV_MASK_NONE) {
        return n_k;
    }
    size_t reach = i + n_k + 1; /* the last key that row i sees is reach - n_q - 1 */
    size_t len = reach > n_q ? reach - n_q : 0;
    return len < n_k ? len : n_k;
}

double av_rows_freezing(enum av_mask mask, size_t n_q, size_t n_k)
{
    double sum = 0;
    size_t rows = 0;
    for (size_t i = 0; i < n_q; i++) {
        size_t len = av_row_length(mask, i, n_q, n_k);
        if (len >= 2) {
            sum += av_theory_freezing((double)len);
            rows++;
        }
    }
    return rows > 0 ? sum / (double)rows : (double)NAN;
}

bool av_row_counts(const struct av_snapshot *s, const struct av_rowstats *rows, size_t i)
{
    const bool *invalid = rows == s->other_rows ? s->other_invalid : s->invalid;
    return rows[i].keys >= 2 && !invalid[i];
}
