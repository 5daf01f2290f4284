/* panel_given.c - what the panels say of files that hold scores or weights alone. */
#include "panels.h"

#include <stdio.h>

const char *av_panel_holds(const struct av_snapshot *s)
{
    return s->from == AV_PART_WEIGHTS ? "weights" : s->from == AV_PART_SCORES ? "scores" : NULL;
}

const char *av_panel_lacks(char out[AV_LACK_MAX], const struct av_snapshot *s, const char *what)
{
    snprintf(out, AV_LACK_MAX, "This file holds %s alone: no %s.", av_panel_holds(s), what);
    return out;
}

const char *av_panel_no_study(char out[AV_LACK_MAX], const struct av_snapshot *s)
{
    if (av_panel_holds(s) != NULL) {
        return av_panel_lacks(out, s, "queries and keys to measure");
    }
    snprintf(out, AV_LACK_MAX, "There is not enough memory to measure this.");
    return out;
}
