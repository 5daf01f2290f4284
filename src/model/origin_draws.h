/* origin_draws.h - one drawing of inputs and learned matrices, block by block. */
#ifndef ATTNVIZ_ORIGIN_DRAWS_H
#define ATTNVIZ_ORIGIN_DRAWS_H

#include "attnviz/origin.h"

#define AV_LAYER_NORM_EPS 1e-5

struct av_origin_draws;

/* Room for the largest d_model and d_k, about 9 MiB. The caller frees it. */
enum av_status av_origin_draws_new(struct av_origin_draws **out, const struct av_kernels *kernels, struct av_error *e);
void av_origin_draws_free(struct av_origin_draws *d); /* NULL is fine */

/* Columns of w that one block holds: so many that drawing it takes a few
 * milliseconds. Blocks of 0 .. d_k in steps of it make one drawing. */
size_t av_origin_block(const struct av_params *p);

/* Columns [c0, c0 + av_origin_block) of q and k for both kinds of inputs; the
 * block c0 = 0 begins a drawing. */
void av_origin_draw_block(struct av_origin_draws *d, const struct av_params *p, enum av_init init, int drawing,
                          size_t c0);

/* After the last block: what came out, [layer_norm][quantity]. */
void av_origin_measure(struct av_origin_draws *d, const struct av_params *p, double out[2][AV_ORIGIN_QUANTITIES]);

#endif
