/* entries.h - drawing the entries of Q and K.
 *
 * An entry is a pure function of (seed, head, tensor, row, column) and of the
 * parameters of its distribution; it does not know n_q, n_k, d_k or n_head. The
 * head is the parameter of that name: heads are independent of each other. */
#ifndef ATTNVIZ_ENTRIES_H
#define ATTNVIZ_ENTRIES_H

#include "attnviz/kernels.h"
#include "attnviz/params.h"

#include <stddef.h>

/* Columns [first, d) of query row i, single precision: q_mean + q_std x. */
void av_entries_query(const struct av_kernels *kernels, const struct av_params *p, size_t i, size_t first, size_t d,
                      float *row);

/* Columns [first, d) of key row j: k_mean + k_std (c x + sqrt(1 - c^2) e), x
 * being the draws of query row j of the same head, c the parameter corr. scratch: d floats. */
void av_entries_key(const struct av_kernels *kernels, const struct av_params *p, size_t j, size_t first, size_t d,
                    float *row, float *scratch);

#endif
