/* panels_softmax.h - the panels of the view `softmax`, all about one row.
 *
 * Bars and Jacobian stand below each other: key j has the same columns in
 * all of them. */
#ifndef ATTNVIZ_PANELS_SOFTMAX_H
#define ATTNVIZ_PANELS_SOFTMAX_H

#include "attnviz/jacobian.h"
#include "panels.h"

/* The selected row and key. */
struct av_lab_row {
    struct av_softmax_row row;
    size_t key;
    double range;        /* x_range */
    const double *given; /* before offsets and temperature; NULL unless given by hand */
    const char *bend;    /* "softmax" */
    const struct av_params *params;
    bool simplex;
    bool shifts; /* a shift common to all logits changes weights */
};

/* False where the row has no weights; the panels below want one that has. */
bool av_lab_row(const struct av_snapshot *s, struct av_lab_row *out);

/* The weight of key j with so many digits; close to 1 as "1 - 3e-434". */
const char *av_lab_weight(char out[AV_NUMBER_MAX], const struct av_softmax_row *row, size_t j, int digits);

/* Their columns, and below the bars the Jacobian's cells. */
struct av_heat_grid av_panel_jacobian_grid(struct av_rect r, size_t n);

/* Columns on axes of their own: the logits' hangs from the largest logit, so
 * that an added constant moves its labels and nothing else; the weights' ends
 * at 1, 2 or 5 times a power of ten. A caption has the numbers. */
enum { AV_BARS_LEAST_H = 3 };
void av_panel_logits(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab,
                     const struct av_heat_grid *grid);
void av_panel_logit_weights(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab,
                            const struct av_heat_grid *grid);

/* diag(p) - p p^T, or what another bend has, as a heatmap; by log10 of the size when log is set. */
enum { AV_JACOBIAN_LEAST_H = 6 };
void av_panel_jacobian(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab, bool log);

/* Entropy, trace, norms and the selected key, each with its log10. */
enum { AV_ROW_NUMBERS_W = 34 };
void av_panel_row_numbers(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab);

/* The most telling of them on one line, as far as they fit. */
void av_panel_row_line(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab);

/* The selected key's weight and its derivatives over its logit, of the softmax
 * alone. */
void av_panel_sensitivity(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab);

#endif
