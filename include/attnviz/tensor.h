/* tensor.h - queries or keys that came from a file. */
#ifndef ATTNVIZ_TENSOR_H
#define ATTNVIZ_TENSOR_H

#include "attnviz/kernels.h"

#include <stdint.h>

/* [heads, n, d] entries, row-major, in memory of its own: single precision
 * where that holds every value of the file's type (f2, f4, 8- and 16-bit
 * integers), else double. */
struct av_tensor {
    char name[256]; /* as shown: the file's name, UTF-8 */
    char dtype[16]; /* as in the file, "<f4" */
    size_t rank;    /* of the file: 2 or 3 */
    size_t heads, n, d;
    float *f32; /* one of the two is set */
    double *f64;
    uint64_t nan_count, inf_count;
    size_t first_nan[3], first_inf[3]; /* head, row, column; valid when counted */
};

/* Frees the entries and zeroes t; a zeroed t is fine. */
void av_tensor_free(struct av_tensor *t);

/* Counts the NaNs and infinities among the entries and finds the first of
 * each, in the order head, row, column. Readers call it once t is filled. */
void av_tensor_count_invalid(struct av_tensor *t);

/* The rows of one head, 0 <= head < heads; borrows t's memory. */
struct av_entries av_tensor_head(const struct av_tensor *t, size_t head);

#endif
