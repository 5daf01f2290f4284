/* train_hook.h - a variant in training: what stands in the place of the softmax. */
#ifndef ATTNVIZ_TRAIN_HOOK_H
#define ATTNVIZ_TRAIN_HOOK_H

#include "attnviz/train.h"

/* Bytes that av_train_hook_new takes; 0 where the plain pass will do, because
 * the variant changes no more than alpha and the learned matrices. */
double av_train_hook_bytes(const struct av_train_config *c);

/* The hook of c->attention, for sequences of c->seq_len tokens; NULL where the
 * plain pass will do. `extra` is the
 * sink's logit, kernels are borrowed. The caller frees it. */
enum av_status av_train_hook_new(struct av_attention_hook **out, const struct av_train_config *c,
                                 const struct av_kernels *kernels, struct av_error *e);
void av_train_hook_free(struct av_attention_hook *hook);

#endif
