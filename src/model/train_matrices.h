/* train_matrices.h - what a variant of the group `training` does to learned matrices.
 *
 * Learned matrices lie as in attention.h: w [4 d_k, d_model], rows `pitch`
 * numbers apart, four matrices of d_k rows. */
#ifndef ATTNVIZ_TRAIN_MATRICES_H
#define ATTNVIZ_TRAIN_MATRICES_H

#include "attnviz/attention.h"

enum { AV_MATRICES = 4 };

/* ---- sigma_reparam: W^ = gamma W / sigma_max(W) is used in the place of W ------- */

/* The largest singular value of each matrix, with its vectors: W v = sigma u.
 * They are followed by power iteration, from where they were (Zhai et al. 2023). */
struct av_spectra {
    size_t d_k, d_model, pitch;
    double sigma[AV_MATRICES];
    double *u, *v; /* [4, d_k], [4, d_model] */
};

/* Bytes that av_spectra_new takes. */
double av_spectra_bytes(const struct av_attention_sizes *s);

enum av_status av_spectra_new(struct av_spectra *m, const struct av_attention_sizes *s, struct av_error *e);
void av_spectra_free(struct av_spectra *m);

/* From other matrices: iterates until sigma no longer changes, or, in matrices
 * of a million entries, as far as goes without a wait. */
void av_spectra_begin(struct av_spectra *m, const float *w);

/* After a step: a few iterations, as in the paper. Where another singular value
 * overtakes, sigma is that of the old one, too small by some percent, until
 * enough of them have been made. */
void av_spectra_follow(struct av_spectra *m, const float *w);

/* out = gamma w / sigma, each matrix with its gamma. */
void av_spectra_apply(const struct av_spectra *m, float *out, const float *w, const double gamma[AV_MATRICES]);

/* d_w, on entry G, the gradient by W^, becomes that by W, and d_gamma that by
 * gamma. As d sigma / dW = u v^T,
 *
 *   d_gamma = <G, W> / sigma     d_w = gamma / sigma (G - d_gamma u v^T)
 */
void av_spectra_backward(const struct av_spectra *m, float *d_w, double d_gamma[AV_MATRICES], const float *w,
                         const double gamma[AV_MATRICES]);

/* ---- qk_clip: logits that have grown too large ----------------------------------- */

/* Where the largest logit of a batch is above tau: w_q and w_k times
 * sqrt(tau / largest), so that it would have been tau. Says whether it was. */
bool av_qk_clip(float *w, const struct av_attention_sizes *s, double largest, double tau);

#endif
