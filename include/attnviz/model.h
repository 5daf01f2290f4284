/* model.h - the pipeline: parameters in, snapshot out.
 *
 * An update finds the first stale stage (params.h) and runs from there down.
 * Growing n or d_k extends Q, K and the sums that stand; shrinking rebuilds. */
#ifndef ATTNVIZ_MODEL_H
#define ATTNVIZ_MODEL_H

#include "attnviz/snapshot.h"

struct av_model;

/* A model without results; the caller frees it. kernels: NULL for the best. */
enum av_status av_model_new(struct av_model **out, const struct av_kernels *kernels, struct av_error *e);
void av_model_free(struct av_model *m);

/* Takes queries and keys from there from now on: of one head at a time, that of
 * the parameters layer and head, which is read when it is asked for. An update
 * fails when it cannot be. The source is borrowed and must outlive the model. */
void av_model_use_source(struct av_model *m, const struct av_source *source);

/* Brings the model to these parameters (checked by the caller) and needs, a
 * sum of enum av_need. On failure the old state and snapshot stand. */
enum av_status av_model_update(struct av_model *m, const struct av_params *p, unsigned needs, struct av_error *e);

/* The same, with the multiplier d_k^-exponent of the current state replaced
 * by `alpha`: a frame of the glide between scale on and off. */
enum av_status av_model_glide(struct av_model *m, const struct av_params *p, unsigned needs, double alpha,
                              struct av_error *e);

/* What is wrong with the head of the source that is shown: snapshot's
 * `diagnosis`, until the next update; nothing without a source. AV_FAILED when
 * it cannot be read any more, AV_NOMEM. */
enum av_status av_model_diagnose(struct av_model *m, struct av_error *e);

/* How much work an update to these parameters and needs would be at most, in
 * multiply-adds of matrix products, which is what takes time: n_q n_k d_k for
 * stale scores (in full, though a larger d_k continues the sums that stand) and
 * for each state whose rows need the product again, by a variant that makes
 * entries of its own or a dtype; about six times that, as measured, for
 * AV_NEED_DQ, 0 for everything else. */
double av_model_cost(const struct av_model *m, const struct av_params *asked, unsigned needs);

/* Valid until the next update; never NULL after the first one succeeded. */
const struct av_snapshot *av_model_snapshot(const struct av_model *m);

#endif
