/* panels_distributions.h - the panels of the view `distributions`.
 *
 * Like those of panels.h: each draws into its rectangle, drops what does not
 * fit and draws nothing at all when too little is left. */
#ifndef ATTNVIZ_PANELS_DISTRIBUTIONS_H
#define ATTNVIZ_PANELS_DISTRIBUTIONS_H

#include "attnviz/distributions.h"
#include "panels.h"

enum {
    AV_DISTRIBUTION_H = 8,  /* least height of a panel */
    AV_DISTRIBUTION_W = 36, /* and width */
    AV_VARIANCE_H = 9,
    AV_VARIANCE_W = 40,
    AV_MARK_NORMAL = 0xD7 /* multiplication sign: the normal approximation */
};

struct av_distribution_options {
    bool one_axis;   /* all panels share the axis of scores of the widest */
    bool one_height; /* both series of a panel share the axis of densities */
    bool normal;     /* draw the normal approximation, too */
    bool table;      /* numbers as a table, where there is room */
};

/* The text of an estimate: "0.995 ± 0.014", as many digits as the standard
 * error has with `digits` (1 or 2) of its own. */
enum { AV_ESTIMATE_MAX = 96 };
struct av_estimate_text {
    char measured[AV_NUMBER_MAX];
    char error[AV_NUMBER_MAX];  /* "" when there is none */
    char theory[AV_NUMBER_MAX]; /* "n/a" when not known */
    char off[AV_NUMBER_MAX];    /* "+0.8 se", "" when not known */
};
struct av_estimate_text av_panel_estimate(const struct av_estimate *e, int digits);

/* The same in one piece: "0.995±0.014 (1)", theory with so many digits or (0)
 * not at all; roomy: "0.995 ± 0.014 (1)", tight: "0.995±0.014(1)". */
struct av_estimate_style {
    int digits, theory_digits;
    bool roomy, tight, ascii;
};
void av_panel_estimate_line(char out[AV_ESTIMATE_MAX], const struct av_estimate *e, struct av_estimate_style style);

/* Moments of one panel from (r.x, r.y) on, as lines or as a table; returns the
 * number of lines. */
int av_panel_distribution_numbers(struct av_canvas *c, struct av_rect r, const struct av_distribution_panel *panel,
                                  bool table);

/* One panel: moments, histograms of the scores scaled and unscaled, curves. */
void av_panel_distribution(struct av_canvas *c, struct av_rect r, const struct av_distributions *d, size_t panel,
                           const struct av_distribution_options *options);

/* Variance over d_k on logarithmic axes with the fitted slopes, and its
 * numbers as a table beside, where there is room. */
void av_panel_variance(struct av_canvas *c, struct av_rect r, const struct av_distributions *d, bool table);

/* The slopes in words, a line each, scale off first. */
void av_panel_variance_slopes(struct av_canvas *c, struct av_rect r, const struct av_distributions *d);

#endif
