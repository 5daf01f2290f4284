/* listens.h - names of parameters that several studies listen to. */
#ifndef ATTNVIZ_LISTENS_H
#define ATTNVIZ_LISTENS_H

#include "attnviz/params.h"

/* What sampled queries and keys are drawn by, but for seed and head. */
#define AV_OF_ENTRIES "d_k", "n_q", "n_k", "q_std", "k_std", "q_mean", "k_mean", "corr", "dist"

/* What makes weights of them, and the seed, which hashing knows too. */
#define AV_OF_WEIGHTS                                                                                                  \
    "scale", "exponent", "temperature", "offset", "key", "key_offset", "mask", "variant", "dtype", "scale_order",      \
        "softmax_f32", "smooth_k", "seed", AV_ALL_OWNED

#endif
