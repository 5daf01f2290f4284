/* dump_parts.h - what a dump is made of, and what each format does. */
#ifndef ATTNVIZ_DUMP_PARTS_H
#define ATTNVIZ_DUMP_PARTS_H

#include "attnviz/dump.h"
#include "number_type.h"

#include <stdint.h>

enum { AV_DUMP_HEAD = 4096 };

/* A tensor, and where its entries are. */
struct av_dump_item {
    struct av_dump_tensor seen;        /* what callers see */
    char *name, *type_text, *no;       /* its strings, as owned */
    const struct av_number_type *type; /* NULL: not supported */
    bool big_endian;
    bool fortran;   /* the first of several indices runs fastest */
    uint64_t at;    /* offset of the first entry in the file; in an archive, in the unpacked entry */
    uint64_t size;  /* bytes of the entries */
    uint64_t index; /* in an archive: of the entry */
};

struct av_dump_meta {
    char *key, *text;
};

struct av_dump {
    char path[256]; /* printable */
    const struct av_dump_source *source;
    bool standard_input;
    int fd;                           /* while it is being opened, open takes it by setting it to -1 */
    const unsigned char *bytes;       /* the file's, mapped or in memory; NULL: they come from fd */
    size_t size;                      /* of the file, when it has one */
    void *map;                        /* of the file, when bytes are mapped */
    unsigned char head[AV_DUMP_HEAD]; /* how it begins */
    size_t head_size;
    struct av_dump_item *items;
    size_t count, room;
    struct av_dump_meta *metas;
    size_t meta_count, meta_room;
    void *state; /* the format's own */
};

/* A format. */
struct av_dump_source {
    const char *name;
    const char *lacks; /* "LIBRARY: how to get it", when built without what it needs; else NULL */
    bool map;          /* bytes are wanted where they can be had; else fd */
    bool single;       /* a file is one tensor, which messages need not name */
    bool (*is)(const unsigned char *head, size_t size); /* by the first bytes of a file */
    /* Fills the list; what it leaves behind when it fails, close takes away.
     * This and the rest are NULL when something lacks. */
    enum av_status (*open)(struct av_dump *d, struct av_error *e);
    /* The item is readable, the run within it. */
    enum av_status (*read)(struct av_dump *d, const struct av_dump_item *item, const struct av_dump_run *run,
                           struct av_numbers out, struct av_error *e);
    void (*close)(struct av_dump *d); /* state; NULL: there is none */
};

extern const struct av_dump_source av_dump_safetensors, av_dump_npz, av_dump_npy, av_dump_text;

/* ---- Filling the list (dump_list.c) ------------------------------------------ */

/* Another item, zeroed but for its name and its type as the file spells them,
 * both made printable; *item holds until the next is added. AV_NOMEM. */
enum av_status av_dump_add(struct av_dump *d, const char *name, const char *type, struct av_dump_item **item,
                           struct av_error *e);

/* It is not read, for this reason; of several the first stands. AV_NOMEM. */
enum av_status av_dump_refuse(const struct av_dump *d, struct av_dump_item *item, const char *reason,
                              struct av_error *e);

/* The shape, and with it count; rank may exceed AV_DUMP_RANK_MAX, and the item
 * is refused then. AV_FAILED: the product is larger than any memory; AV_NOMEM. */
enum av_status av_dump_shape(const struct av_dump *d, struct av_dump_item *item, const uint64_t *shape, size_t rank,
                             struct av_error *e);

/* An entry of the metadata. AV_NOMEM. */
enum av_status av_dump_add_meta(struct av_dump *d, const char *key, const char *text, struct av_error *e);

/* Adds the array whose .npy file begins with `head` (npy_header.h) and has `size`
 * bytes, the index-th of an archive. A stream is read from front to end: large
 * arrays whose first index runs fastest are refused in it (whole_cache.h). */
enum av_status av_dump_add_npy(struct av_dump *d, const char *name, const unsigned char *head, uint64_t size,
                               uint64_t index, bool stream, struct av_error *e);

/* The order of names: by bytes, whole numbers in them by value. */
int av_dump_compare(const char *a, const char *b);

/* Puts all in order; AV_FAILED when two tensors, or keys, are named alike. */
enum av_status av_dump_sort(struct av_dump *d, struct av_error *e);

void av_dump_free_lists(struct av_dump *d);

/* ---- Messages ------------------------------------------------------------------ */

/* "PATH: TENSOR", or PATH alone, at most 255 bytes, so that a reason has room. */
struct av_dump_label {
    char text[256];
};
struct av_dump_label av_dump_label(const struct av_dump *d, const char *tensor);

/* The path's last part without its ending, of standard input -: the name of a file's
 * only tensor. */
struct av_dump_label av_dump_base_name(const struct av_dump *d);

/* ---- Reading what is mapped or in memory (dump_bytes.c) ---------------------------- */

/* Bytes [at, at + size) of the file, which is that long, to `to`. AV_FAILED when
 * it has become shorter. */
enum av_status av_dump_copy(const struct av_dump *d, uint64_t at, void *to, size_t size, struct av_error *e);

/* A run, within the item, of entries that stand in memory. */
void av_dump_read_entries(const unsigned char *entries, const struct av_dump_item *item, const struct av_dump_run *run,
                          struct av_numbers out);

/* `read` of a format whose entries stand in d->bytes. */
enum av_status av_dump_read_bytes(struct av_dump *d, const struct av_dump_item *item, const struct av_dump_run *run,
                                  struct av_numbers out, struct av_error *e);

#endif
