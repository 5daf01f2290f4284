/* shape.h - shapes of tensors as files give them: in words, and multiplied. */
#ifndef ATTNVIZ_SHAPE_H
#define ATTNVIZ_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes that are kept of a shape; its rank may be larger. */
enum { AV_SHAPE_MAX = 8 };

/* "[8, 128, 64]"; behind the last size that is kept "...". */
struct av_shape_text {
    char text[AV_SHAPE_MAX * 22 + 8];
};
struct av_shape_text av_shape_text(const uint64_t *shape, size_t rank);

/* The product, rank <= AV_SHAPE_MAX. false: its entries, or those that it would
 * have if sizes of 0 were 1, as doubles exceed what a size_t can count. */
bool av_shape_count(const uint64_t *shape, size_t rank, size_t *count);

#endif
