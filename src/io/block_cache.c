/* block_cache.c - blocks of entries that were costly to unpack, while they are fresh. */
#include "block_cache.h"

#include <stdlib.h>

const unsigned char *av_block_find(struct av_block_cache *c, uint64_t entry, uint64_t number)
{
    for (size_t i = 0; i < AV_BLOCKS_CACHED; i++) {
        struct av_cached_block *b = &c->blocks[i];
        if (b->used > 0 && b->entry == entry && b->number == number) {
            b->used = ++c->uses;
            return b->bytes;
        }
    }
    return NULL;
}

struct av_cached_block *av_block_put(struct av_block_cache *c, uint64_t entry, uint64_t number)
{
    struct av_cached_block *oldest = &c->blocks[0];
    for (size_t i = 1; i < AV_BLOCKS_CACHED; i++) {
        if (c->blocks[i].used < oldest->used) {
            oldest = &c->blocks[i];
        }
    }
    if (oldest->bytes == NULL) {
        oldest->bytes = malloc(AV_BLOCK);
    }
    oldest->entry = entry;
    oldest->number = number;
    oldest->used = 0;
    return oldest->bytes != NULL ? oldest : NULL;
}

void av_block_keep(struct av_block_cache *c, struct av_cached_block *b)
{
    b->used = ++c->uses;
}

void av_block_cache_free(struct av_block_cache *c)
{
    for (size_t i = 0; i < AV_BLOCKS_CACHED; i++) {
        free(c->blocks[i].bytes);
        c->blocks[i] = (struct av_cached_block){ NULL, 0, 0, 0 };
    }
}
