/* mem.c - aligned, overflow-checked allocation. */
#include "attnviz/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *av_alloc(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - AV_ALIGN) / size) {
        return NULL;
    }
    size_t bytes = count * size;
    /* aligned_alloc wants a multiple of the alignment, and never zero. */
    bytes = (bytes / AV_ALIGN + 1) * AV_ALIGN;
    void *p = aligned_alloc(AV_ALIGN, bytes);
    if (p != NULL) {
        memset(p, 0, bytes);
    }
    return p;
}

void av_free(void *p)
{
    free(p);
}

size_t av_mem_physical(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0 || (size_t)pages > SIZE_MAX / (size_t)page) {
        return SIZE_MAX;
    }
    return (size_t)pages * (size_t)page;
}
