/* whole_cache.h - entries of an archive that are unpacked whole, the last ones. */
#ifndef ATTNVIZ_WHOLE_CACHE_H
#define ATTNVIZ_WHOLE_CACHE_H

#include <stddef.h>
#include <stdint.h>

enum {
    AV_WHOLE_MAX = 1 << 27,  /* bytes of one: 128 MiB, so that queries and keys have room together */
    AV_WHOLES_MAX = 1 << 28, /* of all: 256 MiB */
    AV_WHOLES = 16
};

struct av_whole {
    unsigned char *bytes; /* NULL: there is none */
    size_t size;
    uint64_t entry;
    uint64_t used; /* the larger, the later; 0: not filled */
};

/* Zeroed: empty. */
struct av_whole_cache {
    struct av_whole wholes[AV_WHOLES];
    uint64_t uses;
};

/* The `size` bytes of an entry, when `used` is above 0; else memory for them, to be
 * filled before they are kept, in the place of those that were not used for the longest
 * time. size: AV_WHOLE_MAX at most, for an entry always the same. Valid until the
 * next is asked for. NULL: no memory. */
struct av_whole *av_whole_get(struct av_whole_cache *c, uint64_t entry, size_t size);
void av_whole_keep(struct av_whole_cache *c, struct av_whole *w); /* filled, or used again */

void av_whole_cache_free(struct av_whole_cache *c);

#endif
