/* depth_init.h - the numbers that a stack starts from: pure functions of seed,
 * layer, matrix, row and column, and of the sizes that their spread depends on. */
#ifndef ATTNVIZ_DEPTH_INIT_H
#define ATTNVIZ_DEPTH_INIT_H

#include "depth_branch.h"

/* x_0 and the gradient at the top, [n, d] each. */
void av_depth_draw_input(const struct av_depth_branch *b, uint64_t seed, double *x);
void av_depth_draw_top(const struct av_depth_branch *b, uint64_t seed, double *d_x);

/* The branch's matrices [first, end) become those of that layer. */
void av_depth_draw_matrices(const struct av_depth_branch *b, const struct av_depth_config *c, size_t layer,
                            enum av_depth_matrix first, enum av_depth_matrix end);

#endif
