/* npy_header.h - the header of a .npy file, read and checked. */
#ifndef ATTNVIZ_NPY_HEADER_H
#define ATTNVIZ_NPY_HEADER_H

#include "attnviz/status.h"
#include "number_type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes from the start of the file that hold every header accepted here. */
enum { AV_NPY_HEAD_MAX = 1 << 16 };

struct av_npy_header {
    char descr[16]; /* the type as the file names it, "<f4" */
    const struct av_number_type *type;
    bool big_endian;
    bool fortran; /* the first index runs fastest */
    size_t rank;  /* 2 or 3 */
    size_t heads, n, d;
    size_t data; /* offset of the first entry */
};

/* Reads the header from `head`, the first min(file_size, AV_NPY_HEAD_MAX)
 * bytes of a file of file_size bytes, and checks that the file's size is the
 * one that type and shape ask for. Afterwards heads * n * d * 8 fits size_t.
 * `name` (printable) starts the message of a failure. */
enum av_status av_npy_header_read(struct av_npy_header *h, const char *name, const unsigned char *head,
                                  uint64_t file_size, struct av_error *e);

#endif
