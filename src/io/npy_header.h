/* npy_header.h - the header of a .npy file, read and checked. */
#ifndef ATTNVIZ_NPY_HEADER_H
#define ATTNVIZ_NPY_HEADER_H

#include "attnviz/status.h"
#include "number_type.h"
#include "shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AV_NPY_HEAD_MAX = 1 << 16, /* bytes from the start of the file that hold every header accepted here */
    AV_NPY_START = 12          /* those that tell how long the header is */
};

struct av_npy_header {
    char descr[64];                    /* the type as the file names it, "<f4"; "[" for records */
    const struct av_number_type *type; /* NULL: not supported */
    bool big_endian;
    bool fortran; /* the first index runs fastest */
    size_t rank;
    uint64_t shape[AV_SHAPE_MAX]; /* the first of its sizes */
    uint64_t data;                /* offset of the first entry */
};

/* Is this how a .npy file begins? */
bool av_npy_is(const unsigned char *head, size_t size);

/* Where the first entry of a file stands that begins like this, as far as that
 * can be told from so many bytes; at most AV_NPY_HEAD_MAX. */
size_t av_npy_head_size(const unsigned char *start, size_t size);

/* Reads the header from `head`, the first bytes of a file of file_size bytes:
 * all, or AV_NPY_HEAD_MAX, or those that av_npy_head_size asks for. What it says
 * is not checked yet. `name` (printable) starts the message of a failure. */
enum av_status av_npy_header_read(struct av_npy_header *h, const char *name, const unsigned char *head,
                                  uint64_t file_size, struct av_error *e);

/* Why entries of that type are not read: "type '<c8' (complex numbers) is ...". */
struct av_npy_reason {
    char text[200];
};
struct av_npy_reason av_npy_type_reason(const struct av_npy_header *h);

/* `count` entries take just the rest of the file. type is set. */
enum av_status av_npy_check_size(const struct av_npy_header *h, const char *name, size_t count, uint64_t file_size,
                                 struct av_error *e);

#endif
