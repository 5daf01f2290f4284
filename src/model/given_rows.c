/* given_rows.c - a row of weights that a file holds, whatever made it. */
#include "given_rows.h"

#include "score_stats.h"

bool av_given_weights(struct av_rowstats *stats, double *w, size_t len, const struct av_given_room *room)
{
    *stats = (struct av_rowstats){ .keys = len };
    if (!av_all_finite(w, len)) {
        return false;
    }
    if (len > 0) {
        struct av_bend_row bend = { len, room->zeros, w, room->form, room->scratch };
        av_form_of_weights(&bend.form, w, len);
        av_form_stats(stats, &bend);
    }
    return true;
}
