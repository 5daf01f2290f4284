/* shape.c - shapes of tensors as files give them: in words, and multiplied. */
#include "shape.h"

#include <inttypes.h>
#include <stdio.h>

struct av_shape_text av_shape_text(const uint64_t *shape, size_t rank)
{
    struct av_shape_text out = { "[" };
    size_t len = 1;
    for (size_t i = 0; i < rank && i < AV_SHAPE_MAX; i++) {
        len += (size_t)snprintf(out.text + len, sizeof out.text - len, "%s%" PRIu64, i > 0 ? ", " : "", shape[i]);
    }
    snprintf(out.text + len, sizeof out.text - len, "%s]", rank > AV_SHAPE_MAX ? ", ..." : "");
    return out;
}

bool av_shape_count(const uint64_t *shape, size_t rank, size_t *count)
{
    uint64_t limit = SIZE_MAX / sizeof(double);
    size_t product = 1;
    bool empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 0) {
            empty = true;
            continue;
        }
        limit /= shape[i];
        product *= (size_t)shape[i]; /* wraps only where limit comes to 0 */
    }
    *count = empty ? 0 : product;
    return limit > 0;
}
