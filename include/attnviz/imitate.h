/* imitate.h - scores, logits and softmax as narrower arithmetic computes them.
 *
 * What is imitated, for f32, bf16 and f16 (all roundings as in dtype.h):
 *
 *   q, k      every entry rounded                           (with smooth_k: k minus the mean key first)
 *   query     with scale_order query: q times m, rounded
 *   scores    products summed in f32, over ascending columns, each product and
 *             each sum rounded; then rounded: what tensor cores and CPU
 *             libraries do for half precision
 *   logits    times m / temperature (scale_order query: 1 / temperature),
 *             rounded; plus bias and offsets / temperature, rounded before
 *             they are added, and the sum
 *   softmax   every operation rounded: z - max, exp, the sum over ascending
 *             keys, each partial one, the quotient; with softmax_f32 each of
 *             them to f32, and the weights to the dtype at the end
 *
 * m, m / temperature and 1 / temperature are f32 numbers: libraries keep
 * factors so. int8: q and k, rounded to f32, quantised row by row (av_quantise);
 * the products are summed exactly, in whole numbers, and multiplied by the
 * query's scale and then the key's in f32; logits and softmax in f32. f64:
 * nothing is rounded, and smooth_k subtracts nothing.
 *
 * As in the real thing a logit of -infinity gives a weight of 0, be it masked or
 * a score that overflowed; one of +infinity, or a NaN, or nothing but
 * -infinities make all of the row's weights NaN. */
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
 * dtype, scale_order, softmax_f32, smooth_k. Borrows nothing. When it fails the
 * old keys stand. */
enum av_status av_imitation_begin(struct av_imitation *m, const struct av_params *p, const struct av_entries *k,
                                  size_t n_k, size_t d, struct av_error *e);

/* Logits [0, len) of query number i of q [.., d], len <= n_k, under that
 * multiplier and temperature; add [len]: what is added to each after it (bias
 * and offsets, before temperature), -infinity: masked, whatever the score; NULL:
 * nothing. out [len]. */
void av_imitation_logits(struct av_imitation *m, double *out, const struct av_entries *q, size_t i, size_t len,
                         double multiplier, double temperature, const double *add);

/* Weights w [n] of a row of logits z [n], n >= 1; w may be z. */
void av_imitation_softmax(const struct av_imitation *m, double *w, const double *z, size_t n);

/* The same, each operation rounded to the dtype `inside` and the weights to
 * `outside` at the end. */
void av_imitate_softmax(double *w, const double *z, size_t n, enum av_dtype inside, enum av_dtype outside);

/* What logits are rounded to: the dtype, or f32 of int8. */
enum av_dtype av_imitation_logit_dtype(const struct av_imitation *m);

#endif
