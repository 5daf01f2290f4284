/* npy.h - reading NumPy's .npy files. */
#ifndef ATTNVIZ_NPY_H
#define ATTNVIZ_NPY_H

#include "attnviz/status.h"
#include "attnviz/tensor.h"

#include <stddef.h>

/* Reads [n, d] or [heads, n, d] from a file: format versions 1 to 3, little
 * and big endian f2 f4 f8 and (u)int 1 2 4 8, bool; C and Fortran order.
 * Checks the size of the file against the shape before allocating. On failure
 * t is left zeroed and e says `PATH: why`. The caller frees t. */
enum av_status av_npy_read(struct av_tensor *t, const char *path, struct av_error *e);

/* The same from memory; `name` is for messages. */
enum av_status av_npy_parse(struct av_tensor *t, const char *name, const unsigned char *data, size_t size,
                            struct av_error *e);

#endif
