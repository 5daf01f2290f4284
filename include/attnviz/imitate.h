/* imitate.h - scores, logits and softmax as narrower arithmetic computes them.
 *
 * What is imitated, for f32, bf16 and f16 (all roundings as in dtype.h):
 *
 *   q, k      every entry rounded                           (with smooth_k: k minus the mean key first)
 *   query     with scale_order query: q times m, rounded
 *   scores    products summed in f32, over ascending columns, the sum rounded:
 *             what tensor cores and CPU libraries do for half precision
 *   logits    times m / temperature (scale_order query: 1 / temperature),
 *             rounded; plus bias and offsets / temperature, each sum rounded
 *   softmax   every operation rounded: z - max, exp, the sum over ascending
 *             keys, the quotient; with softmax_f32 each of them to f32, and the
 *             weights to the dtype at the end
 *
 * int8: q and k quantised row by row (av_quantise); the products are summed
 * exactly, in whole numbers, and multiplied by both rows' scales in f32; logits
 * and softmax in f32. f64: nothing is rounded.
 *
 * An infinity among the logits makes the row's weights NaN, as in the real
 * thing; a masked key is left out, and has no logit. */
#ifndef ATTNVIZ_IMITATE_H
#define ATTNVIZ_IMITATE_H

#include "attnviz/dtype.h"
#include "attnviz/kernels.h"
#include "attnviz/params.h"
#include "attnviz/status.h"

struct av_imitation; /* keys as the dtype holds them, and memory for a query */

enum av_status av_imitation_new(struct av_imitation **out, struct av_error *e);
void av_imitation_free(struct av_imitation *m);

/* Begins for these keys [n_k, d]: rounds or quantises them, O(n_k d). Of p:
 * dtype, scale_order, softmax_f32, smooth_k. Borrows nothing. */
enum av_status av_imitation_begin(struct av_imitation *m, const struct av_params *p, const struct av_entries *k,
                                  size_t n_k, size_t d, struct av_error *e);

/* Logits [0, len) of query number i of q under the multiplier m_i and
 * temperature; add [len]: what is added to each after it (bias and offsets,
 * before temperature), -infinity: masked; NULL: nothing. out [len]. */
void av_imitation_logits(struct av_imitation *m, double *out, const struct av_entries *q, size_t i, size_t len,
                         double multiplier, double temperature, const double *add);

/* Weights of a row of logits, -infinity: masked. Some may be NaN. */
void av_imitation_softmax(const struct av_imitation *m, double *w, const double *z, size_t n);

#endif
