/* panel_given.c - what the panels say of scores or weights that a file holds. */
#include "panels.h"

#include <stdio.h>

const char *av_panel_holds(const struct av_snapshot *s)
{
    return s->from == AV_PART_WEIGHTS ? "weights" : s->from == AV_PART_SCORES ? "scores" : NULL;
}

const char *av_panel_lacks(char out[AV_LACK_MAX], const struct av_snapshot *s, const char *what)
{
    bool alone = !av_source_has_choice(s->layer);
    snprintf(out, AV_LACK_MAX, alone ? "This file holds %s alone: no %s." : "Shown are the file's %s (from): no %s.",
             av_panel_holds(s), what);
    return out;
}

size_t av_panel_sequence(char out[AV_PIECE_MAX], const struct av_source *source, bool brief)
{
    if (source->sequences > 1) {
        snprintf(out, AV_PIECE_MAX, brief ? "seq %zu/%zu" : "sequence %zu of %zu; --batch", source->sequence,
                 source->sequences);
    }
    return source->sequences > 1;
}

const char *av_panel_no_study(char out[AV_LACK_MAX], const struct av_snapshot *s)
{
    if (av_panel_holds(s) != NULL) {
        return av_panel_lacks(out, s, "queries and keys to measure");
    }
    snprintf(out, AV_LACK_MAX, "There is not enough memory to measure this.");
    return out;
}
