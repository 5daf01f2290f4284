/* npy.h - reading NumPy's .npy files. */
#ifndef ATTNVIZ_NPY_H
#define ATTNVIZ_NPY_H

#include "attnviz/status.h"
#include "attnviz/tensor.h"

#include <stddef.h>

/* Reads [n, d] or [heads, n, d], no size 0, from a regular file: format
 * versions 1 to 3, little and big endian f2 f4 f8 and (u)int 1 2 4 8, bool; C
 * and Fortran order. Every value is kept exactly, but for 64-bit integers
 * beyond 2^53, which round to nearest. NaNs and infinities are values like
 * others here, and are counted.
 *
 * The size of the file is checked against the shape, and the memory that is
 * needed against the machine's, before anything is allocated. Bytes after the
 * last entry are refused as well: header and entries do not belong together
 * then (NumPy ignores them). On failure t is left zeroed and e says
 * `PATH: why` in one line of printable UTF-8: AV_FAILED, or AV_NOMEM when
 * allocation failed. The caller frees t with av_tensor_free. */
enum av_status av_npy_read(struct av_tensor *t, const char *path, struct av_error *e);

/* The same from memory; `name` is for messages and t->name. */
enum av_status av_npy_parse(struct av_tensor *t, const char *name, const unsigned char *data, size_t size,
                            struct av_error *e);

#endif
