/* dump.h - files that hold tensors: what is in them, without reading it all.
 *
 * Four formats, told apart by content, never by the name's end:
 *
 *   safetensors  mapped; numbers of F64 F32 F16 BF16 F8_E5M2 F8_E4M3, I8 .. I64,
 *                U8 .. U64, BOOL; needs cJSON
 *   npz          NumPy's archive of .npy files, stored or deflated, unpacked
 *                block by block as it is read, in Fortran order whole, up to
 *                128 MiB; needs libzip
 *   npy          one array, mapped
 *   text         rows of numbers, as many in each: one tensor [rows, columns]
 *
 * Everything that a file says of itself is checked when it is opened: sizes,
 * offsets, shapes and their products. What is well formed but holds no numbers
 * that are read here (strings, complex numbers, rank above 8) is listed with the
 * reason, so that the rest can be used; what is malformed fails the whole file.
 *
 * Messages are one line, `PATH: why` or `PATH: TENSOR: why`. A dump is used by
 * one thread at a time; several dumps by as many threads. */
#ifndef ATTNVIZ_DUMP_H
#define ATTNVIZ_DUMP_H

#include "attnviz/status.h"

#include <stdbool.h>
#include <stddef.h>

struct av_dump;

enum { AV_DUMP_RANK_MAX = 8 };

struct av_dump_tensor {
    const char *name; /* printable UTF-8, no two alike in a dump */
    const char *type; /* as the format names it: "F32", "<f4", "text" */
    size_t rank;      /* 0: one number */
    size_t shape[AV_DUMP_RANK_MAX];
    size_t count;   /* entries, the product of shape; 0 with an empty dimension */
    bool wide;      /* single precision does not hold every value of the type */
    bool streamed;  /* entries before those read last may cost unpacking from the first on */
    const char *no; /* NULL; else why it cannot be read, and rank, shape and count may be 0 */
};

/* Opens a regular file, or standard input as "-": a redirected file of any
 * format, or a pipe of text, which is read to its end. Text is read whole here,
 * of the others only what says what is in them. Never waits for anything else:
 * folders, pipes and devices by name are refused. AV_FAILED (also: too large,
 * a library was missing when this was built), AV_NOMEM. *out is NULL on failure;
 * the caller closes it. */
enum av_status av_dump_open(struct av_dump **out, const char *path, struct av_error *e);

/* The same from memory, which must outlive the dump; name is for messages. */
enum av_status av_dump_parse(struct av_dump **out, const char *name, const unsigned char *data, size_t size,
                             struct av_error *e);

void av_dump_close(struct av_dump *d); /* NULL is fine */

/* Was this built with what the format needs? Of the names above. */
bool av_dump_reads(const char *format);

const char *av_dump_path(const struct av_dump *d);   /* printable */
const char *av_dump_format(const struct av_dump *d); /* one of the names above */

/* Tensors in the order of their names, numbers in them by value: layers.2
 * before layers.10. Valid until the dump is closed. */
size_t av_dump_count(const struct av_dump *d);
const struct av_dump_tensor *av_dump_tensor(const struct av_dump *d, size_t i); /* i < count */

/* The index of the tensor of that name; count when there is none. */
size_t av_dump_find(const struct av_dump *d, const char *name);

/* What safetensors' __metadata__ says to the key; NULL: nothing. */
const char *av_dump_meta(const struct av_dump *d, const char *key);

/* Entries in C order (the last index runs fastest): `rows` runs of `count`
 * entries each, run r from entry first + r * stride on. The rows of one head of
 * [n, h, d], for example: { .first = head * d, .count = d, .rows = n,
 * .stride = h * d }. All of them within the tensor; count and rows above 0. */
struct av_dump_run {
    size_t first, count, rows, stride;
};

/* Writes the rows * count values one after another to out. Exact, but for 64-bit
 * integers beyond 2^53, which round to nearest. NaNs and infinities are values.
 *
 * From a mapping any order costs the same, and nearly so from a stored entry of an
 * archive. A deflated one is a stream: a run that begins behind an earlier one goes
 * on from there, one before them unpacks from the start again, unless it is among
 * the 24 MiB that were unpacked last and are kept; of arrays in Fortran order up to
 * 256 MiB are. Where all
 * of an entry has been read in order, its checksum is verified at its end.
 *
 * AV_FAILED: the tensor's `no`, a run outside it, a file that became shorter
 * meanwhile, a damaged archive. out is unspecified then. */
enum av_status av_dump_read(struct av_dump *d, size_t tensor, const struct av_dump_run *run, double *out,
                            struct av_error *e);

/* The same in single precision: AV_FAILED for a tensor that is wide. */
enum av_status av_dump_read_f32(struct av_dump *d, size_t tensor, const struct av_dump_run *run, float *out,
                                struct av_error *e);

#endif
