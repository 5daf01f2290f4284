/* block_cache.h - blocks of entries that were costly to unpack, while they are fresh. */
#ifndef ATTNVIZ_BLOCK_CACHE_H
#define ATTNVIZ_BLOCK_CACHE_H

#include <stddef.h>
#include <stdint.h>

enum {
    AV_BLOCK = 1 << 16,     /* bytes of a block */
    AV_BLOCKS_CACHED = 384, /* 24 MiB: queries and keys of a head of 24,576 tokens at d_k 128 in f32 */
};

struct av_cached_block {
    unsigned char *bytes; /* AV_BLOCK of them; NULL: never used */
    uint64_t entry, number;
    uint64_t used; /* the larger, the later; 0: holds nothing */
};

/* Zeroed: empty. Memory is taken as it fills. */
struct av_block_cache {
    struct av_cached_block blocks[AV_BLOCKS_CACHED];
    uint64_t uses;
};

/* Block `number` of an entry; NULL: it is not there. Valid until the next is put. */
const unsigned char *av_block_find(struct av_block_cache *c, uint64_t entry, uint64_t number);

/* Memory for that block, in the place of the one that was not used for the longest
 * time: to be filled, and then kept; before that it is not found. NULL: no memory. */
struct av_cached_block *av_block_put(struct av_block_cache *c, uint64_t entry, uint64_t number);
void av_block_keep(struct av_block_cache *c, struct av_cached_block *b);

void av_block_cache_free(struct av_block_cache *c);

#endif
