/* kernel_sets.h - the kernels of every instruction set, by name.
 *
 * A kernel_*.c defines AV_KERNEL(draw) and the like, which becomes
 * av_draw_avx2 when it is compiled for that set. */
#ifndef ATTNVIZ_KERNEL_SETS_H
#define ATTNVIZ_KERNEL_SETS_H

#include "attnviz/kernels.h"

#define AV_PASTE(kernel, set) av_##kernel##_##set
#define AV_NAME(kernel, set) AV_PASTE(kernel, set)
#define AV_KERNEL(kernel) AV_NAME(kernel, AV_ISA)

/* The Makefile lists the sets in AV_ISAS as X(base) X(avx2) ... */
#define X(set)                                                                                                         \
    void av_draw_##set(float *x, size_t first, size_t count, enum av_dist dist, struct av_stream stream);              \
    void av_scores_##set(double *s, size_t pitch, const struct av_entries *q, const struct av_entries *k,              \
                         const struct av_block *block, void *scratch);                                                 \
    void av_softmax_##set(double *p, const double *s, double multiplier, size_t n, struct av_rowstats *out);           \
    void av_running_add_##set(struct av_running_row *row, const double *s, double multiplier, size_t n);               \
    void av_running_stats_##set(struct av_rowstats *out, const struct av_running_row *row, double multiplier);         \
    void av_dq_##set(struct av_dq_row *rows, size_t count, const struct av_entries *k, size_t d, void *scratch);       \
    void av_exp_##set(double *e, double *less, const double *x, size_t n);                                             \
    double av_form_fro_##set(const struct av_form *f, size_t n);                                                       \
    void av_form_stats_##set(struct av_rowstats *out, const struct av_bend_row *row);                                  \
    void av_form_columns_##set(struct av_form_squares *sum, const struct av_form *f, const double *x, size_t n);       \
    void av_dot_##set(double *s, const float *q, const float *k, const size_t *ends, size_t count);                    \
    void av_product_##set(const struct av_product *product);                                                           \
    void av_transpose_##set(float *out, size_t out_pitch, const float *in, size_t in_pitch, size_t rows,               \
                            size_t columns);                                                                           \
    void av_forward_##set(struct av_attention *a);                                                                     \
    void av_backward_##set(struct av_attention *a);                                                                    \
    void av_observe_##set(const struct av_attention *a, struct av_attention_observed *o);                              \
    double av_sum_squares_##set(const float *x, size_t n);                                                             \
    void av_adam_##set(float *w, const float *d_w, float *mean, float *square, size_t n,                               \
                       const struct av_adam_step *step);                                                               \
    size_t av_multiply_add_##set(size_t rounds, float *sum);
AV_ISAS
#undef X

#endif
