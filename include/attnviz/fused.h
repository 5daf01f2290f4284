/* fused.h - the row statistics of one head of a source in bounded memory.
 *
 * A fused (online) softmax (Milakov and Gimelshein 2018; the loop over blocks
 * of FlashAttention, Dao et al. 2022): queries are taken in blocks, keys in
 * tiles that are read from the source as they are needed; of a row nothing is
 * kept but its running sums (struct av_running_row). So n_q n_k scores pass by
 * and none stays: memory grows with n_q (statistics) and no longer with
 * n_q n_k. Plain softmax in double alone: variants and narrower dtypes go
 * through attend.h. */
#ifndef ATTNVIZ_FUSED_H
#define ATTNVIZ_FUSED_H

#include "attnviz/snapshot.h"
#include "attnviz/source.h"

/* Above so many pairs n_q n_k a head's matrix of scores and weights is not
 * worth its memory when only rows' statistics are wanted. */
enum { AV_FUSED_PAIRS = 1 << 22, AV_FUSED_THREADS_MAX = 64 };

struct av_fused;

/* Begins head `head` of layer `layer`, which has Q and K (d > 0). Of the
 * parameters count scale, exponent (by the layer's d), temperature, offset,
 * key, key_offset and mask; key below n_k. AV_USAGE with any other variant than
 * plain softmax or dtype than f64. Reads the keys at once if they take no more
 * than 16 MiB or the source is streamed, else tile by tile once for each block of
 * queries. Borrows the
 * source, which must outlive it; the caller frees *out. threads: 1 ..
 * AV_FUSED_THREADS_MAX, each with buffers of its own: they take part in
 * av_fused_run. kernels: NULL for the best. AV_NOMEM; AV_FAILED when the source
 * gives no keys. On failure *out is NULL. */
enum av_status av_fused_begin(struct av_fused **out, const struct av_source *source, size_t layer, size_t head,
                              const struct av_params *p, size_t threads, const struct av_kernels *kernels,
                              struct av_error *e);
void av_fused_free(struct av_fused *f); /* NULL is fine */

/* Goes on in this thread for about 5 ms (2^26 multiply-adds); nothing when all
 * is done. After a failure, AV_FAILED of the source, it can be asked again. */
enum av_status av_fused_step(struct av_fused *f, struct av_error *e);

/* Goes on until all is done or stop(context) is true: then AV_INTERRUPTED, and
 * the same call goes on where it stopped. This thread and threads - 1 others
 * share the blocks of queries; the source is read by one of them at a time;
 * stop is called here only, every few milliseconds, and may be NULL. The result
 * does not depend, in one bit, on the number of threads or on how the work was
 * cut. A thread that cannot be started is done without. AV_FAILED as above. */
enum av_status av_fused_run(struct av_fused *f, bool (*stop)(void *context), void *context, struct av_error *e);

/* Share of the work that is done, 0 .. 1, and 1 only when all is. Work is done at
 * an even rate, so that elapsed (1 - share) / share is the time left. */
double av_fused_progress(const struct av_fused *f);

/* When all is done, else NULL: what is known of the head, until it is freed.
 * Of the snapshot are filled in what av_model_update with no needs would give
 * but for what is made of pairs: scores, logits, weights and the tensors are
 * NULL; the selected query's weights and the verdicts are there.
 * nonzero_share_mean is 1 where no weight can have underflowed, else NaN; dq_rms
 * is NaN: a row's needs sums of w k and of w^2 k, two more products of the size
 * of Q K^T, and three times the time. rows' row_sum is that of the weights before
 * rounding to what would be stored. */
const struct av_snapshot *av_fused_snapshot(const struct av_fused *f);

/* Bytes that such a head takes while it is worked on: about 6 MiB a thread, 130
 * a query, 16 a key, and the keys where they are held (see av_fused_begin). */
size_t av_fused_bytes(const struct av_source *source, size_t layer, size_t threads);

#endif
