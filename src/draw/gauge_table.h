/* gauge_table.h - what the gauges show: values, limits and words, apart from
 * the way they are drawn. */
#ifndef ATTNVIZ_GAUGE_TABLE_H
#define ATTNVIZ_GAUGE_TABLE_H

#include "attnviz/plot.h"
#include "attnviz/snapshot.h"

enum { AV_GAUGE_NOTE = 96, AV_GAUGE_BRIEF_MOST = 2, AV_GAUGES = 5 };

struct av_gauge {
    const char *label, *symbol;
    const char *no_simplex; /* the label where weights have no simplex; NULL: the same */
    const char *lo_text, *hi_text;
    struct av_axis axis; /* cells: set when drawn */
    double (*value)(const struct av_summary *sum);
    double (*theory)(const struct av_snapshot *s); /* may be NULL; NaN: unknown */
    double (*limit)(const struct av_snapshot *s);  /* where the alarm is; may be NULL */
    bool (*alarmed)(const struct av_snapshot *s, const struct av_summary *sum);
    /* The value in words; brief, 0 .. AV_GAUGE_BRIEF_MOST: where longer ones do not fit. */
    void (*note)(char out[AV_GAUGE_NOTE], const struct av_snapshot *s, const struct av_summary *sum, int brief);
};

extern const struct av_gauge av_gauges[AV_GAUGES];

/* A value of a summary with two digits; a 0 that only underflow can have made
 * as "<1e-307". */
const char *av_gauge_tiny(char out[AV_NUMBER_MAX], double v, const struct av_summary *sum);

#endif
