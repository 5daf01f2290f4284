/* panels_derivation.h - the pages of the view `derivation`. */
#ifndef ATTNVIZ_PANELS_DERIVATION_H
#define ATTNVIZ_PANELS_DERIVATION_H

#include "attnviz/estimate.h"
#include "panels.h"

/* The chain, line by line (derivation.h). */
void av_panel_chain(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Where the variance comes from: four kinds of init, with and without
 * LayerNorm. Needs the study's result. */
void av_panel_origin(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Scaling, normalisation and initialisation side by side. Needs the study's
 * result. */
void av_panel_remedies(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* Whether a measurement agrees, as a mark; none while it is not judged. */
void av_panel_agreement(struct av_canvas *c, int x, int y, enum av_estimate_verdict verdict);

/* "128 drawings, seeds 42 .. 169" or how far they are. */
void av_panel_drawings(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

#endif
