/* whole_cache.c - entries of an archive that are unpacked whole, the last ones. */
#include "whole_cache.h"

#include <stdlib.h>

static void take_away(struct av_whole *w)
{
    free(w->bytes);
    *w = (struct av_whole){ NULL, 0, 0, 0 };
}

/* An empty place, with room for so many bytes. */
static struct av_whole *make_room(struct av_whole_cache *c, size_t size)
{
    for (;;) {
        struct av_whole *empty = NULL;
        struct av_whole *oldest = NULL;
        size_t all = 0;
        for (size_t i = 0; i < AV_WHOLES; i++) {
            struct av_whole *w = &c->wholes[i];
            all += w->size;
            if (w->bytes == NULL) {
                empty = w;
            } else if (oldest == NULL || w->used < oldest->used) {
                oldest = w;
            }
        }
        if (empty != NULL && all <= AV_WHOLES_MAX - size) {
            return empty;
        }
        take_away(oldest);
    }
}

struct av_whole *av_whole_get(struct av_whole_cache *c, uint64_t entry, size_t size)
{
    for (size_t i = 0; i < AV_WHOLES; i++) {
        if (c->wholes[i].bytes != NULL && c->wholes[i].entry == entry) {
            return &c->wholes[i];
        }
    }
    struct av_whole *w = make_room(c, size);
    unsigned char *bytes = malloc(size);
    if (bytes == NULL) {
        return NULL;
    }
    *w = (struct av_whole){ bytes, size, entry, 0 };
    return w;
}

void av_whole_keep(struct av_whole_cache *c, struct av_whole *w)
{
    w->used = ++c->uses;
}

void av_whole_cache_free(struct av_whole_cache *c)
{
    for (size_t i = 0; i < AV_WHOLES; i++) {
        take_away(&c->wholes[i]);
    }
}
